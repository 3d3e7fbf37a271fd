/* Counts what a launch does that takes time: the sectors that it reads, the loads that it waits for, and so on. All
 * follows from its arguments; how long each takes is in weights.def. */
#include <stdlib.h>

#include "gpuplan/operands/operators.h"
#include "gpuplan/rows.h"

/* The fewest bytes that memory hands to the second-level cache. */
enum { BURST_BYTES = 64 };

/* Time of a byte from the first-level cache, which hands out two sectors a cycle; a byte from memory takes 1. Bytes of
 * 8-byte elements take twice as long. */
#define CACHED_COST 0.32

/* Bytes that a multiprocessor of the GPU that the weights were fitted to reads in a microsecond. */
#define FITTED_RATE (4.8e6 / 132)

static int64_t ceil_div(int64_t whole, int64_t by) {
  return by > 0 ? (whole + by - 1) / by : 1;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Bytes of the bursts that hold the problem's elements. Axes are taken in the order of their strides. An axis whose
 * stride is at most what the axes before it cover, or a burst, extends that range; any other copies it. */
static double footprint(const ndr_params *p, int64_t bytes) {
  struct {
    int64_t stride, size;
  } axes[NDR_PARAM_AXES];
  int count = 0;
  double cover = (double)bytes, copies = 1;
  for (int a = 0; a < p->kept_count + p->reduced_count; a++) {
    int64_t stride = p->axes[a].stride < 0 ? -p->axes[a].stride : p->axes[a].stride, at = count;
    if (stride == 0) continue;
    for (; at > 0 && axes[at - 1].stride > stride; at--) axes[at] = axes[at - 1];
    axes[at].stride = stride;
    axes[at].size = p->axes[a].size;
    count++;
  }
  for (int a = 0; a < count; a++) {
    double step = (double)(axes[a].stride * bytes);
    if (step <= cover || step <= BURST_BYTES)
      cover += step * (double)(axes[a].size - 1);
    else
      copies *= (double)axes[a].size;
  }
  return copies * cover + (copies > 1 ? copies * BURST_BYTES / 2 : 0);
}

/* Bytes from the first element to element n of a walk over `axes`, innermost first. */
static int64_t locate(const ndr_param_axis *axes, int count, int64_t n, int64_t bytes) {
  int64_t offset = 0;
  for (int a = 0; a < count; a++) {
    offset += (a + 1 < count ? n % axes[a].size : n) * axes[a].stride * bytes;
    if (a + 1 < count) n /= axes[a].size;
  }
  return offset;
}

/* Elements from the result's first to that of number n of a walk over the kept axes from number `first` on. */
static int64_t locate_result(const ndr_params *p, int first, int64_t n) {
  int64_t result = 0;
  for (int a = first; a < p->kept_count; a++) {
    result += (a + 1 < p->kept_count ? n % p->axes[a].size : n) * p->axes[a].result_stride;
    if (a + 1 < p->kept_count) n /= p->axes[a].size;
  }
  return result;
}

/* Which columns a team reads, of which combination of the other kept axes. */
typedef struct team_place {
  int64_t along, other;
} team_place;

static team_place locate_team(const ndr_param_thread *own, int64_t number) {
  int64_t block = number / own->near_others;
  return (team_place){block % own->axis_teams, block / own->axis_teams * own->near_others + number % own->near_others};
}

static int count_sectors(int64_t sector[NDR_WARP_THREADS]) {
  int count = 1;
  qsort(sector, NDR_WARP_THREADS, sizeof *sector, compare);
  for (int t = 1; t < NDR_WARP_THREADS; t++) count += sector[t] != sector[t - 1];
  return count;
}

/* The result of output t of those along columns that are mapped. */
static int64_t mapped_result(const ndr_params *p, int64_t t) {
  int64_t size = p->thread.inner;
  return t % size * p->axes[0].result_stride + t / size * p->thread.outer_stride;
}

/* The result that thread t of a warp writes first. Those of turned results write one of each of a block's teams. */
static int64_t first_result(const ndr_launch *launch, int64_t t) {
  const ndr_params *p = &launch->params;
  if (ndr_kernel_has_teams(launch->kernel) && p->thread.inner > 0) return mapped_result(p, t);
  if (!ndr_kernel_has_teams(launch->kernel) || p->thread.near_others == 1)
    return locate_result(p, 0, smaller(t, p->outputs - 1));
  int64_t teams = NDR_THREADS / p->thread.team.count;
  team_place team = locate_team(&p->thread, t % teams);
  int64_t column = team.along * p->thread.team_columns + t / teams;
  return smaller(column, p->axes[0].size - 1) * p->axes[0].result_stride + locate_result(p, 1, team.other);
}

/* Sectors that hold 32 results which neighbouring threads write. */
static int written_sectors(const ndr_launch *launch, int64_t bytes) {
  int64_t sector[NDR_WARP_THREADS];
  for (int t = 0; t < NDR_WARP_THREADS; t++) sector[t] = first_result(launch, t) * bytes / NDR_SECTOR_BYTES;
  return count_sectors(sector);
}

/* Bytes from the first reduced element to reduced element n. */
static int64_t locate_reduced(const ndr_params *p, int64_t n, int64_t bytes) {
  return locate(p->axes + p->kept_count, p->reduced_count, smaller(n, p->length - 1), bytes);
}

/* Sectors that the first load of the first warp touches in thread_elements. */
static int first_column_sectors(const ndr_params *p, int64_t bytes) {
  int64_t sector[NDR_WARP_THREADS];
  const ndr_param_thread *own = &p->thread;
  for (int t = 0; t < NDR_WARP_THREADS; t++) {
    int64_t member = t % own->team.count, number = t / own->team.count;
    int64_t lane = member % own->lanes.count, row = member / own->lanes.count;
    team_place place = locate_team(own, number);
    int64_t column = place.along * own->team_columns + smaller(lane, own->team_columns - 1);
    int64_t offset = smaller(column, p->axes[0].size - 1) * p->axes[0].stride * bytes;
    offset += locate(p->axes + 1, p->kept_count - 1, place.other, bytes);
    sector[t] = (offset + locate_reduced(p, row, bytes)) / NDR_SECTOR_BYTES;
  }
  return count_sectors(sector);
}

/* Sectors that the first load of the first warp touches in tree_strided. */
static int first_strided_sectors(const ndr_params *p, int64_t bytes) {
  int64_t sector[NDR_WARP_THREADS];
  int team = p->tree_strided.team.count;
  for (int t = 0; t < NDR_WARP_THREADS; t++) {
    int64_t offset = locate(p->axes, p->kept_count, smaller(t / team, p->outputs - 1), bytes);
    sector[t] = (offset + locate_reduced(p, t % team, bytes)) / NDR_SECTOR_BYTES;
  }
  return count_sectors(sector);
}

/* What a launch does; launch.h says more of each as a term. */
typedef struct counts {
  int64_t steps;       /* loads that a thread waits for one after the other */
  int64_t stretches;   /* rows or runs that a thread starts */
  int64_t columns;     /* columns that a thread accumulates; 0 where they cost nothing extra */
  double sectors;      /* bytes of the sectors that loads touch, each as often as a load does */
  double fetched;      /* bytes read from the second-level cache */
  double memory;       /* bytes read from memory */
  double strided;      /* `memory`, where neighbouring threads walk rows of their own; else 0 */
  double rereads;      /* `fetched`, where a kept axis has stride 0; else 0 */
  double instructions; /* each kernel counts in a unit of its own */
} counts;

static counts dense_counts(const ndr_params *p, int64_t bytes) {
  double elements = (double)p->outputs * (double)p->length;
  return (counts){.steps = 1,
                  .stretches = 1,
                  .fetched = elements * (double)bytes,
                  .memory = footprint(p, bytes),
                  .instructions = elements};
}

/* Bytes that the second-level cache loads between two reads of a sector, where rows of an axis that is not walked first
 * share sectors: in between, every block reads its columns of all rows of the axes that are walked before. Returns 0
 * where the blocks that run at the same time read the same sectors at the same time, because their splits begin at the
 * same rows. */
static double bytes_between(const ndr_params *p, const ndr_device *device, int resident, int64_t bytes) {
  const ndr_param_axis *axes = p->axes + p->kept_count;
  int densest = 0;
  int64_t inner = 1, units = smaller(p->split_units, p->units), kept = p->axes[0].stride * bytes;
  for (int a = 1; a < p->reduced_count; a++)
    if (axes[a].stride < axes[densest].stride && axes[a].stride * bytes < NDR_SECTOR_BYTES) densest = a;
  if (densest == 0) return 0;
  for (int a = 0; a < densest; a++) inner *= axes[a].size;
  int64_t columns = (int64_t)p->thread.team_columns * (NDR_THREADS / p->thread.team.count);
  double row = (double)(columns * smaller(kept, NDR_LINE_BYTES));
  int64_t running = smaller(p->work, (int64_t)device->units * resident), splits = ceil_div(inner, units);
  if (units > inner) return row * (double)inner * (double)running;
  bool together = kept <= NDR_SECTOR_BYTES && splits * units - inner < units / 8 && splits * p->tile_count < running;
  return together ? 0 : row * (double)inner * (double)p->tile_count;
}

static counts tree_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  counts e = dense_counts(p, bytes);
  int64_t units = smaller(p->split_units, p->units);
  if (launch->kernel == NDR_KERNEL_TREE_STRIDED) {
    e.steps = ceil_div(units, (int64_t)p->tree_strided.team.count * NDR_LOADS_TREE_STRIDED);
    e.fetched = e.instructions * first_strided_sectors(p, bytes);
    e.instructions *= 1 + p->reduced_count;
    return e;
  }
  if (launch->kernel == NDR_KERNEL_TREE_LISTED) {
    int64_t lanes = p->tree_listed.lanes.count, loads = ceil_div(p->length, lanes);
    e.stretches = ceil_div(p->tile_outputs * lanes, (int64_t)NDR_THREADS * NDR_LISTED_OUTPUTS);
    e.steps = e.stretches * ceil_div(loads, NDR_LISTED_EACH);
    e.sectors = (double)p->outputs * (double)(loads * NDR_SECTOR_BYTES);
    e.fetched = e.memory;
    e.instructions = (double)p->outputs * (double)(lanes * (loads + NDR_LISTED_EACH));
    return e;
  }
  if (launch->kernel == NDR_KERNEL_TREE_BLOCK) {
    e.steps = ceil_div(units * bytes, (int64_t)NDR_THREADS * NDR_VECTOR_BYTES * NDR_LOADS_TREE_BLOCK);
    return e;
  }
  int64_t run = p->axes[p->kept_count].size, vectors = ceil_div(run * bytes, NDR_VECTOR_BYTES);
  int64_t output_runs = p->length / run;
  double runs = (double)p->outputs * (double)output_runs;
  bool one_run = launch->kernel == NDR_KERNEL_TREE_LANES;
  int lanes = one_run ? p->tree_lanes.lanes.count : p->tree_runs.lanes.count;
  int64_t batches = ceil_div(vectors, (int64_t)lanes * (one_run ? NDR_LOADS_TREE_LANES : NDR_LOADS_TREE_RUNS));
  e.fetched = runs * (double)(ceil_div(vectors, lanes) * lanes * NDR_VECTOR_BYTES);
  if (one_run) {
    e.steps = p->tree_lanes.lane_vectors_log >= 0 ? 1 : batches;
    e.sectors = p->tree_lanes.lane_vectors_log >= 0 ? 0 : e.fetched;
    return e;
  }
  e.sectors = runs * (double)(ceil_div(run * bytes, NDR_SECTOR_BYTES) * NDR_SECTOR_BYTES);
  e.stretches = ceil_div(units, p->tree_runs.team.count / lanes);
  e.steps = batches * e.stretches;
  return e;
}

/* Reads of thread_elements: neighbouring threads may share sectors, and so may a thread's successive rows. */
static void count_single(const ndr_params *p, const ndr_device *device, int resident, int64_t bytes, counts *e) {
  int64_t run = p->reduced_count ? p->axes[p->kept_count].size : 1;
  int64_t step = p->reduced_count ? p->axes[p->kept_count].stride * bytes : NDR_SECTOR_BYTES;
  double busy = (double)p->axes[0].size / (double)(p->thread.axis_teams * p->thread.lanes.count);
  int64_t most = step == 0 ? run : ceil_div(NDR_SECTOR_BYTES, step);
  double sector_rows = step < NDR_SECTOR_BYTES ? (double)smaller(most, run) : 1;
  e->sectors = e->fetched * first_column_sectors(p, bytes) / (busy * (double)bytes);
  e->fetched = e->sectors / sector_rows;
  for (int a = 0; a < p->kept_count; a++)
    if (p->axes[a].stride == 0) e->rereads = e->fetched;
  if (p->axes[0].stride * bytes >= BURST_BYTES && step < BURST_BYTES) e->strided = e->memory;
  /* Repeated reads of a sector come from memory once the cache has loaded half its size in between. */
  double missed = bytes_between(p, device, resident, bytes) / (double)device->l2_bytes - 0.5;
  if (e->fetched > e->memory && missed > 0) e->memory += (e->fetched - e->memory) * (missed < 1 ? missed : 1);
  /* The first-level cache hands out sectors while memory delivers others: only the time beyond memory's counts. */
  double beyond = e->sectors * (bytes > 4 ? 2 : 1) * CACHED_COST - e->memory;
  e->sectors = beyond > 0 ? beyond : 0;
}

/* Counts the walk over a split's rows. A block or team reads `rows` of them at a time; a thread has `batch` loads in
 * flight. */
static void count_walk(const ndr_params *p, int64_t rows, int64_t batch, counts *e) {
  int64_t units = smaller(p->split_units, p->units), walked = p->reduced_count ? p->axes[p->kept_count].size : 1;
  e->stretches = ceil_div(units, walked);
  e->steps = e->stretches * ceil_div(smaller(units, walked), rows * batch);
  e->instructions = (double)p->work * NDR_THREADS * (double)(e->steps * batch);
}

static counts thread_counts(const ndr_launch *launch, const ndr_device *device, int resident, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool single = launch->kernel == NDR_KERNEL_THREAD_ELEMENTS, few = launch->kernel == NDR_KERNEL_THREAD_FEW,
       spread = launch->kernel == NDR_KERNEL_THREAD_SPREAD, shifted = launch->kernel == NDR_KERNEL_THREAD_SHIFTED,
       phased = launch->kernel == NDR_KERNEL_THREAD_PHASED;
  int batch = single    ? NDR_LOADS_THREAD_ELEMENTS
              : spread  ? NDR_SPREAD_ROWS(bytes)
              : few     ? NDR_FEW_LOADS(bytes)
              : shifted ? NDR_LOADS_THREAD_SHIFTED
              : phased  ? NDR_LOADS_THREAD_PHASED
                        : NDR_LOADS_THREAD_VECTORS;
  counts e = dense_counts(p, bytes);
  count_walk(p, phased ? p->thread.rows : p->thread.team.count / p->thread.lanes.count, batch, &e);
  if (single)
    count_single(p, device, resident, bytes, &e);
  else
    e.columns = spread ? NDR_SPREAD_COLUMNS : p->thread.parts * (NDR_VECTOR_BYTES / bytes);
  if (shifted) e.sectors = 2 * e.fetched; /* by two threads each */
  return e;
}

/* tile_run_elements, tile_run_vectors and tile_run_dense: threads walk the elements, or vectors, of short runs; the
 * block's accumulators are joined at the end. */
static counts run_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool dense = launch->kernel == NDR_KERNEL_TILE_RUN_DENSE,
       wide = dense || launch->kernel == NDR_KERNEL_TILE_RUN_VECTORS;
  const ndr_param_groups *g = &p->tile_runs.groups;
  int threads = p->tile_runs.row_threads, joiners = p->tile_runs.joiners.count;
  int64_t rows = NDR_THREADS / threads, group = g->run_length * g->outputs * bytes;
  counts e = dense_counts(p, bytes);
  count_walk(p, rows, wide ? NDR_LOADS_TILE_RUN_VECTORS : NDR_LOADS_TILE_RUN_ELEMENTS, &e);
  if (p->axes[g->outputs > 1].stride * bytes != group)
    e.fetched *= ((double)group + 0.5 * NDR_SECTOR_BYTES) / (double)group;
  int64_t elements = wide && !dense ? NDR_VECTOR_BYTES / bytes : 1, columns = ceil_div(g->run_length, elements);
  int64_t held = smaller(columns, dense ? threads * (NDR_VECTOR_BYTES / bytes) : threads);
  e.columns = ceil_div(held, joiners) * ceil_div(p->tile_outputs, NDR_THREADS / joiners);
  return e;
}

/* tile_rows: a block copies whole rows to shared memory. Instructions are elements, or vectors, that threads fold, and
 * for each thread that may have any, 4 more. */
static counts row_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  const ndr_param_tile_rows *own = &p->tile_rows;
  counts e = dense_counts(p, bytes);
  e.stretches = ceil_div(own->rows, NDR_THREADS / own->lanes.count);
  e.fetched = (double)p->outputs * (double)(own->pitch * bytes);
  bool elements = own->reading == NDR_ROWS_WHOLE || own->reading == NDR_ROWS_BY_ELEMENT;
  int64_t reads = elements ? own->length : own->length * bytes / NDR_VECTOR_BYTES + 1;
  e.instructions =
      (double)p->work * (double)e.stretches * NDR_THREADS * (double)(ceil_div(reads, own->lanes.count) + 4);
  return e;
}

/* tile_staged: a block copies what it reads to shared memory. Instructions are elements that threads fold, and for each
 * thread that may have any, 4 more. */
static counts staged_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  const ndr_param_tile_staged *own = &p->tile_staged;
  counts e = dense_counts(p, bytes);
  int64_t groups = own->groups.tile_groups, stage = (groups - 1) * own->pitch + (own->piece - 1) * own->element_step +
                                                    (own->groups.outputs - 1) * own->column_step + 1;
  int64_t rounds = ceil_div(p->tile_outputs, NDR_THREADS / own->members.count);
  e.steps = smaller(p->split_units, p->units);
  e.stretches = e.steps * rounds;
  double stages = (double)p->units * (double)p->tile_count;
  e.fetched = stages * (double)(stage * bytes);
  e.instructions = stages * (double)rounds * NDR_THREADS * (double)(ceil_div(own->piece, own->members.count) + 4);
  return e;
}

/* tile_columns and tile_columns3: a block or a warp reads dense rows of few columns. */
static counts column_counts(const ndr_launch *launch, int64_t bytes) {
  const ndr_params *p = &launch->params;
  bool columns3 = launch->kernel == NDR_KERNEL_TILE_COLUMNS3;
  int columns = columns3 ? 3 : p->tile_columns.rows.columns;
  int at_once = columns3 ? p->tile_columns3.team.count * NDR_LOADS_TILE_COLUMNS3
                         : p->tile_columns.active_threads * NDR_LOADS_TILE_COLUMNS;
  counts e = dense_counts(p, bytes);
  int64_t units = smaller(p->split_units, p->units), run = p->axes[p->kept_count].size;
  int64_t vectors = smaller(units, run) * columns * bytes / NDR_VECTOR_BYTES + 1;
  e.stretches = ceil_div(units, run);
  e.steps = e.stretches * ceil_div(vectors, at_once);
  e.columns = columns3 ? 0 : e.stretches * NDR_VECTOR_BYTES / bytes;
  e.sectors = (double)e.stretches * (double)p->work * NDR_THREADS * NDR_VECTOR_BYTES;
  return e;
}

/* tile_vectors: a thread turns vectors into outputs. */
static counts vector_counts(const ndr_launch *launch, int64_t bytes) {
  counts e = dense_counts(&launch->params, bytes);
  e.steps = launch->params.tile_vectors.item_vectors / NDR_THREADS;
  return e;
}

static counts count(const ndr_launch *launch, const ndr_device *device, int resident, int64_t bytes) {
  if (ndr_kernel_has_teams(launch->kernel)) return thread_counts(launch, device, resident, bytes);
  switch (launch->kernel) {
  case NDR_KERNEL_TILE_COLUMNS:
  case NDR_KERNEL_TILE_COLUMNS3: return column_counts(launch, bytes);
  case NDR_KERNEL_TILE_ROWS: return row_counts(launch, bytes);
  case NDR_KERNEL_TILE_STAGED: return staged_counts(launch, bytes);
  case NDR_KERNEL_TILE_RUN_VECTORS:
  case NDR_KERNEL_TILE_RUN_DENSE:
  case NDR_KERNEL_TILE_RUN_ELEMENTS: return run_counts(launch, bytes);
  case NDR_KERNEL_TILE_VECTORS: return vector_counts(launch, bytes);
  default: return tree_counts(launch, bytes);
  }
}

void ndr_launch_terms(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch,
                      double terms[NDR_TERMS]) {
  int resident = ndr_kernel_blocks(launch->kernel);
  const ndr_params *p = &launch->params;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int64_t result = ndr_launch_result_bytes(problem);
  double waves = (double)p->work / ((double)device->units * resident), rate = device->bandwidth * 1e-6;
  counts e = count(launch, device, resident, bytes);
  /* On other devices a multiprocessor is taken to be slower by as much as its share of the bandwidth is less. */
  double slowness = FITTED_RATE / (rate / device->units), idle = waves < 1 ? 1 - waves : 0;
  if (waves < 1) waves = 1;
  terms[NDR_TERM_START] = 1;
  terms[NDR_TERM_MEMORY] = e.memory / rate;
  terms[NDR_TERM_STRIDED] = e.strided / rate;
  terms[NDR_TERM_FETCHED] = e.fetched / rate;
  terms[NDR_TERM_REREADS] = e.rereads / rate;
  terms[NDR_TERM_SECTORS] = e.sectors / rate;
  terms[NDR_TERM_WRITTEN] =
      (double)p->outputs * written_sectors(launch, result) * NDR_SECTOR_BYTES / NDR_WARP_THREADS / rate;
  terms[NDR_TERM_WAVES] = waves * slowness;
  terms[NDR_TERM_STEPS] = (double)e.steps * waves * slowness;
  terms[NDR_TERM_IDLE] = (double)e.steps * idle * slowness;
  terms[NDR_TERM_STRETCHES] = (double)e.stretches * waves * slowness;
  terms[NDR_TERM_COLUMNS] = (double)e.columns * waves * slowness;
  terms[NDR_TERM_INSTRUCTIONS] = e.instructions / device->units * 1e-3 * slowness;
  terms[NDR_TERM_OUTPUTS] = (double)p->outputs / device->units * 1e-3 * slowness;
  terms[NDR_TERM_JOINS] = (p->splits > 1) + (p->split_groups > 1);
  terms[NDR_TERM_JOINING] = (double)ndr_join_batches(p->tile_outputs, p->splits, p->group_splits);
}
