/* See field.h. HDF5 takes a field out of compound elements when they are read. */
#include "h5/find/field.h"

#include <stdlib.h>
#include <string.h>

#include "h5/file/dtype.h"

/* Compounds in compounds are followed as deep as this. */
enum { DEEPEST = 16 };

/* The index of the member that a field begins with. *rest is the field in it, or NULL where the member is the field. */
static int find_member(hid_t type, const char *field, const char **rest) {
  int index = H5Tget_member_index(type, field);
  char *name = index < 0 ? ndr_hdf_noted(strdup(field)) : NULL;
  *rest = NULL;
  for (char *dot = name ? strrchr(name, '.') : NULL; dot && index < 0; dot = strrchr(name, '.')) {
    *dot = 0;
    *rest = field + (dot - name) + 1;
    index = H5Tget_member_index(type, name);
    if (index >= 0 && H5Tget_member_class(type, (unsigned)index) != H5T_COMPOUND) index = -1;
  }
  free(name);
  return index;
}

hid_t ndr_field_type(hid_t type, const char *field) {
  const char *rest;
  int index = H5Tget_class(type) == H5T_COMPOUND ? find_member(type, field, &rest) : -1;
  if (index < 0) return H5I_INVALID_HID;
  hid_t member = H5Tget_member_type(type, (unsigned)index);
  if (member < 0 || !rest) return member;
  hid_t found = ndr_field_type(member, rest);
  H5Tclose(member);
  return found;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Complex numbers are fields, other compounds have fields. */
static bool has_fields(hid_t type) {
  ndr_dtype dtype;
  const char *reason = ndr_hdf_dtype(type, &dtype);
  return H5Tget_class(type) == H5T_COMPOUND && reason && strcmp(reason, NDR_TABLE_ELEMENTS) == 0;
}

static int each_below(hid_t type, const char *before, int depth, ndr_field_visitor visit, void *user);

static int visit_member(hid_t type, unsigned index, const char *before, int depth, ndr_field_visitor visit,
                        void *user) {
  char *name = H5Tget_member_name(type, index);
  size_t capacity = strlen(before) + (name ? strlen(name) : 0) + 2;
  char *field = name ? ndr_hdf_noted(malloc(capacity)) : NULL;
  if (field) snprintf(field, capacity, "%s%s%s", before, *before ? "." : "", name);
  H5free_memory(name);
  hid_t member = H5Tget_member_type(type, index);
  int stop = -1;
  if (field && member >= 0)
    stop =
        depth < DEEPEST && has_fields(member) ? each_below(member, field, depth + 1, visit, user) : visit(user, field);
  if (member >= 0) H5Tclose(member);
  free(field);
  return stop;
}

static int each_below(hid_t type, const char *before, int depth, ndr_field_visitor visit, void *user) {
  int count = H5Tget_nmembers(type), stop = count < 0 ? -1 : 0;
  for (int i = 0; i < count && stop == 0; i++) stop = visit_member(type, (unsigned)i, before, depth, visit, user);
  return stop;
}

int ndr_field_each(hid_t type, ndr_field_visitor visit, void *user) {
  return each_below(type, "", 0, visit, user);
}

/* ---- Reading them ------------------------------------------------------------------------------------------------ */

/* HDF5 reads of compound elements what a compound in memory has: the field alone. */
static hid_t memory_type(hid_t type, const char *field, ndr_dtype dtype) {
  const char *rest;
  int index = find_member(type, field, &rest);
  if (index < 0) return H5I_INVALID_HID;
  hid_t member = H5Tget_member_type(type, (unsigned)index);
  hid_t inner = rest ? memory_type(member, rest, dtype) : ndr_hdf_memory_type(dtype, member);
  char *name = H5Tget_member_name(type, (unsigned)index);
  hid_t outer = inner >= 0 && name ? H5Tcreate(H5T_COMPOUND, H5Tget_size(inner)) : H5I_INVALID_HID;
  if (outer >= 0 && H5Tinsert(outer, name, 0, inner) < 0) {
    H5Tclose(outer);
    outer = H5I_INVALID_HID;
  }
  H5free_memory(name);
  if (inner >= 0) H5Tclose(inner);
  if (member >= 0) H5Tclose(member);
  return outer;
}

hid_t ndr_hdf_element_type(const ndr_h5_dataset *dataset) {
  hid_t type = H5Dget_type(dataset->id);
  if (type < 0) return H5I_INVALID_HID;
  ndr_dtype dtype = dataset->info.stored_dtype;
  hid_t memory = dataset->field ? memory_type(type, dataset->field, dtype) : ndr_hdf_memory_type(dtype, type);
  H5Tclose(type);
  return memory;
}
