/* Template: folds rows of contiguous integers of 1 or 2 bytes, an output each, 32 bytes at a time; what is left of a
 * row is loaded with what lies around it, and masked. Results are exact, and so the same as those without AVX2.
 *   NAME(kernel)     how its functions are called
 *   ELEMENT          the element type
 *   TALLIED(v)       a vector of elements as TOTAL adds them up
 *   EXCESS           what TALLIED adds to each element
 *   TOTAL(s, v)      eight sums of 32 bits with a vector added
 * Where RANKED is defined there are kernels of extremes, too:
 *   RANKED(v)        a vector of elements as unsigned numbers in the same order
 *   UNRANKED(n)      the element that such a number stands for, widened to a word
 *   LOWER(a, b)      the lower of each two numbers
 *   LEAST_OF(v)      the lowest of a vector
 *   JOIN_VALUE(op)   the join of extremes */

/* The sums of four rows from the vectors that hold them in parts. */
INLINE __m128i NAME(joined)(const __m256i *s, const byte_rows *rows) {
  const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
  const __m128i sums = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  return _mm_sub_epi32(sums, _mm_set1_epi32((int)(rows->count / (int64_t)sizeof(ELEMENT)) * (EXCESS)));
}

/* The sums of four rows from `first` on, of which those behind the last are the last one's. */
INLINE __m128i NAME(sums)(const byte_rows *rows, int64_t first) {
  __m256i s[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
    const uint8_t *row = row_at(rows, first + r);
    s[r] = _mm256_setzero_si256();
    for (int64_t i = 0; i + 32 <= rows->count; i += 32) {
      __builtin_prefetch(row + i + AHEAD);
      s[r] = TOTAL(s[r], TALLIED(load_32(row + i)));
    }
    if (rows->count % 32)
      s[r] = TOTAL(s[r], _mm256_and_si256(TALLIED(last_of_row(rows, row, first + r)), rows->inside));
  }
  return NAME(joined)(s, rows);
}

/* The same of rows of less than 32 bytes, each of which a load may go beyond. */
INLINE __m128i NAME(short_sums)(const byte_rows *rows, int64_t first) {
  const uint8_t *row = rows->first + first * rows->apart;
  __m256i s[4];
  __builtin_prefetch(row + AHEAD);
#pragma GCC unroll 4
  for (int r = 0; r < 4; r++)
    s[r] = TOTAL(_mm256_setzero_si256(), _mm256_and_si256(TALLIED(load_32(row + r * rows->apart)), rows->inside));
  return NAME(joined)(s, rows);
}

#define EACH_SUMS(STORE)                                                                                               \
  do {                                                                                                                 \
    const byte_rows rows = byte_rows_of(tile, (int64_t)sizeof(ELEMENT));                                               \
    int64_t l = 0;                                                                                                     \
    for (; rows.count < 32 && l + 4 <= rows.beyond; l += 4) STORE(words + l, NAME(short_sums)(&rows, l));              \
    for (; l < tile->lanes; l += 4) STORE(words + l, NAME(sums)(&rows, l));                                            \
  } while (0)

static void NAME(sum)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  ALIGNED uint64_t words[NDR_LANES];
  EACH_SUMS(store_longs);
  deposit(join_add_int, 1, tile, words, states, pitch);
}

static void NAME(mean)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  const int64_t lanes = tile->lanes;
  ALIGNED uint64_t words[2 * NDR_LANES];
  EACH_SUMS(store_doubles);
  EACH_LANE(WORD(1)[l] = word_of((double)tile->rows))
  deposit(join_add2, 2, tile, words, states, pitch);
}
#undef EACH_SUMS

#ifdef RANKED
/* The least element's number, or with `complement` the most one's complement. */
INLINE unsigned NAME(least)(const byte_rows *rows, int64_t lane, __m256i complement) {
  const uint8_t *row = row_at(rows, lane);
  __m256i least = _mm256_set1_epi8(-1);
  for (int64_t i = 0; i + 32 <= rows->count; i += 32) {
    __builtin_prefetch(row + i + AHEAD);
    least = LOWER(least, _mm256_xor_si256(RANKED(load_32(row + i)), complement));
  }
  if (rows->count % 32) {
    const __m256i v = _mm256_xor_si256(RANKED(last_of_row(rows, row, lane)), complement);
    least = LOWER(least, _mm256_or_si256(v, _mm256_xor_si256(rows->inside, _mm256_set1_epi8(-1))));
  }
  return LEAST_OF(least);
}

#define EXTREME(op, complement)                                                                                        \
  static void NAME(op)(const ndr_tile *tile, uint64_t *states, int64_t pitch) {                                        \
    const byte_rows rows = byte_rows_of(tile, (int64_t)sizeof(ELEMENT));                                               \
    ALIGNED uint64_t words[NDR_LANES];                                                                                 \
    for (int64_t l = 0; l < tile->lanes; l++) {                                                                        \
      const unsigned found = NAME(least)(&rows, l, _mm256_set1_epi8(complement));                                      \
      words[l] = (uint64_t)UNRANKED(complement ? ~found : found);                                                      \
    }                                                                                                                  \
    deposit(JOIN_VALUE(op), 1, tile, words, states, pitch);                                                            \
  }
EXTREME(min, 0)
EXTREME(max, -1)
#undef EXTREME
#undef RANKED
#undef UNRANKED
#undef LOWER
#undef LEAST_OF
#undef JOIN_VALUE
#endif

#undef TALLIED
#undef EXCESS
#undef TOTAL
#undef NAME
#undef ELEMENT
