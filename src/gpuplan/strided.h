/* What the launches of the tree kernels share, and the launch of tree_strided. */
#ifndef NDR_GPUPLAN_STRIDED_H
#define NDR_GPUPLAN_STRIDED_H

#include "gpuplan/launch.h"

/* Elements of a split at most, where a whole block reads it. */
enum { NDR_MOST_SPLIT_ELEMENTS = NDR_THREADS * NDR_MOST_THREAD_ELEMENTS };

/* Threads of a warp that share an output of `vectors` vectors. */
int ndr_lanes_for(int64_t vectors);

/* Whether a warp or less should read each output of `vectors` vectors: a thread has one load at most, or the outputs
 * are small and there are enough of them to fill the device. */
bool ndr_small_output(const ndr_canonical *problem, const ndr_device *device, int64_t vectors);

/* Sets the tiles and splits of a launch in which a team of `team` threads shares an output of `units` units of
 * unit_elements elements each, for which it reads unit_bytes. Only what a whole block reads is split. A split is a
 * multiple of at_once units, which a team reads together. */
void ndr_launch_shared(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int team,
                       int64_t units, int64_t unit_elements, double unit_bytes, int at_once);

/* Whether tiles of the launch can be numbered as ndr_params.turned says. */
bool ndr_launch_turns(const ndr_launch *launch);

/* Numbers them so, along up to `along` combinations of the other axes. params.work becomes the number of tiles. */
void ndr_launch_turn(ndr_launch *launch, int64_t along);

/* Does so where results of neighbouring outputs lie in different sectors, and those along another kept axis closer to
 * each other: that one becomes axes[1]. */
void ndr_launch_turn_results(const ndr_canonical *problem, ndr_launch *launch);

/* Fills in the launch of tree_strided, which can run every problem. */
void ndr_launch_strided(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch);

#endif
