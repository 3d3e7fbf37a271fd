/* Template: the first of a run's largest, or least, floats: its value and its index. Elements become ranks, integers in
 * the same order, or for the least in the opposite one, of which the largest wins. Both zeros have one rank. A NaN's is
 * above that of every number, or with SKIP below. From NAME, ELEMENT, SKIP and
 *   RANK          the signed type of the element's size
 *   RANK_MOST     its largest value
 *   INFINITE      the bits of +infinity
 *   REAL_OF(x)    an element as f64 */
#define NAN_RANK (SKIP ? -RANK_MOST - 1 : RANK_MOST)

/* Selected by bits: GCC 12 makes branches of a chain of conditions, and does not vectorise these. */
INLINE RANK NAME(rank_of)(RANK magnitude, RANK ordered) {
  const RANK nan = (RANK)(magnitude > INFINITE ? -1 : 0);
  return (RANK)((ordered & (RANK)~nan) | (RANK)(NAN_RANK & nan));
}

INLINE RANK NAME(rank)(ELEMENT x, bool largest) {
  RANK bits;
  memcpy(&bits, &x, sizeof bits);
  const RANK magnitude = (RANK)(bits & RANK_MOST), sign = (RANK)(bits >> (8 * sizeof bits - 1));
  const RANK negative = (RANK)(largest ? sign : ~sign);
  return NAME(rank_of)(magnitude, (RANK)((RANK)(magnitude ^ negative) - negative));
}

/* Words of a state. Each block's highest rank is found first, and only one block is searched. */
INLINE void NAME(argument_of_run)(const ndr_tile *tile, bool largest, uint64_t *words) {
  const ELEMENT *at = tile->data;
  RANK best = -RANK_MOST - 1;
  int64_t block = 0, first = 0;
  FOLD_RUN(RANK b = -RANK_MOST - 1, const RANK r = NAME(rank)(x, largest);
           b = r > b ? r : b, first = b > best ? block : first; best = b > best ? b : best; block += BLOCK_ELEMENTS);
  FIND_FIRST(first, NAME(rank)(x, largest) == best);
  *WORD(0) = word_of(REAL_OF(at[first]));
  *WORD(1) = SKIP && best == NAN_RANK ? (uint64_t)-1 : (uint64_t)(tile->index + first * tile->index_lane);
}

#if !SKIP
ALONG(argmin, 2, join_argmin_f64, NAME(argument_of_run)(&run, false, words + l))
ALONG(argmax, 2, join_argmax_f64, NAME(argument_of_run)(&run, true, words + l))
#endif
