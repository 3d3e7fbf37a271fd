/* See scale_angle.h. */
#include "h5/cf/scale_angle.h"

#include <math.h>
#include <stdlib.h>

#include "h5/file/attributes.h"

ndr_status ndr_scale_angle_read(const ndr_h5_dataset *dataset, int d, hid_t scale, const char *units,
                                ndr_scale_angle *angle) {
  char *standard_name;
  if (!ndr_hdf_get_text(scale, "standard_name", &standard_name)) return ndr_hdf_fail_coordinates(dataset);
  angle->called = ndr_angle_of_name(standard_name);
  free(standard_name);
  if (angle->called == NDR_ANGLE_UNKNOWN) angle->called = ndr_angle_of_name(dataset->names[d]);
  angle->kind = ndr_angle_of_units(units);
  if (angle->kind == NDR_ANGLE_UNKNOWN) angle->kind = angle->called;
  angle->radians = ndr_angle_radians(units ? units : "degrees");
  return NDR_OK;
}

double ndr_scale_angle_turn(const ndr_scale_angle *angle) {
  if (angle->kind != NDR_ANGLE_LONGITUDE || angle->radians == 0) return 0;
  return angle->radians == 1 ? 4 * acos(0) : 360;
}
