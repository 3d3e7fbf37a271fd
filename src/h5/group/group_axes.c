/* See group_axes.h. */
#include "h5/group/group_axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file that holds the dataset: behind an external link the other file. */
static bool put_file(FILE *to, const ndr_h5_dataset *dataset) {
  ssize_t length = H5Fget_name(dataset->file_id, NULL, 0);
  char *name = length > 0 ? malloc((size_t)length + 1) : NULL;
  bool good = name && H5Fget_name(dataset->file_id, name, (size_t)length + 1) == length;
  if (good) fputs(name, to);
  free(name);
  return good;
}

/* The HDF5 group in which the names in the dataset's attributes are looked up; of a dimension scale, which has its own
 * coordinates, the scale itself. */
static void put_lookup_path(FILE *to, const ndr_h5_dataset *dataset) {
  size_t length = strlen(dataset->path);
  while (!dataset->info.is_scale && length > 0 && dataset->path[length - 1] != '/') length--;
  fprintf(to, "\n%.*s %d", (int)length, dataset->path, dataset->raw);
}

static const char *text_of(const char *text) {
  return text ? text : "";
}

static void put_dims(FILE *to, const ndr_h5_dataset *dataset, int dim, int ndim) {
  for (int d = dim; d < dim + ndim; d++)
    fprintf(to, "\n%s\n%s\n%lld %lld %lld %lld %a", text_of(dataset->names[d]), text_of(dataset->scales[d]),
            (long long)dataset->info.shape[d], (long long)dataset->extent[d], (long long)dataset->from[d],
            (long long)dataset->step[d], dataset->turn[d]);
}

static bool put_dataset(FILE *to, const ndr_h5_dataset *dataset, int dim, int ndim) {
  if (!put_file(to, dataset)) return false;
  put_lookup_path(to, dataset);
  put_dims(to, dataset, dim, ndim);
  return true;
}

static bool put_files(FILE *to, const ndr_h5_dataset *dataset, int dim, int ndim) {
  bool good = true;
  if (!dataset->part_count) return put_dataset(to, dataset, dim, ndim);
  fprintf(to, "%d\n", dataset->series_dim);
  for (int p = 0; p < dataset->part_count && good; p++) good = put_dataset(to, dataset->parts[p], dim, ndim);
  return good;
}

char *ndr_group_axes(const ndr_h5_dataset *dataset, int dim, int ndim) {
  ndr_hdf_scope scope;
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (!to) return NULL;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  bool good = put_files(to, dataset, dim, ndim);
  ndr_hdf_leave(&scope);
  good = !ferror(to) && good;
  if (fclose(to) == 0 && good) return text;
  free(text);
  return NULL;
}
