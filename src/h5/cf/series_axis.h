/* The coordinates of a series' files as one axis. */
#ifndef NDR_H5_CF_SERIES_AXIS_H
#define NDR_H5_CF_SERIES_AXIS_H

#include "h5/cf/coordinates.h"

/* Finds how the coordinates of a series' parts along the dim in which these follow each other are one axis. Fails where
 * their units have nothing in common: times of two calendars, metres and seconds; of raw data there is no axis then.
 * Inside the lock. */
ndr_status ndr_axis_join(ndr_h5_dataset *series);

#endif
