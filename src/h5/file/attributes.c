/* See attributes.h. What an attribute of a result says is in cf/attributes.c and label.c. */
#include "h5/file/attributes.h"

#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/file/dtype.h"

/* Numbers and texts of fixed length take as much memory as they take in the file. Texts of variable length may all lead
 * to one text in the file, and each takes memory of its own, so an attribute with more texts than this is left out. */
#define MAX_TEXTS 65536

/* Those of HDF5, netCDF-4, CF, UGRID, xarray and NeXus. */
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
    "mesh",
    "geometry",
    NDR_MESH_PARTS,
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

/* ---- One attribute ---------------------------------------------------------------------------------------------- */

typedef struct {
  hid_t attribute, type, space; /* the type is one that netCDF has */
  H5T_class_t kind;
  hssize_t count;
  htri_t variable; /* texts of variable length */
  bool malformed;  /* it could not be opened or read for what its own bytes are, */
  char reason[NDR_HDF_REASON + 32];
} opened;

static void close_attribute(const opened *o) {
  if (o->space >= 0) H5Sclose(o->space);
  if (o->type >= 0) H5Tclose(o->type);
  if (o->attribute >= 0) H5Aclose(o->attribute);
}

/* To be called right after a call to HDF5 that has failed. */
static void note_failure(opened *o) {
  char reason[NDR_HDF_REASON];
  o->malformed = ndr_hdf_is_malformed();
  ndr_hdf_reason(reason);
  snprintf(o->reason, sizeof o->reason, "cannot be read: %s", reason);
}

/* To be closed even if that fails. */
static bool open_attribute(hid_t object, const char *name, opened *o) {
  o->malformed = false;
  o->attribute = ndr_header_open(object, name);
  if (o->attribute < 0) note_failure(o);
  hid_t stored = H5Aget_type(o->attribute);
  o->type = ndr_hdf_netcdf_type(stored);
  o->kind = H5Tget_class(o->type);
  o->space = H5Aget_space(o->attribute);
  o->count = H5Sget_simple_extent_npoints(o->space);
  o->variable = H5Tis_variable_str(o->type);
  if (stored >= 0) H5Tclose(stored);
  return o->kind != H5T_NO_CLASS && H5Tget_size(o->type) > 0 && o->count >= 0 && o->variable >= 0;
}

/* Why an attribute is not copied; NULL where it is. */
static const char *reason_to_leave(const opened *o) {
  if (o->kind != H5T_INTEGER && o->kind != H5T_FLOAT && o->kind != H5T_STRING) return "holds neither numbers nor texts";
  if (o->kind != H5T_STRING && H5Sget_simple_extent_ndims(o->space) > 1)
    return "has several dims, which netCDF cannot read";
  return o->variable && o->count > MAX_TEXTS ? "has too many texts" : NULL;
}

/* The elements, to be freed by free_elements; NULL where they cannot be read, or there is no memory. */
static void *read_elements(opened *o) {
  size_t bytes;
  if (__builtin_mul_overflow((size_t)o->count, H5Tget_size(o->type), &bytes)) return NULL;
  void *data = ndr_hdf_noted(calloc(bytes + 1, 1));
  if (data && ndr_header_read(o->attribute, o->type, data) >= 0) return data;
  if (data) note_failure(o);
  free(data);
  return NULL;
}

static void free_elements(const opened *o, void *data) {
  if (data && o->variable) ndr_hdf_reclaim(o->type, o->space, H5P_DEFAULT, data);
  free(data);
}

/* ---- Copying ---------------------------------------------------------------------------------------------------- */

static bool copy(opened *o, const char *name, hid_t to) {
  void *data = read_elements(o);
  if (!data) return false;
  hid_t target = H5Acreate2(to, name, o->type, o->space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = target >= 0 && H5Awrite(target, o->type, data) >= 0;
  if (target >= 0) H5Aclose(target);
  free_elements(o, data);
  return good;
}

static void tell_left_out(ndr_remarks *remarks, hid_t object, const char *name, const char *reason) {
  char file[1024] = "", path[1024] = "";
  H5Fget_name(object, file, sizeof file);
  H5Iget_name(object, path, sizeof path);
  ndr_remark(remarks, "%s:%s: the attribute %s is left out: it %s", file, path, name, reason);
}

/* Iterations do not come to attributes that cannot be decoded. */
static bool tell_undecoded(ndr_remarks *remarks, hid_t object) {
  char file[1024] = "", path[1024] = "", names[NDR_HEADER_NAMES], reason[NDR_HDF_REASON];
  htri_t sound = ndr_header_is_sound(object, names, reason);
  if (sound != 0) return sound > 0;
  H5Fget_name(object, file, sizeof file);
  H5Iget_name(object, path, sizeof path);
  ndr_remark(remarks, "%s:%s: its attribute%s cannot be read: %s", file, path, names, reason);
  return true;
}

typedef struct {
  hid_t to;
  ndr_hdf_attribute_test keeps;
  void *user;
  ndr_remarks *remarks;
} copying;

static herr_t copy_entry(hid_t from, const char *name, const H5A_info_t *info, void *user) {
  (void)info;
  const copying *c = user;
  if (is_tie(name) || (c->keeps && !c->keeps(c->user, name))) return 0;
  htri_t exists = H5Aexists(c->to, name);
  if (exists != 0) return exists > 0 ? 0 : -1;
  opened o;
  bool good = open_attribute(from, name, &o);
  const char *reason = good ? reason_to_leave(&o) : NULL;
  if (reason)
    tell_left_out(c->remarks, from, name, reason);
  else if (good)
    good = copy(&o, name, c->to);
  if (o.malformed) tell_left_out(c->remarks, from, name, o.reason);
  close_attribute(&o);
  return good || o.malformed ? 0 : -1;
}

bool ndr_hdf_copy_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user, ndr_remarks *remarks) {
  copying c = {to, keeps, user, remarks};
  return tell_undecoded(remarks, from) && ndr_header_iterate(from, copy_entry, &c) >= 0;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

static bool read_variable_text(hid_t attribute, hid_t type, hid_t space, char **text) {
  char *stored = NULL;
  bool good = ndr_header_read(attribute, type, &stored) >= 0;
  if (good && stored) good = (*text = ndr_hdf_noted(strdup(stored))) != NULL;
  if (stored) ndr_hdf_reclaim(type, space, H5P_DEFAULT, &stored);
  return good;
}

static bool read_fixed_text(hid_t attribute, hid_t type, char **text) {
  size_t bytes = H5Tget_size(type);
  H5T_str_t padding = H5Tget_strpad(type);
  if (bytes == 0 || padding == H5T_STR_ERROR) return false;
  char *read = ndr_hdf_noted(calloc(bytes + 1, 1));
  if (!read || ndr_header_read(attribute, type, read) < 0) {
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
  bool malformed;
  return ndr_hdf_find_text(object, name, text, &malformed) || malformed;
}

bool ndr_hdf_get_text_or_tell(hid_t object, const char *name, ndr_remarks *remarks, char **text) {
  bool malformed, found = ndr_hdf_find_text(object, name, text, &malformed);
  if (malformed) tell_left_out(remarks, object, name, "cannot be read");
  return found || malformed;
}

bool ndr_hdf_find_text(hid_t object, const char *name, char **text, bool *malformed) {
  *text = NULL;
  *malformed = false;
  htri_t exists = ndr_header_has_attribute(object, name);
  if (exists <= 0) return exists == 0;
  hid_t attribute = ndr_header_open(object, name);
  if (attribute < 0) return ndr_hdf_is_malformed();
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  bool good = read_text(attribute, type, space, text);
  *malformed = !good && type >= 0 && space >= 0 && ndr_hdf_is_malformed();
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
  return good;
}

/* ---- Comparing -------------------------------------------------------------------------------------------------- */

static bool same_texts(char *const *a, char *const *b, hssize_t count) {
  for (hssize_t i = 0; i < count; i++)
    if (strcmp(a[i] ? a[i] : "", b[i] ? b[i] : "") != 0) return false;
  return true;
}

/* Both would be copied, and have the same elements. */
static htri_t same_elements(opened *a, opened *b) {
  htri_t same = a->count == b->count && !reason_to_leave(a) && !reason_to_leave(b) ? H5Tequal(a->type, b->type) : 0;
  if (same <= 0) return same;
  void *one = read_elements(a), *other = read_elements(b);
  if (!one || !other)
    same = -1;
  else if (a->variable)
    same = same_texts(one, other, a->count);
  else
    same = memcmp(one, other, (size_t)a->count * H5Tget_size(a->type)) == 0;
  free_elements(a, one);
  free_elements(b, other);
  return same;
}

static htri_t same_values(hid_t a, hid_t b, const char *name) {
  opened one, other;
  bool good = open_attribute(a, name, &one);
  good = open_attribute(b, name, &other) && good;
  htri_t same = good ? same_elements(&one, &other) : -1;
  close_attribute(&one);
  close_attribute(&other);
  return same;
}

htri_t ndr_hdf_same_attribute(hid_t a, hid_t b, const char *name) {
  htri_t one = ndr_header_has_attribute(a, name), other = ndr_header_has_attribute(b, name);
  char *texts[2] = {NULL, NULL};
  if (one < 0 || other < 0) return -1;
  if (!one || !other) return one == other;
  htri_t same = ndr_hdf_get_text(a, name, &texts[0]) && ndr_hdf_get_text(b, name, &texts[1]) ? 0 : -1;
  if (same == 0 && texts[0] && texts[1])
    same = strcmp(texts[0], texts[1]) == 0;
  else if (same == 0 && !texts[0] && !texts[1])
    same = same_values(a, b, name);
  free(texts[0]);
  free(texts[1]);
  return same;
}

htri_t ndr_hdf_same_meaning(hid_t a, hid_t b) {
  static const char *const meanings[] = {"units",      "calendar",      "scale_factor", "add_offset",
                                         "_FillValue", "missing_value", "_Unsigned"};
  hid_t one = H5Dget_type(a), other = H5Dget_type(b);
  htri_t same = one < 0 || other < 0 ? -1 : H5Tequal(one, other);
  if (one >= 0) H5Tclose(one);
  if (other >= 0) H5Tclose(other);
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings && same > 0; i++)
    same = ndr_hdf_same_attribute(a, b, meanings[i]);
  return same;
}

typedef struct {
  hid_t with; /* negative: attributes are only counted */
  ndr_hdf_attribute_test keeps;
  void *user;
  int count;
} comparison;

/* Whether an attribute is of a kind that is copied, and can be; negative where the file cannot be read. */
static htri_t is_copied(hid_t object, const char *name) {
  opened o;
  htri_t copied = open_attribute(object, name, &o) ? reason_to_leave(&o) == NULL : -1;
  void *data = copied > 0 ? read_elements(&o) : NULL;
  if (copied > 0 && !data) copied = -1;
  free_elements(&o, data);
  close_attribute(&o);
  return o.malformed ? 0 : copied;
}

/* 0 goes on, 1 ends the comparison, as iterations have it. */
static herr_t compare_entry(hid_t object, const char *name, const H5A_info_t *info, void *user) {
  (void)info;
  comparison *c = user;
  if (is_tie(name) || (c->keeps && !c->keeps(c->user, name))) return 0;
  htri_t copied = is_copied(object, name);
  if (copied <= 0) return copied;
  c->count++;
  htri_t same = c->with < 0 ? 1 : ndr_hdf_same_attribute(object, c->with, name);
  return same < 0 ? -1 : !same;
}

htri_t ndr_hdf_same_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user) {
  comparison one = {to, keeps, user, 0}, other = {H5I_INVALID_HID, NULL, NULL, 0};
  herr_t differ = ndr_header_iterate(from, compare_entry, &one);
  if (differ != 0) return differ < 0 ? -1 : 0;
  if (ndr_header_iterate(to, compare_entry, &other) < 0) return -1;
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
