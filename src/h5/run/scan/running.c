/* See running.h. Elements are converted in blocks that stay in the first-level cache. */
#include "h5/run/scan/running.h"

#include <math.h>
#include <string.h>

#include "h5/cf/attributes.h"
#include "h5/read/unpack/unpack.h"

enum { BLOCK = 512 };

static bool is_complex(ndr_dtype dtype) {
  return dtype == NDR_C64 || dtype == NDR_C128;
}

static bool is_float(ndr_dtype dtype) {
  return dtype == NDR_F16 || dtype == NDR_BF16 || dtype == NDR_F32 || dtype == NDR_F64;
}

static bool is_signed(ndr_dtype dtype) {
  return dtype == NDR_I8 || dtype == NDR_I16 || dtype == NDR_I32 || dtype == NDR_I64;
}

/* The dtype of words for values of this dtype. */
static ndr_dtype widest(ndr_dtype dtype) {
  return is_complex(dtype) ? NDR_C128 : is_float(dtype) ? NDR_F64 : is_signed(dtype) ? NDR_I64 : NDR_U64;
}

/* ---- No elements ------------------------------------------------------------------------------------------------- */

static int64_t extreme_of(ndr_dtype dtype, bool largest) {
  int bits = 8 * (int)ndr_dtype_bytes(dtype);
  if (dtype == NDR_BOOL) return largest;
  if (is_signed(dtype)) return largest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
  return largest ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
}

static void put_real(ndr_running *r, double value) {
  memcpy(r->nothing, &value, sizeof value);
}

static void put_integer(ndr_running *r, int64_t value) {
  memcpy(r->nothing, &value, sizeof value);
}

static void set_nothing(ndr_running *r) {
  bool real = r->word == NDR_F64 || r->word == NDR_C128;
  memset(r->nothing, 0, sizeof r->nothing);
  switch (r->op) {
  case NDR_PROD:
    if (real)
      put_real(r, 1);
    else
      put_integer(r, 1);
    break;
  case NDR_LOGSUMEXP: put_real(r, -INFINITY); break;
  case NDR_MIN:
  case NDR_MAX:
    if (real)
      put_real(r, r->op == NDR_MIN ? INFINITY : -INFINITY);
    else
      put_integer(r, extreme_of(r->from, r->op == NDR_MIN));
    break;
  case NDR_ALL: r->nothing[0] = 1; break;
  default: break;
  }
}

void ndr_running_settle(ndr_running *r, ndr_dtype from, ndr_dtype to, bool left_out) {
  bool extreme = r->op == NDR_MIN || r->op == NDR_MAX;
  r->from = from;
  r->to = to;
  r->word = to == NDR_BOOL && !extreme ? NDR_BOOL : widest(to);
  r->skip = r->skip && (is_float(from) || is_complex(from));
  r->marks = (is_float(to) || is_complex(to)) && (left_out || (extreme && r->skip)) &&
             (extreme || ndr_cf_attributes_hides_missing(r->op));
  set_nothing(r);
}

void ndr_running_mark(const ndr_running *r, void *words, int64_t i) {
  double *to = words;
  if (r->word == NDR_C128)
    to[2 * i] = to[2 * i + 1] = NAN;
  else
    to[i] = NAN;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

#define INTEGERS(DO)                                                                                                   \
  DO(NDR_BOOL, uint8_t, uint64_t)                                                                                      \
  DO(NDR_I8, int8_t, int64_t)                                                                                          \
  DO(NDR_I16, int16_t, int64_t)                                                                                        \
  DO(NDR_I32, int32_t, int64_t)                                                                                        \
  DO(NDR_I64, int64_t, int64_t)                                                                                        \
  DO(NDR_U8, uint8_t, uint64_t)                                                                                        \
  DO(NDR_U16, uint16_t, uint64_t)                                                                                      \
  DO(NDR_U32, uint32_t, uint64_t)                                                                                      \
  DO(NDR_U64, uint64_t, uint64_t)

static void widen_integers(ndr_dtype dtype, const void *from, int64_t count, void *words) {
#define WIDEN(number, type, word)                                                                                      \
  case number:                                                                                                         \
    for (int64_t i = 0; i < count; i++) ((word *)words)[i] = (word)((const type *)from)[i];                            \
    break;
  switch (dtype) {
    INTEGERS(WIDEN)
  default: break;
  }
#undef WIDEN
}

/* Adding the offset 0 has made a -0 of 16 bits a 0. */
static void restore_signs(const uint16_t *from, int64_t count, double *words) {
  for (int64_t i = 0; i < count; i++)
    if (from[i] == 0x8000) words[i] = -0.0;
}

/* Real numbers as f64; complex ones as pairs of them. */
static void widen_reals(ndr_dtype dtype, const void *from, int64_t count, double *words) {
  int64_t parts = is_complex(dtype) ? 2 * count : count;
  ndr_unpack unpack = NDR_UNPACK_INIT(dtype);
  unpack.to = NDR_F64;
  unpack.scaled = true;
  switch (dtype) {
  case NDR_F32:
  case NDR_C64:
    for (int64_t i = 0; i < parts; i++) words[i] = (double)((const float *)from)[i];
    break;
  case NDR_F64:
  case NDR_C128: memcpy(words, from, (size_t)parts * sizeof *words); break;
  default:
    ndr_unpack_run(&unpack, from, 1, words, count);
    if (dtype == NDR_F16 || dtype == NDR_BF16) restore_signs(from, count, words);
  }
}

static bool is_nan(ndr_dtype word, const double *words, int64_t i) {
  return word == NDR_C128 ? isnan(words[2 * i]) || isnan(words[2 * i + 1]) : isnan(words[i]);
}

/* any and all: NaN counts as true. */
static void load_truth(const ndr_running *r, const char *from, int64_t count, uint8_t *to, uint8_t *counts) {
  double values[2 * BLOCK] = {0};
  int64_t integers[BLOCK] = {0};
  ndr_dtype wide = widest(r->from);
  bool real = wide == NDR_F64 || wide == NDR_C128;
  if (real)
    widen_reals(r->from, from, count, values);
  else
    widen_integers(r->from, from, count, integers);
  for (int64_t i = 0; i < count; i++) {
    bool nan = real && is_nan(wide, values, i);
    to[i] = !real ? integers[i] != 0 : wide == NDR_C128 ? values[2 * i] != 0 || values[2 * i + 1] != 0 : values[i] != 0;
    counts[i] = !(nan && r->skip);
  }
}

static void load_block(const ndr_running *r, const char *from, int64_t count, char *to, uint8_t *counts) {
  if (r->word == NDR_BOOL) {
    load_truth(r, from, count, (uint8_t *)to, counts);
    return;
  }
  if (r->word == NDR_F64 || r->word == NDR_C128)
    widen_reals(r->from, from, count, (double *)(void *)to);
  else
    widen_integers(r->from, from, count, to);
  if (r->skip)
    for (int64_t i = 0; i < count; i++) counts[i] = !is_nan(r->word, (const double *)(const void *)to, i);
  else
    memset(counts, 1, (size_t)count);
}

void ndr_running_load(const ndr_running *r, const void *from, int64_t count, const uint8_t *keep, void *words,
                      uint8_t *valid) {
  size_t bytes = ndr_dtype_bytes(r->word), from_bytes = ndr_dtype_bytes(r->from);
  uint8_t counts[BLOCK];
  for (int64_t at = 0, size; at < count; at += size) {
    size = count - at < BLOCK ? count - at : BLOCK;
    char *to = (char *)words + (size_t)at * bytes;
    load_block(r, (const char *)from + (size_t)at * from_bytes, size, to, counts);
    for (int64_t i = 0; keep && i < size; i++) counts[i] &= keep[at + i] != 0;
    if (keep || r->skip)
      for (int64_t i = 0; i < size; i++)
        if (!counts[i]) memcpy(to + (size_t)i * bytes, r->nothing, bytes);
    if (valid) memcpy(valid + at, counts, (size_t)size);
  }
}

/* ---- Storing ----------------------------------------------------------------------------------------------------- */

/* The bits of a 16-bit float with `mantissa` bits of mantissa and this exponent bias; rounds to nearest, ties to even.
 * Subnormal numbers have the exponent of the least normal one. */
static uint16_t round16(double value, int mantissa, int bias) {
  unsigned sign = signbit(value) ? 0x8000u : 0, infinity = 0x7fffu >> mantissa << mantissa;
  double size = fabs(value);
  if (isnan(value)) return (uint16_t)(infinity | 1u << (mantissa - 1));
  if (size == 0) return (uint16_t)sign;
  if (isinf(size)) return (uint16_t)(sign | infinity);
  int exponent = ilogb(size) < 1 - bias ? 1 - bias : ilogb(size);
  if (exponent > bias) return (uint16_t)(sign | infinity);
  double rounded = nearbyint(ldexp(size, mantissa - exponent));
  unsigned bits = ((unsigned)(exponent + bias) << mantissa) + (unsigned)rounded - (1u << mantissa);
  return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

static void narrow_reals(const ndr_running *r, const double *from, int64_t count, void *to) {
  if (r->to == NDR_F32 || r->to == NDR_C64)
    for (int64_t i = 0; i < count; i++) ((float *)to)[i] = (float)from[i];
  else
    for (int64_t i = 0; i < count; i++)
      ((uint16_t *)to)[i] = r->to == NDR_F16 ? round16(from[i], 10, 15) : round16(from[i], 7, 127);
}

static void narrow_integers(ndr_dtype dtype, const void *words, int64_t count, void *to) {
#define NARROW(number, type, word)                                                                                     \
  case number:                                                                                                         \
    for (int64_t i = 0; i < count; i++) ((type *)to)[i] = (type)((const word *)words)[i];                              \
    break;
  switch (dtype) {
    INTEGERS(NARROW)
  default: break;
  }
#undef NARROW
}

/* Results have no more bytes than words, so the results of a block do not reach the next block's words. */
void ndr_running_store(const ndr_running *r, void *words, int64_t count) {
  size_t bytes = ndr_dtype_bytes(r->word), to_bytes = ndr_dtype_bytes(r->to);
  _Alignas(16) char block[BLOCK * 16];
  int64_t parts = r->word == NDR_C128 ? 2 : 1;
  if (r->word == r->to) return;
  for (int64_t at = 0, size; at < count; at += size) {
    size = count - at < BLOCK ? count - at : BLOCK;
    char *to = (char *)words + (size_t)at * to_bytes;
    memcpy(block, (char *)words + (size_t)at * bytes, (size_t)size * bytes);
    if (r->word == NDR_F64 || r->word == NDR_C128)
      narrow_reals(r, (const double *)(const void *)block, size * parts, to);
    else
      narrow_integers(r->to, block, size, to);
  }
}
