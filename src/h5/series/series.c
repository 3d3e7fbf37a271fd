/* Several files as one dataset: their datasets follow each other along a dim. */
#include <stdlib.h>
#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/cf/series_axis.h"
#include "h5/series/agree.h"
#include "h5/series/join.h"
#include "h5/series/stack.h"

static ndr_status find_dim(const ndr_h5_dataset *first, const char *text, int *dim) {
  int dims[NDR_MAX_DIMS], count;
  char reason[512];
  ndr_status status = ndr_h5_dims_parse(text, first->info.ndim, first->info.dim_names, &count, dims);
  if (status != NDR_OK) {
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    return ndr_fail(status, "%s: %s", first->where, reason);
  }
  if (count != 1)
    return ndr_fail(NDR_ERR_DIMS, "%s: files follow each other along one dim, not %d", first->where, count);
  *dim = dims[0];
  return NDR_OK;
}

/* "FILE and N more". */
static char *name_series(const char *file, int count) {
  size_t capacity = strlen(file) + 32;
  char *name = malloc(capacity);
  if (name && count > 1)
    snprintf(name, capacity, "%s and %d more", file, count - 1);
  else if (name)
    strcpy(name, file);
  return name;
}

/* Opens one more file, as a member of the new dim if there is one. */
static ndr_status open_part(ndr_h5_dataset **part, const char *file, const char *path, const char *dim,
                            const char *new_dim, const ndr_h5_access *access) {
  NDR_TRY(ndr_hdf_open_along(part, file, path, access, new_dim ? NULL : dim));
  ndr_status status = new_dim ? ndr_stack_member(*part, new_dim) : NDR_OK;
  if (status != NDR_OK) ndr_h5_close(*part);
  return status;
}

/* One of the files at least must have something of a range along the series. */
static ndr_status check_selected(ndr_h5_dataset *const *parts, int count) {
  for (int i = 0; i < count; i++)
    if (!parts[i]->nothing) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS, "%s: %s%s", parts[0]->where, parts[0]->nothing,
                  count > 1 ? ", and the other files have nothing of it, either" : "");
}

enum { MOST_KEPT = 2 << 20 }; /* values: 16 MiB */

/* Coordinates along the series are read once, unless they take more memory than that is worth. */
static void keep_axis(ndr_h5_dataset *series) {
  const int d = series->series_dim;
  double count = 0; /* of those of whole files, from which a range may have been selected */
  for (int p = 0; p < series->part_count; p++) count += (double)series->parts[p]->extent[d];
  for (int p = 0; p < series->part_count; p++)
    if (!series->new_dims && count <= MOST_KEPT)
      ndr_hdf_keep_coordinates(series->parts[p], d);
    else
      ndr_hdf_forget_coordinates(series->parts[p]);
}

/* How the axes of the parts, which are joined, make those of the series, and whether they overlap. Parts that are
 * opened raw may differ, as their numbers are not what their attributes say; but members of a new dim have nothing else
 * that tells them apart. */
static ndr_status join_axes(ndr_h5_dataset *series) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, series->no_plugins);
  keep_axis(series);
  ndr_status status = series->new_dims || !series->raw ? ndr_series_agree(series) : NDR_OK;
  if (status == NDR_OK) status = ndr_axis_join(series);
  if (status == NDR_OK) status = ndr_series_remark_overlap(series);
  ndr_hdf_leave(&scope);
  return status;
}

static void close_series(ndr_h5_dataset *series) {
  for (int i = 0; i < series->part_count; i++) ndr_hdf_close(series->parts[i]);
  free(series->parts);
  free(series->series_name);
  free(series);
}

ndr_status ndr_h5_open_series(ndr_h5_dataset **opened, int count, const char *const *files, const char *const *paths,
                              const char *dim, const ndr_h5_access *access) {
  if (opened) *opened = NULL;
  if (!opened || !files || !paths || !dim)
    return ndr_fail(NDR_ERR_ARGUMENT, "dataset, files, paths or dim is a null pointer");
  if (count < 1) return ndr_fail(NDR_ERR_ARGUMENT, "count is %d: a series has one file at least", count);
  ndr_h5_dataset *series = calloc(1, sizeof *series), **parts = calloc((size_t)count, sizeof *parts);
  ndr_status status = series && parts ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "a series of %d files: out of memory", count);
  const char *new_dim = ndr_stack_name(dim);
  int open = 0, d = 0;
  while (status == NDR_OK && open < count) {
    status = open_part(&parts[open], files[open], paths[open], dim, new_dim, access);
    open += status == NDR_OK;
  }
  if (status == NDR_OK) status = check_selected(parts, count);
  if (status == NDR_OK && !new_dim) status = find_dim(parts[0], dim, &d);
  if (status == NDR_OK) status = ndr_series_join(series, parts, count, d, name_series(parts[0]->file, count));
  if (status == NDR_OK) status = join_axes(series);
  if (status == NDR_OK) {
    *opened = series;
    return NDR_OK;
  }
  for (int i = 0; i < open; i++) ndr_h5_close(parts[i]);
  free(parts);
  free(series ? series->series_name : NULL);
  free(series);
  return status;
}

void ndr_h5_close(ndr_h5_dataset *dataset) {
  if (!dataset) return;
  if (dataset->part_count)
    close_series(dataset);
  else
    ndr_hdf_close(dataset);
}
