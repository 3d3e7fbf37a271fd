/* The kernels of factors.h: f32 or f64 with weights, where NaN elements count or are skipped, or with a mask, whose
 * bytes are 0 where an element does not count; sums of f32 products and of squared differences. And those of compare.h.
 */
#define ONE_PART(X) X(0)
#define TWO_PARTS(X) X(0) X(1)
#define FOUR_PARTS(X) X(0) X(1) X(2) X(3)
#define EIGHT_PARTS_AT_ONCE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#ifdef RUN_PART
/* The first lane of the next step of `width` lanes after the first `done`; -1: take a narrower step. `least` is the
 * narrowest width. A last step may overlap the one before, whose lanes it computes again to the same
 * values, if more than half of its lanes are new or none is narrower. */
static inline int64_t next_step(int64_t done, int64_t width, int64_t least, int64_t lanes) {
  if (done + width <= lanes) return done;
  bool overlaps = lanes >= width && (2 * (lanes - done) > width || (width == least && lanes > done));
  return overlaps ? lanes - width : -1;
}

/* Bytes from a step's elements to those that are prefetched with them, of a tile with this row stride and `ahead`;
 * computing holds up the loads by which processors see streams:
 *   rows of outputs     to the lanes of the next step; from the last step of this width, to the first lanes of the tile
 *                       that begins `ahead` bytes later
 *   dense runs          a page, if `ahead` says that the run is in no cache
 *   others              0: none
 * Of a tile that is reread, to the same elements of the next one. */
static inline int64_t step_ahead(const ndr_tile *tile, int64_t stride, int64_t ahead, int64_t lane, int64_t width,
                                 int64_t bytes) {
  if (ahead == 0 || tile->reread) return ahead;
  if (tile->period < tile->lanes) return stride == tile->lanes ? AHEAD : 0;
  return lane + 2 * width <= tile->lanes ? width * bytes : ahead - lane * bytes;
}

/* Walks the steps of `width` lanes after the first `done`. These macros read `done`, `lanes` and `tile`, and in a step
 * its first lane `l` and the row's elements x and w. */
#define EACH_STEP(width, least) for (int64_t l; (l = next_step(done, width, least, lanes)) >= 0; done = l + (width))
#define FIND_AHEAD(width, x_type, w_type)                                                                              \
  const int64_t soon_x = step_ahead(tile, tile->row_stride, tile->ahead, l, width, sizeof(x_type));                    \
  const int64_t soon_w = step_ahead(tile, tile->factors_stride, tile->factors_ahead, l, width, sizeof(w_type));
/* What is prefetched with a row of a step, which begins at x and w. */
#define PREFETCH_STEP(width)                                                                                           \
  if (soon_x) ndr_prefetch((const char *)x + soon_x, (width) * (int64_t)sizeof *x);                                    \
  if (soon_w) ndr_prefetch((const char *)w + soon_w, (width) * (int64_t)sizeof *w);

/* How far behind an element of a tile that is in_order lies what is prefetched with it, in bytes: `near` for the first
 * `split` lanes of a row, `far` for the others. It is IN_ORDER_AHEAD bytes later in the order of the tile's rows, then
 * of the next tile's: from row `near_rows` on `near`, and one row earlier `far`, are in the next tile, `jump` farther.
 */
#define IN_ORDER_AHEAD 4096
typedef struct order_ahead {
  int64_t near, far, split, near_rows, jump;
} order_ahead;

/* `ahead`: bytes to the next tile; 0: there is none. */
static inline order_ahead ahead_in_order(const ndr_tile *tile, int64_t stride, int64_t ahead, int64_t bytes) {
  const int64_t row_bytes = tile->lanes * bytes, gap = stride * bytes - row_bytes;
  const int64_t near = IN_ORDER_AHEAD + IN_ORDER_AHEAD / row_bytes * gap;
  return (order_ahead){.near = near,
                       .far = near + gap,
                       .split = tile->lanes - IN_ORDER_AHEAD % row_bytes / bytes,
                       .near_rows = tile->rows - IN_ORDER_AHEAD / row_bytes,
                       .jump = ahead ? ahead - tile->rows * stride * bytes : 0};
}

static inline order_ahead ahead_of_row(order_ahead how, int64_t row) {
  if (row >= how.near_rows) how.near += how.jump;
  if (row + 1 >= how.near_rows) how.far += how.jump;
  return how;
}

#define PREFETCH_IN_ORDER(x, lane, width, how)                                                                         \
  ndr_prefetch((const char *)(x) + ((lane) < (how).split ? (how).near : (how).far), (width) * (int64_t)sizeof *(x));

/* Lanes that a tile has left after the first `done`. */
static inline ndr_tile lanes_after(const ndr_tile *tile, int64_t done, int64_t bytes, int64_t factors_bytes) {
  ndr_tile rest = *tile;
  rest.data = (const char *)tile->data + done * bytes;
  if (!tile->row_factors) rest.factors = (const char *)tile->factors + done * factors_bytes;
  rest.lanes = rest.period = tile->lanes - done;
  rest.in_order = false;
  rest.ahead = rest.factors_ahead = 0;
  return rest;
}
#endif

#define WEIGHTED_LANE(x, w)                                                                                            \
  const double weight = (double)(w), value = (double)(x), term = value * weight;                                       \
  (void)weight
#define MASKED_LANE(x, w)                                                                                              \
  const uint64_t live = 0 - (uint64_t)((w) != 0);                                                                      \
  const double weight = pick_f64(live, 1, 0), value = pick_f64(live, (double)(x), 0), term = value;                    \
  (void)weight
#define WEIGHTED_PART(element, factor) const run_part weight = factor, value = element, term = value * weight
/* `values` where a lane of `where` is a number, and 0 where it is NaN. */
#if defined __AVX512BW__
#define NUMBERS_OF(where, values)                                                                                      \
  ((run_part)_mm512_maskz_mov_pd(_mm512_cmp_pd_mask((__m512d)(where), (__m512d)(where), _CMP_ORD_Q), (__m512d)(values)))
#elif defined __AVX2__
#define NUMBERS_OF(where, values) ((run_part)(((where) == (where)) & (run_part_bits)(values)))
#endif
/* NaN elements weigh nothing. */
#define SKIPPING_LANE(x, w)                                                                                            \
  const double stored = (double)(x);                                                                                   \
  const uint64_t live = 0 - (uint64_t)(stored == stored);                                                              \
  const double weight = pick_f64(live, (double)(w), 0), value = pick_f64(live, stored, 0), term = value * weight;      \
  (void)weight
#define SKIPPING_PART(element, factor)                                                                                 \
  const run_part stored = element, value = NUMBERS_OF(stored, stored), weight = NUMBERS_OF(stored, factor),            \
                 term = value * weight
#if defined __AVX512BW__
#define MASKED_PART(widen, x, w)                                                                                       \
  const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(w));                                           \
  const __mmask8 live = (__mmask8)_mm_test_epi8_mask(bytes, bytes);                                                    \
  const run_part weight = (run_part)_mm512_maskz_mov_pd(live, _mm512_set1_pd(1));                                      \
  const run_part value = (run_part)_mm512_maskz_mov_pd(live, (__m512d)widen(x)), term = value
#elif defined __AVX2__
#define MASKED_PART(widen, x, w)                                                                                       \
  const run_part_bits live = (run_part_bits)_mm256_cvtepu8_epi64(_mm_loadu_si32(w)) != 0;                              \
  const run_part weight = (run_part)(live & (run_part_bits)_mm256_set1_pd(1));                                         \
  const run_part value = (run_part)((run_part_bits)widen(x) & live), term = value
#endif

#define WEIGHTED(kernel) weighted_##kernel##_f32
#define SKIPPING(kernel) skipping_##kernel##_f32
#define ELEMENT float
#define WEIGHT float
#define WIDEN_ELEMENT WIDEN_F32
#define WIDEN_WEIGHT WIDEN_F32
#include "cpu/fold/factors/factors_pair.h"
#define WEIGHTED(kernel) weighted_##kernel##_f32_f64
#define SKIPPING(kernel) skipping_##kernel##_f32_f64
#define ELEMENT float
#define WEIGHT double
#define WIDEN_ELEMENT WIDEN_F32
#define WIDEN_WEIGHT WIDEN_F64
#include "cpu/fold/factors/factors_pair.h"
#define WEIGHTED(kernel) weighted_##kernel##_f64
#define SKIPPING(kernel) skipping_##kernel##_f64
#define ELEMENT double
#define WEIGHT double
#define WIDEN_ELEMENT WIDEN_F64
#define WIDEN_WEIGHT WIDEN_F64
#include "cpu/fold/factors/factors_pair.h"
#define NAME(kernel) masked_##kernel##_f32
#define ELEMENT float
#define WEIGHT uint8_t
#define COUNTED_IN_BYTES
#define LANE_TERMS MASKED_LANE
#define PART_TERMS(x, w, i) MASKED_PART(WIDEN_F32, (x) + (i)*RUN_PART, (w) + (i)*RUN_PART)
#define MOMENTS
#include "cpu/fold/factors/factors.h"
#undef ELEMENT
#undef WEIGHT
#define NAME(kernel) masked_##kernel##_f64
#define ELEMENT double
#define WEIGHT uint8_t
#define COUNTED_IN_BYTES
#define LANE_TERMS MASKED_LANE
#define PART_TERMS(x, w, i) MASKED_PART(WIDEN_F64, (x) + (i)*RUN_PART, (w) + (i)*RUN_PART)
#define MOMENTS
#include "cpu/fold/factors/factors.h"
#undef ELEMENT
#undef WEIGHT

/* Products are rounded to f32, as the instruction rounds them. */
#define NAME(kernel) product_##kernel##_f32
#define ELEMENT float
#define WEIGHT float
#define LANE_TERMS(x, w) const double weight = 0, term = (double)((x) * (w))
#define PART_TERMS(x, w, i)                                                                                            \
  const run_part weight = {0}, term = WIDEN_PRODUCT_F32((x) + (i)*RUN_PART, (w) + (i)*RUN_PART)
#include "cpu/fold/factors/factors.h"
#undef ELEMENT
#undef WEIGHT

/* Differences and their squares are rounded to f32, too. */
#define NAME(kernel) squared_difference_##kernel##_f32
#define ELEMENT float
#define WEIGHT float
#define LANE_TERMS(x, w) const double weight = 0, term = (double)(((x) - (w)) * ((x) - (w)))
#define PART_TERMS(x, w, i)                                                                                            \
  const run_part weight = {0}, term = WIDEN_SQUARED_DIFFERENCE_F32((x) + (i)*RUN_PART, (w) + (i)*RUN_PART)
#include "cpu/fold/factors/factors.h"
#undef ELEMENT
#undef WEIGHT
#define NAME(kernel) squared_difference_##kernel##_f64
#define ELEMENT double
#define WEIGHT double
#define LANE_TERMS(x, w) const double weight = 0, term = ((x) - (w)) * ((x) - (w))
#define PART_TERMS(x, w, i)                                                                                            \
  const run_part weight = {0}, distance = WIDEN_F64((x) + (i)*RUN_PART) - WIDEN_F64((w) + (i)*RUN_PART);               \
  const run_part term = distance * distance
#include "cpu/fold/factors/factors.h"
#undef ELEMENT
#undef WEIGHT

#if defined __AVX512BW__
/* Add 1 to the bytes of lanes whose bits are set: four registers of lanes at a time. */
INLINE void count_bits_f32(uint8_t *counts, __mmask16 a, __mmask16 b, __mmask16 c, __mmask16 d) {
  const __mmask64 bits = _mm512_kunpackd(_mm512_kunpackw(d, c), _mm512_kunpackw(b, a));
  const __m512i n = _mm512_loadu_si512(counts);
  _mm512_storeu_si512(counts, _mm512_mask_sub_epi8(n, bits, n, _mm512_set1_epi8(-1)));
}

INLINE void count_bits_f64(uint8_t *counts, __mmask8 a, __mmask8 b, __mmask8 c, __mmask8 d) {
  const __mmask32 bits = _mm512_kunpackw(_mm512_kunpackb(d, c), _mm512_kunpackb(b, a));
  const __m256i n = _mm256_loadu_si256((const __m256i *)(const void *)counts);
  _mm256_storeu_si256((__m256i *)(void *)counts, _mm256_mask_sub_epi8(n, bits, n, _mm256_set1_epi8(-1)));
}
#endif

#define NAME(how) count_##how##_f32
#define ELEMENT float
#define COUNT int32_t
#if defined __AVX512BW__
#define BITS(a, b, how) _mm512_cmp_ps_mask(a, b, how)
#define COUNT_BITS count_bits_f32
#endif
#include "cpu/fold/factors/compare.h"
#define NAME(how) count_##how##_f64
#define ELEMENT double
#define COUNT int64_t
#if defined __AVX512BW__
#define BITS(a, b, how) _mm512_cmp_pd_mask(a, b, how)
#define COUNT_BITS count_bits_f64
#endif
#include "cpu/fold/factors/compare.h"

#define COMPARED_KERNELS(name)                                                                                         \
  {                                                                                                                    \
    [NDR_COMPARE_LESS] = name(less), [NDR_COMPARE_LESS_EQUAL] = name(less_equal),                                      \
    [NDR_COMPARE_GREATER] = name(greater), [NDR_COMPARE_GREATER_EQUAL] = name(greater_equal),                          \
    [NDR_COMPARE_EQUAL] = name(equal), [NDR_COMPARE_UNEQUAL] = name(unequal)                                           \
  }
#define COUNT_F32(how) count_##how##_f32
#define COUNT_F64(how) count_##how##_f64

#define FACTORS_KERNELS(name)                                                                                          \
  {                                                                                                                    \
    [NDR_FACTORS_SUM] = name(sum), [NDR_FACTORS_MEAN] = name(mean), [NDR_FACTORS_MOMENTS] = name(moments),             \
    [NDR_FACTORS_SQUARES] = name(moments_squares)                                                                      \
  }
#define WEIGHTED_F32(kernel) weighted_##kernel##_f32
#define WEIGHTED_F32_F64(kernel) weighted_##kernel##_f32_f64
#define WEIGHTED_F64(kernel) weighted_##kernel##_f64
#define SKIPPING_F32(kernel) skipping_##kernel##_f32
#define SKIPPING_F32_F64(kernel) skipping_##kernel##_f32_f64
#define SKIPPING_F64(kernel) skipping_##kernel##_f64
#define MASKED_F32(kernel) masked_##kernel##_f32
#define MASKED_F64(kernel) masked_##kernel##_f64
