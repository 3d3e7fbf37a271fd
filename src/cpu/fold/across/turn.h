/* Template: transposes eight elements of each of eight lanes: turn_eight_BITS(lane, at, to) sets to[8 * i + l] to
 * lane[l][at + i]. Stores are as wide as the loads by which kernels read `to`, because a load that spans several stores
 * waits for all of them. */

/* Bytes ahead of the labels that kernels of turned.h prefetch. A Zen 5 core reads 28 to 31 GB/s so, a page ahead 25. */
#define TURNED_AHEAD 1024

/* By squares of `side` lanes, each of which is a vector of 16 bytes (gather.h). */
#define TURN_BY_SQUARES(bits, side)                                                                                    \
  INLINE void turn_eight_##bits(const void *const *lane, int64_t at, uint##bits##_t *to) {                             \
    for (int64_t l = 0; l < 8; l += side)                                                                              \
      for (int64_t i = 0; i < 8; i += side) {                                                                          \
        gather_##bits##_vector v[side];                                                                                \
        for (int k = 0; k < side; k++) LOAD_VECTOR(v[k], (const uint##bits##_t *)lane[l + k] + at + i);                \
        gather_##bits##_transpose(v);                                                                                  \
        for (int k = 0; k < side; k++) STORE_VECTOR(to + (i + k) * 8 + l, v[k]);                                       \
      }                                                                                                                \
  }
TURN_BY_SQUARES(16, 8)
#ifndef __AVX2__
TURN_BY_SQUARES(32, 4)
TURN_BY_SQUARES(64, 2)
#endif
#undef TURN_BY_SQUARES

#ifdef __AVX2__
/* Squares of four lanes in each half of the registers, whose halves then change places. */
INLINE void turn_eight_32(const void *const *lane, int64_t at, uint32_t *to) {
  __m256i v[8], pairs[8], fours[8];
  for (int k = 0; k < 8; k++)
    v[k] = _mm256_loadu_si256((const __m256i *)(const void *)((const uint32_t *)lane[k] + at));
  for (int k = 0; k < 8; k += 2) {
    pairs[k] = _mm256_unpacklo_epi32(v[k], v[k + 1]);
    pairs[k + 1] = _mm256_unpackhi_epi32(v[k], v[k + 1]);
  }
  for (int k = 0; k < 8; k += 4)
    for (int i = 0; i < 2; i++) {
      fours[k + 2 * i] = _mm256_unpacklo_epi64(pairs[k + i], pairs[k + i + 2]);
      fours[k + 2 * i + 1] = _mm256_unpackhi_epi64(pairs[k + i], pairs[k + i + 2]);
    }
  for (int k = 0; k < 4; k++) {
    _mm256_storeu_si256((__m256i *)(void *)(to + 8 * k), _mm256_permute2x128_si256(fours[k], fours[k + 4], 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(to + 8 * (k + 4)), _mm256_permute2x128_si256(fours[k], fours[k + 4], 0x31));
  }
}
#endif

#ifdef __AVX512BW__
INLINE void turn_eight_64(const void *const *lane, int64_t at, uint64_t *to) {
  __m512i v[8];
  for (int k = 0; k < 8; k++) v[k] = _mm512_loadu_si512((const uint64_t *)lane[k] + at);
  for (int odd = 0; odd < 2; odd++) {
    __m512i pairs[4]; /* elements odd, odd + 2, odd + 4 and odd + 6 of two lanes */
    for (int k = 0; k < 4; k++)
      pairs[k] = odd ? _mm512_unpackhi_epi64(v[2 * k], v[2 * k + 1]) : _mm512_unpacklo_epi64(v[2 * k], v[2 * k + 1]);
    const __m512i first_04 = _mm512_shuffle_i64x2(pairs[0], pairs[1], 0x88);
    const __m512i first_26 = _mm512_shuffle_i64x2(pairs[0], pairs[1], 0xdd);
    const __m512i last_04 = _mm512_shuffle_i64x2(pairs[2], pairs[3], 0x88);
    const __m512i last_26 = _mm512_shuffle_i64x2(pairs[2], pairs[3], 0xdd);
    _mm512_storeu_si512(to + 8 * odd, _mm512_shuffle_i64x2(first_04, last_04, 0x88));
    _mm512_storeu_si512(to + 8 * (odd + 2), _mm512_shuffle_i64x2(first_26, last_26, 0x88));
    _mm512_storeu_si512(to + 8 * (odd + 4), _mm512_shuffle_i64x2(first_04, last_04, 0xdd));
    _mm512_storeu_si512(to + 8 * (odd + 6), _mm512_shuffle_i64x2(first_26, last_26, 0xdd));
  }
}
#elif defined __AVX2__
INLINE void turn_eight_64(const void *const *lane, int64_t at, uint64_t *to) {
  for (int l = 0; l < 8; l += 4)
    for (int i = 0; i < 8; i += 4) {
      __m256i v[4];
      for (int k = 0; k < 4; k++)
        v[k] = _mm256_loadu_si256((const __m256i *)(const void *)((const uint64_t *)lane[l + k] + at + i));
      for (int odd = 0; odd < 2; odd++) {
        const __m256i a = odd ? _mm256_unpackhi_epi64(v[0], v[1]) : _mm256_unpacklo_epi64(v[0], v[1]);
        const __m256i b = odd ? _mm256_unpackhi_epi64(v[2], v[3]) : _mm256_unpacklo_epi64(v[2], v[3]);
        uint64_t *at_odd = to + 8 * (i + odd) + l;
        _mm256_storeu_si256((__m256i *)(void *)at_odd, _mm256_permute2x128_si256(a, b, 0x20));
        _mm256_storeu_si256((__m256i *)(void *)(at_odd + 16), _mm256_permute2x128_si256(a, b, 0x31));
      }
    }
}
#endif
