/* See cut.h. Copies share the ids and texts of what they are copied from, which is the caller's. */
#include "h5/run/job/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/file/dims.h"
#include "h5/series/join.h"

/* A dataset, or a series of `count` parts. */
typedef struct {
  ndr_h5_dataset whole, **pointers;
  ndr_h5_dataset parts[];
} copies;

bool ndr_cut_is_sides(const ndr_h5_dataset *dataset, int d) {
  return dataset->part_count && dataset->series_dim == d && ndr_series_is_sides(dataset);
}

/* Whether the dataset has less of dim d than its file, or has it in another order. */
static bool is_part(const ndr_h5_dataset *dataset, int d) {
  if (ndr_cut_is_sides(dataset, d)) return true;
  if (dataset->part_count && dataset->series_dim == d) return false;
  return dataset->from[d] != 0 || dataset->step[d] != 1 || dataset->info.shape[d] != dataset->extent[d];
}

static bool is_whole(const ndr_beside *array, int i) {
  const ndr_h5_dataset *own = array->dataset;
  return !(own->part_count && own->series_dim == i) && !is_part(own, i);
}

static ndr_status compare(const ndr_h5_dataset *array, int i, const ndr_h5_dataset *dataset, int d, double *values,
                          bool *same) {
  int64_t count = dataset->info.shape[d];
  NDR_TRY(ndr_h5_coordinate(array, i, values));
  NDR_TRY(ndr_h5_coordinate(dataset, d, values + count));
  double step = count > 1 ? fabs(values[count + 1] - values[count]) : 0;
  *same = true;
  for (int64_t at = 0; at < count && *same; at++) *same = fabs(values[at] - values[count + at]) <= 1e-3 * step;
  return NDR_OK;
}

ndr_status ndr_cut_is_done(const ndr_h5_dataset *array, int i, const ndr_h5_dataset *dataset, int d, bool *done) {
  int64_t count = dataset->info.shape[d];
  *done = false;
  if (array->info.shape[i] != count) return NDR_OK;
  double *values = calloc((size_t)count + 1, 2 * sizeof *values);
  if (!values) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", array->where);
  ndr_status status = compare(array, i, dataset, d, values, done);
  free(values);
  return status == NDR_ERR_DIMS ? NDR_OK : status;
}

static void cut_dim(ndr_h5_dataset *own, int i, const ndr_h5_dataset *part, int d) {
  own->from[i] = part->from[d];
  own->step[i] = part->step[d];
  own->turn[i] = part->turn[d];
  own->info.shape[i] = part->info.shape[d];
}

/* Room for a copy of the array's dataset in `count` parts, or in none. */
static copies *copy(ndr_beside *array, int count) {
  copies *made = calloc(1, sizeof *made + (size_t)count * (sizeof *made->parts + sizeof *made->pointers));
  if (!made) return NULL;
  const ndr_h5_dataset *own = array->dataset;
  made->whole = *own;
  made->pointers = (ndr_h5_dataset **)(void *)(made->parts + count);
  for (int p = 0; p < count; p++) {
    made->parts[p] = own->part_count ? *own->parts[p] : *own;
    made->pointers[p] = &made->parts[p];
  }
  if (count) made->whole.parts = made->pointers;
  array->cut = made;
  array->dataset = &made->whole;
  return made;
}

/* Makes a series of the two sides of the seam along dim i, as the dataset is one along dim d. */
static void cut_sides(copies *made, int i, const ndr_h5_dataset *dataset, int d) {
  made->whole.part_count = 2;
  made->whole.series_dim = i;
  made->whole.info.shape[i] = dataset->info.shape[d];
  for (int p = 0; p < 2; p++) cut_dim(&made->parts[p], i, dataset->parts[p], d);
}

/* Which dims of the array are to be cut, and which of these on both sides of a seam; -1: none. */
static ndr_status find_cuts(const ndr_beside *array, const ndr_h5_dataset *dataset, bool *cuts, bool *any, int *seam) {
  *any = false;
  *seam = -1;
  for (int i = 0; array->dataset && i < array->ndim; i++) {
    int d = array->dims[i];
    bool done = false;
    const ndr_h5_dataset *file = d >= 0 && dataset->part_count ? dataset->parts[0] : dataset;
    cuts[i] = d >= 0 && is_part(dataset, d) && is_whole(array, i) && array->shape[i] == file->extent[d];
    if (cuts[i] && ndr_cut_is_sides(dataset, d)) NDR_TRY(ndr_cut_is_done(array->dataset, i, dataset, d, &done));
    cuts[i] = cuts[i] && !done;
    *any |= cuts[i];
    if (cuts[i] && ndr_cut_is_sides(dataset, d)) *seam = i;
  }
  return NDR_OK;
}

ndr_status ndr_beside_cut(ndr_beside *array, const ndr_h5_dataset *dataset, const char *what) {
  char called[NDR_DIM_TEXT];
  bool cuts[NDR_MAX_DIMS] = {false}, any;
  int seam;
  NDR_TRY(find_cuts(array, dataset, cuts, &any, &seam));
  if (!any) return NDR_OK;
  int count = array->dataset->part_count;
  if (seam >= 0 && count)
    return ndr_fail(NDR_ERR_DIMS, "%s: files that follow each other cannot be cut on both sides of the seam of %s",
                    what, ndr_dim_text(array->dims[seam], dataset->info.dim_names, called));
  if (seam >= 0) count = 2;
  copies *made = copy(array, count);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", what);
  if (seam >= 0) cut_sides(made, seam, dataset, array->dims[seam]);
  for (int i = 0; i < array->ndim; i++) {
    if (cuts[i] && i != seam) cut_dim(&made->whole, i, dataset, array->dims[i]);
    for (int p = 0; cuts[i] && i != seam && p < count; p++) cut_dim(&made->parts[p], i, dataset, array->dims[i]);
  }
  memcpy(array->shape, made->whole.info.shape, sizeof array->shape);
  memcpy(array->cut_along, cuts, sizeof cuts);
  return NDR_OK;
}

static void mirror(ndr_h5_dataset *own, int i) {
  own->from[i] = own->extent[i] - 1 - own->from[i] - (own->info.shape[i] - 1) * own->step[i];
}

void ndr_beside_mirror(ndr_beside *array, int i) {
  copies *made = array->cut;
  if (!array->cut_along[i]) return;
  mirror(&made->whole, i);
  for (int p = 0; p < made->whole.part_count; p++) mirror(made->whole.parts[p], i);
}
