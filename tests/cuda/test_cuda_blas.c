/* Sums and norms against cuBLAS: gemv with ones, asum, nrm2. */
#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

#define assert_blas(call)                                                                                              \
  do {                                                                                                                 \
    cublasStatus_t status_ = (call);                                                                                   \
    ck_assert_msg(status_ == CUBLAS_STATUS_SUCCESS, "%s: %s", #call, cublasGetStatusString(status_));                  \
  } while (0)

static cublasHandle_t blas;

static void open_blas(void) {
  assert_blas(cublasCreate(&blas));
}

static void close_blas(void) {
  assert_blas(cublasDestroy(blas));
}

/* The sums of a row-major matrix over dim: to cuBLAS it is the transpose, of `columns` rows. */
static void gemv_with_ones(const gpu_array *matrix, int dim, gpu_array *sums) {
  int rows = (int)matrix->host.shape[0], columns = (int)matrix->host.shape[1], length = dim ? columns : rows;
  cublasOperation_t turn = dim ? CUBLAS_OP_T : CUBLAS_OP_N;
  gpu_array ones;
  double *values = malloc((size_t)length * sizeof *values);
  if (!values) abort();
  for (int i = 0; i < length; i++) values[i] = 1;
  array_from(&ones.host, matrix->host.dtype, 1, (int64_t[]){length}, values);
  gpu_place(&ones, GPU_DEVICE, 0);
  if (matrix->host.dtype == NDR_F32) {
    float one = 1, zero = 0;
    assert_blas(cublasSgemv(blas, turn, columns, rows, &one, matrix->tensor.data, columns, ones.tensor.data, 1, &zero,
                            sums->tensor.data, 1));
  } else {
    double one = 1, zero = 0;
    assert_blas(cublasDgemv(blas, turn, columns, rows, &one, matrix->tensor.data, columns, ones.tensor.data, 1, &zero,
                            sums->tensor.data, 1));
  }
  gpu_fetch(sums);
  gpu_free(&ones);
  free(values);
}

/* Small integers sum exactly in any order, so both must be equal; others may be off by what n additions can be. */
static void check_gemv(const char *text, filling how) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, ours, theirs;
  rng random = {test_seed()};
  assert_ok(ndr_problem_parse(text, &problem));
  array_of_case(&array.host, &problem);
  array_fill(&array.host, &random, how);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(gpu_result(&ours, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
  assert_ok(gpu_result(&theirs, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
  assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, NDR_SUM, &ours.tensor, NULL));
  gpu_fetch(&ours);
  gemv_with_ones(&array, problem.dims[0], &theirs);
  element *a = array_elements(&ours.host.tensor), *b = array_elements(&theirs.host.tensor);
  double n = (double)problem.shape[problem.dims[0]], most = how == FILL_SMALL ? 0 : n * n * 16;
  double bound = most * (double)rounding_of(problem.dtype);
  for (int64_t j = 0; j < array_count(&ours.host.tensor); j++)
    ck_assert_msg(fabsl(a[j].re - b[j].re) <= bound, "%s: output %lld is %.9Lg, cuBLAS gives %.9Lg", text, (long long)j,
                  a[j].re, b[j].re);
  free(a);
  free(b);
  gpu_free(&array);
  gpu_free(&ours);
  gpu_free(&theirs);
}

START_TEST(sums_agree_with_gemv) {
  static const int64_t sizes[] = {1, 3, 31, 64, 257, 1000, 4099, 20000};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (int r = 0; r < SIZES; r++) {
    for (int c = 0; c < SIZES; c++) {
      if (sizes[r] * sizes[c] > 20000000) continue;
      char text[64];
      snprintf(text, sizeof text, "sum %s [%lld,%lld] /%d", _i & 1 ? "f64" : "f32", (long long)sizes[r],
               (long long)sizes[c], _i >> 1);
      check_gemv(text, FILL_SMALL);
      check_gemv(text, FILL_WIDE);
    }
  }
}
END_TEST

/* norm1 or norm2 of the whole array by cuBLAS, with each dtype's own call. */
static double blas_norm(const gpu_array *array, ndr_op op) {
  int n = (int)array_count(&array->tensor);
  double value = 0;
  float narrow = 0;
  const void *x = array->tensor.data;
  switch (array->host.dtype) {
  case NDR_F32: assert_blas((op == NDR_NORM1 ? cublasSasum : cublasSnrm2)(blas, n, x, 1, &narrow)); break;
  case NDR_F64: assert_blas((op == NDR_NORM1 ? cublasDasum : cublasDnrm2)(blas, n, x, 1, &value)); break;
  case NDR_C64: assert_blas(cublasScnrm2(blas, n, x, 1, &narrow)); break;
  default: assert_blas(cublasDznrm2(blas, n, x, 1, &value)); break;
  }
  return array->host.dtype == NDR_F32 || array->host.dtype == NDR_C64 ? (double)narrow : value;
}

/* Sums of magnitudes do not cancel: n roundings of either side are the most that they may differ by; blocks make it
 * far less. */
START_TEST(norms_agree_with_asum_and_nrm2) {
  static const char *const texts[] = {"norm1 f32", "norm1 f64", "norm2 f32", "norm2 f64", "norm2 c64", "norm2 c128"};
  static const int64_t sizes[] = {1, 33, 1000, 65537, 3000001};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    gpu_array array, result;
    char text[64];
    rng random = {test_seed()};
    snprintf(text, sizeof text, "%s [%lld] /0", texts[_i], (long long)sizes[s]);
    assert_ok(ndr_problem_parse(text, &problem));
    array_of_case(&array.host, &problem);
    array_fill(&array.host, &random, FILL_WIDE);
    gpu_place(&array, GPU_DEVICE, 0);
    assert_ok(gpu_result(&result, GPU_DEVICE, &array.host.tensor, &problem, 0, NULL, NULL));
    assert_ok(ndreduce(&array.tensor, NDR_ALL_DIMS, problem.ops[0], &result.tensor, NULL));
    gpu_fetch(&result);
    double ours = (double)array_get(&result.host.tensor, NULL).re, theirs = blas_norm(&array, problem.ops[0]);
    double n = (double)sizes[s], bound = fmin(n + 4, 4096) * (double)rounding_of(problem.dtype) * theirs;
    ck_assert_msg(fabs(ours - theirs) <= bound, "%s: %.9g, cuBLAS gives %.9g", text, ours, theirs);
    gpu_free(&array);
    gpu_free(&result);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda blas");
  TCase *tests = tcase_create("blas");
  tcase_add_unchecked_fixture(tests, open_blas, close_blas);
  tcase_add_loop_test(tests, sums_agree_with_gemv, 0, 4);
  tcase_add_loop_test(tests, norms_agree_with_asum_and_nrm2, 0, 6);
  suite_add_tcase(suite, tests);
  return gpu_suite_run(suite);
}
