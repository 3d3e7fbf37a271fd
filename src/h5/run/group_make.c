/* The public functions that make groups. Times are put into groups in cf/group_by.c; what stands for windows is found
 * in group_windows.c. */
#include <stdlib.h>
#include <string.h>

#include "h5/cf/scale_units.h"
#include "h5/cf/time_axis.h"
#include "h5/run/group_windows.h"
#include "h5/run/job.h"

static ndr_status fail_memory(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for its groups", dataset->where);
}

static ndr_status fail_empty(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: by %s no step is in any group", dataset->where, groups->by);
}

/* "time:month", to be freed. */
static char *join(const char *dim, const char *what) {
  size_t capacity = strlen(dim) + strlen(what) + 2;
  char *text = malloc(capacity);
  if (text) snprintf(text, capacity, "%s:%s", dim, what);
  return text;
}

/* Starts groups along a dim; `what` is what they are made by. */
static ndr_status begin(ndr_h5_groups **made, const ndr_h5_dataset *dataset, int dim, ndr_grouping how,
                        const char *what) {
  char called[NDR_SCALE_DIM_TEXT];
  int d;
  *made = NULL;
  NDR_TRY(ndr_scale_check_dim(dataset, dim, &d));
  ndr_h5_groups *groups = *made = calloc(1, sizeof *groups);
  if (!groups) return fail_memory(dataset);
  groups->how = how;
  groups->dim = d;
  groups->length = dataset->info.shape[d];
  ndr_scale_name_dim(dataset, d, called);
  groups->by = join(called, what);
  groups->name = dataset->names[d] ? strdup(dataset->names[d]) : NULL;
  groups->group_of = calloc((size_t)groups->length + 1, sizeof *groups->group_of);
  return groups->by && groups->group_of && (groups->name || !dataset->names[d]) ? NDR_OK : fail_memory(dataset);
}

/* The core's groups of the same labels. */
static ndr_status settle(ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  if (groups->count == 0) return fail_empty(groups, dataset);
  const DLTensor labels = ndr_tensor(groups->group_of, NDR_I64, 1, &groups->length);
  return ndr_job_blame(dataset, ndr_groups_create(&groups->labels, &labels, groups->count));
}

/* Hands the groups over, or frees them. */
static ndr_status finish(ndr_h5_groups **given, ndr_h5_groups *groups, ndr_status status) {
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
  if (!groups->numbers || !groups->coordinates || !groups->bounds) return fail_memory(dataset);
  memcpy(groups->group_of, found->labels, (size_t)groups->length * sizeof *groups->group_of);
  for (size_t i = 0; i < count; i++) {
    groups->numbers[i] = found->groups[i].number;
    groups->coordinates[i] = found->groups[i].time;
    memcpy(&groups->bounds[2 * i], found->groups[i].bounds, sizeof found->groups[i].bounds);
  }
  return settle(groups, dataset);
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
  ndr_status status = begin(&made, dataset, dim, NDR_GROUPING_TIME, key);
  if (status == NDR_OK) status = group_times(made, dataset, key);
  return finish(groups, made, status);
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
  for (int64_t i = 0; i < groups->length; i++) {
    int64_t at = i / groups->window;
    groups->group_of[i] = at < groups->count ? at : -1;
  }
  return ndr_group_windows_describe(groups, dataset);
}

ndr_status ndr_h5_groups_windows(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, int64_t window,
                                 ndr_rest rest) {
  ndr_h5_groups *made;
  char text[32];
  if (!groups || !dataset) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_windows: null pointer");
  snprintf(text, sizeof text, "%lld", (long long)window);
  ndr_status status = begin(&made, dataset, dim, NDR_GROUPING_WINDOWS, text);
  if (status == NDR_OK) {
    made->window = window;
    status = group_windows(made, dataset, rest);
  }
  return finish(groups, made, status);
}

/* ---- Labels ----------------------------------------------------------------------------------------------------- */

static ndr_status check_labels(const ndr_h5_dataset *labels) {
  const ndr_h5_info *info = &labels->info;
  bool integers = info->stored_dtype <= NDR_U64 && !info->scaled;
  if (!integers)
    return ndr_fail(NDR_ERR_DTYPE, "%s: labels are %s%s, must be integers", labels->where,
                    info->scaled ? "packed " : "", ndr_dtype_name(info->stored_dtype));
  if (info->ndim != 1)
    return ndr_fail(NDR_ERR_DIMS, "%s: labels have %d dims, must have the one that they lie along", labels->where,
                    info->ndim);
  return NDR_OK;
}

/* Reads elements: their sums over no dims are themselves, as i64, u64, or where some are missing f64. */
static ndr_status read_elements(const ndr_h5_dataset *labels, void *elements, ndr_dtype *dtype) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  const ndr_op op = NDR_SUM;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor result = {.shape = shape}, *results[] = {&result};
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  options.device = NDR_H5_CPU;
  NDR_TRY(ndr_h5_problem(&problem, labels, 0, NULL, 1, &op));
  NDR_TRY(ndr_problem_result(&problem, 0, &result));
  NDR_TRY(ndr_dtype_from_dlpack(result.dtype, dtype));
  result.data = elements;
  return ndr_h5_reduce((ndr_h5_dataset *)(uintptr_t)labels, &problem, results, &options);
}

/* A label as a number; -1 of a missing and of a negative one. */
static int64_t label_of(const void *elements, ndr_dtype dtype, int64_t i) {
  int64_t label = -1;
  if (dtype == NDR_F64) {
    double value = ((const double *)elements)[i];
    if (value >= 0 && value < 0x1p63) label = (int64_t)value;
  } else {
    label = ((const int64_t *)elements)[i]; /* a u64 that no i64 holds comes out negative */
  }
  return label < 0 ? -1 : label;
}

/* Puts the labels of one file's steps into group_of. Labels of a whole dim are cut as the dataset is. */
static ndr_status take_labels(int64_t *group_of, const ndr_h5_dataset *part, int d, const ndr_h5_dataset *labels,
                              const void *elements, ndr_dtype dtype, int64_t begin_at) {
  int64_t size = part->info.shape[d], given = labels->info.shape[0];
  bool cut = given != size;
  if (cut && given != part->extent[d])
    return ndr_fail(NDR_ERR_DIMS, "%s: has %lld labels, %s has %lld steps", labels->where, (long long)given,
                    part->where, (long long)size);
  for (int64_t i = 0; i < size; i++)
    group_of[i] = label_of(elements, dtype, begin_at + (cut ? part->from[d] + i * part->step[d] : i));
  return NDR_OK;
}

static ndr_status take_all(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_h5_dataset *labels,
                           const void *elements, ndr_dtype dtype) {
  int d = groups->dim;
  bool series = dataset->part_count && dataset->series_dim == d;
  if (!series || labels->part_count != dataset->part_count)
    return take_labels(groups->group_of, dataset, d, labels, elements, dtype, 0);
  int64_t at = 0, from = 0;
  for (int p = 0; p < dataset->part_count; p++) {
    NDR_TRY(take_labels(groups->group_of + at, dataset->parts[p], d, labels->parts[p], elements, dtype, from));
    at += dataset->parts[p]->info.shape[d];
    from += labels->parts[p]->info.shape[0];
  }
  return NDR_OK;
}

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Groups are the labels that occur, in ascending order. */
static ndr_status number_labels(ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  int64_t *sorted = groups->numbers = malloc((size_t)groups->length * sizeof *sorted + 1), known = 0;
  if (!sorted) return fail_memory(dataset);
  for (int64_t i = 0; i < groups->length; i++)
    if (groups->group_of[i] >= 0) sorted[known++] = groups->group_of[i];
  qsort(sorted, (size_t)known, sizeof *sorted, compare);
  for (int64_t i = 0; i < known; i++)
    if (groups->count == 0 || sorted[i] != sorted[groups->count - 1]) sorted[groups->count++] = sorted[i];
  for (int64_t i = 0; i < groups->length; i++) {
    if (groups->group_of[i] < 0) continue;
    const int64_t *found = bsearch(&groups->group_of[i], sorted, (size_t)groups->count, sizeof *sorted, compare);
    groups->group_of[i] = found ? found - sorted : -1;
  }
  return settle(groups, dataset);
}

static ndr_status group_labels(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_h5_dataset *labels) {
  ndr_dtype dtype;
  int64_t count = labels->info.shape[0];
  groups->label_source = labels;
  free(groups->name);
  groups->name = strdup(ndr_hdf_leaf(labels->path));
  void *elements = (uint64_t)count < SIZE_MAX / 8 ? malloc((size_t)count * 8 + 1) : NULL;
  if (!elements || !groups->name) {
    free(elements);
    return fail_memory(dataset);
  }
  ndr_status status = read_elements(labels, elements, &dtype);
  if (status == NDR_OK) status = take_all(groups, dataset, labels, elements, dtype);
  free(elements);
  return status == NDR_OK ? number_labels(groups, dataset) : status;
}

ndr_status ndr_h5_groups_by_labels(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim,
                                   const ndr_h5_dataset *labels) {
  ndr_h5_groups *made;
  if (!groups || !dataset || !labels) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_by_labels: null pointer");
  *groups = NULL;
  NDR_TRY(check_labels(labels));
  ndr_status status = begin(&made, dataset, dim, NDR_GROUPING_LABELS, labels->path);
  if (status == NDR_OK) status = group_labels(made, dataset, labels);
  return finish(groups, made, status);
}
