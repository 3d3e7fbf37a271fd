/* ndr_scan by hand: what each option means, what is refused and in which words, and plans. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndreduce/operator.h"
#include "ndreduce/scan.h"
#include "support/array.h"
#include "support/suite.h"

/* Scans five f64, and compares `count` results. */
static void check_five(ndr_op op, const ndr_scan_options *options, const double *x, int count, const double *expected) {
  double in[5], out[6];
  memcpy(in, x, sizeof in);
  DLTensor array = ndr_tensor(in, NDR_F64, NDR_SHAPE(5)), result = ndr_tensor(out, NDR_F64, NDR_SHAPE(count));
  assert_ok(ndr_scan(&array, 0, op, &result, options));
  for (int i = 0; i < count; i++)
    ck_assert_msg(out[i] == expected[i] || (isnan(out[i]) && isnan(expected[i])), "%s: place %d is %g, must be %g",
                  ndr_op_name(op), i, out[i], expected[i]);
}

#define FIVE(...) ((const double[]){__VA_ARGS__})

/* ---- options ---- */

START_TEST(options_move_and_begin) {
  const double x[] = {3, 1, 4, 1, 5}, ten = 10;
  check_five(NDR_SUM, NULL, x, 5, FIVE(3, 4, 8, 9, 14));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.exclusive = 1), x, 5, FIVE(0, 3, 4, 8, 9));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.include_initial = 1), x, 6, FIVE(0, 3, 4, 8, 9, 14));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.reverse = 1), x, 5, FIVE(14, 11, 10, 6, 5));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.exclusive = 1, .reverse = 1), x, 5, FIVE(11, 10, 6, 5, 0));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.include_initial = 1, .reverse = 1), x, 6, FIVE(14, 11, 10, 6, 5, 0));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.initial = &ten), x, 5, FIVE(13, 14, 18, 19, 24));
  check_five(NDR_PROD, NDR_SCAN_OPTIONS(.exclusive = 1, .initial = &ten), x, 5, FIVE(10, 30, 30, 120, 120));
  check_five(NDR_MIN, NULL, x, 5, FIVE(3, 1, 1, 1, 1));
  check_five(NDR_MAX, NDR_SCAN_OPTIONS(.include_initial = 1), x, 6, FIVE(-INFINITY, 3, 3, 4, 4, 5));
}
END_TEST

START_TEST(nan_wins_unless_it_is_skipped) {
  const double x[] = {NAN, 2, 1, NAN, 3}, nan = NAN;
  check_five(NDR_SUM, NULL, x, 5, FIVE(NAN, NAN, NAN, NAN, NAN));
  check_five(NDR_SUM, NDR_SCAN_OPTIONS(.skip_nan = 1), x, 5, FIVE(0, 2, 3, 3, 6));
  check_five(NDR_PROD, NDR_SCAN_OPTIONS(.skip_nan = 1), x, 5, FIVE(1, 2, 2, 2, 6));
  check_five(NDR_MAX, NDR_SCAN_OPTIONS(.skip_nan = 1), x, 5, FIVE(NAN, 2, 2, 2, 3));
  check_five(NDR_MAX, NDR_SCAN_OPTIONS(.skip_nan = 1, .initial = &nan), x, 5, FIVE(NAN, 2, 2, 2, 3));
  check_five(NDR_MAX, NDR_SCAN_OPTIONS(.reverse = 1), x, 5, FIVE(NAN, NAN, NAN, NAN, 3));
  check_five(NDR_MIN, NDR_SCAN_OPTIONS(.initial = &nan), FIVE(1, 2, 3, 4, 5), 5, FIVE(NAN, NAN, NAN, NAN, NAN));
  check_five(NDR_LOGSUMEXP, NDR_SCAN_OPTIONS(.exclusive = 1, .skip_nan = 1), FIVE(NAN, 0, NAN, 0, NAN), 5,
             FIVE(-INFINITY, -INFINITY, 0, 0, log(2)));
}
END_TEST

START_TEST(infinities_follow_from_addition) {
  check_five(NDR_SUM, NULL, FIVE(1, INFINITY, 2, -INFINITY, 3), 5, FIVE(1, INFINITY, INFINITY, NAN, NAN));
  check_five(NDR_LOGSUMEXP, NULL, FIVE(-INFINITY, -INFINITY, 3, INFINITY, 1), 5,
             FIVE(-INFINITY, -INFINITY, 3, INFINITY, INFINITY));
  check_five(NDR_LOGSUMEXP, NULL, FIVE(1000, 1000, -1000, 0, 0), 5,
             FIVE(1000, 1000 + log(2), 1000 + log(2), 1000 + log(2), 1000 + log(2)));
}
END_TEST

/* ---- dtypes ---- */

START_TEST(results_have_the_dtypes_of_numpy) {
  const struct {
    ndr_op op;
    ndr_dtype from, to;
  } rows[] = {{NDR_SUM, NDR_BOOL, NDR_U64},  {NDR_SUM, NDR_I8, NDR_I64},    {NDR_PROD, NDR_U16, NDR_U64},
              {NDR_SUM, NDR_F16, NDR_F16},   {NDR_SUM, NDR_BF16, NDR_BF16}, {NDR_PROD, NDR_C64, NDR_C64},
              {NDR_MIN, NDR_BOOL, NDR_BOOL}, {NDR_MAX, NDR_U8, NDR_U8},     {NDR_LOGSUMEXP, NDR_I32, NDR_F64},
              {NDR_ANY, NDR_F64, NDR_BOOL},  {NDR_ALL, NDR_C128, NDR_BOOL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t shape[NDR_MAX_DIMS];
    ndr_dtype found;
    DLTensor array = ndr_tensor(NULL, rows[i].from, NDR_SHAPE(3, 4)), result = {.shape = shape};
    assert_ok(ndr_scan_describe(&array, -1, rows[i].op, NDR_SCAN_OPTIONS(.include_initial = 1), &result));
    assert_ok(ndr_dtype_from_dlpack(result.dtype, &found));
    ck_assert_msg(found == rows[i].to, "%s over %s is %s", ndr_op_name(rows[i].op), ndr_dtype_name(rows[i].from),
                  ndr_dtype_name(found));
    ck_assert(result.ndim == 2 && shape[0] == 3 && shape[1] == 5 && result.strides == NULL);
    assert_ok(ndr_scan_describe(&array, NDR_SCAN_ALL, rows[i].op, NULL, &result));
    ck_assert(result.ndim == 1 && shape[0] == 12);
  }
}
END_TEST

START_TEST(integers_wrap) {
  uint64_t x[] = {UINT64_MAX, 2, UINT64_MAX}, sums[3];
  int8_t small[] = {127, 127, -128};
  int64_t products[3];
  DLTensor array = ndr_tensor(x, NDR_U64, NDR_SHAPE(3)), result = ndr_tensor(sums, NDR_U64, NDR_SHAPE(3));
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, NULL));
  ck_assert(sums[0] == UINT64_MAX && sums[1] == 1 && sums[2] == 0);
  DLTensor bytes = ndr_tensor(small, NDR_I8, NDR_SHAPE(3)), wide = ndr_tensor(products, NDR_I64, NDR_SHAPE(3));
  assert_ok(ndr_scan(&bytes, 0, NDR_PROD, &wide, NULL));
  ck_assert(products[0] == 127 && products[1] == 16129 && products[2] == -2064512);
}
END_TEST

/* In f32 a plain loop stands still at 2^24. */
START_TEST(ones_are_counted_right_at_every_place) {
  enum { N = 1 << 20 };
  float one = 1, *sums = malloc(N * sizeof *sums);
  double begin = 16777216;
  DLTensor array = ndr_tensor(&one, NDR_F32, NDR_SHAPE(N)), result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(N));
  array.strides = (int64_t[]){0};
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, NDR_SCAN_OPTIONS(.initial = &begin)));
  for (int i = 0; i < N; i++) ck_assert_msg(sums[i] == (float)(begin + 1 + i), "place %d is %.9g", i, (double)sums[i]);
  free(sums);
}
END_TEST

/* A product of part of the elements would overflow, and 0 times that is NaN. */
START_TEST(products_of_floats_go_one_after_the_other) {
  enum { N = 2000 };
  static double x[N], out[N];
  for (int i = 0; i < N; i++) x[i] = i == 100 ? 0 : i < 100 ? 1 : 1e10;
  DLTensor array = ndr_tensor(x, NDR_F64, NDR_SHAPE(N)), result = ndr_tensor(out, NDR_F64, NDR_SHAPE(N));
  assert_ok(ndr_scan(&array, 0, NDR_PROD, &result, NULL));
  for (int i = 0; i < N; i++) ck_assert(out[i] == (i < 100 ? 1 : 0));
}
END_TEST

START_TEST(running_sums_of_what_is_not_negative_never_decrease) {
  enum { N = 100000 };
  double *x = malloc(N * sizeof *x), *out = malloc(N * sizeof *out);
  rng random = {7};
  for (int i = 0; i < N; i++) x[i] = ldexp(rng_unit(&random), (int)rng_between(&random, -40, 40));
  DLTensor array = ndr_tensor(x, NDR_F64, NDR_SHAPE(N)), result = ndr_tensor(out, NDR_F64, NDR_SHAPE(N));
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, NULL));
  for (int i = 1; i < N; i++) ck_assert_msg(out[i] >= out[i - 1], "place %d", i);
  free(x);
  free(out);
}
END_TEST

/* ---- shapes ---- */

START_TEST(all_elements_go_in_row_major_order) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, flat[7], shaped[2][3];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(3, 2)), result = ndr_tensor(flat, NDR_F32, NDR_SHAPE(6));
  array.strides = (int64_t[]){1, 3};
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &result, NULL));
  const float expected[] = {1, 5, 7, 12, 15, 21};
  ck_assert(memcmp(flat, expected, sizeof expected) == 0);
  DLTensor same = ndr_tensor(shaped, NDR_F32, NDR_SHAPE(3, 2)), longer = ndr_tensor(flat, NDR_F32, NDR_SHAPE(7));
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &same, NULL));
  ck_assert(memcmp(shaped, expected, sizeof expected) == 0);
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &longer, NDR_SCAN_OPTIONS(.include_initial = 1)));
  ck_assert(flat[0] == 0 && memcmp(flat + 1, expected, sizeof expected) == 0);
}
END_TEST

START_TEST(no_elements_have_no_results_or_the_first) {
  double out[3] = {9, 9, 9};
  DLTensor array = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(3, 0)), result = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(3, 0));
  DLTensor longer = ndr_tensor(out, NDR_F64, NDR_SHAPE(3, 1)), other = ndr_tensor(out, NDR_F64, NDR_SHAPE(4, 0));
  assert_ok(ndr_scan(&array, 1, NDR_SUM, &result, NULL));
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_MIN, &result, NULL));
  for (int reverse = 0; reverse < 2; reverse++) {
    out[0] = out[1] = out[2] = 9;
    assert_ok(ndr_scan(&array, 1, NDR_PROD, &longer, NDR_SCAN_OPTIONS(.include_initial = 1, .reverse = reverse)));
    ck_assert(out[0] == 1 && out[1] == 1 && out[2] == 1);
  }
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &other, NDR_SCAN_OPTIONS(.include_initial = 1)));
}
END_TEST

START_TEST(a_scalar_is_a_line_of_one) {
  float x = 5, out[4] = {9, 9, 9, 9};
  DLTensor array = ndr_tensor(&x, NDR_F32, 0, NULL), result = ndr_tensor(out, NDR_F32, 0, NULL);
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &result, NULL));
  ck_assert(out[0] == 5);
  DLTensor longer = ndr_tensor(out, NDR_F32, NDR_SHAPE(2));
  longer.strides = (int64_t[]){3};
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &longer, NDR_SCAN_OPTIONS(.include_initial = 1)));
  ck_assert(out[0] == 0 && out[1] == 9 && out[2] == 9 && out[3] == 5);
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NULL), NDR_ERR_DIMS, "dim 0 is out of range");
}
END_TEST

START_TEST(thirty_two_dims_are_scanned_along_any) {
  int64_t shape[NDR_MAX_DIMS];
  float x[4096], out[4096];
  for (int d = 0; d < NDR_MAX_DIMS; d++) shape[d] = d % 3 == 2 ? 2 : 1;
  for (int i = 0; i < 4096; i++) x[i] = 1;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_MAX_DIMS, shape), result = ndr_tensor(out, NDR_F32, NDR_MAX_DIMS, shape);
  assert_ok(ndr_scan(&array, 2, NDR_SUM, &result, NULL));
  ck_assert(out[0] == 1 && out[511] == 1 && out[512] == 2 && out[1023] == 2);
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &result, NULL));
  ck_assert(out[1023] == 1024);
}
END_TEST

/* ---- in place, and overlap ---- */

START_TEST(in_place_is_the_same_address_and_strides) {
  float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  int64_t three_by_two[] = {3, 2}, wide[] = {4, 1}, turned[] = {1, 3};
  DLTensor array = ndr_tensor(x, NDR_F32, 2, three_by_two), result = array;
  array.strides = result.strides = wide;
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, NULL));
  ck_assert(x[0] == 1 && x[4] == 6 && x[8] == 15 && x[9] == 18 && x[2] == 3 && x[6] == 7);
  result.data = x + 2; /* between the elements */
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, NULL));
  ck_assert(x[2] == 1 && x[6] == 7 && x[10] == 22 && x[0] == 1 && x[8] == 15);
  result.data = x + 1;
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NULL), NDR_ERR_ARGUMENT, "overlaps the array");
  result.data = x;
  result.strides = turned;
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NULL), NDR_ERR_ARGUMENT, "overlaps the array");
  int32_t *integers = (int32_t *)(void *)x;
  DLTensor narrow = ndr_tensor(integers, NDR_I32, NDR_SHAPE(3)), sums = ndr_tensor(integers, NDR_I64, NDR_SHAPE(3));
  assert_fails(ndr_scan(&narrow, 0, NDR_SUM, &sums, NULL), NDR_ERR_ARGUMENT, "overlaps the array");
  DLTensor shorter = ndr_tensor(x, NDR_F32, NDR_SHAPE(5)), longer = ndr_tensor(x, NDR_F32, NDR_SHAPE(6));
  assert_fails(ndr_scan(&shorter, 0, NDR_SUM, &longer, NDR_SCAN_OPTIONS(.include_initial = 1)), NDR_ERR_ARGUMENT,
               "overlaps the array");
}
END_TEST

/* Their strides lead nowhere, and products with them would overflow. */
START_TEST(strides_of_single_elements_are_any_number) {
  float x[3] = {1, 2, 3}, out[3] = {9, 9, 9};
  int64_t row[] = {1, 3}, none[] = {0, 3}, most[] = {INT64_MAX, 1}, least[] = {INT64_MIN, 1}, wide[] = {1, INT64_MAX};
  DLTensor array = ndr_tensor(x, NDR_F32, 2, row), result = ndr_tensor(out, NDR_F32, 2, row);
  array.strides = most;
  result.strides = least;
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, NDR_SCAN_OPTIONS(.reverse = 1)));
  ck_assert(out[0] == 1 && out[1] == 2 && out[2] == 3);
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &result, NULL));
  ck_assert(out[0] == 1 && out[1] == 3 && out[2] == 6);
  array.shape = none;
  assert_ok(ndr_scan(&array, 0, NDR_PROD, &result, NDR_SCAN_OPTIONS(.reverse = 1, .include_initial = 1)));
  ck_assert(out[0] == 1 && out[1] == 1 && out[2] == 1);
  array.strides = wide;
  array.shape = (int64_t[]){0, 1};
  result = ndr_tensor(out, NDR_F32, NDR_SHAPE(1));
  result.strides = least;
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &result, NDR_SCAN_OPTIONS(.reverse = 1, .include_initial = 1)));
  ck_assert(out[0] == 0 && out[1] == 1);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(bad_arguments_are_named) {
  float x[6] = {0}, out[7];
  double half = 0.5;
  int64_t sums[6];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2, 3));
  DLTensor integers = ndr_tensor(x, NDR_I32, NDR_SHAPE(6)), wide = ndr_tensor(sums, NDR_I64, NDR_SHAPE(6));
  DLTensor complex = ndr_tensor(x, NDR_C64, NDR_SHAPE(3)), far = array, flat = ndr_tensor(out, NDR_F32, NDR_SHAPE(6));
  ndr_scan_options none = NDR_SCAN_OPTIONS_INIT;
  far.device.device_type = kDLVulkan;
  none.size = 3;
  ndr_scan_options cut = NDR_SCAN_OPTIONS_INIT, first = cut;
  cut.size = offsetof(ndr_scan_options, initial) + 4;
  first.size = offsetof(ndr_scan_options, initial);
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, &cut), NDR_ERR_ARGUMENT, "options.size is 28, which no version");
  assert_ok(ndr_scan(&array, 0, NDR_SUM, &result, &first));
  assert_fails(ndr_scan(NULL, 0, NDR_SUM, &result, NULL), NDR_ERR_ARGUMENT, "array is a null pointer");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, NULL, NULL), NDR_ERR_ARGUMENT, "result is a null pointer");
  assert_fails(ndr_scan(&array, 2, NDR_SUM, &result, NULL), NDR_ERR_DIMS, "dim 2 is out of range");
  assert_fails(ndr_scan(&array, -3, NDR_SUM, &result, NULL), NDR_ERR_DIMS, "dim -3 is out of range");
  assert_fails(ndr_scan(&array, 0, NDR_MEAN, &result, NULL), NDR_ERR_OP, "mean has no scan: sum, prod, min");
  assert_fails(ndr_scan(&array, 0, NDR_ARGMAX, &wide, NULL), NDR_ERR_OP, "argmax has no scan");
  assert_fails(ndr_scan(&array, 0, (ndr_op)77, &result, NULL), NDR_ERR_OP, "77");
  assert_fails(ndr_scan(&complex, 0, NDR_MAX, &complex, NULL), NDR_ERR_OP, "max is not defined for c64");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &wide, NULL), NDR_ERR_RESULT, "dtype i64, must be f32");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &flat, NULL), NDR_ERR_RESULT, "shape [6], must be [2,3]");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NDR_SCAN_OPTIONS(.include_initial = 1)), NDR_ERR_RESULT,
               "must be [3,3]");
  assert_fails(ndr_scan(&array, NDR_SCAN_ALL, NDR_SUM, &result, NDR_SCAN_OPTIONS(.include_initial = 1)), NDR_ERR_RESULT,
               "must be [7]");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &far, NULL), NDR_ERR_RESULT, "on vulkan:0, the array on cpu:0");
  assert_fails(ndr_scan(&far, 0, NDR_SUM, &result, NULL), NDR_ERR_NO_DEVICE, "vulkan");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, &none), NDR_ERR_ARGUMENT, "NDR_SCAN_OPTIONS_INIT");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NDR_SCAN_OPTIONS(.exclusive = 1, .include_initial = 1)),
               NDR_ERR_ARGUMENT, "exclusive and include_initial are both set");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NDR_SCAN_OPTIONS(.threads = -1)), NDR_ERR_ARGUMENT,
               "threads is -1");
  assert_fails(ndr_scan(&integers, 0, NDR_SUM, &wide, NDR_SCAN_OPTIONS(.initial = &half)), NDR_ERR_ARGUMENT,
               "initial is 0.5, which the result of sum, i64, cannot hold");
  assert_fails(ndr_scan(&array, 0, NDR_LOGSUMEXP, &result, NDR_SCAN_OPTIONS(.initial = &half)), NDR_ERR_OP,
               "logsumexp has no initial value");
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NDR_SCAN_OPTIONS(.force_family = "tile")), NDR_ERR_UNSUPPORTED,
               "no family 'tile' for scans; it has lines, lanes, programs, scalar");
  assert_fails(ndr_scan(&integers, 0, NDR_SUM, &wide, NDR_SCAN_OPTIONS(.force_family = "lanes")), NDR_ERR_UNSUPPORTED,
               "lanes cannot run this scan: there is one line");
}
END_TEST

START_TEST(bad_layouts_are_named) {
  float x[6] = {0}, out[6];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(6)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(6)), odd = array;
  result.strides = (int64_t[]){0};
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NULL), NDR_ERR_RESULT, "stride 0: its elements overlap");
  result.strides = NULL;
  result.data = NULL;
  assert_fails(ndr_scan(&array, 0, NDR_SUM, &result, NULL), NDR_ERR_ARGUMENT, "the result has no data");
  odd.byte_offset = 2;
  result.data = out;
  assert_fails(ndr_scan(&odd, 0, NDR_SUM, &result, NULL), NDR_ERR_ARGUMENT, "multiple of 4");
  odd.byte_offset = (uint64_t)1 << 63;
  assert_fails(ndr_scan(&odd, 0, NDR_SUM, &result, NULL), NDR_ERR_ARGUMENT, "the array's byte_offset");
  int64_t large[] = {INT64_C(1) << 61};
  DLTensor vast = ndr_tensor(x, NDR_BOOL, 1, large);
  vast.strides = (int64_t[]){0};
  int64_t shape[NDR_MAX_DIMS];
  DLTensor form = {.shape = shape};
  assert_fails(ndr_scan_describe(&vast, 0, NDR_SUM, NULL, &form), NDR_ERR_OVERFLOW, "result of sum does not fit");
  assert_fails(ndr_scan_describe(&array, 0, NDR_SUM, NULL, NULL), NDR_ERR_ARGUMENT, "no room for a shape");
}
END_TEST

/* ---- plans ---- */

START_TEST(a_plan_runs_again_with_the_workspace_it_names) {
  enum { N = 300000 };
  float *x = malloc(N * sizeof *x), *out = malloc(N * sizeof *out);
  const void *data[] = {x};
  ndr_scan_plan *plan;
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(N));
  for (int i = 0; i < N; i++) x[i] = 1;
  assert_ok(ndr_scan_plan_create(&plan, &array, 0, NDR_SUM, NULL, NDR_SCAN_OPTIONS(.threads = 3)));
  size_t bytes = ndr_scan_plan_workspace(plan);
  ck_assert_uint_gt(bytes, 0);
  char *workspace = aligned_alloc(256, (bytes + 255) / 256 * 256);
  for (int round = 0; round < 3; round++) {
    memset(workspace, 0xa5 + round, bytes);
    memset(out, 0, N * sizeof *out);
    assert_ok(ndr_scan_plan_execute(plan, data, out, round == 2 ? NULL : workspace, round == 2 ? 0 : bytes, NULL));
    ck_assert(out[0] == 1 && out[255] == 256 && out[256] == 257 && out[N - 1] == N);
  }
  assert_fails(ndr_scan_plan_execute(plan, data, out, workspace, bytes - 1, NULL), NDR_ERR_ARGUMENT, "the plan needs");
  assert_fails(ndr_scan_plan_execute(plan, data, out, workspace + 4, bytes, NULL), NDR_ERR_ARGUMENT,
               "workspace's address");
  assert_fails(ndr_scan_plan_execute(plan, data, NULL, NULL, 0, NULL), NDR_ERR_ARGUMENT, "result is a null pointer");
  assert_fails(ndr_scan_plan_execute(plan, (const void *[]){NULL}, out, NULL, 0, NULL), NDR_ERR_ARGUMENT, "data[0]");
  assert_fails(ndr_scan_plan_execute(plan, NULL, out, NULL, 0, NULL), NDR_ERR_ARGUMENT, "null pointer");
  assert_fails(ndr_scan_plan_execute(plan, data, x + 1, NULL, 0, NULL), NDR_ERR_ARGUMENT, "overlaps the array");
  assert_fails(ndr_scan_plan_execute(NULL, data, out, NULL, 0, NULL), NDR_ERR_ARGUMENT, "null pointer");
  ndr_scan_plan_destroy(plan);
  free(workspace);
  free(x);
  free(out);
}
END_TEST

/* A pool has 1024 threads at most; each has memory of its own for an operator of one's own. */
START_TEST(threads_that_cannot_be_take_no_memory) {
  size_t bytes[2];
  ndr_op mean;
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(100000, 4000));
  assert_ok(ndr_operator_create(&mean, "mean(x): s += x, n += 1 -> s / n", NULL, 0));
  for (int i = 0; i < 2; i++) {
    ndr_scan_plan *plan;
    assert_ok(ndr_scan_plan_create(&plan, &array, 1, mean, NULL, NDR_SCAN_OPTIONS(.threads = i ? 1024 : INT32_MAX)));
    bytes[i] = ndr_scan_plan_workspace(plan);
    ndr_scan_plan_destroy(plan);
  }
  ck_assert_uint_eq(bytes[0], bytes[1]);
  ndr_operator_destroy(mean);
}
END_TEST

START_TEST(a_plan_describes_itself) {
  char text[1024], small[8];
  ndr_scan_plan *plan;
  double two = 2;
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(4096, 64));
  assert_ok(ndr_scan_plan_create(&plan, &array, -2, NDR_SUM, NULL,
                                 NDR_SCAN_OPTIONS(.reverse = 1, .initial = &two, .threads = 1)));
  size_t length = ndr_scan_plan_describe(plan, text, sizeof text);
  const char *expected = "scan sum f32 [4096,64] along 0 reverse initial=2 on cpu\n"
                         "lanes   64 lines x 4096, tiles of 64 lines, 16 runs of 256, workspace 0 B\n"
                         "lines   slower: predicted ";
  ck_assert_msg(strncmp(text, expected, strlen(expected)) == 0, "%s", text);
  ck_assert(length == strlen(text) && ndr_scan_plan_describe(plan, small, sizeof small) == length);
  ck_assert(strcmp(small, "scan su") == 0 && ndr_scan_plan_describe(NULL, small, 8) == 0 && small[0] == 0);
  ndr_scan_plan_destroy(plan);
  ndr_scan_plan_destroy(NULL);
  ck_assert(ndr_scan_plan_workspace(NULL) == 0);
  array.shape = (int64_t[]){4, 0};
  assert_ok(ndr_scan_plan_create(&plan, &array, 1, NDR_SUM, NULL, NULL));
  ndr_scan_plan_describe(plan, text, sizeof text);
  ck_assert_msg(strstr(text, "nothing to do") != NULL, "%s", text);
  assert_ok(ndr_scan_plan_execute(plan, (const void *[]){NULL}, NULL, NULL, 0, NULL));
  ndr_scan_plan_destroy(plan);
}
END_TEST

START_TEST(failing_to_plan_leaves_null) {
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(4));
  ndr_scan_plan *plan = (ndr_scan_plan *)(void *)&array;
  assert_fails(ndr_scan_plan_create(&plan, &array, 1, NDR_SUM, NULL, NULL), NDR_ERR_DIMS, "dim 1");
  ck_assert_ptr_null(plan);
  assert_fails(ndr_scan_plan_create(NULL, &array, 0, NDR_SUM, NULL, NULL), NDR_ERR_ARGUMENT, "plan is a null pointer");
  array.device.device_id = 3;
  assert_fails(ndr_scan_plan_create(&plan, &array, 0, NDR_SUM, NULL, NULL), NDR_ERR_NO_DEVICE, "no CPU device 3");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api scan");
  suite_case(suite, "options", 30, options_move_and_begin, nan_wins_unless_it_is_skipped,
             infinities_follow_from_addition, NULL);
  suite_case(suite, "dtypes", 60, results_have_the_dtypes_of_numpy, integers_wrap,
             ones_are_counted_right_at_every_place, products_of_floats_go_one_after_the_other,
             running_sums_of_what_is_not_negative_never_decrease, NULL);
  suite_case(suite, "shapes", 30, all_elements_go_in_row_major_order, no_elements_have_no_results_or_the_first,
             a_scalar_is_a_line_of_one, thirty_two_dims_are_scanned_along_any, in_place_is_the_same_address_and_strides,
             strides_of_single_elements_are_any_number, NULL);
  suite_case(suite, "refused", 30, bad_arguments_are_named, bad_layouts_are_named, NULL);
  suite_case(suite, "plans", 30, a_plan_runs_again_with_the_workspace_it_names, threads_that_cannot_be_take_no_memory,
             a_plan_describes_itself, failing_to_plan_leaves_null, NULL);
  return suite_run(suite);
}
