/* See cut.h. Copies share the ids and texts of what they are copied from, which is the caller's. */
#include "h5/run/job/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/file/seam.h"
#include "h5/run/job/pair_coordinates.h"

/* A dataset, or a series of `count` parts. */
typedef struct {
  ndr_h5_dataset whole, **pointers;
  ndr_h5_dataset parts[];
} copies;

static bool is_joined(const ndr_h5_dataset *dataset, int d) {
  return dataset->part_count && dataset->series_dim == d;
}

static bool is_part(const ndr_h5_dataset *dataset, int d) {
  return ndr_has_seam(dataset, d) || dataset->from[d] != 0 || dataset->step[d] != 1 ||
         dataset->info.shape[d] != dataset->extent[d];
}

/* Whether an array is a part along its dim i already: of a series the first file may be whole, and others not, as
 * around a globe where these begin elsewhere. */
static bool has_part(const ndr_h5_dataset *array, int i) {
  bool has = is_part(array, i);
  for (int p = 0; p < array->part_count && !has; p++) has = is_part(array->parts[p], i);
  return has;
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

/* ---- Which part of a dim ---------------------------------------------------------------------------------------- */

/* The part that a dim of an array is cut to: by place, the steps with the dataset's coordinates, or else by index, the
 * steps that the dataset has of its file. */
typedef struct {
  bool cuts;             /* false: the dim stays as it is */
  bool by_place, turned; /* turned: the array's file has those steps in reverse */
  int64_t from, step, count;
  ndr_seam seam;
} cut;

/* The part by place that begins at `start` and may go on around the end of a dim of `extent` steps. */
static cut cut_around(int64_t start, int64_t step, int64_t count, int64_t extent) {
  const int64_t before = (extent - start + step - 1) / step;
  cut c = {.cuts = true, .by_place = true, .from = start, .step = step, .count = count};
  if (before < count) c.seam = (ndr_seam){.at = before, .from = start + before * step - extent};
  return c;
}

/* Without turns: coordinates stay as the array's file has them. */
static cut cut_by_index(const ndr_h5_dataset *dataset, int d) {
  cut c = {.cuts = true, .from = dataset->from[d], .step = dataset->step[d], .count = dataset->info.shape[d]};
  c.seam = dataset->seam[d];
  c.seam.turn = 0;
  return c;
}

/* Finds the steps of dim i with the dataset's longitudes, eastwards or westwards. Leaves *c alone if there are none. */
static ndr_status find_place(const ndr_beside *array, int i, const ndr_h5_dataset *dataset, cut *c) {
  const int d = array->dims[i];
  const ndr_paired_dims dims = {dataset, d, array->dataset, i, NULL};
  const int64_t step = dataset->step[d], count = dataset->info.shape[d];
  int64_t start;
  if (array->dataset->by_number) return NDR_OK;
  NDR_TRY(ndr_coordinates_find_start(&dims, dataset->from[d], step, &start));
  const bool forward = start >= 0;
  if (!forward) NDR_TRY(ndr_coordinates_find_start(&dims, dataset->from[d], -step, &start));
  if (start < 0) return NDR_OK;
  if (!forward) start = ndr_step_around(start - (count - 1) * step, array->shape[i]);
  *c = cut_around(start, step, count, array->shape[i]);
  c->turned = !forward;
  return NDR_OK;
}

/* Finds how dim i of an array is cut. It stays as it is unless it is as long as the dim of the dataset's file, and no
 * part itself. */
static ndr_status find_cut(const ndr_beside *array, int i, const ndr_h5_dataset *dataset, cut *c) {
  const ndr_h5_dataset *own = array->dataset;
  const int d = array->steps && i == array->step_dim ? -1 : array->dims[i];
  bool done = false;
  *c = (cut){.cuts = false};
  if (d < 0 || is_joined(dataset, d) || is_joined(own, i) || has_part(own, i)) return NDR_OK;
  if (array->shape[i] != dataset->extent[d]) return NDR_OK;
  if (ndr_has_seam(dataset, d)) NDR_TRY(ndr_cut_is_done(own, i, dataset, d, &done));
  if (done) return NDR_OK;
  NDR_TRY(find_place(array, i, dataset, c));
  if (!c->cuts && is_part(dataset, d)) *c = cut_by_index(dataset, d);
  return NDR_OK;
}

/* ---- The array that is cut -------------------------------------------------------------------------------------- */

/* A copy of the array's dataset, and of its parts. */
static copies *copy(ndr_beside *array) {
  const ndr_h5_dataset *own = array->dataset;
  const int count = own->part_count;
  copies *made = calloc(1, sizeof *made + (size_t)count * (sizeof *made->parts + sizeof *made->pointers));
  if (!made) return NULL;
  made->whole = *own;
  made->pointers = (ndr_h5_dataset **)(void *)(made->parts + count);
  for (int p = 0; p < count; p++) {
    made->parts[p] = *own->parts[p];
    made->pointers[p] = &made->parts[p];
  }
  if (count) made->whole.parts = made->pointers;
  array->cut = made;
  array->dataset = &made->whole;
  return made;
}

static void cut_dim(ndr_h5_dataset *own, int i, const cut *c) {
  own->from[i] = c->from;
  own->step[i] = c->step;
  own->seam[i] = c->seam;
  own->info.shape[i] = c->count;
}

ndr_status ndr_beside_cut(ndr_beside *array, const ndr_h5_dataset *dataset, const char *what) {
  cut cuts[NDR_MAX_DIMS];
  bool any = false;
  for (int i = 0; array->dataset && i < array->ndim; i++) {
    NDR_TRY(find_cut(array, i, dataset, &cuts[i]));
    any |= cuts[i].cuts;
  }
  if (!any) return NDR_OK;
  copies *made = copy(array);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", what);
  for (int i = 0; i < array->ndim; i++) {
    if (!cuts[i].cuts) continue;
    array->cut_along[i] = true;
    array->by_place[i] = cuts[i].by_place;
    array->turned[i] = cuts[i].turned;
    array->shape[i] = cuts[i].count;
    cut_dim(&made->whole, i, &cuts[i]);
    for (int p = 0; p < made->whole.part_count; p++) cut_dim(&made->parts[p], i, &cuts[i]);
  }
  return NDR_OK;
}

/* The steps as they lie from the other end of the file's dim. */
static void mirror(ndr_h5_dataset *own, int i) {
  const int64_t count = own->info.shape[i], end = own->extent[i] - 1;
  const ndr_seam seam = own->seam[i];
  const int64_t from = end - ndr_seam_index(own, i, count - 1);
  if (seam.at) own->seam[i] = (ndr_seam){count - seam.at, end - ndr_seam_index(own, i, seam.at - 1), seam.turn};
  own->from[i] = from;
}

void ndr_beside_mirror(ndr_beside *array, int i) {
  copies *made = array->cut;
  if (!array->cut_along[i]) return;
  mirror(&made->whole, i);
  for (int p = 0; p < made->whole.part_count; p++) mirror(made->whole.parts[p], i);
}
