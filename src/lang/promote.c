/* See promote.h. */
#include "lang/promote.h"

static ndr_dtype signed_of(size_t bytes) {
  for (int d = NDR_I8; d < NDR_I64; d++)
    if (ndr_dtype_bytes((ndr_dtype)d) == bytes) return (ndr_dtype)d;
  return NDR_I64;
}

static ndr_dtype promote_integers(ndr_dtype a, ndr_dtype b) {
  bool signed_a = ndr_dtype_is_signed(a), signed_b = ndr_dtype_is_signed(b);
  size_t bytes_a = ndr_dtype_bytes(a), bytes_b = ndr_dtype_bytes(b);
  if (a == NDR_BOOL) return b;
  if (b == NDR_BOOL) return a;
  if (signed_a == signed_b) return bytes_a >= bytes_b ? a : b;
  /* A signed type that holds all values of the unsigned one, if there is one. */
  size_t signed_bytes = signed_a ? bytes_a : bytes_b, unsigned_bytes = signed_a ? bytes_b : bytes_a;
  if (unsigned_bytes < signed_bytes) return signed_of(signed_bytes);
  return unsigned_bytes == 8 ? NDR_F64 : signed_of(2 * unsigned_bytes);
}

/* The float that NumPy computes in beside a float or complex dtype; f16 and bf16 count as f32. */
static ndr_dtype float_of(ndr_dtype dtype) {
  bool wide = ndr_dtype_is_integer(dtype) ? ndr_dtype_bytes(dtype) >= 4 : dtype == NDR_F64 || dtype == NDR_C128;
  return wide ? NDR_F64 : NDR_F32;
}

ndr_dtype ndr_dtype_promote(ndr_dtype a, ndr_dtype b) {
  if (ndr_dtype_is_integer(a) && ndr_dtype_is_integer(b)) return promote_integers(a, b);
  bool wide = float_of(a) == NDR_F64 || float_of(b) == NDR_F64;
  if (ndr_dtype_is_complex(a) || ndr_dtype_is_complex(b)) return wide ? NDR_C128 : NDR_C64;
  return wide ? NDR_F64 : NDR_F32;
}
