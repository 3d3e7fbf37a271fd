/* See encoders.h: streams of zfp. */
#include "h5/encoders.h"

#include <string.h>

#ifdef NDR_WITH_ZFP
size_t encode_field(zfp_stream *stream, zfp_field *field, ndr_filter *filter, uint8_t *stored, size_t room) {
  uint64_t header[4] = {0};
  bitstream *words = stream_open(header, sizeof header);
  zfp_stream_set_bit_stream(stream, words);
  size_t bits = zfp_write_header(stream, field, ZFP_HEADER_FULL);
  zfp_stream_flush(stream);
  *filter = (ndr_filter){.id = 32013, .value_count = 1 + (bits + 31) / 32, .values = {0x10005110}};
  memcpy(filter->values + 1, header, sizeof header);
  stream_close(words);
  words = stream_open(stored, room);
  zfp_stream_set_bit_stream(stream, words);
  size_t written = zfp_compress(stream, field);
  stream_close(words);
  return written;
}

/* Elements as a chunk of 1 to 4 dims, if there are so many, in the one mode that loses nothing. */
static zfp_field make_field(rng *random, const uint8_t *data, size_t bytes) {
  const bool wide = bytes % 8 == 0 && rng_once_in(random, 2), whole = rng_once_in(random, 2);
  zfp_type type = whole ? wide ? zfp_type_int64 : zfp_type_int32 : wide ? zfp_type_double : zfp_type_float;
  size_t left = bytes / (wide ? 8 : 4), sizes[3] = {0};
  for (int d = 0; d < 3 && rng_once_in(random, 2); d++)
    for (size_t size = 12; size > 3 && !sizes[d]; size--)
      if (left % size == 0 && left > size) left /= sizes[d] = size;
  union {
    const uint8_t *bytes;
    void *data;
  } source = {data};
  zfp_field field = {.type = type, .nx = left, .data = source.data};
  size_t *dims[] = {&field.ny, &field.nz, &field.nw};
  for (int d = 0, used = 0; d < 3; d++)
    if (sizes[d]) *dims[used++] = sizes[d];
  return field;
}

size_t encode_zfp(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  zfp_field field = make_field(random, data, bytes);
  zfp_stream *stream = zfp_stream_open(NULL);
  zfp_stream_set_reversible(stream);
  size_t written = encode_field(stream, &field, filter, stored, 2 * bytes + ENCODE_ROOM);
  zfp_stream_close(stream);
  return written;
}
#endif
