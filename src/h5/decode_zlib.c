/* Deflate: a zlib stream, by zlib itself, where libdeflate, which is faster, is missing. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "h5/decode_codec.h"

/* The window of 32 KiB and about 10 KiB of tables. */
static size_t deflate_state_bytes(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return (size_t)64 << 10;
}

static void *open_deflate(const ndr_filter *filter, size_t bytes) {
  z_stream *stream = calloc(1, sizeof *stream);
  (void)filter, (void)bytes;
  if (stream && inflateInit(stream) == Z_OK) return stream;
  free(stream);
  return NULL;
}

static void close_deflate(void *state) {
  if (state) inflateEnd(state);
  free(state);
}

/* As in HDF5, bytes behind the stream's end do not matter. A chunk has fewer than 2^32 bytes. */
static ndr_status undo_deflate(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  z_stream *stream = state;
  (void)filter;
  inflateReset(stream);
  stream->next_in = (z_const Bytef *)data->bytes;
  stream->avail_in = data->count < UINT_MAX ? (uInt)data->count : UINT_MAX;
  stream->next_out = out;
  stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
  switch (inflate(stream, Z_FINISH)) {
  case Z_STREAM_END: break;
  case Z_BUF_ERROR:
  case Z_OK:
    if (stream->avail_out == 0)
      return ndr_fail(NDR_ERR_FILE, "deflate: the stream holds more than the %zu bytes that are due", room);
    /* fallthrough */
  default: return ndr_fail(NDR_ERR_FILE, "deflate: the stream is damaged or ends early");
  }
  *data = (ndr_span){out, stream->total_out};
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
