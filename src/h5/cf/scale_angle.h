/* What angles the coordinates of a dim are: the one rule for all code that looks for longitudes or latitudes. */
#ifndef NDR_H5_CF_SCALE_ANGLE_H
#define NDR_H5_CF_SCALE_ANGLE_H

#include "h5/cf/angle.h"
#include "h5/cf/coordinates.h"

typedef struct ndr_scale_angle {
  ndr_angle_kind kind;   /* by the direction in the units, else as called */
  ndr_angle_kind called; /* by the standard_name, else by the dim's name */
  double radians;        /* how many radians one unit is; without units those of a degree; 0: the units are no angle */
} ndr_scale_angle;

/* Reads what angles the scale of dim d has. `units`: its attribute, or NULL. Called inside the lock. */
ndr_status ndr_scale_angle_read(const ndr_h5_dataset *dataset, int d, hid_t scale, const char *units,
                                ndr_scale_angle *angle);

/* After how many units longitudes begin again: 360 or 2 pi; 0 for what is no longitude. */
double ndr_scale_angle_turn(const ndr_scale_angle *angle);

#endif
