/* NDR_MEASURE on the emulated GPU: its kernels run, its clock is the host's. */
#include <stdbool.h>

#include "control.h"
#include "memory.h"
#include "support/reduce.h"
#include "support/suite.h"

/* The device with the smallest cache: each run reads twice as much first. */
enum { ROWS = 64, COLUMNS = 96, DEVICE = 0 };

static float *x, *sums;
static DLTensor array, result;
static int64_t array_shape[] = {ROWS, COLUMNS}, result_shape[] = {ROWS};

static void set_up(void) {
  x = simt_allocate(sizeof(float) * ROWS * COLUMNS, 0);
  sums = simt_allocate(sizeof(float) * ROWS, 0);
  ck_assert(x && sums);
  for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (float)(i % 7);
  array = (DLTensor){x, {kDLCUDA, DEVICE}, 2, {kDLFloat, 32, 1}, array_shape, NULL, 0};
  result = (DLTensor){sums, {kDLCUDA, DEVICE}, 1, {kDLFloat, 32, 1}, result_shape, NULL, 0};
}

static void tear_down(void) {
  ck_assert(!simt_guards_broken());
  simt_release(x);
  simt_release(sums);
}

static const ndr_options measure = {.size = sizeof measure, .planning = NDR_MEASURE};

static void assert_described(const ndr_options *options, const char *part, bool expected) {
  char text[4096];
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  assert_ok(plan_array(&plan, &array, NDR_DIMS(1), 1, &op, NULL, options));
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_msg((strstr(text, part) != NULL) == expected, "'%s' %s in:\n%s", part, expected ? "is not" : "is", text);
  ndr_plan_destroy(plan);
}

START_TEST(every_family_is_timed_and_the_result_is_right) {
  char text[1024];
  assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, &measure));
  for (int r = 0; r < ROWS; r++) {
    float sum = 0;
    for (int c = 0; c < COLUMNS; c++) sum += x[r * COLUMNS + c];
    ck_assert(sums[r] == sum);
  }
  ndr_measurements_export(text, sizeof text);
  ck_assert_msg(strncmp(text, "sum f32 [64,96] /1 on cuda 1 SMs sm_75: ", 40) == 0, "%s", text);
  ck_assert_msg(strstr(text, "tree ") && strstr(text, "thread ") && strstr(text, "tile "), "%s", text);
  assert_described(NULL, ", measured ", true);
  assert_ok(ndr_measurements_import(text));
}
END_TEST

START_TEST(scratch_takes_the_place_of_data) {
  array.data = NULL;
  simt_release(sums);
  sums = NULL;
  assert_described(&measure, ", measured ", true);
  /* A workspace is kept; the scratch is gone. */
  int living = simt_living_blocks();
  ndr_measurements_forget();
  assert_described(&measure, ", measured ", true);
  ck_assert_int_eq(simt_living_blocks(), living);
}
END_TEST

START_TEST(a_capturing_stream_is_not_timed) {
  int64_t launches = simt_controls.launches;
  simt_controls.capturing = true;
  assert_described(&measure, "\nnot measured: the stream is capturing", true);
  simt_controls.capturing = false;
  ck_assert_int_eq(simt_controls.launches, launches);
  assert_described(&measure, ", measured ", true);
}
END_TEST

START_TEST(a_full_device_is_not_timed) {
  simt_controls.memory_left = 0;
  assert_described(&measure, "\nnot measured: out of device memory", true);
  simt_controls.memory_left = -1;
  assert_described(&measure, ", measured ", true);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("simt measure");
  TCase *tests = tcase_create("measuring");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, every_family_is_timed_and_the_result_is_right);
  tcase_add_test(tests, scratch_takes_the_place_of_data);
  tcase_add_test(tests, a_capturing_stream_is_not_timed);
  tcase_add_test(tests, a_full_device_is_not_timed);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
