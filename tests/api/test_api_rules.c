/* The result rules of the public header, one by one, on numbers small enough to work out by hand. */
#include <math.h>

#include "support/reduce.h"
#include "support/suite.h"

#define VALUES(...) ((const double[]){__VA_ARGS__})
#define INF ((double)INFINITY)

static ndr_dtype result_dtype(const char *text) {
  ndr_problem c = NDR_PROBLEM_INIT;
  ndr_dtype dtype = NDR_BOOL;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor result = {.shape = shape};
  assert_ok(ndr_problem_parse(text, &c));
  DLTensor array = {.ndim = c.ndim, .dtype = ndr_dtype_to_dlpack(c.dtype), .shape = c.shape};
  array.device.device_type = kDLCPU;
  assert_ok(ndr_result_describe(&array, c.dim_count, c.dims, c.ops[0], NULL, &result));
  assert_ok(ndr_dtype_from_dlpack(result.dtype, &dtype));
  return dtype;
}

START_TEST(sums_of_signed_integers_are_i64) {
  ck_assert_int_eq(result_dtype("sum i8 [3] /0"), NDR_I64);
  assert_reduces("sum i8 [3] /0", VALUES(127, 127, -128), VALUES(126));
  assert_reduces("sum i16 [2,2] /0", VALUES(-32768, 1, -32768, 2), VALUES(-65536, 3));
}
END_TEST

START_TEST(sums_of_unsigned_integers_are_u64) {
  ck_assert_int_eq(result_dtype("sum u8 [3] /0"), NDR_U64);
  assert_reduces("sum u8 [3] /0", VALUES(255, 255, 255), VALUES(765));
  assert_reduces("sum u32 [2] /0", VALUES(4294967295.0, 4294967295.0), VALUES(8589934590.0));
}
END_TEST

START_TEST(sums_of_bool_count) {
  ck_assert_int_eq(result_dtype("sum bool [3] /0"), NDR_U64);
  assert_reduces("sum bool [4] /0", VALUES(1, 0, 1, 1), VALUES(3));
}
END_TEST

START_TEST(integer_sums_wrap_around) {
  int64_t x[] = {INT64_MAX, 1}, sum = 0;
  uint64_t y[] = {UINT64_MAX, 3}, total = 0;
  DLTensor a = ndr_tensor(x, NDR_I64, NDR_SHAPE(2)), b = ndr_tensor(y, NDR_U64, NDR_SHAPE(2));
  DLTensor signed_sum = {&sum, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  DLTensor unsigned_sum = {&total, {kDLCPU, 0}, 0, {kDLUInt, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&a, NDR_ALL_DIMS, NDR_SUM, &signed_sum, NULL));
  assert_ok(ndreduce(&b, NDR_ALL_DIMS, NDR_SUM, &unsigned_sum, NULL));
  ck_assert_int_eq(sum, INT64_MIN);
  ck_assert_uint_eq(total, 2);
}
END_TEST

START_TEST(sums_of_floats_keep_their_dtype) {
  ck_assert_int_eq(result_dtype("sum f16 [3] /0"), NDR_F16);
  ck_assert_int_eq(result_dtype("sum c64 [3] /0"), NDR_C64);
  assert_reduces("sum f32 [3] /0", VALUES(1.5, -2, 0.25), VALUES(-0.25));
}
END_TEST

/* 2048 + 1 is 2048 in f16, and 256 + 1 is 256 in bf16. */
START_TEST(halves_are_accumulated_wider_and_rounded_once) {
  assert_reduces("sum f16 [5] /0", VALUES(2048, 1, 1, 1, 1), VALUES(2052));
  assert_reduces("sum bf16 [5] /0", VALUES(256, 1, 1, 1, 1), VALUES(260));
  assert_reduces("mean f16 [4] /0", VALUES(60000, 60000, 60000, 60000), VALUES(60000));
}
END_TEST

START_TEST(sums_that_do_not_fit_a_half_are_infinite) {
  assert_reduces("sum f16 [2] /0", VALUES(60000, 60000), VALUES(INF));
}
END_TEST

START_TEST(products_follow_the_rules_of_sums) {
  ck_assert_int_eq(result_dtype("prod i32 [3] /0"), NDR_I64);
  ck_assert_int_eq(result_dtype("prod bool [3] /0"), NDR_U64);
  ck_assert_int_eq(result_dtype("prod bf16 [3] /0"), NDR_BF16);
  assert_reduces("prod i8 [3] /0", VALUES(100, -100, 100), VALUES(-1000000));
  assert_reduces("prod bool [3] /0", VALUES(1, 0, 1), VALUES(0));
  assert_reduces("prod f64 [2,2] /1", VALUES(1.5, 2, -3, 0.5), VALUES(3, -1.5));
}
END_TEST

START_TEST(min_and_max_keep_the_dtype) {
  ck_assert_int_eq(result_dtype("min bool [3] /0"), NDR_BOOL);
  ck_assert_int_eq(result_dtype("max u16 [3] /0"), NDR_U16);
  assert_reduces("min i16 [4] /0", VALUES(3, -7, 5, -6), VALUES(-7));
  assert_reduces("max u8 [4] /0", VALUES(3, 200, 5, 6), VALUES(200));
  assert_reduces("max f32 [4] /0", VALUES(-3, -INF, -5, -6), VALUES(-3));
  assert_reduces("min bool [3] /0", VALUES(1, 0, 1), VALUES(0));
  assert_reduces("max bool [3] /0", VALUES(0, 0, 1), VALUES(1));
}
END_TEST

START_TEST(min_and_max_propagate_nan) {
  assert_reduces("min f32 [2,3] /1", VALUES(1, NAN, -INF, 4, 5, 6), VALUES(NAN, 4));
  assert_reduces("max f64 [2,3] /1", VALUES(1, 2, INF, NAN, 5, 6), VALUES(INF, NAN));
  assert_reduces("max f16 [3] /0", VALUES(1, 2, NAN), VALUES(NAN));
}
END_TEST

START_TEST(arg_ops_give_i64_and_the_lowest_index_of_equals) {
  ck_assert_int_eq(result_dtype("argmin f16 [3] /0"), NDR_I64);
  assert_reduces("argmin i8 [6] /0", VALUES(4, 1, 3, 1, 1, 2), VALUES(1));
  assert_reduces("argmax u64 [6] /0", VALUES(4, 1, 4, 1, 4, 2), VALUES(0));
  assert_reduces("argmax bool [4] /0", VALUES(0, 0, 1, 1), VALUES(2));
  assert_reduces("argmax f32 [3] /0", VALUES(-INF, -INF, -INF), VALUES(0));
}
END_TEST

START_TEST(the_first_nan_is_the_extreme) {
  assert_reduces("argmin f32 [5] /0", VALUES(-INF, NAN, -8, NAN, 2), VALUES(1));
  assert_reduces("argmax f64 [5] /0", VALUES(INF, 3, -8, NAN, NAN), VALUES(3));
}
END_TEST

/* [2,3,2] over 0 and 2: the flattened index is 2 i + k, whatever order the dims are named in. */
START_TEST(arg_indices_are_row_major_over_the_reduced_dims) {
  const double *x = VALUES(0, 1, 9, 3, 4, 5, 6, 7, 8, 2, 9, 9);
  assert_reduces("argmax f32 [2,3,2] /0,2", x, VALUES(3, 0, 2));
  assert_reduces("argmax f32 [2,3,2] /2,0", x, VALUES(3, 0, 2));
  assert_reduces("argmax f32 [2,3,2] /all", x, VALUES(2));
}
END_TEST

START_TEST(means_of_integers_are_f64) {
  ck_assert_int_eq(result_dtype("mean i32 [3] /0"), NDR_F64);
  ck_assert_int_eq(result_dtype("mean bool [3] /0"), NDR_F64);
  ck_assert_int_eq(result_dtype("mean f32 [3] /0"), NDR_F32);
  ck_assert_int_eq(result_dtype("mean c64 [3] /0"), NDR_C64);
  assert_reduces("mean u8 [4] /0", VALUES(1, 2, 3, 4), VALUES(2.5));
  assert_reduces("mean bool [4] /0", VALUES(1, 0, 0, 0), VALUES(0.25));
}
END_TEST

START_TEST(variances_divide_by_n_minus_ddof) {
  ck_assert_int_eq(result_dtype("var i8 [3] /0"), NDR_F64);
  ck_assert_int_eq(result_dtype("var c64 [3] /0"), NDR_F32);
  ck_assert_int_eq(result_dtype("std c128 [3] /0"), NDR_F64);
  assert_reduces("var f64 [4] /0", VALUES(1, 3, 5, 7), VALUES(5));
  assert_reduces("var f64 [2] /0 ddof=1", VALUES(1, 5), VALUES(8));
  assert_reduces("std i32 [4] /0 ddof=2", VALUES(0, 4, 0, 4), VALUES(sqrt(8)));
}
END_TEST

START_TEST(a_divisor_below_zero_counts_as_zero) {
  assert_reduces("var f64 [1] /0 ddof=1", VALUES(3), VALUES(NAN));
  assert_reduces("var f64 [2] /0 ddof=2", VALUES(1, 3), VALUES(INF));
  assert_reduces("var f64 [2] /0 ddof=5", VALUES(1, 3), VALUES(INF));
  assert_reduces("std f32 [2] /0 ddof=5", VALUES(1, 3), VALUES(INF));
}
END_TEST

START_TEST(the_variance_of_an_infinity_is_nan) {
  assert_reduces("var f64 [1] /0", VALUES(INF), VALUES(NAN));
  assert_reduces("var f32 [4] /0", VALUES(1, INF, 2, 3), VALUES(NAN));
  assert_reduces("std f64 [2,2] /0", VALUES(1, -INF, 2, 3), VALUES(0.5, NAN));
}
END_TEST

START_TEST(ptp_is_max_minus_min) {
  ck_assert_int_eq(result_dtype("ptp u8 [3] /0"), NDR_U8);
  ck_assert_int_eq(result_dtype("ptp bf16 [3] /0"), NDR_BF16);
  ck_assert_int_eq(result_dtype("ptp bool [3] /0"), NDR_BOOL);
  assert_reduces("ptp f64 [2,3] /1", VALUES(-8, 4, 7, 5, 5, 5), VALUES(15, 0));
  assert_reduces("ptp u8 [3] /0", VALUES(255, 0, 7), VALUES(255));
  assert_reduces("ptp bool [2,2] /1", VALUES(1, 1, 0, 1), VALUES(0, 1));
  assert_reduces("ptp f32 [3,2] /0", VALUES(-8, INF, NAN, INF, 7, INF), VALUES(NAN, NAN));
  assert_reduces("ptp f16 [2] /0", VALUES(-INF, 4), VALUES(INF));
}
END_TEST

/* As NumPy's, which subtracts in the dtype of the elements. */
START_TEST(ptp_of_integers_wraps) {
  assert_reduces("ptp i8 [2] /0", VALUES(-128, 127), VALUES(-1));
  assert_reduces("ptp i64 [2] /0", VALUES(-9223372036854775808.0, 0), VALUES(-9223372036854775808.0));
}
END_TEST

START_TEST(norms_are_real) {
  ck_assert_int_eq(result_dtype("norm1 i8 [3] /0"), NDR_F64);
  ck_assert_int_eq(result_dtype("norm2 c64 [3] /0"), NDR_F32);
  ck_assert_int_eq(result_dtype("norminf bf16 [3] /0"), NDR_BF16);
  assert_reduces("norm1 i8 [3] /0", VALUES(-128, 100, -1), VALUES(229));
  assert_reduces("norm2 f32 [2] /0", VALUES(-3, 4), VALUES(5));
  assert_reduces("norm2 u8 [2] /0", VALUES(30, 40), VALUES(50));
  assert_reduces("norminf f64 [3] /0", VALUES(-8, 4, 7), VALUES(8));
  assert_reduces("norminf i64 [2] /0", VALUES(-9223372036854775808.0, 4), VALUES(9223372036854775808.0));
  assert_reduces("norminf f32 [3] /0", VALUES(-8, NAN, 7), VALUES(NAN));
}
END_TEST

START_TEST(norms_of_complex_take_magnitudes) {
  double x[] = {3, 4, 0, -5}, norm = 0;
  static const struct {
    ndr_op op;
    double expected;
  } norms[] = {{NDR_NORM1, 10}, {NDR_NORM2, 7.0710678118654752}, {NDR_NORMINF, 5}};
  DLTensor array = ndr_tensor(x, NDR_C128, NDR_SHAPE(2));
  DLTensor result = {&norm, {kDLCPU, 0}, 0, {kDLFloat, 64, 1}, NULL, NULL, 0};
  for (int i = 0; i < 3; i++) {
    assert_ok(ndreduce(&array, NDR_ALL_DIMS, norms[i].op, &result, NULL));
    ck_assert_double_eq_tol(norm, norms[i].expected, 8e-15);
  }
}
END_TEST

START_TEST(complex_sums_products_and_variances) {
  float x[] = {1, 2, 3, -1}, out[2], variance;
  DLTensor array = ndr_tensor(x, NDR_C64, NDR_SHAPE(2));
  DLTensor result = {out, {kDLCPU, 0}, 0, {kDLComplex, 64, 1}, NULL, NULL, 0};
  DLTensor real = {&variance, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  ck_assert(out[0] == 4 && out[1] == 1);
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_PROD, &result, NULL));
  ck_assert(out[0] == 5 && out[1] == 5);
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_MEAN, &result, NULL));
  ck_assert(out[0] == 2 && out[1] == 0.5F);
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_VAR, &real, NULL));
  ck_assert(variance == 1 + 2.25F);
}
END_TEST

START_TEST(logsumexp_is_stable) {
  ck_assert_int_eq(result_dtype("logsumexp i16 [3] /0"), NDR_F64);
  ck_assert_int_eq(result_dtype("logsumexp f16 [3] /0"), NDR_F16);
  assert_reduces("logsumexp f64 [1] /0", VALUES(-4321), VALUES(-4321));
  assert_reduces("logsumexp f32 [2] /0", VALUES(30000, -30000), VALUES(30000));
  assert_reduces("logsumexp f64 [2] /0", VALUES(-INF, -INF), VALUES(-INF));
  assert_reduces("logsumexp f64 [3] /0", VALUES(-INF, INF, 3), VALUES(INF));
  assert_reduces("logsumexp f64 [2] /0", VALUES(NAN, INF), VALUES(NAN));
}
END_TEST

START_TEST(any_all_and_count_look_at_truth) {
  ck_assert_int_eq(result_dtype("any f32 [3] /0"), NDR_BOOL);
  ck_assert_int_eq(result_dtype("all c128 [3] /0"), NDR_BOOL);
  ck_assert_int_eq(result_dtype("count u8 [3] /0"), NDR_I64);
  assert_reduces("any i32 [2,3] /1", VALUES(0, 0, 0, 0, -2, 0), VALUES(0, 1));
  assert_reduces("all i32 [2,3] /1", VALUES(1, 2, 0, 4, 5, 6), VALUES(0, 1));
  assert_reduces("count f32 [2,3] /1", VALUES(1, 0, -0.0, 4, 5, 6), VALUES(1, 3));
}
END_TEST

START_TEST(nan_counts_as_true) {
  assert_reduces("any f32 [2] /0", VALUES(0, NAN), VALUES(1));
  assert_reduces("all f64 [2] /0", VALUES(1, NAN), VALUES(1));
  assert_reduces("count f16 [3] /0", VALUES(0, NAN, 1), VALUES(2));
}
END_TEST

START_TEST(valid_counts_what_is_not_nan) {
  ck_assert_int_eq(result_dtype("valid f16 [3] /0"), NDR_I64);
  ck_assert_int_eq(result_dtype("valid c64 [3] /0"), NDR_I64);
  assert_reduces("valid f32 [2,3] /1", VALUES(0, -0.0, NAN, INF, -INF, 1e-45), VALUES(2, 3));
  assert_reduces("valid f64 [3,2] /0", VALUES(NAN, 1, NAN, NAN, 0, NAN), VALUES(1, 1));
  assert_reduces("valid f32 [2,3] /1 skipnan", VALUES(0, 1, NAN, NAN, NAN, NAN), VALUES(2, 0));
  assert_reduces("valid bool [3] /0", VALUES(0, 1, 0), VALUES(3));
  assert_reduces("valid i8 [2,2] /0 skipnan", VALUES(0, 0, -1, 1), VALUES(2, 2));
  assert_reduces("valid u64 [3] /", VALUES(0, 0, 7), VALUES(1, 1, 1));
}
END_TEST

START_TEST(a_complex_number_is_nan_by_either_part) {
  const float x[][2] = {{1, 2}, {NAN, 0}, {0, NAN}, {NAN, NAN}, {0, 0}, {INFINITY, NAN}};
  const double y[][2] = {{NAN, 2}, {0, 0}, {0, NAN}};
  int64_t count = -1;
  DLTensor narrow = ndr_tensor((void *)(uintptr_t)x, NDR_C64, NDR_SHAPE(6)),
           wide = ndr_tensor((void *)(uintptr_t)y, NDR_C128, NDR_SHAPE(3));
  DLTensor result = {&count, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&narrow, NDR_ALL_DIMS, NDR_VALID, &result, NULL));
  ck_assert_int_eq(count, 2);
  assert_ok(ndreduce(&wide, NDR_ALL_DIMS, NDR_VALID, &result, NULL));
  ck_assert_int_eq(count, 1);
}
END_TEST

/* Of every 16-bit pattern: infinity has one, and NaN all above it, of each sign. */
START_TEST(every_half_is_counted_as_what_it_is) {
  static const ndr_dtype dtypes[] = {NDR_F16, NDR_BF16};
  static const int64_t infinite[] = {0x7c00, 0x7f80};
  static uint16_t x[1 << 16];
  for (int i = 0; i < 1 << 16; i++) x[i] = (uint16_t)i;
  for (int f = 0; f < 2; f++) {
    int64_t valid = 2 * (infinite[f] + 1), nonzero = (1 << 16) - 2, counted = -1;
    DLTensor array = ndr_tensor(x, dtypes[f], NDR_SHAPE(1 << 16));
    DLTensor result = {&counted, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
    for (int skip = 0; skip <= 1; skip++) {
      ndr_options options = NDR_OPTIONS_INIT;
      options.skip_nan = skip;
      assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_VALID, &result, &options));
      ck_assert_int_eq(counted, valid);
      assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_COUNT, &result, &options));
      ck_assert_int_eq(counted, skip ? valid - 2 : nonzero);
    }
  }
}
END_TEST

/* Any byte but 0 is true. */
START_TEST(bool_bytes_other_than_one_are_true) {
  uint8_t x[] = {2, 0, 255, 1}, any = 9, all = 9;
  int64_t count = -1;
  DLTensor array = ndr_tensor(x, NDR_BOOL, NDR_SHAPE(4));
  DLTensor truth = {&any, {kDLCPU, 0}, 0, {6, 8, 1}, NULL, NULL, 0};
  DLTensor number = {&count, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_ANY, &truth, NULL));
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_COUNT, &number, NULL));
  truth.data = &all;
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_ALL, &truth, NULL));
  ck_assert_int_eq(any, 1);
  ck_assert_int_eq(all, 0);
  ck_assert_int_eq(count, 3);
}
END_TEST

START_TEST(f64_accumulation_keeps_what_f32_loses) {
  assert_reduces("sum f32 [3] /0 acc=f64", VALUES(16777216, 1, -16777216), VALUES(1));
  assert_reduces("sum f32 [3,2] /0 acc=f64", VALUES(16777216, 1, 1, 1, -16777216, 1), VALUES(1, 3));
}
END_TEST

/* ---- skip_nan ---- */

START_TEST(skip_nan_leaves_nan_out) {
  const double *x = VALUES(1, NAN, 5, NAN, 4, NAN);
  assert_reduces("sum f32 [3,2] /0 skipnan", x, VALUES(10, 0));
  assert_reduces("prod f32 [3,2] /0 skipnan", x, VALUES(20, 1));
  assert_reduces("min f32 [3,2] /0 skipnan", x, VALUES(1, NAN));
  assert_reduces("max f32 [3,2] /0 skipnan", x, VALUES(5, NAN));
  assert_reduces("argmin f32 [3,2] /0 skipnan", x, VALUES(0, -1));
  assert_reduces("argmax f32 [3,2] /0 skipnan", x, VALUES(1, -1));
  assert_reduces("mean f64 [3,2] /0 skipnan", VALUES(1, NAN, NAN, NAN, 4, NAN), VALUES(2.5, NAN));
  assert_reduces("var f64 [3,2] /0 skipnan", VALUES(1, NAN, NAN, NAN, 5, NAN), VALUES(4, NAN));
  assert_reduces("var f64 [3,2] /0 skipnan ddof=1", VALUES(1, NAN, NAN, 3, 5, NAN), VALUES(8, NAN));
  assert_reduces("norm1 f32 [3,2] /0 skipnan", x, VALUES(10, 0));
  assert_reduces("norm2 f32 [2,2] /0 skipnan", VALUES(-3, NAN, NAN, NAN), VALUES(3, 0));
  assert_reduces("norminf f32 [3,2] /0 skipnan", x, VALUES(5, 0));
  assert_reduces("logsumexp f32 [2,2] /0 skipnan", VALUES(3, NAN, NAN, NAN), VALUES(3, -INF));
  assert_reduces("ptp f32 [3,2] /0 skipnan", x, VALUES(4, NAN));
  assert_reduces("any f32 [3,2] /0 skipnan", x, VALUES(1, 0));
  assert_reduces("all f32 [3,2] /0 skipnan", x, VALUES(1, 1));
  assert_reduces("count f32 [3,2] /0 skipnan", x, VALUES(3, 0));
}
END_TEST

START_TEST(skip_nan_keeps_infinities) {
  assert_reduces("max f32 [3] /0 skipnan", VALUES(NAN, -INF, -INF), VALUES(-INF));
  assert_reduces("argmin f32 [3] /0 skipnan", VALUES(NAN, INF, INF), VALUES(1));
  assert_reduces("argmax f64 [3] /0 skipnan", VALUES(NAN, NAN, -INF), VALUES(2));
}
END_TEST

START_TEST(skip_nan_means_nothing_to_integers) {
  assert_reduces("argmin i8 [2] /0 skipnan", VALUES(127, 127), VALUES(0));
  assert_reduces("argmax u8 [2] /0 skipnan", VALUES(0, 0), VALUES(0));
  assert_reduces("argmax bool [2] /0 skipnan", VALUES(0, 0), VALUES(0));
  assert_reduces("sum i32 [2] /0 skipnan", VALUES(3, 4), VALUES(7));
}
END_TEST

/* ---- over no elements ---- */

#define assert_empty(op, dtype, expected)                                                                              \
  assert_reduces(op " " dtype " [2,0] /1", VALUES(0), VALUES(expected, expected))

START_TEST(the_empty_sum_is_0) {
  assert_empty("sum", "f32", 0);
  assert_empty("sum", "i8", 0);
  assert_empty("sum", "c64", 0);
}
END_TEST

START_TEST(the_empty_product_is_1) {
  assert_empty("prod", "f16", 1);
  assert_empty("prod", "u64", 1);
  assert_empty("prod", "c128", 1);
}
END_TEST

START_TEST(the_empty_mean_is_nan) {
  assert_empty("mean", "f32", NAN);
  assert_empty("mean", "i32", NAN);
}
END_TEST

START_TEST(the_empty_variance_is_nan) {
  assert_empty("var", "f32", NAN);
  assert_empty("var", "u8", NAN);
  assert_empty("std", "c64", NAN);
}
END_TEST

START_TEST(empty_norms_are_0) {
  assert_empty("norm1", "f32", 0);
  assert_empty("norm2", "i8", 0);
  assert_empty("norminf", "c64", 0);
}
END_TEST

START_TEST(the_empty_logsumexp_is_minus_infinity) {
  assert_empty("logsumexp", "f32", -INF);
  assert_empty("logsumexp", "bool", -INF);
}
END_TEST

START_TEST(the_empty_any_is_false_and_all_true) {
  assert_empty("any", "f32", 0);
  assert_empty("all", "f32", 1);
  assert_empty("any", "bool", 0);
  assert_empty("all", "i64", 1);
}
END_TEST

START_TEST(the_empty_count_is_0) {
  assert_empty("count", "f64", 0);
  assert_empty("valid", "f32", 0);
  assert_empty("valid", "bool", 0);
}
END_TEST

START_TEST(the_empty_min_max_argmin_and_argmax_fail) {
  static const ndr_op ops[] = {NDR_MIN, NDR_MAX, NDR_ARGMIN, NDR_ARGMAX};
  int64_t results[2] = {11, 22};
  for (int i = 0; i < 4; i++) {
    for (int skip = 0; skip <= 1; skip++) {
      ndr_options options = NDR_OPTIONS_INIT;
      options.skip_nan = skip;
      DLTensor array = ndr_tensor(NULL, NDR_I64, NDR_SHAPE(2, 0)), result = ndr_tensor(results, NDR_I64, NDR_SHAPE(2));
      assert_fails(ndreduce(&array, NDR_DIMS(1), ops[i], &result, &options), NDR_ERR_EMPTY, ndr_op_name(ops[i]));
      ck_assert(results[0] == 11 && results[1] == 22);
    }
  }
}
END_TEST

/* No output, so no reduction over nothing. */
START_TEST(an_empty_result_is_no_empty_reduction) {
  assert_reduces("min f32 [0,2] /1", VALUES(0), VALUES(0));
  assert_reduces("argmax f32 [0,0] /1", VALUES(0), VALUES(0));
  assert_reduces("sum f32 [0,2] /1 keepdims", VALUES(0), VALUES(0));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api rules");
  suite_case(suite, "sum and prod", 30, sums_of_signed_integers_are_i64, sums_of_unsigned_integers_are_u64,
             sums_of_bool_count, integer_sums_wrap_around, sums_of_floats_keep_their_dtype,
             halves_are_accumulated_wider_and_rounded_once, sums_that_do_not_fit_a_half_are_infinite,
             products_follow_the_rules_of_sums, complex_sums_products_and_variances,
             f64_accumulation_keeps_what_f32_loses, NULL);
  suite_case(suite, "order", 30, min_and_max_keep_the_dtype, min_and_max_propagate_nan,
             arg_ops_give_i64_and_the_lowest_index_of_equals, the_first_nan_is_the_extreme,
             arg_indices_are_row_major_over_the_reduced_dims, NULL);
  suite_case(suite, "statistics", 30, means_of_integers_are_f64, variances_divide_by_n_minus_ddof,
             a_divisor_below_zero_counts_as_zero, the_variance_of_an_infinity_is_nan, ptp_is_max_minus_min,
             ptp_of_integers_wraps, norms_are_real, norms_of_complex_take_magnitudes, logsumexp_is_stable, NULL);
  suite_case(suite, "truth", 30, any_all_and_count_look_at_truth, nan_counts_as_true, valid_counts_what_is_not_nan,
             a_complex_number_is_nan_by_either_part, every_half_is_counted_as_what_it_is,
             bool_bytes_other_than_one_are_true, NULL);
  suite_case(suite, "skip_nan", 30, skip_nan_leaves_nan_out, skip_nan_keeps_infinities,
             skip_nan_means_nothing_to_integers, NULL);
  suite_case(suite, "empty", 30, the_empty_sum_is_0, the_empty_product_is_1, the_empty_mean_is_nan,
             the_empty_variance_is_nan, empty_norms_are_0, the_empty_logsumexp_is_minus_infinity,
             the_empty_any_is_false_and_all_true, the_empty_count_is_0, the_empty_min_max_argmin_and_argmax_fail,
             an_empty_result_is_no_empty_reduction, NULL);
  return suite_run(suite);
}
