/* Data and results in device, managed and pinned memory, in every combination; results anywhere, laid out freely. */
#include <stdio.h>

#include "device.h"

static const char *const problems[] = {
    "sum f32 [300,1001] /1",  "max f16 [1001,300] /0",  "var f64 [70,3,900] /0,2",
    "argmin i8 [33,65,3] /1", "any bool [100000] /all", "norm2 c64 [9,8,7,6:-1] /0,3",
};
enum { PROBLEMS = sizeof problems / sizeof *problems, KINDS = 3 };

static void check_kinds(const char *text, gpu_memory data, gpu_memory to) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, result;
  rng random = {test_seed() + (uint64_t)(data * KINDS + to)};
  char how[64];
  snprintf(how, sizeof how, "data in memory %d, result in %d", (int)data, (int)to);
  assert_ok(ndr_problem_parse(text, &problem));
  array_of_case(&array.host, &problem);
  array_fill(&array.host, &random, FILL_WIDE);
  gpu_place(&array, data, 0);
  assert_ok(gpu_result(&result, to, &array.host.tensor, &problem, 0, NULL, &random));
  ndr_status status = ndreduce(&array.tensor, problem.dim_count, problem.dims, problem.ops[0], &result.tensor, NULL);
  ck_assert_msg(status == NDR_OK, "%s, %s: %s", text, how, ndr_last_error());
  assert_gpu_result(&problem, 0, &array, &result, how);
  gpu_free(&array);
  gpu_free(&result);
}

START_TEST(every_kind_of_memory) {
  for (int data = 0; data < KINDS; data++)
    for (int to = 0; to < KINDS; to++) check_kinds(problems[_i], (gpu_memory)data, (gpu_memory)to);
}
END_TEST

/* The host may look at pinned results as soon as the stream is done. */
START_TEST(pinned_results_need_no_copy) {
  float *x, *sum;
  assert_cuda(cudaMallocHost((void **)&x, 1000 * sizeof *x));
  assert_cuda(cudaMallocHost((void **)&sum, sizeof *sum));
  for (int i = 0; i < 1000; i++) x[i] = 2;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(1000)),
           result = {sum, {kDLCUDAHost, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  array.device = result.device;
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  assert_cuda(cudaDeviceSynchronize());
  ck_assert(*sum == 2000);
  assert_cuda(cudaFreeHost(x));
  assert_cuda(cudaFreeHost(sum));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda memory");
  TCase *tests = tcase_create("kinds");
  tcase_add_loop_test(tests, every_kind_of_memory, 0, PROBLEMS);
  suite_add_tcase(suite, tests);
  suite_case(suite, "pinned", 60, pinned_results_need_no_copy, NULL);
  return gpu_suite_run(suite);
}
