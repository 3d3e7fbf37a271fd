/* Fletcher's checksum over 16-bit words, as HDF5 appends it to a chunk. */
#include <string.h>

#include "h5/decode_codec.h"

enum { LANES = 8, STEPS = 128, CHECKSUM_BYTES = 4 };

/* Both sums are defined modulo 65535, where HDF5 folds carries back in: that gives 0 for 0 alone, and 65535 for every
 * other multiple. */
static uint32_t fold(uint64_t sum) {
  return sum ? (uint32_t)((sum - 1) % 65535) + 1 : 0;
}

static uint32_t load_word(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* Adds n = STEPS * LANES words w to the sums: first += sum of w[i], second += n * first + sum of (n - i) * w[i]. Lane l
 * takes the words i = LANES * j + l, so that n - i = LANES * (STEPS - j) - l: a running sum of each lane's running sum
 * gives the (STEPS - j), and no product is taken. 128 steps of 65535 keep the lanes below 2^30. */
static void add_block(const uint8_t *bytes, uint64_t *first, uint64_t *second) {
  uint32_t once[LANES] = {0}, twice[LANES] = {0};
  for (int j = 0; j < STEPS; j++) {
    uint16_t words[LANES];
    memcpy(words, bytes + sizeof words * (size_t)j, sizeof words);
    for (int l = 0; l < LANES; l++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
      once[l] += (uint16_t)(words[l] << 8 | words[l] >> 8);
#else
      once[l] += words[l];
#endif
      twice[l] += once[l];
    }
  }
  *second += *first * STEPS * LANES;
  for (unsigned l = 0; l < LANES; l++) {
    *first += once[l];
    *second += (uint64_t)LANES * twice[l] - (uint64_t)l * once[l];
  }
  *first = fold(*first);
  *second = fold(*second);
}

/* A last odd byte is the upper half of a word. */
static uint32_t checksum(const uint8_t *bytes, size_t count) {
  const size_t block = (size_t)2 * LANES * STEPS;
  uint64_t first = 0, second = 0;
  for (; count >= block; count -= block, bytes += block) add_block(bytes, &first, &second);
  for (; count >= 2; count -= 2, bytes += 2) second += first += load_word(bytes);
  if (count) second += first += (uint32_t)bytes[0] << 8;
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
    .id = H5Z_FILTER_FLETCHER32,
    .in_place = true,
    .adds = CHECKSUM_BYTES,
    .undo = undo_fletcher32,
};
