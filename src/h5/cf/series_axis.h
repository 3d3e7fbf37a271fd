/* The coordinates of a series' files as one axis. */
#ifndef NDR_H5_CF_SERIES_AXIS_H
#define NDR_H5_CF_SERIES_AXIS_H

#include "h5/cf/coordinates.h"

/* Joins the coordinates of a series' parts, along the dim in which the parts follow each other, to one axis. Fails if
 * their units have nothing in common, as times of two calendars, or metres and seconds; raw data have no axis then. To
 * be called inside the lock. */
ndr_status ndr_axis_join(ndr_h5_dataset *series);

#endif
