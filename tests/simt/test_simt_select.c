/* Selections under emulation: every kernel, against the CPU's results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "runtime/control.h"
#include "support/selections.h"
#include "support/suite.h"

/* A case on the device. */
typedef struct trial {
  selection_case given;
  device_array array, mask, result;
  int64_t *count;
} trial;

static void place_one(device_array *made, const test_array *of, int device, size_t past) {
  size_t alignment = ndr_dtype_alignment(of->dtype);
  made->host = *of;
  device_array_of(made, device, past / alignment * alignment);
}

static size_t any_past(rng *random) {
  return rng_once_in(random, 2) ? 0 : (size_t)rng_between(random, 0, 15);
}

static void place(trial *t, rng *random, int device) {
  place_one(&t->array, &t->given.array, device, any_past(random));
  place_one(&t->mask, &t->given.mask, device, any_past(random));
  place_one(&t->result, &t->given.result, device, any_past(random));
  t->count = simt_allocate(sizeof *t->count, 0);
}

static ndr_status run(trial *t) {
  return selection_run(&t->given, &t->array.tensor, &t->mask.tensor, &t->result.tensor, t->count, NULL);
}

static void check(trial *t, int number) {
  const selection_case *c = &t->given;
  device_fetch(&t->result);
  ck_assert_msg(*t->count == c->kept, "case %d: %s: the count is %lld", number, c->text, (long long)*t->count);
  ck_assert_msg(memcmp(t->result.host.memory, c->expected.memory, c->expected.bytes) == 0,
                "case %d: %s: other bytes than the CPU's", number, c->text);
  ck_assert_msg(!simt_guards_broken(), "case %d: %s: something was written outside the arrays", number, c->text);
}

static void finish(trial *t) {
  simt_release(t->count);
  device_free(&t->array), device_free(&t->mask), device_free(&t->result);
  array_free(&t->given.expected);
}

static void poison(trial *t) {
  memset(t->result.memory, ARRAY_POISON, t->given.result.bytes);
  *t->count = -1;
}

/* Each kernel costs a compilation, once in a build's folder. */
START_TEST(random_selections_agree_with_the_cpu) {
  rng random = {test_seed() + 77 * (uint64_t)_i};
  int cases = test_case_count(40);
  for (int number = 0; number < cases; number++) {
    trial t;
    selection_random(&t.given, &random, rng_once_in(&random, 3) ? 40000 : 9000);
    place(&t, &random, (int)rng_between(&random, 0, 2));
    simt_controls.order = rng_once_in(&random, 4) ? 0 : rng_next(&random);
    assert_ok(run(&t));
    check(&t, number);
    finish(&t);
  }
  simt_controls.order = 0;
}
END_TEST

/* ---- given forms ---- */

/* The arrays lie these numbers of bytes beyond boundaries. */
static void check_form(rng *random, const selection_form *form, size_t past, size_t result_past) {
  trial t;
  selection_of(&t.given, random, form);
  place_one(&t.array, &t.given.array, 0, past);
  place_one(&t.mask, &t.given.mask, 0, past);
  place_one(&t.result, &t.given.result, 0, result_past);
  t.count = simt_allocate(sizeof *t.count, 0);
  assert_ok(run(&t));
  check(&t, (int)past);
  finish(&t);
}

/* Each size is that of a word, a warp, a tile or several tiles, and those beside it. */
START_TEST(sizes_around_tiles) {
  static const int64_t sizes[] = {1, 31, 32, 33, 1023, 1024, 1025, 8191, 8192, 8193, 16384, 262144, 270337};
  static const int percents[] = {0, 1, 7, 50, 100};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int p = 0; p<5; p += test_share()> 1 ? 2 : 1)
      check_form(&random, &(selection_form){(selection_call)_i, NDR_F32, 1, NDR_SCAN_ALL, {sizes[i]}, percents[p]}, 0,
                 0);
}
END_TEST

/* Elements and short slices of 1 to 20 bytes and long ones, at all offsets from a boundary. */
START_TEST(all_alignments) {
  static const ndr_dtype dtypes[] = {NDR_I8, NDR_BF16, NDR_F32, NDR_F64, NDR_C64, NDR_C128};
  static const int64_t widths[] = {1, 3, 5, 40};
  rng random = {test_seed()};
  for (size_t past = 0; past < 16; past += ndr_dtype_alignment(dtypes[_i]))
    for (int w = 0; w < 4; w++)
      for (int call = 0; call < 2; call++) {
        selection_form form = {(selection_call)call, dtypes[_i], 2, 0, {700, widths[w]}, 40};
        check_form(&random, &form, past, 0);
        check_form(&random, &form, 0, past);
      }
}
END_TEST

/* Rows that are cut, columns that are cut, few of both, and slices of several axes. */
START_TEST(slices_of_all_kinds) {
  static const selection_form forms[] = {{CALL_SELECT, NDR_F32, 2, 0, {5, 9001}, 60},
                                         {CALL_SELECT, NDR_F32, 2, 1, {5, 9001}, 60},
                                         {CALL_PARTITION, NDR_F64, 2, 1, {5, 9001}, 60},
                                         {CALL_PARTITION, NDR_F64, 2, 0, {5, 9001}, 60},
                                         {CALL_PARTITION, NDR_I16, 3, 1, {6, 50, 70}, 60},
                                         {CALL_SELECT, NDR_I16, 3, 1, {6, 50, 70}, 100},
                                         {CALL_SELECT, NDR_I8, 3, 2, {60, 50, 7}, 50},
                                         {CALL_SELECT, NDR_I8, 3, 0, {60, 50, 7}, 0},
                                         {CALL_SELECT, NDR_C128, 2, 0, {9001, 2}, 30},
                                         {CALL_PARTITION, NDR_F32, 2, 0, {9001, 6}, 30},
                                         {CALL_SELECT, NDR_F32, 2, 1, {30, 0}, 50},
                                         {CALL_SELECT, NDR_F32, 2, 0, {30, 0}, 50},
                                         {CALL_NONZERO, NDR_BF16, 3, NDR_SCAN_ALL, {20, 30, 40}, 0},
                                         {CALL_NONZERO, NDR_F32, 2, NDR_SCAN_ALL, {0, 3}, 0}};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) check_form(&random, &forms[i], 0, 0);
}
END_TEST

/* Many tiles, in other orders of warps and threads each time. */
START_TEST(results_repeat) {
  rng random = {test_seed()};
  trial t;
  selection_of(&t.given, &random, &(selection_form){(selection_call)_i, NDR_F32, 1, NDR_SCAN_ALL, {300000}, 30});
  place(&t, &random, 1);
  for (int turn = 0; turn < 3; turn++) {
    simt_controls.order = turn ? rng_next(&random) : 0;
    poison(&t);
    assert_ok(run(&t));
    check(&t, turn);
  }
  simt_controls.order = 0;
  finish(&t);
}
END_TEST

static ndr_status run_any(void *t) {
  return run(t);
}

/* Whatever call of the runtime fails, nothing is left but the kept workspace, and the next attempt is right. */
START_TEST(failures_leave_nothing_behind) {
  static const selection_form forms[] = {{CALL_SELECT, NDR_F32, 1, NDR_SCAN_ALL, {20000}, 30},
                                         {CALL_PARTITION, NDR_F32, 2, 0, {300, 50}, 30}};
  rng random = {test_seed()};
  trial t;
  selection_of(&t.given, &random, &forms[_i]);
  place(&t, &random, 0);
  fail_every_call(run_any, &t);
  poison(&t);
  assert_ok(run(&t));
  check(&t, 0);
  finish(&t);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("selections on the emulated GPU");
  TCase *cases = tcase_create("selections");
  tcase_set_timeout(cases, 900);
  tcase_add_loop_test(cases, random_selections_agree_with_the_cpu, 0, 4);
  tcase_add_loop_test(cases, sizes_around_tiles, 0, CALL_COUNT);
  tcase_add_loop_test(cases, all_alignments, 0, 6);
  tcase_add_test(cases, slices_of_all_kinds);
  tcase_add_loop_test(cases, results_repeat, 0, CALL_COUNT);
  tcase_add_loop_test(cases, failures_leave_nothing_behind, 0, 2);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
