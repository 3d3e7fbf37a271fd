/* Angles as CF's attribute `units` names them. Knows nothing of HDF5. */
#ifndef NDR_H5_CF_ANGLE_H
#define NDR_H5_CF_ANGLE_H

#include <stdbool.h>

/* How many radians one of the units is: degrees, degrees_north, degree_east, degreeN, ... or radian, radians, rad, in
 * any case; 0 where they are no angle. */
double ndr_angle_radians(const char *units);

typedef enum ndr_angle_kind { NDR_ANGLE_UNKNOWN = 0, NDR_ANGLE_LATITUDE, NDR_ANGLE_LONGITUDE } ndr_angle_kind;

/* By the direction in units: degrees_north is of a latitude. NULL is unknown. */
ndr_angle_kind ndr_angle_of_units(const char *units);

/* By the name or the standard name of a variable: lat, latitude, rlat, nav_lon, grid_longitude, ... NULL is unknown. */
ndr_angle_kind ndr_angle_of_name(const char *name);

#endif
