#include "h5/unpack_cf.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "h5/dtype.h"
#include "h5/packed.h"

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static ndr_dtype widest(ndr_dtype dtype) {
  return dtype >= NDR_I8 && dtype <= NDR_I64 ? NDR_I64 : dtype <= NDR_U64 ? NDR_U64 : NDR_F64;
}

/* At most `room` numbers of an attribute. How many; 0 for one that is not there, holds more, or no numbers. */
static int read_numbers(hid_t dataset, const char *name, int room, ndr_number *numbers) {
  ndr_packed values[NDR_UNPACK_MISSING];
  ndr_dtype dtype;
  int count = 0;
  if (H5Aexists(dataset, name) <= 0) return 0;
  hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  H5T_class_t kind = H5Tget_class(type);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  if ((kind == H5T_INTEGER || kind == H5T_FLOAT) && points > 0 && points <= room && !ndr_hdf_dtype(type, &dtype)) {
    dtype = widest(dtype);
    hid_t memory = ndr_hdf_memory_type(dtype, kind);
    if (H5Aread(attribute, memory, values) >= 0) count = (int)points;
    H5Tclose(memory);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  for (int i = 0; i < count; i++) numbers[i] = (ndr_number){dtype, values[i]};
  return count;
}

static bool is_true(hid_t attribute, hid_t type) {
  char text[16] = "", *pointer = NULL;
  if (H5Tis_variable_str(type) > 0) {
    bool same = H5Aread(attribute, type, &pointer) >= 0 && pointer && strcasecmp(pointer, "true") == 0;
    H5free_memory(pointer);
    return same;
  }
  return H5Tget_size(type) < sizeof text && H5Aread(attribute, type, text) >= 0 && strcasecmp(text, "true") == 0;
}

/* How netCDF says that signed integers stand for unsigned ones, which its classic format lacks: _Unsigned = "true". */
static bool is_unsigned(hid_t dataset) {
  if (H5Aexists(dataset, "_Unsigned") <= 0) return false;
  hid_t attribute = H5Aopen(dataset, "_Unsigned", H5P_DEFAULT), type = H5Aget_type(attribute);
  hid_t space = H5Aget_space(attribute);
  bool says = H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1 && is_true(attribute, type);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return says;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------ */

/* `bits`: the file's integers are signed, and count as the unsigned ones of the same bits. */
typedef struct {
  ndr_unpack *unpack;
  hid_t dataset;
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
  int count = read_numbers(m->dataset, "_FillValue", 1, numbers);
  if (count) add_missing(m, numbers[0]);
  count = read_numbers(m->dataset, "missing_value", NDR_UNPACK_MISSING - 1, numbers);
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
  if (read_numbers(m->dataset, "valid_range", 2, range) == 2) {
    set_bound(m, range[0], &u->least);
    set_bound(m, range[1], &u->most);
    return;
  }
  if (read_numbers(m->dataset, "valid_min", 1, range)) set_bound(m, range[0], &u->least);
  if (read_numbers(m->dataset, "valid_max", 1, range)) set_bound(m, range[0], &u->most);
}

static void find_scale(hid_t dataset, ndr_unpack *unpack) {
  ndr_number number;
  if (read_numbers(dataset, "scale_factor", 1, &number)) unpack->scale = ndr_number_real(number);
  if (read_numbers(dataset, "add_offset", 1, &number)) unpack->offset = ndr_number_real(number);
  unpack->scaled = unpack->scale != 1 || unpack->offset != 0;
}

/* ---- The file's type -------------------------------------------------------------------------------------------- */

/* Compares the file's type with that of memory, laid into the file's byte order; an enumeration counts as its integers,
 * and those of bool are signed or not. */
static void find_layout(hid_t type, ndr_dtype stored, ndr_unpack *unpack) {
  H5T_class_t kind = H5Tget_class(type);
  hid_t file = kind == H5T_ENUM ? H5Tget_super(type) : H5Tcopy(type), memory = ndr_hdf_memory_type(stored, kind);
  H5T_order_t order = H5Tget_order(file), native = H5Tget_order(memory);
  if (stored == NDR_BOOL) H5Tset_sign(memory, H5Tget_sign(file));
  unpack->direct = (order == H5T_ORDER_LE || order == H5T_ORDER_BE) && H5Tset_order(memory, order) >= 0 &&
                   H5Tequal(file, memory) > 0;
  unpack->swap = unpack->direct && order != native && ndr_dtype_bytes(stored) > 1;
  H5Tclose(memory);
  H5Tclose(file);
}

static ndr_dtype unsigned_of(ndr_dtype dtype) {
  return dtype >= NDR_I8 && dtype <= NDR_I64 ? (ndr_dtype)(dtype - NDR_I8 + NDR_U8) : dtype;
}

void ndr_hdf_find_unpack(hid_t dataset, hid_t type, ndr_dtype stored, bool raw, ndr_unpack *unpack) {
  H5T_class_t kind = H5Tget_class(type);
  mask m = {unpack, dataset, false};
  *unpack = (ndr_unpack)NDR_UNPACK_INIT(stored);
  find_layout(type, stored, unpack);
  if (raw || (kind != H5T_INTEGER && kind != H5T_FLOAT)) return;
  bool whole = H5Tget_precision(type) == 8 * ndr_dtype_bytes(stored);
  if (kind == H5T_INTEGER && whole && is_unsigned(dataset)) unpack->from = unpack->to = unsigned_of(stored);
  m.bits = unpack->from != stored;
  find_missing(&m);
  find_range(&m);
  find_scale(dataset, unpack);
  if (unpack->scaled || (unpack->masked && kind == H5T_INTEGER)) unpack->to = NDR_F64;
}
