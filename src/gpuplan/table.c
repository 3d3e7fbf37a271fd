/* See table.h. A task has about as many rows as all others, and is one team's: several short groups, or a piece of a
 * long one. */
#include "gpuplan/table.h"

#include <stdlib.h>

#include "gpuplan/operand_arrays.h"
#include "gpuplan/operands.h"
#include "gpuplan/zones.h"

enum {
  WAVES = 6,       /* waves of teams, so that the last one matters little */
  LEAST_ROWS = 16, /* of a task, for each row that a team reads at a time */
  BLOCK_ROWS = 16, /* of a group, on average, from which on a block shares it; the same */
  WARP_ROWS = 8,   /* from which on a warp does */
  MOST_LABELS = 1 << 30,
  JOIN_LANES = 8 /* NDR_TABLE_LANES in kernels/table.cuh */
};

const char *ndr_table_reject(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  return problem->table->count > MOST_LABELS ? "a table has 2^30 labels at most" : NULL;
}

/* ---- cutting ---- */

/* What of a table is a task's, and how teams share it. */
typedef struct cut {
  int64_t rows; /* of a task */
  int parts;    /* of the combinations of the other reduced axes */
  int team;     /* threads of a team; 1: those that share a row */
} cut;

int ndr_table_axis(const ndr_canonical *problem) {
  int found = 0;
  for (int a = 0; a < problem->reduced_count; a++)
    if (problem->reduced[a].scattered) found = a;
  return found;
}

static int64_t columns_of(const ndr_canonical *problem) {
  return problem->outputs / problem->group.size;
}

static const ndr_axis *column_axis(const ndr_canonical *problem) {
  static const ndr_axis one = {.size = 1};
  return problem->kept_count ? &problem->kept[0] : &one;
}

/* Combinations of the other reduced axes. */
static int64_t units_of(const ndr_canonical *problem) {
  return problem->length / problem->reduced[ndr_table_axis(problem)].size;
}

static int lanes_of(const ndr_axis *along, int elements) {
  return ndr_power_from(ndr_ceil_div(along->size, elements), NDR_WARP_THREADS);
}

/* The same for every place of the arrays: the table is made once. */
static cut choose_cut(const ndr_canonical *problem, const ndr_device *device) {
  const ndr_table *table = problem->table;
  const ndr_axis *along = column_axis(problem);
  int elements = (int)ndr_vector_elements(problem->dtype), lanes = lanes_of(along, elements);
  int64_t strips = ndr_ceil_div(along->size, (int64_t)lanes * elements) * (columns_of(problem) / along->size);
  int64_t mean = table->count / (table->filled ? table->filled : 1), units = units_of(problem);
  cut made = {.parts = 1, .team = 1};
  if (mean >= BLOCK_ROWS * NDR_THREADS / lanes)
    made.team = NDR_THREADS;
  else if (mean >= WARP_ROWS * NDR_WARP_THREADS / lanes)
    made.team = NDR_WARP_THREADS;
  int threads = made.team < lanes ? lanes : made.team, rows = threads / lanes;
  int64_t teams = ndr_count_blocks(device, NDR_KERNEL_TABLE_COLUMNS) * NDR_THREADS / threads * WAVES;
  int64_t work = ndr_ceil_div(table->count * units, ndr_ceil_div(teams, strips));
  int64_t least = LEAST_ROWS * (int64_t)rows, most = NDR_MOST_THREAD_ELEMENTS * (int64_t)rows;
  if (work < least) work = least;
  if (work > most) work = most;
  made.rows = work / units;
  if (made.rows >= 2) return made;
  made.rows = 1;
  made.parts = (int)(units <= work ? 1 : ndr_ceil_div(units, work));
  return made;
}

/* The table as kernels read it, written or only counted. */
typedef struct image {
  int32_t *tasks, *segments, *joins; /* NULL: counted */
  int64_t task_count, segment_count, join_count, slots;
} image;

static void begin_task(image *i) {
  if (i->tasks) i->tasks[i->task_count] = (int32_t)i->segment_count;
  i->task_count++;
}

static void add_segment(image *i, int64_t end, int64_t to) {
  if (i->segments) {
    i->segments[2 * i->segment_count + 2] = (int32_t)end;
    i->segments[2 * i->segment_count + 3] = (int32_t)to;
  }
  i->segment_count++;
}

static void add_join(image *i, int64_t group) {
  if (i->joins) {
    i->joins[2 * i->join_count] = (int32_t)group;
    i->joins[2 * i->join_count + 1] = (int32_t)i->slots;
  }
  i->join_count++;
}

/* A long group has tasks of its own, of equal length; others share tasks. A group in one segment needs no slot, unless
 * segments are cut into parts. */
static void cut_table(const ndr_table *table, const cut *how, image *i) {
  int64_t filled = how->rows; /* of the task: none is open */
  for (int64_t g = 0, begin = 0; g < table->groups; begin = table->ends[g++]) {
    int64_t length = table->ends[g] - begin, pieces = length > 2 * how->rows ? ndr_ceil_div(length, how->rows) : 1;
    bool slots = pieces > 1 || (how->parts > 1 && length > 0);
    if (slots) add_join(i, g);
    for (int64_t k = 0; k < pieces; k++) {
      if (pieces > 1 || filled >= how->rows) {
        begin_task(i);
        filled = 0;
      }
      add_segment(i, begin + (k + 1) * length / pieces, slots ? -1 - i->slots++ : g);
    }
    filled = pieces > 1 ? how->rows : filled + length + 1;
  }
}

/* ---- launches ---- */

void ndr_table_order(const ndr_canonical *problem, ndr_launch *launch) {
  ndr_param_axis *axes = launch->params.axes + problem->kept_count, axis;
  int walked = launch->operands.walked = ndr_table_axis(problem);
  axis = axes[walked];
  axes[walked] = axes[0];
  axes[0] = axis;
  axes[0].stride = problem->row_stride;
}

static void place_teams(const ndr_canonical *problem, ndr_launch *launch, const cut *how) {
  const ndr_axis *along = column_axis(problem);
  ndr_param_thread *own = &launch->params.thread;
  int lanes = lanes_of(along, launch->operands.elements);
  own->lanes = ndr_threads(lanes);
  own->team = ndr_threads(how->team < lanes ? lanes : how->team);
  own->team_columns = lanes * launch->operands.elements;
  own->axis_teams = ndr_ceil_div(along->size, own->team_columns);
  own->others = columns_of(problem) / along->size;
  own->near_others = own->parts = 1;
}

static int64_t round_up(int64_t ints) {
  return ndr_ceil_div(ints, 4) * 4;
}

static void place_table(const ndr_canonical *problem, ndr_launch *launch, const cut *how) {
  ndr_param_table *own = &launch->params.table;
  image counted = {0};
  cut_table(problem->table, how, &counted);
  own->tasks_at = (int)round_up(problem->table->count);
  own->segments_at = own->tasks_at + (int)round_up(counted.task_count + 1);
  own->joins_at = own->segments_at + (int)round_up(2 * (counted.segment_count + 1));
  own->tasks = (int)counted.task_count;
  own->joins = (int)counted.join_count;
  own->rows = how->rows;
  own->parts = how->parts;
  own->group_step = problem->group.result[0];
  launch->params.slots = counted.slots * how->parts;
}

void ndr_table_end(const ndr_canonical *problem, ndr_launch *launch, int64_t slots) {
  ndr_params *p = &launch->params;
  if (problem->row_stride < 0) p->extent -= (p->axes[problem->kept_count].size - 1) * problem->row_stride;
  p->slots = slots;
  p->padded = columns_of(problem);
  p->table.join_lanes_log = ndr_threads(ndr_power_from(p->padded, JOIN_LANES)).log;
}

void ndr_table_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  cut how = choose_cut(problem, device);
  const ndr_axis *along = column_axis(problem);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TABLE_COLUMNS);
  ndr_params *p = &launch->params;
  launch->operands.elements = problem->kept_count ? ndr_count_columns(problem, on_boundary) : 1;
  launch->operands.steps = 1;
  launch->operands.ways =
      ndr_ways_along(problem, along, &problem->reduced[ndr_table_axis(problem)], launch->operands.elements, false);
  ndr_table_order(problem, launch);
  place_teams(problem, launch, &how);
  int64_t teams = NDR_THREADS / p->thread.team.count;
  place_table(problem, launch, &how);
  int64_t slots = p->slots, tasks = p->thread.axis_teams * p->thread.others * p->table.tasks * how.parts;
  p->work = ndr_ceil_div(tasks, teams);
  ndr_launch_end(launch);
  ndr_table_end(problem, launch, slots);
  p->units = units_of(problem);
  p->split_units = ndr_ceil_div(p->units, how.parts);
}

double ndr_table_cost(const ndr_canonical *problem, const ndr_device *device) {
  static const double START = 6e-6;
  const ndr_axis *along = column_axis(problem);
  double elements = (double)problem->table->count * (double)units_of(problem) * (double)columns_of(problem), bytes = 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    double own = (double)ndr_array_bytes(problem, k),
           run = own * (ndr_stride_of(along, k) == 1 ? (double)along->size : 1);
    bytes += run < NDR_SECTOR_BYTES ? own * NDR_SECTOR_BYTES / run : own;
  }
  return START + elements * bytes / device->bandwidth;
}

size_t ndr_table_workspace(const ndr_launch *launch, int words) {
  const ndr_params *p = &launch->params;
  return (size_t)words * (size_t)p->slots * (size_t)p->padded * 8;
}

static void write_table(const ndr_launch *launch, const ndr_table *table, int32_t *ints) {
  const ndr_param_table *own = &launch->params.table;
  image written = {ints + own->tasks_at, ints + own->segments_at, ints + own->joins_at, 0, 0, 0, 0};
  cut how = {.rows = own->rows, .parts = own->parts};
  for (int64_t at = 0; at < table->count; at++) ints[at] = table->order[at];
  written.segments[0] = written.segments[1] = 0;
  cut_table(table, &how, &written);
  begin_task(&written);
  add_join(&written, table->groups);
}

ndr_status ndr_table_write(const ndr_launch *launch, const ndr_table *table, int32_t **ints, size_t *bytes) {
  if (launch->kernel == NDR_KERNEL_TABLE_TILES) return ndr_zones_write(launch, table, ints, bytes);
  const ndr_param_table *own = &launch->params.table;
  *bytes = ((size_t)own->joins_at + 2 * ((size_t)own->joins + 1)) * sizeof **ints;
  *ints = calloc(*bytes, 1);
  if (!*ints) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of %zu bytes", *bytes);
  write_table(launch, table, *ints);
  return NDR_OK;
}

unsigned ndr_table_join_grid(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  int64_t blocks = p->table.joins * ndr_ceil_div(p->padded, INT64_C(1) << p->table.join_lanes_log);
  return (unsigned)(blocks > INT32_MAX ? INT32_MAX : blocks);
}
