/* See checksum_fold.h. x^n stands for x^n modulo P.
 *
 * Two words W, V stand for W x^64 + V. Moved n bits on they are W x^(n+64) + V x^n. With both powers taken modulo P
 * each product has 128 bits, so that the sum again fits in two words: one instruction for each product. As the first
 * bit of a word has the highest power, the product of 127 bits comes out as one of 128 that is multiplied by x, hence
 * x^(n+63) and x^(n-1). */
#include "core/checksum_fold.h"

#if defined(__x86_64__)
#include <wmmintrin.h>

#define CARRYLESS __attribute__((target("pclmul")))

enum { REGISTERS = 4, STEP = 2 * REGISTERS /* words */ };

bool ndr_checksum_folds(void) {
  return __builtin_cpu_supports("pclmul");
}

CARRYLESS static __m128i load(const void *bytes) {
  return _mm_loadu_si128((const __m128i *)bytes);
}

/* What `words` are as many bits further on as `powers` are for, and `next` there. */
CARRYLESS static __m128i fold(__m128i words, __m128i powers, __m128i next) {
  __m128i first = _mm_clmulepi64_si128(words, powers, 0x00), second = _mm_clmulepi64_si128(words, powers, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

CARRYLESS size_t ndr_checksum_fold(const unsigned char *bytes, size_t count, const ndr_checksum_powers *powers,
                                   uint64_t words[2]) {
  const __m128i step = load(powers->step), neighbour = load(powers->neighbour);
  __m128i sums[REGISTERS];
  size_t at = STEP;
  if (count < STEP) return 0;
  for (int r = 0; r < REGISTERS; r++) sums[r] = load(bytes + 16 * r);
  for (; at + STEP <= count; at += STEP)
    for (int r = 0; r < REGISTERS; r++) sums[r] = fold(sums[r], step, load(bytes + 8 * at + 16 * r));
  for (int r = 1; r < REGISTERS; r++) sums[r] = fold(sums[r - 1], neighbour, sums[r]);
  _mm_storeu_si128((__m128i *)(void *)words, sums[REGISTERS - 1]);
  return at;
}

#else

enum { STEP = 8 };

bool ndr_checksum_folds(void) {
  return false;
}

size_t ndr_checksum_fold(const unsigned char *bytes, size_t count, const ndr_checksum_powers *powers,
                         uint64_t words[2]) {
  (void)bytes, (void)count, (void)powers, (void)words;
  return 0;
}

#endif

static uint64_t power(int n, uint64_t polynomial) {
  uint64_t rest = UINT64_C(1) << 63;
  for (int i = 0; i < n; i++) rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
  return rest;
}

static void fill(int bits, uint64_t polynomial, uint64_t powers[2]) {
  powers[0] = power(bits + 63, polynomial);
  powers[1] = power(bits - 1, polynomial);
}

void ndr_checksum_powers_make(uint64_t polynomial, ndr_checksum_powers *powers) {
  fill(64 * STEP, polynomial, powers->step);
  fill(128, polynomial, powers->neighbour);
}
