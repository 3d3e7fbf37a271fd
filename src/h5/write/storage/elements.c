/* See elements.h. Reserves, frees and compares; reading and writing is up to callers. */
#include "h5/write/storage/elements.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/dtype.h"

static ndr_status reserve(ndr_elements *e, hid_t type, hsize_t count, const char *where) {
  *e = (ndr_elements){type, count, 0, NULL};
  size_t bytes = H5Tget_size(e->type);
  if (bytes == 0) return ndr_hdf_fail(NDR_ERR_FILE, where, "its type cannot be read");
  bool fits = !__builtin_mul_overflow((size_t)count, bytes, &e->bytes);
  e->data = fits ? ndr_hdf_noted(calloc(e->bytes + 1, 1)) : NULL;
  return e->data ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for its elements", where);
}

ndr_status ndr_elements_reserve(ndr_elements *e, hid_t dataset, hsize_t count, const char *where) {
  hid_t stored = H5Dget_type(dataset), type = ndr_hdf_netcdf_type(stored);
  if (stored >= 0) H5Tclose(stored);
  return reserve(e, type, count, where);
}

ndr_status ndr_elements_reserve_values(ndr_elements *e, hsize_t count, const char *where) {
  return reserve(e, H5Tcopy(H5T_NATIVE_DOUBLE), count, where);
}

static void free_texts(hid_t type, hsize_t count, void *data) {
  hid_t space = data && type >= 0 && H5Tis_variable_str(type) > 0 ? H5Screate_simple(1, &count, NULL) : H5I_INVALID_HID;
  if (space < 0) return;
  ndr_hdf_reclaim(type, space, H5P_DEFAULT, data);
  H5Sclose(space);
}

void ndr_elements_free(ndr_elements *e) {
  free_texts(e->type, e->count, e->data);
  free(e->data);
  if (e->type >= 0) H5Tclose(e->type);
  *e = (ndr_elements){.type = H5I_INVALID_HID};
}

htri_t ndr_elements_same(const ndr_elements *e, const ndr_elements *other) {
  char *const *own = e->data, *const *others = other->data;
  htri_t texts = H5Tis_variable_str(e->type), alike = H5Tequal(other->type, e->type);
  if (texts < 0 || alike < 0) return -1;
  if (!alike || other->count != e->count) return 0;
  if (!texts) return memcmp(other->data, e->data, e->bytes) == 0;
  for (hsize_t i = 0; i < e->count; i++)
    if (strcmp(own[i] ? own[i] : "", others[i] ? others[i] : "") != 0) return 0;
  return 1;
}

/* A failure leaves `other` to be freed, too. */
static htri_t compare(const ndr_elements *e, hid_t dataset, ndr_elements *other) {
  if (ndr_elements_reserve(other, dataset, e->count, "the output") != NDR_OK || !other->data) return -1;
  htri_t alike = H5Tequal(other->type, e->type);
  if (alike <= 0) return alike;
  bool read = H5Dread(dataset, other->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, other->data) >= 0;
  return read ? ndr_elements_same(e, other) : -1;
}

htri_t ndr_elements_equal(const ndr_elements *e, hid_t dataset) {
  ndr_elements other;
  hid_t space = H5Dget_space(dataset);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  if (space >= 0) H5Sclose(space);
  if (count < 0 || (hsize_t)count != e->count) return count < 0 ? -1 : 0;
  htri_t equal = compare(e, dataset, &other);
  ndr_elements_free(&other);
  return equal;
}
