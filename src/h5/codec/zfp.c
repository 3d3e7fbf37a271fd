/* zfp, as the registered filter 32013 stores it. The filter's values are a word of versions and the header of a zfp
 * stream: type, dims and mode. The chunk is that stream without the header. A writer of the other byte order has the
 * header's words and the elements in its own order. */
#include <stdlib.h>
#include <string.h>
#include <zfp.h>

#include "h5/codec/codec.h"

/* zfp reads whole words, and may read one before it needs it. */
enum { LARGEST_HEADER = 8 * (NDR_FILTER_VALUES / 2), LOOKAHEAD = 64 };

/* Padding of partial blocks, and modes with more bits than elements have, can make data larger. HDF5 decodes what may
 * be larger than this many times the chunk. */
enum { MOST_GROWTH = 4 };

/* zfp's streams are sequences of words in the machine's byte order; in the file they are bytes. */
static bool has_words_of_bytes(void) {
  return stream_word_bits == 8 || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

typedef struct {
  zfp_stream *stream;
  zfp_field field;
  size_t element, bytes; /* of the chunk, as the header says */
  size_t most;           /* bytes that zfp may read for them */
  bool swapped;
  bitstream *words;
  uint8_t *coded;
} decoder;

static void close_zfp(void *state) {
  decoder *made = state;
  if (!made) return;
  if (made->stream) zfp_stream_close(made->stream);
  if (made->words) stream_close(made->words);
  free(made->coded);
  free(made);
}

/* Leaves the mode in made->stream, and the rest in made->field. */
static bool read_header(const ndr_filter *filter, bool swapped, decoder *made) {
  uint64_t words[LARGEST_HEADER / 8] = {0};
  uint8_t *bytes = (uint8_t *)words;
  for (size_t i = 1; i < filter->value_count; i++) {
    unsigned value = swapped ? __builtin_bswap32(filter->values[i]) : filter->values[i];
    memcpy(bytes + 4 * (i - 1), &value, 4);
  }
  bitstream *header = stream_open(words, sizeof words);
  if (!header) return false;
  zfp_stream_set_bit_stream(made->stream, header);
  memset(&made->field, 0, sizeof made->field);
  bool read = zfp_read_header(made->stream, &made->field, ZFP_HEADER_FULL) > 0;
  zfp_stream_set_bit_stream(made->stream, NULL);
  stream_close(header);
  made->swapped = swapped;
  return read;
}

/* The most bytes that zfp reads for a field. Its decoder does not always obey the limits of the mode: reversible blocks
 * have their own precision, and it ignores a limit of bits that is too small for an exponent. */
static size_t most_read(const decoder *made) {
  zfp_stream any = *made->stream;
  any.maxbits = ZFP_MAX_BITS;
  any.maxprec = ZFP_MAX_PREC;
  any.minexp = ZFP_MIN_EXP - 1;
  return zfp_stream_maximum_size(&any, &made->field);
}

/* The dims have at most 48 bits in the header, so their product does not overflow. */
static decoder *open_header(const ndr_filter *filter) {
  decoder *made = calloc(1, sizeof *made);
  if (made && (made->stream = zfp_stream_open(NULL)) &&
      (read_header(filter, false, made) || read_header(filter, true, made))) {
    made->element = zfp_type_size(made->field.type);
    made->bytes = zfp_field_size(&made->field, NULL) * made->element;
    made->most = most_read(made);
    return made;
  }
  close_zfp(made);
  return NULL;
}

static bool takes_zfp(const ndr_filter *filter) {
  decoder *made = has_words_of_bytes() ? open_header(filter) : NULL;
  bool taken = made && made->most > 0 && made->most / MOST_GROWTH <= made->bytes + NDR_CODEC_HEADERS / MOST_GROWTH;
  close_zfp(made);
  return taken;
}

/* No fewer than `bytes`, whatever the header says: a chunk may also be stored without the filter. */
static size_t packed_bytes(const ndr_filter *filter, size_t bytes) {
  decoder *made = open_header(filter);
  size_t most = made && made->bytes <= bytes && made->most > bytes ? made->most : bytes;
  close_zfp(made);
  return most;
}

static size_t zfp_state_bytes(const ndr_filter *filter, size_t bytes) {
  return sizeof(decoder) + packed_bytes(filter, bytes) + LOOKAHEAD + 1024;
}

/* A header that claims more than there is room for gets no buffer. */
static void *open_zfp(const ndr_filter *filter, size_t bytes) {
  decoder *made = open_header(filter);
  if (!made || made->bytes > bytes) return made;
  made->coded = malloc(made->most + LOOKAHEAD);
  made->words = made->coded ? stream_open(made->coded, made->most) : NULL;
  if (made->words) return made;
  close_zfp(made);
  return NULL;
}

static void swap_elements(uint8_t *elements, size_t bytes, size_t element) {
  for (uint8_t *at = elements; at < elements + bytes; at += element)
    for (size_t i = 0; i < element / 2; i++) {
      uint8_t byte = at[i];
      at[i] = at[element - 1 - i];
      at[element - 1 - i] = byte;
    }
}

/* zfp does not know where a stream ends, so it reads a copy with zeros behind it, as long as any stream can be. It says
 * in whole words how far it came. */
static ndr_status undo_zfp(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  decoder *made = state;
  const size_t word = stream_word_bits / 8;
  (void)filter;
  if (made->bytes > room)
    return ndr_fail(NDR_ERR_FILE, "zfp: the header claims %zu bytes where %zu are due", made->bytes, room);
  if (data->count > made->most)
    return ndr_fail(NDR_ERR_FILE, "zfp: the stream has %zu bytes where at most %zu are due", data->count, made->most);
  memcpy(made->coded, data->bytes, data->count);
  memset(made->coded + data->count, 0, made->most + LOOKAHEAD - data->count);
  zfp_stream_set_bit_stream(made->stream, made->words);
  zfp_stream_rewind(made->stream);
  zfp_field_set_pointer(&made->field, out);
  size_t taken = zfp_decompress(made->stream, &made->field);
  if (taken == 0) return ndr_fail(NDR_ERR_FILE, "zfp: the stream is damaged");
  if (taken > (data->count + word - 1) / word * word) return ndr_fail(NDR_ERR_FILE, "zfp: the stream ends early");
  if (made->swapped) swap_elements(out, made->bytes, made->element);
  *data = (ndr_span){out, made->bytes};
  return NDR_OK;
}

const ndr_codec ndr_codec_zfp = {
    .packs = true,
    .packed_bytes = packed_bytes,
    .takes = takes_zfp,
    .state_bytes = zfp_state_bytes,
    .open = open_zfp,
    .close = close_zfp,
    .undo = undo_zfp,
};
