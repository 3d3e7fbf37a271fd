/* ndr_h5_same: whether one copy can stand for two variables. */
#include <string.h>

#include "h5/cf/variable.h"
#include "h5/file/attributes.h"
#include "h5/write/copy.h"
#include "h5/write/storage/elements.h"

static bool same_shape(const ndr_h5_info *a, const ndr_h5_info *b) {
  return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

static ndr_status read(const ndr_h5_dataset *dataset, ndr_elements *e) {
  ndr_h5_dataset *piece = (ndr_h5_dataset *)(uintptr_t)dataset; /* which is not changed */
  const ndr_cf_variable variable = {.count = 1, .pieces = &piece, .whole = *dataset, .fits = true};
  hsize_t count = 1;
  for (int d = 0; d < dataset->info.ndim; d++) count *= (hsize_t)dataset->info.shape[d];
  NDR_TRY(ndr_elements_reserve(e, dataset->id, count, dataset->where));
  if (ndr_cf_variable_read(&variable, e->type, e->data)) return NDR_OK;
  return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its elements cannot be read");
}

/* Whether the same elements are missing; negative where that cannot be read. */
static htri_t same_valid(hid_t a, hid_t b) {
  static const char *const limits[] = {"valid_range", "valid_min", "valid_max"};
  htri_t same = 1;
  for (size_t i = 0; i < sizeof limits / sizeof *limits && same > 0; i++)
    same = ndr_hdf_same_attribute(a, b, limits[i]);
  return same;
}

static ndr_status compare(const ndr_h5_dataset *a, const ndr_h5_dataset *b, int *same) {
  ndr_elements one = {.type = H5I_INVALID_HID}, other = one;
  htri_t meaning = ndr_hdf_same_meaning(a->id, b->id);
  if (meaning > 0) meaning = same_valid(a->id, b->id);
  if (meaning < 0) return ndr_hdf_fail(NDR_ERR_FILE, b->where, "its attributes cannot be read");
  if (!meaning) return NDR_OK;
  ndr_status status = read(a, &one);
  if (status == NDR_OK) status = read(b, &other);
  htri_t alike = status == NDR_OK ? ndr_elements_same(&one, &other) : 0;
  if (alike < 0) status = ndr_hdf_fail(NDR_ERR_FILE, b->where, "its elements cannot be compared");
  *same = alike > 0;
  ndr_elements_free(&one);
  ndr_elements_free(&other);
  return status;
}

ndr_status ndr_h5_same(const ndr_h5_dataset *a, const ndr_h5_dataset *b, int *same) {
  ndr_hdf_scope scope;
  if (!a || !b || !same) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_same: null pointer");
  *same = 0;
  if (a->part_count || b->part_count) return ndr_fail(NDR_ERR_ARGUMENT, "%s: a series is not compared", a->where);
  NDR_TRY(ndr_copy_check_elements(a));
  NDR_TRY(ndr_copy_check_memory(a));
  if (!same_shape(&a->info, &b->info)) return NDR_OK;
  NDR_TRY(ndr_copy_check_elements(b));
  ndr_hdf_enter(&scope, a->no_plugins);
  ndr_status status = compare(a, b, same);
  ndr_hdf_leave(&scope);
  return status;
}
