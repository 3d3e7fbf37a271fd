/* Groups of outputs that lie side by side, for tile_short_groups, tile_run_elements and tile_run_vectors. */
#ifndef NDR_GPUPLAN_SHORT_GROUPS_H
#define NDR_GPUPLAN_SHORT_GROUPS_H

#include "gpuplan/launch.h"

/* What neighbouring outputs read along the fastest axis and the axis around it. */
typedef struct ndr_group {
  int64_t outputs; /* outputs of the group, along the fastest axis; 1 where that is reduced */
  int64_t length;  /* elements that each of them reads */
  int64_t bytes;   /* bytes that they read together */
  int64_t side;    /* groups that lie side by side */
  int axes;        /* kept axes along which these lie; more than one only where they are dense */
  bool dense;      /* whether no gap lies between these */
} ndr_group;
ndr_group ndr_group_of(const ndr_canonical *problem);

/* Whether a group is short enough for these kernels: a tile holds a whole group, or two where a group is one output. */
bool ndr_group_fits(const ndr_group *g);

/* The kernel's argument that describes the group and its tiles of tile_groups groups each. */
ndr_param_groups ndr_group_tiles(const ndr_group *g, int64_t tile_groups);

/* How many such tiles all outputs take. */
int64_t ndr_group_tile_count(const ndr_canonical *problem, const ndr_param_groups *groups);

/* Whether the fastest axis has stride 1 and is kept. */
bool ndr_tile_keeps_fastest(const ndr_canonical *problem);

/* Whether tile_short_groups can run the problem. Its fastest axis must have stride 1, and it must reduce an axis. */
bool ndr_short_groups_can(const ndr_canonical *problem);

/* Why tile_short_groups can't run a problem whose fastest axis is reduced: a constant, or `text` filled in. NULL if it
 * can. */
const char *ndr_short_groups_reject(const ndr_canonical *problem, char *text);

/* Fills in the launch of tile_short_groups for a problem that it can run. */
void ndr_short_groups_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch);

/* Whether tile_run_elements or tile_run_vectors can run the problem; whether they should, because a thread has enough
 * to read or tile_short_groups has too few outputs to keep every warp busy; and their launch. on_boundary: the array's
 * first element lies on a 16-byte boundary. */
bool ndr_runs_can(const ndr_canonical *problem);
bool ndr_runs_best(const ndr_canonical *problem, const ndr_device *device);
void ndr_runs_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary);

#endif
