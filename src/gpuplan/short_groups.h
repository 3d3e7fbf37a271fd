/* Groups of outputs that lie side by side, for the tile family: tile_short_groups, and tile_run_elements and _vectors.
 */
#ifndef NDR_GPUPLAN_SHORT_GROUPS_H
#define NDR_GPUPLAN_SHORT_GROUPS_H

#include "gpuplan/launch.h"

/* All that neighbouring outputs read along the fastest axis and the one around it: `length` elements each, so many
 * bytes together. `side` groups lie side by side over `axes` kept axes, which are several only where they are dense. */
typedef struct ndr_group {
  int64_t outputs, length, bytes, side;
  int axes;
  bool dense;
} ndr_group;
ndr_group ndr_group_of(const ndr_canonical *problem);

/* Whether a group is short enough for these kernels: rows of which two or more fill a tile, or as many columns as do.
 */
bool ndr_group_fits(const ndr_group *g);

/* What kernels must know to find tiles of so many groups. */
ndr_param_groups ndr_group_tiles(const ndr_group *g, int64_t groups);

/* Such tiles of all outputs. */
int64_t ndr_group_tile_count(const ndr_canonical *problem, const ndr_param_groups *groups);

/* Whether the fastest axis, of step 1, is kept. */
bool ndr_tile_kept_lane(const ndr_canonical *problem);

/* Whether tile_short_groups can run the problem, whose fastest axis has step 1 and which reduces something. */
bool ndr_short_groups_can(const ndr_canonical *problem);

/* Why it can't where the fastest axis is reduced: text, filled, or a constant; NULL if it can. */
const char *ndr_short_groups_reject(const ndr_canonical *problem, char *text);

/* Makes the launch of a problem that it can run. */
void ndr_short_groups_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch);

/* The same of tile_run_elements and tile_run_vectors; and whether they should: where a thread has enough to read, or
 * tile_short_groups has too few outputs for every warp to be busy. */
bool ndr_runs_can(const ndr_canonical *problem);
bool ndr_runs_best(const ndr_canonical *problem, const ndr_device *device);
void ndr_runs_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary);

#endif
