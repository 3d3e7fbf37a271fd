/* Groups of outputs that lie side by side, for tile_run_elements, tile_run_vectors, tile_run_dense, tile_staged and
 * tile_rows. */
#ifndef NDR_GPUPLAN_GROUPS_H
#define NDR_GPUPLAN_GROUPS_H

#include "gpuplan/launch.h"

enum { NDR_MOST_STATE_BYTES = 128 }; /* of an accumulator, whatever the operators are */

/* What neighbouring outputs read along the fastest axis and the axis around it. */
typedef struct ndr_group {
  int64_t outputs; /* outputs of the group, along the fastest axis; 1 where that is reduced */
  int64_t length;  /* elements that each of them reads */
  int64_t bytes;   /* bytes that they read together */
  int64_t side;    /* groups that lie side by side */
  int axes;        /* kept axes along which these lie; more than one only where they are dense */
} ndr_group;

/* The problem's fastest axis must have stride 1, and it must reduce an axis. */
ndr_group ndr_group_of(const ndr_canonical *problem);

/* The kernel's argument that describes the group and its tiles of tile_groups groups each. */
ndr_param_groups ndr_group_tiles(const ndr_group *g, int64_t tile_groups);

/* How many such tiles all outputs take. */
int64_t ndr_group_tile_count(const ndr_canonical *problem, const ndr_param_groups *groups);

/* Whether the fastest axis is kept. */
bool ndr_tile_keeps_fastest(const ndr_canonical *problem);

/* Why neither tile_staged nor tile_rows can run the problem: a constant, or `text` filled in; NULL if one can. */
const char *ndr_staged_reject(const ndr_canonical *problem, char *text);
bool ndr_staged_can(const ndr_canonical *problem);
/* Whether it should where tile_run_elements could, too: where outputs have many runs, a stage must be worth its
 * barriers.
 */
bool ndr_staged_suits(const ndr_canonical *problem, const ndr_device *device);
void ndr_staged_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary);

/* Whether tile_run_elements or tile_run_vectors can run the problem. */
bool ndr_runs_can(const ndr_canonical *problem);
/* Whether they should: because they read vectors, or because tile_staged should not. */
bool ndr_runs_best(const ndr_canonical *problem, const ndr_device *device);
/* on_boundary: the array's first element lies on a 16-byte boundary. */
void ndr_runs_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary);

/* Moves the axis of the runs behind the reduced axes that are walked. */
void ndr_runs_move_last(ndr_params *p);

/* Whether tile_run_dense should run the problem, and its launch. */
bool ndr_dense_best(const ndr_canonical *problem);
void ndr_dense_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary);

#endif
