/* See pair.h. */
#include "h5/run/job/pair.h"

#include <string.h>

#include "h5/file/dims.h"
#include "h5/run/job/cut.h"
#include "h5/series/agree.h"
#include "h5/structure/structure.h"

/* The only one of the names that is this one; -1 if there is none, or several are. */
static int find_name(int count, const char *const *names, const char *name) {
  int found = -1;
  for (int d = 0; name && d < count; d++) {
    if (!names[d] || strcmp(names[d], name) != 0) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

/* By names, if each dim that is longer than 1 has one that tells it from all others on both sides. */
static bool pair_names(ndr_beside *array, const ndr_h5_info *info) {
  if (!array->dataset) return false;
  const char *const *names = array->dataset->info.dim_names;
  for (int i = 0; i < array->ndim; i++) {
    int d = find_name(info->ndim, info->dim_names, names[i]);
    if (d >= 0 && find_name(array->ndim, names, names[i]) != i) return false;
    if (d < 0 && array->shape[i] != 1) return false;
    array->dims[i] = d;
  }
  return true;
}

/* By NumPy's rule. A dim must not come to lie along one of another name if the dataset has one of its own. */
static ndr_status align(ndr_beside *array, const ndr_h5_info *info, const char *what) {
  const char *const *names = array->dataset ? array->dataset->info.dim_names : NULL;
  char called[2][NDR_DIM_TEXT];
  for (int i = 0; i < array->ndim; i++) {
    int d = array->dims[i] = i + info->ndim - array->ndim;
    if (d < 0 && array->shape[i] != 1)
      return ndr_fail(NDR_ERR_DIMS, "%s: has %d dim%s where the dataset has %d", what, array->ndim,
                      NDR_PLURAL(array->ndim), info->ndim);
    if (d < 0) array->dims[i] = -1;
    int named = names ? find_name(info->ndim, info->dim_names, names[i]) : -1;
    if (named < 0 || named == d || array->shape[i] == 1) continue;
    return ndr_fail(NDR_ERR_DIMS,
                    "%s: %s would lie along another dim than the dataset's %s, as not all dims have names "
                    "in common",
                    what, ndr_dim_text(i, names, called[0]), ndr_dim_text(named, info->dim_names, called[1]));
  }
  return NDR_OK;
}

static ndr_status take_dims(ndr_beside *array, const ndr_h5_info *info, const int *given, const char *what) {
  for (int i = 0; i < array->ndim; i++) {
    array->dims[i] = given[i];
    bool twice = false;
    for (int k = 0; k < i; k++) twice |= given[k] == given[i];
    if (given[i] < 0 || given[i] >= info->ndim || twice)
      return ndr_fail(NDR_ERR_DIMS, "%s: its dims are not dims of the dataset, each once", what);
  }
  return NDR_OK;
}

/* What has size 1 is repeated. */
static ndr_status check_sizes(ndr_beside *array, const ndr_h5_info *info, const char *what) {
  char called[NDR_DIM_TEXT];
  for (int i = 0; i < array->ndim; i++) {
    int d = array->dims[i];
    if (d < 0 || array->shape[i] == info->shape[d]) continue;
    if (array->shape[i] != 1)
      return ndr_fail(NDR_ERR_DIMS, "%s: has size %lld along %s of size %lld%s", what, (long long)array->shape[i],
                      ndr_dim_text(d, info->dim_names, called), (long long)info->shape[d],
                      array->dataset && array->shape[i] > info->shape[d] ? "; /PATH[START:STOP] is a part of it" : "");
    array->dims[i] = -1;
  }
  return NDR_OK;
}

/* Elements are paired by their numbers, whatever the coordinates: a mask whose latitudes go the other way is most
 * likely not meant so. One rank says it. */
static void remark_coordinates(const ndr_beside *array, const ndr_h5_dataset *dataset) {
  const ndr_h5_dataset *own = array->dataset;
  ndr_remarks remarks;
  if (!own || !ndr_coordinates_begin(dataset, own, &remarks)) return;
  for (int i = 0; i < array->ndim; i++) {
    const int d = array->dims[i];
    const bool sides = d >= 0 && ndr_cut_is_sides(dataset, d) && ndr_cut_is_sides(own, i);
    for (int p = 0; sides && p < dataset->part_count; p++)
      ndr_coordinates_remark(dataset->parts[p], d, own->parts[p], i, &remarks);
    if (d >= 0 && !sides) ndr_coordinates_remark(dataset, d, own, i, &remarks);
  }
  ndr_remarks_free(&remarks);
}

ndr_status ndr_pair(ndr_beside *array, const ndr_h5_dataset *dataset, const int *given, const char *what) {
  const ndr_h5_info *info = &dataset->info;
  if (given) NDR_TRY(take_dims(array, info, given, what));
  if (given || pair_names(array, info))
    NDR_TRY(ndr_beside_cut(array, dataset, what));
  else
    NDR_TRY(align(array, info, what));
  NDR_TRY(check_sizes(array, info, what));
  remark_coordinates(array, dataset);
  return NDR_OK;
}
