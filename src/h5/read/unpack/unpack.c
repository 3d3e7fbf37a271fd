/* See unpack.h: element by element, in blocks that stay in the first-level cache. Attributes are read in cf/. */
#include "h5/read/unpack/unpack.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "h5/read/unpack/isa.h"

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

typedef void (*widener)(const ndr_unpack *u, const void *from, void *to, int count);
typedef void (*masker)(const ndr_unpack *u, void *data, int count);

#define ISA
#define IN(name) name##_baseline
#include "h5/read/unpack/unpack_isa.h"

#ifdef __x86_64__
#define ISA __attribute__((target("avx2")))
#define IN(name) name##_avx2
#include "h5/read/unpack/unpack_isa.h"
#endif

/* The loops for one instruction set; all give the same bits. */
typedef struct {
  const widener *wideners;
  const masker *maskers;
  void (*swap)(size_t bytes, unsigned char *data, int count);
} loops;

static const loops baseline = {wideners_baseline, maskers_baseline, swap_baseline};

#ifdef __x86_64__
static const loops avx2 = {wideners_avx2, maskers_avx2, swap_avx2};
#endif

/* There are none wider than AVX2's. */
static const loops *loops_here(void) {
#ifdef __x86_64__
  if (ndr_unpack_isa_here() != NDR_UNPACK_BASELINE) return &avx2;
#endif
  return &baseline;
}

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

/* A piece as elements of `from` in native order. */
static void fetch(const ndr_unpack *u, size_t bytes, const unsigned char *source, int64_t step, void *target,
                  int count) {
  bool complex = u->from == NDR_C64 || u->from == NDR_C128;
  if (step == 1 && target != source)
    memmove(target, source, (size_t)count * bytes);
  else if (step != 1)
    gather(bytes, source, step, target, count);
  if (u->swap) loops_here()->swap(complex ? bytes / 2 : bytes, target, complex ? 2 * count : count);
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
  const widener widen = u->from != u->to || u->scaled ? loops_here()->wideners[u->from] : NULL;
  const masker mask = !widen && ndr_unpack_marks(u) ? loops_here()->maskers[u->from] : NULL;
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
