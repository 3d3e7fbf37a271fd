/* See join.h. */
#include "h5/series/join.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/dims.h"

/* The shape of everything else, and what elements become, must be the same everywhere. Sentences count the dims that
 * files have. */
static ndr_status check_part(const ndr_h5_dataset *first, const ndr_h5_dataset *part, int dim) {
  const ndr_h5_info *a = &first->info, *b = &part->info;
  char called[NDR_DIM_TEXT];
  int new_dims = first->new_dims;
  if (b->ndim != a->ndim)
    return ndr_fail(NDR_ERR_DIMS, "%s: has %d dim%s where %s has %d", part->where, b->ndim - new_dims,
                    NDR_PLURAL(b->ndim - new_dims), first->where, a->ndim - new_dims);
  for (int d = 0; d < a->ndim; d++)
    if (d != dim && a->shape[d] != b->shape[d])
      return ndr_fail(NDR_ERR_DIMS, "%s: %s has size %lld where %s has %lld", part->where,
                      ndr_dim_text(d - new_dims, a->dim_names + new_dims, called), (long long)b->shape[d], first->where,
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

/* The series is what its first part is, but longer. */
ndr_status ndr_series_join(ndr_h5_dataset *series, ndr_h5_dataset **parts, int count, int dim, char *name) {
  int64_t size = 0;
  if (!name) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", parts[0]->where);
  *series = *parts[0];
  series->info.file = series->series_name = name;
  series->parts = parts;
  series->part_count = count;
  series->series_dim = dim;
  series->seam[dim] = (ndr_seam){.at = 0}; /* parts have their own */
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
