/* Template: results of tiles that are one run of integers. Integers may be added up in any order: in registers, at
 * up to twice the rate of FOLD_ROWS. int.h includes it, and its parameters are those of int.h, besides
 *   SUM_OF_RUN     the sum of a run; where it is not defined, compilers vectorise
 *   COUNT_OF_RUN   the same of the number of elements that are not 0 */

static inline uint64_t NAME(sum_of_run)(const ndr_tile *tile) {
#ifdef SUM_OF_RUN
  return (uint64_t)SUM_OF_RUN(tile);
#else
  uint64_t sum = 0;
  FOLD_RUN(SUM s = 0, s = (SUM)(s + (SUM)x), sum += (uint64_t)s);
  return sum;
#endif
}

#if MOMENTS
/* The halves of squares are added up apart: as many bits as a square has hold the sums of a block. Products are formed
 * in 32 bits, because those of uint16_t are int, and overflow. */
#define HALF (8 * sizeof(ELEMENT))
#define ADD_SQUARE                                                                                                     \
  const SQUARE square = (SQUARE)((uint32_t)x * (uint32_t)x);                                                           \
  low = (SQUARE)(low + (square & (((SQUARE)1 << HALF) - 1)));                                                          \
  high = (SQUARE)(high + (square >> HALF))
_Static_assert(BLOCK_ELEMENTS << HALF <= (int64_t)1 << 2 * HALF, "the sums of halves of squares");

static inline uint64_t NAME(squares_of_run)(const ndr_tile *tile) {
  uint64_t sum = 0;
  FOLD_RUN(SQUARE low = 0; SQUARE high = 0, ADD_SQUARE, sum += low + ((uint64_t)high << HALF));
  return sum;
}

/* Words of count, sum and sum of squares. */
static inline void NAME(moments_of_run)(const ndr_tile *tile, uint64_t *words) {
  int64_t sum = 0;
  uint64_t squares = 0;
  FOLD_RUN(SUM s = 0; SQUARE low = 0; SQUARE high = 0, s = (SUM)(s + x); ADD_SQUARE, sum += s;
           squares += low + ((uint64_t)high << HALF));
  *WORD(0) = word_of((double)(tile->rows * tile->lanes));
  *WORD(1) = word_of((double)sum);
  *WORD(2) = word_of((double)squares);
}
#undef HALF
#undef ADD_SQUARE
#endif

static inline ELEMENT NAME(min_of_run)(const ndr_tile *tile) {
  ELEMENT best = MOST;
  FOLD_RUN(ELEMENT b = MOST, b = x < b ? x : b, best = b < best ? b : best);
  return best;
}

static inline ELEMENT NAME(max_of_run)(const ndr_tile *tile) {
  ELEMENT best = LEAST;
  FOLD_RUN(ELEMENT b = LEAST, b = x > b ? x : b, best = b > best ? b : best);
  return best;
}

/* Words of a state. Each block's extreme is found at the rate of min and max, and only one block is searched. */
#define ARGUMENT_OF_RUN(op, start, better)                                                                             \
  static inline void NAME(arg##op##_of_run)(const ndr_tile *tile, uint64_t *words) {                                   \
    ELEMENT best = start;                                                                                              \
    int64_t block = 0, first = 0;                                                                                      \
    FOLD_RUN(ELEMENT b = start, b = x better b ? x : b, first = b better best ? block : first;                         \
             best = b better best ? b : best; block += BLOCK_ELEMENTS);                                                \
    FIND_FIRST(first, x == best);                                                                                      \
    *WORD(0) = (uint64_t)best;                                                                                         \
    *WORD(1) = (uint64_t)(tile->index + first * tile->index_lane);                                                     \
  }
ARGUMENT_OF_RUN(min, MOST, <)
ARGUMENT_OF_RUN(max, LEAST, >)
#undef ARGUMENT_OF_RUN

ALONG(min, 1, JOIN_INT(min), words[l] = (uint64_t)NAME(min_of_run)(&run))
ALONG(max, 1, JOIN_INT(max), words[l] = (uint64_t)NAME(max_of_run)(&run))
ALONG(argmin, 2, JOIN_INT(argmin), NAME(argmin_of_run)(&run, words + l))
ALONG(argmax, 2, JOIN_INT(argmax), NAME(argmax_of_run)(&run, words + l))
ALONG(ptp, 2, JOIN_INT(ptp), words[l] = (uint64_t)NAME(min_of_run)(&run); WORD(1)[l] = (uint64_t)NAME(max_of_run)(&run))
#if MOMENTS
static void NAME(along_var)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[3 * NDR_LANES];
  for (int64_t l = 0; l < tile->lanes; l++) {
    const ndr_tile run = run_of(tile, l, (int64_t)sizeof(ELEMENT));
    NAME(moments_of_run)(&run, words + l);
  }
  deposit_exact_moments(tile, words, states, pitch);
}
#endif

#undef SUM_OF_RUN
