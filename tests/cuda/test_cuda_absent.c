/* Without a GPU the backend says so in a sentence, plans can still be made, and the CPU path is what it was. The
 * program hides the devices of a machine that has some. */
#define _GNU_SOURCE /* setenv */
#include <stdlib.h>

#include "support/gpus.h"
#include "support/reduce.h"
#include "support/suite.h"

static const DLDevice gpu = {kDLCUDA, 0};

START_TEST(calls_say_that_there_is_no_device) {
  float x[4] = {1, 2, 3, 4}, sum = -1;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4)),
           result = {&sum, {kDLCUDA, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  static const DLDeviceType types[] = {kDLCUDA, kDLCUDAManaged, kDLCUDAHost};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    array.device.device_type = result.device.device_type = types[t];
    assert_fails(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL), NDR_ERR_NO_DEVICE, "no CUDA device");
  }
  ck_assert(sum == -1);
}
END_TEST

START_TEST(plans_and_accumulators_say_so) {
  float x[4];
  ndr_plan *plan = NULL;
  ndr_accumulator *accumulator = NULL;
  ndr_op op = NDR_SUM;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4));
  array.device = gpu;
  assert_fails(plan_array(&plan, &array, NDR_ALL_DIMS, 1, &op, NULL, NULL), NDR_ERR_NO_DEVICE, "no CUDA device");
  ck_assert_ptr_eq(plan, NULL);
  assert_fails(accumulate_array(&accumulator, gpu, NDR_F32, 1, (int64_t[]){4}, NDR_ALL_DIMS, 1, &op, NULL),
               NDR_ERR_NO_DEVICE, "no CUDA device");
  ck_assert_ptr_eq(accumulator, NULL);
}
END_TEST

/* The planner needs numbers, not a device; running needs one. */
START_TEST(plans_for_a_device_of_numbers) {
  float x[4], sum;
  char text[2048];
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(16384, 16384));
  array.device = gpu;
  options.device = &gpus[2];
  assert_ok(plan_array(&plan, &array, NDR_DIMS(1), 1, &op, NULL, &options));
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_ptr_ne(strstr(text, "\ntree"), NULL);
  ck_assert_ptr_ne(strstr(text, "SMs)"), NULL);
  void *workspace = aligned_alloc(256, (ndr_plan_workspace(plan) + 256) / 256 * 256);
  assert_fails(ndr_plan_execute(plan, x, (void *[]){&sum}, workspace, ndr_plan_workspace(plan), NULL),
               NDR_ERR_NO_DEVICE, "no CUDA device");
  free(workspace);
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(the_cpu_is_not_touched) {
  float x[4] = {1, 2, 3, 4}, sum = 0;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4)),
           result = {&sum, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  array.device = gpu;
  result.device = gpu;
  assert_fails(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL), NDR_ERR_NO_DEVICE, "no CUDA device");
  array.device = result.device = (DLDevice){kDLCPU, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  ck_assert(sum == 10);
}
END_TEST

int main(void) {
  if (setenv("CUDA_VISIBLE_DEVICES", "", 1) != 0) return 1;
  Suite *suite = suite_create("cuda absent");
  suite_case(suite, "absent", 60, calls_say_that_there_is_no_device, plans_and_accumulators_say_so,
             plans_for_a_device_of_numbers, the_cpu_is_not_touched, NULL);
  return suite_run(suite);
}
