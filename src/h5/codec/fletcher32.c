/* Fletcher's checksum over 16-bit words, as HDF5 appends it to a chunk. */
#include <string.h>

#include "h5/codec/codec.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LANES = 8, STEPS = 128, CHECKSUM_BYTES = 4 };

/* Both sums are defined modulo 65535, where HDF5 folds carries back in: that gives 0 for 0 alone, and 65535 for every
 * other multiple. */
static uint32_t fold(uint64_t sum) {
  return sum ? (uint32_t)((sum - 1) % 65535) + 1 : 0;
}

static uint32_t load_word(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* Adds words to the sums, up to a block of them. */
static void add_words(const uint8_t *bytes, size_t count, uint64_t *first, uint64_t *second) {
  for (size_t i = 0; i < count; i++) {
    *first += load_word(bytes + 2 * i);
    *second += *first;
  }
}

/* Adds the n = STEPS * LANES words w of a block: first += sum of w[i], second += n * first + sum of (n - i) * w[i]. */
#ifdef __SSE2__
/* Lane l takes the words i = LANES * j + l. Its sum and the sum of what that was after each step, which is the sum of
 * (STEPS - j) * w[i], give the (n - i) * w[i] = (LANES * (STEPS - j) - l) * w[i] without a product for each word. 128
 * steps of 65535 keep the lanes below 2^30. */
static void add_block(const uint8_t *bytes, uint64_t *first, uint64_t *second) {
  const __m128i zero = _mm_setzero_si128();
  __m128i once[2] = {zero, zero}, twice[2] = {zero, zero};
  uint32_t sums[LANES], sums_of_sums[LANES];
  for (size_t j = 0; j < STEPS; j++) {
    __m128i swapped = _mm_loadu_si128((const __m128i *)(bytes + 2 * LANES * j));
    __m128i words = _mm_or_si128(_mm_slli_epi16(swapped, 8), _mm_srli_epi16(swapped, 8));
    once[0] = _mm_add_epi32(once[0], _mm_unpacklo_epi16(words, zero));
    once[1] = _mm_add_epi32(once[1], _mm_unpackhi_epi16(words, zero));
    twice[0] = _mm_add_epi32(twice[0], once[0]);
    twice[1] = _mm_add_epi32(twice[1], once[1]);
  }
  memcpy(sums, once, sizeof sums);
  memcpy(sums_of_sums, twice, sizeof sums_of_sums);
  *second += *first * STEPS * LANES;
  for (unsigned l = 0; l < LANES; l++) {
    *first += sums[l];
    *second += (uint64_t)LANES * sums_of_sums[l] - (uint64_t)l * sums[l];
  }
}
#else
static void add_block(const uint8_t *bytes, uint64_t *first, uint64_t *second) {
  add_words(bytes, STEPS * LANES, first, second);
}
#endif

/* A last odd byte is the upper half of a word. */
static uint32_t checksum(const uint8_t *bytes, size_t count) {
  const size_t block = (size_t)2 * LANES * STEPS;
  uint64_t first = 0, second = 0;
  for (; count >= block; count -= block, bytes += block) {
    add_block(bytes, &first, &second);
    first = fold(first);
    second = fold(second);
  }
  add_words(bytes, count / 2, &first, &second);
  if (count % 2) second += first += (uint32_t)bytes[count - 1] << 8;
  return fold(second) << 16 | fold(first);
}

/* Versions of HDF5 before 1.6.3 took words in the machine's order, so that both orders are found in files. */
static uint32_t swap_words(uint32_t sums) {
  return (sums & 0x00ff00ff) << 8 | (sums >> 8 & 0x00ff00ff);
}

static ndr_status undo_fletcher32(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  (void)filter, (void)state, (void)out, (void)room;
  if (data->count < CHECKSUM_BYTES) return ndr_fail(NDR_ERR_FILE, "fletcher32: there is no checksum");
  data->count -= CHECKSUM_BYTES;
  const uint8_t *tail = data->bytes + data->count;
  uint32_t stored = tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
  uint32_t computed = checksum(data->bytes, data->count);
  if (stored == computed || stored == swap_words(computed)) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "fletcher32: the checksum does not match");
}

const ndr_codec ndr_codec_fletcher32 = {
    .in_place = true,
    .adds = CHECKSUM_BYTES,
    .undo = undo_fletcher32,
};
