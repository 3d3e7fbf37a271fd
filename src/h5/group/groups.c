/* See groups.h. Groups are made in group_times.c, group_labels.c, group_windows.c and group_boxes.c. */
#include "h5/group/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "h5/group/group_axes.h"

void ndr_h5_groups_destroy(ndr_h5_groups *groups) {
  if (!groups) return;
  ndr_groups_destroy(groups->labels);
  for (int i = 0; i < groups->ndim; i++) ndr_h5_groups_destroy(groups->along[i]);
  free(groups->group_of);
  free(groups->numbers);
  free(groups->coordinates);
  free(groups->bounds);
  free(groups->axes);
  free(groups->by);
  free(groups->name);
  free(groups);
}

int64_t ndr_h5_groups_count(const ndr_h5_groups *groups) {
  return groups ? groups->count : 0;
}

int ndr_h5_groups_dim(const ndr_h5_groups *groups) {
  return groups ? groups->dim : -1;
}

int ndr_h5_groups_dim_count(const ndr_h5_groups *groups) {
  return groups ? groups->ndim : 0;
}

const char *ndr_h5_groups_dim_name(const ndr_h5_groups *groups) {
  return groups ? groups->name : NULL;
}

const char *ndr_h5_groups_text(const ndr_h5_groups *groups) {
  return groups ? groups->by : NULL;
}

const ndr_h5_groups *ndr_h5_groups_axis(const ndr_h5_groups *groups, int d) {
  return groups->along[0] ? groups->along[d - groups->dim] : groups;
}

_Static_assert(NDR_H5_GROUP_CHARS >= NDR_GROUP_CHARS, "a name has room");

/* "LAT, LON" of a window over both. */
static void name_box(const ndr_h5_groups *groups, int64_t i, char text[NDR_H5_GROUP_CHARS]) {
  char names[NDR_MAX_DIMS][NDR_H5_GROUP_CHARS];
  int length = 0;
  for (int d = groups->ndim - 1; d >= 0; i /= groups->along[d--]->count)
    ndr_h5_groups_name(groups->along[d], i % groups->along[d]->count, names[d]);
  for (int d = 0; d < groups->ndim && length < NDR_H5_GROUP_CHARS; d++)
    length += snprintf(text + length, (size_t)(NDR_H5_GROUP_CHARS - length), "%s%s", d ? ", " : "", names[d]);
}

void ndr_h5_groups_name(const ndr_h5_groups *groups, int64_t i, char text[NDR_H5_GROUP_CHARS]) {
  ndr_instant instant;
  text[0] = 0;
  if (!groups || i < 0 || i >= groups->count) return;
  if (groups->along[0])
    name_box(groups, i, text);
  else if (groups->how == NDR_GROUPING_TIME)
    ndr_time_group_name(&groups->units, groups->key, groups->numbers[i], text);
  else if (groups->how == NDR_GROUPING_LABELS)
    snprintf(text, NDR_H5_GROUP_CHARS, "%lld", (long long)groups->numbers[i]);
  else if (groups->timed && ndr_time_decode(&groups->units, groups->coordinates[i], 1e-9, &instant))
    ndr_time_write(&groups->units, instant, ndr_time_precision_of(instant), text);
  else if (groups->coordinates)
    snprintf(text, NDR_H5_GROUP_CHARS, "%.10g", groups->coordinates[i]);
  else
    snprintf(text, NDR_H5_GROUP_CHARS, "%lld", (long long)i);
}

/* Longer periods are not looked for: that could take long. */
#define MOST_PERIOD 65536

/* The least number of steps after which all labels repeat. */
static int64_t find_period(const ndr_h5_groups *groups) {
  const int64_t *of = groups->group_of;
  for (int64_t period = 1; period <= groups->length / 2 && period <= MOST_PERIOD; period++) {
    int64_t i = period;
    while (i < groups->length && of[i] == of[i - period]) i++;
    if (i == groups->length) return period;
  }
  return 0;
}

ndr_windows ndr_h5_groups_range(const ndr_h5_groups *groups) {
  int64_t whole = groups->count * groups->window;
  return (ndr_windows){groups->length, 0, whole < groups->length ? whole : groups->length, groups->window};
}

static ndr_group_layout layout_of_windows(const ndr_h5_groups *groups) {
  ndr_group_layout layout = {.runs = groups->count, .least = 1, .most = 1, .sorted = true};
  for (int d = groups->dim; d < groups->dim + groups->ndim; d++) {
    const ndr_h5_groups *along = ndr_h5_groups_axis(groups, d);
    ndr_windows range = ndr_h5_groups_range(along);
    int64_t last = range.end - (along->count - 1) * range.window;
    layout.least *= last;
    layout.most *= along->count > 1 ? range.window : last;
  }
  return layout;
}

ndr_group_layout ndr_h5_groups_layout(const ndr_h5_groups *groups) {
  if (groups->how == NDR_GROUPING_WINDOWS) return layout_of_windows(groups);
  ndr_group_layout layout = {.sorted = true};
  int64_t *sizes = calloc((size_t)groups->count, sizeof *sizes), last = -1;
  for (int64_t i = 0; i < groups->length; i++) {
    int64_t group = groups->group_of[i];
    if (group < 0) continue;
    if (sizes) sizes[group]++;
    layout.runs += i == 0 || groups->group_of[i - 1] != group;
    layout.sorted &= group >= last;
    last = group;
  }
  for (int64_t i = 0; sizes && i < groups->count; i++) {
    if (i == 0 || sizes[i] < layout.least) layout.least = sizes[i];
    if (sizes[i] > layout.most) layout.most = sizes[i];
  }
  if (layout.runs > groups->count) layout.period = find_period(groups);
  free(sizes);
  return layout;
}

bool ndr_h5_groups_is_climatology(const ndr_h5_groups *groups) {
  return groups->how == NDR_GROUPING_TIME && ndr_group_key_is_climatology(groups->key);
}

ndr_status ndr_h5_groups_check(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  for (int i = 0; i < groups->ndim; i++) {
    int d = groups->dim + i;
    if (d < dataset->info.ndim && dataset->info.shape[d] == groups->shape[i]) continue;
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: the groups by %s are of another dataset, with %lld steps along dim %d",
                    dataset->where, groups->by, (long long)groups->shape[i], d);
  }
  return NDR_OK;
}

int ndr_h5_groups_fit(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  if (!groups || !dataset || groups->dim + groups->ndim > dataset->info.ndim) return 0;
  char *axes = ndr_group_axes(dataset, groups->dim, groups->ndim);
  bool same = axes && strcmp(axes, groups->axes) == 0;
  free(axes);
  return same;
}

bool ndr_h5_groups_cover(const ndr_h5_groups *groups, int d) {
  return groups && d >= groups->dim && d < groups->dim + groups->ndim;
}

static bool has_dim(const ndr_problem *problem, int d) {
  bool has = problem->dim_count == -1;
  for (int i = 0; i < problem->dim_count; i++)
    has |= (problem->dims[i] < 0 ? problem->dims[i] + problem->ndim : problem->dims[i]) == d;
  return has;
}

/* Among dims in ascending order, which stay so. */
static void add_dim(ndr_problem *problem, int d) {
  int at = problem->dim_count++;
  for (; at > 0 && problem->dims[at - 1] > d; at--) problem->dims[at] = problem->dims[at - 1];
  problem->dims[at] = d;
}

ndr_status ndr_h5_groups_lay(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset, ndr_problem *problem) {
  if (!groups && problem->groups)
    return ndr_fail(NDR_ERR_ARGUMENT, "the problem has groups, but ndr_h5_options.groups is NULL");
  if (!groups) return NDR_OK;
  NDR_TRY(ndr_h5_groups_check(groups, dataset));
  for (int d = groups->dim; d < groups->dim + groups->ndim; d++)
    if (!has_dim(problem, d)) add_dim(problem, d);
  problem->groups = groups->labels;
  problem->group_dim = groups->dim;
  return NDR_OK;
}
