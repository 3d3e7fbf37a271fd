/* See packed.h. Whether attributes count at all is decided in unpack_cf.c. */
#include "h5/cf/packed.h"

#include <math.h>

typedef enum { SIGNED, UNSIGNED, REAL } kind;

/* By the numbers of the public enumeration: i8 to i64, u8 to u64, floats. */
static kind kind_of(ndr_dtype dtype) {
  return dtype >= NDR_I8 && dtype <= NDR_I64 ? SIGNED : dtype <= NDR_U64 ? UNSIGNED : REAL;
}

static int bits_of(ndr_dtype dtype) {
  return 8 * (int)ndr_dtype_bytes(dtype);
}

static int64_t most_signed(int bits) {
  return INT64_MAX >> (64 - bits);
}

static uint64_t most_unsigned(int bits) {
  return UINT64_MAX >> (64 - bits);
}

double ndr_number_real(ndr_number number) {
  switch (number.dtype) {
  case NDR_I64: return (double)number.value.i;
  case NDR_U64: return (double)number.value.u;
  default: return number.value.f;
  }
}

static bool pack_signed(ndr_number number, int bits, int64_t *packed) {
  int64_t most = most_signed(bits);
  double limit = ldexp(1, bits - 1), real = number.value.f;
  switch (number.dtype) {
  case NDR_I64:
    if (number.value.i < -most - 1 || number.value.i > most) return false;
    *packed = number.value.i;
    return true;
  case NDR_U64:
    if (number.value.u > (uint64_t)most) return false;
    *packed = (int64_t)number.value.u;
    return true;
  default:
    if (!(real >= -limit && real < limit) || real != trunc(real)) return false;
    *packed = (int64_t)real;
    return true;
  }
}

static bool pack_unsigned(ndr_number number, int bits, uint64_t *packed) {
  uint64_t most = most_unsigned(bits);
  double real = number.value.f;
  switch (number.dtype) {
  case NDR_I64:
    if (number.value.i < 0 || (uint64_t)number.value.i > most) return false;
    *packed = (uint64_t)number.value.i;
    return true;
  case NDR_U64:
    if (number.value.u > most) return false;
    *packed = number.value.u;
    return true;
  default:
    if (!(real >= 0 && real < ldexp(1, bits)) || real != trunc(real)) return false;
    *packed = (uint64_t)real;
    return true;
  }
}

/* To `digits` significant bits, down to the exponent `lowest` of the smallest normal number. */
static double round_to(double real, int digits, int lowest) {
  int exponent;
  if (real == 0 || !isfinite(real)) return real;
  frexp(real, &exponent);
  double unit = ldexp(1, (exponent - 1 < lowest ? lowest : exponent - 1) - digits + 1);
  return rint(real / unit) * unit;
}

static bool pack_real(double real, ndr_dtype dtype, double *packed) {
  double limit = INFINITY;
  switch (dtype) {
  case NDR_F16: *packed = round_to(real, 11, -14), limit = 0x1p16; break;
  case NDR_BF16: *packed = round_to(real, 8, -126), limit = 0x1p128; break;
  case NDR_F32: *packed = round_to(real, 24, -126), limit = 0x1p128; break;
  default: *packed = real; break;
  }
  return !isfinite(real) || fabs(*packed) < limit;
}

bool ndr_number_pack(ndr_number number, ndr_dtype dtype, ndr_packed *packed) {
  switch (kind_of(dtype)) {
  case SIGNED: return pack_signed(number, bits_of(dtype), &packed->i);
  case UNSIGNED: return pack_unsigned(number, bits_of(dtype), &packed->u);
  default: return pack_real(ndr_number_real(number), dtype, &packed->f);
  }
}

bool ndr_number_pack_bits(ndr_number number, ndr_dtype dtype, ndr_packed *packed) {
  int64_t bits;
  if (!pack_signed(number, bits_of(dtype), &bits)) return ndr_number_pack(number, dtype, packed);
  packed->u = (uint64_t)bits & most_unsigned(bits_of(dtype));
  return true;
}

ndr_packed ndr_packed_least(ndr_dtype dtype) {
  switch (kind_of(dtype)) {
  case SIGNED: return (ndr_packed){.i = -most_signed(bits_of(dtype)) - 1};
  case UNSIGNED: return (ndr_packed){.u = 0};
  default: return (ndr_packed){.f = -INFINITY};
  }
}

ndr_packed ndr_packed_most(ndr_dtype dtype) {
  switch (kind_of(dtype)) {
  case SIGNED: return (ndr_packed){.i = most_signed(bits_of(dtype))};
  case UNSIGNED: return (ndr_packed){.u = most_unsigned(bits_of(dtype))};
  default: return (ndr_packed){.f = INFINITY};
  }
}

int ndr_packed_compare(ndr_dtype dtype, ndr_packed a, ndr_packed b) {
  switch (kind_of(dtype)) {
  case SIGNED: return (a.i > b.i) - (a.i < b.i);
  case UNSIGNED: return (a.u > b.u) - (a.u < b.u);
  default: return (a.f > b.f) - (a.f < b.f);
  }
}
