/* Planner's half of kernels/narrow.cuh and runs.cuh: groups of outputs that read little each lie side by side, and a
 * warp takes a tile of them. */
#include "family/narrow.h"

#include <stdio.h>

enum {
  TILE_BYTES = 2048,
  MOST_ROWS = 4096, /* tile_runs: elements that a thread accumulates */
  MOST_TILES = 8,   /* tile_narrow: that a warp reads one after the other */
  RESIDENT_BLOCKS = 3
};

bool ndr_tile_kept_lane(const ndr_problem *problem) {
  return problem->kept_count > 0 && problem->kept[0].stride == 1 &&
         (problem->reduced_count == 0 || problem->reduced[0].stride != 1);
}

/* All that a group of `period` neighbouring outputs reads along the lane axis and the one around it, and how many of
 * them lie side by side, over one kept axis, or as many more as a tile holds. */
typedef struct group {
  int64_t period, length, bytes, side;
  int axes; /* that are kept */
} group;

static group group_of(const ndr_problem *problem) {
  bool kept = ndr_tile_kept_lane(problem);
  group g = {.period = kept ? problem->kept[0].size : 1, .length = problem->reduced[0].size, .side = 1};
  g.bytes = g.period * g.length * (int64_t)ndr_dtype_bytes(problem->dtype);
  for (int a = kept; a < problem->kept_count; a++, g.axes++) {
    bool full = g.axes > 0 && g.side * g.bytes >= TILE_BYTES;
    if (full || problem->kept[a].stride != g.period * g.length * g.side) break;
    g.side *= problem->kept[a].size;
  }
  return g;
}

/* What tile_narrow takes: rows of which two or more fill a tile, but groups of columns up to a whole tile. */
static int64_t most_bytes(const group *g) {
  return g->period == 1 ? TILE_BYTES / 2 : TILE_BYTES;
}

bool ndr_narrow_runs(const ndr_problem *problem) {
  group g = group_of(problem);
  if (g.axes == 0 || g.bytes > most_bytes(&g)) return false;
  /* A warp holds one state an output from run to run. */
  return problem->length == g.length || g.period <= NDR_WARP_THREADS;
}

const char *ndr_narrow_reject(const ndr_problem *problem, char *text) {
  group g = group_of(problem);
  if (problem->kept_count == 0) return "no axis is kept: one output has nothing to share a tile with";
  if (g.axes == 0) return "runs of the reduced lane axis are not dense";
  if (g.bytes <= most_bytes(&g)) return NULL;
  snprintf(text, 160, "reduced run of %lld bytes exceeds the tile", (long long)g.bytes);
  return text;
}

/* Groups a tile: as many as it holds, or somewhat fewer that end on a sector's boundary, so that no two tiles read the
 * same. */
static int64_t groups_a_tile(const ndr_problem *problem, const group *g, int64_t most) {
  int64_t whole = NDR_SECTOR_BYTES / ndr_gcd(NDR_SECTOR_BYTES, g->bytes);
  if (most > TILE_BYTES / g->bytes) most = TILE_BYTES / g->bytes;
  if (problem->length != g->length && most * g->period > NDR_WARP_THREADS) most = NDR_WARP_THREADS / g->period;
  if (most >= g->side) return g->side;
  return most / whole * whole * 8 >= most * 7 ? most / whole * whole : most;
}

static int64_t count_tiles(const ndr_problem *problem, const group *g, int64_t groups) {
  return (g->side + groups - 1) / groups * (problem->outputs / (g->side * g->period));
}

/* Tiles that a warp reads one after the other: a few, where warps have enough. */
static int warp_tiles(const ndr_device *device, int64_t tiles) {
  int64_t each = tiles / ((int64_t)device->units * NDR_BLOCK_WARPS * RESIDENT_BLOCKS * 2);
  return each < 1 ? 1 : each > MOST_TILES ? MOST_TILES : (int)each;
}

/* Runs that tile_runs reads together: those that follow one another densely, of the whole side of groups. */
static int64_t bundle_runs(const ndr_problem *problem, const group *g) {
  bool dense = problem->reduced_count > 1 && problem->reduced[1].stride == g->period * g->length * g->side;
  int64_t most = TILE_BYTES / (g->bytes * g->side);
  if (!dense || most < 1 || groups_a_tile(problem, g, g->side) < g->side) return 1;
  return most < problem->reduced[1].size ? most : problem->reduced[1].size;
}

/* Shares an output's threads out among runs and elements, so that they go round least often. */
static void share_lanes(ndr_params *p) {
  int64_t least = 0;
  for (int log = 0; log <= p->lane_log; log++) {
    int64_t rows = INT64_C(1) << log, elements = p->lanes >> log;
    int64_t rounds = (p->bundle + rows - 1) / rows * ((p->run_units + elements - 1) / elements);
    if (log > 0 && rounds > least) continue;
    p->run_log = log;
    least = rounds;
  }
}

/* Cuts the bundles of a tile. */
static void split_bundles(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  int64_t elements = p->run_units * p->bundle, most = p->runs / NDR_BLOCK_WARPS;
  double bytes = (double)p->runs * (double)(elements * p->tile_outputs) * (double)ndr_dtype_bytes(problem->dtype);
  int64_t slots = (int64_t)device->units * RESIDENT_BLOCKS, one_step = ndr_launch_step(p->tile_outputs);
  int64_t parts = ndr_launch_parts(p->work, bytes, slots, most < 1 ? 1 : most, one_step);
  int64_t piece = (p->runs + parts - 1) / parts, longest = MOST_ROWS * p->lanes / elements + 1;
  if (piece > longest * NDR_BLOCK_WARPS) piece = longest * NDR_BLOCK_WARPS;
  piece = (piece + NDR_BLOCK_WARPS - 1) / NDR_BLOCK_WARPS * NDR_BLOCK_WARPS;
  ndr_launch_split(launch, p->runs, piece, 1, (int)one_step);
}

/* Sets at how many places in their own elements a warp's threads start, and how far apart these are: enough that they
 * meet in shared memory's banks no more than they must. Threads that share elements gain by it only where many meet,
 * and each reads many. */
static void spread_starts(ndr_params *p, const group *g, int64_t bytes) {
  enum { BANKS = 32, BANK_BYTES = 4, MANY_MEETING = 8, MANY_ELEMENTS = 16 };
  bool bundled = p->run_log > 0;
  int64_t words = g->bytes * (bundled ? g->side : 1) / BANK_BYTES, alike = ndr_gcd(words > 0 ? words : 1, BANKS);
  int64_t meeting = bundled ? alike : alike / g->period / p->lanes;
  int64_t word = bytes < BANK_BYTES ? BANK_BYTES / bytes : 1;
  p->skew_unit = (int)(bundled ? word : p->lanes == 1 ? 1 : p->lanes > word ? p->lanes : word);
  int64_t most = g->length / p->skew_unit;
  bool gains = bundled || p->lanes == 1 || (meeting >= MANY_MEETING && g->length >= MANY_ELEMENTS * p->lanes);
  p->skew = gains && meeting > 1 && most > 1 ? (int)(meeting < most ? meeting : most) : 0;
}

/* Tiles of groups that lie side by side. */
static void configure_groups(const ndr_problem *problem, const group *g, ndr_launch *launch, int64_t groups,
                             int64_t bundle) {
  ndr_params *p = &launch->params;
  int64_t elements = g->length * bundle;
  int lanes = 1;
  p->period = (int)g->period;
  p->run_units = g->length;
  p->side_groups = g->side;
  p->group_axes = g->axes;
  p->tile_groups = (int)groups;
  p->tile_outputs = (int)(groups * g->period);
  p->tiles = (g->side + groups - 1) / groups;
  p->all_tiles = count_tiles(problem, g, groups);
  while (lanes * 2 <= elements && lanes * 2 * p->tile_outputs <= NDR_WARP_THREADS) lanes *= 2;
  ndr_launch_lanes(launch, lanes);
  p->room = TILE_BYTES + 2 * NDR_PACKET_BYTES;
  launch->shared_bytes = (unsigned)(p->room * NDR_BLOCK_WARPS);
}

static void configure_runs(const ndr_problem *problem, const ndr_device *device, const group *g, ndr_launch *launch) {
  int64_t bundle = bundle_runs(problem, g), along = bundle > 1 ? problem->reduced[1].size : 1;
  ndr_launch_begin(launch, problem, "tile_runs");
  configure_groups(problem, g, launch, groups_a_tile(problem, g, g->side), bundle);
  ndr_params *p = &launch->params;
  p->bundle = (int)bundle;
  p->bundles = (int)((along + bundle - 1) / bundle);
  p->runs = problem->length / (g->length * along) * p->bundles;
  share_lanes(p);
  spread_starts(p, g, (int64_t)ndr_dtype_bytes(problem->dtype));
  p->work = p->all_tiles;
  split_bundles(problem, device, launch);
  ndr_launch_end(launch);
}

static void configure_narrow(const ndr_problem *problem, const ndr_device *device, const group *g, ndr_launch *launch) {
  int64_t share = problem->outputs / g->period / ((int64_t)device->units * NDR_BLOCK_WARPS) + 1;
  ndr_launch_begin(launch, problem, "tile_narrow");
  configure_groups(problem, g, launch, groups_a_tile(problem, g, share), 1); /* a tile for each warp first */
  ndr_params *p = &launch->params;
  p->runs = problem->length / g->length;
  spread_starts(p, g, (int64_t)ndr_dtype_bytes(problem->dtype));
  p->warp_tiles = warp_tiles(device, p->all_tiles);
  int64_t block_tiles = (int64_t)NDR_BLOCK_WARPS * p->warp_tiles;
  p->work = (p->all_tiles + block_tiles - 1) / block_tiles;
  ndr_launch_end(launch);
}

/* Whether warps should share tiles: each has several runs, and there are too few for every warp to have its own, or
 * they are read many at a time. */
static bool shares_tiles(const ndr_problem *problem, const ndr_device *device, const group *g) {
  int64_t runs = problem->length / g->length, tiles = count_tiles(problem, g, groups_a_tile(problem, g, g->side));
  if (runs < NDR_BLOCK_WARPS) return false;
  return tiles < (int64_t)device->units * NDR_BLOCK_WARPS * RESIDENT_BLOCKS ||
         (bundle_runs(problem, g) > 1 && runs >= NDR_BLOCK_WARPS / 2 * TILE_BYTES / (g->bytes * g->side));
}

void ndr_narrow_configure(const ndr_problem *problem, const ndr_device *device, ndr_launch *launch) {
  group g = group_of(problem);
  if (shares_tiles(problem, device, &g))
    configure_runs(problem, device, &g, launch);
  else
    configure_narrow(problem, device, &g, launch);
}
