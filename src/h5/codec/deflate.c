/* Deflate: a zlib stream, by libdeflate. */
#include <libdeflate.h>

#include "h5/codec/codec.h"

static void *open_deflate(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return libdeflate_alloc_decompressor();
}

static void close_deflate(void *state) {
  libdeflate_free_decompressor(state);
}

static ndr_inflated inflate_all(void *state, const ndr_span *data, uint8_t *out, size_t room, size_t *made) {
  switch (libdeflate_zlib_decompress(state, data->bytes, data->count, out, room, made)) {
  case LIBDEFLATE_SUCCESS: return NDR_INFLATED;
  case LIBDEFLATE_INSUFFICIENT_SPACE: return NDR_INFLATED_MORE;
  default: return NDR_INFLATED_NOT;
  }
}

#include "h5/codec/deflate.h"
