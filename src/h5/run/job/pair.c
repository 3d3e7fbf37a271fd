/* See pair.h. */
#include "h5/run/job/pair.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/dims.h"
#include "h5/run/job/cut.h"
#include "h5/run/job/pair_coordinates.h"
#include "h5/run/job/pair_groups.h"

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

/* Whether the array has one step for each group along dim i. */
static bool is_grouped(const ndr_beside *array, int i) {
  return array->steps && i == array->step_dim;
}

/* By names, if each dim that is longer than 1 has one that tells it from all others on both sides. */
static bool pair_names(ndr_beside *array, const ndr_h5_info *info) {
  if (!array->dataset) return false;
  const char *const *names = array->dataset->info.dim_names;
  for (int i = 0; i < array->ndim; i++) {
    int d = find_name(info->ndim, info->dim_names, names[i]);
    if (d >= 0 && find_name(array->ndim, names, names[i]) != i) return false;
    if (is_grouped(array, i)) d = array->dims[i];
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

static bool has_dates(const ndr_h5_dataset *dataset, int d) {
  return ndr_h5_dates(dataset, d, 0, NULL, NULL) == NDR_OK;
}

/* Whether dim i of an array is called as groups of times, and none of the dataset's is, but one has dates. */
static bool is_named_by_groups(const ndr_h5_dataset *array, int i, const ndr_h5_dataset *dataset) {
  const ndr_h5_info *info = &dataset->info;
  bool dated = false;
  if (!ndr_pair_groups_named(array, i)) return false;
  for (int d = 0; d < info->ndim; d++) {
    if (info->dim_names[d] && strcmp(info->dim_names[d], array->info.dim_names[i]) == 0) return false;
    dated |= has_dates(dataset, d);
  }
  return dated;
}

/* What is said where groups would pair the array. */
static const char *tell_groups(const ndr_pairing *how) {
  if (!how->needs_groups) return "; ndr_h5_operand.groups pairs groups, such as months";
  *how->needs_groups = true;
  return "";
}

/* A dim of groups that has come to lie along another, since the dataset has none of its name. */
static ndr_status fail_groups(const ndr_h5_dataset *array, int i, const ndr_h5_dataset *dataset, int d,
                              const ndr_pairing *how) {
  char called[2][NDR_DIM_TEXT];
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s would lie along the dataset's %s%s", how->what,
                  ndr_dim_text(i, array->info.dim_names, called[0]),
                  ndr_dim_text(d, dataset->info.dim_names, called[1]), tell_groups(how));
}

static ndr_status fail_size(const ndr_beside *array, int i, const ndr_h5_dataset *dataset, const ndr_pairing *how) {
  char called[NDR_DIM_TEXT], hint[NDR_PART_HINT] = "";
  const int d = array->dims[i];
  const int64_t has = array->shape[i], wanted = dataset->info.shape[d];
  if (array->dataset && is_named_by_groups(array->dataset, i, dataset))
    return fail_groups(array->dataset, i, dataset, d, how);
  if (array->dataset) ndr_coordinates_hint_part(&(ndr_paired_dims){dataset, d, array->dataset, i, NULL}, hint);
  const char *part = *hint ? hint : array->dataset && has > wanted ? "; /PATH[START:STOP] is a part of it" : "";
  const bool grouped = array->dataset && has < wanted && has_dates(array->dataset, i) && has_dates(dataset, d);
  return ndr_fail(NDR_ERR_DIMS, "%s: has size %lld along %s of size %lld%s%s", how->what, (long long)has,
                  ndr_dim_text(d, dataset->info.dim_names, called), (long long)wanted, part,
                  grouped ? tell_groups(how) : "");
}

/* What has size 1 is repeated. */
static ndr_status check_sizes(ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_pairing *how) {
  for (int i = 0; i < array->ndim; i++) {
    int d = array->dims[i];
    if (d < 0 || array->shape[i] == dataset->info.shape[d] || is_grouped(array, i)) continue;
    if (array->shape[i] != 1) return fail_size(array, i, dataset, how);
    array->dims[i] = -1;
  }
  return NDR_OK;
}

/* ---- Coordinates ------------------------------------------------------------------------------------------------- */

/* Whether dim i has one step that may be of any place: the caller has chosen it of many, such as a level, or it is the
 * only one of its file, beside a file that has several, with each of which it is paired. */
static bool has_any_place(const ndr_beside *array, int i, const ndr_h5_dataset *dataset) {
  const bool several = array->dataset->extent[i] > 1 || dataset->extent[array->dims[i]] > 1;
  return array->shape[i] == 1 && several && !array->cut_along[i];
}

/* If the file has the dim in reverse, such as latitudes from north to south, turns the array. The dim along which files
 * follow each other cannot be turned: readers take the files in their order. */
static ndr_status check_or_turn(ndr_beside *array, int i, const ndr_paired_dims *dims, const ndr_pairing *how) {
  bool agree, reverse = false;
  NDR_TRY(ndr_coordinates_agree(dims, false, &agree));
  if (agree) return NDR_OK;
  if (!(array->dataset->part_count && array->dataset->series_dim == i)) {
    ndr_beside_mirror(array, i);
    NDR_TRY(ndr_coordinates_agree(dims, true, &reverse));
    if (!reverse) ndr_beside_mirror(array, i);
  }
  array->turned[i] = reverse;
  if (reverse || dims->array->by_number) return NDR_OK;
  return is_named_by_groups(dims->array, i, dims->dataset) ? fail_groups(dims->array, i, dims->dataset, dims->d, how)
                                                           : ndr_coordinates_fail(dims, how->what);
}

static ndr_status pair_steps(ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_pairing *how) {
  const ndr_h5_dataset *own = array->dataset;
  if (!own) return NDR_OK;
  for (int i = 0; i < array->ndim; i++) {
    const int d = array->dims[i];
    if (d < 0 || array->by_place[i] || is_grouped(array, i) || has_any_place(array, i, dataset)) continue;
    NDR_TRY(check_or_turn(array, i, &(ndr_paired_dims){dataset, d, own, i, NULL}, how));
  }
  return NDR_OK;
}

/* Step by step; where array->steps is set, these pair the dim of the groups. */
static ndr_status pair_dims(ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_pairing *how) {
  const ndr_h5_info *info = &dataset->info;
  if (how->dims) NDR_TRY(take_dims(array, info, how->dims, how->what));
  if (how->dims || pair_names(array, info))
    NDR_TRY(ndr_beside_cut(array, dataset, how->what));
  else
    NDR_TRY(align(array, info, how->what));
  NDR_TRY(check_sizes(array, dataset, how));
  return pair_steps(array, dataset, how);
}

/* If an array cannot be paired step by step, it is paired by groups, and what the first attempt found is dropped. */
ndr_status ndr_pair(ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_pairing *how) {
  const ndr_beside unpaired = *array;
  if (how->groups && how->groups->how != NDR_GROUPING_TIME)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: its groups by %s are not of times", how->what, how->groups->by);
  if (how->groups) NDR_TRY(ndr_h5_groups_check(how->groups, dataset));
  ndr_status status = pair_dims(array, dataset, how);
  int i = how->groups && array->dataset && !how->dims ? ndr_pair_groups_dim(&unpaired, dataset, how->groups) : -1;
  if (status != NDR_ERR_DIMS || i < 0) return status;
  if (how->needs_groups) *how->needs_groups = false;
  free(array->cut);
  *array = unpaired;
  array->dims[i] = how->groups->dim;
  NDR_TRY(ndr_pair_groups(array, i, how->groups, how->left_out, how->what));
  return pair_dims(array, dataset, how);
}
