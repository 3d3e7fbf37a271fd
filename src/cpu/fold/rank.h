/* Template: argmin and argmax of 16-bit floats without converting them: half.h includes it, and its parameters are
 * those of half.h. Elements are compared as ranks, integers in the same order, of which the largest wins and the first
 * of equal ones stays. Zeros of both signs have the same. A NaN's is above that of every number, or with SKIP below. */
#define NAN_RANK (SKIP ? INT16_MIN : INT16_MAX)

static inline int16_t NAME(rank)(ELEMENT x, bool largest) {
  const int16_t magnitude = (int16_t)(x & 0x7fff);
  const int16_t rank = (int16_t)(((x & 0x8000) != 0) == largest ? -magnitude : magnitude);
  return (int16_t)(magnitude > INFINITE ? NAN_RANK : rank);
}

/* The element that has a rank, as f64. */
static inline double NAME(of_rank)(int16_t rank, bool largest) {
  const bool negative = rank < 0;
  const uint16_t magnitude = (uint16_t)(negative ? -(int)rank : rank);
  const double value = (double)FLOAT_OF((ELEMENT)(magnitude & 0x7fff));
  return rank == NAN_RANK ? (double)NAN : negative == largest ? -value : value;
}

#define ARGUMENT(op, largest, join)                                                                                    \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const int64_t lanes = ROUNDED_LANES;                                                                               \
    ALIGNED int16_t best[NDR_LANES];                                                                                   \
    ALIGNED INDEX at[NDR_LANES];                                                                                       \
    ALIGNED uint64_t words[2 * NDR_LANES];                                                                             \
    EACH_LANE(best[l] = NAME(rank)(ROW(0)[l], largest); at[l] = 0)                                                     \
    FOLD_ROWS(1, int16_t b = best[l]; INDEX i = at[l], const int16_t r = NAME(rank)(x, largest);                       \
              i = r > b ? (INDEX)row : i; b = r > b ? r : b, best[l] = b; at[l] = i);                                  \
    EACH_LANE(words[l] = word_of(NAME(of_rank)(best[l], largest)))                                                     \
    INDEX_WORDS(at, WORD(1));                                                                                          \
    EACH_LANE(WORD(1)[l] = SKIP && best[l] == NAN_RANK ? (uint64_t)-1 : WORD(1)[l])                                    \
    settle(join, 2, tile, words, states, pitch);                                                                       \
  }
#if SKIP
ARGUMENT(argmin, false, join_argmin_skip)
ARGUMENT(argmax, true, join_argmax_skip)
#else
ARGUMENT(argmin, false, join_argmin_f64)
ARGUMENT(argmax, true, join_argmax_f64)
#endif

#undef ARGUMENT
#undef NAN_RANK
