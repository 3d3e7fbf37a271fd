/* Planner's half of kernels/short_groups.cuh: groups of outputs that read few elements each and lie side by side. A
 * warp takes a tile of such groups. */
#include "gpuplan/short_groups.h"

#include <stdio.h>

enum {
  TILE_BYTES = 2048,
  MOST_TILES = 8 /* that a warp reads one after the other */
};

bool ndr_tile_keeps_fastest(const ndr_canonical *problem) {
  return problem->kept_count > 0 && problem->kept[0].stride == 1 &&
         (problem->reduced_count == 0 || problem->reduced[0].stride != 1);
}

ndr_group ndr_group_of(const ndr_canonical *problem) {
  bool kept = ndr_tile_keeps_fastest(problem);
  ndr_group g = {.outputs = kept ? problem->kept[0].size : 1, .length = problem->reduced[0].size, .side = 1};
  g.bytes = g.outputs * g.length * (int64_t)ndr_dtype_bytes(problem->dtype);
  for (int a = kept; a < problem->kept_count; a++, g.axes++) {
    bool full = g.axes > 0 && g.side * g.bytes >= TILE_BYTES;
    if (full || problem->kept[a].stride != g.outputs * g.length * g.side) break;
    g.side *= problem->kept[a].size;
  }
  g.dense = g.axes > 0;
  if (g.dense || problem->kept_count <= kept) return g;
  g.side = problem->kept[kept].size;
  g.axes = 1;
  return g;
}

ndr_param_groups ndr_group_tiles(const ndr_group *g, int64_t tile_groups) {
  return (ndr_param_groups){.outputs = (int)g->outputs,
                            .run_length = (int)g->length,
                            .side_axes = g->axes,
                            .tile_groups = (int)tile_groups,
                            .side = g->side,
                            .side_tiles = (g->side + tile_groups - 1) / tile_groups};
}

int64_t ndr_group_tile_count(const ndr_canonical *problem, const ndr_param_groups *groups) {
  return groups->side_tiles * (problem->outputs / (groups->side * groups->outputs));
}

bool ndr_group_fits(const ndr_group *g) {
  return g->bytes <= (g->outputs == 1 ? TILE_BYTES / 2 : TILE_BYTES);
}

bool ndr_short_groups_can(const ndr_canonical *problem) {
  ndr_group g = ndr_group_of(problem);
  if (!g.dense || !ndr_group_fits(&g)) return false;
  /* A warp holds one state an output from run to run. */
  return problem->length == g.length || g.outputs <= NDR_WARP_THREADS;
}

const char *ndr_short_groups_reject(const ndr_canonical *problem, char *text) {
  ndr_group g = ndr_group_of(problem);
  if (problem->kept_count == 0) return "no axis is kept: one output has nothing to share a tile with";
  if (!g.dense) return "runs of the reduced fastest axis are not dense";
  if (ndr_group_fits(&g)) return NULL;
  snprintf(text, 160, "reduced run of %lld bytes exceeds the tile", (long long)g.bytes);
  return text;
}

/* Groups of a tile, `most` at most: what TILE_BYTES hold, or up to an eighth fewer so that a tile ends on a sector's
 * boundary and no two tiles read the same sector. */
static int64_t tile_groups(const ndr_canonical *problem, const ndr_group *g, int64_t most) {
  int64_t whole = NDR_SECTOR_BYTES / ndr_gcd(NDR_SECTOR_BYTES, g->bytes);
  if (most > TILE_BYTES / g->bytes) most = TILE_BYTES / g->bytes;
  if (problem->length != g->length && most * g->outputs > NDR_WARP_THREADS) most = NDR_WARP_THREADS / g->outputs;
  if (most >= g->side) return g->side;
  return most / whole * whole * 8 >= most * 7 ? most / whole * whole : most;
}

/* Tiles that a warp reads one after the other: up to MOST_TILES, as long as every warp gets some. */
static int warp_tiles(const ndr_device *device, int64_t tiles) {
  int64_t even = tiles / ((int64_t)device->units * NDR_BLOCK_WARPS * NDR_BLOCKS_TILE_SHORT_GROUPS * 2);
  return even < 1 ? 1 : even > MOST_TILES ? MOST_TILES : (int)even;
}

/* Sets at how many places in their own elements a warp's threads start, and the step between these places, so that few
 * threads read the same bank of shared memory at once. Threads that share an output gain by it only where many would
 * conflict and each reads many elements. */
static void spread_starts(ndr_param_tile_short_groups *p, const ndr_group *g, int64_t bytes) {
  enum { BANKS = 32, BANK_BYTES = 4, MANY_CONFLICTS = 8, MANY_ELEMENTS = 16 };
  int64_t words = g->bytes / BANK_BYTES,
          conflicts = ndr_gcd(words > 0 ? words : 1, BANKS) / g->outputs / p->lanes.count;
  int64_t word = bytes < BANK_BYTES ? BANK_BYTES / bytes : 1;
  p->start_step = (int)(p->lanes.count > word ? p->lanes.count : word);
  int64_t most = g->length / p->start_step;
  bool gains = p->lanes.count == 1 || (conflicts >= MANY_CONFLICTS && g->length >= MANY_ELEMENTS * p->lanes.count);
  p->starts = gains && conflicts > 1 && most > 1 ? (int)(conflicts < most ? conflicts : most) : 0;
}

void ndr_short_groups_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  ndr_group g = ndr_group_of(problem);
  int64_t even = problem->outputs / g.outputs / ((int64_t)device->units * NDR_BLOCK_WARPS) + 1;
  int lanes = 1;
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_SHORT_GROUPS);
  ndr_param_tile_short_groups *p = &launch->params.tile_short_groups;
  p->groups = ndr_group_tiles(&g, tile_groups(problem, &g, even)); /* a tile for each warp first */
  int tile_outputs = p->groups.tile_groups * p->groups.outputs;
  while (lanes * 2 <= g.length && lanes * 2 * tile_outputs <= NDR_WARP_THREADS) lanes *= 2;
  p->lanes = ndr_threads(lanes);
  p->smem_bytes = TILE_BYTES + 2 * NDR_VECTOR_BYTES;
  launch->shared_bytes = (unsigned)(p->smem_bytes * NDR_BLOCK_WARPS);
  p->runs = problem->length / g.length;
  spread_starts(p, &g, (int64_t)ndr_dtype_bytes(problem->dtype));
  p->tiles = ndr_group_tile_count(problem, &p->groups);
  p->warp_tiles = warp_tiles(device, p->tiles);
  int block_tiles = NDR_BLOCK_WARPS * p->warp_tiles;
  launch->params.tile_outputs = tile_outputs * block_tiles;
  launch->params.work = (p->tiles + block_tiles - 1) / block_tiles;
  ndr_launch_end(launch);
}
