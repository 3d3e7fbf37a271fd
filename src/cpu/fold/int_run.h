/* Template: what tiles that are one run of integers come to. Integers may be added up in any order: in registers, at
 * up to twice the rate of FOLD_ROWS. int.h includes it, and its parameters are those of int.h, besides
 *   SUM_OF_RUN     the sum of a run; where it is not defined, compilers vectorise
 *   COUNT_OF_RUN   the same of the number of elements that are not 0 */

static inline uint64_t NAME(sum_of_run)(const ndr_tile *tile) {
#ifdef SUM_OF_RUN
  return (uint64_t)SUM_OF_RUN(tile);
#else
  SUM sum = 0;
  FOLD_RUN(SUM s = 0, s = (SUM)(s + (SUM)x), sum = (SUM)(sum + s));
  return (uint64_t)sum;
#endif
}

#if MOMENTS
/* The halves of squares are added up apart: as many bits as a square has hold the sums of a block. */
#define HALF (8 * sizeof(ELEMENT))
#define ADD_SQUARE                                                                                                     \
  const SQUARE square = (SQUARE)((SQUARE)x * (SQUARE)x);                                                               \
  low = (SQUARE)(low + (square & (((SQUARE)1 << HALF) - 1)));                                                          \
  high = (SQUARE)(high + (square >> HALF))
_Static_assert(BLOCK_ELEMENTS << HALF <= (int64_t)1 << 2 * HALF, "the sums of halves of squares");

static inline uint64_t NAME(squares_of_run)(const ndr_tile *tile) {
  uint64_t sum = 0;
  FOLD_RUN(SQUARE low = 0; SQUARE high = 0, ADD_SQUARE, sum += low + ((uint64_t)high << HALF));
  return sum;
}

/* The sum and the sum of squares. */
static inline void NAME(moments_of_run)(const ndr_tile *tile, int64_t *sum, uint64_t *squares) {
  *sum = 0;
  *squares = 0;
  FOLD_RUN(SUM s = 0; SQUARE low = 0; SQUARE high = 0, s = (SUM)(s + x); ADD_SQUARE, *sum += s;
           *squares += low + ((uint64_t)high << HALF));
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

/* The first of a run's elements `found` in the block that begins `first` elements after its start: words of a state of
 * argmin or argmax. */
static inline void NAME(find_in_run)(const ndr_tile *tile, int64_t first, ELEMENT found, uint64_t *words) {
  const ELEMENT *at = tile->data;
  while (at[first] != found) first++;
  words[0] = (uint64_t)found;
  words[1] = (uint64_t)(tile->index + first * tile->index_lane);
}

/* Each block's extreme is found at the rate of min and max, and only one block is searched. */
#define ARGUMENT_OF_RUN(op, start, better)                                                                             \
  static inline void NAME(arg##op##_of_run)(const ndr_tile *tile, uint64_t *words) {                                   \
    ELEMENT best = start;                                                                                              \
    int64_t block = 0, first = 0;                                                                                      \
    FOLD_RUN(ELEMENT b = start, b = x better b ? x : b, first = b better best ? block : first;                         \
             best = b better best ? b : best; block += BLOCK_ELEMENTS);                                                \
    NAME(find_in_run)(tile, first, best, words);                                                                       \
  }
ARGUMENT_OF_RUN(min, MOST, <)
ARGUMENT_OF_RUN(max, LEAST, >)
#undef ARGUMENT_OF_RUN

#undef SUM_OF_RUN
