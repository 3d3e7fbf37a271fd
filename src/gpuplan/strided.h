/* What trees have in common, and the launch of tree_strided. */
#ifndef NDR_GPUPLAN_STRIDED_H
#define NDR_GPUPLAN_STRIDED_H

#include "gpuplan/launch.h"

enum {
  NDR_STEP_BYTES = NDR_THREADS * NDR_VECTOR_BYTES * NDR_LOADS_TREE_BLOCK / 2, /* of which a split is a multiple */
  NDR_SPLIT_BLOCKS = 4 /* that a split makes for each multiprocessor, whether as many run at a time or fewer */
};

/* Threads of a warp that read an output of so many vectors. */
int ndr_lanes_for(int64_t vectors);

/* Whether a warp or less should read an output: it is a load a thread, or small and there are enough of them to fill
 * the device so. */
bool ndr_small_output(const ndr_canonical *problem, const ndr_device *device, int64_t vectors);

/* Bytes of a split: enough of them that every multiprocessor is busy, each long enough to hide a block's start and
 * end. */
int64_t ndr_split_bytes(const ndr_canonical *problem, const ndr_device *device);

/* Has teams of so many threads share an output of so many units, which are split over blocks where a whole block works
 * on one. A team takes in `at_once` units together. */
void ndr_launch_shared(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int team,
                       int64_t units, double unit_bytes, int at_once);

/* Makes the launch of tree_strided, which runs every problem. */
void ndr_launch_strided(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch);

#endif
