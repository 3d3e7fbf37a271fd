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
#ifdef NDR_WITH_BZIP2
#include <bzlib.h>
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

static const struct {
  const char *name;
  encoder encode;
} encoders[] = {
    {"bitshuffle", encode_bits},
    {"lzf", encode_lzf},
#ifdef NDR_WITH_LZ4
    {"bitshuffle with lz4", encode_bits_lz4},
    {"lz4", encode_lz4},
#endif
#ifdef NDR_WITH_ZSTD
    {"bitshuffle with zstd", encode_bits_zstd},
    {"zstd", encode_zstd},
#endif
#ifdef NDR_WITH_BLOSC
    {"blosc", encode_blosc},
#endif
#ifdef NDR_WITH_BZIP2
    {"bzip2", encode_bzip2},
#endif
};
enum { ENCODERS = sizeof encoders / sizeof *encoders };

static stored_chunk encode_chunk(rng *random, int i, size_t bytes) {
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
    chunk_truncate(&chunk);
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

int main(void) {
  Suite *suite = suite_create("h5 codecs");
  TCase *each = tcase_create("each filter");
  tcase_set_timeout(each, 300);
  tcase_add_loop_test(each, streams_decode_to_what_was_encoded, 0, ENCODERS);
  tcase_add_loop_test(each, damaged_streams_do_no_harm, 0, ENCODERS);
  tcase_add_loop_test(each, streams_of_another_size_are_refused, 0, ENCODERS);
  suite_add_tcase(suite, each);
  suite_case(suite, "headers", 60, headers_that_lie_are_refused, huge_elements_are_refused, NULL);
  return suite_run(suite);
}
