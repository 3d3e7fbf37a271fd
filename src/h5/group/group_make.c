/* The public functions that make groups of times and windows, and what all groups begin and end with: see group_make.h.
 * Times are put into groups in time/group_by.c; what stands for windows is found in group_windows.c. */
#include "h5/group/group_make.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/scale_units.h"
#include "h5/group/group_axes.h"
#include "h5/group/group_windows.h"
#include "h5/run/job.h"
#include "h5/time/time_axis.h"

ndr_status ndr_group_fail_memory(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for its groups", dataset->where);
}

/* "lat,lon:/zones", to be freed. */
static char *describe(const ndr_h5_dataset *dataset, const ndr_h5_groups *groups, const char *what) {
  size_t capacity = (size_t)groups->ndim * NDR_SCALE_DIM_TEXT + strlen(what) + 2, length = 0;
  char *text = malloc(capacity), called[NDR_SCALE_DIM_TEXT];
  for (int i = 0; text && i < groups->ndim; i++) {
    ndr_scale_name_dim(dataset, groups->dim + i, called);
    length += (size_t)snprintf(text + length, capacity - length, "%s%s", i ? "," : "", called);
  }
  if (text) snprintf(text + length, capacity - length, ":%s", what);
  return text;
}

ndr_status ndr_group_begin(ndr_h5_groups **made, const ndr_h5_dataset *dataset, int dim, int ndim, ndr_grouping how,
                           const char *what) {
  int d;
  bool labelled = how != NDR_GROUPING_WINDOWS;
  *made = NULL;
  NDR_TRY(ndr_scale_check_dim(dataset, dim, &d));
  if (d + ndim > dataset->info.ndim)
    return ndr_fail(NDR_ERR_DIMS, "%s: groups along %d dims do not fit from dim %d on", dataset->where, ndim, d);
  ndr_h5_groups *groups = *made = calloc(1, sizeof *groups);
  if (!groups) return ndr_group_fail_memory(dataset);
  groups->how = how;
  groups->gap = -1;
  groups->dim = d;
  groups->ndim = ndim;
  groups->length = 1;
  for (int i = 0; i < ndim; i++) {
    groups->shape[i] = dataset->info.shape[d + i];
    bool fits = !__builtin_mul_overflow(groups->length, groups->shape[i], &groups->length);
    if (!fits || (labelled && groups->length > NDR_MOST_LABELS))
      return ndr_fail(NDR_ERR_DIMS, "%s: has more than %lld steps to put in groups", dataset->where,
                      (long long)NDR_MOST_LABELS);
  }
  groups->by = describe(dataset, groups, what);
  groups->axes = ndr_group_axes(dataset, d, ndim);
  groups->name = ndim == 1 && dataset->names[d] ? strdup(dataset->names[d]) : NULL;
  if (labelled) groups->group_of = calloc((size_t)groups->length + 1, sizeof *groups->group_of);
  bool named = groups->name || ndim > 1 || !dataset->names[d];
  return groups->by && groups->axes && (groups->group_of || !labelled) && named ? NDR_OK
                                                                                : ndr_group_fail_memory(dataset);
}

ndr_status ndr_group_settle(ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  if (groups->count == 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: by %s no step is in any group", dataset->where, groups->by);
  const DLTensor labels = ndr_tensor(groups->group_of, NDR_I64, groups->ndim, groups->shape);
  return ndr_job_blame(dataset, ndr_groups_create(&groups->labels, &labels, groups->count));
}

ndr_status ndr_group_finish(ndr_h5_groups **given, ndr_h5_groups *groups, ndr_status status) {
  *given = status == NDR_OK ? groups : NULL;
  if (status != NDR_OK) ndr_h5_groups_destroy(groups);
  return status;
}

/* ---- Times ------------------------------------------------------------------------------------------------------ */

static ndr_status parse_key(const ndr_h5_dataset *dataset, const char *text, ndr_group_key *key) {
  char names[128] = "";
  if (ndr_group_key_parse(text, key)) return NDR_OK;
  for (int k = 0, length = 0; k <= NDR_GROUP_HOUR; k++)
    length += snprintf(names + length, sizeof names - (size_t)length, "%s%s",
                       k == NDR_GROUP_HOUR ? " and "
                       : k                 ? ", "
                                           : "",
                       ndr_group_key_name((ndr_group_key)k));
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: times have no groups by '%.80s', only by %s", dataset->where, text, names);
}

static ndr_status take_times(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_time_groups *found) {
  size_t count = (size_t)found->count;
  groups->count = found->count;
  groups->numbers = malloc(count * sizeof *groups->numbers + 1);
  groups->coordinates = malloc(count * sizeof *groups->coordinates + 1);
  groups->bounds = malloc(2 * count * sizeof *groups->bounds + 1);
  if (!groups->numbers || !groups->coordinates || !groups->bounds) return ndr_group_fail_memory(dataset);
  memcpy(groups->group_of, found->labels, (size_t)groups->length * sizeof *groups->group_of);
  for (size_t i = 0; i < count; i++) {
    groups->numbers[i] = found->groups[i].number;
    groups->coordinates[i] = found->groups[i].time;
    memcpy(&groups->bounds[2 * i], found->groups[i].bounds, sizeof found->groups[i].bounds);
  }
  return ndr_group_settle(groups, dataset);
}

static ndr_status read_axis(const ndr_h5_dataset *dataset, int d, ndr_time_axis *axis) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = ndr_time_axis_read(dataset, d, axis);
  ndr_hdf_leave(&scope);
  return status;
}

static ndr_status group_times(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const char *key) {
  ndr_time_axis axis;
  ndr_time_groups found = {.count = 0};
  NDR_TRY(parse_key(dataset, key, &groups->key));
  ndr_status status = read_axis(dataset, groups->dim, &axis);
  if (status == NDR_OK) status = ndr_job_blame(dataset, ndr_time_groups_find(&axis.steps, groups->key, &found));
  if (status == NDR_OK) {
    groups->timed = true;
    groups->units = axis.units.time;
    status = take_times(groups, dataset, &found);
  }
  ndr_time_groups_free(&found);
  ndr_time_axis_free(&axis);
  return status;
}

ndr_status ndr_h5_groups_by_time(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, const char *key) {
  ndr_h5_groups *made;
  if (!groups || !dataset || !key) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_by_time: null pointer");
  ndr_status status = ndr_group_begin(&made, dataset, dim, 1, NDR_GROUPING_TIME, key);
  if (status == NDR_OK) status = group_times(made, dataset, key);
  return ndr_group_finish(groups, made, status);
}

/* ---- Windows ---------------------------------------------------------------------------------------------------- */

static ndr_status group_windows(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, ndr_rest rest) {
  char called[NDR_SCALE_DIM_TEXT], reason[256];
  ndr_status status = ndr_groups_windows(&groups->labels, groups->length, groups->window, rest);
  if (status != NDR_OK) {
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    ndr_scale_name_dim(dataset, groups->dim, called);
    return ndr_fail(status, "%s: its %s: %s", dataset->where, called, reason);
  }
  groups->count = ndr_groups_count(groups->labels);
  return ndr_group_windows_describe(groups, dataset);
}

ndr_status ndr_h5_groups_windows(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, int64_t window,
                                 ndr_rest rest) {
  ndr_h5_groups *made;
  char text[32];
  if (!groups || !dataset) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_windows: null pointer");
  snprintf(text, sizeof text, "%lld", (long long)window);
  ndr_status status = ndr_group_begin(&made, dataset, dim, 1, NDR_GROUPING_WINDOWS, text);
  if (status == NDR_OK) {
    made->window = window;
    status = group_windows(made, dataset, rest);
  }
  return ndr_group_finish(groups, made, status);
}
