/* Planner's half of kernels/tile.cuh, triples.cuh, narrow.cuh and packets.cuh: the lane axis is short, so one
 * contiguous stretch spans several outputs. */
#include <stdio.h>

#include "family/launch.h"

enum {
  PIECE_BYTES = 256 << 10,
  LEAST_BYTES = 8 << 10, /* an accumulator of a thread, of a piece, where PIECE_BYTES each are too few blocks */
  WARP_BYTES = 64 << 10,
  TILE_BYTES = 2048, /* tile_narrow */
  MOST_PACKETS = 4,  /* tile_packets: in flight, of a thread */
  MOST_TILES = 8,
  RESIDENT_BLOCKS = 3,
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

/* All that a group of `period` neighbouring outputs reads along the lane axis and the one around it. */
typedef struct group {
  int64_t period, length, bytes;
  const ndr_axis *next; /* from group to group; none if NULL */
} group;

static group group_of(const ndr_problem *problem) {
  bool kept = kept_lane(problem);
  group g = {kept ? problem->kept[0].size : 1, problem->reduced[0].size, 0, NULL};
  g.bytes = g.period * g.length * (int64_t)ndr_dtype_bytes(problem->dtype);
  if (problem->kept_count > kept) g.next = &problem->kept[kept];
  return g;
}

/* What tile_narrow takes: rows of which two or more fill a tile, but groups of columns up to a whole tile. */
static int64_t most_bytes(const group *g) {
  return g->period == 1 ? TILE_BYTES / 2 : TILE_BYTES;
}

/* Whether tile_narrow can run the problem. A warp holds one state an output from run to run. */
static bool narrow(const ndr_problem *problem) {
  group g = group_of(problem);
  if (!g.next || g.next->stride != g.period * g.length || g.bytes > most_bytes(&g)) return false;
  return problem->length == g.length || g.period <= NDR_WARP_THREADS;
}

/* Whether packets hold whole rows of one output each, one after the other: then tile_packets runs the problem. Single
 * elements are rows too, but for bytes, whose results are so much more that nothing matters but writing them. */
static bool packets(const ndr_problem *problem) {
  int64_t length = problem->length, elements = ndr_packet_elements(problem->dtype);
  if (problem->kept_count != 1 || problem->kept[0].stride != length) return false;
  if (length == 1) return elements < 16;
  return problem->reduced_count == 1 && problem->reduced[0].stride == 1 && length < elements && elements % length == 0;
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
  group g = group_of(problem);
  if (!g.next) return "no axis is kept: one output has nothing to share a tile with";
  if (g.next->stride != g.length) return "runs of the reduced lane axis are not dense";
  if (g.bytes <= most_bytes(&g)) return NULL;
  snprintf(text, 160, "reduced run of %lld bytes exceeds the tile", (long long)g.bytes);
  return text;
}

static const char *reject(const ndr_problem *problem, const ndr_device *device, char *text) {
  if (ndr_problem_uncompiled(problem, device)) return NDR_UNCOMPILED;
  if (problem->length == 0) return "nothing is reduced";
  if (packets(problem)) return NULL;
  if (kept_lane(problem)) return reject_kept(problem, text);
  if (problem->reduced_count > 0 && problem->reduced[0].stride == 1) return reject_reduced(problem, text);
  return "the lane axis has a step";
}

/* Groups a tile: as many as it holds, or somewhat fewer that end on a sector's boundary, so that no two tiles read the
 * same. */
static int64_t groups_a_tile(const ndr_problem *problem, const ndr_device *device, const group *g) {
  int64_t most = TILE_BYTES / g->bytes, whole = NDR_SECTOR_BYTES / gcd(NDR_SECTOR_BYTES, g->bytes);
  int64_t share = problem->outputs / g->period / ((int64_t)device->units * NDR_BLOCK_WARPS) + 1;
  if (most > share) most = share; /* a tile for each warp first */
  if (problem->length != g->length && most * g->period > NDR_WARP_THREADS) most = NDR_WARP_THREADS / g->period;
  if (most > g->next->size) most = g->next->size;
  return most / whole * whole * 8 >= most * 7 ? most / whole * whole : most;
}

/* Bytes in which `states` accumulators meet, some at a time: at least one of each of the `period` outputs, of whatever
 * operators; mostly all at once. */
static int room_bytes(int64_t period, int64_t states) {
  int64_t least = period * MOST_STATE_BYTES, whole = states * 8 < MOST_ROOM ? states * 8 : MOST_ROOM;
  return (int)(least > whole ? least : whole);
}

static void configure_kept(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  bool triples = problem->kept[0].size == 3;
  ndr_launch_begin(launch, problem, triples ? "tile_triples" : "tile_columns");
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

static void configure_narrow(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  group g = group_of(problem);
  ndr_launch_begin(launch, problem, "tile_narrow");
  ndr_params *p = &launch->params;
  int lanes = 1;
  p->period = (int)g.period;
  p->run_units = g.length;
  p->runs = problem->length / g.length;
  p->tile_groups = (int)groups_a_tile(problem, device, &g);
  p->tile_outputs = p->tile_groups * p->period;
  while (lanes * 2 <= g.length && lanes * 2 * p->tile_outputs <= NDR_WARP_THREADS) lanes *= 2;
  ndr_launch_lanes(launch, lanes);
  int64_t words = g.bytes >= 4 ? g.bytes / 4 : 1, conflict = gcd(words, NDR_WARP_THREADS) / g.period;
  p->skew = conflict > 1 ? (int)(conflict < g.length ? conflict : g.length) : 0;
  p->room = TILE_BYTES + 2 * NDR_PACKET_BYTES;
  launch->shared_bytes = (unsigned)(p->room * NDR_BLOCK_WARPS);
  p->tiles = (g.next->size + p->tile_groups - 1) / p->tile_groups;
  int64_t tiles = p->tiles * (problem->outputs / (g.next->size * g.period));
  int64_t each = tiles / ((int64_t)device->units * NDR_BLOCK_WARPS * RESIDENT_BLOCKS * 2);
  p->team = each < 1 ? 1 : each > MOST_TILES ? MOST_TILES : (int)each;
  int64_t block_tiles = (int64_t)NDR_BLOCK_WARPS * p->team;
  p->work = (tiles + block_tiles - 1) / block_tiles;
  p->all_tiles = tiles;
  ndr_launch_end(launch);
}

static void configure_packets(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t row = problem->length * (int64_t)ndr_dtype_bytes(problem->dtype), bytes = problem->outputs * row;
  int64_t blocks = bytes / (NDR_THREADS * NDR_PACKET_BYTES), enough = (int64_t)device->units * RESIDENT_BLOCKS;
  int64_t each = blocks / enough;
  ndr_launch_begin(launch, problem, "tile_packets");
  ndr_params *p = &launch->params;
  p->run_units = problem->length;
  p->units = NDR_THREADS * (each < 1 ? 1 : each > MOST_PACKETS ? MOST_PACKETS : each);
  p->tile_outputs = (int)(p->units * NDR_PACKET_BYTES / row);
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
  ndr_launch_end(launch);
}

static void configure_one(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  /* Off a boundary, packets hold whole rows of single elements only. */
  if (packets(problem) && (on_boundary || problem->length == 1))
    configure_packets(problem, device, launch);
  else if (narrow(problem))
    configure_narrow(problem, device, launch);
  else
    configure_kept(problem, device, launch);
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

const ndr_family ndr_family_tile = {"tile", reject, cost, configure, ndr_launch_describe};
