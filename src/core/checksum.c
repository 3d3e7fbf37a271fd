/* See checksum.h.
 *
 * The bytes are a polynomial over the field of two elements, and the checksum is its remainder by P, of degree 64. A
 * change goes unnoticed only if P divides the difference. P is primitive: it has no factors, and divides x^n + 1 for no
 * n below 2^64 - 1. So these changes are all noticed:
 *
 *   within 64 bits that follow each other: the difference is x^k times a polynomial of a lower degree than P's
 *   two words A and B swapped: it is x^k (A + B) (x^n + 1), where A + B has a lower degree, and n is the bits between
 *
 * Sums and products modulo 2^64 miss swaps of words that differ in their highest bits, as 1.0 and 2.0 do. */
#include "core/checksum.h"

#include <pthread.h>

#include "core/checksum_fold.h"
#include "core/words.h"

/* P without x^64; the highest bit is the coefficient of x^0, as the lowest bit of each byte comes first. */
static const uint64_t polynomial = UINT64_C(0xda73e275b6bf47f2);

/* table[k][b]: the remainder of byte b with k bytes of zeros behind it. Made once: it takes as long as the checksum of
 * some KiB. */
static uint64_t table[8][256];
static ndr_checksum_powers powers;

static void fill(void) {
  ndr_checksum_powers_make(polynomial, &powers);
  for (int b = 0; b < 256; b++) {
    uint64_t rest = (uint64_t)b;
    for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
    table[0][b] = rest;
  }
  for (int k = 1; k < 8; k++)
    for (int b = 0; b < 256; b++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

/* The remainder of what `sum` is the remainder of, with a word behind it: eight bytes a step, each by a table of its
 * own. */
static uint64_t add_word(uint64_t sum, uint64_t word) {
  uint64_t rest = sum ^ word;
  sum = 0;
  for (int k = 0; k < 8; k++) sum ^= table[7 - k][rest >> 8 * k & 255];
  return sum;
}

/* By tables 1.5 GB/s of a core's time; folded before, more than ten times as much. */
uint64_t ndr_checksum(const unsigned char *bytes, size_t count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  uint64_t sum = 0, words[2];
  (void)pthread_once(&once, fill);
  size_t at = ndr_checksum_folds() ? ndr_checksum_fold(bytes, count, &powers, words) : 0;
  if (at > 0) sum = add_word(add_word(0, words[0]), words[1]);
  for (; at < count; at++) sum = add_word(sum, ndr_word_load(bytes + 8 * at));
  return sum;
}
