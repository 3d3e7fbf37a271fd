/* Szip: the length in four bytes, then what SZ_BufftoBuffCompress made, which is adaptive entropy coding (CCSDS 121.0)
 * of scanlines that are filled up to whole blocks. Samples of 32 and 64 bits are coded as planes of bytes. libaec's own
 * decoder is called rather than its copy of SZ_BufftoBuffDecompress: that one allocates buffers for every chunk, and
 * takes a stream that ends early for a whole one. */
#include <libaec.h>
#include <stdlib.h>
#include <string.h>

#include "h5/codec/codec.h"
#include "h5/codec/planes.h"

/* What HDF5 keeps in a filter's values, and the bits of the first. */
enum { OPTIONS, BLOCK_PIXELS, PIXEL_BITS, LINE_PIXELS, VALUES };
enum { OPTION_MSB = 16, OPTION_DIFFERENCES = 32 };
enum { LENGTH_BYTES = 4, MAX_BLOCK_PIXELS = 32, MAX_LINE_PIXELS = 128 * MAX_BLOCK_PIXELS };

typedef struct {
  size_t planes;       /* that a pixel is coded as: 1, or its bytes */
  unsigned bits;       /* of a coded sample */
  size_t sample_bytes; /* that it takes when decoded */
  size_t line, padded; /* bytes of a scanline, and with what fills it up */
} layout;

static layout find_layout(const ndr_filter *filter) {
  const unsigned *values = filter->values;
  bool wide = values[PIXEL_BITS] > 24;
  layout found = {.planes = wide ? values[PIXEL_BITS] / 8 : 1, .bits = wide ? 8 : values[PIXEL_BITS]};
  found.sample_bytes = found.bits > 16 ? 4 : found.bits > 8 ? 2 : 1;
  found.line = values[LINE_PIXELS] * found.sample_bytes;
  size_t blocks = (values[LINE_PIXELS] + values[BLOCK_PIXELS] - 1) / values[BLOCK_PIXELS];
  found.padded = blocks * values[BLOCK_PIXELS] * found.sample_bytes;
  return found;
}

/* HDF5 makes no scanline shorter than a block, so that filling up at most doubles it. */
static bool takes_szip(const ndr_filter *filter) {
  const unsigned *values = filter->values, bits = values[PIXEL_BITS], block = values[BLOCK_PIXELS];
  return filter->value_count == VALUES && block >= 2 && block <= MAX_BLOCK_PIXELS && block % 2 == 0 &&
         values[LINE_PIXELS] >= block && values[LINE_PIXELS] <= MAX_LINE_PIXELS &&
         ((bits >= 1 && bits <= 24) || bits == 32 || bits == 64);
}

/* Coded bytes of a chunk: its last scanline is filled up, too. */
static size_t padded_bytes(const layout *form, size_t bytes) {
  return (bytes / form->line + (bytes % form->line != 0)) * form->padded;
}

static size_t buffer_bytes(const ndr_filter *filter, size_t bytes) {
  layout form = find_layout(filter);
  if (form.padded > form.line) return padded_bytes(&form, bytes);
  return form.planes > 1 ? bytes : 0;
}

/* libaec allocates its tables, and what is between two reference samples: a scanline of at most 4096 of 4 bytes. */
static size_t szip_state_bytes(const ndr_filter *filter, size_t bytes) {
  return buffer_bytes(filter, bytes) + ((size_t)64 << 10);
}

static void *open_szip(const ndr_filter *filter, size_t bytes) {
  size_t size = buffer_bytes(filter, bytes);
  return malloc(size ? size : 1);
}

/* Decodes as many samples as there are, up to count bytes. */
static ndr_status decode_samples(const ndr_filter *filter, const layout *form, ndr_span data, uint8_t *out,
                                 size_t *count) {
  struct aec_stream stream = {
      .next_in = data.bytes,
      .avail_in = data.count,
      .next_out = out,
      .avail_out = *count,
      .bits_per_sample = form->bits,
      .block_size = filter->values[BLOCK_PIXELS],
      .rsi = (unsigned)(form->padded / form->sample_bytes / filter->values[BLOCK_PIXELS]),
      .flags = (filter->values[OPTIONS] & OPTION_MSB ? AEC_DATA_MSB : 0) |
               (filter->values[OPTIONS] & OPTION_DIFFERENCES ? AEC_DATA_PREPROCESS : 0),
  };
  int status = aec_buffer_decode(&stream);
  *count = stream.total_out;
  if (status == AEC_OK) return NDR_OK;
  if (status == AEC_MEM_ERROR) return ndr_fail(NDR_ERR_MEMORY, "szip: there is no memory for libaec's tables");
  return ndr_fail(NDR_ERR_FILE, "szip: the stream is damaged");
}

static ndr_status undo_szip(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  const layout form = find_layout(filter);
  const bool fills = form.padded > form.line;
  if (data->count < LENGTH_BYTES) return ndr_fail(NDR_ERR_FILE, "szip: there is no length");
  const uint8_t *head = data->bytes;
  size_t bytes = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
  if (bytes > room) return ndr_fail(NDR_ERR_FILE, "szip: the stream claims %zu bytes where %zu are due", bytes, room);
  if (bytes % (form.sample_bytes * form.planes))
    return ndr_fail(NDR_ERR_FILE, "szip: %zu bytes are no whole number of pixels", bytes);

  uint8_t *coded = fills || form.planes > 1 ? state : out;
  size_t made = fills ? padded_bytes(&form, bytes) : bytes;
  size_t needed = fills ? bytes / form.line * form.padded + bytes % form.line : bytes;
  NDR_TRY(decode_samples(filter, &form, (ndr_span){head + LENGTH_BYTES, data->count - LENGTH_BYTES}, coded, &made));
  if (made < needed) return ndr_fail(NDR_ERR_FILE, "szip: the stream ends early");
  if (fills) {
    uint8_t *lines = form.planes > 1 ? coded : out;
    for (size_t from = 0, to = 0; to < bytes; from += form.padded, to += form.line)
      memmove(lines + to, coded + from, bytes - to < form.line ? bytes - to : form.line);
  }
  if (form.planes > 1) ndr_join_bytes(coded, out, bytes / form.planes, form.planes);
  *data = (ndr_span){out, bytes};
  return NDR_OK;
}

const ndr_codec ndr_codec_szip = {
    .packs = true,
    .growth_shift = 4,
    .takes = takes_szip,
    .state_bytes = szip_state_bytes,
    .open = open_szip,
    .close = free,
    .undo = undo_szip,
};
