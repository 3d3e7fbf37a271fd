/* See pair_coordinates.h. */
#include "h5/run/job/pair_coordinates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "h5/series/axis.h"

/* The coordinates of both dims. */
typedef struct {
  const ndr_paired_dims *dims;
  ndr_axis own, other; /* the dataset's, the array's */
  ndr_hdf_scope scope;
} axes;

/* Takes the lock and reads both axes. Call leave even if that fails. */
static ndr_status enter(axes *a, const ndr_paired_dims *dims) {
  *a = (axes){.dims = dims};
  ndr_hdf_enter(&a->scope, dims->dataset->no_plugins);
  NDR_TRY(ndr_axis_read(dims->dataset, dims->d, &a->own));
  return a->own.values ? ndr_axis_read(dims->array, dims->i, &a->other) : NDR_OK;
}

static void leave(axes *a) {
  ndr_axis_free(&a->own);
  ndr_axis_free(&a->other);
  ndr_hdf_leave(&a->scope);
}

static bool are_there(const axes *a) {
  return a->own.values && a->other.values;
}

static int64_t steps_of(const ndr_axis *axis) {
  return axis->dataset->info.shape[axis->d];
}

/* The array's step that is paired with step k. */
static int64_t step_of(const axes *a, int64_t k, bool reverse) {
  int64_t step = a->dims->steps ? a->dims->steps[k] : k;
  return reverse ? steps_of(&a->other) - 1 - step : step;
}

static bool same_calendar(const axes *a, int64_t k) {
  return !ndr_axis_are_timed(&a->own, &a->other) || ndr_axis_dates_alike(&a->own, &a->other, k);
}

/* The first step that does not agree; -1: there is none. Equal numbers in the same units need no decoding. */
static int64_t find_difference(const axes *a, bool reverse) {
  bool alike = ndr_scale_units_same_words(&a->own.units, &a->other.units);
  for (int64_t k = 0; k < steps_of(&a->own); k++) {
    int64_t step = step_of(a, k, reverse);
    if (alike && a->own.values[k] == a->other.values[step]) continue;
    if (!same_calendar(a, k) || !ndr_axis_same_place(&a->own, k, &a->other, step)) return k;
  }
  return -1;
}

ndr_status ndr_coordinates_agree(const ndr_paired_dims *dims, bool reverse, bool *agree) {
  axes a;
  *agree = true;
  ndr_status status = enter(&a, dims);
  if (status == NDR_OK && are_there(&a))
    *agree = find_difference(&a, reverse) < 0 && (steps_of(&a.own) == 0 || ndr_axis_counts_alike(&a.own, &a.other));
  leave(&a);
  return status;
}

/* Whether the dataset's steps are the array's from `start` on, `by` apart. */
static bool begins_at(const axes *a, int64_t start, int64_t by) {
  const int64_t count = steps_of(&a->other);
  for (int64_t k = 0; k < steps_of(&a->own); k++)
    if (!ndr_axis_same_place(&a->own, k, &a->other, ndr_step_around(start + k * by, count))) return false;
  return true;
}

ndr_status ndr_coordinates_find_start(const ndr_paired_dims *dims, int64_t near, int64_t by, int64_t *start) {
  axes a;
  *start = -1;
  ndr_status status = enter(&a, dims);
  bool turns = status == NDR_OK && are_there(&a) && a.own.turn != 0 && a.own.turn == a.other.turn;
  const int64_t count = turns && steps_of(&a.own) > 0 ? steps_of(&a.other) : 0;
  for (int64_t k = 0; k < count && *start < 0; k++)
    if (begins_at(&a, (near + k) % count, by)) *start = (near + k) % count;
  leave(&a);
  return status;
}

/* ---- What both have ---------------------------------------------------------------------------------------------- */

/* The first or last step of an axis. */
typedef struct {
  const ndr_axis *axis;
  int64_t step;
  double at;
} end;

/* Both ends of an axis, the lower one first; false where its coordinates do not all rise, or all fall. */
static bool find_ends(const ndr_axis *axis, end *low, end *high) {
  end first = {axis, 0, 0}, last = {axis, steps_of(axis) - 1, 0};
  if (last.step < 0 || !ndr_axis_place(axis, 0, &first.at) || !ndr_axis_place(axis, last.step, &last.at)) return false;
  const bool rises = last.at > first.at;
  double before = first.at, at;
  for (int64_t k = 1; k <= last.step; k++) {
    if (!ndr_axis_place(axis, k, &at) || (at > before) != rises) return false;
    before = at;
  }
  *low = rises ? first : last;
  *high = rises ? last : first;
  return true;
}

/* The mean step of an axis; 0 if it has one coordinate. */
static double mean_step(end low, end high) {
  int64_t steps = steps_of(low.axis);
  return steps > 1 ? (high.at - low.at) / (double)(steps - 1) : 0;
}

/* Whether days tell the times of an axis apart. */
static bool has_days(end low, end high) {
  return low.axis->units.timed && (steps_of(low.axis) == 1 || mean_step(low, high) >= 1);
}

typedef struct {
  double low, high;
} range;

static bool is_within(const ndr_axis *axis, int64_t k, range of) {
  double at;
  return k >= 0 && k < steps_of(axis) && ndr_axis_place(axis, k, &at) && at >= of.low && at <= of.high;
}

static int64_t count_within(const ndr_axis *axis, range of) {
  int64_t count = 0;
  for (int64_t k = 0; k < steps_of(axis); k++) count += is_within(axis, k, of);
  return count;
}

/* Whether the steps of both axes within a range are the same ones, in order or in reverse. */
static bool agree_within(const axes *a, range of, bool reverse) {
  const int64_t by = reverse ? -1 : 1, count = steps_of(&a->other);
  int64_t other = reverse ? count - 1 : 0;
  for (int64_t k = 0; k < steps_of(&a->own); k++) {
    if (!is_within(&a->own, k, of)) continue;
    while (other >= 0 && other < count && !is_within(&a->other, other, of)) other += by;
    if (other < 0 || other >= count || !ndr_axis_same_place(&a->own, k, &a->other, other)) return false;
    other += by;
  }
  return true;
}

/* Whether longitudes outside a range are the same places in both, whole turns apart: a part has more of them. */
static bool agree_beyond(const axes *a, range of) {
  for (int64_t k = 0; a->own.turn != 0 && k < steps_of(&a->own); k++)
    for (int64_t i = 0; !is_within(&a->own, k, of) && i < steps_of(&a->other); i++)
      if (ndr_axis_same_place(&a->own, k, &a->other, i)) return true;
  return false;
}

/* Axes of different resolution, or whose steps lie between those of the other, have no part in common, though they
 * cover the same range. */
static void write_common(const axes *a, const char *dim, char text[NDR_PART_HINT]) {
  end low[2], high[2];
  char from[NDR_TIME_CHARS], to[NDR_TIME_CHARS];
  if (!find_ends(&a->own, &low[0], &high[0]) || !find_ends(&a->other, &low[1], &high[1])) return;
  const end *first = low[0].at >= low[1].at ? &low[0] : &low[1], *last = high[0].at <= high[1].at ? &high[0] : &high[1];
  if (first->at > last->at) {
    if (a->own.turn == 0) snprintf(text, NDR_PART_HINT, "; they have no %s in common", dim);
    return;
  }
  const double rounding = 1e-3 * fmax(mean_step(low[0], high[0]), mean_step(low[1], high[1]));
  const range both = {first->at - rounding, last->at + rounding};
  const int64_t count = count_within(&a->own, both);
  if (count == 0 || count_within(&a->other, both) != count || agree_beyond(a, both)) return;
  if (!agree_within(a, both, false) && !agree_within(a, both, true)) return;
  const char *whose = steps_of(&a->other) == count ? "the dataset" : steps_of(&a->own) == count ? "it" : "each";
  ndr_axis_write(first->axis, first->step, from);
  ndr_axis_write(last->axis, last->step, to);
  if (has_days(low[0], high[0]) && has_days(low[1], high[1])) from[strcspn(from, "T")] = to[strcspn(to, "T")] = 0;
  snprintf(text, NDR_PART_HINT, "; [%s=%s:%s] of %s is the part that both have", dim, from, to, whose);
}

/* A part is selected by the name of its dim. */
static void hint_part(const axes *a, char text[NDR_PART_HINT]) {
  char dim[NDR_SCALE_DIM_TEXT];
  *text = 0;
  if (!a->dims->array->names[a->dims->i] || !ndr_axis_same_units(&a->own, &a->other)) return;
  ndr_scale_name_dim(a->dims->array, a->dims->i, dim);
  if (steps_of(&a->own) == 0 || same_calendar(a, 0)) write_common(a, dim, text);
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

#define BY_NUMBER "ndr_h5_access.by_number pairs them all the same"

enum { VALUE_TEXT = NDR_TIME_CHARS + 64 };

/* Writes both coordinates: with units if these differ, and with all digits if nine do not show the difference. */
static void write_values(const axes *a, int64_t k, int64_t step, char own[VALUE_TEXT], char other[VALUE_TEXT]) {
  const ndr_axis *axis[] = {&a->own, &a->other};
  char *text[] = {own, other}, value[2][NDR_TIME_CHARS];
  ndr_axis_write(axis[0], k, value[0]);
  ndr_axis_write(axis[1], step, value[1]);
  bool digits = strcmp(value[0], value[1]) == 0, other_units = !ndr_axis_same_units(&a->own, &a->other);
  bool other_words = !ndr_scale_units_same_words(&a->own.units, &a->other.units);
  for (int n = 0; n < 2; n++) {
    const ndr_scale_units *units = &axis[n]->units;
    ndr_instant instant;
    bool dated = units->timed && ndr_axis_decode(axis[n], n ? step : k, &instant);
    if (digits) snprintf(value[n], NDR_TIME_CHARS, "%.17g", axis[n]->values[n ? step : k]);
    bool named = !dated && units->units && (units->timed ? other_words : other_units);
    snprintf(text[n], VALUE_TEXT, "%s%s%.50s", value[n], named ? " " : "", named ? units->units : "");
  }
}

/* Whether the array has the dataset's longitudes but begins at another one: a part [lon=FROM:TO] then has the dataset's
 * order. False for labels of which only a part is paired. */
static bool is_rotated(const axes *a) {
  return steps_of(&a->own) > 0 && step_of(a, 0, false) == 0 && ndr_axis_find_rotation(&a->own, &a->other) > 0;
}

/* Says what can be done about a difference, and returns whether its cause is known: files that follow each other along
 * the dim are not turned, and an array that is a part, or by number, is taken as it is. To pair the same places in
 * another order by number is nothing to recommend. */
static bool write_way(const axes *a, const char *dim, char *text, size_t capacity) {
  char from[NDR_TIME_CHARS], to[NDR_TIME_CHARS];
  if (!is_rotated(a)) {
    const bool reverse = find_difference(a, true) < 0;
    snprintf(text, capacity, "%s" BY_NUMBER, reverse ? "its files have them in reverse; " : "");
    return reverse;
  }
  ndr_axis_write(&a->own, 0, from);
  ndr_axis_write(&a->own, steps_of(&a->own) - 1, to);
  snprintf(text, capacity, "the part [%s=%s:%s] of %s has that order", dim, from, to,
           a->other.dataset->part_count ? "each of its files" : "it");
  return true;
}

static ndr_status fail_calendar(const axes *a, const char *dim, const char *what) {
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s is of the calendar %s, that of %s of the calendar %s; " BY_NUMBER, what,
                  dim, ndr_calendar_name(a->other.units.time.calendar), a->own.dataset->where,
                  ndr_calendar_name(a->own.units.time.calendar));
}

/* "'months since 2001-01-01' of the calendar noleap" */
static void write_units(const ndr_axis *axis, char text[VALUE_TEXT]) {
  const ndr_scale_units *u = &axis->units;
  snprintf(text, VALUE_TEXT, "'%.50s'%s%.20s", u->units ? u->units : "", u->calendar ? " of the calendar " : "",
           u->calendar ? u->calendar : "");
}

static ndr_status fail_units(const axes *a, const char *dim, const char *what) {
  char own[VALUE_TEXT], other[VALUE_TEXT];
  write_units(&a->own, own);
  write_units(&a->other, other);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s counts %s, that of %s counts %s; " BY_NUMBER, what, dim, other,
                  a->own.dataset->where, own);
}

/* The file that has the step, where files follow each other along the dim; else the dataset. */
static const ndr_h5_dataset *file_of(const ndr_axis *axis, int64_t step) {
  const ndr_h5_dataset *dataset = axis->dataset;
  if (!dataset->part_count || dataset->series_dim != axis->d) return dataset;
  int p = 0;
  while (p < dataset->part_count - 1 && step >= dataset->parts[p]->info.shape[axis->d])
    step -= dataset->parts[p++]->info.shape[axis->d];
  return dataset->parts[p];
}

static ndr_status fail_value(const axes *a, int64_t k, const char *dim, const char *what) {
  char values[2][VALUE_TEXT], way[512], that[NDR_SCALE_DIM_TEXT + 32] = "that", of[256] = "";
  char part[NDR_PART_HINT] = "";
  int64_t step = step_of(a, k, false);
  const ndr_h5_dataset *own = file_of(&a->own, k), *other = file_of(&a->other, step);
  write_values(a, k, step, values[0], values[1]);
  if (!write_way(a, dim, way, sizeof way)) hint_part(a, part);
  if (step != k) snprintf(that, sizeof that, "%s[%lld]", dim, (long long)k);
  if (strcmp(other->file, a->other.dataset->file) != 0) snprintf(of, sizeof of, ", of %.200s,", other->file);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s[%lld]%s is %s, %s of %s is %s%s; %s", what, dim, (long long)step, of,
                  values[1], that, own->where, values[0], part, way);
}

ndr_status ndr_coordinates_fail(const ndr_paired_dims *dims, const char *what) {
  axes a;
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_status status = enter(&a, dims);
  int64_t k = status == NDR_OK && are_there(&a) ? find_difference(&a, false) : -1;
  ndr_scale_name_dim(dims->array, dims->i, dim);
  if (status == NDR_OK && are_there(&a) && k < 0) status = fail_units(&a, dim, what);
  if (k >= 0) status = same_calendar(&a, k) ? fail_value(&a, k, dim, what) : fail_calendar(&a, dim, what);
  leave(&a);
  return status;
}

void ndr_coordinates_hint_part(const ndr_paired_dims *dims, char text[NDR_PART_HINT]) {
  axes a;
  *text = 0;
  if (enter(&a, dims) == NDR_OK && are_there(&a)) hint_part(&a, text);
  leave(&a);
}
