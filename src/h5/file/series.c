/* Several files as one dataset: their datasets follow each other along a dim. */
#include <stdlib.h>
#include <string.h>

#include "h5/cf/series_axis.h"
#include "h5/file/dims.h"

/* The shape of everything else, and what elements become, must be the same everywhere. */
static ndr_status check_part(const ndr_h5_dataset *first, const ndr_h5_dataset *part, int dim) {
  const ndr_h5_info *a = &first->info, *b = &part->info;
  char called[NDR_DIM_TEXT];
  if (b->ndim != a->ndim)
    return ndr_fail(NDR_ERR_DIMS, "%s: has %d dims where %s has %d", part->where, b->ndim, first->where, a->ndim);
  for (int d = 0; d < a->ndim; d++)
    if (d != dim && a->shape[d] != b->shape[d])
      return ndr_fail(NDR_ERR_DIMS, "%s: %s has size %lld where %s has %lld", part->where,
                      ndr_dim_text(d, a->dim_names, called), (long long)b->shape[d], first->where,
                      (long long)a->shape[d]);
  if (a->dtype != b->dtype)
    return ndr_fail(NDR_ERR_DTYPE, "%s: holds %s where %s holds %s", part->where, ndr_dtype_name(b->dtype),
                    first->where, ndr_dtype_name(a->dtype));
  return NDR_OK;
}

/* A file that names no units is taken to have those of the others. */
static ndr_status check_units(const ndr_h5_dataset *first, const ndr_h5_dataset *part) {
  const char *a = first->info.units, *b = part->info.units;
  if (first->raw || !a || !b) return NDR_OK;
  a += strspn(a, " ");
  b += strspn(b, " ");
  if (!*a || !*b || strcmp(a, b) == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS,
                  "%s: has units '%.80s' where %s has '%.80s'; convert one of the files, or set its units", part->where,
                  b, first->where, a);
}

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

/* The series is what its first part is, but longer. */
static ndr_status join(ndr_h5_dataset *series, ndr_h5_dataset **parts, int count, const char *text) {
  int dim;
  int64_t size = 0;
  char *name = name_series(parts[0]->file, count);
  if (!name) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", parts[0]->where);
  *series = *parts[0];
  series->info.file = series->series_name = name;
  NDR_TRY(find_dim(parts[0], text, &dim));
  series->parts = parts;
  series->part_count = count;
  series->series_dim = dim;
  series->info.stored_bytes = 0;
  for (int i = 0; i < count; i++) {
    const ndr_h5_info *part = &parts[i]->info;
    NDR_TRY(check_part(parts[0], parts[i], dim));
    NDR_TRY(check_units(parts[0], parts[i]));
    if (__builtin_add_overflow(size, part->shape[dim], &size))
      return ndr_fail(NDR_ERR_OVERFLOW, "%s: the series does not fit in 63 bits", series->where);
    series->info.stored_bytes += part->stored_bytes;
    series->info.masked = series->info.masked || part->masked;
  }
  series->info.shape[dim] = size;
  return ndr_hdf_check_size(series);
}

static void close_series(ndr_h5_dataset *series) {
  for (int i = 0; i < series->part_count; i++) ndr_hdf_close(series->parts[i]);
  free(series->parts);
  free(series->series_name);
  free(series);
}

ndr_status ndr_h5_open_series(ndr_h5_dataset **opened, int count, const char *const *files, const char *const *paths,
                              const char *dim, const ndr_h5_access *access) {
  ndr_hdf_scope scope;
  if (opened) *opened = NULL;
  if (!opened || !files || !paths || !dim)
    return ndr_fail(NDR_ERR_ARGUMENT, "dataset, files, paths or dim is a null pointer");
  if (count < 1) return ndr_fail(NDR_ERR_ARGUMENT, "count is %d: a series has one file at least", count);
  ndr_h5_dataset *series = calloc(1, sizeof *series), **parts = calloc((size_t)count, sizeof *parts);
  ndr_status status = series && parts ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "a series of %d files: out of memory", count);
  int open = 0;
  while (status == NDR_OK && open < count) {
    status = ndr_h5_open(&parts[open], files[open], paths[open], access);
    open += status == NDR_OK;
  }
  if (status == NDR_OK) status = join(series, parts, count, dim);
  if (status == NDR_OK) {
    ndr_hdf_enter(&scope, series->no_plugins);
    status = ndr_axis_join(series);
    ndr_hdf_leave(&scope);
  }
  if (status == NDR_OK) {
    *opened = series;
    return NDR_OK;
  }
  for (int i = 0; i < open; i++) ndr_hdf_close(parts[i]);
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
