/* See cf/series_axis.h, and the public calls on coordinates: values, weights, dates. Reading a scale is in
 * coordinates.c, calendars in cf/time.c. */
#include "h5/cf/series_axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/angle.h"
#include "h5/file/attributes.h"

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
  if (u->units && !u->units[strspn(u->units, " ")]) { /* as good as none */
    free(u->units);
    u->units = NULL;
  }
  u->timed = !dataset->raw && ndr_time_units_parse(u->units, u->calendar, &u->time);
  return NDR_OK;
}

/* In words: "lat", "dim 0". */
static void describe_dim(const ndr_h5_dataset *dataset, int d, char text[128]) {
  if (dataset->names[d])
    snprintf(text, 128, "%.100s", dataset->names[d]);
  else
    snprintf(text, 128, "dim %d", d);
}

static ndr_status fail_dim(const ndr_h5_dataset *dataset, int d, const char *what) {
  char dim[128];
  describe_dim(dataset, d, dim);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s%s has no coordinates%s", dataset->where, dataset->names[d] ? "dim " : "",
                  dim, what);
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

static ndr_status read_times(const ndr_h5_dataset *part, int d, double **times) {
  *times = calloc((size_t)part->info.shape[d] + 1, sizeof **times); /* which sees an overflow */
  if (!*times) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", part->where);
  return ndr_hdf_coordinate_values(part, d, false, *times);
}

/* Whether the calendars are two that date all times of the part alike: STANDARD and PROLEPTIC_GREGORIAN differ before
 * 15 October 1582 alone. */
static ndr_status dates_alike(const scale_units *first, const scale_units *own, const ndr_h5_dataset *part, int d,
                              bool *alike) {
  double *times = NULL;
  ndr_instant instant;
  *alike = first->timed && own->timed && ndr_calendar_is_gregorian(first->time.calendar) &&
           ndr_calendar_is_gregorian(own->time.calendar);
  ndr_status status = *alike ? read_times(part, d, &times) : NDR_OK;
  for (int64_t i = 0; i < part->info.shape[d] && status == NDR_OK && *alike; i++)
    if (ndr_time_decode(&own->time, times[i], 0, &instant)) *alike = ndr_instant_is_gregorian(instant);
  free(times);
  return status;
}

static ndr_status describe_time(const scale_units *u, const ndr_h5_dataset *part, int d, bool last, char *text) {
  double *times;
  ndr_instant instant;
  ndr_status status = read_times(part, d, &times);
  snprintf(text, NDR_TIME_CHARS, "no time");
  if (status == NDR_OK && ndr_time_decode(&u->time, times[last ? part->info.shape[d] - 1 : 0], 0, &instant))
    ndr_time_write(&u->time, instant, ndr_time_precision_of(instant), text);
  free(times);
  return status;
}

static ndr_status fail_calendars(const ndr_h5_dataset *series, const scale_units *first, const ndr_h5_dataset *part,
                                 const scale_units *own) {
  char dim[128], begin[NDR_TIME_CHARS], end[NDR_TIME_CHARS];
  int d = series->series_dim;
  const ndr_h5_dataset *before = series->parts[series->axis_part];
  bool mixed = ndr_calendar_is_gregorian(first->time.calendar) && ndr_calendar_is_gregorian(own->time.calendar);
  NDR_TRY(describe_time(own, part, d, false, begin));
  NDR_TRY(describe_time(first, before, d, true, end));
  describe_dim(part, d, dim);
  return ndr_fail(NDR_ERR_DIMS,
                  "%s: its %s begins with %s of the calendar %s, that of %s ends with %s of the calendar %s: two "
                  "calendars are no one axis%s; set one, or reduce the files one by one",
                  part->where, dim, begin, ndr_calendar_name(own->time.calendar), before->where, end,
                  ndr_calendar_name(first->time.calendar), mixed ? " before 1582-10-15" : "");
}

static void describe_units(const scale_units *u, char text[256]) {
  if (!u->units)
    snprintf(text, 256, "no units");
  else
    snprintf(text, 256, "units '%.120s'%s%.80s", u->units, u->calendar ? ", calendar " : "",
             u->calendar ? u->calendar : "");
}

static ndr_status fail_units(const ndr_h5_dataset *series, const scale_units *first, const ndr_h5_dataset *part,
                             const scale_units *own) {
  char dim[128], texts[2][256];
  if (first->timed && own->timed) return fail_calendars(series, first, part, own);
  describe_dim(part, series->series_dim, dim);
  describe_units(own, texts[0]);
  describe_units(first, texts[1]);
  return ndr_fail(NDR_ERR_DIMS,
                  "%s: its %s has %s, that of %s has %s: one cannot be converted to the other; set one of them, or "
                  "reduce the files one by one",
                  part->where, dim, texts[0], series->parts[series->axis_part]->where, texts[1]);
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
  bool alike = same || part->raw || can_convert(first, &own);
  ndr_status status = alike ? NDR_OK : dates_alike(first, &own, part, series->series_dim, &alike);
  if (!same && part->raw)
    series->axis = NDR_AXIS_NONE;
  else if (!same)
    series->axis = NDR_AXIS_CONVERTED;
  if (status == NDR_OK && !alike) status = fail_units(series, first, part, &own);
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
  return values ? ndr_hdf_coordinate_values(dataset, d, dataset->raw, values) : NDR_OK;
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

/* ---- Weights ---------------------------------------------------------------------------------------------------- */

/* How many radians one unit of a latitude is. Without units, what is called a latitude is in degrees, as others take
 * it. */
static ndr_status find_latitude(const ndr_h5_dataset *dataset, int d, const char *units, const char *standard_name,
                                double *radians) {
  char dim[128];
  describe_dim(dataset, d, dim);
  ndr_angle_kind kind = ndr_angle_of_units(units);
  if (kind == NDR_ANGLE_UNKNOWN) kind = ndr_angle_of_name(standard_name);
  if (kind == NDR_ANGLE_UNKNOWN) kind = ndr_angle_of_name(dataset->names[d]);
  if (kind == NDR_ANGLE_LONGITUDE)
    return ndr_fail(NDR_ERR_ARGUMENT,
                    "%s: its %s is a longitude; grid cells shrink with the cosine of the latitude: name that dim",
                    dataset->where, dim);
  *radians = ndr_angle_radians(units ? units : kind == NDR_ANGLE_LATITUDE ? "degrees" : NULL);
  if (*radians > 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT,
                  "%s: its %s has %s%.80s%s, which is no angle that is understood: degrees (degrees_north, degree, "
                  "...) or radians (radian, rad)",
                  dataset->where, dim, units ? "units '" : "no units", units ? units : "", units ? "'" : "");
}

/* A pole that is rounded to beyond 90 degrees, as pi / 2 is in f32, counts as one that is not. */
static ndr_status take_cosines(const ndr_h5_dataset *dataset, int d, double radians, double *values) {
  const double pole = acos(0), rounded = pole * (1 + 1e-6);
  char dim[128];
  describe_dim(dataset, d, dim);
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
  scale_units units;
  char *standard_name = NULL;
  NDR_TRY(open_coordinates(dataset, d, &scale));
  ndr_status status = read_units(dataset, scale, &units);
  if (status == NDR_OK) {
    bool good = ndr_hdf_get_text(scale, "standard_name", &standard_name);
    status = good ? find_latitude(dataset, d, units.units, standard_name, radians) : fail_read(dataset);
    free(standard_name);
    free_units(&units);
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
  NDR_TRY(check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = open_coordinates(dataset, d, &scale);
  if (status == NDR_OK) H5Dclose(scale);
  if (status == NDR_OK && cosine) status = read_latitude_units(dataset, d, &radians);
  if (status == NDR_OK) status = ndr_hdf_coordinate_values(dataset, d, false, values);
  ndr_hdf_leave(&scope);
  return status == NDR_OK && cosine ? take_cosines(dataset, d, radians, values) : status;
}

/* ---- Dates ------------------------------------------------------------------------------------------------------ */

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
