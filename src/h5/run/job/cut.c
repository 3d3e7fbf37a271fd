/* See cut.h. Copies share the ids and texts of what they are copied from, which is the caller's. */
#include "h5/run/job/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/file/dims.h"
#include "h5/run/job/pair_coordinates.h"
#include "h5/series/join.h"

/* A dataset, or a series of `count` parts. */
typedef struct {
  ndr_h5_dataset whole, **pointers;
  ndr_h5_dataset parts[];
} copies;

bool ndr_cut_is_sides(const ndr_h5_dataset *dataset, int d) {
  return dataset->part_count && dataset->series_dim == d && ndr_series_is_sides(dataset);
}

bool ndr_cut_is_part(const ndr_h5_dataset *dataset, int d) {
  if (ndr_cut_is_sides(dataset, d)) return true;
  if (dataset->part_count && dataset->series_dim == d) return false;
  return dataset->from[d] != 0 || dataset->step[d] != 1 || dataset->info.shape[d] != dataset->extent[d];
}

static bool is_whole(const ndr_beside *array, int i) {
  const ndr_h5_dataset *own = array->dataset;
  return !(own->part_count && own->series_dim == i) && !ndr_cut_is_part(own, i);
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

/* Leaves `turn` alone: coordinates stay as the array's file has them. */
static void cut_run(ndr_h5_dataset *own, int i, int64_t from, int64_t step, int64_t count) {
  own->from[i] = from;
  own->step[i] = step;
  own->info.shape[i] = count;
}

static void cut_dim(ndr_h5_dataset *own, int i, const ndr_h5_dataset *part, int d) {
  cut_run(own, i, part->from[d], part->step[d], part->info.shape[d]);
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

/* How an array is cut. A dim is cut by place, to the steps with the dataset's coordinates, or else by index, to the
 * steps that the dataset has of its file. */
typedef struct {
  bool cuts[NDR_MAX_DIMS], any;
  int64_t start[NDR_MAX_DIMS]; /* where a part by place begins; -1: the dim is cut by index */
  int seam;                    /* the dim whose part has two sides, as it goes on around the end; -1: none */
} cut;

/* Makes a series of the two sides of the seam along dim i. By place the seam is where the array ends; by index it is
 * the dataset's along dim d. */
static void cut_sides(copies *made, int i, int64_t start, const ndr_h5_dataset *dataset, int d) {
  const int64_t count = dataset->info.shape[d], first = made->whole.extent[i] - start;
  made->whole.part_count = 2;
  made->whole.series_dim = i;
  made->whole.info.shape[i] = count;
  for (int p = 0; p < 2; p++)
    if (start < 0)
      cut_dim(&made->parts[p], i, dataset->parts[p], d);
    else
      cut_run(&made->parts[p], i, p ? 0 : start, 1, p ? count - first : first);
}

static void cut_whole(ndr_h5_dataset *own, int i, int64_t start, const ndr_h5_dataset *dataset, int d) {
  cut_run(own, i, start < 0 ? dataset->from[d] : start, dataset->step[d], dataset->info.shape[d]);
}

/* Finds where dim i is cut. A part by place can go around the end along one dim only, and in steps of 1; else it is cut
 * by index. */
static ndr_status find_start(const ndr_beside *array, int i, const ndr_h5_dataset *dataset, cut *c) {
  const int d = array->dims[i];
  const ndr_h5_dataset *first = ndr_cut_is_sides(dataset, d) ? dataset->parts[0] : dataset;
  const int64_t step = first->step[d], count = dataset->info.shape[d];
  int64_t start = -1;
  if (!array->dataset->by_number)
    NDR_TRY(ndr_coordinates_find_start(&(ndr_paired_dims){dataset, d, array->dataset, i, NULL}, first->from[d], step,
                                       &start));
  const bool around = start >= 0 && start + (count - 1) * step >= array->shape[i];
  if (around && (step > 1 || c->seam >= 0 || (first == dataset && ndr_series_is_sides(dataset)))) start = -1;
  if (start < 0 ? ndr_cut_is_sides(dataset, d) : around) c->seam = i;
  c->start[i] = start;
  return NDR_OK;
}

/* Which dims of the array are to be cut, and how. */
static ndr_status find_cuts(const ndr_beside *array, const ndr_h5_dataset *dataset, cut *c) {
  *c = (cut){.seam = -1};
  for (int i = 0; array->dataset && i < array->ndim; i++) {
    int d = array->dims[i];
    bool done = false;
    const ndr_h5_dataset *file = d >= 0 && dataset->part_count ? dataset->parts[0] : dataset;
    if (array->steps && i == array->step_dim) d = -1;
    c->cuts[i] = d >= 0 && ndr_cut_is_part(dataset, d) && is_whole(array, i) && array->shape[i] == file->extent[d];
    if (c->cuts[i] && ndr_cut_is_sides(dataset, d)) NDR_TRY(ndr_cut_is_done(array->dataset, i, dataset, d, &done));
    c->cuts[i] = c->cuts[i] && !done;
    c->any |= c->cuts[i];
    if (c->cuts[i]) NDR_TRY(find_start(array, i, dataset, c));
  }
  return NDR_OK;
}

ndr_status ndr_beside_cut(ndr_beside *array, const ndr_h5_dataset *dataset, const char *what) {
  char called[NDR_DIM_TEXT];
  cut c;
  NDR_TRY(find_cuts(array, dataset, &c));
  if (!c.any) return NDR_OK;
  int count = array->dataset->part_count;
  if (c.seam >= 0 && count)
    return ndr_fail(NDR_ERR_DIMS, "%s: files that follow each other cannot be cut on both sides of the seam of %s",
                    what, ndr_dim_text(array->dims[c.seam], dataset->info.dim_names, called));
  if (c.seam >= 0) count = 2;
  copies *made = copy(array, count);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", what);
  if (c.seam >= 0) cut_sides(made, c.seam, c.start[c.seam], dataset, array->dims[c.seam]);
  for (int i = 0; i < array->ndim; i++) {
    if (!c.cuts[i]) continue;
    array->by_place[i] = c.start[i] >= 0;
    if (i == c.seam) continue;
    cut_whole(&made->whole, i, c.start[i], dataset, array->dims[i]);
    for (int p = 0; p < count; p++) cut_whole(&made->parts[p], i, c.start[i], dataset, array->dims[i]);
  }
  memcpy(array->shape, made->whole.info.shape, sizeof array->shape);
  memcpy(array->cut_along, c.cuts, sizeof c.cuts);
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
