/* The launch of tree_listed. */
#ifndef NDR_GPUPLAN_LISTED_H
#define NDR_GPUPLAN_LISTED_H

#include "gpuplan/launch.h"

/* Whether tree_listed can run the problem, and it has outputs enough. */
bool ndr_listed_suits(const ndr_canonical *problem, const ndr_device *device);

void ndr_listed_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch);

#endif
