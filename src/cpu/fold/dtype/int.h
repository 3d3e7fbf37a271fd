/* Template: the kernels of one integer dtype, from
 *   NAME(kernel)       how its functions are called
 *   ELEMENT, INDEX     the element type and the unsigned type of its size
 *   SUM                a type that holds NDR_ROWS elements' sum, or uint64_t, which wraps
 *   REAL_SUM           the same for real results: an integer that holds the sum, or double
 *   REAL(x)            x, or x as f64 where REAL_SUM is double; x if not defined
 *   REAL_IS_INT        1: REAL_SUM is an integer
 *   MOMENTS            1: var and norm2 add up integers; 0: they are those of moments.h
 *   SQUARE, SQUARES    with MOMENTS, the unsigned type of an element's square, and the type of NDR_ROWS of them
 *   LOAD_REAL          without MOMENTS, how eight are loaded as f64 (eight.h)
 *   LEAST, MOST        limits of the element type
 *   JOIN_INT(kernel)   the join of values of its sign
 * and what int_run.h takes. */

#ifndef REAL
#define REAL(x) (x)
#endif

#include "cpu/fold/dtype/int_run.h"

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    deposit(join_add_int, 1, tile, (const uint64_t[]){NAME(sum_of_run)(tile)}, states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED SUM sum[NDR_LANES];
  ALIGNED uint64_t words[NDR_LANES];
  EACH_LANE(sum[l] = 0)
  FOLD_ROWS(0, SUM s = sum[l], s = (SUM)(s + (SUM)x), sum[l] = s);
  EACH_LANE(words[l] = (uint64_t)sum[l])
  settle(join_add_int, 1, tile, words, states, pitch);
}

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED REAL_SUM sum[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  if (REAL_IS_INT && is_one_run(tile)) {
    *WORD(0) = word_of((double)(int64_t)NAME(sum_of_run)(tile));
    *WORD(1) = word_of((double)(tile->rows * tile->lanes));
    deposit(join_add2, 2, tile, words, states, pitch);
    return;
  }
  EACH_LANE(sum[l] = 0)
  FOLD_ROWS(0, REAL_SUM s = sum[l], s = (REAL_SUM)(s + (REAL_SUM)REAL(x)), sum[l] = s);
  EACH_LANE(words[l] = word_of((double)sum[l]); WORD(1)[l] = word_of((double)tile->rows))
  settle(join_add2, 2, tile, words, states, pitch);
}

#if MOMENTS
static void NAME(norm2)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  if (is_one_run(tile)) {
    const double sum = (double)NAME(squares_of_run)(tile);
    deposit(join_add, 1, tile, (const uint64_t[]){word_of(sum)}, states, pitch);
    return;
  }
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED SQUARES sum[NDR_LANES];
  ALIGNED uint64_t words[NDR_LANES];
  EACH_LANE(sum[l] = 0)
  FOLD_ROWS(0, SQUARES s = sum[l], s += (SQUARES)x * (SQUARES)x, sum[l] = s);
  EACH_LANE(words[l] = word_of((double)sum[l]))
  settle(join_add, 1, tile, words, states, pitch);
}

static void NAME(var)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED SUM sum[NDR_LANES];
  ALIGNED SQUARES square[NDR_LANES];
  ALIGNED uint64_t words[3 * NDR_LANES];
  if (is_one_run(tile)) {
    NAME(moments_of_run)(tile, words);
    deposit_exact_moments(tile, words, states, pitch);
    return;
  }
  EACH_LANE(sum[l] = 0; square[l] = 0)
  FOLD_ROWS(0, SUM s = sum[l]; SQUARES q = square[l], s = (SUM)(s + (SUM)x); q += (SQUARES)x * (SQUARES)x, sum[l] = s;
            square[l] = q);
  EACH_LANE(WORD(0)[l] = word_of((double)tile->rows); WORD(1)[l] = word_of((double)sum[l]);
            WORD(2)[l] = word_of((double)square[l]))
  settle_exact_moments(tile, words, states, pitch);
}
#else
#define REAL_OF(x) ((double)REAL(x))
#include "cpu/fold/dtype/moments.h"
#undef REAL_OF
#undef LOAD_REAL
#endif

static void NAME(prod)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED uint64_t words[NDR_LANES];
  EACH_LANE(words[l] = 1)
  FOLD_ROWS(0, uint64_t p = words[l], p *= (uint64_t)x, words[l] = p);
  settle(join_multiply_int, 1, tile, words, states, pitch);
}

#define EXTREME(op, start, better)                                                                                     \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    if (is_one_run(tile)) {                                                                                            \
      deposit(JOIN_INT(op), 1, tile, (const uint64_t[]){(uint64_t)NAME(op##_of_run)(tile)}, states, pitch);            \
      return;                                                                                                          \
    }                                                                                                                  \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED ELEMENT best[NDR_LANES];                                                                                   \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    EACH_LANE(best[l] = start)                                                                                         \
    FOLD_ROWS(0, ELEMENT b = best[l], b = (x better b) ? x : b, best[l] = b);                                          \
    EACH_LANE(words[l] = (uint64_t)best[l])                                                                            \
    settle(JOIN_INT(op), 1, tile, words, states, pitch);                                                               \
  }                                                                                                                    \
                                                                                                                       \
  static void NAME(arg##op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                   \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED ELEMENT best[NDR_LANES];                                                                                   \
    ALIGNED INDEX at[NDR_LANES];                                                                                       \
    ALIGNED uint64_t words[2 * NDR_LANES];                                                                             \
    if (is_one_run(tile) && ascends(tile)) {                                                                           \
      NAME(arg##op##_of_run)(tile, words);                                                                             \
      deposit(JOIN_INT(arg##op), 2, tile, words, states, pitch);                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
    EACH_LANE(best[l] = ROW(0)[l]; at[l] = 0)                                                                          \
    FOLD_ROWS(1, ELEMENT b = best[l]; INDEX i = at[l], i = (x better b) ? (INDEX)row : i;                              \
              b = (x better b) ? x : b, best[l] = b; at[l] = i);                                                       \
    EACH_LANE(words[l] = (uint64_t)best[l])                                                                            \
    INDEX_WORDS(at, WORD(1));                                                                                          \
    settle(JOIN_INT(arg##op), 2, tile, words, states, pitch);                                                          \
  }

EXTREME(min, MOST, <)
EXTREME(max, LEAST, >)
#undef EXTREME

static void NAME(ptp)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED ELEMENT least[NDR_LANES], most[NDR_LANES];
  ALIGNED uint64_t words[2 * NDR_LANES];
  if (is_one_run(tile)) {
    *WORD(0) = (uint64_t)NAME(min_of_run)(tile);
    *WORD(1) = (uint64_t)NAME(max_of_run)(tile);
    deposit(JOIN_INT(ptp), 2, tile, words, states, pitch);
    return;
  }
  EACH_LANE(least[l] = MOST; most[l] = LEAST)
  FOLD_ROWS(0, ELEMENT a = least[l]; ELEMENT b = most[l], a = x < a ? x : a; b = x > b ? x : b, least[l] = a;
            most[l] = b);
  EACH_LANE(words[l] = (uint64_t)least[l]; WORD(1)[l] = (uint64_t)most[l])
  settle(JOIN_INT(ptp), 2, tile, words, states, pitch);
}

#define NONZERO (x != 0)
#include "cpu/fold/dtype/truth.h"

#undef NAME
#undef ELEMENT
#undef INDEX
#undef SUM
#undef REAL_SUM
#undef SQUARES
#undef MOMENTS
#undef SQUARE
#undef LEAST
#undef MOST
#undef REAL
#undef REAL_IS_INT
