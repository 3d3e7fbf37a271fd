/* Accumulators as bytes: bytes that are damaged, forged or imported already are refused, and change nothing. */
#include <stdlib.h>

#include "core/checksum.h"
#include "core/words.h"
#include "support/exported.h"
#include "support/suite.h"

/* ---- bytes that are damaged ---- */

/* An accumulator with states and spans, and its bytes. */
static ndr_accumulator *small_accumulator(bytes *exported) {
  float x[3] = {1, 2, 4};
  ndr_accumulator *a = accumulator_of_text("mean f32 [3,2] /0");
  DLTensor slab = ndr_tensor(x, NDR_F32, NDR_SHAPE(3, 1));
  assert_ok(ndr_accumulator_add(a, &slab, (int64_t[]){0, 1}));
  assert_ok(ndr_accumulator_cover(a, 4, 1));
  assert_ok(ndr_accumulator_cover(a, 7, 2));
  *exported = export_of(a);
  return a;
}

static void assert_refused(const unsigned char *at, size_t count, const char *what, size_t where) {
  ndr_accumulator *into = accumulator_of_text("mean f32 [3,2] /0");
  bytes before = export_of(into);
  unsigned char *exact = malloc(count ? count : 1);
  memcpy(exact, at, count);
  ndr_status status = ndr_accumulator_import(into, exact, count);
  ck_assert_msg(status == NDR_ERR_PARSE || status == NDR_ERR_UNSUPPORTED, "%s %zu: %s", what, where,
                ndr_status_name(status));
  ck_assert(!strchr(ndr_last_error(), '\n') && strlen(ndr_last_error()) > 20);
  assert_unchanged(into, &before);
  ndr_accumulator_destroy(into);
  free(before.at);
  free(exact);
}

START_TEST(every_damage_is_refused) {
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported);
  for (size_t bit = 0; bit < 8 * exported.count; bit++) {
    exported.at[bit / 8] ^= (unsigned char)(1 << bit % 8);
    assert_refused(exported.at, exported.count, "bit", bit);
    exported.at[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  for (size_t at = 0; at < exported.count; at++) {
    exported.at[at] = (unsigned char)~exported.at[at];
    assert_refused(exported.at, exported.count, "byte", at);
    exported.at[at] = (unsigned char)~exported.at[at];
  }
  ndr_accumulator_destroy(a);
  free(exported.at);
}
END_TEST

START_TEST(swapped_words_are_refused) {
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported);
  size_t words = exported.count / 8;
  for (size_t i = 0; i < words; i++)
    for (size_t j = i + 1; j < words; j++) {
      uint64_t one = ndr_word_load(exported.at + 8 * i), other = ndr_word_load(exported.at + 8 * j);
      if (one == other) continue;
      ndr_word_store(other, exported.at + 8 * i);
      ndr_word_store(one, exported.at + 8 * j);
      assert_refused(exported.at, exported.count, "swap", i * words + j);
      ndr_word_store(one, exported.at + 8 * i);
      ndr_word_store(other, exported.at + 8 * j);
    }
  ndr_accumulator_destroy(a);
  free(exported.at);
}
END_TEST

START_TEST(other_lengths_are_refused) {
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported);
  for (size_t count = 0; count < exported.count; count++) assert_refused(exported.at, count, "length", count);
  unsigned char *longer = calloc(1, exported.count + 16);
  memcpy(longer, exported.at, exported.count);
  for (size_t more = 1; more <= 16; more++) assert_refused(longer, exported.count + more, "longer by", more);
  free(longer);
  ndr_accumulator_destroy(a);
  free(exported.at);
}
END_TEST

/* ---- bytes that are forged ---- */

/* Sets a word, and the checksum to match. */
static void forge(const bytes *exported, size_t at, uint64_t word, const char *expected) {
  bytes forged = {malloc(exported->count), exported->count};
  memcpy(forged.at, exported->at, forged.count);
  ndr_word_store(word, forged.at + 8 * at);
  ndr_word_store(ndr_checksum(forged.at, forged.count / 8 - 1), forged.at + forged.count - 8);
  ndr_accumulator *into = accumulator_of_text("mean f32 [3,2] /0");
  bytes before = export_of(into);
  ndr_status status = ndr_accumulator_import(into, forged.at, forged.count);
  ck_assert_msg(status != NDR_OK && strstr(ndr_last_error(), expected), "word %zu: %s", at, ndr_last_error());
  assert_unchanged(into, &before);
  ndr_accumulator_destroy(into);
  free(before.at);
  free(forged.at);
}

/* Its words: 7 of the header, 3 of the text, begin of 2 dims, 2 spans, 4 states, the checksum. */
START_TEST(forged_bytes_are_refused) {
  static const uint64_t sizes[] = {0, 1, 5, 1000, UINT64_C(1) << 61, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported);
  ck_assert_uint_eq(exported.count, 8 * (7 + 3 + 2 + 4 + 4 + 1));
  forge(&exported, 0, 0, "no exported accumulator");
  forge(&exported, 1, 0, "version 0");
  forge(&exported, 1, 2, "version 2");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    forge(&exported, 2, sizes[i], "168 were given");
    for (size_t at = 3; at < 7; at++) forge(&exported, at, sizes[i], "counts do not match");
  }
  forge(&exported, 9, UINT64_C(0x2020202020202020), "counts do not match"); /* a text without an end */
  forge(&exported, 7, UINT64_C(0x20200a096e61656d), "another problem: 'mean??   [3,2] /0', this one");
  forge(&exported, 7, 0, "another problem: '', this one of 'mean f32 [3,2] /0'");
  forge(&exported, 10, 1, "begins at 1");
  forge(&exported, 10, UINT64_MAX, "begins at -1");
  forge(&exported, 12, 5, "spans");          /* 5 to 5 */
  forge(&exported, 12, UINT64_MAX, "spans"); /* -1 to 5 */
  forge(&exported, 13, 7, "spans");          /* 4 to 7, 7 to 9 */
  forge(&exported, 13, 8, "spans");          /* 4 to 8, 7 to 9 */
  forge(&exported, 14, 3, "spans");
  forge(&exported, 15, UINT64_C(1) << 63, "spans");
  ndr_accumulator_destroy(a);
  free(exported.at);
}
END_TEST

/* Counts that add up, also by wrapping around, and are not those of the problem. */
START_TEST(forged_counts_that_add_up_are_refused) {
  static const uint64_t counts[][4] = {
      {3, 2, 1, 6},                                             /* a span fewer, two words of states more */
      {3, 0, 2, 6},                                             /* no dims */
      {3, 4, 1, 4},                                             /* two dims more */
      {3 - (UINT64_C(1) << 60), 2, 2, 4 + (UINT64_C(1) << 60)}, /* a text that ends before it begins */
      {3, 2, 2 + (UINT64_C(1) << 63), 4},                       /* spans that take 2^64 words more */
  };
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (size_t k = 0; k < 4; k++) ndr_word_store(counts[i][k], exported.at + 8 * (3 + k));
    forge(&exported, 6, counts[i][3], "counts do not match");
  }
  ndr_accumulator_destroy(a);
  free(exported.at);
}
END_TEST

/* ---- arguments ---- */

START_TEST(what_is_covered_already_is_refused) {
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported), *into = accumulator_of_text("mean f32 [3,2] /0");
  assert_ok(ndr_accumulator_cover(into, 8, 5));
  bytes before = export_of(into);
  assert_fails(ndr_accumulator_import(into, exported.at, exported.count), NDR_ERR_ARGUMENT,
               "numbers 8 to 8 are covered already");
  assert_unchanged(into, &before);
  assert_fails(ndr_accumulator_merge(into, a), NDR_ERR_ARGUMENT, "numbers 8 to 8 are covered already");
  assert_unchanged(into, &before);
  assert_fails(ndr_accumulator_import(a, exported.at, exported.count), NDR_ERR_ARGUMENT, "numbers 4 to 4");
  assert_unchanged(a, &exported);
  free(before.at);
  free(exported.at);
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(into);
}
END_TEST

START_TEST(too_little_room_is_refused) {
  bytes exported;
  ndr_accumulator *a = small_accumulator(&exported);
  size_t needed = 0;
  unsigned char room[168], untouched[168];
  memset(room, 7, sizeof room);
  memset(untouched, 7, sizeof untouched);
  assert_fails(ndr_accumulator_export(a, room, 167, &needed), NDR_ERR_ARGUMENT, "168 bytes, and capacity is 167");
  ck_assert_uint_eq(needed, 168);
  ck_assert(memcmp(room, untouched, sizeof room) == 0);
  assert_fails(ndr_accumulator_export(a, room, 168, NULL), NDR_ERR_ARGUMENT, "needed");
  assert_fails(ndr_accumulator_export(NULL, room, 168, &needed), NDR_ERR_ARGUMENT, "accumulator");
  assert_fails(ndr_accumulator_import(NULL, room, 168), NDR_ERR_ARGUMENT, "accumulator");
  assert_fails(ndr_accumulator_import(a, NULL, 168), NDR_ERR_ARGUMENT, "bytes");
  free(exported.at);
  ndr_accumulator_destroy(a);
}
END_TEST

/* The text has strides, and none of this array fit. */
START_TEST(arrays_whose_strides_do_not_fit_are_refused) {
  size_t needed;
  ndr_problem problem = NDR_PROBLEM_INIT;
  problem.ndim = problem.dim_count = 2;
  problem.dims[1] = problem.op_count = 1;
  problem.dtype = NDR_U8;
  problem.shape[0] = 2;
  problem.shape[1] = (INT64_C(1) << 61) - 1;
  ndr_accumulator *a = accumulator_of(&problem);
  assert_fails(ndr_accumulator_export(a, NULL, 0, &needed), NDR_ERR_OVERFLOW, "62 bits");
  ndr_accumulator_destroy(a);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api states, refused");
  suite_case(suite, "damaged", 120, every_damage_is_refused, swapped_words_are_refused, other_lengths_are_refused,
             NULL);
  suite_case(suite, "forged", 30, forged_bytes_are_refused, forged_counts_that_add_up_are_refused, NULL);
  suite_case(suite, "arguments", 30, what_is_covered_already_is_refused, too_little_room_is_refused,
             arrays_whose_strides_do_not_fit_are_refused, NULL);
  return suite_run(suite);
}
