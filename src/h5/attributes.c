#include "h5/attributes.h"

#include <stdlib.h>
#include <string.h>

/* HDF5 keeps less than 64 KiB of one with an object; larger ones are no descriptions. */
#define MAX_BYTES 60000

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

typedef struct {
  hid_t to;
  ndr_hdf_attribute_test keeps;
  void *user;
} copying;

static herr_t copy_entry(hid_t from, const char *name, const H5A_info_t *info, void *user) {
  (void)info;
  const copying *c = user;
  if (is_tie(name) || (c->keeps && !c->keeps(c->user, name)) || H5Aexists(c->to, name) > 0) return 0;
  hid_t attribute = H5Aopen(from, name, H5P_DEFAULT), stored = H5Aget_type(attribute), type = H5Tcopy(stored);
  hid_t space = H5Aget_space(attribute);
  bool good = attribute < 0 || !is_plain(type) || copy(attribute, name, type, space, c->to);
  H5Sclose(space);
  H5Tclose(type);
  H5Tclose(stored);
  H5Aclose(attribute);
  return good ? 0 : -1;
}

bool ndr_hdf_copy_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user) {
  copying c = {to, keeps, user};
  hsize_t at = 0;
  return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, &at, copy_entry, &c) >= 0;
}

static char *read_variable_text(hid_t attribute, hid_t type, hid_t space) {
  char *stored = NULL, *text = NULL;
  if (H5Aread(attribute, type, &stored) >= 0 && stored) text = strdup(stored);
  if (stored) ndr_hdf_reclaim(type, space, H5P_DEFAULT, &stored);
  return text;
}

static char *read_fixed_text(hid_t attribute, hid_t type) {
  size_t bytes = H5Tget_size(type);
  char *text = bytes > 0 && bytes <= MAX_BYTES ? calloc(bytes + 1, 1) : NULL;
  if (!text) return NULL;
  if (H5Aread(attribute, type, text) < 0) {
    free(text);
    return NULL;
  }
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
    while (bytes > 0 && text[bytes - 1] == ' ') text[--bytes] = 0;
  return text;
}

char *ndr_hdf_get_text(hid_t object, const char *name) {
  if (H5Aexists(object, name) <= 0) return NULL;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return NULL;
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  char *text = NULL;
  if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1)
    text = H5Tis_variable_str(type) > 0 ? read_variable_text(attribute, type, space) : read_fixed_text(attribute, type);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return text;
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
  for (const char *c = text; *c; c++)
    if (*c & 0x80) H5Tset_cset(type, H5T_CSET_UTF8);
  bool good = H5Tset_size(type, strlen(text) + 1) >= 0 && ndr_hdf_put(object, name, type, 0, text);
  H5Tclose(type);
  return good;
}
