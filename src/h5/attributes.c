#include "h5/attributes.h"

#include <stdlib.h>
#include <string.h>

/* HDF5 keeps less than 64 KiB of one with an object; larger ones are no descriptions. */
#define MAX_BYTES 60000

/* Those of HDF5, netCDF-4, CF, xarray and NeXus. */
static const char *const ties[] = {
    "CLASS",
    "NAME",
    "REFERENCE_LIST",
    "DIMENSION_LIST",
    "DIMENSION_LABELS",
    "_Netcdf4Dimid",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_nc3_strict",
    "bounds",
    "climatology",
    "coordinates",
    "grid_mapping",
    "cell_measures",
    "ancillary_variables",
    "formula_terms",
    "_ARRAY_DIMENSIONS",
    "axes",
    "signal",
    "default",
};

static bool is_tie(const char *name) {
  for (size_t i = 0; i < sizeof ties / sizeof *ties; i++)
    if (strcmp(name, ties[i]) == 0) return true;
  return false;
}

static bool is_plain(H5T_class_t kind) {
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_STRING;
}

/* In the file's own type, so that nothing is converted. */
static bool copy(hid_t source, const char *name, hid_t type, hid_t space, hid_t to) {
  hssize_t count = H5Sget_simple_extent_npoints(space);
  size_t bytes = H5Tget_size(type);
  if (count < 0 || bytes == 0) return false;
  if ((size_t)count > MAX_BYTES / bytes) return true;
  void *data = calloc((size_t)count + 1, bytes);
  if (!data || H5Aread(source, type, data) < 0) {
    free(data);
    return false;
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
  if (is_tie(name) || (c->keeps && !c->keeps(c->user, name))) return 0;
  htri_t exists = H5Aexists(c->to, name);
  if (exists != 0) return exists > 0 ? 0 : -1;
  hid_t attribute = H5Aopen(from, name, H5P_DEFAULT), stored = H5Aget_type(attribute), type = H5Tcopy(stored);
  hid_t space = H5Aget_space(attribute);
  H5T_class_t kind = H5Tget_class(type);
  bool good = kind != H5T_NO_CLASS && (!is_plain(kind) || copy(attribute, name, type, space, c->to));
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (stored >= 0) H5Tclose(stored);
  if (attribute >= 0) H5Aclose(attribute);
  return good ? 0 : -1;
}

bool ndr_hdf_copy_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user) {
  copying c = {to, keeps, user};
  hsize_t at = 0;
  return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, &at, copy_entry, &c) >= 0;
}

static bool read_variable_text(hid_t attribute, hid_t type, hid_t space, char **text) {
  char *stored = NULL;
  bool good = H5Aread(attribute, type, &stored) >= 0;
  if (good && stored) good = (*text = strdup(stored)) != NULL;
  if (stored) ndr_hdf_reclaim(type, space, H5P_DEFAULT, &stored);
  return good;
}

static bool read_fixed_text(hid_t attribute, hid_t type, char **text) {
  size_t bytes = H5Tget_size(type);
  H5T_str_t padding = H5Tget_strpad(type);
  if (bytes == 0 || padding == H5T_STR_ERROR) return false;
  if (bytes > MAX_BYTES) return true;
  char *read = calloc(bytes + 1, 1);
  if (!read || H5Aread(attribute, type, read) < 0) {
    free(read);
    return false;
  }
  if (padding == H5T_STR_SPACEPAD)
    while (bytes > 0 && read[bytes - 1] == ' ') read[--bytes] = 0;
  *text = read;
  return true;
}

static bool read_text(hid_t attribute, hid_t type, hid_t space, char **text) {
  H5T_class_t kind = H5Tget_class(type);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  if (kind == H5T_NO_CLASS || count < 0) return false;
  if (kind != H5T_STRING || count != 1) return true;
  htri_t variable = H5Tis_variable_str(type);
  if (variable < 0) return false;
  return variable ? read_variable_text(attribute, type, space, text) : read_fixed_text(attribute, type, text);
}

bool ndr_hdf_get_text(hid_t object, const char *name, char **text) {
  *text = NULL;
  htri_t exists = H5Aexists(object, name);
  if (exists <= 0) return exists == 0;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return false;
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  bool good = read_text(attribute, type, space, text);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
  return good;
}

/* The numbers of an attribute as they are stored, where these take at most a few bytes; *bytes is 0 otherwise. */
static bool read_numbers(hid_t object, const char *name, hid_t *type, size_t *bytes, char data[256]) {
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), space = H5Aget_space(attribute);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  *type = H5Aget_type(attribute);
  H5T_class_t kind = H5Tget_class(*type);
  size_t each = H5Tget_size(*type);
  bool number = kind == H5T_INTEGER || kind == H5T_FLOAT;
  bool good = kind != H5T_NO_CLASS && count >= 0 && each > 0;
  *bytes = good && number && (size_t)count <= 256 / each ? (size_t)count * each : 0;
  if (*bytes > 0) good = H5Aread(attribute, *type, data) >= 0;
  if (space >= 0) H5Sclose(space);
  if (attribute >= 0) H5Aclose(attribute);
  return good;
}

static htri_t same_numbers(hid_t a, hid_t b, const char *name) {
  hid_t types[2] = {H5I_INVALID_HID, H5I_INVALID_HID};
  size_t bytes[2];
  char data[2][256];
  htri_t same = -1;
  if (read_numbers(a, name, &types[0], &bytes[0], data[0]) && read_numbers(b, name, &types[1], &bytes[1], data[1]))
    same = H5Tequal(types[0], types[1]);
  if (same > 0) same = bytes[0] > 0 && bytes[0] == bytes[1] && memcmp(data[0], data[1], bytes[0]) == 0;
  for (int i = 0; i < 2; i++)
    if (types[i] >= 0) H5Tclose(types[i]);
  return same;
}

htri_t ndr_hdf_same_attribute(hid_t a, hid_t b, const char *name) {
  htri_t one = H5Aexists(a, name), other = H5Aexists(b, name);
  char *texts[2] = {NULL, NULL};
  if (one < 0 || other < 0) return -1;
  if (!one || !other) return one == other;
  htri_t same = ndr_hdf_get_text(a, name, &texts[0]) && ndr_hdf_get_text(b, name, &texts[1]) ? 0 : -1;
  if (same == 0 && texts[0] && texts[1])
    same = strcmp(texts[0], texts[1]) == 0;
  else if (same == 0 && !texts[0] && !texts[1])
    same = same_numbers(a, b, name);
  free(texts[0]);
  free(texts[1]);
  return same;
}

typedef struct {
  hid_t with; /* negative: attributes are only counted */
  ndr_hdf_attribute_test keeps;
  void *user;
  int count;
} comparison;

/* 0 goes on, 1 ends the comparison, as iterations have it. */
static herr_t compare_entry(hid_t object, const char *name, const H5A_info_t *info, void *user) {
  (void)info;
  comparison *c = user;
  if (is_tie(name) || (c->keeps && !c->keeps(c->user, name))) return 0;
  c->count++;
  htri_t same = c->with < 0 ? 1 : ndr_hdf_same_attribute(object, c->with, name);
  return same < 0 ? -1 : !same;
}

htri_t ndr_hdf_same_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user) {
  comparison one = {to, keeps, user, 0}, other = {H5I_INVALID_HID, NULL, NULL, 0};
  hsize_t at = 0;
  herr_t differ = H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, &at, compare_entry, &one);
  if (differ != 0) return differ < 0 ? -1 : 0;
  at = 0;
  if (H5Aiterate2(to, H5_INDEX_NAME, H5_ITER_INC, &at, compare_entry, &other) < 0) return -1;
  return one.count == other.count;
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
  bool ascii = true;
  for (const char *c = text; *c; c++) ascii = ascii && !(*c & 0x80);
  bool good = (ascii || H5Tset_cset(type, H5T_CSET_UTF8) >= 0) && H5Tset_size(type, strlen(text) + 1) >= 0 &&
              ndr_hdf_put(object, name, type, 0, text);
  H5Tclose(type);
  return good;
}
