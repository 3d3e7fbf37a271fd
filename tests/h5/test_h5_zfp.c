/* Streams of zfp in all its modes, short ones, and headers that are damaged. */
#include <stdio.h>
#include <stdlib.h>

#include "h5/encoders.h"
#include "support/cases.h"
#include "support/suite.h"

#ifdef NDR_WITH_ZFP
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

int main(void) {
  Suite *suite = suite_create("h5 zfp");
  suite_case(suite, "streams", 60, every_mode_of_zfp_is_undone, short_streams_of_zfp_are_refused,
             any_header_of_zfp_does_no_harm, NULL);
  return suite_run(suite);
}
#else
int main(void) {
  puts("skipped: libzfp is not here");
  return 77;
}
#endif
