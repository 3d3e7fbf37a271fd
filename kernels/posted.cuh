/* Words that a block posts for another one, which waits for them. */
#ifndef NDR_POSTED_CUH
#define NDR_POSTED_CUH

#include "machine.cuh"

/* A word as a slot holds it: each half has a mark, so that no fence is needed. */
NDR_DEVICE ndr_posted posted(ndr_word word) {
  const ndr_word mark = (ndr_word)1 << 32;
  return {{mark | (word & 0xffffffffu), mark | word >> 32}};
}
/* The same with marks of the caller, which say what the word is of. */
NDR_DEVICE ndr_posted posted(ndr_word word, unsigned first, unsigned second) {
  return {{(ndr_word)first << 32 | (word & 0xffffffffu), (ndr_word)second << 32 | word >> 32}};
}
/* The mark of half 0 or 1; of an empty slot 0. */
NDR_DEVICE unsigned mark_of(const ndr_posted &p, int half) {
  return (unsigned)(p.half[half] >> 32);
}
NDR_DEVICE bool is_posted(const ndr_posted &p) {
  return ((p.half[0] & p.half[1]) >> 32) != 0;
}
NDR_DEVICE ndr_word word_of(const ndr_posted &p) {
  return (p.half[0] & 0xffffffffu) | p.half[1] << 32;
}

#endif
