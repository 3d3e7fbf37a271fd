/* Launches of kernels/program/zones.cuh, whose blocks have the states of a tile's groups in shared memory. Family tile
 * runs them for problems with a table whose labels lie along the fastest axis. They are compiled at run time. */
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

/* About how many labels a lane adds up, of a tile of `width` labels whose lists are walked `sets` times. A group with
 * one and a half times as many or more is shared by several lanes. They are as many as give each thread of a block the
 * work of one lane, unless that is very little. */
static inline int64_t ndr_zones_lane_labels(int64_t width, int64_t sets, int64_t groups) {
  enum { LEAST = 16 };
  int64_t spare = groups <= NDR_THREADS / 2 ? groups : 0; /* lanes with fewer labels: one for each group */
  int64_t even = (width * sets - 1) / (NDR_THREADS - spare) + 1;
  return even < LEAST ? LEAST : even;
}

/* The lists of the table (ndr_param_tiles), which the caller frees. */
ndr_status ndr_zones_write(const ndr_canonical *problem, const ndr_launch *launch, int32_t **ints, size_t *bytes);

#endif
