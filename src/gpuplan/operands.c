/* Planner's half of kernels/operands.cuh: problems that read several arrays, each with strides of its own. */
#include "gpuplan/operands.h"

#include <math.h>
#include <stdlib.h>

#include "gpuplan/rows.h"
#include "gpuplan/strided.h"

enum {
  MOST_CHUNKS = 4,            /* chunks of a run that a lane reads in operands_short and operands_rows */
  FLIGHT_BYTES = 64,          /* of all arrays that a thread has in flight, as in kernels/chunks.cuh */
  COLUMN_WORDS = 16,          /* of the states of a thread's columns, at most: their accumulators stay in registers */
  BLOCK_RUN_BYTES = 16 << 10, /* of a run of all arrays, from which on a whole block reads it */
  LONG_RUN_BYTES = 64 << 10,  /* the same where an output has several runs */
  STEP_BYTES = NDR_THREADS * FLIGHT_BYTES, /* of a split, at least */
  FEW_RUNS = 4,                            /* runs for each multiprocessor, up to which blocks read shorter ones */
  MOST_RUNS = 1 << 16,                     /* of an output that blocks read */
  SPOTS = 8 /* outputs that a group of lanes of operands_rows reads, one after the other */
};

bool ndr_operands_needed(const ndr_canonical *problem) {
  return problem->operand_count > 0 || problem->place_count > 0;
}

const char *ndr_operands_reject_columns(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  return problem->kept_count == 0 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

const char *ndr_operands_reject_runs(const ndr_canonical *problem, const ndr_device *device) {
  (void)problem;
  return device->compiles ? NULL : NDR_NO_COMPILER;
}

/* ---- arrays ---- */

static int count_arrays(const ndr_canonical *problem) {
  return 1 + problem->operand_count;
}

static int64_t array_bytes(const ndr_canonical *problem, int k) {
  return (int64_t)ndr_dtype_bytes(k == 0 ? problem->dtype : problem->operand_dtypes[k - 1]);
}

static int64_t stride_of(const ndr_axis *axis, int k) {
  return k == 0 ? axis->stride : axis->operand[k - 1];
}

/* Axis number a of the problem: kept, then reduced. */
static const ndr_axis *axis_of(const ndr_canonical *problem, int a) {
  return a < problem->kept_count ? &problem->kept[a] : &problem->reduced[a - problem->kept_count];
}

static int count_axes(const ndr_canonical *problem) {
  return problem->kept_count + problem->reduced_count;
}

/* The widest array whose neighbours along an axis lie side by side, or -1. It decides how many make a chunk. Where an
 * array as wide as that has gaps, chunks are single elements: neighbouring threads then read nearer to each other. */
static int find_decider(const ndr_canonical *problem, const ndr_axis *along) {
  int widest = -1;
  for (int k = 0; k < count_arrays(problem); k++)
    if (stride_of(along, k) == 1 && (widest < 0 || array_bytes(problem, k) > array_bytes(problem, widest))) widest = k;
  for (int k = 0; widest >= 0 && k < count_arrays(problem); k++)
    if (llabs(stride_of(along, k)) > 1 && array_bytes(problem, k) >= array_bytes(problem, widest)) widest = -1;
  return widest;
}

/* Whether strides of array k along all axes but `along` are multiples of `elements`; with `less` not negative, the
 * differences from those of array `less`. */
static bool strides_divide(const ndr_canonical *problem, const ndr_axis *along, int k, int less, int64_t elements) {
  for (int a = 0; a < count_axes(problem); a++) {
    const ndr_axis *axis = axis_of(problem, a);
    int64_t stride = stride_of(axis, k) - (less < 0 ? 0 : stride_of(axis, less));
    if (axis != along && stride % elements) return false;
  }
  return true;
}

/* Whether others than one thread read the same elements of array k. */
static bool is_read_again(const ndr_canonical *problem, int k) {
  for (int a = 0; a < count_axes(problem); a++)
    if (stride_of(axis_of(problem, a), k) == 0) return true;
  return false;
}

/* The most elements of a chunk that begins on a multiple of their number, whatever the run or row is. */
static int aligned_elements(const ndr_canonical *problem, const ndr_axis *along) {
  int decider = find_decider(problem, along);
  int64_t elements = decider < 0 ? 1 : NDR_VECTOR_BYTES / array_bytes(problem, decider);
  while (elements > 1 && (along->size % elements || !strides_divide(problem, along, decider, -1, elements)))
    elements /= 2;
  return (int)elements;
}

/* Whether chunks may reach beyond the last column: all arrays are then read by vectors, of which the last ones are
 * taken apart, or repeat one element. */
static bool all_are_dense(const ndr_canonical *problem, const ndr_axis *along) {
  for (int k = 0; k < count_arrays(problem); k++)
    if (stride_of(along, k) != 0 && stride_of(along, k) != 1) return false;
  return true;
}

/* The ways to read chunks of `elements` along an axis. peeled: chunks begin on boundaries of the array that decides,
 * wherever runs begin; otherwise runs begin on boundaries. */
static unsigned ways_along(const ndr_canonical *problem, const ndr_axis *along, const ndr_axis *walked, int elements,
                           bool peeled) {
  unsigned ways = 0;
  int decider = find_decider(problem, along);
  for (int k = 0; k < count_arrays(problem); k++) {
    bool dense = stride_of(along, k) == 1, whole = peeled || along->size % elements == 0;
    bool aligned = elements == 1 || (whole && strides_divide(problem, along, k, peeled ? decider : -1, elements));
    unsigned way = !dense ? NDR_WAY_ELEMENTS : aligned ? NDR_WAY_VECTOR : NDR_WAY_SHIFTED;
    if (stride_of(along, k) == 0) way = NDR_WAY_SAME;
    if (walked && stride_of(walked, k) == 0) way |= NDR_WAY_FIXED;
    if (is_read_again(problem, k)) way |= NDR_WAY_AGAIN;
    ways |= way << (NDR_WAY_BITS * k);
  }
  return ways;
}

/* Bytes of a chunk of all arrays, but for those that are the same along it. */
static int64_t chunk_bytes(const ndr_canonical *problem, const ndr_axis *along, int64_t elements) {
  int64_t bytes = 0;
  for (int k = 0; k < count_arrays(problem); k++)
    if (stride_of(along, k) != 0) bytes += elements * array_bytes(problem, k);
  return bytes > 0 ? bytes : 1;
}

/* Chunks that a thread has in flight, about as in kernels/chunks.cuh. */
static int count_batch(const ndr_canonical *problem, const ndr_axis *along, int elements) {
  int64_t bytes = chunk_bytes(problem, along, elements), batch = 1;
  while (batch < NDR_LOADS_OPERANDS_RUNS && batch * bytes < FLIGHT_BYTES) batch *= 2;
  return (int)batch;
}

static int power_from(int64_t least, int most) {
  int count = 1;
  while (count < most && count < least) count *= 2;
  return count;
}

static int64_t ceil_div(int64_t whole, int64_t by) {
  return (whole + by - 1) / by;
}

static int64_t count_blocks(const ndr_device *device, ndr_kernel kernel) {
  return (int64_t)device->units * ndr_kernel_blocks(kernel);
}

/* ---- family thread ---- */

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

/* Words of the states of all the problem's operators. A part of a program is taken to have two. */
static int count_words(const ndr_canonical *problem) {
  int words = 0;
  for (int i = 0; i < problem->op_count; i++) words += problem->programs[i] ? 2 * problem->programs[i]->part_count : 2;
  return words > 0 ? words : 2;
}

/* Columns of a thread: as many as a vector of the widest array holds, shifted into place unless all rows are aligned.
 */
static int count_columns(const ndr_canonical *problem, bool on_boundary) {
  const ndr_axis *along = &problem->kept[0];
  int decider = find_decider(problem, along), elements = on_boundary ? aligned_elements(problem, along) : 1;
  int most = decider < 0 ? 1 : (int)(NDR_VECTOR_BYTES / array_bytes(problem, decider));
  if (on_boundary && 2 * elements < most && along->size >= 2 * most && all_are_dense(problem, along)) elements = most;
  while (elements > 1 && elements * count_words(problem) > COLUMN_WORDS) elements /= 2;
  return elements;
}

/* Cuts a block's threads into teams. Outputs that are split have a block each; others have as few rows at a time as
 * leave a thread two batches of them. */
static void cut_teams(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int lanes,
                      int batch) {
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int64_t enough = 2 * count_blocks(device, launch->kernel);
  int rows = NDR_THREADS / lanes;
  while (rows > 1 && problem->length < 2 * (int64_t)rows * batch &&
         own->axis_teams * own->others * rows * lanes >= enough * NDR_THREADS)
    rows /= 2;
  while (rows > 1 && problem->length <= rows / 2) rows /= 2;
  int teams = NDR_THREADS / (lanes * rows);
  own->team = ndr_threads(lanes * rows);
  p->tile_outputs = own->team_columns * teams;
  p->work = ceil_div(own->axis_teams * own->others, teams);
}

void ndr_operands_columns(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  const ndr_axis *along = &problem->kept[0];
  ndr_launch_begin(launch, problem, NDR_KERNEL_OPERANDS_COLUMNS);
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int elements = count_columns(problem, on_boundary), batch = count_batch(problem, along, elements);
  int64_t chunks = ceil_div(along->size, elements);
  own->others = problem->outputs / along->size;
  int lanes = power_from(chunks, problem->length < 16 ? NDR_THREADS : NDR_WARP_THREADS);
  while (lanes > NDR_WARP_THREADS && chunks * own->others < (int64_t)device->units * lanes) lanes /= 2;
  own->lanes = ndr_threads(lanes);
  own->team_columns = lanes * elements;
  own->axis_teams = ceil_div(along->size, own->team_columns);
  own->near_others = own->parts = 1;
  order_rows(problem, launch, NDR_THREADS / lanes);
  const ndr_axis *walked = problem->reduced_count ? &problem->reduced[launch->operands.walked] : NULL;
  launch->operands.elements = elements;
  launch->operands.steps = 1;
  launch->operands.ways = ways_along(problem, along, walked, elements, false);
  cut_teams(problem, device, launch, lanes, batch);
  int64_t columns = along->size < own->team_columns ? along->size : own->team_columns;
  if (own->team.count == NDR_THREADS)
    ndr_rows_split(problem, device, launch, problem->length, (double)chunk_bytes(problem, along, columns),
                   NDR_THREADS / lanes, batch, 1);
  else
    ndr_launch_split(launch, problem->length, problem->length, 1, 1);
  ndr_launch_end(launch);
}

/* ---- family tree ---- */

/* An axis of one element, for problems that reduce none. */
static const ndr_axis one_element = {.size = 1};

static const ndr_axis *run_axis(const ndr_canonical *problem) {
  return problem->reduced_count ? &problem->reduced[0] : &one_element;
}

static int64_t count_runs(const ndr_canonical *problem) {
  return problem->length / run_axis(problem)->size;
}

/* Starts a launch whose chunks have `elements`. */
static void begin_runs(const ndr_canonical *problem, ndr_launch *launch, ndr_kernel kernel, int elements, int steps) {
  const ndr_axis *along = run_axis(problem);
  bool peeled = kernel == NDR_KERNEL_OPERANDS_RUNS;
  ndr_launch_begin(launch, problem, kernel);
  if (problem->reduced_count == 0) launch->params.axes[launch->params.kept_count] = (ndr_param_axis){.size = 1};
  if (problem->reduced_count == 0) launch->params.reduced_count = 1;
  launch->operands.elements = elements;
  launch->operands.steps = steps;
  launch->operands.ways = ways_along(problem, along, peeled ? along : NULL, elements, peeled);
}

/* Lanes of a run of `chunks` chunks. Single elements are read by a fourth of the lanes that they could have: their
 * neighbours are in the first-level cache. */
static int short_lanes(int64_t chunks, int elements) {
  return power_from(elements == 1 ? ceil_div(chunks, MOST_CHUNKS) : chunks, NDR_WARP_THREADS);
}

static void configure_rows(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int elements) {
  int64_t chunks = run_axis(problem)->size / elements;
  int lanes = short_lanes(chunks, elements), steps = (int)ceil_div(chunks, lanes), groups = NDR_THREADS / lanes;
  begin_runs(problem, launch, NDR_KERNEL_OPERANDS_ROWS, elements, steps);
  ndr_params *p = &launch->params;
  p->operand_short = (ndr_param_operand_short){ndr_threads(lanes), ndr_threads(lanes)};
  int spots = SPOTS;
  while (spots > 1 && problem->outputs < (int64_t)device->units * groups * spots) spots /= 2;
  p->tile_outputs = groups * spots;
  p->work = ceil_div(problem->outputs, p->tile_outputs);
  ndr_launch_split(launch, problem->length, problem->length, 1, 1);
}

static void configure_short(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int elements) {
  const ndr_axis *along = run_axis(problem);
  int64_t chunks = along->size / elements, runs = count_runs(problem);
  int lanes = short_lanes(chunks, elements), steps = (int)ceil_div(chunks, lanes);
  begin_runs(problem, launch, NDR_KERNEL_OPERANDS_SHORT, elements, steps);
  int64_t loads = ceil_div(runs * lanes * steps, count_batch(problem, along, elements));
  int team = ndr_small_output(problem, device, loads) ? NDR_WARP_THREADS : NDR_THREADS;
  launch->params.operand_short = (ndr_param_operand_short){ndr_threads(team), ndr_threads(lanes)};
  ndr_launch_shared(problem, device, launch, team, runs, along->size, (double)chunk_bytes(problem, along, along->size),
                    NDR_THREADS / lanes);
}

/* A block reads a piece of a run, which is a split or a part of one. */
static void configure_pieces(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  const ndr_axis *along = run_axis(problem);
  ndr_params *p = &launch->params;
  ndr_param_operand_runs *own = &p->operand_runs;
  int64_t runs = count_runs(problem), bytes = chunk_bytes(problem, along, along->size), one_step = ndr_launch_step(1);
  int64_t blocks = count_blocks(device, launch->kernel), most = bytes / STEP_BYTES, tiles = problem->outputs * runs;
  int64_t splits = ndr_best_splits(tiles, (double)bytes, 1, blocks, most > 1 ? most : 1, one_step);
  splits = ndr_bound_splits(splits, along->size, NDR_MOST_SPLIT_ELEMENTS, tiles, blocks);
  if (splits > NDR_MOST_SPLITS / runs) splits = NDR_MOST_SPLITS / runs > 1 ? NDR_MOST_SPLITS / runs : 1;
  int64_t line = NDR_LINE_BYTES; /* elements: pieces begin on lines where the run does */
  own->piece = ceil_div(ceil_div(along->size, splits), line) * line;
  own->team = own->lanes = ndr_threads(NDR_THREADS);
  own->pieces.size = ceil_div(along->size, own->piece);
  p->tile_outputs = 1;
  p->work = problem->outputs;
  ndr_launch_split(launch, problem->length ? runs * own->pieces.size : 0, 1, 1, (int)one_step);
}

/* A warp reads a run. */
static void configure_warps(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  const ndr_axis *along = run_axis(problem);
  ndr_param_operand_runs *own = &launch->params.operand_runs;
  int64_t runs = count_runs(problem), bytes = chunk_bytes(problem, along, along->size);
  int64_t loads = runs * ceil_div(bytes, FLIGHT_BYTES);
  int team = ndr_small_output(problem, device, loads) ? NDR_WARP_THREADS : NDR_THREADS;
  own->team = ndr_threads(team);
  own->lanes = ndr_threads(NDR_WARP_THREADS);
  own->piece = along->size;
  own->pieces.size = 1;
  ndr_launch_shared(problem, device, launch, team, problem->length ? runs : 0, along->size, (double)bytes,
                    NDR_BLOCK_WARPS);
}

/* Whether blocks read runs, or pieces of them, rather than warps. */
static bool runs_are_long(const ndr_canonical *problem, const ndr_device *device) {
  int64_t runs = count_runs(problem), bytes = chunk_bytes(problem, run_axis(problem), run_axis(problem)->size);
  bool few = (double)problem->outputs * (double)runs <= (double)device->units * FEW_RUNS;
  if (runs > MOST_RUNS) return false;
  return bytes >= (few ? STEP_BYTES / 4 : runs == 1 ? BLOCK_RUN_BYTES : LONG_RUN_BYTES);
}

void ndr_operands_runs(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  const ndr_axis *along = run_axis(problem);
  int elements = on_boundary ? aligned_elements(problem, along) : 1;
  int64_t shortest = (int64_t)elements * NDR_WARP_THREADS * MOST_CHUNKS;
  if (problem->length > 0 && along->size <= shortest) {
    if (count_runs(problem) == 1)
      configure_rows(problem, device, launch, elements);
    else
      configure_short(problem, device, launch, elements);
  } else {
    int decider = find_decider(problem, along);
    elements = decider < 0 ? 1 : (int)(NDR_VECTOR_BYTES / array_bytes(problem, decider));
    begin_runs(problem, launch, NDR_KERNEL_OPERANDS_RUNS, elements, 1);
    if (runs_are_long(problem, device))
      configure_pieces(problem, device, launch);
    else
      configure_warps(problem, device, launch);
    ndr_axis_magic(&launch->params.operand_runs.pieces);
  }
  ndr_launch_end(launch);
}

/* ---- cost ---- */

/* Bytes of memory for an element of array k, where neighbouring threads read neighbours along an axis. */
static double element_bytes(const ndr_canonical *problem, const ndr_axis *along, int k) {
  double bytes = (double)array_bytes(problem, k), apart = bytes * (double)llabs(stride_of(along, k));
  return apart == 0 ? bytes / NDR_WARP_THREADS : apart < NDR_SECTOR_BYTES ? apart : NDR_SECTOR_BYTES;
}

double ndr_operands_cost(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch) {
  static const double START = 4e-6, JOIN = 2e-6, WAVE = 1.5e-6, LOADS_AWAITED = 0.7e-6;
  const ndr_params *p = &launch->params;
  bool columns = launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS;
  const ndr_axis *along = columns ? &problem->kept[0] : run_axis(problem);
  double bytes = 0, elements = (double)problem->outputs * (double)problem->length;
  if (elements == 0) return 1e-6;
  for (int k = 0; k < count_arrays(problem); k++) bytes += elements * element_bytes(problem, along, k);
  double blocks = (double)count_blocks(device, launch->kernel), grid = (double)p->work;
  double waves = ceil(grid / blocks), busy = fmin(1, grid / (blocks / 2)), lanes = 1;
  if (columns) { /* threads beyond the columns are idle */
    double chunks = ceil((double)along->size / launch->operands.elements);
    lanes = chunks / ((double)p->thread.axis_teams * p->thread.lanes.count);
  }
  double batch = count_batch(problem, along, launch->operands.elements) * launch->operands.elements;
  double awaited = elements / (fmin(grid, blocks) * NDR_THREADS * lanes * batch);
  double time = START + fmax(bytes / (device->bandwidth * busy), ceil(awaited) * LOADS_AWAITED) + waves * WAVE;
  return time + (p->splits > 1 ? JOIN : 0) + (p->split_groups > 1 ? JOIN : 0);
}

/* ---- execution ---- */

/* Whether an array may be read by chunks from here on, where `reference` is such a place of another array. */
static bool is_in_phase(uintptr_t at, int64_t bytes, uintptr_t reference, int64_t reference_bytes, int64_t elements) {
  if (at % (uintptr_t)bytes || reference % (uintptr_t)reference_bytes) return false;
  return (at / (uintptr_t)bytes - reference / (uintptr_t)reference_bytes) % (uintptr_t)elements == 0;
}

/* The ways for arrays that begin here: those off the boundaries of the array that decides, or off any, are shifted into
 * place where the kernel can do that, and otherwise read element by element. */
static unsigned ways_here(const ndr_canonical *problem, const ndr_launch *launch, const void *const *first) {
  unsigned ways = launch->operands.ways;
  bool peeled = launch->kernel == NDR_KERNEL_OPERANDS_RUNS;
  bool shifts = launch->operands.elements > 1 && (peeled || launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS);
  int widest = -1;
  for (int k = 0; k < count_arrays(problem); k++) {
    bool whole = (uintptr_t)first[k] % (uintptr_t)array_bytes(problem, k) == 0;
    if ((NDR_WAY_OF(ways, k) & 3) != NDR_WAY_VECTOR || !whole) continue;
    if (widest < 0 || array_bytes(problem, k) > array_bytes(problem, widest)) widest = k;
  }
  for (int k = 0; k < count_arrays(problem); k++) {
    bool other = peeled && widest >= 0; /* otherwise the phase must be 0 */
    int64_t bytes = array_bytes(problem, k);
    bool whole = (uintptr_t)first[k] % (uintptr_t)bytes == 0;
    unsigned way = NDR_WAY_OF(ways, k) & 3;
    if (way != NDR_WAY_VECTOR && way != NDR_WAY_SHIFTED) continue;
    if (way == NDR_WAY_VECTOR && !is_in_phase((uintptr_t)first[k], bytes, other ? (uintptr_t)first[widest] : 0,
                                              other ? array_bytes(problem, widest) : 1, launch->operands.elements))
      way = NDR_WAY_SHIFTED;
    if (way == NDR_WAY_SHIFTED && !(whole && shifts)) way = NDR_WAY_ELEMENTS;
    ways = (ways & ~(3u << (NDR_WAY_BITS * k))) | way << (NDR_WAY_BITS * k);
  }
  return ways;
}

/* The axis of the problem that is axes[a] of the launch; NULL: an axis of one element. */
static const ndr_axis *launched_axis(const ndr_canonical *problem, const ndr_launch *launch, int a) {
  int reduced = a - problem->kept_count, walked = launch->operands.walked;
  if (reduced < 0) return &problem->kept[a];
  if (reduced >= problem->reduced_count) return NULL;
  return &problem->reduced[reduced == 0 ? walked : reduced == walked ? 0 : reduced];
}

static void fill_in(const ndr_canonical *problem, const ndr_launch *launch, const void *const *first,
                    ndr_program_params *params) {
  params->base = launch->params;
  params->base.data = first[0];
  for (int k = 0; k < problem->operand_count; k++)
    params->operands[k] = (ndr_param_operand){.data = first[k + 1], .extent = 1};
  for (int k = 0; k < problem->place_count; k++)
    params->places[k] = (ndr_param_place){.start = problem->place_origin[k]};
  for (int a = 0; a < count_axes(problem); a++) {
    const ndr_axis *axis = launched_axis(problem, launch, a);
    for (int k = 0; k < problem->operand_count; k++) {
      params->operands[k].stride[a] = axis->operand[k];
      if (axis->operand[k] > 0) params->operands[k].extent += (axis->size - 1) * axis->operand[k];
    }
    for (int k = 0; k < problem->place_count; k++) params->places[k].step[a] = axis->place[k];
  }
}

/* Whether all arrays begin on multiples of their elements' sizes. Complex numbers may begin on multiples of half that.
 */
static bool are_whole(const ndr_canonical *problem, const void *const *first) {
  for (int k = 0; k < count_arrays(problem); k++)
    if ((uintptr_t)first[k] % (uintptr_t)array_bytes(problem, k)) return false;
  return true;
}

const ndr_launch *ndr_operands_launch(const ndr_plan *plan, const void *const *arrays, ndr_program_params *params,
                                      unsigned *ways) {
  const ndr_canonical *problem = &plan->problem;
  const ndr_launches *launches = ndr_plan_launches(plan);
  const ndr_launch *launch = &launches->aligned;
  const void *first[1 + NDR_MAX_OPERANDS];
  for (int k = 0; k < count_arrays(problem); k++)
    first[k] =
        (const char *)arrays[k] + (k == 0 ? problem->origin : problem->operand_origin[k - 1]) * array_bytes(problem, k);
  if (launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS) {
    if (!are_whole(problem, first)) launch = &launches->unaligned;
  } else if (launch->kernel != NDR_KERNEL_OPERANDS_RUNS) {
    int decider = find_decider(problem, run_axis(problem));
    int64_t chunk = decider < 0 ? 1 : launch->operands.elements * array_bytes(problem, decider);
    if (decider >= 0 && (uintptr_t)first[decider] % (uintptr_t)chunk) launch = &launches->unaligned;
  }
  *ways = ways_here(problem, launch, first);
  fill_in(problem, launch, first, params);
  return launch;
}

/* ---- description ---- */

size_t ndr_operands_describe(const ndr_canonical *problem, const ndr_launch *launch, char *text, size_t capacity) {
  static const char *const names[] = {"elements", "vectors", "one for all", "shifted"};
  const ndr_params *p = &launch->params;
  size_t length = 0;
  bool columns = launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS;
  int lanes = columns                                      ? p->thread.lanes.count
              : launch->kernel == NDR_KERNEL_OPERANDS_RUNS ? p->operand_runs.lanes.count
                                                           : p->operand_short.lanes.count;
  ndr_text_append(text, capacity, &length, "%s, chunks of %d (", ndr_kernel_name(launch->kernel),
                  launch->operands.elements);
  for (int k = 0; k < count_arrays(problem); k++)
    ndr_text_append(text, capacity, &length, "%s%s: %s", k ? ", " : "",
                    ndr_dtype_name(k == 0 ? problem->dtype : problem->operand_dtypes[k - 1]),
                    names[NDR_WAY_OF(launch->operands.ways, k) & 3]);
  ndr_text_append(text, capacity, &length, "), grid %u x %u threads, %d lanes, split %d", launch->grid, launch->threads,
                  lanes, p->splits);
  if (p->split_groups > 1) ndr_text_append(text, capacity, &length, " in %d groups", p->split_groups);
  return length;
}
