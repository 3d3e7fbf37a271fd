/* Blosc2, as the registered filter 32026 stores it: a contiguous frame of one chunk. A frame with the metalayer b2nd is
 * an array cut into blocks, which are padded and follow each other; any other holds the bytes in their order.
 *
 * The frame is read here, and libblosc2 is given the chunk alone: it would take memory for what a frame claims. Codecs
 * and filters that are registered with libblosc2, dictionaries and chunks of several sizes are refused. */
#include <blosc2.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "h5/codec/bytes.h"
#include "h5/codec/codec.h"

/* Places in a frame, its numbers having their highest byte first. */
enum {
  AT_MAGIC = 2,
  AT_HEADER_BYTES = 11,
  AT_FRAME_BYTES = 16,
  AT_FLAGS = 25,
  AT_TYPE = 26,
  AT_BYTES = 30,
  AT_STORED = 39,
  AT_ELEMENT = 48,
  AT_METALAYERS = 92,
  AT_METALAYER = 94,
  AT_METALAYER_OFFSET = 100,
  LEAST_HEADER = 94
};

/* Places in a chunk, its numbers having their lowest byte first, and the flags that may be set: both of its shuffles at
 * once mean a header of 32 bytes, and the last byte says whether all elements are alike, and how. */
enum {
  CHUNK_HEADER = 32,
  CHUNK_FLAGS = 2,
  CHUNK_BYTES = 4,
  CHUNK_BLOCK = 8,
  CHUNK_STORED = 12,
  CHUNK_FILTERS = 16,
  CHUNK_FLAGS_2 = 30,
  CHUNK_SPECIAL = 31,
  LONG_HEADER = 5,
  ALL_ZERO = 1,
  ALL_OF_A_VALUE = 3,
  UNWRITTEN = 4
};

/* Values of the filter: what is shuffled and how, the codec, and for an array the dims of the chunk. */
enum {
  VALUE_SHUFFLE = 5,
  VALUE_CODEC = 6,
  VALUE_DIMS = 7,
  VALUE_SIZES = 8,
  MOST_DIMS = NDR_FILTER_VALUES - VALUE_SIZES
};

/* HDF5 is left with chunks that padding may make larger than this many times. */
enum { MOST_GROWTH = 8 };

typedef struct {
  size_t capacity;
  uint8_t *padded;
} decoder;

typedef struct {
  ndr_span chunk, offsets; /* chunk: no bytes where all elements are alike; offsets: to the frame's end */
  size_t bytes;
  size_t element;
  int dims; /* 0: the bytes are in their order */
  size_t shape[MOST_DIMS], block[MOST_DIMS];
  size_t steps[MOST_DIMS], block_steps[MOST_DIMS]; /* in bytes */
} frame;

/* How many times as large as the chunk its padded blocks may be. In each dim the filter takes blocks of a power of two
 * that is at most the chunk's size, or of the whole chunk, so that padding ends at the next power of two. Other writers
 * may cut differently: they may take 2 times the chunk. */
static double growth(const ndr_filter *filter) {
  double times = 1;
  for (size_t i = VALUE_SIZES; i < filter->value_count; i++) {
    double power = 1;
    while (power < filter->values[i]) power *= 2;
    times *= power / filter->values[i];
  }
  return times > 2 ? times : 2;
}

static size_t padded_bytes(const ndr_filter *filter, size_t bytes) {
  return (size_t)(growth(filter) * (double)bytes) + 1;
}

static size_t packed_bytes(const ndr_filter *filter, size_t bytes) {
  return padded_bytes(filter, bytes) + NDR_CODEC_HEADERS;
}

static bool takes_blosc2(const ndr_filter *filter) {
  const unsigned *values = filter->values;
  const char *name;
  if (filter->value_count > VALUE_SHUFFLE && values[VALUE_SHUFFLE] > BLOSC_TRUNC_PREC) return false;
  if (filter->value_count > VALUE_CODEC &&
      (values[VALUE_CODEC] > BLOSC_ZSTD || blosc2_compcode_to_compname((int)values[VALUE_CODEC], &name) < 0))
    return false;
  for (size_t i = VALUE_SIZES; i < filter->value_count; i++)
    if (values[i] == 0) return false;
  return growth(filter) <= MOST_GROWTH;
}

/* libblosc2 allocates four blocks, each at most as large as the chunk, and the codec's state; that of zstd is the
 * largest. */
static size_t blosc2_state_bytes(const ndr_filter *filter, size_t bytes) {
  return sizeof(decoder) + padded_bytes(filter, bytes) + 4 * bytes + NDR_CODEC_ZSTD_BYTES;
}

static void close_blosc2(void *state) {
  decoder *made = state;
  free(made->padded);
  free(made);
}

static void *open_blosc2(const ndr_filter *filter, size_t bytes) {
  decoder *made = malloc(sizeof *made);
  if (!made) return NULL;
  *made = (decoder){.capacity = padded_bytes(filter, bytes)};
  made->padded = malloc(made->capacity);
  if (made->padded) return made;
  close_blosc2(made);
  return NULL;
}

static uint32_t load_le32(const uint8_t *bytes) {
  return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* Whether libblosc2 undoes the chunk by itself, whatever was registered with it, and writes every byte. */
static bool is_plain(const uint8_t *chunk) {
  bool plain = (chunk[CHUNK_FLAGS] & LONG_HEADER) == LONG_HEADER && chunk[CHUNK_FLAGS] >> 5 <= BLOSC_ZSTD_FORMAT &&
               chunk[CHUNK_FLAGS_2] == 0 && (chunk[CHUNK_SPECIAL] & ~0x70) == 0 &&
               chunk[CHUNK_SPECIAL] >> 4 <= ALL_OF_A_VALUE;
  for (int i = 0; i < BLOSC2_MAX_FILTERS; i++) plain = plain && chunk[CHUNK_FILTERS + i] <= BLOSC_TRUNC_PREC;
  return plain;
}

/* Decodes a chunk of exactly `bytes` bytes, with blocks of at most `block`. A context of its own for each one keeps
 * nothing of the chunk before. */
static ndr_status decode_chunk(ndr_span chunk, uint8_t *out, size_t bytes, size_t block) {
  if (chunk.count < CHUNK_HEADER) return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's chunk has no header");
  size_t stored = load_le32(chunk.bytes + CHUNK_STORED);
  if (stored > chunk.count || stored > INT_MAX) return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's chunk ends early");
  if (!is_plain(chunk.bytes))
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's chunk is damaged, or needs what is registered with libblosc2");
  if (load_le32(chunk.bytes + CHUNK_BYTES) != bytes || bytes > INT_MAX)
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's chunk claims %u bytes where %zu are due",
                    (unsigned)load_le32(chunk.bytes + CHUNK_BYTES), bytes);
  if (load_le32(chunk.bytes + CHUNK_BLOCK) > block)
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's chunk claims blocks larger than itself");
  blosc2_context *context = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  if (!context) return ndr_fail(NDR_ERR_MEMORY, "blosc2: there is no memory for a decoder");
  int made = blosc2_decompress_ctx(context, chunk.bytes, (int32_t)stored, out, (int32_t)bytes);
  blosc2_free_ctx(context);
  if (made < 0 || (size_t)made != bytes) return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's chunk is damaged");
  return NDR_OK;
}

/* Takes from a header in msgpack a list of sizes, each of as many bytes behind a marker. */
static bool take_sizes(ndr_span *from, int dims, size_t bytes, size_t *sizes) {
  size_t count = 1 + (size_t)dims * (1 + bytes);
  if (from->count < count || from->bytes[0] != (0x90 | dims)) return false;
  for (int d = 0; d < dims; d++) {
    const uint8_t *at = from->bytes + 2 + (size_t)d * (1 + bytes);
    uint64_t size = bytes == 8 ? ndr_load_be64(at) : ndr_load_be32(at);
    if (size == 0 || size > INT_MAX) return false;
    sizes[d] = (size_t)size;
  }
  *from = (ndr_span){from->bytes + count, from->count - count};
  return true;
}

/* Multiplies *product by factor; false where that is more than libblosc2 has in a chunk. */
static bool multiply(size_t *product, size_t factor) {
  return !__builtin_mul_overflow(*product, factor, product) && *product <= INT_MAX;
}

/* Steps from one element to the next, from the last dim to the first; false where the frame has other bytes. */
static bool measure(frame *of) {
  size_t bytes = of->element, block_bytes = of->element, padded = of->element;
  if (of->element == 0) return false;
  for (int d = of->dims - 1; d >= 0; d--) {
    of->steps[d] = bytes;
    of->block_steps[d] = block_bytes;
    size_t blocks = (of->shape[d] + of->block[d] - 1) / of->block[d];
    if (!multiply(&bytes, of->shape[d]) || !multiply(&block_bytes, of->block[d]) ||
        !multiply(&padded, blocks * of->block[d]))
      return false;
  }
  return padded == of->bytes;
}

/* The array that a frame holds: its version, dims, shape, the shape of a chunk, which is the same, and of a block. */
static bool read_array(ndr_span header, frame *of) {
  enum { HEAD = 5, SIZE = 3 };
  size_t chunk[MOST_DIMS], at = ndr_load_be32(header.bytes + AT_METALAYER_OFFSET);
  if (at > header.count || header.count - at < HEAD + SIZE) return false;
  const uint8_t *bytes = header.bytes + at + HEAD;
  of->dims = bytes[2];
  if (of->dims < 1 || of->dims > MOST_DIMS) return false;
  ndr_span rest = {bytes + SIZE, header.count - at - HEAD - SIZE};
  return take_sizes(&rest, of->dims, 8, of->shape) && take_sizes(&rest, of->dims, 4, chunk) &&
         take_sizes(&rest, of->dims, 4, of->block) && memcmp(of->shape, chunk, (size_t)of->dims * sizeof *chunk) == 0 &&
         measure(of);
}

static ndr_status read_frame(ndr_span data, frame *of) {
  static const uint8_t key[] = {0xa4, 'b', '2', 'n', 'd'};
  if (data.count < LEAST_HEADER || memcmp(data.bytes + AT_MAGIC, "b2frame", 8) != 0)
    return ndr_fail(NDR_ERR_FILE, "blosc2: there is no frame");
  size_t header = ndr_load_be32(data.bytes + AT_HEADER_BYTES);
  uint64_t whole = ndr_load_be64(data.bytes + AT_FRAME_BYTES), stored = ndr_load_be64(data.bytes + AT_STORED),
           bytes = ndr_load_be64(data.bytes + AT_BYTES);
  if (whole > data.count) return ndr_fail(NDR_ERR_FILE, "blosc2: the frame ends early");
  if (header < LEAST_HEADER || header > whole || stored > whole - header || bytes > INT_MAX)
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's header is damaged");
  if ((data.bytes[AT_FLAGS] & 0xf0) != 0x10 || data.bytes[AT_TYPE] & 0xf)
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame is not one of 64-bit offsets and a chunk");
  *of = (frame){.chunk = {data.bytes + header, (size_t)stored},
                .offsets = {data.bytes + header + stored, (size_t)(whole - header - stored)},
                .bytes = (size_t)bytes,
                .element = ndr_load_be32(data.bytes + AT_ELEMENT)};
  unsigned metalayers = (unsigned)data.bytes[AT_METALAYERS] << 8 | data.bytes[AT_METALAYERS + 1];
  if (metalayers == 0) return NDR_OK;
  if (metalayers == 1 && header >= AT_METALAYER_OFFSET + 4 && memcmp(data.bytes + AT_METALAYER, key, sizeof key) == 0 &&
      read_array((ndr_span){data.bytes, header}, of))
    return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's metalayer is damaged, or not an array of one chunk");
}

/* Decodes the frame's only chunk. Where all its bytes are 0, there is none, and its offset says so. */
static ndr_status decode_frame(const frame *of, uint8_t *out, size_t block) {
  uint8_t offset[8] = {0};
  NDR_TRY(decode_chunk(of->offsets, offset, sizeof offset, sizeof offset));
  uint64_t at = (uint64_t)load_le32(offset + 4) << 32 | load_le32(offset);
  if (at == 0) return decode_chunk(of->chunk, out, of->bytes, block);
  if (at >> 56 != (0x80 | ALL_ZERO) && at >> 56 != (0x80 | UNWRITTEN))
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame's offset is damaged, or that of a chunk of NaN");
  memset(out, 0, of->bytes);
  return NDR_OK;
}

/* Copies what of a block is not padding, from dim d on. */
static void copy_block(const frame *of, int d, const size_t *counts, const uint8_t *from, uint8_t *to) {
  if (d == of->dims - 1) {
    memcpy(to, from, counts[d] * of->element);
    return;
  }
  for (size_t i = 0; i < counts[d]; i++)
    copy_block(of, d + 1, counts, from + i * of->block_steps[d], to + i * of->steps[d]);
}

/* Puts the blocks to their places, from dim d on; *from moves behind them. */
static void copy_blocks(const frame *of, int d, size_t *counts, const uint8_t **from, uint8_t *base, size_t at) {
  for (size_t first = 0; first < of->shape[d]; first += of->block[d]) {
    size_t left = of->shape[d] - first, place = at + first * of->steps[d];
    counts[d] = left < of->block[d] ? left : of->block[d];
    if (d < of->dims - 1) {
      copy_blocks(of, d + 1, counts, from, base, place);
    } else {
      copy_block(of, 0, counts, *from, base + place);
      *from += of->block[0] * of->block_steps[0];
    }
  }
}

static ndr_status undo_blosc2(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  decoder *made = state;
  frame of;
  (void)filter;
  NDR_TRY(read_frame(*data, &of));
  size_t bytes = of.dims ? of.shape[0] * of.steps[0] : of.bytes;
  if (bytes > room) return ndr_fail(NDR_ERR_FILE, "blosc2: the frame claims %zu bytes where %zu are due", bytes, room);
  if (of.bytes > made->capacity)
    return ndr_fail(NDR_ERR_FILE, "blosc2: the frame pads %zu bytes to more than %zu", bytes, made->capacity);
  NDR_TRY(decode_frame(&of, of.dims ? made->padded : out, room));
  if (of.dims) copy_blocks(&of, 0, (size_t[MOST_DIMS]){0}, &(const uint8_t *){made->padded}, out, 0);
  *data = (ndr_span){out, bytes};
  return NDR_OK;
}

const ndr_codec ndr_codec_blosc2 = {
    .packs = true,
    .packed_bytes = packed_bytes,
    .takes = takes_blosc2,
    .state_bytes = blosc2_state_bytes,
    .open = open_blosc2,
    .close = close_blosc2,
    .undo = undo_blosc2,
};
