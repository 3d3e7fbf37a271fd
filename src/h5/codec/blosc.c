/* Blosc, as the registered filter 32001 stores it: one buffer of version 1. */
#include <blosc.h>

#include "h5/codec/codec.h"

/* Three blocks - one decoded, one unshuffled, one with a table of each byte's start - and a context of the library that
 * packed them, zstd's being the largest. A stream may have one block, as large as the chunk. */
static size_t blosc_state_bytes(const ndr_filter *filter, size_t bytes) {
  (void)filter;
  return 3 * (bytes < BLOSC_MAX_BUFFERSIZE ? bytes : BLOSC_MAX_BUFFERSIZE) + NDR_CODEC_ZSTD_BYTES;
}

/* The context functions take no lock and start no thread. */
static ndr_status undo_blosc(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  size_t bytes = 0, stored = 0, block = 0;
  (void)filter, (void)state;
  if (data->count < BLOSC_MIN_HEADER_LENGTH) return ndr_fail(NDR_ERR_FILE, "blosc: there is no header");
  blosc_cbuffer_sizes(data->bytes, &bytes, &stored, &block);
  if (stored > data->count) return ndr_fail(NDR_ERR_FILE, "blosc: the stream ends early");
  if (blosc_cbuffer_validate(data->bytes, stored, &bytes) != 0)
    return ndr_fail(NDR_ERR_FILE, "blosc: the header is damaged");
  if (bytes > room) return ndr_fail(NDR_ERR_FILE, "blosc: the stream claims %zu bytes where %zu are due", bytes, room);
  int made = bytes ? blosc_decompress_ctx(data->bytes, out, bytes, 1) : 0;
  if (made < 0 || (size_t)made != bytes) return ndr_fail(NDR_ERR_FILE, "blosc: the stream is damaged");
  *data = (ndr_span){out, bytes};
  return NDR_OK;
}

const ndr_codec ndr_codec_blosc = {
    .packs = true,
    .growth_shift = 4,
    .state_bytes = blosc_state_bytes,
    .undo = undo_blosc,
};
