/* Launches of kernels/program/zones.cuh, whose blocks have the states of all groups in shared memory. Family tile runs
 * them for problems with a table whose labels lie along the fastest axis. They are compiled at run time. */
#ifndef NDR_GPUPLAN_ZONES_H
#define NDR_GPUPLAN_ZONES_H

#include "gpuplan/launch.h"

/* Why such a problem cannot be run; NULL if it can. */
const char *ndr_zones_reject(const ndr_canonical *problem, const ndr_device *device);

ndr_launch_configure ndr_zones_configure;

/* The most static shared memory, in bytes, that such a kernel has; `words` are those of all operators' states. */
int64_t ndr_zones_static_bytes(int words);

/* Predicted seconds. */
double ndr_zones_cost(const ndr_canonical *problem, const ndr_device *device);

/* Labels that a lane adds up, about, where a tile of `width` labels has lists for `sets` sets of rows. A group with one
 * and a half times as many or more has several lanes. */
int64_t ndr_zones_lane_labels(int64_t width, int64_t sets, int64_t groups);

/* The lists of the table (ndr_param_tiles), which the caller frees. */
ndr_status ndr_zones_write(const ndr_canonical *problem, const ndr_launch *launch, int32_t **ints, size_t *bytes);

#endif
