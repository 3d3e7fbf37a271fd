/* Deflate: a zlib stream, by zlib itself, where libdeflate, which is faster, is missing. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "h5/codec/codec.h"

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

/* A chunk has fewer than 2^32 bytes. */
static ndr_inflated inflate_all(void *state, const ndr_span *data, uint8_t *out, size_t room, size_t *made) {
  z_stream *stream = state;
  inflateReset(stream);
  stream->next_in = (z_const Bytef *)data->bytes;
  stream->avail_in = data->count < UINT_MAX ? (uInt)data->count : UINT_MAX;
  stream->next_out = out;
  stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
  int ended = inflate(stream, Z_FINISH);
  *made = stream->total_out;
  if (ended == Z_STREAM_END) return NDR_INFLATED;
  return (ended == Z_BUF_ERROR || ended == Z_OK) && stream->avail_out == 0 ? NDR_INFLATED_MORE : NDR_INFLATED_NOT;
}

#include "h5/codec/deflate.h"
