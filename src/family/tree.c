/* Planner's half of kernels/tree.cuh: the lane axis is reduced; threads share an output and join in a tree. */
#include "family/launch.h"

/* Up to WARP_PACKETS packets an output, a warp or a part of one reads it alone: below 16 KiB a block's barriers cost
 * more than they gain. Runs of LONG_RUN_BYTES or more are cut into pieces of their own,
 * but not more than MOST_RUNS of them, as where an axis of stride 0 repeats one: each piece has a state to be joined.
 */
enum {
  WARP_PACKETS = 1024,
  LONG_RUN_BYTES = 64 << 10,
  PIECE_BYTES = 128 << 10,
  STEP_BYTES = NDR_THREADS * NDR_PACKET_BYTES * NDR_LOADS_TREE_BLOCK / 2, /* of which a piece is a multiple */
  SPLIT_BLOCKS = 4, /* that a split makes for each multiprocessor, whether as many run at a time or fewer */
  MOST_RUNS = 1 << 16
};

static bool unit_lane(const ndr_problem *problem) {
  return problem->reduced_count > 0 && problem->length > 0 && problem->reduced[0].stride == 1;
}

static int64_t run_bytes(const ndr_problem *problem) {
  return problem->reduced[0].size * (int64_t)ndr_dtype_bytes(problem->dtype);
}

static int64_t run_packets(const ndr_problem *problem) {
  return (run_bytes(problem) + NDR_PACKET_BYTES - 1) / NDR_PACKET_BYTES;
}

static int64_t run_count(const ndr_problem *problem) {
  return problem->length / problem->reduced[0].size;
}

static int lanes_for(int64_t packets) {
  int lanes = 1;
  while (lanes < NDR_WARP_THREADS && lanes < packets) lanes *= 2;
  return lanes;
}

/* Whether a warp or less should read an output: it is a load a thread, or small and there are enough of them to fill
 * the device so. */
static bool small_output(const ndr_problem *problem, const ndr_device *device, int64_t packets) {
  if (packets <= NDR_WARP_THREADS) return true;
  return packets <= WARP_PACKETS && problem->outputs * 64 >= (int64_t)device->units * packets;
}

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  (void)problem, (void)device, (void)text;
  return NULL;
}

static void configure_lanes(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch,
                            bool on_boundary) {
  ndr_params *p = &launch->params;
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_LANES);
  p->run_units = run_packets(problem);
  ndr_launch_lanes(launch, lanes_for(p->run_units));
  int64_t each = (p->run_units + p->lanes - 1) / p->lanes;
  bool regular = on_boundary && p->kept_count == 1 && each <= 4 && ndr_packets_aligned(problem, &problem->reduced[0]);
  int groups = NDR_THREADS / p->lanes, shift = each > 2 ? 2 : each > 1, outputs = groups * (4 >> shift);
  if (problem->outputs < (int64_t)device->units * outputs) regular = false; /* more blocks, each with less to do */
  p->lane_shift = regular ? shift : -1;
  p->tile_outputs = regular ? outputs : groups;
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
}

/* Bytes of a piece: enough of them that every multiprocessor is busy, each long enough to hide a block's start and end.
 */
static int64_t piece_bytes(const ndr_problem *problem, const ndr_device *device) {
  int64_t most = PIECE_BYTES, least = STEP_BYTES;
  double even = ndr_problem_bytes(problem) / ((double)device->units * SPLIT_BLOCKS);
  return even > (double)most ? most : even < (double)least ? least : (int64_t)even;
}

static void configure_block(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_BLOCK);
  int64_t piece = (piece_bytes(problem, device) + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
  /* A run that is not much longer than a piece stays whole where there are outputs enough. */
  if (run_bytes(problem) <= 2 * piece && problem->outputs >= (int64_t)device->units * SPLIT_BLOCKS)
    piece = run_bytes(problem);
  ndr_launch_split(launch, problem->reduced[0].size, piece / bytes, (int)run_count(problem), ndr_launch_step(1));
  launch->params.runs = run_count(problem);
  launch->params.work = problem->outputs;
}

/* units are split over blocks where a whole block works on an output. */
static void configure_team(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch, int team,
                           int64_t units, double unit_bytes) {
  /* as many units as the block works on at once, or a multiple of that */
  int64_t even = NDR_THREADS / launch->params.lanes;
  ndr_params *p = &launch->params;
  ndr_launch_team(launch, team);
  p->tile_outputs = NDR_THREADS / team;
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
  int64_t piece = (int64_t)((double)piece_bytes(problem, device) / unit_bytes) + 1;
  piece = (piece + even - 1) / even * even;
  bool enough = problem->outputs >= (int64_t)device->units * SPLIT_BLOCKS * 4;
  ndr_launch_split(launch, units, team < NDR_THREADS || enough ? units : piece, 1, ndr_launch_step(1));
}

static void configure_runs(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t packets = run_packets(problem), runs = run_count(problem);
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_RUNS);
  ndr_launch_lanes(launch, lanes_for(packets));
  int team = small_output(problem, device, packets * runs) ? NDR_WARP_THREADS : NDR_THREADS;
  configure_team(problem, device, launch, team, runs, (double)run_bytes(problem));
}

/* An axis that repeats elements comes first, if one is reduced: neighbouring threads then read the same. */
static void repeat_first(ndr_params *p) {
  ndr_param_axis *axes = p->axes + p->kept_count, *last = axes + p->reduced_count - 1;
  if (p->reduced_count < 2 || last->stride != 0) return;
  ndr_param_axis axis = axes[0];
  axes[0] = *last;
  *last = axis;
}

void ndr_launch_strided(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_STRIDED);
  repeat_first(&launch->params);
  int64_t loads = (problem->length + NDR_LOADS_TREE_STRIDED - 1) / NDR_LOADS_TREE_STRIDED;
  int team = small_output(problem, device, loads) ? lanes_for(loads) : NDR_THREADS;
  configure_team(problem, device, launch, team, problem->length, (double)ndr_dtype_bytes(problem->dtype) * 8);
  ndr_launch_end(launch);
}

static void configure_one(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  if (!unit_lane(problem) || ndr_problem_uncompiled(problem, device)) {
    ndr_launch_strided(problem, device, launch);
    return;
  }
  int64_t packets = run_packets(problem);
  if (run_count(problem) > 1 && (run_bytes(problem) < LONG_RUN_BYTES || run_count(problem) > MOST_RUNS))
    configure_runs(problem, device, launch);
  else if (run_count(problem) == 1 && small_output(problem, device, packets))
    configure_lanes(problem, device, launch, on_boundary);
  else
    configure_block(problem, device, launch);
  ndr_launch_end(launch);
}

static double cost(const ndr_problem *problem, const ndr_device *device) {
  ndr_launch launch;
  configure_one(problem, device, &launch, true);
  return ndr_launch_cost(problem, device, &launch);
}

static void configure(ndr_plan *plan) {
  ndr_launches *launches = ndr_plan_launches(plan);
  configure_one(&plan->problem, &plan->device, &launches->aligned, true);
  configure_one(&plan->problem, &plan->device, &launches->unaligned, false);
  ndr_launches_end(plan);
}

const ndr_family ndr_family_tree = {"tree", reject, cost, configure, ndr_launch_describe};
