/* Streams of the registered filters, made here as their formats are defined, so that no plugin is needed: whole ones
 * are decoded, damaged ones and headers that lie are refused. */
#include <stdlib.h>
#ifdef NDR_WITH_LZ4
#include <lz4.h>
#endif
#ifdef NDR_WITH_ZSTD
#include <zstd.h>
#endif
#ifdef NDR_WITH_BLOSC
#include <blosc.h>
#endif
#ifdef NDR_WITH_BLOSC2
#include <b2nd.h>
#endif
#ifdef NDR_WITH_BZIP2
#include <bzlib.h>
#endif
#ifdef NDR_WITH_ZFP
#include <zfp.h>
#endif

#include "support/cases.h"
#include "support/h5_chunk.h"
#include "support/suite.h"

static void put_be(uint8_t *bytes, int count, uint64_t value) {
  for (int i = 0; i < count; i++) bytes[i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

/* ---- Encoders -----------------------------------------------------------------------------------------------------
 */

/* Encodes data with parameters chosen at random, and puts the filter beside it. stored has room for twice the bytes and
 * ROOM more. */
typedef size_t (*encoder)(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored);
enum { ROOM = 8192 };

/* Packs a block with the library that filter 32008 numbers so; 0 bytes where it is not here. */
static size_t pack(unsigned how, const uint8_t *data, size_t bytes, uint8_t *stored) {
  (void)how, (void)data, (void)bytes, (void)stored;
#ifdef NDR_WITH_LZ4
  if (how == 2)
    return (size_t)LZ4_compress_default((const char *)data, (char *)stored, (int)bytes, LZ4_compressBound((int)bytes));
#endif
#ifdef NDR_WITH_ZSTD
  if (how == 3) return ZSTD_compress(stored, ZSTD_compressBound(bytes), data, bytes, 1);
#endif
  return 0;
}

/* By the definition, bit by bit. */
static void split_bits(const uint8_t *data, uint8_t *planes, size_t count, size_t size) {
  memset(planes, 0, count * size);
  for (size_t e = 0; e < count; e++)
    for (size_t b = 0; b < 8 * size; b++)
      planes[b * count / 8 + e / 8] |= (uint8_t)((data[e * size + b / 8] >> b % 8 & 1) << e % 8);
}

static size_t encode_bitshuffle(rng *random, unsigned how, ndr_filter *filter, const uint8_t *data, size_t bytes,
                                uint8_t *stored) {
  size_t size = 1, block = 8 * (size_t)rng_between(random, 1, 200), at = 0, done = 0;
  for (size_t i = 2; i <= 16; i++)
    if (bytes % i == 0 && rng_once_in(random, 2)) size = i;
  bool chosen = rng_once_in(random, 2);
  if (!chosen) block = 8192 / size / 8 * 8;
  *filter = (ndr_filter){.id = 32008, .value_count = how ? 5 : 4};
  memcpy(filter->values, (unsigned[]){0, 4, (unsigned)size, chosen ? (unsigned)block : 0, how}, 5 * sizeof(unsigned));
  if (how) {
    put_be(stored, 8, bytes);
    put_be(stored + 8, 4, block * size);
    at = 12;
  }
  uint8_t *planes = malloc(bytes);
  for (size_t count = bytes / size; count - done >= 8;) {
    size_t length = count - done < block ? (count - done) / 8 * 8 : block;
    split_bits(data + done * size, planes, length, size);
    size_t packed = how ? pack(how, planes, length * size, stored + at + 4) : length * size;
    if (how) put_be(stored + at, 4, packed);
    if (!how) memcpy(stored + at, planes, packed);
    at += packed + (how ? 4 : 0);
    done += length;
  }
  memcpy(stored + at, data + done * size, bytes - done * size);
  free(planes);
  return at + bytes - done * size;
}

static size_t encode_bits(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  return encode_bitshuffle(random, 0, filter, data, bytes, stored);
}

/* How many bytes at `at` are like those `distance` before, up to what a reference can say. */
static size_t match(const uint8_t *data, size_t bytes, size_t at, size_t distance) {
  size_t count = 0;
  while (count < 264 && at + count < bytes && data[at + count] == data[at + count - distance]) count++;
  return count;
}

/* References are looked for at a few distances only, as many as there are of anything to find. */
static size_t encode_lzf(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  size_t at = 0, written = 0, literals = 0; /* the last run of literals' control byte is before its bytes */
  *filter = (ndr_filter){.id = 32000, .value_count = 3, .values = {4, 0x105, (unsigned)bytes}};
  while (at < bytes) {
    size_t distance = (size_t)rng_between(random, 1, rng_once_in(random, 2) ? 16 : 8192);
    size_t count = distance <= at ? match(data, bytes, at, distance) : 0;
    if (count >= 3) {
      size_t length = count - 2;
      stored[written++] = (uint8_t)((length < 7 ? length : 7) << 5 | (distance - 1) >> 8);
      if (length >= 7) stored[written++] = (uint8_t)(length - 7);
      stored[written++] = (uint8_t)(distance - 1);
      literals = 0;
      at += count;
      continue;
    }
    if (literals == 0 || literals == 32) stored[written++] = (uint8_t)(literals = 0);
    stored[written++] = data[at++];
    literals++;
    stored[written - 1 - literals] = (uint8_t)(literals - 1);
  }
  return written;
}

#ifdef NDR_WITH_LZ4
static size_t encode_bits_lz4(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  return encode_bitshuffle(random, 2, filter, data, bytes, stored);
}

static size_t encode_lz4(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  size_t block = (size_t)rng_between(random, 16, 3000), at = 12;
  if (rng_once_in(random, 2)) block = 1 << 30;
  *filter = (ndr_filter){.id = 32004};
  put_be(stored, 8, bytes);
  put_be(stored + 8, 4, block);
  for (size_t done = 0; done < bytes; done += block) {
    size_t length = bytes - done < block ? bytes - done : block;
    size_t packed = pack(2, data + done, length, stored + at + 4);
    if (packed >= length) memcpy(stored + at + 4, data + done, packed = length);
    put_be(stored + at, 4, packed);
    at += 4 + packed;
  }
  return at;
}
#endif

#ifdef NDR_WITH_ZSTD
static size_t encode_bits_zstd(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  return encode_bitshuffle(random, 3, filter, data, bytes, stored);
}

static size_t encode_zstd(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  *filter = (ndr_filter){.id = 32015, .value_count = 1, .values = {3}};
  return ZSTD_compress(stored, ZSTD_compressBound(bytes), data, bytes, (int)rng_between(random, 1, 5));
}
#endif

#ifdef NDR_WITH_BLOSC
static size_t encode_blosc(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  static const char *const packers[] = {"blosclz", "lz4", "zlib", "zstd"};
  const char *packer = packers[rng_between(random, 0, 3)];
  if (blosc_compname_to_compcode(packer) < 0) packer = "blosclz";
  *filter = (ndr_filter){.id = 32001, .value_count = 7};
  return (size_t)blosc_compress_ctx((int)rng_between(random, 0, 9), (int)rng_between(random, 0, 2),
                                    (size_t)rng_between(random, 1, 16), bytes, data, stored, bytes + ROOM, packer,
                                    (size_t)rng_between(random, 0, 3000), 1);
}
#endif

#ifdef NDR_WITH_BLOSC2
/* Copies a frame to stored where it has room; 0 bytes where it has not. */
static size_t keep_frame(uint8_t *frame, int64_t bytes, bool owned, uint8_t *stored, size_t room) {
  ck_assert_int_gt(bytes, 0);
  bool fits = (size_t)bytes <= room;
  if (fits) memcpy(stored, frame, (size_t)bytes);
  if (owned) free(frame);
  return fits ? (size_t)bytes : 0;
}

/* A frame of the bytes in their order. */
static size_t encode_plain(blosc2_storage *storage, const uint8_t *data, size_t bytes, uint8_t *stored, size_t room) {
  blosc2_schunk *schunk = blosc2_schunk_new(storage);
  uint8_t *frame = NULL;
  bool owned = false;
  ck_assert_ptr_nonnull(schunk);
  ck_assert_int_eq(blosc2_schunk_append_buffer(schunk, data, (int32_t)bytes), 1);
  int64_t length = blosc2_schunk_to_buffer(schunk, &frame, &owned);
  size_t written = keep_frame(frame, length, owned, stored, room);
  blosc2_schunk_free(schunk);
  return written;
}

/* A frame of an array in blocks. */
static size_t encode_array(blosc2_storage *storage, int dims, const int32_t *chunk, const int32_t *block,
                           const uint8_t *data, size_t bytes, uint8_t *stored, size_t room) {
  int64_t shape[NDR_FILTER_VALUES], length = 0;
  uint8_t *frame = NULL;
  bool owned = false;
  for (int d = 0; d < dims; d++) shape[d] = chunk[d];
  b2nd_context_t *context =
      b2nd_create_ctx(storage, (int8_t)dims, shape, chunk, block, "|u1", DTYPE_NUMPY_FORMAT, NULL, 0);
  b2nd_array_t *array = NULL;
  ck_assert_ptr_nonnull(context);
  ck_assert_int_eq(b2nd_from_cbuffer(context, &array, data, (int64_t)bytes), 0);
  ck_assert_int_eq(b2nd_to_cframe(array, &frame, &length, &owned), 0);
  size_t written = keep_frame(frame, length, owned, stored, room);
  b2nd_free(array);
  b2nd_free_ctx(context);
  return written;
}

/* Cuts elements into a chunk of at most 5 dims, and that into blocks; all of a dim, or a power of two as HDF5's filter
 * has it. Returns the number of dims. */
static int cut_elements(rng *random, size_t elements, int32_t *chunk, int32_t *block) {
  int dims = 0;
  for (; dims < 4 && rng_once_in(random, 2); dims++)
    for (size_t size = (size_t)rng_between(random, 1, 12);; size--)
      if (elements % size == 0) {
        chunk[dims] = (int32_t)size;
        elements /= size;
        break;
      }
  chunk[dims++] = (int32_t)elements;
  for (int d = 0; d < dims; d++) {
    for (block[d] = 1; 2 * block[d] <= chunk[d] && !rng_once_in(random, 5);) block[d] *= 2;
    if (rng_once_in(random, 3)) block[d] = chunk[d];
  }
  return dims;
}

static size_t encode_blosc2(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  static const uint8_t packers[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  const char *name;
  int32_t chunk[5], block[5], size = 1 << rng_between(random, 0, 3);
  while (bytes % (size_t)size) size /= 2;
  int dims = cut_elements(random, bytes / (size_t)size, chunk, block);
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.typesize = size;
  how.clevel = (uint8_t)rng_between(random, 0, 9);
  how.compcode = packers[rng_between(random, 0, 4)];
  if (blosc2_compcode_to_compname(how.compcode, &name) < 0) how.compcode = BLOSC_BLOSCLZ;
  how.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)rng_between(random, 0, 3);
  blosc2_storage storage = {.cparams = &how, .contiguous = false};
  *filter = (ndr_filter){.id = 32026, .value_count = 7};
  memcpy(filter->values,
         (unsigned[]){1, 0, (unsigned)size, (unsigned)bytes, how.clevel, how.filters[BLOSC2_MAX_FILTERS - 1],
                      how.compcode},
         7 * sizeof(unsigned));
  if (dims > 1) {
    filter->value_count = 8 + (size_t)dims;
    filter->values[7] = (unsigned)dims;
    for (int d = 0; d < dims; d++) filter->values[8 + d] = (unsigned)chunk[d];
  }
  size_t written = ndr_filters_known(&(ndr_filters){.count = 1, .all = {*filter}}, NULL)
                       ? encode_array(&storage, dims, chunk, block, data, bytes, stored, 2 * bytes + ROOM)
                       : 0;
  if (written && (dims > 1 || rng_once_in(random, 2))) return written;
  filter->value_count = 7;
  return encode_plain(&storage, data, bytes, stored, 2 * bytes + ROOM);
}
#endif

#ifdef NDR_WITH_BZIP2
static size_t encode_bzip2(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  unsigned room = (unsigned)bytes + ROOM;
  union {
    const uint8_t *bytes;
    char *text;
  } source = {data};
  *filter = (ndr_filter){.id = 307, .value_count = 1, .values = {9}};
  ck_assert_int_eq(BZ2_bzBuffToBuffCompress((char *)stored, &room, source.text, (unsigned)bytes,
                                            (int)rng_between(random, 1, 9), 0, 0),
                   BZ_OK);
  return room;
}
#endif

#ifdef NDR_WITH_ZFP
/* A stream of the field's elements, and in the filter's values its header behind a word of versions. */
static size_t encode_field(zfp_stream *stream, zfp_field *field, ndr_filter *filter, uint8_t *stored, size_t room) {
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

static size_t encode_zfp(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  zfp_field field = make_field(random, data, bytes);
  zfp_stream *stream = zfp_stream_open(NULL);
  zfp_stream_set_reversible(stream);
  size_t written = encode_field(stream, &field, filter, stored, 2 * bytes + ROOM);
  zfp_stream_close(stream);
  return written;
}
#endif

/* unit: what a chunk's size is a multiple of. loses_end: a part of a stream may be one itself. */
static const struct {
  const char *name;
  encoder encode;
  size_t unit;
  bool loses_end;
} encoders[] = {
    {"bitshuffle", encode_bits, 1, false},
    {"lzf", encode_lzf, 1, false},
#ifdef NDR_WITH_LZ4
    {"bitshuffle with lz4", encode_bits_lz4, 1, false},
    {"lz4", encode_lz4, 1, false},
#endif
#ifdef NDR_WITH_ZSTD
    {"bitshuffle with zstd", encode_bits_zstd, 1, false},
    {"zstd", encode_zstd, 1, false},
#endif
#ifdef NDR_WITH_BLOSC
    {"blosc", encode_blosc, 1, false},
#endif
#ifdef NDR_WITH_BLOSC2
    {"blosc2", encode_blosc2, 1, false},
#endif
#ifdef NDR_WITH_BZIP2
    {"bzip2", encode_bzip2, 1, false},
#endif
#ifdef NDR_WITH_ZFP
    {"zfp", encode_zfp, 4, true},
#endif
};
enum { ENCODERS = sizeof encoders / sizeof *encoders };

static stored_chunk encode_chunk(rng *random, int i, size_t bytes) {
  bytes += (encoders[i].unit - bytes % encoders[i].unit) % encoders[i].unit;
  stored_chunk chunk = {.filters = {.count = 1}, .bytes = bytes};
  chunk.data = malloc(bytes);
  chunk.stored = malloc(2 * bytes + ROOM);
  ck_assert(chunk.data && chunk.stored);
  if (rng_once_in(random, 3))
    fill_noise(random, chunk.data, bytes);
  else
    fill_smooth(random, chunk.data, bytes, 4);
  chunk.stored_bytes = encoders[i].encode(random, &chunk.filters.all[0], chunk.data, bytes, chunk.stored);
  ck_assert_uint_gt(chunk.stored_bytes, 0);
  return chunk;
}

/* ---- Whole and damaged streams ------------------------------------------------------------------------------------
 */

START_TEST(streams_decode_to_what_was_encoded) {
  rng random = {test_seed()};
  for (int round = 0; round < 100; round++) {
    size_t bytes = (size_t)rng_between(&random, 1, rng_once_in(&random, 3) ? 40000 : 2000);
    stored_chunk chunk = encode_chunk(&random, _i, bytes);
    chunk_check(&chunk, encoders[_i].name);
    chunk_free(&chunk);
  }
}
END_TEST

START_TEST(damaged_streams_do_no_harm) {
  rng random = {test_seed()};
  for (int round = 0; round < 6; round++) {
    stored_chunk chunk = encode_chunk(&random, _i, (size_t)rng_between(&random, 1, 700));
    if (!encoders[_i].loses_end) chunk_truncate(&chunk);
    chunk_flip(&random, &chunk, 200);
    chunk_free(&chunk);
  }
}
END_TEST

/* A stream of more bytes than the chunk has, or of fewer. */
START_TEST(streams_of_another_size_are_refused) {
  rng random = {test_seed()};
  for (int round = 0; round < 100; round++) {
    size_t whole = 16 * (size_t)rng_between(&random, 10, 200);
    stored_chunk chunk = encode_chunk(&random, _i, whole);
    size_t others[] = {0, 1, whole / 2, whole - 1, whole + 1, whole * 2, whole * 3 + 1};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      ndr_decoder *decoder;
      chunk.bytes = others[i];
      uint8_t *out = malloc(chunk.bytes + 1);
      assert_ok(ndr_decoder_create(&decoder, &chunk.filters, chunk.bytes));
      ck_assert_int_eq(chunk_decode(decoder, &chunk, chunk.stored_bytes, 0, out), NDR_ERR_FILE);
      ndr_decoder_destroy(decoder);
      free(out);
    }
    chunk_free(&chunk);
  }
}
END_TEST

/* ---- Headers that lie ---------------------------------------------------------------------------------------------
 */

static void check_header(ndr_filter filter, uint64_t bytes, uint64_t block, uint64_t stored_block, const char *says) {
  uint8_t stored[64] = {0}, out[256];
  ndr_filters filters = {.count = 1, .all = {filter}};
  ndr_decoder *decoder;
  put_be(stored, 8, bytes);
  put_be(stored + 8, 4, block);
  put_be(stored + 12, 4, stored_block);
  if (!ndr_filters_known(&filters, NULL)) return;
  assert_ok(ndr_decoder_create(&decoder, &filters, sizeof out));
  assert_fails(ndr_decoder_run(decoder, stored, sizeof stored, 0, out), NDR_ERR_FILE, says);
  ndr_decoder_destroy(decoder);
}

START_TEST(headers_that_lie_are_refused) {
  const ndr_filter lz4 = {.id = 32004};
  check_header(lz4, UINT64_MAX, 256, 4, "due");
  check_header(lz4, 257, 256, 4, "due");
  check_header(lz4, 255, 255, 4, "damaged");
  check_header(lz4, 256, 0, 4, "0 bytes");
  check_header(lz4, 256, 256, UINT32_MAX, "beyond");
  check_header(lz4, 256, UINT32_MAX, 49, "beyond");
  check_header(lz4, 256, 1, 1, "damaged");
  check_header(lz4, 0, 0, 0, "gives 0 bytes where 256 are due");
  for (unsigned packing = 2; packing <= 3; packing++) {
    const ndr_filter bits = {.id = 32008, .value_count = 5, .values = {0, 0, 4, 0, packing}};
    check_header(bits, UINT64_MAX, 256, 4, "due");
    check_header(bits, 260, 256, 4, "due");
    check_header(bits, 254, 256, 4, "whole number");
    check_header(bits, 256, 0, 4, "multiple of 8");
    check_header(bits, 256, 20, 4, "multiple of 8");
    check_header(bits, 256, 256, UINT32_MAX, "beyond");
    check_header(bits, 256, UINT32_MAX & ~31u, 4, "damaged");
    check_header(bits, 16, 256, 0, "gives 16 bytes where 256 are due");
  }
  check_header((ndr_filter){.id = 32001}, 0, 0, 0, "blosc");
}
END_TEST

/* Elements that are larger than a chunk, or more than memory has, cost nothing. */
START_TEST(huge_elements_are_refused) {
  for (unsigned size = 257; size > 256; size = size < 1u << 31 ? size * 2 : 0) {
    ndr_filters filters = {.count = 1, .all = {{.id = 32008, .value_count = 4, .values = {0, 0, size, 0}}}};
    ndr_decoder *decoder;
    uint8_t stored[256] = {0}, out[256];
    ck_assert_uint_lt(ndr_decoder_bytes(&filters, 256), 1 << 16);
    assert_ok(ndr_decoder_create(&decoder, &filters, 256));
    assert_fails(ndr_decoder_run(decoder, stored, 256, 0, out), NDR_ERR_FILE, "whole number");
    ndr_decoder_destroy(decoder);
  }
}
END_TEST

#ifdef NDR_WITH_BLOSC2
/* ---- Blosc2 -------------------------------------------------------------------------------------------------------
 */

/* 6 x 10 elements of 4 bytes in blocks of 4 x 4, all of them 0 or none. */
static stored_chunk array_chunk(bool zero) {
  const int32_t shape[] = {6, 10}, block[] = {4, 4};
  stored_chunk chunk = {
      .filters = {.count = 1, .all = {{.id = 32026, .value_count = 10, .values = {1, 0, 4, 240, 5, 1, 0, 2, 6, 10}}}},
      .bytes = 240};
  chunk.data = calloc(1, chunk.bytes);
  chunk.stored = calloc(1, ROOM);
  ck_assert(chunk.data && chunk.stored);
  for (size_t i = 0; i < chunk.bytes && !zero; i++) chunk.data[i] = (uint8_t)(1 + i);
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.typesize = 4;
  blosc2_storage storage = {.cparams = &how, .contiguous = false};
  chunk.stored_bytes = encode_array(&storage, 2, shape, block, chunk.data, chunk.bytes, chunk.stored, ROOM);
  return chunk;
}

static void check_refused(stored_chunk *chunk, const char *says) {
  uint8_t out[240];
  ndr_decoder *decoder;
  assert_ok(ndr_decoder_create(&decoder, &chunk->filters, chunk->bytes));
  assert_fails(ndr_decoder_run(decoder, chunk->stored, chunk->stored_bytes, 0, out), NDR_ERR_FILE, says);
  ndr_decoder_destroy(decoder);
  chunk_free(chunk);
}

/* With the bytes at a place changed, as many as value has, the chunk is refused. */
static void check_lie(size_t at, size_t count, uint64_t value, const char *says) {
  stored_chunk chunk = array_chunk(false);
  put_be(chunk.stored + at, (int)count, value);
  check_refused(&chunk, says);
}

START_TEST(frames_that_lie_are_refused) {
  enum { OFFSET = 100, ELEMENT = 48, SHAPE = 9, SECOND = SHAPE + 9, CHUNK = SECOND + 10, BLOCK = CHUNK + 11 };
  stored_chunk whole = array_chunk(false);
  const size_t array = (size_t)whole.stored[OFFSET + 2] << 8 | whole.stored[OFFSET + 3];
  const size_t header = (size_t)whole.stored[13] << 8 | whole.stored[14],
               stored = whole.stored[45] << 8 | whole.stored[46];
  chunk_check(&whole, "blosc2");
  chunk_free(&whole);
  check_lie(2, 1, 'B', "no frame");
  check_lie(11, 4, UINT32_MAX, "damaged");
  check_lie(11, 4, 0, "damaged");
  check_lie(16, 8, UINT64_MAX, "ends early");
  check_lie(25, 1, 0x52, "64-bit");
  check_lie(26, 1, 1, "64-bit");
  check_lie(30, 8, UINT64_MAX, "damaged");
  check_lie(30, 8, 240, "metalayer"); /* without the padding */
  check_lie(39, 8, UINT64_MAX, "damaged");
  check_lie(92, 2, 2, "metalayer");
  check_lie(OFFSET, 4, UINT32_MAX, "metalayer");
  check_lie(OFFSET, 4, header - 7, "metalayer");
  check_lie(ELEMENT, 4, 0, "metalayer");
  check_lie(ELEMENT, 4, UINT32_MAX, "metalayer");
  check_lie(array + 7, 1, 9, "metalayer");
  check_lie(array + SHAPE + 1, 8, UINT64_MAX, "metalayer");
  check_lie(array + SHAPE + 1, 8, 0, "metalayer");
  check_lie(array + SECOND + 1, 8, 11, "metalayer");
  check_lie(array + BLOCK + 1, 4, 0, "metalayer");
  check_lie(array + BLOCK + 1, 4, 7, "metalayer");
  check_lie(header + 2, 1, 0xc5, "registered with");  /* the codec */
  check_lie(header + 16, 1, 32, "registered with");   /* a filter */
  check_lie(header + 31, 1, 8, "registered with");    /* a chunk that is still in a file */
  check_lie(header + 31, 1, 0x40, "registered with"); /* never written */
  check_lie(header + 11, 1, 1, "larger than itself");
  check_lie(header + 4, 4, 0, "claims 0 bytes");
  check_lie(header + 12, 4, UINT32_MAX, "ends early");
  check_lie(header + stored + 12, 4, 0x28000001, "ends early");
  check_lie(header + stored + 39, 1, 0x82, "NaN");
}
END_TEST

/* Two lies that agree: any shape is 0 bytes then, and walking through it would have no end. */
START_TEST(frames_of_elements_without_bytes_are_refused) {
  stored_chunk chunk = array_chunk(false);
  const size_t array = (size_t)chunk.stored[102] << 8 | chunk.stored[103];
  put_be(chunk.stored + 30, 8, 0);
  put_be(chunk.stored + 48, 4, 0);
  put_be(chunk.stored + array + 10, 8, INT32_MAX);
  put_be(chunk.stored + array + 29, 4, INT32_MAX);
  check_refused(&chunk, "metalayer");
}
END_TEST

START_TEST(frames_of_nothing_but_0_are_undone) {
  stored_chunk chunk = array_chunk(true);
  chunk_check(&chunk, "blosc2");
  chunk_free(&chunk);
}
END_TEST

/* What another library has to undo is left to HDF5. */
START_TEST(registered_codecs_of_blosc2_are_not_known) {
  for (int i = 0; i < 4; i++) {
    ndr_filters filters = {.count = 1, .all = {{.id = 32026, .value_count = 7, .values = {1, 0, 4, 240, 5, 1, 0}}}};
    ck_assert(ndr_filters_known(&filters, NULL));
    filters.all[0].values[5] = i == 0 ? 35 : 1;
    filters.all[0].values[6] = i == 1 ? 32 : 0;
    if (i >= 2) filters.all[0].value_count = 12;
    for (int d = 0; d < 5; d++) filters.all[0].values[7 + d] = d == 0 ? 4 : i == 2 ? 0 : 65;
    ck_assert(!ndr_filters_known(&filters, NULL));
  }
}
END_TEST
#endif

#ifdef NDR_WITH_ZFP
/* ---- zfp ----------------------------------------------------------------------------------------------------------
 */

enum { SIDE = 18, FIELD = SIDE * SIDE };

static void set_mode(zfp_stream *stream, int mode) {
  switch (mode) {
  case 0: zfp_stream_set_rate(stream, 11, zfp_type_double, 2, zfp_false); break;
  case 1: zfp_stream_set_precision(stream, 20); break;
  case 2: zfp_stream_set_accuracy(stream, 1e-3); break;
  case 3: zfp_stream_set_reversible(stream); break;
  default: ck_assert(zfp_stream_set_params(stream, 16, 900, 40, -30)); break;
  }
}

/* The chunk's data are what zfp itself makes of the stream; writers of the other byte order have swapped them. */
static stored_chunk zfp_chunk(int mode, bool swapped) {
  stored_chunk chunk = {.filters = {.count = 1}, .bytes = FIELD * 8};
  double values[FIELD];
  for (int i = 0; i < FIELD; i++) values[i] = 1e3 / (i + 1) - 0.25 * (i % SIDE);
  zfp_field field = {.type = zfp_type_double, .nx = SIDE, .ny = SIDE, .data = values};
  zfp_stream *stream = zfp_stream_open(NULL);
  set_mode(stream, mode);
  chunk.data = malloc(chunk.bytes);
  chunk.stored = calloc(1, 4 * chunk.bytes);
  ck_assert(chunk.data && chunk.stored);
  chunk.stored_bytes = encode_field(stream, &field, &chunk.filters.all[0], chunk.stored, 4 * chunk.bytes);
  bitstream *words = stream_open(chunk.stored, 4 * chunk.bytes);
  zfp_stream_set_bit_stream(stream, words);
  zfp_field_set_pointer(&field, chunk.data);
  ck_assert_uint_gt(zfp_decompress(stream, &field), 0);
  stream_close(words);
  zfp_stream_close(stream);
  ndr_filter *filter = &chunk.filters.all[0];
  for (size_t i = 1; swapped && i < filter->value_count; i++) filter->values[i] = __builtin_bswap32(filter->values[i]);
  for (size_t i = 0; swapped && i < chunk.bytes; i += 8)
    for (size_t b = 0; b < 4; b++) {
      uint8_t byte = chunk.data[i + b];
      chunk.data[i + b] = chunk.data[i + 7 - b];
      chunk.data[i + 7 - b] = byte;
    }
  return chunk;
}

START_TEST(every_mode_of_zfp_is_undone) {
  for (int mode = 0; mode < 5; mode++)
    for (int swapped = 0; swapped < 2; swapped++) {
      stored_chunk chunk = zfp_chunk(mode, swapped);
      chunk_check(&chunk, "zfp");
      chunk_free(&chunk);
    }
}
END_TEST

/* A block of a fixed rate has its bits whatever is in it, so that every missing word tells. */
START_TEST(short_streams_of_zfp_are_refused) {
  stored_chunk chunk = zfp_chunk(0, false);
  uint8_t *out = malloc(chunk.bytes);
  ndr_decoder *decoder;
  assert_ok(ndr_decoder_create(&decoder, &chunk.filters, chunk.bytes));
  for (size_t bytes = 0; bytes <= chunk.stored_bytes - 8; bytes++)
    assert_fails(ndr_decoder_run(decoder, chunk.stored, bytes, 0, out), NDR_ERR_FILE, "ends early");
  ndr_decoder_destroy(decoder);
  free(out);
  chunk_free(&chunk);
}
END_TEST

/* Headers that are damaged, of which no few are headers: of other sizes and modes. */
START_TEST(any_header_of_zfp_does_no_harm) {
  rng random = {test_seed()};
  for (int round = 0; round < 3000; round++) {
    stored_chunk chunk = zfp_chunk((int)rng_between(&random, 0, 4), rng_once_in(&random, 2));
    ndr_filter *filter = &chunk.filters.all[0];
    for (int64_t flips = rng_between(&random, 1, 4); flips > 0; flips--)
      filter->values[rng_between(&random, 1, (int64_t)filter->value_count - 1)] ^= 1u << rng_between(&random, 0, 31);
    if (rng_once_in(&random, 8)) filter->value_count = (size_t)rng_between(&random, 0, 16);
    if (ndr_filters_known(&chunk.filters, NULL)) {
      ck_assert_uint_le(ndr_decoder_bytes(&chunk.filters, chunk.bytes), 6 * chunk.bytes + (64 << 10));
      chunk_flip(&random, &chunk, 1);
    }
    chunk_free(&chunk);
  }
}
END_TEST
#endif

int main(void) {
#ifdef NDR_WITH_BLOSC2
  blosc2_init();
#else
  puts("skipped: blosc2, libblosc2 is not here");
#endif
  Suite *suite = suite_create("h5 codecs");
  TCase *each = tcase_create("each filter");
  tcase_set_timeout(each, 300);
  tcase_add_loop_test(each, streams_decode_to_what_was_encoded, 0, ENCODERS);
  tcase_add_loop_test(each, damaged_streams_do_no_harm, 0, ENCODERS);
  tcase_add_loop_test(each, streams_of_another_size_are_refused, 0, ENCODERS);
  suite_add_tcase(suite, each);
  suite_case(suite, "headers", 60, headers_that_lie_are_refused, huge_elements_are_refused, NULL);
#ifdef NDR_WITH_BLOSC2
  suite_case(suite, "blosc2", 60, frames_that_lie_are_refused, frames_of_elements_without_bytes_are_refused,
             frames_of_nothing_but_0_are_undone, registered_codecs_of_blosc2_are_not_known, NULL);
#endif
#ifdef NDR_WITH_ZFP
  suite_case(suite, "zfp", 60, every_mode_of_zfp_is_undone, short_streams_of_zfp_are_refused,
             any_header_of_zfp_does_no_harm, NULL);
#endif
  return suite_run(suite);
}
