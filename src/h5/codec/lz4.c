/* LZ4 in the format of the registered filter 32004: the length of the chunk in 8 bytes and the length of a block in 4;
 * then for each block its stored length in 4 bytes, and its bytes. A block is not packed if its stored length is its
 * length. */
#include <limits.h>
#include <lz4.h>
#include <string.h>

#include "h5/codec/bytes.h"
#include "h5/codec/codec.h"

enum { HEADER_BYTES = 12, LENGTH_BYTES = 4 };

/* Decodes one block of exactly `bytes` bytes and moves data behind it. */
static ndr_status decode_block(ndr_span *data, uint8_t *out, size_t bytes) {
  if (data->count < LENGTH_BYTES) return ndr_fail(NDR_ERR_FILE, "lz4: the stream ends early");
  size_t stored = ndr_load_be32(data->bytes);
  *data = (ndr_span){data->bytes + LENGTH_BYTES, data->count - LENGTH_BYTES};
  if (stored > data->count) return ndr_fail(NDR_ERR_FILE, "lz4: a block goes beyond the stream's end");
  if (stored == bytes)
    memcpy(out, data->bytes, bytes);
  else if (stored > INT_MAX || bytes > LZ4_MAX_INPUT_SIZE ||
           LZ4_decompress_safe((const char *)data->bytes, (char *)out, (int)stored, (int)bytes) != (int)bytes)
    return ndr_fail(NDR_ERR_FILE, "lz4: a block is damaged");
  *data = (ndr_span){data->bytes + stored, data->count - stored};
  return NDR_OK;
}

static ndr_status undo_lz4(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  (void)filter, (void)state;
  if (data->count < HEADER_BYTES) return ndr_fail(NDR_ERR_FILE, "lz4: there is no header");
  uint64_t bytes = ndr_load_be64(data->bytes);
  size_t block = ndr_load_be32(data->bytes + 8);
  ndr_span rest = {data->bytes + HEADER_BYTES, data->count - HEADER_BYTES};
  if (bytes > room)
    return ndr_fail(NDR_ERR_FILE, "lz4: the stream claims %llu bytes where %zu are due", (unsigned long long)bytes,
                    room);
  if (block == 0 && bytes > 0) return ndr_fail(NDR_ERR_FILE, "lz4: the stream claims blocks of 0 bytes");
  for (size_t done = 0; done < bytes; done += block)
    NDR_TRY(decode_block(&rest, out + done, bytes - done < block ? bytes - done : block));
  *data = (ndr_span){out, (size_t)bytes};
  return NDR_OK;
}

const ndr_codec ndr_codec_lz4 = {
    .packs = true,
    .undo = undo_lz4,
};
