/* Planner's half of kernels/tile.cuh: the lane axis is short, so one contiguous stretch spans several outputs. */
#include <stdio.h>

#include "family/launch.h"

enum {
  PIECE_BYTES = 256 << 10,
  TILE_BYTES = 24 << 10,
  MOST_ROW_BYTES = 2048,
  MOST_STATE_BYTES = 128,
  MOST_ROOM = 32 << 10
};

static int64_t gcd(int64_t a, int64_t b) {
  return b ? gcd(b, a % b) : a;
}

/* Threads of a block whose packets keep their phase: a multiple of the packets in which the outputs repeat. */
static int active_threads(const ndr_problem *problem) {
  int64_t period = problem->kept[0].size, repeat = period / gcd(period, ndr_packet_elements(problem->dtype));
  return repeat > NDR_THREADS ? 0 : (int)(NDR_THREADS / repeat * repeat);
}

static bool kept_lane(const ndr_problem *problem) {
  return problem->kept_count > 0 && problem->kept[0].stride == 1 &&
         (problem->reduced_count == 0 || problem->reduced[0].stride != 1);
}

static const char *reject_kept(const ndr_problem *problem, char *text) {
  const ndr_axis *lane = &problem->kept[0];
  if (problem->reduced_count == 0) return "nothing is reduced";
  if (problem->reduced[0].stride != lane->size) return "rows of the kept lane axis are not dense";
  if (lane->size <= NDR_THREADS && active_threads(problem) > 0) return NULL;
  snprintf(text, 160, "kept lane axis of %lld is wider than the tile", (long long)lane->size);
  return text;
}

static const char *reject_reduced(const ndr_problem *problem, char *text) {
  const ndr_axis *lane = &problem->reduced[0];
  if (problem->kept_count == 0) return "no axis is kept: one output has nothing to share a tile with";
  if (problem->kept[0].stride != lane->size) return "runs of the reduced lane axis are not dense";
  int64_t bytes = lane->size * (int64_t)ndr_dtype_bytes(problem->dtype);
  if (bytes <= MOST_ROW_BYTES) return NULL;
  snprintf(text, 160, "reduced run of %lld bytes exceeds the tile", (long long)bytes);
  return text;
}

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  if (ndr_problem_uncompiled(problem, device)) return NDR_UNCOMPILED;
  if (problem->length == 0) return "nothing is reduced";
  if (kept_lane(problem)) return reject_kept(problem, text);
  if (problem->reduced_count > 0 && problem->reduced[0].stride == 1) return reject_reduced(problem, text);
  return "the lane axis has a step";
}

static double cost(const ndr_problem *problem, const ndr_device *device) {
  double efficiency;
  if (kept_lane(problem)) {
    double span =
        (double)problem->reduced[0].size * (double)problem->kept[0].size * (double)ndr_dtype_bytes(problem->dtype);
    efficiency = 0.9 * active_threads(problem) / NDR_THREADS * span / (span + 4096);
  } else {
    efficiency = 0.8;
    if (problem->kept[0].size < NDR_THREADS) efficiency *= (double)problem->kept[0].size / NDR_THREADS;
  }
  return ndr_launch_cost(problem, device, efficiency);
}

/* Bytes in which `states` accumulators meet, some at a time: at least one of each of the `period` outputs, of whatever
 * operators; mostly all at once. */
static int room_bytes(int64_t period, int64_t states) {
  int64_t least = period * MOST_STATE_BYTES, whole = states * 8 < MOST_ROOM ? states * 8 : MOST_ROOM;
  return (int)(least > whole ? least : whole);
}

static void configure_kept(ndr_plan *plan, ndr_launch *launch) {
  const ndr_problem *problem = &plan->problem;
  bool triples = problem->kept[0].size == 3;
  ndr_launch_begin(launch, problem, triples ? "tile_triples" : "tile_columns");
  ndr_params *p = &launch->params;
  int64_t row_bytes = problem->kept[0].size * (int64_t)ndr_dtype_bytes(problem->dtype);
  p->period = p->tile_outputs = (int)problem->kept[0].size;
  p->lanes = triples ? NDR_THREADS : active_threads(problem);
  p->run_units = problem->reduced[0].size;
  p->runs = problem->length / p->run_units;
  p->work = problem->outputs / p->period;
  if (!triples) p->room = room_bytes(p->period, p->lanes * ndr_packet_elements(problem->dtype));
  launch->shared_bytes = (unsigned)p->room;
  int64_t enough = (int64_t)plan->device.units * 8, piece = PIECE_BYTES / row_bytes + 1;
  if (p->work >= enough) piece = (INT64_C(1) << 20) / row_bytes + 1;
  ndr_launch_split(launch, problem->length, piece, 1);
  ndr_launch_end(launch);
}

static void configure_reduced(ndr_plan *plan, ndr_launch *launch) {
  const ndr_problem *problem = &plan->problem;
  ndr_launch_begin(launch, problem, "tile_rows");
  ndr_params *p = &launch->params;
  int64_t length = problem->reduced[0].size, bytes = length * (int64_t)ndr_dtype_bytes(problem->dtype);
  p->runs = problem->length / length;
  while (p->lanes < NDR_WARP_THREADS && p->lanes * 32 < length) p->lanes *= 2;
  int groups = NDR_THREADS / p->lanes;
  p->tile_outputs = groups;
  while (p->tile_outputs > 1 && p->tile_outputs * bytes > TILE_BYTES) p->tile_outputs /= 2;
  while (p->runs == 1 && p->tile_outputs * bytes * 2 <= TILE_BYTES / 2) p->tile_outputs *= 2;
  int64_t words = bytes >= 4 ? length * (int64_t)ndr_dtype_bytes(problem->dtype) / 4 : 1;
  int64_t conflict = gcd(words, 32);
  p->skew = conflict > 1 && conflict <= length ? (int)conflict : 0;
  p->tiles = (problem->kept[0].size + p->tile_outputs - 1) / p->tile_outputs;
  p->work = p->tiles * (problem->outputs / problem->kept[0].size);
  launch->shared_bytes = (unsigned)(p->tile_outputs * bytes + 2 * NDR_PACKET_BYTES);
  ndr_launch_end(launch);
}

static void configure(ndr_plan *plan) {
  ndr_launches *launches = ndr_plan_launches(plan);
  if (kept_lane(&plan->problem))
    configure_kept(plan, &launches->aligned);
  else
    configure_reduced(plan, &launches->aligned);
  launches->unaligned = launches->aligned;
  ndr_launches_end(plan);
}

const ndr_family ndr_family_tile = {"tile", reject, cost, configure, ndr_launch_describe};
