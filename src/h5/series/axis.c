/* See axis.h. */
#include "h5/series/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "h5/cf/scale_angle.h"

void ndr_axis_free(ndr_axis *a) {
  ndr_scale_units_free(&a->units);
  free(a->values);
  *a = (ndr_axis){.values = NULL};
}

static ndr_status read_units(ndr_axis *a, hid_t scale) {
  ndr_scale_angle angle;
  NDR_TRY(ndr_scale_units_read(a->dataset, scale, &a->units));
  a->units.timed = ndr_time_units_parse(a->units.units, a->units.calendar, &a->units.time);
  NDR_TRY(ndr_scale_angle_read(a->dataset, a->d, scale, a->units.units, &angle));
  a->turn = ndr_scale_angle_turn(&angle);
  return NDR_OK;
}

ndr_status ndr_axis_read(const ndr_h5_dataset *dataset, int d, ndr_axis *a) {
  hid_t scale;
  *a = (ndr_axis){.dataset = dataset, .d = d};
  NDR_TRY(ndr_hdf_open_coordinates(dataset, d, false, &scale));
  if (scale < 0) return NDR_OK;
  ndr_status status = read_units(a, scale);
  H5Dclose(scale);
  NDR_TRY(status);
  a->values = calloc((size_t)dataset->info.shape[d] + 1, sizeof *a->values); /* which sees an overflow */
  if (!a->values) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", dataset->where);
  return ndr_hdf_coordinate_values(dataset, d, false, a->values);
}

/* How exactly a coordinate is stored, in its unit. */
static double precision(const ndr_axis *a, int64_t i) {
  return fabs(a->values[i]) * a->units.precision;
}

bool ndr_axis_decode(const ndr_axis *a, int64_t i, ndr_instant *instant) {
  return ndr_time_decode(&a->units.time, a->values[i], precision(a, i), instant);
}

bool ndr_axis_place(const ndr_axis *a, int64_t i, double *at) {
  ndr_instant instant;
  *at = a->values[i];
  if (!a->units.timed) return isfinite(*at);
  if (!ndr_axis_decode(a, i, &instant)) return false;
  *at = (double)instant.day + (double)instant.microsecond / 86400e6;
  return true;
}

bool ndr_axis_are_timed(const ndr_axis *a, const ndr_axis *b) {
  return a->units.timed && b->units.timed;
}

bool ndr_axis_same_units(const ndr_axis *a, const ndr_axis *b) {
  const char *x = a->units.units, *y = b->units.units;
  if (a->units.timed || b->units.timed) return ndr_axis_are_timed(a, b);
  if (!x || !y || strcmp(x, y) == 0) return true;
  return ndr_angle_radians(x) > 0 && ndr_angle_radians(x) == ndr_angle_radians(y);
}

/* Knows times also by units that cannot be decoded, such as months since a date, and by the name of the dim. */
static bool is_time(const ndr_axis *a) {
  const char *units = a->units.units, *name = a->dataset->names[a->d];
  return a->units.timed || (units && strstr(units, " since ")) || (name && strcasecmp(name, "time") == 0);
}

/* Takes names as those of calendars, and no name as the standard one; unknown names must be the same text. */
static bool same_calendar(const char *a, const char *b) {
  ndr_calendar x, y;
  if (ndr_calendar_parse(a, &x) && ndr_calendar_parse(b, &y))
    return x == y || (ndr_calendar_is_gregorian(x) && ndr_calendar_is_gregorian(y));
  return a && b && strcmp(a, b) == 0;
}

bool ndr_axis_counts_alike(const ndr_axis *a, const ndr_axis *b) {
  const ndr_scale_units *x = &a->units, *y = &b->units;
  if (ndr_axis_are_timed(a, b) || !(is_time(a) || is_time(b)) || !x->units || !y->units) return true;
  return strcmp(x->units, y->units) == 0 && same_calendar(x->calendar, y->calendar);
}

bool ndr_axis_dates_alike(const ndr_axis *a, const ndr_axis *b, int64_t i) {
  const ndr_time_units *x = &a->units.time, *y = &b->units.time;
  ndr_instant instant;
  if (x->calendar == y->calendar) return true;
  return ndr_calendar_is_gregorian(x->calendar) && ndr_calendar_is_gregorian(y->calendar) &&
         (!ndr_axis_decode(a, i, &instant) || ndr_instant_is_gregorian(instant));
}

static bool same_words(const ndr_axis *a, const ndr_axis *b) {
  return ndr_scale_units_same_words(&a->units, &b->units);
}

/* Compares two values that are no instants. What is missing is so in any units. */
static bool same_number(double x, double y, bool same_units) {
  return (isnan(x) && isnan(y)) || (same_units && x == y);
}

/* Beyond 2^24 s, half a year, f32 does not have every second, so that a time in f32 may be next to the same one in f64.
 */
static bool same_instant(const ndr_axis *a, int64_t i, const ndr_axis *b, int64_t k) {
  ndr_instant x, y;
  bool dated[] = {ndr_axis_decode(a, i, &x), ndr_axis_decode(b, k, &y)};
  if (!dated[0] && !dated[1]) return same_number(a->values[i], b->values[k], same_words(a, b));
  if (!dated[0] || !dated[1]) return false;
  double apart = (double)(x.day - y.day) * 86400e6 + (double)(x.microsecond - y.microsecond);
  return fabs(apart) <= precision(a, i) * (double)a->units.time.unit + precision(b, k) * (double)b->units.time.unit;
}

static double size_if_finite(double value) {
  return isfinite(value) ? fabs(value) : 0;
}

/* Of coordinate i, which is finite. The last class of sizes may end at infinity, which makes no step endless. */
static double tolerance(const ndr_axis *a, int64_t i, const ndr_axis *b) {
  int64_t last = a->dataset->info.shape[a->d] - 1;
  double ends = fmax(size_if_finite(a->values[0]), size_if_finite(a->values[last]));
  double far = fmax(ends, fabs(a->values[i]));
  double step = last > 0 ? size_if_finite((a->values[last] - a->values[0]) / (double)last) : 0;
  return fmax(1e-3 * step, 2 * far * fmax(a->units.precision, b->units.precision));
}

bool ndr_axis_same_place(const ndr_axis *a, int64_t i, const ndr_axis *b, int64_t k) {
  double x = a->values[i], y = b->values[k];
  if (ndr_axis_are_timed(a, b)) return same_instant(a, i, b, k);
  if (!isfinite(x) || !isfinite(y)) return x == y || (isnan(x) && isnan(y));
  double apart = a->turn > 0 && a->turn == b->turn ? remainder(x - y, a->turn) : x - y;
  return fabs(apart) <= tolerance(a, i, b);
}

int64_t ndr_axis_find_rotation(const ndr_axis *a, const ndr_axis *b) {
  const int64_t count = a->dataset->info.shape[a->d];
  int64_t shift = 0;
  if (a->turn == 0 || b->dataset->info.shape[b->d] != count) return 0;
  while (shift < count && !ndr_axis_same_place(a, 0, b, shift)) shift++;
  bool same = shift > 0 && shift < count;
  for (int64_t k = 0; same && k < count; k++) same = ndr_axis_same_place(a, k, b, (k + shift) % count);
  return same ? shift : 0;
}

void ndr_axis_write(const ndr_axis *a, int64_t i, char text[NDR_TIME_CHARS]) {
  ndr_instant instant;
  if (a->units.timed && ndr_axis_decode(a, i, &instant))
    ndr_time_write(&a->units.time, instant, ndr_time_precision_of(instant), text);
  else
    snprintf(text, NDR_TIME_CHARS, "%.9g", a->values[i]);
}
