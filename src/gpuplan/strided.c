/* The launch of tree_strided, which runs every problem, and how the tree kernels share outputs among threads. */
#include "gpuplan/strided.h"

/* A warp or less reads an output of up to WARP_VECTORS vectors: below 16 KiB a block's barriers cost more than they
 * gain. */
enum { WARP_VECTORS = 1024 };

int ndr_lanes_for(int64_t vectors) {
  int lanes = 1;
  while (lanes < NDR_WARP_THREADS && lanes < vectors) lanes *= 2;
  return lanes;
}

bool ndr_small_output(const ndr_canonical *problem, const ndr_device *device, int64_t vectors) {
  if (vectors <= NDR_WARP_THREADS) return true;
  return vectors <= WARP_VECTORS && problem->outputs * 64 >= (int64_t)device->units * vectors;
}

void ndr_launch_shared(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int team,
                       int64_t units, int64_t unit_elements, double unit_bytes, int at_once) {
  ndr_params *p = &launch->params;
  int64_t blocks = (int64_t)device->units * launch->blocks, split = units;
  p->tile_outputs = NDR_THREADS / team;
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
  if (team == NDR_THREADS) {
    int64_t most = (units + at_once - 1) / at_once, one_step = ndr_launch_step(1);
    ndr_tiles tiles = {p->work, (double)units * unit_bytes, 1, launch->words, launch->block_bytes};
    int64_t splits = ndr_best_splits(&tiles, blocks, most > 1 ? most : 1, one_step);
    int64_t even = (units + splits - 1) / splits, longest = NDR_MOST_SPLIT_ELEMENTS / unit_elements;
    split = ((even < longest ? even : longest) + at_once - 1) / at_once * at_once;
    if (split < at_once) split = at_once;
  }
  ndr_launch_split(launch, units, split, 1, ndr_launch_step(1));
}

/* Moves a reduced axis of stride 0 to the front: neighbouring threads then read the same element. */
static void put_repeats_first(ndr_params *p) {
  ndr_param_axis *axes = p->axes + p->kept_count, *last = axes + p->reduced_count - 1;
  if (p->reduced_count < 2 || last->stride != 0) return;
  ndr_param_axis axis = axes[0];
  axes[0] = *last;
  *last = axis;
}

void ndr_launch_strided(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  ndr_launch_begin(launch, problem, NDR_KERNEL_TREE_STRIDED);
  put_repeats_first(&launch->params);
  int64_t loads = (problem->length + NDR_LOADS_TREE_STRIDED - 1) / NDR_LOADS_TREE_STRIDED;
  int team = ndr_small_output(problem, device, loads) ? ndr_lanes_for(loads) : NDR_THREADS;
  launch->params.tree_strided.team = ndr_threads(team);
  ndr_launch_shared(problem, device, launch, team, problem->length, 1, (double)ndr_dtype_bytes(problem->dtype) * 8,
                    NDR_THREADS);
  ndr_launch_end(launch);
}
