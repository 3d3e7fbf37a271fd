/* The launch of tree_strided, which runs every problem, and how the tree kernels share outputs among threads. */
#include "gpuplan/strided.h"

#include <math.h>
#include <stdlib.h>

#include "gpuplan/operands/operators.h"

enum {
  /* A warp or less reads an output of up to WARP_VECTORS vectors: below 16 KiB a block's barriers cost more than they
   * gain. */
  WARP_VECTORS = 1024,
  FAR_OUTPUTS = 1 << 19, /* from which on a sector for each result may be more than the second-level cache holds */
  LEAST_TILES = 4        /* along the first axis: the last one may be partly empty */
};

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

bool ndr_launch_turns(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  bool can = launch->kernel == NDR_KERNEL_TREE_LISTED || launch->kernel == NDR_KERNEL_TREE_RUNS ||
             launch->kernel == NDR_KERNEL_TREE_STRIDED;
  return can && p->small && p->kept_count > 1 && p->outputs > 0;
}

void ndr_launch_turn(ndr_launch *launch, int64_t along) {
  ndr_params *p = &launch->params;
  int64_t others = p->outputs / p->axes[0].size;
  p->turned = (int)(others < along ? others : along);
  p->work = ndr_ceil_div(p->axes[0].size, p->tile_outputs) * others;
}

void ndr_launch_turn_results(const ndr_canonical *problem, ndr_launch *launch) {
  ndr_params *p = &launch->params;
  int64_t bytes = problem->partial ? 8 : ndr_launch_result_bytes(problem), nearest = 0;
  if (!ndr_launch_turns(launch) || problem->outputs < FAR_OUTPUTS) return;
  if (p->axes[0].size < LEAST_TILES * p->tile_outputs) return;
  for (int a = 1; a < p->kept_count; a++)
    if (llabs(p->axes[a].result_stride) < llabs(p->axes[nearest].result_stride)) nearest = a;
  if (nearest == 0 || llabs(p->axes[0].result_stride) * bytes < NDR_SECTOR_BYTES) return;
  if (nearest > 1) {
    if (problem->op_count > 1) return; /* strides of other results go by the problem's order of axes */
    ndr_param_axis axis = p->axes[nearest];
    p->axes[nearest] = p->axes[1];
    p->axes[1] = axis;
  }
  ndr_launch_turn(launch, NDR_LINE_BYTES / bytes);
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
  double bytes =
      fmax((double)ndr_dtype_bytes(problem->dtype), 4); /* a load of 1 or 2 bytes takes as long as one of 4 */
  ndr_launch_shared(problem, device, launch, team, problem->length, 1, bytes * 8, NDR_THREADS);
  ndr_launch_turn_results(problem, launch);
  ndr_launch_end(launch);
}
