/* Launches of family thread for problems that read several arrays: operands_columns, whose threads walk rows. */
#include <math.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/rows.h"

enum {
  ALIGNED_BYTES = 4,     /* of a chunk, from which on it is faster than a whole vector that is shifted into place */
  SHIFTED_BYTES = 4,     /* elements of a byte each that are shifted into place together */
  COLUMN_REGISTERS = 32, /* that accumulators of a thread's columns take, at most */
  RUN_ROWS = 16, /* of a run along the walked axis that a thread reads, at least: places are located once a run */
  OWN_RUNS = 4   /* of a thread that reads whole runs, at least: some threads have one more than others */
};

const char *ndr_operands_reject_columns(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  return problem->kept_count == 0 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

/* Whether chunks may reach beyond the last column: all arrays are then read by vectors, of which the last ones are
 * taken apart, or repeat one element. */
static bool all_are_dense(const ndr_canonical *problem, const ndr_axis *along) {
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if (ndr_stride_of(along, k) != 0 && ndr_stride_of(along, k) != 1) return false;
  return true;
}

/* Makes the longest reduced axis the one that threads walk, or the densest if it is long enough for `rows` rows. */
static void order_rows(const ndr_canonical *problem, ndr_launch *launch, int rows) {
  ndr_param_axis *axes = launch->params.axes + launch->params.kept_count, axis;
  int walked = 0;
  if (launch->params.reduced_count == 0) return;
  for (int a = 1; axes[0].size < 2 * (int64_t)rows * NDR_LOADS_OPERANDS_COLUMNS && a < problem->reduced_count; a++)
    if (axes[a].size > axes[walked].size) walked = a;
  axis = axes[walked];
  axes[walked] = axes[0];
  axes[0] = axis;
  launch->operands.walked = walked;
}

int ndr_count_columns(const ndr_canonical *problem, bool on_boundary, int registers) {
  const ndr_axis *along = &problem->kept[0];
  int decider = ndr_find_decider(problem, along), elements = on_boundary ? ndr_aligned_elements(problem, along) : 1;
  int bytes = decider < 0 ? NDR_VECTOR_BYTES : (int)ndr_array_bytes(problem, decider), most = NDR_VECTOR_BYTES / bytes;
  bool wide = elements > 1 && elements * bytes >= ALIGNED_BYTES;
  if (on_boundary && !wide && 2 * elements < most && along->size >= 2 * most && all_are_dense(problem, along))
    elements = most;
  while (elements > 1 && elements * ndr_count_registers(problem) > registers) elements /= 2;
  return elements;
}

/* Bytes of an element of the widest array that comes from memory; 0 if those arrays are read by chunks of `elements`
 * that are aligned vectors. */
static int64_t widest_off_boundary(const ndr_canonical *problem, int elements) {
  const ndr_axis *along = &problem->kept[0];
  unsigned ways = ndr_ways_along(problem, along, NULL, elements, false);
  int64_t widest = 0;
  if (elements > 1 && !ndr_shifts_fresh(problem, ways)) return 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    bool fresh = ndr_stride_of(along, k) != 0 && !(NDR_WAY_OF(ways, k) & NDR_WAY_AGAIN);
    if (fresh && ndr_array_bytes(problem, k) > widest) widest = ndr_array_bytes(problem, k);
  }
  return widest;
}

/* Sets what a thread reads of each row: a chunk of `elements`, or `steps` single elements, a warp apart: as many as a
 * vector of the widest array holds, but at most MOST_STEPS, if strips of them cover the rows. A shifted chunk is loaded
 * as two vectors, and half of its registers hold what is dropped: single elements are faster. But each takes a register
 * and, of bytes, too many loads; and where weights are added up, a thread converts a row's weight once for all of its
 * columns. */
static void choose_chunk(const ndr_canonical *problem, bool on_boundary, int *elements, int *steps) {
  enum { SUM_REGISTERS = 4 /* of the sums of terms and of weights */, MOST_STEPS = 4 };
  const int registers = ndr_count_registers(problem);
  *elements = ndr_count_columns(problem, on_boundary, COLUMN_REGISTERS);
  *steps = 1;
  const int64_t widest = widest_off_boundary(problem, *elements);
  if (widest == 1 && *elements > SHIFTED_BYTES) *elements = SHIFTED_BYTES;
  if (widest < 2) return;
  *steps = widest > 4 ? (int)(NDR_VECTOR_BYTES / widest) : MOST_STEPS;
  while (*steps > 1 && (*steps * registers > COLUMN_REGISTERS ||
                        !ndr_rows_strips_cover(problem->kept[0].size, (int64_t)*steps * NDR_WARP_THREADS)))
    *steps /= 2;
  if (*steps > 1 || !ndr_has_weights(problem) || registers > SUM_REGISTERS) *elements = 1;
}

/* Cuts a block's threads into teams. Outputs that are split have a block each; others have as few rows at a time as
 * leave a thread some batches of them. */
static void cut_teams(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int lanes,
                      int batch) {
  enum { BATCHES = 8 };
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int64_t enough = 2 * (int64_t)device->units * launch->blocks;
  int rows = NDR_THREADS / lanes;
  while (rows > 1 && problem->length < (int64_t)BATCHES * rows * batch &&
         own->axis_teams * own->others * rows * lanes >= enough * NDR_THREADS)
    rows /= 2;
  while (rows > 1 && problem->length <= rows / 2) rows /= 2;
  int teams = NDR_THREADS / (lanes * rows);
  own->team = ndr_threads(lanes * rows);
  p->tile_outputs = own->team_columns * teams;
  p->work = ndr_ceil_div(own->axis_teams * own->others, teams);
}

/* What a multiprocessor loses with so many blocks, as a share of the time: by registers that threads lack, and by too
 * few bytes in flight where threads compute for long between loads or look for the next run. */
static double lost_share(const ndr_canonical *problem, const ndr_launch *launch, int blocks, int registers) {
  static const double SQUEEZE = 3, STARVE = 0.3; /* these and the next: fitted to weights and five states on an H200 */
  enum { MANY_ACCUMULATOR_REGISTERS = 5 };
  int elements = launch->operands.elements, most = ndr_block_registers(blocks);
  int chunks = launch->operands.steps * ndr_rows_in_flight(problem, launch);
  int flight = blocks * chunks * ndr_fresh_bytes(problem, launch->operands.ways, elements);
  bool folds_slowly = ndr_has_weights(problem) || ndr_count_registers(problem) >= MANY_ACCUMULATOR_REGISTERS;
  bool waits = problem->reduced_count > 1 || folds_slowly;
  double squeezed = registers > most ? (double)(registers - most) / (double)most : 0;
  double starved = waits && flight < NDR_ENOUGH_BYTES ? 1 - (double)flight / NDR_ENOUGH_BYTES : 0;
  return SQUEEZE * squeezed * squeezed + STARVE * starved;
}

/* Chooses the blocks of a multiprocessor, and whether threads have twice the bytes in flight: what fills whole waves
 * with tiles and splits, unless that loses more than it gains. */
static void choose_blocks_and_flight(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                                     double row_bytes) {
  const ndr_params *p = &launch->params;
  const unsigned flights[] = {launch->operands.ways, launch->operands.ways | NDR_WAYS_TWICE};
  const int accumulators = launch->operands.elements * launch->operands.steps;
  const int64_t one_step = ndr_launch_step(p->tile_outputs), most = problem->length;
  const ndr_tiles tiles = {p->work, (double)problem->length * row_bytes, p->tile_outputs, launch->words,
                           launch->block_bytes};
  unsigned best_ways = flights[0];
  double least = INFINITY;
  for (int f = 0; f < 2; f++) {
    launch->operands.ways = flights[f];
    int registers = ndr_operands_registers(problem, launch, accumulators);
    for (int blocks = 2; blocks <= ndr_kernel_blocks(launch->kernel); blocks++) {
      int64_t resident = (int64_t)device->units * blocks;
      double time =
          blocks * ndr_splits_time(&tiles, resident, ndr_best_splits(&tiles, resident, most, one_step), one_step);
      time *= 1 + lost_share(problem, launch, blocks, registers);
      if (time < least) launch->blocks = blocks, best_ways = flights[f], least = time;
    }
  }
  launch->operands.ways = best_ways;
}

/* Whether each of the `rows` threads of a column reads whole runs along the walked axis, of its own, rather than its
 * rows of every run: it then looks for a run's place once for all of the run's rows. */
static bool reads_own_runs(const ndr_canonical *problem, const ndr_launch *launch, int rows, int splits) {
  if (problem->reduced_count < 2 || rows < 2) return false;
  return problem->length / problem->reduced[launch->operands.walked].size >= (int64_t)OWN_RUNS * rows * splits;
}

/* Threads that share a row, where a thread owns `each` columns of it. Also orders the rows. */
static int choose_lanes(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int each) {
  const ndr_axis *along = &problem->kept[0];
  int64_t chunks = ndr_ceil_div(along->size, each), others = problem->outputs / along->size;
  int lanes = ndr_power_from(chunks, problem->length < 16 ? NDR_THREADS : NDR_WARP_THREADS);
  order_rows(problem, launch, NDR_THREADS / lanes);
  if (problem->reduced_count > 1 && !reads_own_runs(problem, launch, NDR_THREADS / lanes, 1)) {
    int64_t walked = problem->reduced[launch->operands.walked].size;
    while (lanes < NDR_THREADS && lanes < chunks && walked * lanes < (int64_t)RUN_ROWS * NDR_THREADS) lanes *= 2;
  }
  while (lanes > NDR_WARP_THREADS && chunks * others < (int64_t)device->units * lanes) lanes /= 2;
  while (launch->operands.steps > 1 && !ndr_rows_strips_cover(along->size, (int64_t)lanes * each)) lanes /= 2;
  return lanes;
}

void ndr_operands_columns(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  const ndr_axis *along = &problem->kept[0];
  ndr_launch_begin(launch, problem, NDR_KERNEL_OPERANDS_COLUMNS);
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int elements, steps;
  choose_chunk(problem, on_boundary, &elements, &steps);
  launch->operands.elements = elements;
  launch->operands.steps = steps;
  int lanes = choose_lanes(problem, device, launch, elements * steps);
  const ndr_axis *walked = problem->reduced_count ? &problem->reduced[launch->operands.walked] : NULL;
  own->others = problem->outputs / along->size;
  own->lanes = ndr_threads(lanes);
  own->team_columns = lanes * elements * steps;
  own->axis_teams = ndr_ceil_div(along->size, own->team_columns);
  own->near_others = own->parts = 1;
  launch->operands.ways = ndr_ways_along(problem, along, walked, elements, false);
  ndr_operands_begin(problem, launch, elements * steps);
  cut_teams(problem, device, launch, lanes, ndr_count_batch(problem, launch->operands.ways, elements, steps));
  int64_t columns = along->size < own->team_columns ? along->size : own->team_columns;
  double row_bytes = (double)columns / elements * ndr_fresh_bytes(problem, launch->operands.ways, elements);
  if (own->team.count == NDR_THREADS) {
    choose_blocks_and_flight(problem, device, launch, row_bytes);
    int batch = ndr_count_batch(problem, launch->operands.ways, elements, steps);
    ndr_rows_split(problem, device, launch, problem->length, row_bytes, NDR_THREADS / lanes, batch, 1);
  } else {
    if (ndr_has_weights(problem)) launch->operands.ways |= NDR_WAYS_TWICE;
    ndr_launch_split(launch, problem->length, problem->length, 1, 1);
  }
  /* Splits may have left too few runs. */
  if (reads_own_runs(problem, launch, own->team.count / lanes, p->splits)) launch->operands.ways |= NDR_WAYS_OWN_RUNS;
  ndr_launch_end(launch);
}
