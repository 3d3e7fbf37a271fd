/* Angles as CF's attribute `units` names them. Knows nothing of HDF5. */
#ifndef NDR_H5_CF_ANGLE_H
#define NDR_H5_CF_ANGLE_H

#include <stdbool.h>

/* How many radians one of the units is: degrees, degrees_north, degree_east, degreeN, ... or radian, radians, rad, in
 * any case; 0 where they are no angle. */
double ndr_angle_radians(const char *units);

/* Whether a variable of that name is a latitude or a longitude: lat, latitude, rlat, nav_lon, grid_longitude, ... */
bool ndr_angle_is_name(const char *name);

#endif
