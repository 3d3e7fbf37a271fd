/* Words of 8 bytes in little-endian order at any address, whatever the order of this machine. */
#ifndef NDR_CORE_WORDS_H
#define NDR_CORE_WORDS_H

#include <stdint.h>

static inline uint64_t ndr_word_load(const unsigned char *bytes) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; i--) word = word << 8 | bytes[i];
  return word;
}

static inline void ndr_word_store(uint64_t word, unsigned char *bytes) {
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(word >> 8 * i);
}

#endif
