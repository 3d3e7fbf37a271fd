#include "h5/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/attributes.h"
#include "h5/cf_angle.h"

_Static_assert(NDR_H5_DATE_CHARS >= NDR_TIME_CHARS, "a date has room");

/* What a scale's attributes say of its numbers. */
typedef struct {
  char *units, *calendar; /* NULL where it has none */
  bool timed;
  ndr_time_units time;
} scale_units;

static ndr_status fail_read(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_FILE, "%s: the coordinates of a dim cannot be read", dataset->where);
}

static void free_units(scale_units *u) {
  free(u->units);
  free(u->calendar);
}

static ndr_status read_units(const ndr_h5_dataset *dataset, hid_t scale, scale_units *u) {
  *u = (scale_units){NULL, NULL, false, {0}};
  if (!ndr_hdf_get_text(scale, "units", &u->units) || !ndr_hdf_get_text(scale, "calendar", &u->calendar)) {
    free_units(u);
    return fail_read(dataset);
  }
  u->timed = !dataset->raw && ndr_time_units_parse(u->units, u->calendar, &u->time);
  return NDR_OK;
}

static ndr_status fail_dim(const ndr_h5_dataset *dataset, int d, const char *what) {
  if (dataset->names[d])
    return ndr_fail(NDR_ERR_DIMS, "%s: its dim %s has no coordinates%s", dataset->where, dataset->names[d], what);
  return ndr_fail(NDR_ERR_DIMS, "%s: its dim %d has no coordinates%s", dataset->where, d, what);
}

static ndr_status open_coordinates(const ndr_h5_dataset *dataset, int d, hid_t *scale) {
  NDR_TRY(ndr_hdf_open_coordinates(dataset, d, false, scale));
  return *scale < 0 ? fail_dim(dataset, d, "") : NDR_OK;
}

/* ---- Of several files ------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool can_convert(const scale_units *a, const scale_units *b) {
  if (a->timed && b->timed) return a->time.calendar == b->time.calendar && a->time.zero_year == b->time.zero_year;
  double angle = ndr_angle_radians(a->units);
  if (angle > 0 && angle == ndr_angle_radians(b->units)) return true;
  return same_text(a->units, b->units) && same_text(a->calendar, b->calendar);
}

static void describe_units(const scale_units *u, char text[256]) {
  const char *calendar = u->timed ? ndr_calendar_name(u->time.calendar) : u->calendar;
  if (!u->units)
    snprintf(text, 256, "no units");
  else
    snprintf(text, 256, "units '%.120s'%s%.80s", u->units, calendar ? ", calendar " : "", calendar ? calendar : "");
}

static ndr_status fail_units(const ndr_h5_dataset *series, const scale_units *first, const ndr_h5_dataset *part,
                             const scale_units *own) {
  char texts[2][256];
  int d = series->series_dim;
  describe_units(own, texts[0]);
  describe_units(first, texts[1]);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s has %s, which does not go on from %s of %s", part->where,
                  part->names[d] ? part->names[d] : "dim", texts[0], texts[1], series->parts[series->axis_part]->where);
}

/* How the axis of one more part follows that of the part whose scale is `described`. */
static ndr_status join_scale(ndr_h5_dataset *series, hid_t described, const scale_units *first, ndr_h5_dataset *part,
                             hid_t scale) {
  scale_units own;
  htri_t same = ndr_hdf_same_meaning(described, scale);
  if (same < 0) return fail_read(part);
  NDR_TRY(read_units(part, scale, &own));
  part->timed = own.timed;
  part->time = own.time;
  ndr_status status = NDR_OK;
  if (!same && part->raw)
    series->axis = NDR_AXIS_NONE;
  else if (!same && !can_convert(first, &own))
    status = fail_units(series, first, part, &own);
  else if (!same)
    series->axis = NDR_AXIS_CONVERTED;
  free_units(&own);
  return status;
}

/* A part without elements says nothing of the axis. */
static ndr_status join_parts(ndr_h5_dataset *series, hid_t described, const scale_units *first) {
  int d = series->series_dim;
  for (int p = 0; p < series->part_count && series->axis != NDR_AXIS_NONE; p++) {
    ndr_h5_dataset *part = series->parts[p];
    hid_t scale;
    if (part->info.shape[d] == 0) continue;
    NDR_TRY(ndr_hdf_open_scale(part, d, false, &scale));
    if (scale < 0) {
      series->axis = NDR_AXIS_NONE;
      return NDR_OK;
    }
    ndr_status status = join_scale(series, described, first, part, scale);
    H5Dclose(scale);
    NDR_TRY(status);
  }
  return NDR_OK;
}

ndr_status ndr_axis_join(ndr_h5_dataset *series) {
  int d = series->series_dim, first = 0;
  hid_t scale;
  scale_units units;
  while (first + 1 < series->part_count && series->parts[first]->info.shape[d] == 0) first++;
  series->axis_part = series->parts[first]->info.shape[d] ? first : 0;
  series->axis = NDR_AXIS_NONE;
  NDR_TRY(ndr_hdf_open_scale(series->parts[series->axis_part], d, false, &scale));
  if (scale < 0) return NDR_OK;
  series->axis = NDR_AXIS_STORED;
  ndr_status status = read_units(series->parts[series->axis_part], scale, &units);
  if (status == NDR_OK) {
    status = join_parts(series, scale, &units);
    free_units(&units);
  }
  H5Dclose(scale);
  return status;
}

/* ---- The public calls ------------------------------------------------------------------------------------------- */

static ndr_status check_dim(const ndr_h5_dataset *dataset, int dim, int *d) {
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  int ndim = dataset->info.ndim;
  *d = dim < 0 ? dim + ndim : dim;
  if (*d >= 0 && *d < ndim) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS, "%s: dim %d is out of range for an array of %d dims", dataset->where, dim, ndim);
}

static ndr_status read_coordinates(const ndr_h5_dataset *dataset, int d, double *values) {
  hid_t scale;
  NDR_TRY(open_coordinates(dataset, d, &scale));
  H5Dclose(scale);
  return values ? ndr_hdf_coordinate_values(dataset, d, values) : NDR_OK;
}

ndr_status ndr_h5_coordinate(const ndr_h5_dataset *dataset, int dim, double *values) {
  ndr_hdf_scope scope;
  int d;
  NDR_TRY(check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = read_coordinates(dataset, d, values);
  ndr_hdf_leave(&scope);
  return status;
}

static ndr_status read_dim_units(const ndr_h5_dataset *dataset, int d, scale_units *u, bool *single) {
  hid_t scale;
  NDR_TRY(open_coordinates(dataset, d, &scale));
  hid_t type = H5Dget_type(scale);
  *single = H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) <= sizeof(float);
  ndr_status status = type < 0 ? fail_read(dataset) : read_units(dataset, scale, u);
  if (type >= 0) H5Tclose(type);
  H5Dclose(scale);
  return status;
}

/* Without units, what is called a latitude or a longitude is in degrees, as others take it. */
static ndr_status find_angle(const ndr_h5_dataset *dataset, int d, const scale_units *u, double *radians) {
  const char *name = dataset->names[d] ? dataset->names[d] : "";
  *radians = ndr_angle_radians(u->units ? u->units : ndr_angle_is_name(name) ? "degrees" : NULL);
  if (*radians > 0) return NDR_OK;
  return ndr_fail(
      NDR_ERR_ARGUMENT,
      "%s: its %s has %s%.80s%s, which is no angle that is understood: degrees (degrees_north, degree_east, "
      "...) or radians (radian, rad)",
      dataset->where, name, u->units ? "units '" : "no units", u->units ? u->units : "", u->units ? "'" : "");
}

ndr_status ndr_h5_coordinate_radians(const ndr_h5_dataset *dataset, int dim, double *values) {
  ndr_hdf_scope scope;
  scale_units units;
  bool single;
  double radians = 0;
  int d;
  if (!values) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_coordinate_radians: null pointer");
  NDR_TRY(check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = read_dim_units(dataset, d, &units, &single);
  if (status == NDR_OK) {
    status = find_angle(dataset, d, &units, &radians);
    free_units(&units);
  }
  if (status == NDR_OK) status = ndr_hdf_coordinate_values(dataset, d, values);
  ndr_hdf_leave(&scope);
  for (int64_t i = 0; status == NDR_OK && i < dataset->info.shape[d]; i++) values[i] *= radians;
  return status;
}

/* How exactly a stored number tells a time: as f32 or f64 does, packing included. */
static double exactness(bool single, double value) {
  return fabs(value) * (single ? 0x1p-23 : 0x1p-51);
}

/* All with the precision that the one needs which needs most, so that a column of dates looks alike. */
static void write_dates(const ndr_time_units *time, bool single, int64_t count, const double *values,
                        char (*texts)[NDR_H5_DATE_CHARS]) {
  ndr_time_precision precision = NDR_TIME_DAYS;
  ndr_instant instant;
  for (int64_t i = 0; i < count; i++) {
    if (!ndr_time_decode(time, values[i], exactness(single, values[i]), &instant)) continue;
    ndr_time_precision own = ndr_time_precision_of(instant);
    if (own > precision) precision = own;
  }
  for (int64_t i = 0; i < count; i++) {
    texts[i][0] = 0;
    if (ndr_time_decode(time, values[i], exactness(single, values[i]), &instant))
      ndr_time_write(time, instant, precision, texts[i]);
  }
}

ndr_status ndr_h5_dates(const ndr_h5_dataset *dataset, int dim, int64_t count, const double *values,
                        char (*texts)[NDR_H5_DATE_CHARS]) {
  ndr_hdf_scope scope;
  scale_units units;
  bool single;
  int d;
  if (count > 0 && (!values || !texts)) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_dates: null pointer");
  NDR_TRY(check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = read_dim_units(dataset, d, &units, &single);
  ndr_hdf_leave(&scope);
  NDR_TRY(status);
  if (units.timed)
    write_dates(&units.time, single, count, values, texts);
  else
    status = fail_dim(dataset, d, " that are times since a date");
  free_units(&units);
  return status;
}
