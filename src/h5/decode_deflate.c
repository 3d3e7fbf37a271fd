/* Deflate: a zlib stream. */
#include <libdeflate.h>

#include "h5/decode_codec.h"

/* The tables of libdeflate's decompressor, about 12 KiB in 1.14, rounded up for versions to come. */
static size_t deflate_state_bytes(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return (size_t)64 << 10;
}

static void *open_deflate(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return libdeflate_alloc_decompressor();
}

static void close_deflate(void *state) {
  libdeflate_free_decompressor(state);
}

/* As in HDF5, bytes behind the stream's end do not matter. */
static ndr_status undo_deflate(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  size_t made = 0;
  (void)filter;
  switch (libdeflate_zlib_decompress(state, data->bytes, data->count, out, room, &made)) {
  case LIBDEFLATE_SUCCESS: break;
  case LIBDEFLATE_INSUFFICIENT_SPACE:
    return ndr_fail(NDR_ERR_FILE, "deflate: the stream holds more than the %zu bytes that are due", room);
  default: return ndr_fail(NDR_ERR_FILE, "deflate: the stream is damaged or ends early");
  }
  *data = (ndr_span){out, made};
  return NDR_OK;
}

const ndr_codec ndr_codec_deflate = {
    .id = H5Z_FILTER_DEFLATE,
    .packs = true,
    .growth_shift = 4,
    .state_bytes = deflate_state_bytes,
    .open = open_deflate,
    .close = close_deflate,
    .undo = undo_deflate,
};
