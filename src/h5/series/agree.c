/* See agree.h. */
#include "h5/series/agree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "h5/series/axis.h"
#include "h5/structure/structure.h"

/* Ends a sentence on files that differ. */
static const char *settle(const ndr_axis *a) {
  return a->dataset->new_dims ? "members of a new dim have the same coordinates"
                              : "files of a series have the same coordinates along its other dims";
}

/* Whether the nine digits by which messages write a number are all of it. */
static bool is_short(double value) {
  char text[NDR_TIME_CHARS];
  snprintf(text, sizeof text, "%.9g", value);
  return strtod(text, NULL) == value;
}

/* Names the part that has one order in both files, where the longitudes of a begin at index `start` of b. It reaches a
 * hundredth of a step beyond them, unless both files have exactly the numbers that are written. */
static void write_part(const ndr_axis *a, const ndr_axis *b, int64_t start, const char *dim, char *text, size_t size) {
  const int64_t last = a->dataset->info.shape[a->d] - 1;
  const double first = a->values[0], end = a->values[last];
  const double off[] = {first - b->values[start], end - b->values[start - 1]};
  const bool exact = remainder(off[0], a->turn) == 0 && remainder(off[1], a->turn) == 0;
  const double beyond = exact && is_short(first) && is_short(end) ? 0 : 0.01 * fabs(end - first) / (double)last;
  snprintf(text, size, "; these are the same longitudes, and agree within the part %.100s=%.9g:%.9g", dim,
           fmin(first, end) - beyond, fmax(first, end) + beyond);
}

/* "FILE: its lat[1] is 3, that of FILE is 2; ..." */
static ndr_status fail_value(const ndr_axis *a, const ndr_axis *b, int64_t i) {
  char dim[NDR_SCALE_DIM_TEXT], values[2][NDR_TIME_CHARS], part[256] = "";
  const int64_t start = ndr_axis_find_rotation(a, b);
  ndr_scale_name_dim(b->dataset, b->d, dim);
  if (start > 0 && a->dataset->names[a->d]) write_part(a, b, start, dim, part, sizeof part);
  ndr_axis_write(a, i, values[0]);
  ndr_axis_write(b, i, values[1]);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s[%lld] is %s, that of %s is %s; %s%s", b->dataset->where, dim, (long long)i,
                  values[1], a->dataset->where, values[0], settle(a), part);
}

static ndr_status fail_calendar(const ndr_axis *a, const ndr_axis *b) {
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_scale_name_dim(a->dataset, a->d, dim);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s is of the calendar %s, that of %s of the calendar %s; %s",
                  b->dataset->where, dim, ndr_calendar_name(b->units.time.calendar), a->dataset->where,
                  ndr_calendar_name(a->units.time.calendar), settle(a));
}

static ndr_status fail_units(const ndr_axis *a, const ndr_axis *b) {
  char dim[NDR_SCALE_DIM_TEXT];
  const char *x = a->units.units ? a->units.units : "", *y = b->units.units ? b->units.units : "";
  ndr_scale_name_dim(a->dataset, a->d, dim);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s has units '%.80s', that of %s has '%.80s'; %s", b->dataset->where, dim, y,
                  a->dataset->where, x, settle(a));
}

static ndr_status compare(const ndr_axis *a, const ndr_axis *b) {
  bool timed = ndr_axis_are_timed(a, b);
  if (!a->values || !b->values) return NDR_OK;
  if (a->dataset->new_dims && !ndr_axis_same_units(a, b)) return fail_units(a, b);
  for (int64_t i = 0; i < a->dataset->info.shape[a->d]; i++) {
    if (timed && !ndr_axis_dates_alike(a, b, i)) return fail_calendar(a, b);
    if (!ndr_axis_same_place(a, i, b, i)) return fail_value(a, b, i);
  }
  return NDR_OK;
}

static ndr_status agree_along(const ndr_h5_dataset *series, int d) {
  ndr_axis first = {.values = NULL}, other = {.values = NULL};
  ndr_status status = ndr_axis_read(series->parts[0], d, &first);
  for (int p = 1; p < series->part_count && status == NDR_OK && first.values; p++) {
    status = ndr_axis_read(series->parts[p], d, &other);
    if (status == NDR_OK) status = compare(&first, &other);
    ndr_axis_free(&other);
  }
  ndr_axis_free(&first);
  return status;
}

ndr_status ndr_series_agree(const ndr_h5_dataset *series) {
  for (int d = 0; d < series->info.ndim; d++)
    if (d != series->series_dim) NDR_TRY(agree_along(series, d));
  return NDR_OK;
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

/* Adds the places of a part; false where its coordinates cannot be read. */
static bool add_places(const ndr_h5_dataset *series, int part, place *places, int64_t *count) {
  ndr_axis a;
  const int d = series->series_dim;
  bool read = ndr_axis_read(series->parts[part], d, &a) == NDR_OK;
  for (int64_t i = 0; read && a.values && i < series->parts[part]->info.shape[d]; i++) {
    double at;
    if (ndr_axis_place(&a, i, &at)) places[(*count)++] = (place){at, part, i};
  }
  ndr_axis_free(&a);
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
  ndr_axis a;
  char dim[NDR_SCALE_DIM_TEXT], value[NDR_TIME_CHARS];
  const int d = series->series_dim;
  int64_t repeats = count_repeats(places, count, &first, &repeated);
  if (repeats == 0) return;
  bool read = ndr_axis_read(series->parts[first->part], d, &a) == NDR_OK && a.values;
  if (read) ndr_axis_write(&a, first->index, value);
  ndr_axis_free(&a);
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
