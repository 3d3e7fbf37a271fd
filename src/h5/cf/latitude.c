/* ndr_h5_coordinate_weights: a dim's coordinates as weights, or the cosines of its latitudes. */
#include <math.h>
#include <stdlib.h>

#include "h5/cf/scale_angle.h"
#include "h5/cf/scale_units.h"

/* How many radians one unit of a latitude is. Without units, what is called a latitude is in degrees, as others take
 * it. */
static ndr_status find_latitude(const ndr_h5_dataset *dataset, int d, const char *units, const ndr_scale_angle *angle,
                                double *radians) {
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_scale_name_dim(dataset, d, dim);
  if (angle->kind == NDR_ANGLE_LONGITUDE)
    return ndr_fail(NDR_ERR_ARGUMENT,
                    "%s: its %s is a longitude; grid cells shrink with the cosine of the latitude: name that dim",
                    dataset->where, dim);
  *radians = units || angle->kind == NDR_ANGLE_LATITUDE ? angle->radians : 0;
  if (*radians > 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT,
                  "%s: its %s has %s%.80s%s, which is no angle that is understood: degrees (degrees_north, degree, "
                  "...) or radians (radian, rad)",
                  dataset->where, dim, units ? "units '" : "no units", units ? units : "", units ? "'" : "");
}

/* A pole that is rounded to beyond 90 degrees, as pi / 2 is in f32, counts as one that is not. */
static ndr_status take_cosines(const ndr_h5_dataset *dataset, int d, double radians, double *values) {
  const double pole = acos(0), rounded = pole * (1 + 1e-6);
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_scale_name_dim(dataset, d, dim);
  for (int64_t i = 0; i < dataset->info.shape[d]; i++) {
    double angle = fabs(values[i]) * radians;
    if (!(angle <= rounded))
      return ndr_fail(NDR_ERR_ARGUMENT, "%s: its %s has %.9g at index %lld, which is no latitude", dataset->where, dim,
                      values[i], (long long)i);
    values[i] = cos(fmin(angle, pole));
  }
  return NDR_OK;
}

static ndr_status read_latitude_units(const ndr_h5_dataset *dataset, int d, double *radians) {
  hid_t scale;
  ndr_scale_units units;
  ndr_scale_angle angle;
  NDR_TRY(ndr_scale_open(dataset, d, &scale));
  ndr_status status = ndr_scale_units_read(dataset, scale, &units);
  if (status == NDR_OK) {
    status = ndr_scale_angle_read(dataset, d, scale, units.units, &angle);
    if (status == NDR_OK) status = find_latitude(dataset, d, units.units, &angle, radians);
    ndr_scale_units_free(&units);
  }
  H5Dclose(scale);
  return status;
}

ndr_status ndr_h5_coordinate_weights(const ndr_h5_dataset *dataset, int dim, int cosine, double *values) {
  ndr_hdf_scope scope;
  hid_t scale;
  double radians = 0;
  int d;
  if (!values) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_coordinate_weights: null pointer");
  NDR_TRY(ndr_scale_check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = ndr_scale_open(dataset, d, &scale);
  if (status == NDR_OK) H5Dclose(scale);
  if (status == NDR_OK && cosine) status = read_latitude_units(dataset, d, &radians);
  if (status == NDR_OK) status = ndr_hdf_coordinate_values(dataset, d, false, values);
  ndr_hdf_leave(&scope);
  return status == NDR_OK && cosine ? take_cosines(dataset, d, radians, values) : status;
}
