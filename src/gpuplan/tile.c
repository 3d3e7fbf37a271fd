/* Planner's half of kernels/tile.cuh, triples.cuh and packets.cuh, and with narrow.c and runs.c the family: the lane
 * axis is short, so one contiguous stretch spans several outputs. */
#include <stdio.h>

#include "gpuplan/narrow.h"

enum {
  PIECE_BYTES = 256 << 10,
  LEAST_BYTES = 8 << 10, /* an accumulator of a thread, of a piece, where PIECE_BYTES each are too few blocks */
  WARP_BYTES = 64 << 10,
  MOST_STATE_BYTES = 128,
  MOST_ROOM = 32 << 10
};

/* Threads of a block whose packets keep their phase: a multiple of the packets in which the outputs repeat. */
static int active_threads(const ndr_canonical *problem) {
  int64_t period = problem->kept[0].size, repeat = period / ndr_gcd(period, ndr_packet_elements(problem->dtype));
  return repeat > NDR_THREADS ? 0 : (int)(NDR_THREADS / repeat * repeat);
}

/* Whether packets hold whole rows of one output each, one after the other: then tile_packets runs the problem. Single
 * elements are rows too, but for bytes, whose results are so much more that nothing matters but writing them. */
static bool packets(const ndr_canonical *problem) {
  int64_t length = problem->length, elements = ndr_packet_elements(problem->dtype);
  if (problem->kept_count != 1 || problem->kept[0].stride != length) return false;
  if (length == 1) return elements < 16;
  return problem->reduced_count == 1 && problem->reduced[0].stride == 1 && length < elements && elements % length == 0;
}

static const char *reject_kept(const ndr_canonical *problem, char *text) {
  const ndr_axis *lane = &problem->kept[0];
  if (problem->reduced_count == 0) return "nothing is reduced";
  if (problem->reduced[0].stride != lane->size) return "rows of the kept fastest axis are not dense";
  if (lane->size <= NDR_THREADS && active_threads(problem) > 0) return NULL;
  snprintf(text, 160, "kept fastest axis of %lld is wider than the tile", (long long)lane->size);
  return text;
}

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  if (ndr_canonical_uncompiled(problem, device)) return NDR_UNCOMPILED;
  if (problem->length == 0) return "nothing is reduced";
  if (packets(problem)) return NULL;
  if (ndr_tile_kept_lane(problem)) return reject_kept(problem, text);
  if (problem->reduced_count > 0 && problem->reduced[0].stride == 1)
    return ndr_runs_can(problem) ? NULL : ndr_narrow_reject(problem, text);
  return "the fastest axis has a step";
}

/* Bytes in which `states` accumulators meet, some at a time: at least one of each of the `period` outputs, of whatever
 * operators; mostly all at once. */
static int room_bytes(int64_t period, int64_t states) {
  int64_t least = period * MOST_STATE_BYTES, whole = states * 8 < MOST_ROOM ? states * 8 : MOST_ROOM;
  return (int)(least > whole ? least : whole);
}

static void configure_kept(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  bool triples = problem->kept[0].size == 3;
  ndr_launch_begin(launch, problem, triples ? NDR_KERNEL_TILE_TRIPLES : NDR_KERNEL_TILE_COLUMNS);
  ndr_params *p = &launch->params;
  int64_t row_bytes = problem->kept[0].size * (int64_t)ndr_dtype_bytes(problem->dtype);
  p->period = p->tile_outputs = (int)problem->kept[0].size;
  p->lanes = triples ? NDR_THREADS : active_threads(problem);
  ndr_launch_team(launch, NDR_THREADS);
  p->run_units = problem->reduced[0].size;
  p->runs = problem->length / p->run_units;
  p->work = problem->outputs / p->period;
  if (!triples) p->room = room_bytes(p->period, p->lanes * ndr_packet_elements(problem->dtype));
  launch->shared_bytes = (unsigned)p->room;
  int64_t enough = (int64_t)device->units * 8, piece = PIECE_BYTES / row_bytes + 1;
  if (p->work >= enough) piece = (INT64_C(1) << 20) / row_bytes + 1;
  if (p->work < device->units) { /* a block for each multiprocessor first; each joins all its phases at the end */
    int64_t even = problem->length * p->work / device->units + 1;
    int64_t least = LEAST_BYTES * (triples ? 3 : ndr_packet_elements(problem->dtype)) / row_bytes + 1;
    if (piece > even) piece = even > least ? even : least;
  }
  if (triples && p->work >= enough * 4 && problem->length * row_bytes <= WARP_BYTES) { /* a group a warp */
    ndr_launch_team(launch, NDR_WARP_THREADS);
    p->tile_outputs *= NDR_BLOCK_WARPS;
    p->work = (p->work + NDR_BLOCK_WARPS - 1) / NDR_BLOCK_WARPS;
    piece = problem->length;
  }
  ndr_launch_split(launch, problem->length, piece, 1, ndr_launch_step(p->period));
  ndr_launch_end(launch);
}

static void configure_packets(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t row = problem->length * (int64_t)ndr_dtype_bytes(problem->dtype), bytes = problem->outputs * row;
  int64_t blocks = bytes / (NDR_THREADS * NDR_PACKET_BYTES), enough = (int64_t)device->units * NDR_BLOCKS_TILE_PACKETS;
  int64_t each = blocks / enough;
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_PACKETS);
  ndr_params *p = &launch->params;
  p->run_units = problem->length;
  p->units = NDR_THREADS * (each < 1 ? 1 : each > NDR_LOADS_TILE_PACKETS ? NDR_LOADS_TILE_PACKETS : each);
  p->tile_outputs = (int)(p->units * NDR_PACKET_BYTES / row);
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
  ndr_launch_end(launch);
}

static void configure_one(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  /* Off a boundary, packets hold whole rows of single elements only. */
  if (packets(problem) && (on_boundary || problem->length == 1))
    configure_packets(problem, device, launch);
  else if (ndr_runs_best(problem, device))
    ndr_runs_configure(problem, device, launch, on_boundary);
  else if (ndr_narrow_can(problem))
    ndr_narrow_configure(problem, device, launch);
  else
    configure_kept(problem, device, launch);
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
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

const ndr_family ndr_family_tile = {"tile", reject, cost, configure, ndr_launch_describe};
