/* LZF, which h5py writes as filter 32000: runs of up to 32 bytes as they are, and references of 13 bits to what has
 * been decoded, for three bytes and more. */
#include <string.h>

#include "h5/codec/codec.h"

enum { LITERALS = 32, LONG_REFERENCE = 7, LEAST_REFERENCE = 2 };

/* A reference may reach into what it writes itself: then it repeats. */
static void repeat(uint8_t *out, size_t distance, size_t count) {
  const uint8_t *from = out - distance;
  if (distance >= count)
    memcpy(out, from, count);
  else
    for (size_t i = 0; i < count; i++) out[i] = from[i];
}

static ndr_status fail(const char *what) {
  return ndr_fail(NDR_ERR_FILE, "lzf: %s", what);
}

static ndr_status undo_lzf(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  const uint8_t *from = data->bytes, *end = from + data->count;
  size_t done = 0;
  (void)filter, (void)state;
  while (from < end) {
    size_t control = *from++, count = control + 1;
    if (control < LITERALS) {
      if (count > (size_t)(end - from)) return fail("the stream ends early");
      if (count > room - done) return fail("the stream gives more bytes than are due");
      memcpy(out + done, from, count);
      from += count;
    } else {
      bool more = control >> 5 == LONG_REFERENCE;
      if ((size_t)(end - from) < (more ? 2 : 1)) return fail("the stream ends early");
      count = (control >> 5) + LEAST_REFERENCE + (more ? *from++ : 0);
      size_t distance = ((control & 31) << 8) + *from++ + 1;
      if (distance > done) return fail("a reference goes before the beginning");
      if (count > room - done) return fail("the stream gives more bytes than are due");
      repeat(out + done, distance, count);
    }
    done += count;
  }
  *data = (ndr_span){out, done};
  return NDR_OK;
}

const ndr_codec ndr_codec_lzf = {
    .packs = true,
    .growth_shift = 5,
    .undo = undo_lzf,
};
