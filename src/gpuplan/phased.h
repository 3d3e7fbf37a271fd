/* Launches of thread_phased. */
#ifndef NDR_GPUPLAN_PHASED_H
#define NDR_GPUPLAN_PHASED_H

#include "gpuplan/launch.h"

/* Fills in a launch of thread_phased for a problem whose columns lie side by side. Returns false where rows are too few
 * for it, or where their phases do not recur in all runs. */
bool ndr_phased_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch);

#endif
