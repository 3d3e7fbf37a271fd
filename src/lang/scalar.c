/* See scalar.h. */
#include "lang/scalar.h"

#include <math.h>
#include <string.h>

/* ---- elements ---- */

ndr_scalar ndr_scalar_load(ndr_dtype dtype, const void *data, int64_t element) {
  ndr_scalar value = {.dtype = dtype};
  size_t bytes = ndr_dtype_bytes(dtype);
  const char *from = (const char *)data + element * (int64_t)bytes;
  union {
    uint8_t u8;
    int8_t i8;
    uint16_t u16;
    int16_t i16;
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f32[2];
    double f64[2];
  } stored;
  memcpy(&stored, from, bytes);
  switch (dtype) {
  case NDR_BOOL: value.u = stored.u8 != 0; break;
  case NDR_I8: value.i = 0 + stored.i8; break;
  case NDR_I16: value.i = stored.i16; break;
  case NDR_I32: value.i = stored.i32; break;
  case NDR_I64: value.i = stored.i64; break;
  case NDR_U8: value.u = stored.u8; break;
  case NDR_U16: value.u = stored.u16; break;
  case NDR_U32: value.u = stored.u32; break;
  case NDR_U64: value.u = stored.u64; break;
  case NDR_F16: value.re = (double)ndr_f16_to_float(stored.u16); break;
  case NDR_BF16: value.re = (double)ndr_bf16_to_float(stored.u16); break;
  case NDR_F32: value.re = (double)stored.f32[0]; break;
  case NDR_F64: value.re = stored.f64[0]; break;
  case NDR_C64:
    value.re = (double)stored.f32[0];
    value.im = (double)stored.f32[1];
    break;
  case NDR_C128:
    value.re = stored.f64[0];
    value.im = stored.f64[1];
    break;
  }
  return value;
}

/* ---- conversions ---- */

int64_t ndr_integer_cut(int64_t value, ndr_dtype dtype) {
  int spare = 64 - 8 * (int)ndr_dtype_bytes(dtype);
  if (dtype == NDR_BOOL) return value != 0;
  if (ndr_dtype_is_signed(dtype)) return (int64_t)((uint64_t)value << spare) >> spare;
  return (int64_t)((uint64_t)value << spare >> spare);
}

/* Not inlined: GCC 12 makes vectors of two such roundings side by side, and then leaves both out. */
__attribute__((noinline)) static double round_to_f32(double value) {
  return (double)(float)value;
}

ndr_scalar ndr_scalar_settle(ndr_scalar value, ndr_dtype dtype, bool wide) {
  value.dtype = dtype;
  if (wide) return value;
  switch (ndr_dtype_class(dtype)) {
  case NDR_CLASS_BOOL: break;
  case NDR_CLASS_INT:
  case NDR_CLASS_UINT: value.i = ndr_integer_cut(value.i, dtype); break;
  case NDR_CLASS_FLOAT:
    if (dtype != NDR_F64) value.re = round_to_f32(value.re);
    break;
  case NDR_CLASS_COMPLEX:
    if (dtype == NDR_C128) break;
    value.re = round_to_f32(value.re);
    value.im = round_to_f32(value.im);
  }
  return value;
}

static bool is_true(ndr_scalar value) {
  return ndr_dtype_is_float(value.dtype) ? value.re != 0 || value.im != 0 : value.u != 0;
}

/* C leaves open what happens beyond the limits: there they are taken, and 0 for NaN. */
static int64_t integer_of(double value, bool is_unsigned) {
  if (isnan(value)) return 0;
  if (is_unsigned) return (int64_t)(value <= 0 ? 0 : value >= 0x1p64 ? UINT64_MAX : (uint64_t)value);
  return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

ndr_scalar ndr_scalar_convert(ndr_scalar value, ndr_dtype dtype, bool wide) {
  ndr_scalar out = {.dtype = dtype};
  bool from_float = ndr_dtype_is_float(value.dtype), single = !wide && dtype != NDR_F64 && dtype != NDR_C128;
  if (dtype == NDR_BOOL) {
    out.u = is_true(value);
    return out;
  }
  if (!ndr_dtype_is_float(dtype)) {
    out.i = from_float ? integer_of(value.re, !ndr_dtype_is_signed(dtype)) : value.i;
  } else if (from_float) {
    out.re = value.re;
    if (ndr_dtype_is_complex(dtype)) out.im = value.im;
  } else if (ndr_dtype_is_signed(value.dtype)) { /* straight to f32, not by way of f64 */
    out.re = single ? (double)(float)value.i : (double)value.i;
  } else {
    out.re = single ? (double)(float)value.u : (double)value.u;
  }
  return ndr_scalar_settle(out, dtype, wide);
}

void ndr_scalar_store(ndr_scalar value, ndr_dtype dtype, void *data, int64_t element) {
  size_t bytes = ndr_dtype_bytes(dtype);
  char *to = (char *)data + element * (int64_t)bytes;
  /* Halves are rounded from f64, once. */
  bool half = dtype == NDR_F16 || dtype == NDR_BF16;
  value = ndr_scalar_convert(value, half ? NDR_F64 : dtype, false);
  switch (dtype) {
  case NDR_F16: memcpy(to, &(ndr_f16){ndr_f16_from_double(value.re)}, bytes); break;
  case NDR_BF16: memcpy(to, &(ndr_bf16){ndr_bf16_from_double(value.re)}, bytes); break;
  case NDR_F32: memcpy(to, &(float){(float)value.re}, bytes); break;
  case NDR_F64: memcpy(to, &value.re, bytes); break;
  case NDR_C64: memcpy(to, &(ndr_c64){(float)value.re, (float)value.im}, bytes); break;
  case NDR_C128: memcpy(to, &(ndr_c128){value.re, value.im}, bytes); break;
  default:
    switch (bytes) {
    case 1: memcpy(to, &(uint8_t){(uint8_t)value.u}, bytes); break;
    case 2: memcpy(to, &(uint16_t){(uint16_t)value.u}, bytes); break;
    case 4: memcpy(to, &(uint32_t){(uint32_t)value.u}, bytes); break;
    default: memcpy(to, &value.u, bytes);
    }
  }
}
