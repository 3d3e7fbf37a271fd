#include "element.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(LDBL_MANT_DIG >= 64, "the oracle needs a long double that holds every 64-bit integer");

bool is_complex(ndr_dtype dtype) {
  return dtype == NDR_C64 || dtype == NDR_C128;
}

bool is_integer(ndr_dtype dtype) {
  return dtype <= NDR_U64;
}

bool is_signed(ndr_dtype dtype) {
  return dtype >= NDR_I8 && dtype <= NDR_I64;
}

format format_of(ndr_dtype dtype) {
  switch (dtype) {
  case NDR_F16: return (format){11, -14, 16};
  case NDR_BF16: return (format){8, -126, 128};
  case NDR_F32:
  case NDR_C64: return (format){24, -126, 128};
  default: return (format){53, -1022, 1024};
  }
}

long double rounding_of(ndr_dtype dtype) {
  return ldexpl(1, -format_of(dtype).digits);
}

long double round_to(format target, long double value) {
  if (isnan(value) || isinf(value) || value == 0) return value;
  int exponent = ilogbl(value) < target.lowest ? target.lowest : ilogbl(value);
  long double unit = ldexpl(1, exponent - target.digits + 1);
  long double rounded = nearbyintl(value / unit) * unit;
  return fabsl(rounded) >= ldexpl(1, target.top) ? copysignl(INFINITY, value) : rounded;
}

static long double load_small_float(format source, uint16_t bits) {
  int fraction_bits = source.digits - 1;
  int fraction = bits & ((1 << fraction_bits) - 1);
  int field = (bits & 0x7fff) >> fraction_bits;
  long double magnitude;
  if (field == source.top - source.lowest + 1)
    magnitude = fraction ? NAN : INFINITY;
  else if (field == 0)
    magnitude = ldexpl(fraction, source.lowest - fraction_bits);
  else
    magnitude = ldexpl(fraction + (1 << fraction_bits), field - 1 + source.lowest - fraction_bits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t store_small_float(format target, long double value) {
  int fraction_bits = target.digits - 1;
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  uint16_t infinity = (uint16_t)((target.top - target.lowest + 1) << fraction_bits);
  long double magnitude = fabsl(round_to(target, value));
  if (isnan(value)) return infinity | 1;
  if (isinf(magnitude)) return sign | infinity;
  if (magnitude < ldexpl(1, target.lowest)) return sign | (uint16_t)ldexpl(magnitude, fraction_bits - target.lowest);
  int exponent = ilogbl(magnitude);
  int fraction = (int)ldexpl(magnitude, fraction_bits - exponent) - (1 << fraction_bits);
  return (uint16_t)(sign | (exponent - target.lowest + 1) << fraction_bits | fraction);
}

element element_load(ndr_dtype dtype, const void *from) {
  element value = {0, 0};
  switch (dtype) {
#define LOAD(TYPE, ctype)                                                                                              \
  case NDR_##TYPE: {                                                                                                   \
    ctype stored;                                                                                                      \
    memcpy(&stored, from, sizeof stored);                                                                              \
    value.re = (long double)stored;                                                                                    \
    break;                                                                                                             \
  }
    LOAD(I8, int8_t)
    LOAD(I16, int16_t)
    LOAD(I32, int32_t)
    LOAD(I64, int64_t)
    LOAD(U8, uint8_t)
    LOAD(U16, uint16_t)
    LOAD(U32, uint32_t)
    LOAD(U64, uint64_t)
    LOAD(F32, float)
    LOAD(F64, double)
#undef LOAD
  case NDR_BOOL: value.re = *(const uint8_t *)from != 0; break;
  case NDR_F16:
  case NDR_BF16: {
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    value.re = load_small_float(format_of(dtype), bits);
    break;
  }
  case NDR_C64:
    value.re = element_load(NDR_F32, from).re;
    value.im = element_load(NDR_F32, (const char *)from + 4).re;
    break;
  case NDR_C128:
    value.re = element_load(NDR_F64, from).re;
    value.im = element_load(NDR_F64, (const char *)from + 8).re;
    break;
  }
  return value;
}

void element_store(ndr_dtype dtype, void *to, element value) {
  switch (dtype) {
#define STORE(TYPE, ctype)                                                                                             \
  case NDR_##TYPE: memcpy(to, &(ctype){(ctype)value.re}, sizeof(ctype)); break;
    STORE(I8, int8_t)
    STORE(I16, int16_t)
    STORE(I32, int32_t)
    STORE(I64, int64_t)
    STORE(U8, uint8_t)
    STORE(U16, uint16_t)
    STORE(U32, uint32_t)
    STORE(U64, uint64_t)
    STORE(F32, float)
    STORE(F64, double)
#undef STORE
  case NDR_BOOL: *(uint8_t *)to = value.re != 0; break;
  case NDR_F16:
  case NDR_BF16: memcpy(to, &(uint16_t){store_small_float(format_of(dtype), value.re)}, 2); break;
  case NDR_C64:
    element_store(NDR_F32, to, (element){value.re, 0});
    element_store(NDR_F32, (char *)to + 4, (element){value.im, 0});
    break;
  case NDR_C128:
    element_store(NDR_F64, to, (element){value.re, 0});
    element_store(NDR_F64, (char *)to + 8, (element){value.im, 0});
    break;
  }
}
