/* Bitshuffle, the registered filter 32008. It stores a block of elements as the first bits of all of them, then all
 * second bits, and so on; each block may then be packed. A shorter last block is cut to a multiple of 8 elements, and
 * the elements behind it are stored as they are. Packed data begin with the chunk's length in 8 bytes and the length of
 * a block in 4; each block follows its stored length in 4 bytes. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#ifdef NDR_WITH_LZ4
#include <lz4.h>
#endif
#ifdef NDR_WITH_ZSTD
#include <zstd.h>
#endif

#include "h5/codec/bytes.h"
#include "h5/codec/codec.h"
#include "h5/codec/planes.h"

/* What the filter keeps in its values; the last ones may be missing. */
enum { MAJOR, MINOR, ELEMENT_BYTES, BLOCK_ELEMENTS, PACKING };
enum { PACKED_LZ4 = 2, PACKED_ZSTD = 3 };
enum { HEADER_BYTES = 12, LENGTH_BYTES = 4 };

/* A block's length where the values leave it open: 8 KiB of elements, but no fewer than 128 elements. */
enum { DEFAULT_BLOCK_BYTES = 8192, DEFAULT_BLOCK_MIN = 128 };

typedef struct {
  uint8_t *block; /* one that has been unpacked */
  uint8_t *strip; /* what ndr_join_bits works in */
  void *context;  /* zstd's */
} bitshuffle_state;

/* Values that the filter does not know mean that blocks are not packed. */
static unsigned packing(const ndr_filter *filter) {
  unsigned how = filter->value_count > PACKING ? filter->values[PACKING] : 0;
  return how == PACKED_LZ4 || how == PACKED_ZSTD ? how : 0;
}

static bool takes_bitshuffle(const ndr_filter *filter) {
  bool can_unpack = packing(filter) == 0;
#ifdef NDR_WITH_LZ4
  can_unpack = can_unpack || packing(filter) == PACKED_LZ4;
#endif
#ifdef NDR_WITH_ZSTD
  can_unpack = can_unpack || packing(filter) == PACKED_ZSTD;
#endif
  return can_unpack && filter->value_count > ELEMENT_BYTES && filter->values[ELEMENT_BYTES] > 0;
}

static size_t strip_bytes(const ndr_filter *filter, size_t bytes) {
  size_t strip = (size_t)NDR_PLANES_STRIP * filter->values[ELEMENT_BYTES];
  return strip < bytes ? strip : bytes;
}

static size_t bitshuffle_state_bytes(const ndr_filter *filter, size_t bytes) {
  size_t context = packing(filter) == PACKED_ZSTD ? NDR_CODEC_ZSTD_BYTES : 0;
  return sizeof(bitshuffle_state) + strip_bytes(filter, bytes) + (packing(filter) ? bytes : 0) + context;
}

static void close_bitshuffle(void *opened) {
  bitshuffle_state *state = opened;
#ifdef NDR_WITH_ZSTD
  ZSTD_freeDCtx(state->context);
#endif
  free(state->block);
  free(state->strip);
  free(state);
}

static void *open_bitshuffle(const ndr_filter *filter, size_t bytes) {
  bitshuffle_state *state = calloc(1, sizeof *state);
  if (!state) return NULL;
  bool opened = (state->strip = malloc(strip_bytes(filter, bytes) + 1)) != NULL;
  if (packing(filter)) opened = opened && (state->block = malloc(bytes + 1));
#ifdef NDR_WITH_ZSTD
  if (packing(filter) == PACKED_ZSTD) opened = opened && (state->context = ZSTD_createDCtx());
#endif
  if (opened) return state;
  close_bitshuffle(state);
  return NULL;
}

/* Whether the stored bytes are a packed block of exactly `bytes` bytes, which are then in state->block. */
static bool unpack_block(unsigned how, bitshuffle_state *state, ndr_span stored, size_t bytes) {
  (void)how, (void)state, (void)stored, (void)bytes;
#ifdef NDR_WITH_LZ4
  if (how == PACKED_LZ4)
    return stored.count <= INT_MAX && bytes <= LZ4_MAX_INPUT_SIZE &&
           LZ4_decompress_safe((const char *)stored.bytes, (char *)state->block, (int)stored.count, (int)bytes) ==
               (int)bytes;
#endif
#ifdef NDR_WITH_ZSTD
  if (how == PACKED_ZSTD)
    return ZSTD_decompressDCtx(state->context, state->block, bytes, stored.bytes, stored.count) == bytes;
#endif
  return false;
}

/* Finds the planes of a block of `bytes` bytes, unpacking them if need be, and moves data behind it. */
static ndr_status next_block(unsigned how, bitshuffle_state *state, ndr_span *data, size_t bytes,
                             const uint8_t **planes) {
  size_t stored = bytes;
  if (how) {
    if (data->count < LENGTH_BYTES) return ndr_fail(NDR_ERR_FILE, "bitshuffle: the stream ends early");
    stored = ndr_load_be32(data->bytes);
    *data = (ndr_span){data->bytes + LENGTH_BYTES, data->count - LENGTH_BYTES};
  }
  if (stored > data->count) return ndr_fail(NDR_ERR_FILE, "bitshuffle: a block goes beyond the stream's end");
  *planes = how ? state->block : data->bytes;
  if (how && !unpack_block(how, state, (ndr_span){data->bytes, stored}, bytes))
    return ndr_fail(NDR_ERR_FILE, "bitshuffle: a block is damaged");
  *data = (ndr_span){data->bytes + stored, data->count - stored};
  return NDR_OK;
}

/* The length of the chunk and of a block, in elements, from the values and, where blocks are packed, the header. */
static ndr_status read_lengths(const ndr_filter *filter, ndr_span *data, size_t room, size_t *count, size_t *block) {
  const size_t size = filter->values[ELEMENT_BYTES];
  uint64_t bytes = data->count;
  *block = filter->value_count > BLOCK_ELEMENTS ? filter->values[BLOCK_ELEMENTS] : 0;
  if (*block == 0) {
    *block = DEFAULT_BLOCK_BYTES / size / 8 * 8;
    if (*block < DEFAULT_BLOCK_MIN) *block = DEFAULT_BLOCK_MIN;
  }
  if (packing(filter)) {
    if (data->count < HEADER_BYTES) return ndr_fail(NDR_ERR_FILE, "bitshuffle: there is no header");
    bytes = ndr_load_be64(data->bytes);
    *block = ndr_load_be32(data->bytes + 8) / size;
    *data = (ndr_span){data->bytes + HEADER_BYTES, data->count - HEADER_BYTES};
  }
  if (bytes > room)
    return ndr_fail(NDR_ERR_FILE, "bitshuffle: there are %llu bytes where %zu are due", (unsigned long long)bytes,
                    room);
  if (bytes % size)
    return ndr_fail(NDR_ERR_FILE, "bitshuffle: %zu bytes are no whole number of elements", (size_t)bytes);
  if (*block == 0 || *block % 8)
    return ndr_fail(NDR_ERR_FILE, "bitshuffle: blocks of %zu elements are no multiple of 8", *block);
  *count = (size_t)bytes / size;
  return NDR_OK;
}

static ndr_status undo_bitshuffle(const ndr_filter *filter, void *opened, ndr_span *data, uint8_t *out, size_t room) {
  bitshuffle_state *state = opened;
  const size_t size = filter->values[ELEMENT_BYTES];
  size_t count = 0, block = 0, done = 0;
  ndr_span rest = *data;
  NDR_TRY(read_lengths(filter, &rest, room, &count, &block));
  while (count - done >= 8) {
    const uint8_t *planes = NULL;
    size_t length = count - done < block ? (count - done) / 8 * 8 : block;
    NDR_TRY(next_block(packing(filter), state, &rest, length * size, &planes));
    ndr_join_bits(planes, out + done * size, length, size, state->strip);
    done += length;
  }
  if (rest.count < (count - done) * size) return ndr_fail(NDR_ERR_FILE, "bitshuffle: the stream ends early");
  if (count > done) memcpy(out + done * size, rest.bytes, (count - done) * size);
  *data = (ndr_span){out, count * size};
  return NDR_OK;
}

const ndr_codec ndr_codec_bitshuffle = {
    .packs = true,
    .takes = takes_bitshuffle,
    .state_bytes = bitshuffle_state_bytes,
    .open = open_bitshuffle,
    .close = close_bitshuffle,
    .undo = undo_bitshuffle,
};
