/* See dtype.h. Converts no elements. */
#include "h5/file/dtype.h"

#include <string.h>

/* The floats that ours are, by the bits of their fields, narrowest first: f16 before bf16 where both would do. */
static const struct {
  ndr_dtype dtype;
  size_t exponent, mantissa, bias;
} floats[] = {
    {NDR_F16, 5, 10, 15},
    {NDR_BF16, 8, 7, 127},
    {NDR_F32, 8, 23, 127},
    {NDR_F64, 11, 52, 1023},
};
#define FLOATS (sizeof floats / sizeof *floats)

static const char *integer_dtype(size_t precision, H5T_sign_t sign, ndr_dtype *dtype) {
  static const ndr_dtype widths[2][4] = {{NDR_U8, NDR_U16, NDR_U32, NDR_U64}, {NDR_I8, NDR_I16, NDR_I32, NDR_I64}};
  if (precision == 0 || sign == H5T_SGN_ERROR) return NDR_UNKNOWN_ELEMENTS;
  if (precision > 64) return "integers wider than 64 bits";
  *dtype = widths[sign == H5T_SGN_2][(precision > 8) + (precision > 16) + (precision > 32)];
  return NULL;
}

static const char *float_dtype(hid_t type, ndr_dtype *dtype) {
  size_t sign, exponent_at, exponent, mantissa_at, mantissa, bias = H5Tget_ebias(type);
  if (H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0 || !bias)
    return NDR_UNKNOWN_ELEMENTS;
  if (exponent > 15) return "floats of no known form";
  *dtype = NDR_F64;
  for (size_t i = FLOATS; i-- > 0;) {
    size_t above = ((size_t)1 << exponent) - bias, fits = ((size_t)1 << floats[i].exponent) - floats[i].bias;
    if (exponent <= floats[i].exponent && mantissa <= floats[i].mantissa && bias <= floats[i].bias && above <= fits)
      *dtype = floats[i].dtype;
  }
  return NULL;
}

/* h5py and PyTables write bool as an enumeration of just FALSE = 0 and TRUE = 1. */
static htri_t is_truth(hid_t type) {
  hid_t base = H5Tget_super(type);
  size_t bytes = H5Tget_size(base);
  int count = H5Tget_nmembers(type);
  if (base >= 0) H5Tclose(base);
  if (bytes == 0 || count < 0) return -1;
  if (count != 2 || bytes != 1) return false;
  for (unsigned i = 0; i < 2; i++) {
    unsigned char value;
    char *name = H5Tget_member_name(type, i);
    bool read = name && H5Tget_member_value(type, i, &value) >= 0;
    bool fits = read && value == (strcmp(name, "TRUE") == 0) && (value || strcmp(name, "FALSE") == 0);
    H5free_memory(name);
    if (!read) return -1;
    if (!fits) return false;
  }
  return true;
}

static const char *enumeration_dtype(hid_t type, ndr_dtype *dtype) {
  htri_t truth = is_truth(type);
  if (truth < 0) return "an enumeration of no known form";
  if (truth) {
    *dtype = NDR_BOOL;
    return NULL;
  }
  hid_t base = H5Tget_super(type);
  const char *reason = integer_dtype(H5Tget_precision(base), H5Tget_sign(base), dtype);
  H5Tclose(base);
  return reason;
}

/* Members of a complex number: h5py's and HDF5.jl's, MATLAB's and Octave's, JLD2's. */
static const char *const complex_members[][2] = {{"r", "i"}, {"real", "imag"}, {"re", "im"}};
enum { COMPLEX_FORMS = sizeof complex_members / sizeof *complex_members };

/* COMPLEX_FORMS where a type has not just the members of one, -1 where they cannot be read. */
static int find_complex(hid_t type) {
  int count = H5Tget_nmembers(type), form = COMPLEX_FORMS;
  if (count != 2) return count < 0 ? -1 : COMPLEX_FORMS;
  char *a = H5Tget_member_name(type, 0), *b = H5Tget_member_name(type, 1);
  for (int i = 0; a && b && i < COMPLEX_FORMS; i++) {
    const char *const *names = complex_members[i];
    bool same = strcmp(a, names[0]) == 0 && strcmp(b, names[1]) == 0;
    if (same || (strcmp(a, names[1]) == 0 && strcmp(b, names[0]) == 0)) form = i;
  }
  if (!a || !b) form = -1;
  H5free_memory(a);
  H5free_memory(b);
  return form;
}

/* Complex are two floats of one dtype. */
static const char *compound_dtype(hid_t type, ndr_dtype *dtype) {
  static const char *const unknown = "compound elements of no known form";
  int form = find_complex(type);
  if (form < 0) return unknown;
  if (form == COMPLEX_FORMS) return NDR_TABLE_ELEMENTS;
  hid_t parts[2] = {H5Tget_member_type(type, 0), H5Tget_member_type(type, 1)};
  H5T_class_t kind = H5Tget_class(parts[0]);
  htri_t equal = H5Tequal(parts[0], parts[1]);
  ndr_dtype part = NDR_F64;
  const char *reason = kind == H5T_NO_CLASS || equal < 0     ? unknown
                       : kind != H5T_FLOAT || equal == false ? NDR_TABLE_ELEMENTS
                                                             : float_dtype(parts[0], &part);
  for (int i = 0; i < 2; i++)
    if (parts[i] >= 0) H5Tclose(parts[i]);
  *dtype = part == NDR_F64 ? NDR_C128 : NDR_C64;
  return reason;
}

const char *ndr_hdf_dtype(hid_t type, ndr_dtype *dtype) {
  switch (H5Tget_class(type)) {
  case H5T_INTEGER: return integer_dtype(H5Tget_precision(type), H5Tget_sign(type), dtype);
  case H5T_BITFIELD: return integer_dtype(H5Tget_size(type) * 8, H5T_SGN_NONE, dtype);
  case H5T_FLOAT: return float_dtype(type, dtype);
  case H5T_ENUM: return enumeration_dtype(type, dtype);
  case H5T_COMPOUND: return compound_dtype(type, dtype);
  case H5T_STRING: return "strings";
  case H5T_TIME: return "HDF5 times";
  case H5T_OPAQUE: return "opaque elements";
  case H5T_REFERENCE: return "references";
  case H5T_VLEN: return "elements of variable length";
  case H5T_ARRAY: return "small arrays as elements";
  default: return NDR_UNKNOWN_ELEMENTS;
  }
}

/* A float from its fields, where HDF5 may have no such native type: f16 before 1.14.4, bf16 before 2.0. */
static hid_t narrow_float(size_t index) {
  hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
  size_t exponent = floats[index].exponent, mantissa = floats[index].mantissa;
  if (H5Tset_fields(type, exponent + mantissa, mantissa, exponent, 0, mantissa) < 0 || H5Tset_precision(type, 16) < 0 ||
      H5Tset_size(type, 2) < 0 || H5Tset_ebias(type, floats[index].bias) < 0) {
    H5Tclose(type);
    return H5I_INVALID_HID;
  }
  return type;
}

/* HDF5 finds members by their names. */
static hid_t complex_type(hid_t part, size_t bytes, hid_t from) {
  int form = from >= 0 && H5Tget_class(from) == H5T_COMPOUND ? find_complex(from) : 0;
  if (form < 0 || form == COMPLEX_FORMS) return H5I_INVALID_HID;
  const char *const *members = complex_members[form];
  hid_t type = H5Tcreate(H5T_COMPOUND, 2 * bytes);
  H5Tinsert(type, members[0], 0, part);
  H5Tinsert(type, members[1], bytes, part);
  return type;
}

static hid_t bitfield_type(ndr_dtype dtype) {
  switch (ndr_dtype_bytes(dtype)) {
  case 1: return H5Tcopy(H5T_NATIVE_B8);
  case 2: return H5Tcopy(H5T_NATIVE_B16);
  case 4: return H5Tcopy(H5T_NATIVE_B32);
  default: return H5Tcopy(H5T_NATIVE_B64);
  }
}

hid_t ndr_hdf_memory_type(ndr_dtype dtype, hid_t from) {
  if (from >= 0 && H5Tget_class(from) == H5T_BITFIELD) return bitfield_type(dtype);
  switch (dtype) {
  case NDR_BOOL:
  case NDR_I8: return H5Tcopy(H5T_NATIVE_INT8);
  case NDR_I16: return H5Tcopy(H5T_NATIVE_INT16);
  case NDR_I32: return H5Tcopy(H5T_NATIVE_INT32);
  case NDR_I64: return H5Tcopy(H5T_NATIVE_INT64);
  case NDR_U8: return H5Tcopy(H5T_NATIVE_UINT8);
  case NDR_U16: return H5Tcopy(H5T_NATIVE_UINT16);
  case NDR_U32: return H5Tcopy(H5T_NATIVE_UINT32);
  case NDR_U64: return H5Tcopy(H5T_NATIVE_UINT64);
  case NDR_F16: return narrow_float(0);
  case NDR_BF16: return narrow_float(1);
  case NDR_F32: return H5Tcopy(H5T_NATIVE_FLOAT);
  case NDR_F64: return H5Tcopy(H5T_NATIVE_DOUBLE);
  case NDR_C64: return complex_type(H5T_NATIVE_FLOAT, sizeof(float), from);
  case NDR_C128: return complex_type(H5T_NATIVE_DOUBLE, sizeof(double), from);
  }
  return H5I_INVALID_HID;
}

hid_t ndr_hdf_file_type(ndr_dtype dtype) {
  if (dtype != NDR_BOOL) return ndr_hdf_memory_type(dtype, H5I_INVALID_HID);
  hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  H5Tenum_insert(type, "FALSE", &(int8_t){0});
  H5Tenum_insert(type, "TRUE", &(int8_t){1});
  return type;
}

hid_t ndr_hdf_netcdf_type(hid_t stored) {
  ndr_dtype dtype;
  const hid_t known[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
  bool plain = H5Tget_class(stored) != H5T_FLOAT || float_dtype(stored, &dtype) != NULL;
  for (size_t i = 0; i < sizeof known / sizeof *known && !plain; i++) plain = H5Tequal(stored, known[i]) > 0;
  return H5Tcopy(plain ? stored : dtype == NDR_F64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT);
}
