/* Windows over several dims at once, counted row by row: the public ndr_h5_groups_boxes, ndr_h5_groups_along and
 * ndr_h5_groups_unfold. */
#include <stdlib.h>
#include <string.h>

#include "h5/group/group_make.h"
#include "h5/run/job/job.h"

/* "lat:2,lon:2", to be freed. */
static char *join_texts(const ndr_h5_groups *groups) {
  size_t capacity = 1, length = 0;
  for (int i = 0; i < groups->ndim; i++) capacity += strlen(groups->along[i]->by) + 1;
  char *text = malloc(capacity);
  for (int i = 0; text && i < groups->ndim; i++)
    length += (size_t)snprintf(text + length, capacity - length, "%s%s", i ? "," : "", groups->along[i]->by);
  return text;
}

static ndr_status make_boxes(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const int64_t *windows,
                             const ndr_rest *rests) {
  ndr_windows ranges[NDR_MAX_DIMS];
  for (int i = 0; i < groups->ndim; i++) {
    NDR_TRY(ndr_h5_groups_windows(&groups->along[i], dataset, groups->dim + i, windows[i], rests[i]));
    ranges[i] = ndr_h5_groups_range(groups->along[i]);
  }
  free(groups->by);
  groups->by = join_texts(groups);
  if (!groups->by) return ndr_group_fail_memory(dataset);
  NDR_TRY(ndr_job_blame(dataset, ndr_groups_boxes(&groups->labels, groups->ndim, ranges)));
  groups->count = ndr_groups_count(groups->labels);
  return NDR_OK;
}

ndr_status ndr_h5_groups_boxes(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, int dim_count,
                               const int64_t *windows, const ndr_rest *rests) {
  ndr_h5_groups *made;
  if (!groups || !dataset || !windows || !rests) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_boxes: null pointer");
  *groups = NULL;
  if (dim_count < 1 || dim_count > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: windows over %d dims", dataset->where, dim_count);
  if (dim_count == 1) return ndr_h5_groups_windows(groups, dataset, dim, windows[0], rests[0]);
  ndr_status status = ndr_group_begin(&made, dataset, dim, dim_count, NDR_GROUPING_WINDOWS, "");
  if (status == NDR_OK) status = make_boxes(made, dataset, windows, rests);
  return ndr_group_finish(groups, made, status);
}

const ndr_h5_groups *ndr_h5_groups_along(const ndr_h5_groups *groups, int dim) {
  return ndr_h5_groups_cover(groups, dim) ? ndr_h5_groups_axis(groups, dim) : NULL;
}

int ndr_h5_groups_unfold(const ndr_h5_groups *groups, const ndr_problem *problem, const DLTensor *result,
                         int64_t *shape) {
  int count = 0, groups_at = 0; /* the result's dim of groups */
  for (int d = 0; d < problem->group_dim; d++) {
    bool reduced = problem->dim_count == -1;
    for (int i = 0; i < problem->dim_count; i++) reduced |= problem->dims[i] == d;
    groups_at += !reduced || problem->keepdims;
  }
  for (int d = 0; d < result->ndim; d++) {
    if (!groups || !groups->along[0] || d != groups_at)
      shape[count++] = result->shape[d];
    else
      for (int i = 0; i < groups->ndim; i++) shape[count++] = groups->along[i]->count;
  }
  return count;
}
