/* Template: least and largest elements of 16-bit floats without converting them: half.h includes it, and its parameters
 * are those of half.h. argmin and argmax use the ranks of argument_run.h, where zeros are equal; min, max and ptp use
 * signed ranks, in which -0 is below 0. */
#if SKIP
#define RANK_JOIN(op) join_##op##_skip
#else
#define RANK_JOIN(op) join_##op##_f64
#endif

#define RANK int16_t
#define RANK_MOST INT16_MAX
#define REAL_OF(x) (double)FLOAT_OF(x)
#include "cpu/fold/dtype/argument_run.h"

/* The element that has a rank, as f64. */
static inline double NAME(of_rank)(int16_t rank, bool largest) {
  const bool negative = rank < 0;
  const uint16_t magnitude = (uint16_t)(negative ? -(int)rank : rank);
  const double value = (double)FLOAT_OF((ELEMENT)(magnitude & 0x7fff));
  return rank == NAN_RANK ? (double)NAN : negative == largest ? -value : value;
}

INLINE int16_t NAME(signed_rank)(ELEMENT x, bool largest) {
  const int16_t sign = (int16_t)((int16_t)x >> 15), ordered = (int16_t)((int16_t)x ^ (int16_t)(sign & 0x7fff));
  return NAME(rank_of)((int16_t)(x & 0x7fff), (int16_t)(largest ? ordered : ~ordered));
}

static inline double NAME(of_signed_rank)(int16_t rank, bool largest) {
  const uint16_t ordered = (uint16_t)(largest ? rank : ~rank);
  return rank == NAN_RANK ? (double)NAN : (double)FLOAT_OF((ELEMENT)(ordered & 0x8000 ? ordered ^ 0x7fff : ordered));
}

/* One word for each output. */
INLINE void NAME(extremes)(const ndr_tile *tile, bool largest, uint64_t *words) {
  const int64_t lanes = ROUNDED_LANES;
  ALIGNED int16_t best[NDR_LANES];
  if (is_one_run(tile)) {
    int16_t most = INT16_MIN;
    FOLD_RUN(int16_t b = INT16_MIN, const int16_t r = NAME(signed_rank)(x, largest);
             b = r > b ? r : b, most = b > most ? b : most);
    words[0] = word_of(NAME(of_signed_rank)(most, largest));
    return;
  }
  EACH_LANE(best[l] = INT16_MIN)
  FOLD_ROWS(0, int16_t b = best[l], const int16_t r = NAME(signed_rank)(x, largest); b = r > b ? r : b, best[l] = b);
  EACH_LANE(words[l] = word_of(NAME(of_signed_rank)(best[l], largest)))
  collapse(largest ? RANK_JOIN(max) : RANK_JOIN(min), tile, words);
}

#define EXTREME(op, largest, join)                                                                                     \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    NAME(extremes)(tile, largest, words);                                                                              \
    deposit(join, 1, tile, words, states, pitch);                                                                      \
  }

static void NAME(ptp)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[2 * NDR_LANES];
  NAME(extremes)(tile, false, WORD(0));
  NAME(extremes)(tile, true, WORD(1));
  deposit(RANK_JOIN(ptp), 2, tile, words, states, pitch);
}

#define ARGUMENT(op, largest, join)                                                                                    \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED int16_t best[NDR_LANES];                                                                                   \
    ALIGNED INDEX at[NDR_LANES];                                                                                       \
    ALIGNED uint64_t words[2 * NDR_LANES];                                                                             \
    if (is_one_run(tile) && ascends(tile)) {                                                                           \
      NAME(argument_of_run)(tile, largest, words);                                                                     \
      deposit(join, 2, tile, words, states, pitch);                                                                    \
      return;                                                                                                          \
    }                                                                                                                  \
    EACH_LANE(best[l] = NAME(rank)(ROW(0)[l], largest); at[l] = 0)                                                     \
    FOLD_ROWS(1, int16_t b = best[l]; INDEX i = at[l], const int16_t r = NAME(rank)(x, largest);                       \
              i = r > b ? (INDEX)row : i; b = r > b ? r : b, best[l] = b; at[l] = i);                                  \
    EACH_LANE(words[l] = word_of(NAME(of_rank)(best[l], largest)))                                                     \
    INDEX_WORDS(at, WORD(1));                                                                                          \
    EACH_LANE(WORD(1)[l] = SKIP && best[l] == NAN_RANK ? (uint64_t)-1 : WORD(1)[l])                                    \
    settle(join, 2, tile, words, states, pitch);                                                                       \
  }
EXTREME(min, false, RANK_JOIN(min))
EXTREME(max, true, RANK_JOIN(max))
ARGUMENT(argmin, false, RANK_JOIN(argmin))
ARGUMENT(argmax, true, RANK_JOIN(argmax))

#if !SKIP
ALONG(min, 1, join_min_f64, NAME(extremes)(&run, false, words + l))
ALONG(max, 1, join_max_f64, NAME(extremes)(&run, true, words + l))
ALONG(ptp, 2, join_ptp_f64, NAME(extremes)(&run, false, words + l); NAME(extremes)(&run, true, WORD(1) + l))
#endif

#undef EXTREME
#undef ARGUMENT
#undef RANK_JOIN
#undef NAN_RANK
#undef RANK
#undef RANK_MOST
#undef REAL_OF
