/* How good float results are: bounded from n, and better than what a plain f32 loop over the same numbers gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "support/oracle.h"

/* 2^22 numbers or so on each axis, as one run, as columns, in between, and far apart. */
static const char *const layouts[] = {
    "sum f32 [4194304] /0",     "sum f32 [4,1048577] /1",       "sum f32 [1048577,4] /0",
    "sum f32 [2,1000003,2] /1", "sum f32 [3,100,3,20000] /1,3", "sum f32 [100000:1,40:100000] /0",
    "sum f32 [65536,64] /0",
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* All of one sign: a running sum then outgrows what is added to it. */
static void fill_positive(test_array *array) {
  rng random = {test_seed()};
  array_fill(array, &random, FILL_WIDE);
  float *x = array->memory;
  for (size_t i = 0; i < array->bytes / sizeof *x; i++) x[i] = fabsf(x[i]);
}

/* Of each output, adding its elements in row-major order. */
typedef struct sums {
  float *plain;
  double *exact; /* 2^22 numbers of 24 bits within 2^8 of each other: off by 2^-53 * 2^22 at most */
} sums;

static void sum_on_host(const ndr_problem *problem, const test_array *array, const test_array *result, sums *made) {
  int64_t index[NDR_MAX_DIMS] = {0}, outputs = array_count(&result->tensor);
  bool reduced[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < problem->dim_count; i++) reduced[problem->dims[i]] = true;
  made->plain = calloc((size_t)outputs, sizeof *made->plain);
  made->exact = calloc((size_t)outputs, sizeof *made->exact);
  if (!made->plain || !made->exact) abort();
  do {
    int64_t output = 0;
    for (int d = 0; d < problem->ndim; d++)
      if (!reduced[d]) output = output * problem->shape[d] + index[d];
    float x = *(const float *)element_at(&array->tensor, index);
    volatile float next = made->plain[output] + x;
    made->plain[output] = next;
    made->exact[output] += (double)x;
  } while (next_index(problem->ndim, problem->shape, index));
}

/* Up to 256 additions in a row, and trees above them: what the oracle allows too. */
static double bound_of(double n, double sum) {
  return (fmin(n, 256) + log2(n) + 2) * 0x1p-24 * sum;
}

static void check_accuracy(const char *text, const char *family) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, result;
  sums host;
  double worst = 0, worst_plain = 0;
  ndr_options options = NDR_OPTIONS_INIT;
  options.force_family = family;
  assert_ok(ndr_problem_parse(text, &problem));
  array_of_case(&array.host, &problem);
  fill_positive(&array.host);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(gpu_result(&result, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
  ndr_status status = ndreduce(&array.tensor, problem.dim_count, problem.dims, NDR_SUM, &result.tensor, &options);
  if (status == NDR_OK) {
    gpu_fetch(&result);
    sum_on_host(&problem, &array.host, &result.host, &host);
    int64_t outputs = array_count(&result.host.tensor);
    double n = (double)case_elements(&problem) / (double)outputs;
    for (int64_t j = 0; j < outputs; j++) {
      double error = fabs((double)((float *)result.host.memory)[j] - host.exact[j]);
      ck_assert_msg(error <= bound_of(n, host.exact[j]), "%s, %s: output %lld is off by %g of %g", text,
                    family ? family : "chosen", (long long)j, error, host.exact[j]);
      worst = fmax(worst, error / host.exact[j]);
      worst_plain = fmax(worst_plain, fabs((double)host.plain[j] - host.exact[j]) / host.exact[j]);
    }
    printf("%-34s %-7s worst relative error %.2g, plain loop %.2g\n", text, family ? family : "chosen", worst,
           worst_plain);
    ck_assert_msg(worst < worst_plain, "%s: %g, a plain loop has %g", text, worst, worst_plain);
    free(host.plain);
    free(host.exact);
  } else {
    ck_assert_msg(family && status == NDR_ERR_UNSUPPORTED, "%s: %s", text, ndr_last_error());
  }
  gpu_free(&array);
  gpu_free(&result);
}

START_TEST(better_than_a_plain_loop) {
  static const char *const families[] = {NULL, "tree", "thread", "tile"};
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) check_accuracy(layouts[_i], families[f]);
}
END_TEST

/* 16-bit floats are rounded once, at the end: the oracle's bounds are those of f32 accumulation. */
START_TEST(narrow_floats_are_rounded_once) {
  static const char *const texts[] = {"sum f16 [3,40000] /1", "mean f16 [40000,9] /0", "var bf16 [5,3,20000] /2",
                                      "norm2 bf16 [20000,33] /0", "sum bf16 [1000,77] /all"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    gpu_array array, result;
    rng random = {test_seed()};
    assert_ok(ndr_problem_parse(texts[t], &problem));
    array_of_case(&array.host, &problem);
    array_fill(&array.host, &random, FILL_WIDE);
    gpu_place(&array, GPU_DEVICE, 2);
    assert_ok(gpu_result(&result, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
    assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, problem.ops[0], &result.tensor, NULL));
    assert_gpu_result(&problem, 0, &array, &result, "narrow");
    gpu_free(&array);
    gpu_free(&result);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda accuracy");
  TCase *tests = tcase_create("f32");
  tcase_add_loop_test(tests, better_than_a_plain_loop, 0, LAYOUTS);
  suite_add_tcase(suite, tests);
  suite_case(suite, "narrow", 120, narrow_floats_are_rounded_once, NULL);
  return gpu_suite_run(suite);
}
