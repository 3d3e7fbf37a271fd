/* See unpack.h: element by element, in blocks that stay in the first-level cache. Attributes are read in cf/. */
#include "h5/read/unpack.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

/* Elements that are worked on at a time, so that every pass but the first finds them in the first-level cache. */
#define PIECE 1024

/* ---- Arithmetic ------------------------------------------------------------------------------------------------- */

static inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float f16_value(uint16_t half) {
  /* Read as an f32, its exponent is 112 too low, subnormals included; infinity and NaN need the largest one. */
  float magnitude = float_of((uint32_t)(half & 0x7fff) << 13) * 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  bits |= (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
  return float_of(bits | (uint32_t)(half & 0x8000) << 16);
}

static inline float bf16_value(uint16_t bits) {
  return float_of((uint32_t)bits << 16);
}

#define VALUE(x) ((x) != 0)
#define NAME(loop) loop##_bool
#define ELEMENT uint8_t
#define NUMBER uint8_t
#define MEMBER u
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_i8
#define ELEMENT int8_t
#define NUMBER int8_t
#define MEMBER i
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_i16
#define ELEMENT int16_t
#define NUMBER int16_t
#define MEMBER i
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_i32
#define ELEMENT int32_t
#define NUMBER int32_t
#define MEMBER i
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_i64
#define ELEMENT int64_t
#define NUMBER int64_t
#define MEMBER i
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_u8
#define ELEMENT uint8_t
#define NUMBER uint8_t
#define MEMBER u
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_u16
#define ELEMENT uint16_t
#define NUMBER uint16_t
#define MEMBER u
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_u32
#define ELEMENT uint32_t
#define NUMBER uint32_t
#define MEMBER u
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_u64
#define ELEMENT uint64_t
#define NUMBER uint64_t
#define MEMBER u
#include "h5/read/unpack_loops.h"
#define VALUE(x) f16_value(x)
#define NAME(loop) loop##_f16
#define ELEMENT uint16_t
#define NUMBER float
#define MEMBER f
#define SAME (uint16_t)0x7e00
#include "h5/read/unpack_loops.h"
#define VALUE(x) bf16_value(x)
#define NAME(loop) loop##_bf16
#define ELEMENT uint16_t
#define NUMBER float
#define MEMBER f
#define SAME (uint16_t)0x7fc0
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_f32
#define ELEMENT float
#define NUMBER float
#define MEMBER f
#define SAME (float)NAN
#include "h5/read/unpack_loops.h"
#define VALUE(x) (x)
#define NAME(loop) loop##_f64
#define ELEMENT double
#define NUMBER double
#define MEMBER f
#define SAME (double)NAN
#include "h5/read/unpack_loops.h"

typedef void (*widener)(const ndr_unpack *u, const void *from, void *to, int count);
typedef void (*masker)(const ndr_unpack *u, void *data, int count);

static const widener wideners[NDR_DTYPE_COUNT] = {
    [NDR_BOOL] = widen_bool, [NDR_I8] = widen_i8,   [NDR_I16] = widen_i16, [NDR_I32] = widen_i32,
    [NDR_I64] = widen_i64,   [NDR_U8] = widen_u8,   [NDR_U16] = widen_u16, [NDR_U32] = widen_u32,
    [NDR_U64] = widen_u64,   [NDR_F16] = widen_f16, [NDR_F32] = widen_f32, [NDR_BF16] = widen_bf16,
    [NDR_F64] = widen_f64,
};

static const masker maskers[NDR_DTYPE_COUNT] = {
    [NDR_F16] = mask_f16, [NDR_BF16] = mask_bf16, [NDR_F32] = mask_f32, [NDR_F64] = mask_f64};

/* ---- Moving ----------------------------------------------------------------------------------------------------- */

#define GATHER(bytes)                                                                                                  \
  case bytes:                                                                                                          \
    for (int i = 0; i < count; i++) memcpy(target + (bytes)*i, source + (bytes)*step * i, bytes);                      \
    break;

/* Constant sizes make each copy one load and one store. */
static void gather(size_t bytes, const unsigned char *source, int64_t step, unsigned char *target, int count) {
  switch (bytes) {
    GATHER(1)
    GATHER(2)
    GATHER(4)
    GATHER(8)
    GATHER(16)
  default: break;
  }
}

#define SWAP(bytes, type, swapped)                                                                                     \
  case bytes:                                                                                                          \
    for (int i = 0; i < count; i++) {                                                                                  \
      type bits;                                                                                                       \
      memcpy(&bits, data + (bytes)*i, bytes);                                                                          \
      bits = swapped(bits);                                                                                            \
      memcpy(data + (bytes)*i, &bits, bytes);                                                                          \
    }                                                                                                                  \
    break;

static void swap(size_t bytes, unsigned char *data, int count) {
  switch (bytes) {
    SWAP(2, uint16_t, __builtin_bswap16)
    SWAP(4, uint32_t, __builtin_bswap32)
    SWAP(8, uint64_t, __builtin_bswap64)
  default: break;
  }
}

/* A piece as elements of `from` in native order. */
static void fetch(const ndr_unpack *u, size_t bytes, const unsigned char *source, int64_t step, void *target,
                  int count) {
  bool complex = u->from == NDR_C64 || u->from == NDR_C128;
  if (step == 1)
    memmove(target, source, (size_t)count * bytes);
  else
    gather(bytes, source, step, target, count);
  if (u->swap) swap(complex ? bytes / 2 : bytes, target, complex ? 2 * count : count);
}

/* ---- The calls -------------------------------------------------------------------------------------------------- */

bool ndr_unpack_marks(const ndr_unpack *u) {
  return u->masked && (u->missing_count > 0 || u->ranged);
}

bool ndr_unpack_copies(const ndr_unpack *u) {
  return u->from == u->to && !u->swap && !u->scaled && !ndr_unpack_marks(u);
}

ndr_unpack ndr_unpack_native(const ndr_unpack *u) {
  ndr_unpack native = *u;
  native.swap = false;
  return native;
}

/* Whether a piece can be widened from where it lies: in order, aligned, and not in the way of what is written. */
static bool lies_ready(const ndr_unpack *u, const void *source, int64_t step, const void *target, int count) {
  size_t in = ndr_dtype_bytes(u->from), out = ndr_dtype_bytes(u->to), n = (size_t)count;
  uintptr_t from = (uintptr_t)source, to = (uintptr_t)target;
  return step == 1 && !u->swap && from % in == 0 && (to + n * out <= from || from + n * in <= to);
}

void ndr_unpack_run(const ndr_unpack *u, const void *from, int64_t step, void *to, int64_t count) {
  alignas(64) unsigned char piece[PIECE * sizeof(double)];
  size_t in = ndr_dtype_bytes(u->from), out = ndr_dtype_bytes(u->to);
  const unsigned char *source = from;
  unsigned char *target = to;
  const widener widen = u->from != u->to || u->scaled ? wideners[u->from] : NULL;
  const masker mask = !widen && ndr_unpack_marks(u) ? maskers[u->from] : NULL;
  if (step == 1 && ndr_unpack_copies(u)) {
    memmove(to, from, (size_t)count * in);
    return;
  }
  for (int64_t done = 0; done < count; done += PIECE) {
    int here = count - done < PIECE ? (int)(count - done) : PIECE;
    bool ready = widen && lies_ready(u, source, step, target, here);
    if (!ready) fetch(u, in, source, step, widen ? piece : target, here);
    if (widen)
      widen(u, ready ? source : piece, target, here);
    else if (mask)
      mask(u, target, here);
    source += step * (int64_t)in * here;
    target += (size_t)here * out;
  }
}
