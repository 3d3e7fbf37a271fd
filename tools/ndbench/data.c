/* The elements that ndbench reduces: laid out as a problem says, filled so that results can be checked. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ndbench/ndbench.h"

#define LARGE_PAGE (INT64_C(2) << 20)

void *bench_allocate(size_t bytes) {
  size_t page = bytes >= 2 * LARGE_PAGE ? LARGE_PAGE : 4096;
  void *memory = aligned_alloc(page, (bytes + page) / page * page);
#ifdef MADV_HUGEPAGE
  /* Advice alone: where it is not taken, reductions and read loops meet the same small pages. */
  if (memory && page == LARGE_PAGE) (void)madvise(memory, (bytes + page) / page * page, MADV_HUGEPAGE);
#endif
  return memory;
}

/* SplitMix64. */
uint64_t bench_random(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xd6e8feb86659fd93u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* The layout of a float: bits of its fraction, bits in all, and the exponent field of 1. */
typedef struct float_layout {
  int fraction, bits;
  uint64_t one;
} float_layout;

static float_layout layout_of(ndr_dtype dtype) {
  switch (dtype) {
  case NDR_F16: return (float_layout){10, 16, 15};
  case NDR_BF16: return (float_layout){7, 16, 127};
  case NDR_F32:
  case NDR_C64: return (float_layout){23, 32, 127};
  case NDR_F64:
  case NDR_C128: return (float_layout){52, 64, 1023};
  default: return (float_layout){0, 0, 0};
  }
}

typedef struct recipe {
  float_layout layout; /* of floats and of the parts of complex numbers; bits 0 for integers */
  size_t step;         /* bytes of one number */
  bool truth, units, with_nan;
} recipe;

static uint64_t make_number(const recipe *how, uint64_t random) {
  const float_layout *layout = &how->layout;
  if (how->truth) return random & 1;
  if (layout->bits == 0) return random;
  uint64_t sign = (random >> 63) << (layout->bits - 1);
  uint64_t fraction = random & ((UINT64_C(1) << layout->fraction) - 1);
  if (how->units) return sign | layout->one << layout->fraction;
  if (how->with_nan && (random >> 56) % 64 == 0) return ((2 * layout->one + 1) << layout->fraction) | 1;
  return sign | (layout->one - 1 - (random >> 60) % 4) << layout->fraction | fraction;
}

void bench_fill(const bench_options *options, const ndr_problem *reduction, void *memory, size_t bytes) {
  recipe how = {.layout = layout_of(reduction->dtype), .truth = reduction->dtype == NDR_BOOL};
  how.step = how.layout.bits ? (size_t)how.layout.bits / 8 : ndr_dtype_bytes(reduction->dtype);
  how.with_nan = reduction->skip_nan;
  for (int i = 0; i < reduction->op_count; i++) how.units = how.units || reduction->ops[i] == NDR_PROD;
  int64_t count = (int64_t)(bytes / how.step);
  /* Static parts, as the read loops and the library have them: each thread's pages end up near it. */
#pragma omp parallel for schedule(static) num_threads(bench_threads(options))
  for (int64_t i = 0; i < count; i++) {
    uint64_t number = make_number(&how, bench_random(options->seed, (uint64_t)i));
    memcpy((char *)memory + (size_t)i * how.step, &number, how.step); /* little-endian: the low bytes come first */
  }
}
