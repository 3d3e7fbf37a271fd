/* Planner's half of kernels/tree.cuh: the lane axis is reduced; threads share an output and join in a tree. */
#include "family/launch.h"

/* Up to this many packets an output, a warp or a part of one does it alone: measured on an H200, a block's barrier
 * costs more than it gains below 8 KiB. */
enum { WARP_PACKETS = 512, BLOCK_PIECE_BYTES = 32 << 10 };

static bool unit_lane(const ndr_problem *problem) {
  return problem->reduced_count > 0 && problem->reduced[0].stride == 1;
}

static int64_t run_packets(const ndr_problem *problem) {
  int64_t elements = ndr_packet_elements(problem->dtype);
  return (problem->reduced[0].size + elements - 1) / elements;
}

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  (void)problem, (void)device, (void)text;
  return NULL;
}

static int lanes_for(int64_t packets) {
  int lanes = 1;
  while (lanes < NDR_WARP_THREADS && lanes < packets) lanes *= 2;
  return lanes;
}

static bool few_packets(const ndr_problem *problem, const ndr_device *device) {
  if (!unit_lane(problem)) return false;
  int64_t runs = problem->length / problem->reduced[0].size, packets = run_packets(problem) * runs;
  int lanes = lanes_for(run_packets(problem));
  /* Whole blocks do better when there are too few outputs to give every multiprocessor some warps. */
  return packets <= WARP_PACKETS &&
         (double)problem->outputs * lanes >= (double)device->units * NDR_THREADS * (packets > 32 ? 4 : 1);
}

static double cost(const ndr_problem *problem, const ndr_device *device) {
  double efficiency = 0.95, bytes = (double)ndr_dtype_bytes(problem->dtype);
  if (!unit_lane(problem)) {
    /* A lane axis that is kept leaves each thread a sector of 32 bytes to itself. */
    int64_t lane = problem->reduced_count ? problem->reduced[0].stride : 32;
    efficiency = bytes / (lane * bytes < 32 ? lane * bytes : 32) * 0.9;
    if (problem->length < NDR_THREADS) efficiency *= ((double)problem->length + 1) / NDR_THREADS;
  } else if (few_packets(problem, device)) {
    int64_t packets = run_packets(problem);
    int lanes = lanes_for(packets);
    efficiency *= (double)packets / (double)((packets + lanes - 1) / lanes * lanes);
    if (!ndr_packets_aligned(problem, &problem->reduced[0]))
      efficiency *= (double)problem->reduced[0].size * bytes / ((double)problem->reduced[0].size * bytes + 256);
  } else {
    double run = (double)problem->reduced[0].size * bytes;
    efficiency *= run / (run + 256);
    double length = (double)problem->length * bytes;
    if (length < NDR_THREADS * NDR_PACKET_BYTES) efficiency *= length / (NDR_THREADS * NDR_PACKET_BYTES);
  }
  return ndr_launch_cost(problem, device, efficiency);
}

static void configure_lanes(ndr_plan *plan, ndr_launch *launch) {
  ndr_params *p = &launch->params;
  p->lanes = lanes_for(p->units);
  int groups = NDR_THREADS / p->lanes;
  p->tile_outputs = groups * (p->units <= p->lanes ? 4 : 1);
  p->work = (plan->problem.outputs + p->tile_outputs - 1) / p->tile_outputs;
}

/* Pieces long enough that a block's start and end are hidden, and enough of them to balance the multiprocessors. */
static void configure_block(ndr_plan *plan, ndr_launch *launch, int64_t unit_bytes) {
  ndr_params *p = &launch->params;
  const ndr_device *device = &plan->device;
  int64_t enough = (int64_t)device->units * 8, piece = BLOCK_PIECE_BYTES / unit_bytes;
  int64_t least = NDR_THREADS * 4 / (unit_bytes == NDR_PACKET_BYTES ? 1 : 4);
  if (plan->problem.outputs < enough) {
    int64_t even = p->units * plan->problem.outputs / enough;
    if (even < piece) piece = even < least ? least : even;
  } else {
    piece = INT64_C(1) << 22; /* bounds what a thread accumulates before it widens */
  }
  ndr_launch_split(launch, p->units, piece);
  p->work = plan->problem.outputs;
}

static void configure_one(ndr_plan *plan, ndr_launch *launch, bool on_boundary) {
  const ndr_problem *problem = &plan->problem;
  bool unit = unit_lane(problem), lanes = few_packets(problem, &plan->device);
  ndr_launch_begin(launch, problem, lanes ? "tree_lanes" : unit ? "tree_block" : "tree_strided");
  ndr_params *p = &launch->params;
  int64_t unit_bytes = unit ? NDR_PACKET_BYTES : (int64_t)ndr_dtype_bytes(problem->dtype);
  if (unit) {
    p->aligned = on_boundary && ndr_packets_aligned(problem, &problem->reduced[0]);
    p->run_units = run_packets(problem);
    p->runs = problem->length / problem->reduced[0].size;
    /* The ends of a run are folded before its packets. */
    p->ascending = p->ascending && p->aligned;
  } else {
    p->run_units = problem->length;
  }
  p->units = p->runs * p->run_units;
  if (lanes)
    configure_lanes(plan, launch);
  else
    configure_block(plan, launch, unit_bytes);
  ndr_launch_end(plan, launch);
}

static void configure(ndr_plan *plan) {
  ndr_launches *launches = ndr_plan_launches(plan);
  plan->workspace = 0;
  configure_one(plan, &launches->aligned, true);
  configure_one(plan, &launches->unaligned, false);
}

const ndr_family ndr_family_tree = {"tree", reject, cost, configure, ndr_launch_describe};
