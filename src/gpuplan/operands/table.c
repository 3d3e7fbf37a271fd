/* See table.h. Tasks (table_cut.h) are as long as makes the whole fastest. */
#include "gpuplan/operands/table.h"

#include <math.h>
#include <stdlib.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/table_cut.h"
#include "gpuplan/operands/zones.h"

enum {
  COLUMN_REGISTERS = 20, /* that accumulators of a thread's columns take, at most */
  MOST_WAVES = 16,       /* of teams */
  LEAST_ROWS = 16,       /* of a task, for each row that a team reads at a time */
  BLOCK_ROWS = 16,       /* of a group, on average, from which on a block shares it; the same */
  WARP_ROWS = 8,         /* from which on a warp does */
  MOST_LABELS = 1 << 30,
  JOIN_LANES = 8, /* NDR_TABLE_LANES in kernels/program/table.cuh */
  FEW_SLOTS = 16  /* of a group, on average, up to which one thread joins them */
};

const char *ndr_table_reject(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  return problem->table->count > MOST_LABELS ? "a table has 2^30 labels at most" : NULL;
}

/* ---- tasks ---- */

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

/* Fewer lanes where those leave a tenth less of them idle. */
static int lanes_of(const ndr_axis *along, int elements) {
  enum { LEAST = 8 };
  int64_t chunks = ndr_ceil_div(along->size, elements);
  int best = ndr_power_from(chunks, NDR_WARP_THREADS);
  for (int lanes = best / 2; lanes >= LEAST; lanes /= 2)
    if (11 * ndr_ceil_div(chunks, lanes) * lanes < 10 * ndr_ceil_div(chunks, best) * best) best = lanes;
  return best;
}

/* How a team shares rows, and strips of columns. */
typedef struct sharing {
  int team;       /* threads of a team; 1: those that share a row */
  int rows;       /* that it reads at a time */
  int64_t strips; /* of all columns */
  int64_t teams;  /* that the device runs at a time */
} sharing;

static sharing choose_team(const ndr_canonical *problem, const ndr_device *device) {
  const ndr_table *table = problem->table;
  const ndr_axis *along = column_axis(problem);
  int elements = (int)ndr_vector_elements(problem->dtype), lanes = lanes_of(along, elements);
  int64_t mean = table->count / (table->filled ? table->filled : 1);
  sharing how = {.team = 1};
  if (mean >= BLOCK_ROWS * NDR_THREADS / lanes)
    how.team = NDR_THREADS;
  else if (mean >= WARP_ROWS * NDR_WARP_THREADS / lanes)
    how.team = NDR_WARP_THREADS;
  int threads = how.team < lanes ? lanes : how.team;
  how.rows = threads / lanes;
  how.strips = ndr_ceil_div(along->size, (int64_t)lanes * elements) * (columns_of(problem) / along->size);
  how.teams = (int64_t)device->units * ndr_kernel_blocks(NDR_KERNEL_TABLE_COLUMNS) * NDR_THREADS / threads;
  return how;
}

/* The time of a cut, in rows that a team reads: waves of teams, each as long as the mean task. A last wave that is not
 * whole takes the mean of its share of a wave and a whole one. A segment's start and end take as long as START_ROWS
 * batches of rows. A state in a slot is written, read, and made 0, and the launch that joins them takes as long as
 * JOIN_ROWS. */
static double cut_time(const ndr_canonical *problem, const sharing *how, const ndr_table_cut *cut) {
  enum { START_ROWS = 4, STATE_BYTES = 96, JOIN_ROWS = 128 };
  ndr_table_lists counted = {0};
  ndr_table_cut_up(problem->table, cut, &counted);
  double tasks = (double)how->strips * (double)counted.task_count * (double)cut->parts, strips = (double)how->strips;
  double slot_rows = (double)STATE_BYTES / (double)ndr_dtype_bytes(problem->dtype);
  double work = strips * ((double)problem->table->count * (double)units_of(problem) +
                          slot_rows * (double)counted.slots * (double)cut->parts +
                          START_ROWS * (double)how->rows * (double)counted.segment_count);
  double waves = tasks / (double)how->teams;
  return (waves + ceil(waves)) / 2 * (work / tasks) + (counted.slots > 0 ? JOIN_ROWS : 0);
}

/* Tasks of `work` rows, or of a part of one row. */
static ndr_table_cut cut_for(const ndr_canonical *problem, const sharing *how, int64_t work) {
  int64_t least = LEAST_ROWS * (int64_t)how->rows, most = NDR_MOST_THREAD_ELEMENTS * (int64_t)how->rows,
          units = units_of(problem);
  if (work < least) work = least;
  if (work > most) work = most;
  if (work >= 2 * units) return (ndr_table_cut){work / units, 1};
  return (ndr_table_cut){1, (int)(units <= work ? 1 : ndr_ceil_div(units, work))};
}

/* The same for every place of the arrays: the table is made once. */
static ndr_table_cut choose_cut(const ndr_canonical *problem, const sharing *how) {
  ndr_table_cut best = {0};
  double least = 0;
  int64_t rows = problem->table->count * units_of(problem);
  for (int waves = 1; waves <= MOST_WAVES; waves++) {
    ndr_table_cut cut = cut_for(problem, how, ndr_ceil_div(rows, ndr_ceil_div(how->teams * waves, how->strips)));
    double time = cut_time(problem, how, &cut);
    if (waves > 1 && time >= least) continue;
    best = cut;
    least = time;
  }
  return best;
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

static void place_teams(const ndr_canonical *problem, ndr_launch *launch, int team) {
  const ndr_axis *along = column_axis(problem);
  ndr_param_thread *own = &launch->params.thread;
  int columns = launch->operands.elements * launch->operands.steps, lanes = lanes_of(along, columns);
  own->lanes = ndr_threads(lanes);
  own->team = ndr_threads(team < lanes ? lanes : team);
  own->team_columns = lanes * columns;
  own->axis_teams = ndr_ceil_div(along->size, own->team_columns);
  own->others = columns_of(problem) / along->size;
  own->near_others = own->parts = 1;
}

static int64_t round_up(int64_t ints) {
  return ndr_ceil_div(ints, 4) * 4;
}

/* Returns how many slots there are. */
static int64_t place_table(const ndr_canonical *problem, ndr_launch *launch, const ndr_table_cut *cut) {
  ndr_param_table *own = &launch->params.table;
  ndr_table_lists counted = {0};
  ndr_table_cut_up(problem->table, cut, &counted);
  own->tasks_at = (int)round_up(problem->table->count);
  own->segments_at = own->tasks_at + (int)round_up(counted.task_count + 1);
  own->joins_at = own->segments_at + (int)round_up(2 * (counted.segment_count + 1));
  own->tasks = (int)counted.task_count;
  own->joins = (int)counted.join_count;
  own->rows = cut->rows;
  own->parts = cut->parts;
  own->group_step = problem->group.result[0];
  return counted.slots * cut->parts;
}

void ndr_table_end(const ndr_canonical *problem, ndr_launch *launch, int64_t slots) {
  ndr_params *p = &launch->params;
  if (problem->row_stride < 0) p->extent -= (p->axes[problem->kept_count].size - 1) * problem->row_stride;
  p->slots = slots;
  p->padded = columns_of(problem);
  bool few = slots <= FEW_SLOTS * (int64_t)p->table.joins;
  p->table.join_lanes_log = ndr_threads(few ? NDR_THREADS : ndr_power_from(p->padded, JOIN_LANES)).log;
}

/* Makes chunks single elements, a warp's chunks apart, instead of shifting them into place: a shifted chunk is loaded
 * as two vectors, and half of its registers hold what is dropped. Not for elements of less than 4 bytes, which would
 * take a register each. */
static void spread_columns(const ndr_canonical *problem, const ndr_axis *walked, ndr_launch *launch) {
  const ndr_axis *along = column_axis(problem);
  int elements = launch->operands.elements;
  bool shifted = false, narrow = false;
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    shifted = shifted || (NDR_WAY_OF(launch->operands.ways, k) & 3) == NDR_WAY_SHIFTED;
    narrow = narrow || ndr_array_bytes(problem, k) < 4;
  }
  if (!shifted || narrow || lanes_of(along, elements) < NDR_WARP_THREADS || along->size < NDR_WARP_THREADS * elements)
    return;
  launch->operands.steps = elements;
  launch->operands.elements = 1;
  launch->operands.ways = ndr_ways_along(problem, along, walked, 1, false);
  for (int k = 0; k < ndr_count_arrays(problem); k++) /* no bytes count: registers alone limit the rows in flight */
    launch->operands.ways |= (unsigned)NDR_WAY_AGAIN << NDR_WAY_BITS * k;
}

void ndr_table_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  sharing how = choose_team(problem, device);
  ndr_table_cut cut = choose_cut(problem, &how);
  const ndr_axis *along = column_axis(problem);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TABLE_COLUMNS);
  ndr_params *p = &launch->params;
  const ndr_axis *walked = &problem->reduced[ndr_table_axis(problem)];
  int elements = launch->operands.elements =
      problem->kept_count ? ndr_count_columns(problem, on_boundary, COLUMN_REGISTERS) : 1;
  launch->operands.steps = 1;
  launch->operands.ways = ndr_ways_along(problem, along, walked, elements, false);
  spread_columns(problem, walked, launch);
  ndr_operands_begin(problem, launch, elements);
  launch->blocks = ndr_kernel_blocks(launch->kernel);
  if (ndr_operands_registers(problem, launch, elements) > ndr_block_registers(3))
    launch->blocks = 2; /* gathered rows in flight are twice as many */
  ndr_table_order(problem, launch);
  place_teams(problem, launch, how.team);
  int64_t teams = NDR_THREADS / p->thread.team.count;
  int64_t slots = place_table(problem, launch, &cut);
  p->work = ndr_ceil_div(p->thread.axis_teams * p->thread.others * p->table.tasks * cut.parts, teams);
  ndr_launch_end(launch);
  ndr_table_end(problem, launch, slots);
  p->units = units_of(problem);
  p->split_units = ndr_ceil_div(p->units, cut.parts);
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
  ndr_table_lists written = {ints + own->tasks_at, ints + own->segments_at, ints + own->joins_at, 0, 0, 0, 0};
  for (int64_t at = 0; at < table->count; at++) ints[at] = table->order[at];
  ndr_table_cut_up(table, &(ndr_table_cut){own->rows, own->parts}, &written);
}

ndr_status ndr_table_write(const ndr_canonical *problem, const ndr_launch *launch, int32_t **ints, size_t *bytes) {
  if (launch->kernel == NDR_KERNEL_TABLE_TILES) return ndr_zones_write(problem, launch, ints, bytes);
  const ndr_param_table *own = &launch->params.table;
  *bytes = ((size_t)own->joins_at + 2 * ((size_t)own->joins + 1)) * sizeof **ints;
  *ints = calloc(*bytes, 1);
  if (!*ints) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a table of %zu bytes", *bytes);
  write_table(launch, problem->table, *ints);
  return NDR_OK;
}

unsigned ndr_table_join_grid(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  int log = p->table.join_lanes_log;
  int64_t blocks = launch->kernel == NDR_KERNEL_TABLE_TILES
                       ? ndr_ceil_div((p->table.joins * p->padded) << log, NDR_THREADS)
                       : p->table.joins * ndr_ceil_div(p->padded, INT64_C(1) << log);
  return (unsigned)(blocks > INT32_MAX ? INT32_MAX : blocks);
}
