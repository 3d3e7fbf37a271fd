#include "h5/attributes.h"

#include <stdlib.h>
#include <string.h>

/* Larger ones than HDF5 keeps with the object are no descriptions. */
#define MAX_BYTES 65536

static const char *const ties[] = {
    "CLASS",         "NAME",          "REFERENCE_LIST",      "DIMENSION_LIST", "DIMENSION_LABELS",
    "_Netcdf4Dimid", "_NCProperties", "_Netcdf4Coordinates", "_nc3_strict",    "bounds",
};

static bool is_tie(const char *name) {
  for (size_t i = 0; i < sizeof ties / sizeof *ties; i++)
    if (strcmp(name, ties[i]) == 0) return true;
  return false;
}

static bool is_plain(hid_t type) {
  H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_STRING;
}

/* In the file's own type, so that nothing is converted. */
static bool copy(hid_t source, const char *name, hid_t type, hid_t space, hid_t to) {
  hssize_t count = H5Sget_simple_extent_npoints(space);
  size_t bytes = H5Tget_size(type);
  if (count < 0 || bytes == 0 || (size_t)count > MAX_BYTES / bytes) return true;
  void *data = calloc((size_t)count + 1, bytes);
  if (!data || H5Aread(source, type, data) < 0) {
    free(data);
    return true;
  }
  hid_t target = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = target >= 0 && H5Awrite(target, type, data) >= 0;
  if (target >= 0) H5Aclose(target);
  if (H5Tis_variable_str(type) > 0) ndr_hdf_reclaim(type, space, H5P_DEFAULT, data);
  free(data);
  return good;
}

static herr_t copy_entry(hid_t from, const char *name, const H5A_info_t *info, void *user) {
  (void)info;
  hid_t to = *(hid_t *)user;
  if (is_tie(name) || H5Aexists(to, name) > 0) return 0;
  hid_t attribute = H5Aopen(from, name, H5P_DEFAULT), stored = H5Aget_type(attribute), type = H5Tcopy(stored);
  hid_t space = H5Aget_space(attribute);
  bool good = attribute < 0 || !is_plain(type) || copy(attribute, name, type, space, to);
  H5Sclose(space);
  H5Tclose(type);
  H5Tclose(stored);
  H5Aclose(attribute);
  return good ? 0 : -1;
}

bool ndr_hdf_copy_attributes(hid_t from, hid_t to) {
  hsize_t at = 0;
  return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, &at, copy_entry, &to) >= 0;
}

bool ndr_hdf_put(hid_t object, const char *name, hid_t type, hsize_t count, const void *data) {
  hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return good;
}

bool ndr_hdf_put_text(hid_t object, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  bool good = H5Tset_size(type, strlen(text) + 1) >= 0 && ndr_hdf_put(object, name, type, 0, text);
  H5Tclose(type);
  return good;
}
