/* Template: what every micro-kernel is written with. Included once by table.h. */
#include <math.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "cpu/fold/fold.h"

/* Accumulators that start a cache line: vectors across two lines take twice as long, and a load waits for the store. */
#define ALIGNED _Alignas(64)
#define INLINE static inline __attribute__((always_inline))
#define MOST_F64 0x1.fffffffffffffp1023

static inline double f64_of(uint64_t word) {
  double value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static inline uint64_t word_of(double value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

/* (double)x of 64-bit integers. Its halves become f64 by their exponents' bits, exactly, and their sum is rounded once:
 * a few instructions of vectors, where only AVX-512 has one, and AVX2 would convert one by one. */
#ifdef __AVX512DQ__
#define F64_OF_I64(x) ((double)(x))
#define F64_OF_U64(x) ((double)(x))
#else
static inline double f64_of_halves(uint64_t high, uint64_t low, double excess) {
  return (f64_of(high | UINT64_C(0x4530000000000000)) - excess) + f64_of(low | UINT64_C(0x4330000000000000));
}

static inline double f64_of_u64(uint64_t x) {
  return f64_of_halves(x >> 32, x & 0xffffffffu, 0x1p84 + 0x1p52);
}

/* The highest bit changes sides, which adds 2^63. */
static inline double f64_of_i64(int64_t x) {
  const uint64_t bits = (uint64_t)x;
  return f64_of_halves(bits >> 32 ^ 0x80000000u, bits & 0xffffffffu, 0x1p84 + 0x1p63 + 0x1p52);
}
#define F64_OF_I64(x) f64_of_i64(x)
#define F64_OF_U64(x) f64_of_u64(x)
#endif

static inline float f32_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Load and store a vector at any address. Of memcpy GCC 12 makes two copies of 16 bytes to an array of 32-byte vectors
 * on the stack, and a load of 32 bytes from there has to wait for both. */
#define VECTOR_AT(type, address) (((struct { type all; } __attribute__((packed, may_alias)) *)(address))->all)
#define LOAD_VECTOR(v, from) ((v) = VECTOR_AT(const __typeof__(v), (const void *)(from)))
#define STORE_VECTOR(to, v) (VECTOR_AT(__typeof__(v), (void *)(to)) = (v))

/* A row of a contiguous run of f32 or f64 has as many lanes as f64 sums fit into half of the registers, each a part of
 * them. SSE2 has too few. GCC 12 makes several instructions of a conversion that is one, so they are named. */
#define RUN_LANES 32
#if defined __AVX512F__
#define RUN_PART 8
#define RUN_PARTS(X) X(0) X(1) X(2) X(3)
#define WIDEN_F32(at) ((run_part)_mm512_cvtps_pd(_mm256_loadu_ps(at)))
#define WIDEN_F64(at) ((run_part)_mm512_loadu_pd(at))
#define BROADCAST(at) ((run_part)_mm512_set1_pd((double)*(at)))
#define WIDEN_PRODUCT_F32(a, b) ((run_part)_mm512_cvtps_pd(_mm256_mul_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(b))))
#define WIDEN_SQUARED_DIFFERENCE_F32(a, b)                                                                             \
  ((run_part)_mm512_cvtps_pd(square_f32(_mm256_sub_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(b)))))
#define PART_OF_F32(at) _mm512_loadu_ps(at)
#define VECTOR(op, type) _mm512_##op##_##type
#define COMPARED(type, a, b, how) ((unsigned)_mm512_cmp_##type##_mask(a, b, how))
#elif defined __AVX2__
#define RUN_PART 4
#define RUN_PARTS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define WIDEN_F32(at) ((run_part)_mm256_cvtps_pd(_mm_loadu_ps(at)))
#define WIDEN_F64(at) ((run_part)_mm256_loadu_pd(at))
#define BROADCAST(at) ((run_part)_mm256_set1_pd((double)*(at)))
#define WIDEN_PRODUCT_F32(a, b) ((run_part)_mm256_cvtps_pd(_mm_mul_ps(_mm_loadu_ps(a), _mm_loadu_ps(b))))
#define WIDEN_SQUARED_DIFFERENCE_F32(a, b)                                                                             \
  ((run_part)_mm256_cvtps_pd(square_f32(_mm_sub_ps(_mm_loadu_ps(a), _mm_loadu_ps(b)))))
#define PART_OF_F32(at) _mm256_loadu_ps(at)
#define VECTOR(op, type) _mm256_##op##_##type
#define COMPARED(type, a, b, how) ((unsigned)_mm256_movemask_##type(_mm256_cmp_##type(a, b, how)))
#endif

#if defined __AVX512F__
static inline __m256 square_f32(__m256 x) {
  return _mm256_mul_ps(x, x);
}
#elif defined __AVX2__
static inline __m128 square_f32(__m128 x) {
  return _mm_mul_ps(x, x);
}
#endif

#ifdef RUN_PART
typedef double run_part __attribute__((vector_size(RUN_PART * sizeof(double))));
typedef int64_t run_part_bits __attribute__((vector_size(RUN_PART * sizeof(int64_t))));

#define ADD_PART(words, values)                                                                                        \
  do {                                                                                                                 \
    run_part sum_;                                                                                                     \
    memcpy(&sum_, words, sizeof sum_);                                                                                 \
    sum_ = sum_ + (values);                                                                                            \
    memcpy(words, &sum_, sizeof sum_);                                                                                 \
  } while (0)
#endif

/* Registers that hold WIDE times 16 bytes, for transposing. */
#if defined __AVX512BW__
#define WIDE 4
#define WIDE_PARTS(X) X(0) X(1) X(2) X(3)
#define WIDE_PART(v, q) _mm512_extracti32x4_epi32(v, q)
#define WIDE_UNPACK(half, type) _mm512_unpack##half##_##type
typedef __m512i wide_bits;
#elif defined __AVX2__
#define WIDE 2
#define WIDE_PARTS(X) X(0) X(1)
#define WIDE_PART(v, q) _mm256_extracti128_si256(v, q)
#define WIDE_UNPACK(half, type) _mm256_unpack##half##_##type
typedef __m256i wide_bits;
#endif

/* Bytes of half a register: compilers make a loop of whole registers, then one of halves, and take the rest one by one.
 */
#if defined __AVX512BW__
#define HALF_BYTES 32
#elif defined __AVX2__
#define HALF_BYTES 16
#else
#define HALF_BYTES 8
#endif

/* Lanes to compute: the tile's, rounded up to `some` if the elements behind each row may be read. What the additional
 * lanes come to is dropped. */
static inline int64_t rounded_up(const ndr_tile *tile, int64_t some) {
  const int64_t rounded = (tile->lanes + some - 1) / some * some;
  return rounded - tile->lanes <= tile->spare ? rounded : tile->lanes;
}

/* The same with half a register of elements. */
static inline int64_t rounded_lanes(const ndr_tile *tile, int64_t bytes) {
  return rounded_up(tile, bytes < HALF_BYTES ? HALF_BYTES / bytes : 1);
}
/* Needs ELEMENT and tile. */
#define ROUNDED_LANES rounded_lanes(tile, (int64_t)sizeof(ELEMENT))

/* Whether a tile is one run of `period` outputs, in rows as kernels of runs read them. */
static inline bool has_run_lanes(const ndr_tile *tile, int64_t period) {
  return tile->period == period && !tile->rows_at && tile->lanes == RUN_LANES && tile->row_stride == RUN_LANES;
}

/* Whether a tile is contiguous elements of one output, whatever rows they are cut into. */
static inline bool is_one_run(const ndr_tile *tile) {
  return tile->period == 1 && !tile->rows_at && (tile->row_stride == tile->lanes || tile->rows == 1);
}

/* Whether indices grow along a tile that is one run, so that the first of equal elements has the lowest. */
static inline bool ascends(const ndr_tile *tile) {
  return tile->index_lane > 0 && (tile->rows == 1 || tile->index_row == tile->index_lane * tile->lanes);
}

/* Whether rows of outputs lie one right after the other. */
static inline bool is_dense(const ndr_tile *tile) {
  return tile->period == tile->lanes && tile->row_stride == tile->lanes && !tile->cached && !tile->rows_at;
}

/* Whether a tile's lanes are columns, to be added up as column.h does. What was gathered or converted is in a cache,
 * and is added up in f64; so are rows that lie anywhere. */
static inline bool is_columns(const ndr_tile *tile) {
  return tile->period == tile->lanes && !tile->cached && !tile->in_f64 && !tile->rows_at;
}

/* Whether lanes are columns whose rows are long enough to be added up in trees. Dense rows are not: adding each of them
 * to the accumulators is as fast or faster. */
static inline bool is_wide_columns(const ndr_tile *tile, int64_t bytes) {
  return is_columns(tile) && !is_dense(tile) && tile->lanes * bytes >= 512;
}

/* Bytes ahead of the row that is added up: a page, at the end of which the processors' own prefetching stops. */
#define AHEAD 4096

INLINE void prefetch_row(const void *row, size_t bytes) {
  ndr_prefetch((const char *)row + AHEAD, (int64_t)bytes);
}

/* Prefetches what belongs to rows row .. row + rows - 1, where a tile has prefetches. */
INLINE void prefetch_ahead(const ndr_tile *tile, int64_t row, int64_t rows, int64_t bytes) {
  if (tile->ahead == 0 && tile->rows_ahead == 0) return;
  const char *soon = ndr_row_ahead(tile, row, bytes);
  for (int64_t r = 0; !tile->rows_at && r < rows; r++, soon += tile->row_stride * bytes)
    ndr_prefetch(soon, tile->lanes * bytes);
  for (int64_t r = 0; tile->rows_at && r < rows; r++)
    ndr_prefetch(ndr_row_ahead(tile, row + r, bytes), tile->lanes * bytes);
}

/* The same of lanes that lie apart: a line of each, or where several share one every line. */
INLINE void prefetch_lanes(const void *first, int64_t apart, int64_t lanes, int64_t ahead) {
  const int64_t step = apart >= 64 || apart <= 0 ? 1 : 64 / apart;
  for (int64_t l = 0; l < lanes; l += step) __builtin_prefetch((const char *)first + l * apart + ahead);
}

#define EACH_LANE(...)                                                                                                 \
  for (int64_t l = 0; l < lanes; l++) {                                                                                \
    __VA_ARGS__;                                                                                                       \
  }

/* Adds the number of rows to the word that counts them. */
static inline void count_rows(const ndr_tile *tile, uint64_t *counts) {
  const int64_t lanes = tile->lanes;
  const double rows = (double)tile->rows;
  EACH_LANE(counts[l] = word_of(tile->fresh ? rows : f64_of(counts[l]) + rows))
}

/* Whether four rows are read at a time, so that accumulators are loaded and stored once for four: rows that are too
 * short for processors to prefetch, and rows that are in a cache. */
static inline bool four_rows(const ndr_tile *tile, int64_t bytes) {
  return tile->cached || tile->lanes * bytes <= 256;
}

/* Whether longer rows are read two at a time. Not dense rows of more than 1 KiB: these are one stream, and to read two
 * costs more than loading accumulators half as often saves. */
static inline bool two_rows(const ndr_tile *tile, int64_t bytes) {
  return !is_dense(tile) || tile->lanes * bytes <= 1024;
}

/* Keeps the compiler from reading two rows at a time after all. */
#define ONE_ROW __asm__ volatile("" ::: "memory")

/* Before a loop over lanes: they do not depend on each other, nor elements on accumulators. Without it GCC looks for
 * that at each strip. What clang has for it warns of loops that it does not vectorise. */
#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Lanes whose loop has its own prefetches: more than compilers unroll before they vectorise. */
#define STRIP (sizeof(ELEMENT) == 1 ? 64 : 32)

/* STEP for every row from `first` on, with x the element of lane l and `row` its row. LOAD and STORE move the
 * accumulators of lane l to and from locals, once for one, two or four rows. Of two rows, each strip is prefetched just
 * before its loads: processors do not follow rows that lie apart, and to prefetch a whole row at once keeps the loads
 * waiting. Columns of [4096,4096] f32: 42 GB/s on a Zen 5 core, and 12 without. Needs ELEMENT, tile and lanes. */
#define FOLD_ROWS(first, LOAD, STEP, STORE)                                                                            \
  do {                                                                                                                 \
    int64_t row_ = (first);                                                                                            \
    const bool four_ = four_rows(tile, (int64_t)sizeof(ELEMENT));                                                      \
    for (; four_ && row_ + 4 <= tile->rows; row_ += 4) {                                                               \
      const ELEMENT *p0 = ROW(row_), *p1 = ROW(row_ + 1), *p2 = ROW(row_ + 2), *p3 = ROW(row_ + 3);                    \
      prefetch_ahead(tile, row_, 4, (int64_t)sizeof(ELEMENT));                                                         \
      EACH_OF(0, lanes, LOAD, FOLD_TWO(p0, p1, row_, STEP) FOLD_TWO(p2, p3, row_ + 2, STEP), STORE)                    \
    }                                                                                                                  \
    const bool two_ = two_rows(tile, (int64_t)sizeof(ELEMENT));                                                        \
    for (; two_ && row_ + 2 <= tile->rows; row_ += 2) {                                                                \
      const ELEMENT *p0 = ROW(row_), *p1 = ROW(row_ + 1);                                                              \
      const char *soon0_ = SOON(row_), *soon1_ = SOON(row_ + 1);                                                       \
      int64_t done_ = 0;                                                                                               \
      for (; done_ + STRIP <= lanes; done_ += STRIP) {                                                                 \
        ndr_prefetch(soon0_ + done_ * (int64_t)sizeof(ELEMENT), STRIP * (int64_t)sizeof(ELEMENT));                     \
        ndr_prefetch(soon1_ + done_ * (int64_t)sizeof(ELEMENT), STRIP * (int64_t)sizeof(ELEMENT));                     \
        EACH_OF(done_, done_ + STRIP, LOAD, FOLD_TWO(p0, p1, row_, STEP), STORE)                                       \
      }                                                                                                                \
      ndr_prefetch(soon0_ + done_ * (int64_t)sizeof(ELEMENT), (lanes - done_) * (int64_t)sizeof(ELEMENT));             \
      ndr_prefetch(soon1_ + done_ * (int64_t)sizeof(ELEMENT), (lanes - done_) * (int64_t)sizeof(ELEMENT));             \
      EACH_OF(done_, lanes, LOAD, FOLD_TWO(p0, p1, row_, STEP), STORE)                                                 \
    }                                                                                                                  \
    for (; row_ < tile->rows; row_++) {                                                                                \
      const ELEMENT *p0 = ROW(row_);                                                                                   \
      prefetch_ahead(tile, row_, 1, (int64_t)sizeof(ELEMENT));                                                         \
      ONE_ROW;                                                                                                         \
      EACH_OF(0, lanes, LOAD, FOLD_ONE(p0, row_, STEP), STORE)                                                         \
    }                                                                                                                  \
  } while (0)

#define EACH_OF(first, end, LOAD, STEPS, STORE)                                                                        \
  INDEPENDENT for (int64_t l = (first); l < (end); l++) {                                                              \
    LOAD;                                                                                                              \
    STEPS                                                                                                              \
    STORE;                                                                                                             \
  }

#define FOLD_TWO(upper, lower, number, STEP) FOLD_ONE(upper, number, STEP) FOLD_ONE(lower, (number) + 1, STEP)

#define FOLD_ONE(pointer, number, STEP)                                                                                \
  {                                                                                                                    \
    const ELEMENT x = (pointer)[l];                                                                                    \
    const int64_t row = (number);                                                                                      \
    (void)row;                                                                                                         \
    STEP;                                                                                                              \
  }

/* Bytes of a run that are prefetched, and added up, at a time. */
#define BLOCK_BYTES 256
#define BLOCK_ELEMENTS (BLOCK_BYTES / (int64_t)sizeof(ELEMENT))

/* For a tile that is one run and a result that does not depend on the order of elements: STEP for each element x of a
 * block, between START and END. Compilers keep in registers what START declares. Needs ELEMENT and tile. */
#define FOLD_RUN(START, STEP, END)                                                                                     \
  do {                                                                                                                 \
    const ELEMENT *at_ = (const ELEMENT *)tile->data;                                                                  \
    int64_t left_ = tile->rows * tile->lanes;                                                                          \
    for (; left_ >= BLOCK_ELEMENTS; left_ -= BLOCK_ELEMENTS, at_ += BLOCK_ELEMENTS) {                                  \
      prefetch_row(at_, BLOCK_BYTES);                                                                                  \
      FOLD_BLOCK(at_, BLOCK_ELEMENTS, START, STEP, END)                                                                \
    }                                                                                                                  \
    if (left_) FOLD_BLOCK(at_, left_, START, STEP, END)                                                                \
  } while (0)

#define FOLD_BLOCK(from, count, START, STEP, END)                                                                      \
  {                                                                                                                    \
    START;                                                                                                             \
    for (int64_t l = 0; l < (count); l++) {                                                                            \
      const ELEMENT x = (from)[l];                                                                                     \
      STEP;                                                                                                            \
    }                                                                                                                  \
    END;                                                                                                               \
  }

/* `first` is where a block of a run begins that has an element x for which `yes` is 1 rather than 0; adds the place of
 * the first such element in the block. Also needs INDEX. */
#define FIND_FIRST(first, yes)                                                                                         \
  do {                                                                                                                 \
    const ELEMENT *from_ = (const ELEMENT *)tile->data + (first);                                                      \
    const int64_t behind_ = tile->rows * tile->lanes - (first),                                                        \
                  count_ = behind_ < BLOCK_ELEMENTS ? behind_ : BLOCK_ELEMENTS;                                        \
    INDEX found_ = (INDEX)-1, place_ = 0;                                                                              \
    for (int64_t l = 0; l < count_; l++) {                                                                             \
      const ELEMENT x = from_[l];                                                                                      \
      const INDEX here_ = (INDEX)(place_ | (INDEX)((INDEX)(yes)-1));                                                   \
      found_ = here_ < found_ ? here_ : found_;                                                                        \
      place_ = (INDEX)(place_ + 1);                                                                                    \
    }                                                                                                                  \
    (first) += (int64_t)found_;                                                                                        \
  } while (0)

/* The number of each lane's elements x for which `yes` is 1 rather than 0, into words. Also needs INDEX, a type that
 * counts to NDR_ROWS. */
#define TALLY(yes, words)                                                                                              \
  do {                                                                                                                 \
    ALIGNED INDEX count[NDR_LANES];                                                                                    \
    EACH_LANE(count[l] = 0)                                                                                            \
    FOLD_ROWS(0, INDEX c = count[l], c = (INDEX)(c + (yes)), count[l] = c);                                            \
    EACH_LANE((words)[l] = (uint64_t)count[l])                                                                         \
  } while (0)

#define ROW(number) ((const ELEMENT *)(const void *)ndr_row_at(tile, number, (int64_t)sizeof(ELEMENT)))
#define SOON(number) ndr_row_ahead(tile, number, (int64_t)sizeof(ELEMENT))

/* The words of a tile's lanes, before they are folded to `period`: word w of lane l is words[w * NDR_LANES + l]. */
#define WORD(w) (words + (w)*NDR_LANES)

/* The flattened index of each lane's chosen row. */
#define INDEX_WORDS(rows_of_lanes, target)                                                                             \
  do {                                                                                                                 \
    int64_t from_ = tile->index;                                                                                       \
    for (int64_t first_ = 0; first_ < tile->lanes; first_ += tile->period, from_ += tile->index_lane)                  \
      for (int64_t l = first_; l < first_ + tile->period; l++)                                                         \
        (target)[l] = (uint64_t)(from_ + (int64_t)(rows_of_lanes)[l] * tile->index_row);                               \
  } while (0)

/* Define functions of one number or of a register of them: the Taylor series of e^r. In f64 the terms below r^12, onto
 * p, which stands for the others over r^12; in f32 up to r^7. */
#define EXP_SERIES_F64(name, type)                                                                                     \
  static inline type name(type p, type r) {                                                                            \
    p = p * r + 1.0 / 39916800;                                                                                        \
    p = p * r + 1.0 / 3628800;                                                                                         \
    p = p * r + 1.0 / 362880;                                                                                          \
    p = p * r + 1.0 / 40320;                                                                                           \
    p = p * r + 1.0 / 5040;                                                                                            \
    p = p * r + 1.0 / 720;                                                                                             \
    p = p * r + 1.0 / 120;                                                                                             \
    p = p * r + 1.0 / 24;                                                                                              \
    p = p * r + 1.0 / 6;                                                                                               \
    p = p * r + 0.5;                                                                                                   \
    p = p * r + 1.0;                                                                                                   \
    p = p * r + 1.0;                                                                                                   \
    return p;                                                                                                          \
  }
#define EXP_SERIES_F32(name, type)                                                                                     \
  static inline type name(type r) {                                                                                    \
    type p = r * (1.0f / 5040) + 1.0f / 720;                                                                           \
    p = p * r + 1.0f / 120;                                                                                            \
    p = p * r + 1.0f / 24;                                                                                             \
    p = p * r + 1.0f / 6;                                                                                              \
    p = p * r + 0.5f;                                                                                                  \
    p = p * r + 1.0f;                                                                                                  \
    p = p * r + 1.0f;                                                                                                  \
    return p;                                                                                                          \
  }
EXP_SERIES_F64(exp_series_f64, double)
EXP_SERIES_F32(exp_series_f32, float)

/* e^x for x <= 0, and NaN for NaN. x = k ln 2 + r with |r| <= ln 2 / 2; the Taylor series of e^r up to r^12 leaves out
 * less than 0.35^13 / 13! < 2^-52; 2^k goes into the exponent. Adding 1.5 * 2^52 rounds to an integer and leaves it in
 * the low bits. Below -708 the answer is 2^-1021 instead of less: next to the 1 that the largest element contributes
 * to every sum of exponentials, both vanish. */
static inline double exp_f64(double x) {
  const double magic = 0x1.8p52, ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b39p-40;
  x = x < -708.0 ? -708.0 : x;
  double shifted = x * 0x1.71547652b82fep+0 + magic;
  double k = shifted - magic;
  double r = (x - k * ln2_high) - k * ln2_low;
  double p = exp_series_f64(1.0 / 479001600, r);
  return f64_of(word_of(p) + (word_of(shifted) << 52));
}

/* The same in f32: up to r^7, which leaves out less than 0.35^8 / 8! < 2^-27, down to 2^-125. */
static inline float exp_f32(float x) {
  const float magic = 0x1.8p23f, ln2_high = 0x1.62e400p-1f, ln2_low = 0x1.7f7d1cp-20f;
  x = x < -87.0f ? -87.0f : x;
  float shifted = x * 0x1.715476p+0f + magic;
  float k = shifted - magic;
  float r = (x - k * ln2_high) - k * ln2_low;
  float p = exp_series_f32(r);
  return f32_of(bits_of(p) + (bits_of(shifted) << 23));
}

/* wins is 0 or all ones. Selecting by bits, because compilers turn a chain of conditional floats into branches. */
static inline float pick_f32(uint32_t wins, float x, float otherwise) {
  return f32_of((bits_of(x) & wins) | (bits_of(otherwise) & ~wins));
}

static inline double pick_f64(uint64_t wins, double x, double otherwise) {
  return f64_of((word_of(x) & wins) | (word_of(otherwise) & ~wins));
}

/* |re + i im| without overflow on the way; infinite if a part is, as C's hypot. */
static inline double magnitude(double re, double im) {
  double a = fabs(re), b = fabs(im);
  double high = a > b ? a : b, low = a > b ? b : a;
  double ratio = low / high;
  double value = high == 0 ? low : high * sqrt(1 + ratio * ratio);
  return ((a == (double)INFINITY) | (b == (double)INFINITY)) ? (double)INFINITY : value;
}
