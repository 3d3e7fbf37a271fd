/* Frames of Blosc2 that lie, and those that another library has to undo. */
#include <stdio.h>
#include <stdlib.h>

#include "h5/encoders.h"
#include "support/suite.h"

#ifdef NDR_WITH_BLOSC2
/* 6 x 10 elements of 4 bytes in blocks of 4 x 4, all of them 0 or none. */
static stored_chunk array_chunk(bool zero) {
  const int32_t shape[] = {6, 10}, block[] = {4, 4};
  stored_chunk chunk = {
      .filters = {.count = 1, .all = {{.id = 32026, .value_count = 10, .values = {1, 0, 4, 240, 5, 1, 0, 2, 6, 10}}}},
      .bytes = 240};
  chunk.data = calloc(1, chunk.bytes);
  chunk.stored = calloc(1, ENCODE_ROOM);
  ck_assert(chunk.data && chunk.stored);
  for (size_t i = 0; i < chunk.bytes && !zero; i++) chunk.data[i] = (uint8_t)(1 + i);
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.typesize = 4;
  blosc2_storage storage = {.cparams = &how, .contiguous = false};
  chunk.stored_bytes = encode_array(&storage, 2, shape, block, chunk.data, chunk.bytes, chunk.stored, ENCODE_ROOM);
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

int main(void) {
  blosc2_init();
  Suite *suite = suite_create("h5 blosc2");
  suite_case(suite, "frames", 60, frames_that_lie_are_refused, frames_of_elements_without_bytes_are_refused,
             frames_of_nothing_but_0_are_undone, registered_codecs_of_blosc2_are_not_known, NULL);
  return suite_run(suite);
}
#else
int main(void) {
  puts("skipped: libblosc2 is not here");
  return 77;
}
#endif
