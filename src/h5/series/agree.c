/* See agree.h. */
#include "h5/series/agree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/angle.h"
#include "h5/cf/scale_units.h"
#include "h5/file/attributes.h"
#include "h5/structure/structure.h"

/* Coordinates of a dim of one file; values is NULL where there are none. */
typedef struct {
  const ndr_h5_dataset *dataset;
  int d;
  ndr_scale_units units;
  double *values;
} axis;

static void free_axis(axis *a) {
  ndr_scale_units_free(&a->units);
  free(a->values);
  *a = (axis){.values = NULL};
}

static ndr_status read_axis(const ndr_h5_dataset *dataset, int d, axis *a) {
  hid_t scale;
  *a = (axis){.dataset = dataset, .d = d};
  NDR_TRY(ndr_hdf_open_coordinates(dataset, d, false, &scale));
  if (scale < 0) return NDR_OK;
  ndr_status status = ndr_scale_units_read(dataset, scale, &a->units);
  H5Dclose(scale);
  NDR_TRY(status);
  a->units.timed = ndr_time_units_parse(a->units.units, a->units.calendar, &a->units.time);
  a->values = calloc((size_t)dataset->info.shape[d] + 1, sizeof *a->values); /* which sees an overflow */
  if (!a->values) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", dataset->where);
  return ndr_hdf_coordinate_values(dataset, d, false, a->values);
}

static bool decode(const axis *a, int64_t i, ndr_instant *instant) {
  return ndr_time_decode(&a->units.time, a->values[i], fabs(a->values[i]) * a->units.precision, instant);
}

static bool same_instant(const axis *a, const axis *b, int64_t i) {
  ndr_instant x, y;
  bool dated[] = {decode(a, i, &x), decode(b, i, &y)};
  if (!dated[0] || !dated[1]) return dated[0] == dated[1];
  return x.day == y.day && x.microsecond == y.microsecond;
}

/* Whether a time has one date in both calendars. */
static bool dates_alike(const axis *a, const axis *b, int64_t i) {
  const ndr_time_units *x = &a->units.time, *y = &b->units.time;
  ndr_instant instant;
  if (x->calendar == y->calendar) return true;
  return ndr_calendar_is_gregorian(x->calendar) && ndr_calendar_is_gregorian(y->calendar) &&
         (!decode(a, i, &instant) || ndr_instant_is_gregorian(instant));
}

/* How far other coordinates may be apart: files write degrees with more or fewer digits. */
static double tolerance(const axis *a, const axis *b) {
  int64_t last = a->dataset->info.shape[a->d] - 1;
  double far = fmax(fabs(a->values[0]), fabs(a->values[last]));
  double step = last > 0 ? fabs(a->values[last] - a->values[0]) / (double)last : 0;
  return fmax(1e-3 * step, 2 * far * fmax(a->units.precision, b->units.precision));
}

static bool same_units(const axis *a, const axis *b) {
  const char *x = a->units.units, *y = b->units.units;
  if (a->units.timed || b->units.timed) return a->units.timed && b->units.timed;
  if (!x || !y || strcmp(x, y) == 0) return true;
  return ndr_angle_radians(x) > 0 && ndr_angle_radians(x) == ndr_angle_radians(y);
}

static void write_value(const axis *a, int64_t i, char text[NDR_TIME_CHARS]) {
  ndr_instant instant;
  if (a->units.timed && decode(a, i, &instant))
    ndr_time_write(&a->units.time, instant, ndr_time_precision_of(instant), text);
  else
    snprintf(text, NDR_TIME_CHARS, "%.9g", a->values[i]);
}

/* Ends a sentence on files that differ. */
static const char *settle(const axis *a) {
  return a->dataset->new_dims ? "members of a new dim have the same coordinates"
                              : "files of a series have the same coordinates along its other dims";
}

enum { DIFFERENCE_TEXT = 1024 };

/* "FILE: its lat[1] is 3, that of FILE is 2" */
static const char *write_difference(const axis *a, const axis *b, int64_t i, char text[DIFFERENCE_TEXT]) {
  char dim[NDR_SCALE_DIM_TEXT], values[2][NDR_TIME_CHARS];
  ndr_scale_name_dim(b->dataset, b->d, dim);
  write_value(a, i, values[0]);
  write_value(b, i, values[1]);
  snprintf(text, DIFFERENCE_TEXT, "%s: its %s[%lld] is %s, that of %s is %s", b->dataset->where, dim, (long long)i,
           values[1], a->dataset->where, values[0]);
  return text;
}

static ndr_status fail_value(const axis *a, const axis *b, int64_t i) {
  char text[DIFFERENCE_TEXT];
  return ndr_fail(NDR_ERR_DIMS, "%s; %s", write_difference(a, b, i, text), settle(a));
}

static ndr_status fail_calendar(const axis *a, const axis *b) {
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_scale_name_dim(a->dataset, a->d, dim);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s is of the calendar %s, that of %s of the calendar %s; %s",
                  b->dataset->where, dim, ndr_calendar_name(b->units.time.calendar), a->dataset->where,
                  ndr_calendar_name(a->units.time.calendar), settle(a));
}

static ndr_status fail_units(const axis *a, const axis *b) {
  char dim[NDR_SCALE_DIM_TEXT];
  const char *x = a->units.units ? a->units.units : "", *y = b->units.units ? b->units.units : "";
  ndr_scale_name_dim(a->dataset, a->d, dim);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s has units '%.80s', that of %s has '%.80s'; %s", b->dataset->where, dim, y,
                  a->dataset->where, x, settle(a));
}

static bool same_place(const axis *a, const axis *b, int64_t i) {
  double x = a->values[i], y = b->values[i];
  if (a->units.timed && b->units.timed) return same_instant(a, b, i);
  return (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance(a, b);
}

static ndr_status compare(const axis *a, const axis *b) {
  bool timed = a->units.timed && b->units.timed;
  if (!a->values || !b->values) return NDR_OK;
  if (a->dataset->new_dims && !same_units(a, b)) return fail_units(a, b);
  for (int64_t i = 0; i < a->dataset->info.shape[a->d]; i++) {
    if (timed && !dates_alike(a, b, i)) return fail_calendar(a, b);
    if (!same_place(a, b, i)) return fail_value(a, b, i);
  }
  return NDR_OK;
}

static ndr_status agree_along(const ndr_h5_dataset *series, int d) {
  axis first = {.values = NULL}, other = {.values = NULL};
  ndr_status status = read_axis(series->parts[0], d, &first);
  for (int p = 1; p < series->part_count && status == NDR_OK && first.values; p++) {
    status = read_axis(series->parts[p], d, &other);
    if (status == NDR_OK) status = compare(&first, &other);
    free_axis(&other);
  }
  free_axis(&first);
  return status;
}

ndr_status ndr_series_agree(const ndr_h5_dataset *series) {
  for (int d = 0; d < series->info.ndim; d++)
    if (d != series->series_dim) NDR_TRY(agree_along(series, d));
  return NDR_OK;
}

/* Coordinates in the same words need not be decoded. */
static void remark_difference(const axis *a, const axis *b, ndr_remarks *remarks) {
  char text[DIFFERENCE_TEXT];
  if (!a->values || !b->values || !same_units(a, b)) return;
  bool alike = ndr_scale_units_same_words(&a->units, &b->units);
  for (int64_t i = 0; i < a->dataset->info.shape[a->d]; i++) {
    if ((alike && a->values[i] == b->values[i]) || same_place(a, b, i)) continue;
    ndr_remark(remarks, "%s; elements are paired by their numbers", write_difference(a, b, i, text));
    return;
  }
}

bool ndr_coordinates_begin(const ndr_h5_dataset *dataset, const ndr_h5_dataset *array, ndr_remarks *remarks) {
  *remarks = array->remarks;
  remarks->told = NULL;
  return remarks->tell && !(dataset->structure && dataset->structure->comm->rank > 0);
}

void ndr_coordinates_remark(const ndr_h5_dataset *dataset, int d, const ndr_h5_dataset *array, int i,
                            ndr_remarks *remarks) {
  axis own = {.values = NULL}, other = {.values = NULL};
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  bool read = read_axis(dataset, d, &own) == NDR_OK && read_axis(array, i, &other) == NDR_OK;
  if (read) remark_difference(&own, &other, remarks);
  ndr_hdf_leave(&scope);
  free_axis(&own);
  free_axis(&other);
}

/* ---- Files that overlap ------------------------------------------------------------------------------------------ */

/* A coordinate of a part of a series: of times in days, so that parts may have other units. */
typedef struct {
  double at;
  int part;
  int64_t index;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->part - y->part;
}

static bool is_place(const axis *a, int64_t i, double *at) {
  ndr_instant instant;
  *at = a->values[i];
  if (!a->units.timed) return isfinite(*at);
  if (!decode(a, i, &instant)) return false;
  *at = (double)instant.day + (double)instant.microsecond / 86400e6;
  return true;
}

/* Adds the places of a part; false where its coordinates cannot be read. */
static bool add_places(const ndr_h5_dataset *series, int part, place *places, int64_t *count) {
  axis a;
  const int d = series->series_dim;
  bool read = read_axis(series->parts[part], d, &a) == NDR_OK;
  for (int64_t i = 0; read && a.values && i < series->parts[part]->info.shape[d]; i++) {
    double at;
    if (is_place(&a, i, &at)) places[(*count)++] = (place){at, part, i};
  }
  free_axis(&a);
  return read;
}

/* How many places repeat one of an earlier part; *first is the first that does, and *repeated what it repeats. */
static int64_t count_repeats(const place *places, int64_t count, const place **first, const place **repeated) {
  const place *same = places; /* the first of those at the same coordinate */
  int64_t repeats = 0;
  for (int64_t i = 1; i < count; i++) {
    if (places[i].at != same->at) same = &places[i];
    if (places[i].part == same->part) continue;
    if (repeats++ == 0) *first = &places[i], *repeated = same;
  }
  return repeats;
}

/* Names the files alone: a run has the same sentence for all variables of theirs. */
static void remark_repeats(const ndr_h5_dataset *series, const place *places, int64_t count, ndr_remarks *remarks) {
  const place *first = NULL, *repeated = NULL;
  axis a;
  char dim[NDR_SCALE_DIM_TEXT], value[NDR_TIME_CHARS];
  const int d = series->series_dim;
  int64_t repeats = count_repeats(places, count, &first, &repeated);
  if (repeats == 0) return;
  bool read = read_axis(series->parts[first->part], d, &a) == NDR_OK && a.values;
  if (read) write_value(&a, first->index, value);
  free_axis(&a);
  if (!read) return;
  ndr_scale_name_dim(series, d, dim);
  ndr_remark(remarks,
             "%s: its %s overlaps that of %s from %s on: %lld of %lld coordinates repeat others, and their "
             "elements are counted again",
             series->parts[first->part]->file, dim, series->parts[repeated->part]->file, value, (long long)repeats,
             (long long)series->info.shape[d]);
}

ndr_status ndr_series_remark_overlap(const ndr_h5_dataset *series) {
  ndr_remarks remarks = series->remarks;
  int64_t count = 0;
  bool first_rank = !series->structure || series->structure->comm->rank == 0;
  if (!remarks.tell || !first_rank || series->new_dims || series->axis == NDR_AXIS_NONE) return NDR_OK;
  remarks.told = NULL;
  place *places = calloc((size_t)series->info.shape[series->series_dim] + 1, sizeof *places);
  bool good = places != NULL;
  for (int p = 0; p < series->part_count && good; p++) good = add_places(series, p, places, &count);
  if (good) qsort(places, (size_t)count, sizeof *places, compare_places);
  if (good) remark_repeats(series, places, count, &remarks);
  ndr_remarks_free(&remarks);
  free(places);
  /* What one rank alone knows must not end the call on that rank alone. */
  return series->structure ? NDR_OK : ndr_remarks_heed(&remarks, series->where, NDR_OK);
}
