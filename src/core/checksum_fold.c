/* See checksum_fold.h. For brevity x^n stands for x^n modulo P.
 *
 * Two words W, V are W x^64 + V, and n bits further on that is W x^(n+64) + V x^n. Each product of two words of 64 bits
 * has 128, so what 128 bits were is 128 bits again, as long as x^(n+64) and x^n are taken as remainders: one
 * instruction for each product. As the first bit of a word has the highest power, the product of 127 bits comes out as
 * one of 128 that is multiplied by x, hence x^(n+63) and x^(n-1). */
#include "core/checksum_fold.h"

#if defined(__x86_64__)
#include <wmmintrin.h>

#define CARRYLESS __attribute__((target("pclmul")))

enum { LANES = 4, STEP = 2 * LANES /* words */ };

bool ndr_checksum_folds(void) {
  return __builtin_cpu_supports("pclmul");
}

static uint64_t power(int n, uint64_t polynomial) {
  uint64_t rest = UINT64_C(1) << 63;
  for (int i = 0; i < n; i++) rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
  return rest;
}

CARRYLESS static __m128i powers_for(int bits, uint64_t polynomial) {
  return _mm_set_epi64x((long long)power(bits - 1, polynomial), (long long)power(bits + 63, polynomial));
}

CARRYLESS static __m128i load(const unsigned char *bytes) {
  return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* What `words` are as many bits further on as `powers` are for, and `next` there. */
CARRYLESS static __m128i fold(__m128i words, __m128i powers, __m128i next) {
  __m128i first = _mm_clmulepi64_si128(words, powers, 0x00), second = _mm_clmulepi64_si128(words, powers, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

CARRYLESS size_t ndr_checksum_fold(const unsigned char *bytes, size_t count, uint64_t polynomial, uint64_t words[2]) {
  const __m128i far = powers_for(64 * STEP, polynomial), near = powers_for(128, polynomial);
  __m128i lanes[LANES];
  size_t at = STEP;
  if (count < STEP) return 0;
  for (int l = 0; l < LANES; l++) lanes[l] = load(bytes + 16 * l);
  for (; at + STEP <= count; at += STEP)
    for (int l = 0; l < LANES; l++) lanes[l] = fold(lanes[l], far, load(bytes + 8 * at + 16 * l));
  for (int l = 1; l < LANES; l++) lanes[l] = fold(lanes[l - 1], near, lanes[l]);
  _mm_storeu_si128((__m128i *)(void *)words, lanes[LANES - 1]);
  return at;
}

#else

bool ndr_checksum_folds(void) {
  return false;
}

size_t ndr_checksum_fold(const unsigned char *bytes, size_t count, uint64_t polynomial, uint64_t words[2]) {
  (void)bytes, (void)count, (void)polynomial, (void)words;
  return 0;
}

#endif
