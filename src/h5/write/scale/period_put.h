/* Writes the time of a result that was reduced over its time axis, and the bounds of the time: as a scalar coordinate,
 * or as the coordinate of a dim that keepdims has left with size 1. */
#ifndef NDR_H5_WRITE_PERIOD_PUT_H
#define NDR_H5_WRITE_PERIOD_PUT_H

#include "h5/write/scale/scales.h"

/* Those of a file of results. */
typedef struct ndr_periods {
  int count;
  struct ndr_known_period {
    char *name; /* of the scalar coordinate */
    double bounds[2];
  } * all;
} ndr_periods;

/* Writes the period of dim d, which has been reduced, as a scalar coordinate with its bounds; *name is what it is
 * called in the output, valid as long as `known`; NULL where there is none. */
ndr_status ndr_period_put(ndr_periods *known, ndr_scales *scales, const ndr_h5_dataset *source, int d,
                          const char **name);

/* Writes the bounds of dim d, which has been reduced and kept with size 1 and the coordinate `variable`. */
ndr_status ndr_period_put_bounds(ndr_scales *scales, const ndr_h5_dataset *source, int d, const char *variable);

/* Writes the bounds of scales->groups along dim d, which have the coordinate `variable`. */
ndr_status ndr_period_put_group_bounds(ndr_scales *scales, const ndr_h5_dataset *source, int d, const char *variable);

void ndr_periods_free(ndr_periods *known);

#endif
