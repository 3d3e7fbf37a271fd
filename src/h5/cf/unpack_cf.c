/* See unpack_cf.h. Reads attributes and no elements; unpack.c does what they say. */
#include "h5/cf/unpack_cf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "h5/bytes/header.h"
#include "h5/cf/packed.h"
#include "h5/file/attributes.h"
#include "h5/file/dtype.h"

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static ndr_dtype widest(ndr_dtype dtype) {
  return dtype >= NDR_I8 && dtype <= NDR_I64 ? NDR_I64 : dtype <= NDR_U64 ? NDR_U64 : NDR_F64;
}

/* The attributes of a dataset, and the first of them that is there and cannot be read. */
typedef struct {
  hid_t dataset;
  const char *failed;
  ndr_misfits *misfits;
} attributes;

/* How many numbers an attribute has, as `says` says it. */
typedef struct {
  int least, most;
  const char *says;
} numbers_wanted;

static const numbers_wanted one = {1, 1, "one number"}, two = {2, 2, "two numbers"},
                            some = {1, NDR_UNPACK_MISSING - 1, "up to 15 numbers"};

/* Whether there is one of that name. */
static bool open_attribute(attributes *from, const char *name, hid_t *attribute, hid_t *type, hid_t *space) {
  htri_t exists = ndr_header_has_attribute(from->dataset, name);
  *attribute = exists > 0 ? ndr_header_open(from->dataset, name) : H5I_INVALID_HID;
  *type = *attribute >= 0 ? H5Aget_type(*attribute) : H5I_INVALID_HID;
  *space = *attribute >= 0 ? H5Aget_space(*attribute) : H5I_INVALID_HID;
  if (exists < 0 || (exists > 0 && (*type < 0 || *space < 0))) from->failed = name;
  return *attribute >= 0;
}

static void close_attribute(hid_t attribute, hid_t type, hid_t space) {
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
}

static ndr_misfit *add_misfit(attributes *from, const char *name) {
  ndr_misfit *added = &from->misfits->list[from->misfits->count++];
  *added = (ndr_misfit){.name = name, .scales = strcmp(name, "scale_factor") == 0 || strcmp(name, "add_offset") == 0};
  return added;
}

/* What elements are that are no plain numbers. */
static void name_type(hid_t type, char *what, size_t capacity) {
  ndr_dtype dtype;
  const char *reason = ndr_hdf_dtype(type, &dtype);
  H5T_class_t kind = H5Tget_class(type);
  if (reason)
    snprintf(what, capacity, "has %s", reason);
  else
    snprintf(what, capacity, "is %s",
             dtype == NDR_BOOL      ? "bool"
             : kind == H5T_COMPOUND ? "complex"
             : kind == H5T_ENUM     ? "an enumeration"
                                    : "a bit field");
}

/* `points` elements that are not the numbers wanted. */
static void note_misfit(attributes *from, const char *name, hid_t type, hssize_t points, const char *wanted) {
  ndr_misfit *added = add_misfit(from, name);
  H5T_class_t kind = H5Tget_class(type);
  char *text = NULL, found[64] = "is text";
  if (kind == H5T_INTEGER || kind == H5T_FLOAT)
    snprintf(added->what, sizeof added->what, "has %lld value%s, not %s", (long long)points, NDR_PLURAL(points),
             wanted);
  else if (kind == H5T_STRING && ndr_hdf_get_text(from->dataset, name, &text) && text)
    snprintf(added->what, sizeof added->what, "is the text '%.40s', not %s", text, wanted);
  else {
    if (kind != H5T_STRING) name_type(type, found, sizeof found);
    snprintf(added->what, sizeof added->what, "%s, not %s", found, wanted);
  }
  free(text);
}

_Static_assert(NDR_UNPACK_MISSING == 16, "as `some` says");

/* Reads the numbers of an attribute. Returns how many; 0 if it is not there, or not as wanted. */
static int read_numbers(attributes *from, const char *name, const numbers_wanted *wanted, ndr_number *numbers) {
  ndr_packed values[NDR_UNPACK_MISSING];
  ndr_dtype dtype;
  int count = 0;
  hid_t attribute, type, space;
  if (!open_attribute(from, name, &attribute, &type, &space)) return 0;
  H5T_class_t kind = H5Tget_class(type);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  bool fits = (kind == H5T_INTEGER || kind == H5T_FLOAT) && points >= wanted->least && points <= wanted->most;
  if (kind == H5T_NO_CLASS || points < 0)
    from->failed = name;
  else if (!fits)
    note_misfit(from, name, type, points, wanted->says);
  if (fits) {
    bool known = !ndr_hdf_dtype(type, &dtype);
    if (known) dtype = widest(dtype);
    hid_t memory = known ? ndr_hdf_memory_type(dtype, type) : H5I_INVALID_HID;
    if (memory >= 0 && ndr_header_read(attribute, memory, values) >= 0)
      count = (int)points;
    else
      from->failed = name;
    if (memory >= 0) H5Tclose(memory);
  }
  close_attribute(attribute, type, space);
  for (int i = 0; i < count; i++) numbers[i] = (ndr_number){dtype, values[i]};
  return count;
}

/* Whether a text, of either kind, is `word` in small or large letters; negative where it cannot be read. */
static int is_word(hid_t attribute, hid_t type, const char *word) {
  char text[16] = "", *pointer = NULL;
  htri_t variable = H5Tis_variable_str(type);
  if (variable > 0) {
    int same = ndr_header_read(attribute, type, &pointer) < 0 ? -1 : pointer && strcasecmp(pointer, word) == 0;
    H5free_memory(pointer);
    return same;
  }
  size_t bytes = H5Tget_size(type);
  if (variable < 0 || bytes == 0) return -1;
  if (bytes >= sizeof text) return false;
  return ndr_header_read(attribute, type, text) < 0 ? -1 : strcasecmp(text, word) == 0;
}

/* Whether there is an attribute of that name, and it is `word`. */
static bool says(attributes *from, const char *name, const char *word) {
  hid_t attribute, type, space;
  int is = false;
  if (!open_attribute(from, name, &attribute, &type, &space)) return false;
  H5T_class_t kind = H5Tget_class(type);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  if (kind == H5T_STRING && points == 1)
    is = is_word(attribute, type, word);
  else if (strcmp(name, "_Unsigned") == 0)
    snprintf(add_misfit(from, name)->what, sizeof from->misfits->list->what, "is not the text 'true' or 'false'");
  if (kind == H5T_NO_CLASS || points < 0 || is < 0) from->failed = name;
  close_attribute(attribute, type, space);
  return is > 0;
}

/* How netCDF says that signed integers stand for unsigned ones, which its classic format lacks. */
static bool is_unsigned(attributes *from) {
  return says(from, "_Unsigned", "true");
}

/* How xarray says that bytes stand for bool, which netCDF lacks. */
static bool is_bool(attributes *from) {
  return says(from, "dtype", "bool");
}

/* ---- Masks ------------------------------------------------------------------------------------------------------ */

/* `bits`: the file's integers are signed, and count as the unsigned ones of the same bits. */
typedef struct {
  ndr_unpack *unpack;
  attributes *from;
  bool bits;
} mask;

static bool pack(const mask *m, ndr_number number, ndr_packed *packed) {
  return m->bits ? ndr_number_pack_bits(number, m->unpack->from, packed)
                 : ndr_number_pack(number, m->unpack->from, packed);
}

static bool is_float(ndr_dtype dtype) {
  return dtype >= NDR_F16;
}

/* NaN needs no entry: it is missing wherever there is a mask. */
static void add_missing(const mask *m, ndr_number number) {
  ndr_unpack *u = m->unpack;
  ndr_packed packed;
  if (!pack(m, number, &packed)) return;
  u->masked = true;
  if (is_float(u->from) && isnan(packed.f)) return;
  for (int i = 0; i < u->missing_count; i++)
    if (ndr_packed_compare(u->from, u->missing[i], packed) == 0) return;
  if (u->missing_count < NDR_UNPACK_MISSING) u->missing[u->missing_count++] = packed;
}

static void find_missing(const mask *m) {
  ndr_number numbers[NDR_UNPACK_MISSING];
  int count = read_numbers(m->from, "_FillValue", &one, numbers);
  if (count) add_missing(m, numbers[0]);
  count = read_numbers(m->from, "missing_value", &some, numbers);
  for (int i = 0; i < count; i++) add_missing(m, numbers[i]);
}

/* Takes over a bound that some number of the dtype is beyond. */
static void set_bound(const mask *m, ndr_number number, ndr_packed *bound) {
  ndr_packed packed;
  if (!pack(m, number, &packed) || (is_float(m->unpack->from) && isnan(packed.f))) return;
  if (is_float(m->unpack->from)) m->unpack->masked = true;
  if (ndr_packed_compare(m->unpack->from, packed, *bound) == 0) return;
  *bound = packed;
  m->unpack->ranged = m->unpack->masked = true;
}

/* Where there is valid_range, the netCDF conventions have the other two ignored. */
static void find_range(const mask *m) {
  ndr_number range[2];
  ndr_unpack *u = m->unpack;
  u->least = ndr_packed_least(u->from);
  u->most = ndr_packed_most(u->from);
  if (read_numbers(m->from, "valid_range", &two, range)) {
    set_bound(m, range[0], &u->least);
    set_bound(m, range[1], &u->most);
    return;
  }
  if (read_numbers(m->from, "valid_min", &one, range)) set_bound(m, range[0], &u->least);
  if (read_numbers(m->from, "valid_max", &one, range)) set_bound(m, range[0], &u->most);
}

static void find_scale(attributes *from, ndr_unpack *unpack) {
  ndr_number number;
  if (read_numbers(from, "scale_factor", &one, &number)) unpack->scale = ndr_number_real(number);
  if (read_numbers(from, "add_offset", &one, &number)) unpack->offset = ndr_number_real(number);
  unpack->scaled = unpack->scale != 1 || unpack->offset != 0;
}

/* ---- The file's type -------------------------------------------------------------------------------------------- */

/* Compares the file's type with that of memory, laid into the file's byte order; an enumeration counts as its integers,
 * and those of bool are signed or not. */
static bool is_direct(hid_t file, hid_t memory, ndr_dtype stored, bool *swap) {
  H5T_order_t order = H5Tget_order(file), native = H5Tget_order(memory);
  if (stored == NDR_BOOL && H5Tset_sign(memory, H5Tget_sign(file)) < 0) return false;
  *swap = order != native && ndr_dtype_bytes(stored) > 1;
  return (order == H5T_ORDER_LE || order == H5T_ORDER_BE) && native != H5T_ORDER_ERROR &&
         H5Tset_order(memory, order) >= 0 && H5Tequal(file, memory) > 0;
}

static void find_layout(hid_t type, H5T_class_t kind, ndr_dtype stored, ndr_unpack *unpack) {
  hid_t file = kind == H5T_ENUM ? H5Tget_super(type) : H5Tcopy(type), memory = ndr_hdf_memory_type(stored, type);
  bool swap = false;
  unpack->direct = file >= 0 && memory >= 0 && is_direct(file, memory, stored, &swap);
  unpack->swap = unpack->direct && swap;
  if (memory >= 0) H5Tclose(memory);
  if (file >= 0) H5Tclose(file);
}

static ndr_dtype unsigned_of(ndr_dtype dtype) {
  return dtype >= NDR_I8 && dtype <= NDR_I64 ? (ndr_dtype)(dtype - NDR_I8 + NDR_U8) : dtype;
}

const char *ndr_hdf_find_unpack(hid_t dataset, hid_t type, H5T_class_t kind, ndr_dtype stored, bool raw,
                                ndr_unpack *unpack, ndr_misfits *misfits) {
  attributes from = {dataset, NULL, misfits};
  mask m = {unpack, &from, false};
  misfits->count = 0;
  *unpack = (ndr_unpack)NDR_UNPACK_INIT(stored);
  find_layout(type, kind, stored, unpack);
  if (raw || (kind != H5T_INTEGER && kind != H5T_FLOAT)) return NULL;
  bool whole = H5Tget_precision(type) == 8 * ndr_dtype_bytes(stored);
  if (kind == H5T_INTEGER && whole && is_unsigned(&from)) unpack->from = unpack->to = unsigned_of(stored);
  m.bits = unpack->from != stored;
  find_missing(&m);
  find_range(&m);
  find_scale(&from, unpack);
  if (unpack->scaled || (unpack->masked && kind == H5T_INTEGER))
    unpack->to = NDR_F64;
  else if (kind == H5T_INTEGER && ndr_dtype_bytes(stored) == 1 && is_bool(&from))
    unpack->from = unpack->to = NDR_BOOL;
  return from.failed;
}
