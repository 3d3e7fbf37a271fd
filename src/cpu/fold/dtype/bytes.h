/* Sums of contiguous bytes. */

#if defined __AVX512BW__
#define BYTES_VECTOR __m512i
#define BYTES(op) _mm512_##op
#define SUM_OF_LONGS(v) _mm512_reduce_add_epi64(v)
#elif defined __AVX2__
#define BYTES_VECTOR __m256i
#define BYTES(op) _mm256_##op
static inline int64_t sum_of_longs(__m256i v) {
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}
#define SUM_OF_LONGS(v) sum_of_longs(v)
#endif

/* The sum of a run's bytes after their bits were changed by `flip`; with `truth`, of 1 for each byte that is not 0. */
INLINE int64_t sum_of_bytes(const ndr_tile *tile, uint8_t flip, bool truth) {
  const uint8_t *at = tile->data;
  int64_t left = tile->rows * tile->lanes, sum = 0;
#ifdef BYTES_VECTOR
  const int64_t each = (int64_t)sizeof(BYTES_VECTOR);
  const BYTES_VECTOR flips = BYTES(set1_epi8)((char)flip), one = BYTES(set1_epi8)(1);
  BYTES_VECTOR sums = {0};
  for (; left >= each; left -= each, at += each) {
    __builtin_prefetch(at + AHEAD);
    BYTES_VECTOR v;
    LOAD_VECTOR(v, at);
    if (truth)
      v = BYTES(min_epu8)(v, one);
    else
      v ^= flips;
    sums = BYTES(add_epi64)(sums, BYTES(sad_epu8)(v, (BYTES_VECTOR){0}));
  }
  sum = SUM_OF_LONGS(sums);
#endif
  for (int64_t i = 0; i < left; i++) sum += truth ? at[i] != 0 : at[i] ^ flip;
  return sum;
}

#undef BYTES_VECTOR
#undef BYTES
#undef SUM_OF_LONGS
