/* Sizes at the ends: more elements, outputs and bytes than 32 bits count, grids beyond 65535, 32 dims, sizes 0 and 1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

#define BEYOND ((INT64_C(1) << 31) + 5)

static const DLDevice gpu = {kDLCUDA, 0};

/* Device memory, or NULL with the test's name printed where the GPU is too small. */
static void *take(size_t bytes, const char *test) {
  size_t left = 0, whole = 0;
  void *memory = NULL;
  assert_cuda(cudaMemGetInfo(&left, &whole));
  if (left < bytes + (bytes >> 4)) {
    printf("%s left out: it needs %zu MiB of device memory, %zu are free\n", test, bytes >> 20, left >> 20);
    return NULL;
  }
  assert_cuda(cudaMalloc(&memory, bytes));
  assert_cuda(cudaMemset(memory, 0, bytes));
  return memory;
}

static void put(void *to, uint8_t value) {
  assert_cuda(cudaMemcpy(to, &value, 1, cudaMemcpyDefault));
}

/* One 8-byte result of op over all dims of the array. */
static uint64_t reduce_all(const DLTensor *array, ndr_op op) {
  uint64_t value = 0, *placed;
  assert_cuda(cudaMalloc((void **)&placed, sizeof *placed));
  DLTensor result = {placed, gpu, 0, {op == NDR_SUM ? kDLUInt : kDLInt, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(array, NDR_ALL_DIMS, op, &result, NULL));
  assert_cuda(cudaMemcpy(&value, placed, sizeof value, cudaMemcpyDefault));
  assert_cuda(cudaFree(placed));
  return value;
}

START_TEST(runs_past_two_to_the_31) {
  uint8_t *zeros = take((size_t)BEYOND, "runs_past_two_to_the_31");
  if (!zeros) return;
  put(zeros + 3, 1);
  put(zeros + BEYOND - 2, 7);
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(BEYOND));
  array.device = gpu;
  ck_assert_uint_eq(reduce_all(&array, NDR_SUM), 8);
  ck_assert_uint_eq(reduce_all(&array, NDR_ARGMAX), (uint64_t)BEYOND - 2);
  ck_assert_uint_eq(reduce_all(&array, NDR_COUNT), 2);
  array.data = zeros + 1; /* not where vectors start */
  array.shape[0] = BEYOND - 1;
  ck_assert_uint_eq(reduce_all(&array, NDR_ARGMAX), (uint64_t)BEYOND - 3);
  assert_cuda(cudaFree(zeros));
}
END_TEST

/* One byte seen 2^32 + 3 times. */
START_TEST(lengths_past_two_to_the_32) {
  uint8_t *one = take(1, "lengths_past_two_to_the_32");
  put(one, 1);
  DLTensor array = ndr_tensor(one, NDR_U8, NDR_SHAPE((INT64_C(1) << 32) + 3));
  array.strides = (int64_t[]){0};
  array.device = gpu;
  ck_assert_uint_eq(reduce_all(&array, NDR_SUM), (UINT64_C(1) << 32) + 3);
  assert_cuda(cudaFree(one));
}
END_TEST

/* sums of u8 over one dim of a 2-d array of zeros with two set elements, wherever the dims lie. */
static void check_two(int64_t rows, int64_t columns, const int64_t *strides, int dim, const char *name) {
  const char *families[] = {NULL, "tree", "thread", "tile"};
  int64_t last = (rows - 1) * strides[0] + (columns - 1) * strides[1], outputs = dim == 0 ? columns : rows;
  uint8_t *zeros = take((size_t)last + 1 + (size_t)outputs * 8, name);
  if (!zeros) return;
  assert_cuda(cudaFree(zeros));
  zeros = take((size_t)last + 1, name);
  uint64_t *sums = take((size_t)outputs * 8, name), *got = malloc((size_t)outputs * 8);
  if (!got) abort();
  put(zeros, 1);
  put(zeros + last, 7);
  DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(rows, columns)),
           result = ndr_tensor(sums, NDR_U64, NDR_SHAPE(outputs));
  array.strides = (int64_t[]){strides[0], strides[1]};
  array.device = result.device = gpu;
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    ndr_options options = NDR_OPTIONS_INIT;
    options.force_family = families[f];
    assert_cuda(cudaMemset(sums, ARRAY_POISON, (size_t)outputs * 8));
    ndr_status status = ndreduce(&array, NDR_DIMS(dim), NDR_SUM, &result, &options);
    if (families[f] && status == NDR_ERR_UNSUPPORTED) continue;
    assert_ok(status);
    assert_cuda(cudaMemcpy(got, sums, (size_t)outputs * 8, cudaMemcpyDefault));
    for (int64_t j = 0; j < outputs; j++) {
      uint64_t expected = (j == 0 ? 1u : 0u) + (j == outputs - 1 ? 7u : 0u);
      if (got[j] != expected) /* an assertion an output would take minutes */
        ck_abort_msg("%s, %s: output %lld is %llu, not %llu", name, families[f] ? families[f] : "chosen", (long long)j,
                     (unsigned long long)got[j], (unsigned long long)expected);
    }
  }
  free(got);
  assert_cuda(cudaFree(zeros));
  assert_cuda(cudaFree(sums));
}

START_TEST(offsets_past_two_to_the_31) {
  check_two(2, 3, (int64_t[]){BEYOND - 3, 1}, 1, "two far rows");
  check_two(2, 3, (int64_t[]){BEYOND - 3, 1}, 0, "two far rows, columns summed");
  check_two(5, 70001, (int64_t[]){INT64_C(1) << 30, 1}, 0, "five far rows");
}
END_TEST

START_TEST(columns_past_two_to_the_31) {
  check_two(BEYOND / 3, 3, (int64_t[]){3, 1}, 0, "tall");
  check_two(3, BEYOND / 3, (int64_t[]){BEYOND / 3, 1}, 1, "wide");
  check_two(3, BEYOND / 3, (int64_t[]){1, 3}, 1, "wide, transposed");
}
END_TEST

START_TEST(more_outputs_than_a_grid_axis) {
  check_two(70001, 3, (int64_t[]){3, 1}, 1, "70001 rows of 3");
  check_two(70001, 300, (int64_t[]){300, 1}, 1, "70001 rows of 300");
  check_two(70001, 5000, (int64_t[]){5001, 1}, 1, "70001 pitched rows of 5000");
  check_two(3, 10000019, (int64_t[]){10000019, 1}, 0, "10000019 columns of 3");
  check_two(300, 1000003, (int64_t[]){1000003, 1}, 0, "1000003 columns of 300");
  check_two(16777259, 17, (int64_t[]){17, 1}, 1, "2^24 rows of 17");
}
END_TEST

/* Outputs themselves beyond 2^31: counted by a second reduction. */
START_TEST(outputs_past_two_to_the_31) {
  uint8_t *zeros = take(3 * (size_t)BEYOND, "outputs_past_two_to_the_31");
  if (!zeros) return;
  uint8_t *any = zeros + 2 * BEYOND, got[2];
  put(zeros + 1, 9);
  put(zeros + 2 * BEYOND - 2, 9);
  for (int dim = 0; dim < 2; dim++) {
    DLTensor array = ndr_tensor(zeros, NDR_U8, NDR_SHAPE(dim ? BEYOND : 2, dim ? 2 : BEYOND));
    DLTensor result = ndr_tensor(any, NDR_BOOL, NDR_SHAPE(BEYOND));
    array.device = result.device = gpu;
    assert_cuda(cudaMemset(any, 1, (size_t)BEYOND));
    assert_ok(ndreduce(&array, NDR_DIMS(dim), NDR_ANY, &result, NULL));
    ck_assert_uint_eq(reduce_all(&result, NDR_COUNT), 2);
    assert_cuda(cudaMemcpy(&got[0], any + (dim ? 0 : 1), 1, cudaMemcpyDefault));
    assert_cuda(cudaMemcpy(&got[1], any + BEYOND - (dim ? 1 : 2), 1, cudaMemcpyDefault));
    ck_assert(got[0] == 1 && got[1] == 1);
  }
  assert_cuda(cudaFree(zeros));
}
END_TEST

/* 2^31 + 5 times 0.1f; a plain loop would stop growing at 2^21. */
START_TEST(the_error_of_a_long_sum_is_small) {
  float value = 0.1F, got = 0;
  size_t bytes = (size_t)BEYOND * sizeof value;
  char *memory = take(bytes + 256, "the_error_of_a_long_sum_is_small");
  if (!memory) return;
  float *sum = (float *)(void *)(memory + (bytes + 127) / 128 * 128);
  assert_cuda(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyDefault));
  for (size_t done = sizeof value; done < bytes; done *= 2)
    assert_cuda(cudaMemcpy(memory + done, memory, done < bytes - done ? done : bytes - done, cudaMemcpyDefault));
  DLTensor array = ndr_tensor(memory, NDR_F32, NDR_SHAPE(BEYOND)),
           result = {sum, gpu, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  array.device = gpu;
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  assert_cuda(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDefault));
  double exact = (double)value * (double)BEYOND, error = fabs((double)got - exact) / exact;
  printf("2^31 + 5 times 0.1f: relative error %.2g\n", error);
  ck_assert_msg(error <= (256 + 31 + 2) * 0x1p-24, "%g instead of %g", (double)got, exact);
  assert_cuda(cudaFree(memory));
}
END_TEST

/* ---- dims ---- */

static void check_text(const char *text) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, result;
  rng random = {test_seed()};
  assert_ok(ndr_problem_parse(text, &problem));
  for (int op = 0; op < NDR_OP_COUNT; op++) {
    problem.ops[0] = (ndr_op)op;
    if (!op_has_empty(problem.ops[0]) && case_elements(&problem) == 0) continue;
    array_of_case(&array.host, &problem);
    array_fill(&array.host, &random, random_filling(&random, problem.ops[0]));
    gpu_place(&array, GPU_DEVICE, 0);
    ndr_options options = case_options(&problem);
    assert_ok(gpu_result(&result, GPU_DEVICE, &array.host.tensor, &problem, 0, &options, &random));
    assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, problem.ops[0], &result.tensor, &options));
    assert_gpu_result(&problem, 0, &array, &result, "small");
    gpu_free(&array);
    gpu_free(&result);
  }
}

/* 32 dims of which 18 have size 2, every other one reduced and no two of them merge. */
START_TEST(thirty_two_dims) {
  char text[512], dims[128] = "";
  size_t at = 0, end = 0;
  at += (size_t)snprintf(text, sizeof text, "sum f32 [");
  for (int d = 0; d < NDR_MAX_DIMS; d++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", d ? "," : "", d < 18 ? 2 : 1);
  for (int d = 0; d < NDR_MAX_DIMS; d += 2)
    end += (size_t)snprintf(dims + end, sizeof dims - end, "%s%d", d ? "," : "", d);
  snprintf(text + at, sizeof text - at, "] /%s", dims);
  check_text(text);
}
END_TEST

START_TEST(sizes_zero_and_one) {
  static const char *const texts[] = {
      "sum f32 [] /",     "sum f32 [1] /0",      "sum f32 [1,1,1] /1",  "sum f32 [0] /0",
      "sum f32 [0,5] /0", "sum f32 [0,5] /1",    "sum f32 [5,0,3] /1",  "sum f32 [3,0,5] /0 keepdims",
      "sum f32 [7] /",    "sum f32 [1,1000] /0", "sum f32 [1000,1] /1", "sum f32 [1000:-1] /"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) check_text(texts[t]);
}
END_TEST

START_TEST(extremes_of_nothing_fail) {
  float x[1], y[5];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(0, 5)), result = ndr_tensor(y, NDR_F32, NDR_SHAPE(5));
  array.device = result.device = gpu;
  assert_fails(ndreduce(&array, NDR_DIMS(0), NDR_MAX, &result, NULL), NDR_ERR_EMPTY, "no elements");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda large");
  suite_case(suite, "dims", 120, thirty_two_dims, sizes_zero_and_one, extremes_of_nothing_fail, NULL);
  if (!gpu_subset())
    suite_case(suite, "large", 600, runs_past_two_to_the_31, lengths_past_two_to_the_32, offsets_past_two_to_the_31,
               columns_past_two_to_the_31, more_outputs_than_a_grid_axis, outputs_past_two_to_the_31,
               the_error_of_a_long_sum_is_small, NULL);
  return gpu_suite_run(suite);
}
