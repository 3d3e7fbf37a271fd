/* See pair_groups.h. */
#include "h5/run/job/pair_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/file/dims.h"

/* A step of the array, and the number of its group, as group_by.h numbers them. */
typedef struct {
  int64_t number, step;
} numbered;

/* Whether files have the groups of a key by the same numbers as group_by.h, as xarray writes a dim "month" of 1 to 12.
 */
static bool is_plain(ndr_group_key key) {
  return key == NDR_GROUP_MONTH || key == NDR_GROUP_YEAR || key == NDR_GROUP_DAYOFYEAR || key == NDR_GROUP_HOUR;
}

static bool has_name(const ndr_beside *array, int i, const char *name) {
  const char *own = array->dataset->info.dim_names[i];
  return own && name && strcmp(own, name) == 0;
}

bool ndr_pair_groups_named(const ndr_h5_dataset *array, int i) {
  const char *name = array->info.dim_names[i];
  ndr_group_key key;
  return name && ndr_group_key_parse(name, &key) && is_plain(key);
}

/* Whether dim i has the numbers of groups as coordinates, in place of times. */
static bool is_numbered(const ndr_beside *array, int i, const ndr_h5_groups *groups) {
  return is_plain(groups->key) && has_name(array, i, ndr_group_key_name(groups->key)) &&
         !has_name(array, i, groups->name);
}

int ndr_pair_groups_dim(const ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_h5_groups *groups) {
  for (int i = 0; i < array->ndim; i++)
    if (has_name(array, i, dataset->info.dim_names[groups->dim]) || is_numbered(array, i, groups)) return i;
  return -1;
}

/* ---- The groups of the array ------------------------------------------------------------------------------------- */

/* Puts `what` before the library's sentence. */
static ndr_status blame(const char *what, ndr_status status) {
  char reason[512];
  if (status == NDR_OK) return status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "%s: %s", what, reason);
}

/* Adds the array's steps, with their groups by number. A coordinate that is missing or huge is of no group. */
static ndr_status take_numbers(const ndr_beside *array, int i, numbered *all, int64_t *count) {
  const int64_t size = array->shape[i];
  double *values = malloc((size_t)size * sizeof *values + 1);
  if (!values) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the groups of %lld steps", (long long)size);
  ndr_status status = ndr_h5_coordinate(array->dataset, i, values);
  for (int64_t k = 0; k < size && status == NDR_OK; k++) {
    const char *name = array->dataset->info.dim_names[i];
    if (!(fabs(values[k]) < 1e9)) continue;
    all[(*count)++] = (numbered){(int64_t)values[k], k};
    if (floor(values[k]) != values[k])
      status = ndr_fail(NDR_ERR_DIMS, "its %s[%lld] is %.9g, which is no %s", name, (long long)k, values[k], name);
  }
  free(values);
  return status;
}

/* Days have other numbers in another calendar. */
static ndr_status check_calendars(const ndr_h5_groups *own, const ndr_h5_groups *groups) {
  ndr_calendar a = own->units.calendar, b = groups->units.calendar;
  bool counts = groups->key == NDR_GROUP_DAY || groups->key == NDR_GROUP_DAYOFYEAR;
  if (!counts || a == b || (ndr_calendar_is_gregorian(a) && ndr_calendar_is_gregorian(b))) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS, "its calendar is %s, the dataset's %s: their days have other numbers",
                  ndr_calendar_name(a), ndr_calendar_name(b));
}

/* The times of a climatology lie within the years that it is made of. CDO 2.1.1's yseasmean now and then gives two of
 * its seasons times of random years, 100,000 years away and more, which may lie in any season. */
static ndr_status check_span(const ndr_h5_groups *own) {
  const double year = 365.2425 * 86400e6 / (double)own->units.unit, most_years = 10000;
  double first = INFINITY, last = -INFINITY;
  for (int64_t i = 0; i < 2 * own->count; i++) {
    first = fmin(first, own->bounds[i]);
    last = fmax(last, own->bounds[i]);
  }
  if (!ndr_group_key_is_climatology(own->key) || !(last - first > most_years * year)) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS,
                  "its times span %.0f years, as no climatology does: yseasmean of CDO 2.1 now and then writes random "
                  "times",
                  (last - first) / year);
}

/* Adds the array's steps, with their groups by time. */
static ndr_status take_times(const ndr_beside *array, int i, const ndr_h5_groups *groups, numbered *all,
                             int64_t *count) {
  ndr_h5_groups *own;
  NDR_TRY(ndr_h5_groups_by_time(&own, array->dataset, i, ndr_group_key_name(groups->key)));
  ndr_status status = check_calendars(own, groups);
  if (status == NDR_OK) status = check_span(own);
  for (int64_t k = 0; k < array->shape[i]; k++)
    if (own->group_of[k] >= 0) all[(*count)++] = (numbered){own->numbers[own->group_of[k]], k};
  ndr_h5_groups_destroy(own);
  return status;
}

static int compare(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->step > y->step) - (x->step < y->step);
}

/* ---- Pairing ----------------------------------------------------------------------------------------------------- */

/* `two` are neighbours of the same group. */
static ndr_status fail_several(const numbered *two, const ndr_h5_groups *groups) {
  char name[NDR_GROUP_CHARS];
  ndr_time_group_name(&groups->units, groups->key, two->number, name);
  return ndr_fail(NDR_ERR_DIMS,
                  "its steps are not the dataset's, and not one for each group by %s: steps %lld and %lld are both "
                  "of %s; ndr_h5_operand.groups names others",
                  groups->by, (long long)two[0].step, (long long)two[1].step, name);
}

static ndr_status fail_lacking(int64_t group, const ndr_h5_groups *groups) {
  char name[NDR_H5_GROUP_CHARS];
  ndr_h5_groups_name(groups, group, name);
  return ndr_fail(NDR_ERR_DIMS, "its steps are not the dataset's, and none is of %s, a group of the dataset by %s",
                  name, groups->by);
}

/* Sets of[group] to the array's step of each group of the dataset. `all` are sorted by group. */
static ndr_status find_steps(const numbered *all, int64_t count, const ndr_h5_groups *groups, int64_t *of) {
  for (int64_t k = 1; k < count; k++)
    if (all[k].number == all[k - 1].number) return fail_several(&all[k - 1], groups);
  for (int64_t group = 0, k = 0; group < groups->count; group++) {
    while (k < count && all[k].number < groups->numbers[group]) k++;
    if (k == count || all[k].number != groups->numbers[group]) return fail_lacking(group, groups);
    of[group] = all[k].step;
  }
  return NDR_OK;
}

/* Sets array->steps of each step of the dataset. */
static ndr_status set_steps(ndr_beside *array, const int64_t *of, const ndr_h5_groups *groups, bool left_out) {
  for (int64_t k = 0; k < groups->length; k++) {
    const int64_t group = groups->group_of[k];
    if (group < 0 && !left_out)
      return ndr_fail(NDR_ERR_DIMS, "step %lld of the dataset has no time, and so no group by %s", (long long)k,
                      groups->by);
    array->steps[k] = group < 0 ? 0 : of[group];
  }
  return NDR_OK;
}

ndr_status ndr_pair_groups(ndr_beside *array, int i, const ndr_h5_groups *groups, bool left_out, const char *what) {
  int64_t count = 0;
  numbered *all = malloc((size_t)array->shape[i] * sizeof *all + 1);
  int64_t *of = malloc((size_t)groups->count * sizeof *of + 1);
  array->steps = malloc((size_t)groups->length * sizeof *array->steps + 1);
  array->step_dim = i;
  array->grouped_by = groups->by;
  ndr_status status =
      all && of && array->steps ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for the groups by %s", groups->by);
  if (status == NDR_OK)
    status =
        is_numbered(array, i, groups) ? take_numbers(array, i, all, &count) : take_times(array, i, groups, all, &count);
  if (status == NDR_OK && count > 0) qsort(all, (size_t)count, sizeof *all, compare);
  if (status == NDR_OK) status = find_steps(all, count, groups, of);
  if (status == NDR_OK) status = set_steps(array, of, groups, left_out);
  free(all);
  free(of);
  return blame(what, status);
}
