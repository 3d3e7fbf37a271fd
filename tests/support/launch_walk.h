/* Walks what a launch of a GPU kernel covers, element by element, as spec/params.h says that the kernel reads it. It is
 * for problems of a few hundred thousand elements at most; that kernels do read it so is what tests/simt runs. */
#ifndef TEST_SUPPORT_LAUNCH_WALK_H
#define TEST_SUPPORT_LAUNCH_WALK_H

#include "gpuplan/launch.h"

/* One element that a launch reads: element `offset` of the data, reduced under the flattened index `index` into element
 * `result` of the result. */
typedef void launch_visitor(void *context, int64_t offset, int64_t result, int64_t index);

/* `past` is how many elements beyond a 16-byte boundary the data lie, which only matters where the launch reads vectors
 * that hold several outputs. Returns what is wrong with the launch itself, such as a vector that is not aligned; NULL
 * if nothing is. */
const char *launch_walk(const ndr_launch *launch, ndr_dtype dtype, int past, launch_visitor *visit, void *context);

#endif
