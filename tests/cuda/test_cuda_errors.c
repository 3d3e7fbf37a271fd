/* What goes wrong is said, loses nothing, and leaves the library usable; and every kernel is there. */
#include <stdlib.h>

#include "cuda/library.h"
#include "device.h"
#include "support/reduce.h"

/* A small sum on the device, as a sign of life. */
static void assert_usable(void) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, result;
  rng random = {test_seed()};
  assert_ok(ndr_problem_parse("sum f32 [40,100003] /1", &problem));
  array_of_case(&array.host, &problem);
  array_fill(&array.host, &random, FILL_WIDE);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(gpu_result(&result, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
  assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, problem.ops[0], &result.tensor, NULL));
  assert_gpu_result(&problem, 0, &array, &result, "after an error");
  assert_cuda(cudaGetLastError());
  gpu_free(&array);
  gpu_free(&result);
}

START_TEST(every_kernel_is_there) {
  int count = 0;
  assert_ok(ndr_cuda_resolve_all(&count));
  ck_assert_int_gt(count, NDR_DTYPE_COUNT * NDR_OP_COUNT);
}
END_TEST

START_TEST(a_device_that_is_not_there) {
  int count = 0;
  float x[4] = {1, 2, 3, 4}, sum = -1;
  ndr_accumulator *accumulator = NULL;
  ndr_op op = NDR_SUM;
  assert_cuda(cudaGetDeviceCount(&count));
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4)),
           result = {&sum, {kDLCUDA, count}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  array.device = result.device;
  assert_fails(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL), NDR_ERR_NO_DEVICE, "no CUDA device");
  array.device.device_id = result.device.device_id = -1;
  assert_fails(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL), NDR_ERR_NO_DEVICE, "no CUDA device");
  assert_fails(accumulate_array(&accumulator, (DLDevice){kDLCUDA, count}, NDR_F32, 1, (int64_t[]){4}, NDR_ALL_DIMS, 1,
                                &op, NULL),
               NDR_ERR_NO_DEVICE, "no CUDA device");
  ck_assert_ptr_eq(accumulator, NULL);
  ck_assert(sum == -1);
  assert_usable();
}
END_TEST

START_TEST(host_and_device_do_not_mix) {
  gpu_block memory;
  float x[4] = {1, 2, 3, 4}, sum = -1;
  gpu_block_make(&memory, GPU_DEVICE, sizeof x, 0);
  DLTensor host = ndr_tensor(x, NDR_F32, NDR_SHAPE(4)), device = host;
  DLTensor host_sum = {&sum, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0}, device_sum = host_sum;
  device.data = device_sum.data = memory.start;
  device.device = device_sum.device = (DLDevice){kDLCUDA, 0};
  assert_fails(ndreduce(&host, NDR_ALL_DIMS, NDR_SUM, &device_sum, NULL), NDR_ERR_RESULT, "the result is on cuda:0");
  assert_fails(ndreduce(&device, NDR_ALL_DIMS, NDR_SUM, &host_sum, NULL), NDR_ERR_RESULT, "the result is on cpu:0");
  ck_assert(sum == -1);
  gpu_block_free(&memory);
  assert_usable();
}
END_TEST

/* 2^43 bytes of partial states are more than any device has. */
START_TEST(an_accumulator_that_does_not_fit) {
  ndr_accumulator *accumulator = NULL;
  ndr_op op = NDR_SUM;
  assert_fails(accumulate_array(&accumulator, (DLDevice){kDLCUDA, 0}, NDR_F64, 2, (int64_t[]){INT64_C(1) << 40, 2},
                                NDR_DIMS(1), 1, &op, NULL),
               NDR_ERR_MEMORY, "memory");
  ck_assert_ptr_eq(accumulator, NULL);
  assert_usable();
}
END_TEST

/* Takes memory in ever smaller blocks until less than 64 KiB is to be had; returns a list of them. */
typedef struct hoard {
  struct hoard *next;
  void *memory;
} hoard;

static hoard *take_everything(void) {
  hoard *all = NULL;
  for (size_t bytes = (size_t)1 << 40; bytes >= (size_t)1 << 16;) {
    hoard *one = malloc(sizeof *one);
    if (!one) abort();
    if (cudaMalloc(&one->memory, bytes) == cudaSuccess) {
      one->next = all;
      all = one;
    } else {
      (void)cudaGetLastError();
      free(one);
      bytes /= 2;
    }
  }
  return all;
}

static void give_back(hoard *all) {
  for (hoard *next; all; all = next) {
    next = all->next;
    assert_cuda(cudaFree(all->memory));
    free(all);
  }
}

/* 96 MiB of states, on a device with nothing left. */
START_TEST(a_device_that_is_full) {
  ndr_accumulator *accumulator = NULL;
  ndr_op op = NDR_VAR;
  cudaStream_t stream;
  ndr_options options = NDR_OPTIONS_INIT;
  assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  options.stream = stream;
  hoard *all = take_everything();
  ndr_status status = accumulate_array(&accumulator, (DLDevice){kDLCUDA, 0}, NDR_F64, 2,
                                       (int64_t[]){INT64_C(1) << 22, 2}, NDR_DIMS(1), 1, &op, &options);
  const char *said = ndr_last_error();
  bool names_it = strstr(said, "memory") != NULL;
  give_back(all);
  ck_assert_msg(status == NDR_ERR_MEMORY && names_it, "%s: %s", ndr_status_name(status), said);
  assert_cuda(cudaStreamDestroy(stream));
  assert_usable();
}
END_TEST

/* ndreduce() on a stream that has no workspace yet; what the driver still holds back may be enough for it. */
START_TEST(a_call_that_finds_no_memory) {
  gpu_array array, result;
  ndr_problem problem = NDR_PROBLEM_INIT;
  cudaStream_t stream;
  ndr_options options = NDR_OPTIONS_INIT;
  rng random = {test_seed()};
  assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  options.stream = stream;
  assert_ok(ndr_problem_parse("sum f32 [3,2000000] /1", &problem));
  array_of_case(&array.host, &problem);
  array_fill(&array.host, &random, FILL_WIDE);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(gpu_result(&result, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
  assert_cuda(cudaDeviceSynchronize());
  hoard *all = take_everything();
  ndr_status status =
      ndreduce(&array.tensor, problem.dim_count, problem.dims, problem.ops[0], &result.tensor, &options);
  cudaError_t waited = cudaStreamSynchronize(stream);
  give_back(all);
  ck_assert_msg(status == NDR_OK || status == NDR_ERR_MEMORY, "%s", ndr_status_name(status));
  assert_cuda(waited);
  assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, problem.ops[0], &result.tensor, &options));
  assert_cuda(cudaStreamSynchronize(stream));
  assert_gpu_result(&problem, 0, &array, &result, "after a call that found no memory");
  gpu_free(&array);
  gpu_free(&result);
  assert_cuda(cudaStreamDestroy(stream));
  assert_usable();
}
END_TEST

START_TEST(bad_plans_and_pointers) {
  ndr_plan *plan = NULL;
  ndr_op op = NDR_SUM;
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(1000));
  array.device = (DLDevice){kDLCUDA, 0};
  assert_ok(plan_array(&plan, &array, NDR_ALL_DIMS, 1, &op, NULL, NULL));
  assert_fails(ndr_plan_execute(plan, NULL, (void *[]){&plan}, NULL, 0, NULL), NDR_ERR_ARGUMENT, "null");
  ndr_plan_destroy(plan);
  ndr_options options = NDR_OPTIONS_INIT;
  options.force_family = "scalar";
  ndr_status status = plan_array(&plan, &array, NDR_ALL_DIMS, 1, &op, NULL, &options);
  ck_assert_int_ne(status, NDR_OK);
  ck_assert_ptr_eq(plan, NULL);
  assert_usable();
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda errors");
  suite_case(suite, "kernels", 120, every_kernel_is_there, NULL);
  suite_case(suite, "arguments", 120, a_device_that_is_not_there, host_and_device_do_not_mix, bad_plans_and_pointers,
             NULL);
  suite_case(suite, "memory", 120, an_accumulator_that_does_not_fit, a_device_that_is_full, a_call_that_finds_no_memory,
             NULL);
  return gpu_suite_run(suite);
}
