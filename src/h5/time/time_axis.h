/* The time axis of a dataset as its file has it: values, units, and what its bounds are. Called inside the lock. */
#ifndef NDR_H5_TIME_TIME_AXIS_H
#define NDR_H5_TIME_TIME_AXIS_H

#include "h5/cf/scale_units.h"
#include "h5/time/group_by.h"

typedef struct ndr_time_axis {
  ndr_scale_units units;
  ndr_time_steps steps; /* of the selected part; bounds only if the axis has some that are no climatology */
  bool misfit;          /* the attribute names a variable that cannot be read as bounds of these times */
  double *room;         /* that steps point into */
} ndr_time_axis;

/* Reads the coordinates of dim d, which must be times since a date, as CF means them, even of a dataset that was opened
 * raw. To be freed even after a failure. */
ndr_status ndr_time_axis_read(const ndr_h5_dataset *dataset, int d, ndr_time_axis *axis);
void ndr_time_axis_free(ndr_time_axis *axis);

#endif
