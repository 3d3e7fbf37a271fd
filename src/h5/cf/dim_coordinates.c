/* The public calls on a dim's coordinates: ndr_h5_coordinate, their values, and ndr_h5_dates, times as dates. */
#include <math.h>

#include "h5/cf/scale_units.h"

_Static_assert(NDR_H5_DATE_CHARS >= NDR_TIME_CHARS, "a date has room");

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static ndr_status read_coordinates(const ndr_h5_dataset *dataset, int d, double *values) {
  hid_t scale;
  NDR_TRY(ndr_scale_open(dataset, d, &scale));
  H5Dclose(scale);
  return values ? ndr_hdf_coordinate_values(dataset, d, dataset->raw, values) : NDR_OK;
}

ndr_status ndr_h5_coordinate(const ndr_h5_dataset *dataset, int dim, double *values) {
  ndr_hdf_scope scope;
  int d;
  NDR_TRY(ndr_scale_check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = read_coordinates(dataset, d, values);
  ndr_hdf_leave(&scope);
  return status;
}

/* ---- Dates ------------------------------------------------------------------------------------------------------ */

static ndr_status read_dim_units(const ndr_h5_dataset *dataset, int d, ndr_scale_units *u) {
  hid_t scale;
  NDR_TRY(ndr_scale_open(dataset, d, &scale));
  ndr_status status = ndr_scale_units_read(dataset, scale, u);
  H5Dclose(scale);
  return status;
}

static bool decode(const ndr_scale_units *u, double value, ndr_instant *instant) {
  return ndr_time_decode(&u->time, value, fabs(value) * u->precision, instant);
}

/* All with the precision that the one needs which needs most, so that a column of dates looks alike. */
static void write_dates(const ndr_scale_units *units, int64_t count, const double *values,
                        char (*texts)[NDR_H5_DATE_CHARS]) {
  ndr_time_precision precision = NDR_TIME_DAYS;
  ndr_instant instant;
  for (int64_t i = 0; i < count; i++) {
    if (!decode(units, values[i], &instant)) continue;
    ndr_time_precision own = ndr_time_precision_of(instant);
    if (own > precision) precision = own;
  }
  for (int64_t i = 0; i < count; i++) {
    texts[i][0] = 0;
    if (decode(units, values[i], &instant)) ndr_time_write(&units->time, instant, precision, texts[i]);
  }
}

ndr_status ndr_h5_dates(const ndr_h5_dataset *dataset, int dim, int64_t count, const double *values,
                        char (*texts)[NDR_H5_DATE_CHARS]) {
  ndr_hdf_scope scope;
  ndr_scale_units units = {.timed = false};
  int d;
  if (count > 0 && (!values || !texts)) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_dates: null pointer");
  NDR_TRY(ndr_scale_check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = read_dim_units(dataset, d, &units);
  ndr_hdf_leave(&scope);
  NDR_TRY(status);
  if (units.timed)
    write_dates(&units, count, values, texts);
  else
    status = ndr_scale_fail(dataset, d, " that are times since a date, in units of one length");
  ndr_scale_units_free(&units);
  return status;
}
