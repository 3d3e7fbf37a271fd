/* See encoders.h. */
#include "h5/encoders.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
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

void put_be(uint8_t *bytes, int count, uint64_t value) {
  for (int i = 0; i < count; i++) bytes[i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

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
                                    (size_t)rng_between(random, 1, 16), bytes, data, stored, bytes + ENCODE_ROOM,
                                    packer, (size_t)rng_between(random, 0, 3000), 1);
}
#endif

#ifdef NDR_WITH_BZIP2
static size_t encode_bzip2(rng *random, ndr_filter *filter, const uint8_t *data, size_t bytes, uint8_t *stored) {
  unsigned room = (unsigned)bytes + ENCODE_ROOM;
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

const encoder encoders[] = {
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
const int encoder_count = sizeof encoders / sizeof *encoders;

stored_chunk encode_chunk(rng *random, int i, size_t bytes) {
  bytes += (encoders[i].unit - bytes % encoders[i].unit) % encoders[i].unit;
  stored_chunk chunk = {.filters = {.count = 1}, .bytes = bytes};
  chunk.data = malloc(bytes);
  chunk.stored = malloc(2 * bytes + ENCODE_ROOM);
  ck_assert(chunk.data && chunk.stored);
  if (rng_once_in(random, 3))
    fill_noise(random, chunk.data, bytes);
  else
    fill_smooth(random, chunk.data, bytes, 4);
  chunk.stored_bytes = encoders[i].encode(random, &chunk.filters.all[0], chunk.data, bytes, chunk.stored);
  ck_assert_uint_gt(chunk.stored_bytes, 0);
  return chunk;
}
