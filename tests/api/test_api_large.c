/* More elements than 32 bits count. The memory is zero pages that the system maps once read, so little of it is real,
 * but for one test that writes all of it. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): madvise
#include <sys/mman.h>
#include <unistd.h>

#include "ndreduce/scan.h"
#include "support/suite.h"

#define BEYOND ((INT64_C(1) << 31) + 5)

static uint8_t *zeros;

static void map_zeros(void) {
  zeros = mmap(NULL, (size_t)BEYOND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert_ptr_ne(zeros, MAP_FAILED);
#ifdef MADV_HUGEPAGE
  (void)madvise(zeros, (size_t)BEYOND, MADV_HUGEPAGE); /* 1,024 page faults a test instead of half a million */
#endif
  zeros[3] = 1;
  zeros[BEYOND - 2] = 7;
}

static void unmap_zeros(void) {
  munmap(zeros, (size_t)BEYOND);
}

START_TEST(sums_run_past_two_to_the_31) {
  uint64_t sum = 0;
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(BEYOND));
  DLTensor result = {&sum, {kDLCPU, 0}, 0, {kDLUInt, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  ck_assert_uint_eq(sum, 8);
}
END_TEST

START_TEST(indices_run_past_two_to_the_31) {
  int64_t where = 0;
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(BEYOND));
  DLTensor result = {&where, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_ARGMAX, &result, NULL));
  ck_assert_int_eq(where, BEYOND - 2);
}
END_TEST

START_TEST(offsets_run_past_two_to_the_31) {
  uint64_t sums[2] = {9, 9};
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(2, 3)), result = ndr_tensor(sums, NDR_U64, NDR_SHAPE(2));
  array.strides = (int64_t[]){BEYOND - 3, 1};
  assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, NULL));
  ck_assert(sums[0] == 0 && sums[1] == 7);
}
END_TEST

START_TEST(column_sums_run_past_two_to_the_31) {
  uint64_t sums[3] = {9, 9, 9};
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(BEYOND / 3, 3)),
           result = ndr_tensor(sums, NDR_U64, NDR_SHAPE(3));
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL));
  int64_t rest = (BEYOND - 2) / 3 < BEYOND / 3 ? (BEYOND - 2) % 3 : -1;
  for (int c = 0; c < 3; c++) ck_assert_uint_eq(sums[c], (c == 0 ? 1 : 0) + (c == rest ? 7 : 0));
}
END_TEST

/* Counts beyond 2^32: one byte seen 2^32 + 3 times. */
START_TEST(lengths_run_past_two_to_the_32) {
  int64_t count = 0;
  DLTensor array = ndr_tensor(zeros + 3, NDR_U8, NDR_SHAPE((INT64_C(1) << 32) + 3));
  DLTensor result = {&count, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  array.strides = (int64_t[]){0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_COUNT, &result, NULL));
  ck_assert_int_eq(count, (INT64_C(1) << 32) + 3);
}
END_TEST

START_TEST(scans_and_selections_run_past_two_to_the_31) {
  int64_t count = 0, places[3] = {9, 9, 9};
  DLTensor array = ndr_tensor(zeros, NDR_BOOL, NDR_SHAPE(BEYOND)), found = ndr_tensor(places, NDR_I64, NDR_SHAPE(3, 1));
  assert_ok(ndr_nonzero(&array, &found, &count, NULL));
  ck_assert(count == 2 && places[0] == 3 && places[1] == BEYOND - 2 && places[2] == 9);
  DLTensor apart = ndr_tensor(zeros + 1, NDR_U8, NDR_SHAPE(2, 3));
  apart.strides = (int64_t[]){BEYOND - 4, 1};
  for (int dim = 0; dim < 2; dim++) assert_ok(ndr_scan(&apart, dim, NDR_MAX, &apart, NULL));
  ck_assert(zeros[2] == 0 && zeros[3] == 1 && zeros[BEYOND - 3] == 0 && zeros[BEYOND - 2] == 7 &&
            zeros[BEYOND - 1] == 7);
}
END_TEST

/* In place, so that the results take no memory of their own. */
START_TEST(lines_of_scans_run_past_two_to_the_31) {
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(BEYOND));
  assert_ok(ndr_scan(&array, 0, NDR_MAX, &array, NULL));
  ck_assert(zeros[2] == 0 && zeros[3] == 1 && zeros[BEYOND / 2] == 1 && zeros[BEYOND - 3] == 1);
  ck_assert(zeros[BEYOND - 2] == 7 && zeros[BEYOND - 1] == 7);
  assert_ok(ndr_scan(&array, 0, NDR_MIN, &array, NDR_SCAN_OPTIONS(.reverse = 1)));
  ck_assert(zeros[2] == 0 && zeros[3] == 1 && zeros[BEYOND - 3] == 1 && zeros[BEYOND - 2] == 7);
  zeros[BEYOND - 1] = 0;
  assert_ok(ndr_scan(&array, 0, NDR_MIN, &array, NDR_SCAN_OPTIONS(.reverse = 1)));
  ck_assert(zeros[3] == 0 && zeros[BEYOND / 2] == 0 && zeros[BEYOND - 2] == 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api large");
  TCase *tests = tcase_create("large");
  tcase_add_checked_fixture(tests, map_zeros, unmap_zeros);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, sums_run_past_two_to_the_31);
  tcase_add_test(tests, indices_run_past_two_to_the_31);
  tcase_add_test(tests, offsets_run_past_two_to_the_31);
  tcase_add_test(tests, column_sums_run_past_two_to_the_31);
  tcase_add_test(tests, lengths_run_past_two_to_the_32);
  tcase_add_test(tests, scans_and_selections_run_past_two_to_the_31);
  tcase_add_test(tests, lines_of_scans_run_past_two_to_the_31);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
