/* See codec/planes.h; in SSE2 where the compiler targets it. Knows nothing of streams. */
#include "h5/codec/planes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- Bytes --------------------------------------------------------------------------------------------------------
 */

/* Elements from..count, in runs that stay in the first-level cache whatever their size is. */
static void join_bytes_plain(const uint8_t *in, uint8_t *out, size_t from, size_t count, size_t size) {
  const size_t run = 64;
  for (size_t start = from; start < count; start += run) {
    size_t end = count - start < run ? count : start + run;
    for (size_t byte = 0; byte < size; byte++)
      for (size_t i = start; i < end; i++) out[i * size + byte] = in[byte * count + i];
  }
}

#ifdef __SSE2__
/* 16 elements of planes that are stride bytes apart, one register a plane, to as many registers of elements.
 * Interleaving register i with register i + size / 2, for all i, is a perfect shuffle of the planes' bytes; after
 * log2(size) of them the bytes of an element lie side by side. */
static inline __attribute__((always_inline)) void interleave(const uint8_t *in, size_t stride, size_t size,
                                                             __m128i *now) {
  __m128i next[16];
  for (size_t i = 0; i < size; i++) now[i] = _mm_loadu_si128((const __m128i *)(in + i * stride));
  for (size_t width = 1; width < size; width *= 2) {
    for (size_t i = 0; i < size / 2; i++) {
      next[2 * i] = _mm_unpacklo_epi8(now[i], now[i + size / 2]);
      next[2 * i + 1] = _mm_unpackhi_epi8(now[i], now[i + size / 2]);
    }
    for (size_t i = 0; i < size; i++) now[i] = next[i];
  }
}

static inline __attribute__((always_inline)) size_t join_bytes_wide(const uint8_t *in, uint8_t *out, size_t count,
                                                                    size_t size) {
  size_t done = 0;
  for (; count - done >= 16; done += 16) {
    __m128i elements[16];
    interleave(in + done, count, size, elements);
    for (size_t i = 0; i < size; i++) _mm_storeu_si128((__m128i *)(out + done * size + i * 16), elements[i]);
  }
  return done;
}
#endif

void ndr_join_bytes(const uint8_t *in, uint8_t *out, size_t count, size_t size) {
  size_t done = 0;
#ifdef __SSE2__
  switch (size) {
  case 2: done = join_bytes_wide(in, out, count, 2); break;
  case 4: done = join_bytes_wide(in, out, count, 4); break;
  case 8: done = join_bytes_wide(in, out, count, 8); break;
  case 16: done = join_bytes_wide(in, out, count, 16); break;
  default: break;
  }
#endif
  join_bytes_plain(in, out, done, count, size);
}

void ndr_part_bytes(const uint8_t *in, uint8_t *out, size_t count, size_t size) {
  for (size_t byte = 0; byte < size; byte++)
    for (size_t i = 0; i < count; i++) out[byte * count + i] = in[i * size + byte];
}

/* ---- Bits ---------------------------------------------------------------------------------------------------------
 */

/* An 8 x 8 matrix of bits is transposed by exchanging the off-diagonal quarters of its 2 x 2, 4 x 4 and 8 x 8 blocks:
 * bits that lie 7, 14 and 28 places apart. */
static const struct {
  int distance;
  uint64_t mask;
} exchanges[] = {{7, 0x00aa00aa00aa00aa}, {14, 0x0000cccc0000cccc}, {28, 0x00000000f0f0f0f0}};

/* One byte of groups * 8 elements from its 8 planes of bits. */
static void join_byte_plain(const uint8_t *in, size_t stride, size_t from, size_t groups, uint8_t *out) {
  for (size_t group = from; group < groups; group++) {
    uint64_t bits = 0;
    for (size_t row = 0; row < 8; row++) bits |= (uint64_t)in[row * stride + group] << 8 * row;
    for (int i = 0; i < 3; i++) {
      uint64_t moved = (bits ^ bits >> exchanges[i].distance) & exchanges[i].mask;
      bits ^= moved ^ moved << exchanges[i].distance;
    }
    for (size_t i = 0; i < 8; i++) out[8 * group + i] = (uint8_t)(bits >> 8 * i);
  }
}

static void join_byte(const uint8_t *in, size_t stride, size_t groups, uint8_t *out) {
  size_t done = 0;
#ifdef __SSE2__
  for (; groups - done >= 16; done += 16) {
    __m128i bits[16];
    interleave(in + done, stride, 8, bits);
    for (size_t i = 0; i < 8; i++) {
      for (int j = 0; j < 3; j++) {
        __m128i mask = _mm_set1_epi64x((long long)exchanges[j].mask);
        __m128i moved = _mm_and_si128(_mm_xor_si128(bits[i], _mm_srli_epi64(bits[i], exchanges[j].distance)), mask);
        bits[i] = _mm_xor_si128(bits[i], _mm_xor_si128(moved, _mm_slli_epi64(moved, exchanges[j].distance)));
      }
      _mm_storeu_si128((__m128i *)(out + 8 * done + 16 * i), bits[i]);
    }
  }
#endif
  join_byte_plain(in, stride, done, groups, out);
}

void ndr_join_bits(const uint8_t *in, uint8_t *out, size_t count, size_t size, uint8_t *scratch) {
  const size_t row = count / 8;
  if (size == 1) {
    join_byte(in, row, row, out);
    return;
  }
  for (size_t start = 0; start < count; start += NDR_PLANES_STRIP) {
    size_t length = count - start < NDR_PLANES_STRIP ? count - start : NDR_PLANES_STRIP;
    for (size_t byte = 0; byte < size; byte++)
      join_byte(in + byte * 8 * row + start / 8, row, length / 8, scratch + byte * length);
    ndr_join_bytes(scratch, out + start * size, length, size);
  }
}
