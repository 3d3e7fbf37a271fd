/* See totals.h. */
#include "h5/read/unpack/totals.h"

#include <math.h>

#include "h5/read/unpack/isa.h"

/* Rows that are added up at a time: accumulators are loaded and stored an eighth as often. */
#define TOTALS_ROWS 8

/* How many elements are added up before their sum goes to f64. The sum of so many of 16 bits, signed or unsigned, fits
 * into an int32_t, and their number into a uint16_t. */
#define MOST_ADDED 32768

/* How many missing values there are loops for. Real files have one or two. */
#define MOST_MISSING 2

typedef uint16_t stored16 __attribute__((aligned(1), may_alias));

/* The loops of a dtype and byte order. */
typedef struct {
  void (*rows)(const ndr_unpack *u, const void *from, int64_t step, int rows, int64_t lanes, int32_t *restrict sums,
               uint16_t *restrict counts);
  void (*run)(const ndr_unpack *u, const void *from, int64_t count, int32_t *sum, int32_t *counted);
} loops;

/* Calls LOOP(number of missing values, whether there is a range) with constants, as the ndr_unpack u says. */
#define EACH_WAY(LOOP)                                                                                                 \
  switch (u->missing_count + (u->ranged ? MOST_MISSING + 1 : 0)) {                                                     \
  case 0: LOOP(0, false) break;                                                                                        \
  case 1: LOOP(1, false) break;                                                                                        \
  case 2: LOOP(2, false) break;                                                                                        \
  case 3: LOOP(0, true) break;                                                                                         \
  case 4: LOOP(1, true) break;                                                                                         \
  default: LOOP(2, true) break;                                                                                        \
  }

#define ISA
#define IN(name) name##_baseline
#include "h5/read/unpack/totals_isa.h"

#ifdef __x86_64__
#define ISA __attribute__((target("avx2")))
#define IN(name) name##_avx2
#include "h5/read/unpack/totals_isa.h"
#ifdef __clang__
#define ISA __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"), min_vector_width(512)))
#else
#define ISA __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")))
#endif
#define IN(name) name##_avx512
#include "h5/read/unpack/totals_isa.h"
#endif

static const loops *loops_here(const ndr_unpack *u) {
#ifdef __x86_64__
  switch (ndr_unpack_isa_here()) {
  case NDR_UNPACK_AVX512: return &loops_avx512[u->from][u->swap];
  case NDR_UNPACK_AVX2: return &loops_avx2[u->from][u->swap];
  case NDR_UNPACK_BASELINE: break;
  }
#endif
  return &loops_baseline[u->from][u->swap];
}

bool ndr_unpack_has_totals(const ndr_unpack *u) {
  const bool narrow = u->from == NDR_I8 || u->from == NDR_U8 || u->from == NDR_I16 || u->from == NDR_U16;
  const bool limited = fabs(u->scale) < 0x1p900 && fabs(u->offset) < 0x1p900; /* not NaN either */
  return narrow && u->to == NDR_F64 && limited && u->missing_count <= MOST_MISSING;
}

void ndr_totals_add_rows(const ndr_unpack *u, const void *from, int64_t step, int64_t rows, int64_t lanes, double *sums,
                         double *counts) {
  const loops *here = loops_here(u);
  const int64_t row_bytes = step * (int64_t)ndr_dtype_bytes(u->from);
  const char *at = from;
  while (rows > 0) {
    int32_t added[NDR_TOTALS_LANES] = {0};
    uint16_t counted[NDR_TOTALS_LANES] = {0};
    for (int64_t left = rows < MOST_ADDED ? rows : MOST_ADDED, some; left > 0; left -= some) {
      some = left < TOTALS_ROWS ? 1 : TOTALS_ROWS;
      here->rows(u, at, step, (int)some, lanes, added, counted);
      at += some * row_bytes;
      rows -= some;
    }
    for (int64_t l = 0; l < lanes; l++) sums[l] += added[l];
    for (int64_t l = 0; l < lanes; l++) counts[l] += counted[l];
  }
}

void ndr_totals_add_run(const ndr_unpack *u, const void *from, int64_t count, double *sum, double *counted) {
  const loops *here = loops_here(u);
  const char *at = from;
  for (int64_t some; count > 0; count -= some) {
    int32_t total, valid;
    some = count < MOST_ADDED ? count : MOST_ADDED;
    here->run(u, at, some, &total, &valid);
    *sum += total;
    *counted += valid;
    at += some * (int64_t)ndr_dtype_bytes(u->from);
  }
}

void ndr_totals_unpack(const ndr_unpack *u, int64_t lanes, double *sums, const double *counts) {
  for (int64_t l = 0; l < lanes; l++) sums[l] = sums[l] * u->scale + counts[l] * u->offset;
}
