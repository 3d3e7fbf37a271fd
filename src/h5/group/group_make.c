/* See group_make.h. */
#include "h5/group/group_make.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/scale_units.h"
#include "h5/group/group_axes.h"
#include "h5/run/job/job.h"

ndr_status ndr_group_fail_memory(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for its groups", dataset->where);
}

/* "lat,lon:/zones", to be freed. */
static char *write_by(const ndr_h5_dataset *dataset, const ndr_h5_groups *groups, const char *what) {
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
  groups->by = write_by(dataset, groups, what);
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
