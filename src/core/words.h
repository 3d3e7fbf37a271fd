/* Words of 8 bytes in little-endian order at any address, whatever the order of this machine. */
#ifndef NDR_CORE_WORDS_H
#define NDR_CORE_WORDS_H

#include <stdint.h>

/* Written out, as compilers make one instruction of this, and of a loop none. */
static inline uint64_t ndr_word_load(const unsigned char *b) {
  return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 |
         (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

static inline void ndr_word_store(uint64_t word, unsigned char *b) {
  b[0] = (unsigned char)word;
  b[1] = (unsigned char)(word >> 8);
  b[2] = (unsigned char)(word >> 16);
  b[3] = (unsigned char)(word >> 24);
  b[4] = (unsigned char)(word >> 32);
  b[5] = (unsigned char)(word >> 40);
  b[6] = (unsigned char)(word >> 48);
  b[7] = (unsigned char)(word >> 56);
}

#endif
