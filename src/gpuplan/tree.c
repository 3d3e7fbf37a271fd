/* Planner's half of kernels/tree.cuh: the fastest axis is reduced; threads share an output and join in a tree. */
#include "gpuplan/launch.h"
#include "gpuplan/listed.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/operators.h"
#include "gpuplan/operands/table.h"
#include "gpuplan/strided.h"

/* Runs of LONG_RUN_BYTES or more have splits of their own, unless an output has more than MOST_RUNS of them, as an axis
 * of stride 0 can make: each split has a state that must be joined. */
enum {
  /* Of a split, at least. A block loads one step at once where an accumulator has more than 8 bytes, else two
   * (block_reads of kernels/tree.cuh). */
  STEP_BYTES = NDR_THREADS * NDR_VECTOR_BYTES * NDR_LOADS_TREE_BLOCK / 2,
  LONG_RUN_BYTES = 64 << 10,
  SHORT_RUN_BYTES = 4 << 10, /* the same limit where there are at most FEW_RUNS runs for each multiprocessor */
  FEW_RUNS = 4,
  LONG_ROW_BYTES = 512, /* from which on a row is mostly read in vectors, wherever it begins */
  MOST_RUNS = 1 << 16
};

static bool reduces_fastest(const ndr_canonical *problem) {
  return problem->reduced_count > 0 && problem->length > 0 && problem->reduced[0].stride == 1;
}

static int64_t run_bytes(const ndr_canonical *problem) {
  return problem->reduced[0].size * (int64_t)ndr_dtype_bytes(problem->dtype);
}

static int64_t run_vectors(const ndr_canonical *problem) {
  return (run_bytes(problem) + NDR_VECTOR_BYTES - 1) / NDR_VECTOR_BYTES;
}

static int64_t run_count(const ndr_canonical *problem) {
  return problem->length / problem->reduced[0].size;
}

/* Whether whole blocks read runs, or splits of them, rather than a warp or less each. Long runs keep a block busy; few
 * short ones would leave most of the device idle. */
static bool runs_are_long(const ndr_canonical *problem, const ndr_device *device) {
  if (run_count(problem) > MOST_RUNS) return false;
  bool few = (double)problem->outputs * (double)run_count(problem) <= (double)device->units * FEW_RUNS;
  return run_bytes(problem) >= (few ? SHORT_RUN_BYTES : LONG_RUN_BYTES);
}

/* Whether a block or a team would count the elements of a stretch beyond 31 bits: there are too many runs to cut each.
 */
static bool runs_are_too_long(const ndr_canonical *problem) {
  return problem->reduced[0].size > INT32_MAX && run_count(problem) > MOST_RUNS / 4;
}

/* How long it takes to fold a vector and to join accumulators, beside the time in which the vector is read. */
typedef enum fold_pace { FAST, MEDIUM, SLOW } fold_pace;

static fold_pace pace_of(const ndr_canonical *problem) {
  if (problem->op_count > 1 || problem->programs[0]) return SLOW;
  switch (problem->ops[0]) {
  case NDR_VAR:
  case NDR_STD:
  case NDR_ARGMIN:
  case NDR_ARGMAX:
  case NDR_LOGSUMEXP: return SLOW;
  case NDR_MEAN:
  case NDR_PTP: return MEDIUM;
  default: return ndr_dtype_bytes(problem->dtype) == 2 || ndr_dtype_is_complex(problem->dtype) ? MEDIUM : FAST;
  }
}

/* Whether a warp reads an output's only run, of `vectors` vectors, rather than a block. Warps wait for nobody at the
 * end of a run, but read it with fewer loads in flight. A block is slow where its threads have a few vectors more than
 * a round of loads; where they have whole rounds, fast folds are as fast as the memory. The limits are measured
 * (CONTRIBUTING, "What GPUs taught"). */
static bool warps_read_faster(const ndr_canonical *problem, const ndr_device *device, int64_t vectors) {
  enum { ROUND = NDR_THREADS * NDR_LOADS_TREE_BLOCK, OUTPUTS = 64 /* for each multiprocessor: two waves of warps */ };
  if (ndr_small_output(problem, device, vectors)) return true;
  if (problem->outputs < (int64_t)device->units * OUTPUTS) return false;
  int64_t last = vectors % ROUND;
  switch (pace_of(problem)) {
  case SLOW: return vectors <= 3500;
  case MEDIUM: return vectors <= 2800 && last <= 1750;
  default: return vectors <= 2450 && last > 0 && last <= 1280;
  }
}

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  (void)text;
  if (problem->table) return NDR_HAS_TABLE;
  if (ndr_operands_needed(problem)) return ndr_operands_reject_runs(problem, device);
  return ndr_launch_has_program(problem) && !device->compiles ? NDR_NO_COMPILER : NULL;
}

static void configure_lanes(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                            bool on_boundary) {
  ndr_params *p = &launch->params;
  int64_t vectors = run_vectors(problem);
  int lanes = ndr_lanes_for(vectors);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_LANES);
  int64_t lane_vectors = (vectors + lanes - 1) / lanes;
  bool regular =
      on_boundary && p->kept_count == 1 && lane_vectors <= 4 && ndr_vectors_aligned(problem, &problem->reduced[0]);
  int groups = NDR_THREADS / lanes, shift = lane_vectors > 2 ? 2 : lane_vectors > 1, outputs = groups * (4 >> shift);
  if (problem->outputs < (int64_t)device->units * outputs) regular = false; /* more blocks, each with less to do */
  p->tree_lanes = (ndr_param_tree_lanes){ndr_threads(lanes), (int)vectors, regular ? shift : -1};
  p->tile_outputs = regular ? outputs : groups;
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
}

static void configure_block(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_BLOCK);
  ndr_param_tree_block *own = &launch->params.tree_block;
  int64_t size = problem->reduced[0].size, runs = run_count(problem);
  int64_t step = STEP_BYTES / (int64_t)ndr_dtype_bytes(problem->dtype); /* elements */
  ndr_rounds rounds = {.runs = problem->outputs * runs,
                       .run_bytes = (double)run_bytes(problem),
                       .step_bytes = STEP_BYTES,
                       .round_steps = pace_of(problem) == SLOW ? 1 : 2, /* two are whole rounds in any case */
                       .least = 1 + size / step / (NDR_MOST_SPLITS / runs),
                       .most = NDR_MOST_SPLIT_ELEMENTS / step};
  own->runs = (int)runs;
  int64_t split = ndr_best_split_steps(&rounds, device->units, launch->blocks) * step;
  own->run_splits = ndr_launch_cut(launch, size, split, own->runs, (int)ndr_launch_step(1));
  launch->params.work = problem->outputs;
}

static void configure_runs(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t vectors = run_vectors(problem), runs = run_count(problem);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_RUNS);
  int lanes = ndr_lanes_for(vectors);
  int team = ndr_small_output(problem, device, vectors * runs) ? NDR_WARP_THREADS : NDR_THREADS;
  launch->params.tree_runs = (ndr_param_tree_runs){ndr_threads(team), ndr_threads(lanes)};
  ndr_launch_shared(problem, device, launch, team, runs, problem->reduced[0].size, (double)run_bytes(problem),
                    NDR_THREADS / lanes);
  ndr_launch_turn_results(problem, launch);
}

/* Whether lanes that read an output's only run find enough of it in vectors. */
static bool has_vectors(const ndr_canonical *problem, bool on_boundary) {
  if (!reduces_fastest(problem) || run_count(problem) > 1) return false;
  return run_bytes(problem) >= LONG_ROW_BYTES || (on_boundary && ndr_vectors_aligned(problem, &problem->reduced[0]));
}

static void configure_one(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  if (ndr_operands_needed(problem)) {
    ndr_operands_runs(problem, device, launch, on_boundary);
    return;
  }
  if (ndr_canonical_uncompiled(problem, device)) {
    ndr_launch_strided(problem, device, launch);
    return;
  }
  if (ndr_listed_suits(problem, device) && !has_vectors(problem, on_boundary)) {
    ndr_listed_configure(problem, device, launch);
    return;
  }
  if (!reduces_fastest(problem) || runs_are_too_long(problem)) {
    ndr_launch_strided(problem, device, launch);
    return;
  }
  int64_t vectors = run_vectors(problem);
  if (run_count(problem) > 1 && !runs_are_long(problem, device))
    configure_runs(problem, device, launch);
  else if (run_count(problem) == 1 && warps_read_faster(problem, device, vectors))
    configure_lanes(problem, device, launch, on_boundary);
  else
    configure_block(problem, device, launch);
  ndr_launch_end(launch);
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_launches_cost(problem, device, configure_one);
}

static void configure(ndr_plan *plan) {
  ndr_launches_configure(plan, configure_one);
}

const ndr_family ndr_family_tree = {"tree", reject, cost, configure, ndr_launch_describe};
