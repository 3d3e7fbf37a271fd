/* Shuffle: the first bytes of all elements, then all second bytes, and so on. */
#include <string.h>

#include "h5/decode_codec.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Elements from..count, in runs that stay in the first-level cache whatever their size is. */
static void unshuffle_plain(const uint8_t *in, uint8_t *out, size_t from, size_t count, size_t size) {
  const size_t run = 64;
  for (size_t start = from; start < count; start += run) {
    size_t end = count - start < run ? count : start + run;
    for (size_t byte = 0; byte < size; byte++)
      for (size_t i = start; i < end; i++) out[i * size + byte] = in[byte * count + i];
  }
}

#ifdef __SSE2__
/* 16 elements at a time, one register a plane. Interleaving register i with register i + size / 2, for all i, is a
 * perfect shuffle of the planes' bytes; after log2(size) of them the bytes of an element lie side by side. */
static inline __attribute__((always_inline)) size_t unshuffle_wide(const uint8_t *in, uint8_t *out, size_t count,
                                                                   size_t size) {
  size_t done = 0;
  for (; count - done >= 16; done += 16) {
    __m128i now[16], next[16];
    for (size_t i = 0; i < size; i++) now[i] = _mm_loadu_si128((const __m128i *)(in + i * count + done));
    for (size_t width = 1; width < size; width *= 2) {
      for (size_t i = 0; i < size / 2; i++) {
        next[2 * i] = _mm_unpacklo_epi8(now[i], now[i + size / 2]);
        next[2 * i + 1] = _mm_unpackhi_epi8(now[i], now[i + size / 2]);
      }
      for (size_t i = 0; i < size; i++) now[i] = next[i];
    }
    for (size_t i = 0; i < size; i++) _mm_storeu_si128((__m128i *)(out + done * size + i * 16), now[i]);
  }
  return done;
}
#endif

void ndr_unshuffle(const uint8_t *in, uint8_t *out, size_t count, size_t size) {
  size_t done = 0;
#ifdef __SSE2__
  switch (size) {
  case 2: done = unshuffle_wide(in, out, count, 2); break;
  case 4: done = unshuffle_wide(in, out, count, 4); break;
  case 8: done = unshuffle_wide(in, out, count, 8); break;
  case 16: done = unshuffle_wide(in, out, count, 16); break;
  default: break;
  }
#endif
  unshuffle_plain(in, out, done, count, size);
}

static bool takes_shuffle(const ndr_filter *filter) {
  return filter->value_count == 1 && filter->values[0] > 0;
}

static bool is_idle_shuffle(const ndr_filter *filter) {
  return filter->values[0] == 1;
}

/* Bytes that make no whole element stay where they are. */
static ndr_status undo_shuffle(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  (void)state, (void)room;
  size_t size = filter->values[0], count = data->count / size, whole = count * size;
  if (count) ndr_unshuffle(data->bytes, out, count, size);
  if (data->count > whole) memcpy(out + whole, data->bytes + whole, data->count - whole);
  data->bytes = out;
  return NDR_OK;
}

const ndr_codec ndr_codec_shuffle = {
    .id = H5Z_FILTER_SHUFFLE,
    .takes = takes_shuffle,
    .is_idle = is_idle_shuffle,
    .undo = undo_shuffle,
};
