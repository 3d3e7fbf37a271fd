/* Groups by the labels of a dataset: the public ndr_h5_groups_by_labels. */
#include <stdlib.h>
#include <string.h>

#include "h5/cf/scale_units.h"
#include "h5/file/seam.h"
#include "h5/group/group_make.h"
#include "h5/run/job/cut.h"
#include "h5/run/job/job.h"
#include "h5/run/job/pair_coordinates.h"

static ndr_status check_labels(const ndr_h5_dataset *labels) {
  const ndr_h5_info *info = &labels->info;
  bool integers = info->stored_dtype <= NDR_U64 && !info->scaled;
  if (!integers)
    return ndr_fail(NDR_ERR_DTYPE, "%s: labels are %s%s, must be integers", labels->where,
                    info->scaled ? "packed " : "", ndr_dtype_name(info->stored_dtype));
  return info->ndim ? NDR_OK : ndr_fail(NDR_ERR_DIMS, "%s: labels have no dim", labels->where);
}

/* ---- Their elements ---------------------------------------------------------------------------------------------- */

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

/* A label as a number; -1 of a missing and of a negative one. False of one that is not told apart from its neighbours:
 * f64 rounds from 2^53 on, and i64 ends at 2^63. */
static bool label_of(const void *elements, ndr_dtype dtype, int64_t i, int64_t *label) {
  *label = -1;
  if (dtype == NDR_F64) {
    double value = ((const double *)elements)[i];
    if (value >= 0x1p53) return false;
    if (value >= 0) *label = (int64_t)value;
    return true;
  }
  int64_t value = ((const int64_t *)elements)[i];
  if (value >= 0) *label = value;
  return value >= 0 || dtype != NDR_U64;
}

/* ---- Where the label of a step is -------------------------------------------------------------------------------- */

/* Which dims of the labels lie along which of the groups' dims: those of the same names if all have them, else in
 * order. */
static void pair_dims(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_h5_dataset *labels,
                      int own[NDR_MAX_DIMS]) {
  bool taken[NDR_MAX_DIMS] = {false}, named = true;
  for (int i = 0; i < groups->ndim && named; i++) {
    const char *name = dataset->names[groups->dim + i];
    own[i] = 0;
    while (own[i] < groups->ndim && !(name && labels->names[own[i]] && strcmp(name, labels->names[own[i]]) == 0))
      own[i]++;
    named = own[i] < groups->ndim && !taken[own[i]];
    if (named) taken[own[i]] = true;
  }
  for (int i = 0; i < groups->ndim && !named; i++) own[i] = i;
}

static ndr_status fail_size(const ndr_h5_groups *groups, const ndr_h5_dataset *part, int d,
                            const ndr_h5_dataset *labels, int64_t given) {
  char called[NDR_SCALE_DIM_TEXT], along[NDR_SCALE_DIM_TEXT + 16] = "";
  ndr_scale_name_dim(part, d, called);
  if (groups->ndim > 1) snprintf(along, sizeof along, " along %s", called);
  return ndr_fail(NDR_ERR_DIMS, "%s: has %lld labels%s, %s has %lld steps", labels->where, (long long)given, along,
                  part->where, (long long)part->info.shape[d]);
}

/* Sets index[step] to the index of the step's label, for the steps of one file, whose labels begin at begin_at. There
 * is a label for each step, or one for each element of the whole dim; of the latter those of the steps are taken. Of a
 * part that goes all around both are as many: then coordinates tell which they are. */
static ndr_status place_part(const ndr_h5_groups *groups, const ndr_h5_dataset *part, int d,
                             const ndr_h5_dataset *labels, int own, int64_t begin_at, int64_t *index) {
  int64_t size = part->info.shape[d], given = labels->info.shape[own];
  bool done = given == size;
  if (!done && given != part->extent[d]) return fail_size(groups, part, d, labels, given);
  if (done && ndr_has_seam(part, d) && given == part->extent[d]) NDR_TRY(ndr_cut_is_done(labels, own, part, d, &done));
  for (int64_t i = 0; i < size; i++) index[i] = begin_at + (done ? i : ndr_seam_index(part, d, i));
  return NDR_OK;
}

/* The indices along dim `own` of the labels of all steps of dim d. Of a series along d, each file has its own labels,
 * or there is a label for each step. */
static ndr_status place(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset, int d, const ndr_h5_dataset *labels,
                        int own, int64_t *index) {
  int64_t given = labels->info.shape[own], from = 0;
  bool series = dataset->part_count && dataset->series_dim == d;
  bool each = series && labels->part_count == dataset->part_count && labels->series_dim == own;
  if (series && !each && given != dataset->info.shape[d]) return fail_size(groups, dataset, d, labels, given);
  if (!each) return place_part(groups, dataset, d, labels, own, 0, index);
  for (int p = 0; p < dataset->part_count; p++) {
    NDR_TRY(place_part(groups, dataset->parts[p], d, labels->parts[p], own, from, index));
    index += dataset->parts[p]->info.shape[d];
    from += labels->parts[p]->info.shape[own];
  }
  return NDR_OK;
}

/* Finds the labels of longitudes by their coordinates, eastwards or westwards: the labels are of all longitudes, but
 * their file may begin elsewhere than the dataset's. *placed: they are found, and index[] is set. */
static ndr_status place_by_longitude(const ndr_h5_dataset *dataset, int d, const ndr_h5_dataset *labels, int own,
                                     int64_t *index, bool *placed) {
  const int64_t count = labels->info.shape[own];
  int64_t start = -1, by = dataset->step[d];
  *placed = false;
  if (count != dataset->extent[d] || labels->by_number) return NDR_OK;
  const ndr_paired_dims dims = {dataset, d, labels, own, NULL};
  NDR_TRY(ndr_coordinates_find_start(&dims, dataset->from[d], by, &start));
  if (start < 0) {
    by = -by;
    NDR_TRY(ndr_coordinates_find_start(&dims, dataset->from[d], by, &start));
  }
  *placed = start >= 0;
  for (int64_t k = 0; *placed && k < dataset->info.shape[d]; k++) index[k] = ndr_step_around(start + k * by, count);
  return NDR_OK;
}

/* Fails where the labels have other coordinates than the steps that they are for. If their file has the same ones in
 * reverse, turns the indices. A single label that the caller has chosen of many may be of any place. */
static ndr_status check_places(const ndr_h5_dataset *dataset, int d, const ndr_h5_dataset *labels, int own,
                               int64_t *index) {
  const ndr_paired_dims dims = {dataset, d, labels, own, index};
  bool agree, placed, reverse = false, chosen = labels->info.shape[own] == 1 && labels->extent[own] > 1;
  if (chosen) return NDR_OK;
  NDR_TRY(ndr_coordinates_agree(&dims, false, &agree));
  if (agree) return NDR_OK;
  if (!(labels->part_count && labels->series_dim == own)) NDR_TRY(ndr_coordinates_agree(&dims, true, &reverse));
  if (!reverse) {
    NDR_TRY(place_by_longitude(dataset, d, labels, own, index, &placed));
    return placed || labels->by_number ? NDR_OK : ndr_coordinates_fail(&dims, labels->where);
  }
  for (int64_t k = 0; k < dataset->info.shape[d]; k++) index[k] = labels->info.shape[own] - 1 - index[k];
  return NDR_OK;
}

/* Where the steps of each dim find their labels: places[i][step] is a sum over the groups' dims away from the first. */
static ndr_status place_all(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_h5_dataset *labels,
                            int64_t *places[NDR_MAX_DIMS]) {
  int own[NDR_MAX_DIMS];
  pair_dims(groups, dataset, labels, own);
  for (int i = 0; i < groups->ndim; i++) {
    int64_t stride = 1;
    places[i] = calloc((size_t)groups->shape[i] + 1, sizeof *places[i]);
    if (!places[i]) return ndr_group_fail_memory(dataset);
    NDR_TRY(place(groups, dataset, groups->dim + i, labels, own[i], places[i]));
    NDR_TRY(check_places(dataset, groups->dim + i, labels, own[i], places[i]));
    for (int j = own[i] + 1; j < groups->ndim; j++) stride *= labels->info.shape[j];
    for (int64_t step = 0; step < groups->shape[i]; step++) places[i][step] *= stride;
  }
  return NDR_OK;
}

static ndr_status take_labels(ndr_h5_groups *groups, const ndr_h5_dataset *labels, int64_t *const places[NDR_MAX_DIMS],
                              const void *elements, ndr_dtype dtype) {
  int64_t index[NDR_MAX_DIMS] = {0};
  for (int64_t at = 0; at < groups->length; at++) {
    int64_t element = 0;
    for (int i = 0; i < groups->ndim; i++) element += places[i][index[i]];
    if (!label_of(elements, dtype, element, &groups->group_of[at]))
      return ndr_fail(NDR_ERR_ARGUMENT, "%s: label number %lld is too large: labels %s", labels->where,
                      (long long)element,
                      dtype == NDR_F64 ? "that may be missing go up to 2^53 - 1" : "go up to 2^63 - 1");
    for (int i = groups->ndim - 1; i >= 0 && ++index[i] == groups->shape[i]; i--) index[i] = 0;
  }
  return NDR_OK;
}

/* ---- Their groups ------------------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Groups are the labels that occur, in ascending order. */
static ndr_status number_labels(ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  int64_t *sorted = groups->numbers = malloc((size_t)groups->length * sizeof *sorted + 1), known = 0;
  if (!sorted) return ndr_group_fail_memory(dataset);
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
  return ndr_group_settle(groups, dataset);
}

/* Reads the labels of all steps into group_of. */
static ndr_status read_labels(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_h5_dataset *labels,
                              int64_t *const places[NDR_MAX_DIMS]) {
  ndr_dtype dtype = NDR_I64;
  int64_t count = 1;
  for (int d = 0; d < groups->ndim; d++)
    if (__builtin_mul_overflow(count, labels->info.shape[d], &count) || count > NDR_MOST_LABELS)
      return ndr_fail(NDR_ERR_DIMS, "%s: has more than %lld labels", labels->where, (long long)NDR_MOST_LABELS);
  void *elements = calloc((size_t)count + 1, 8);
  if (!elements) return ndr_group_fail_memory(dataset);
  ndr_status status = read_elements(labels, elements, &dtype);
  if (status == NDR_OK) status = take_labels(groups, labels, places, elements, dtype);
  free(elements);
  return status;
}

static ndr_status group_labels(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_h5_dataset *labels) {
  int64_t *places[NDR_MAX_DIMS] = {NULL};
  groups->label_source = labels;
  free(groups->name);
  groups->name = strdup(ndr_hdf_leaf(labels->path));
  if (!groups->name) return ndr_group_fail_memory(dataset);
  ndr_status status = place_all(groups, dataset, labels, places);
  if (status == NDR_OK) status = read_labels(groups, dataset, labels, places);
  for (int i = 0; i < groups->ndim; i++) free(places[i]);
  return status == NDR_OK ? number_labels(groups, dataset) : status;
}

ndr_status ndr_h5_groups_by_labels(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim,
                                   const ndr_h5_dataset *labels) {
  ndr_h5_groups *made;
  if (!groups || !dataset || !labels) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_by_labels: null pointer");
  *groups = NULL;
  NDR_TRY(check_labels(labels));
  ndr_status status = ndr_group_begin(&made, dataset, dim, labels->info.ndim, NDR_GROUPING_LABELS, labels->path);
  if (status == NDR_OK) status = group_labels(made, dataset, labels);
  return ndr_group_finish(groups, made, status);
}
