/* Streams of the registered filters: whole ones are decoded, damaged ones and headers that lie are refused. */
#include <stdlib.h>

#include "h5/encoders.h"
#include "support/cases.h"
#include "support/suite.h"

/* ---- Whole and damaged streams ------------------------------------------------------------------------------------
 */

START_TEST(streams_decode_to_what_was_encoded) {
  rng random = {test_seed()};
  for (int round = 0; round < test_case_count(100); round++) {
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
  for (int round = 0; round < test_case_count(100); round++) {
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
#ifdef NDR_WITH_BLOSC2
  blosc2_init();
#else
  puts("skipped: blosc2, libblosc2 is not here");
#endif
  Suite *suite = suite_create("h5 codecs");
  TCase *each = tcase_create("each filter");
  tcase_set_timeout(each, 300);
  tcase_add_loop_test(each, streams_decode_to_what_was_encoded, 0, encoder_count);
  tcase_add_loop_test(each, damaged_streams_do_no_harm, 0, encoder_count);
  tcase_add_loop_test(each, streams_of_another_size_are_refused, 0, encoder_count);
  suite_add_tcase(suite, each);
  suite_case(suite, "headers", 60, headers_that_lie_are_refused, huge_elements_are_refused, NULL);
  return suite_run(suite);
}
