/* Which dims, which shapes, which strides: every form that the public call takes. */
#include <math.h>
#include <stdlib.h>

#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

/* Runs one case of the mini-language on random data and holds it against the oracle. */
static void assert_case(const char *text) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  test_array array, result;
  rng random = {test_seed()};
  char message[512];
  assert_ok(ndr_problem_parse(text, &problem));
  ndr_options options = case_options(&problem);
  array_of_case(&array, &problem);
  array_fill(&array, &random, FILL_SMALL);
  assert_ok(case_reduce(&problem, 0, &array.tensor, &options, &result, &random));
  bool same = oracle_accepts(&problem, problem.ops[0], &array.tensor, &result.tensor, message, sizeof message);
  ck_assert_msg(same, "%s: %s", text, message);
  array_free(&array);
  array_free(&result);
}

START_TEST(options_may_be_named_in_the_call) {
  double x[] = {1, NAN, 5}, sum = 0;
  DLTensor array = ndr_tensor(x, NDR_F64, NDR_SHAPE(3)),
           result = {&sum, {kDLCPU, 0}, 0, {kDLFloat, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NDR_OPTIONS(.skip_nan = 1, .threads = 1)));
  ck_assert_double_eq(sum, 6);
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NDR_OPTIONS(.keepdims = 0)));
  ck_assert(isnan(sum));
}
END_TEST

START_TEST(the_example_of_the_header_works) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(3));
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL));
  ck_assert(sums[0] == 5 && sums[1] == 7 && sums[2] == 9);
}
END_TEST

START_TEST(the_macros_expand_to_what_they_say) {
  float x[4];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 2)), scalar = ndr_tensor(x, NDR_F64, 0, NULL);
  ck_assert(array.data == x && array.ndim == 2 && array.shape[0] == 2 && array.shape[1] == 2 && !array.strides);
  ck_assert(array.dtype.code == kDLFloat && array.dtype.bits == 32 && array.device.device_type == kDLCPU);
  ck_assert(scalar.ndim == 0 && scalar.dtype.bits == 64);
}
END_TEST

START_TEST(dims_may_be_negative_and_in_any_order) {
  double x[2][3][4], a[3], b[3];
  for (int i = 0; i < 24; i++) x[i / 12][i / 4 % 3][i % 4] = i * i;
  DLTensor array = ndr_tensor(x, NDR_F64, NDR_SHAPE(2, 3, 4)), first = ndr_tensor(a, NDR_F64, NDR_SHAPE(3)),
           second = first;
  second.data = b;
  assert_ok(ndreduce(&array, NDR_DIMS(0, 2), NDR_SUM, &first, NULL));
  assert_ok(ndreduce(&array, NDR_DIMS(-1, -3), NDR_SUM, &second, NULL));
  ck_assert(memcmp(a, b, sizeof a) == 0);
}
END_TEST

START_TEST(all_dims_give_a_scalar) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, sum = 0;
  int64_t ones[2] = {1, 1};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)),
           result = {&sum, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  ck_assert(sum == 21);
  ndr_options options = NDR_OPTIONS_INIT;
  options.keepdims = 1;
  result.ndim = 2;
  result.shape = ones;
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_MAX, &result, &options));
  ck_assert(sum == 6);
}
END_TEST

START_TEST(no_dims_map_each_element_by_itself) {
  int8_t x[3] = {-3, 0, 5};
  int64_t sums[3];
  uint8_t any[3];
  double variances[3] = {-1, -1, -1};
  DLTensor array = ndr_tensor(x, NDR_I8, NDR_SHAPE(3)), result = ndr_tensor(sums, NDR_I64, NDR_SHAPE(3));
  DLTensor truth = ndr_tensor(any, NDR_BOOL, NDR_SHAPE(3)), real = ndr_tensor(variances, NDR_F64, NDR_SHAPE(3));
  assert_ok(ndreduce(&array, 0, NULL, NDR_SUM, &result, NULL));
  ck_assert(sums[0] == -3 && sums[1] == 0 && sums[2] == 5);
  assert_ok(ndreduce(&array, 0, NULL, NDR_ARGMAX, &result, NULL));
  ck_assert(sums[0] == 0 && sums[1] == 0 && sums[2] == 0);
  assert_ok(ndreduce(&array, 0, NULL, NDR_ANY, &truth, NULL));
  ck_assert(any[0] == 1 && any[1] == 0 && any[2] == 1);
  assert_ok(ndreduce(&array, 0, NULL, NDR_VAR, &real, NULL));
  ck_assert(variances[0] == 0 && variances[2] == 0);
}
END_TEST

START_TEST(scalars_can_be_reduced) {
  assert_case("sum f32 [] /");
  assert_case("argmin i16 [] /all");
  assert_case("var c64 [] /all keepdims");
}
END_TEST

START_TEST(thirty_two_dims_can_be_reduced) {
  assert_case("sum f32 [2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,1,1,1,1,1,1,1,1,1,1,1,2] /0,4,8,31");
  assert_case("argmax i8 [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3,5] /all");
  /* every dim of size 2 with strides that do not merge: 14 axes that really are walked */
  assert_case("mean f64 [2:1,2:3,2:9,2:27,2:81,2:243,2:729,2:2187,2:6561,2:19683] /0,2,4,6,8 keepdims");
}
END_TEST

START_TEST(sizes_zero_and_one_are_sizes) {
  assert_case("sum f32 [0] /0");
  assert_case("sum f32 [3,0,2] /1");
  assert_case("sum f32 [3,0,2] /0");
  assert_case("max f32 [3,0,2] /0");
  assert_case("count i8 [0,0] /all");
  assert_case("min f32 [1,1,1] /0,2");
  assert_case("std f16 [1,7,1] /0,1 keepdims");
}
END_TEST

START_TEST(arrays_may_have_any_strides) {
  assert_case("sum f32 [7:1,9:7] /0");
  assert_case("sum f32 [7:1,9:7] /1");
  assert_case("sum f32 [7:-9,9:-1] /1");
  assert_case("max i32 [40:3,50:200] /0");
  assert_case("mean f64 [30:0,20:1] /0");
  assert_case("prod u8 [5:0,6:0] /all");
  assert_case("argmin f32 [6:-1,5:17,4:-100] /0,2");
  assert_case("sum bf16 [12:64,33:2] /1");
}
END_TEST

START_TEST(overlapping_windows_can_be_reduced) {
  assert_case("sum f64 [50:1,7:1] /1");
}
END_TEST

START_TEST(keepdims_keeps_ones_in_place) {
  float x[2][3][4] = {{{0}}}, out[3];
  int64_t shape[NDR_MAX_DIMS];
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3, 4)), described = {.shape = shape};
  options.keepdims = 1;
  assert_ok(ndr_result_describe(&array, NDR_DIMS(0, 2), NDR_SUM, &options, &described));
  ck_assert(described.ndim == 3 && shape[0] == 1 && shape[1] == 3 && shape[2] == 1);
  described.data = out;
  assert_ok(ndreduce(&array, NDR_DIMS(0, 2), NDR_SUM, &described, &options));
}
END_TEST

START_TEST(describe_fills_in_the_whole_tensor) {
  int64_t shape[NDR_MAX_DIMS];
  DLTensor array = ndr_tensor(NULL, NDR_I8, NDR_SHAPE(2, 3, 4)), described;
  memset(&described, 0x5a, sizeof described);
  described.shape = shape;
  assert_ok(ndr_result_describe(&array, NDR_DIMS(1), NDR_SUM, NULL, &described));
  ck_assert(described.data == NULL && described.strides == NULL && described.byte_offset == 0);
  ck_assert(described.ndim == 2 && described.shape == shape && shape[0] == 2 && shape[1] == 4);
  ck_assert(described.dtype.code == kDLInt && described.dtype.bits == 64 && described.dtype.lanes == 1);
  ck_assert(described.device.device_type == kDLCPU && described.device.device_id == 0);
}
END_TEST

START_TEST(byte_offsets_are_added) {
  float x[8] = {-1, -1, 1, 2, 3, 4, 5, 6}, out[4] = {-9, -9, -9, -9};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(3));
  array.byte_offset = 2 * sizeof *x;
  result.byte_offset = sizeof *out;
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL));
  ck_assert(out[0] == -9 && out[1] == 5 && out[2] == 7 && out[3] == 9);
  array.data = x + 4;
  array.byte_offset = -(uint64_t)(2 * sizeof *x);
  out[1] = out[2] = out[3] = 0;
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL));
  ck_assert(out[1] == 5 && out[2] == 7 && out[3] == 9);
}
END_TEST

/* Complex elements need the alignment of their parts alone. */
START_TEST(complex_data_may_sit_on_half_its_size) {
  float x[5] = {9, 1, 2, 3, 4}, out[3] = {0};
  DLTensor array = ndr_tensor(x + 1, NDR_C64, NDR_SHAPE(2));
  DLTensor result = {out + 1, {kDLCPU, 0}, 0, {kDLComplex, 64, 1}, NULL, NULL, 0};
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, NULL));
  ck_assert(out[1] == 4 && out[2] == 6);
}
END_TEST

START_TEST(result_strides_are_free_and_gaps_stay) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, out[9];
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(out + 8, NDR_F32, NDR_SHAPE(3));
  for (int i = 0; i < 9; i++) out[i] = -1;
  result.strides = (int64_t[]){-4};
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL));
  ck_assert(out[8] == 5 && out[4] == 7 && out[0] == 9);
  for (int i = 0; i < 9; i++) ck_assert(i % 4 == 0 || out[i] == -1);
}
END_TEST

/* Strides of reduced dims that keepdims leaves at size 1 say nothing, whatever they are. */
START_TEST(strides_of_size_one_do_not_count) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, out[2];
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2, 1));
  options.keepdims = 1;
  result.strides = (int64_t[]){1, 0};
  assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, &options));
  ck_assert(out[0] == 6 && out[1] == 15);
  result.strides = (int64_t[]){1, 123456};
  assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_MAX, &result, &options));
  ck_assert(out[0] == 3 && out[1] == 6);
}
END_TEST

/* NumPy gives arrays without elements strides of 0; none of them can overlap. */
START_TEST(strides_of_empty_results_do_not_count) {
  float none;
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(3, 0, 5)), result = ndr_tensor(&none, NDR_F32, NDR_SHAPE(3, 0));
  result.strides = (int64_t[]){0, 0};
  assert_ok(ndreduce(&array, NDR_DIMS(2), NDR_SUM, &result, NULL));
}
END_TEST

START_TEST(null_options_are_the_defaults) {
  ndr_options options = NDR_OPTIONS_INIT;
  ck_assert_uint_eq(options.size, sizeof options);
  ck_assert(!options.keepdims && !options.skip_nan && options.ddof == 0 && !options.threads && !options.stream &&
            !options.force_family && !options.device && options.accumulate == NDR_ACCUMULATE_DEFAULT &&
            options.planning == NDR_ESTIMATE);
}
END_TEST

/* ndreduce() remembers plans: the same call on other data, and a near miss of it, must not be mixed up. */
START_TEST(repeated_calls_with_small_changes_stay_apart) {
  float x[6] = {1, 2, 3, 4, 5, 6}, out[6];
  for (int round = 0; round < 300; round++) {
    DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), by_column = ndr_tensor(out, NDR_F32, NDR_SHAPE(3));
    DLTensor by_row = ndr_tensor(out, NDR_F32, NDR_SHAPE(2));
    x[0] = (float)round;
    assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &by_column, NULL));
    ck_assert(out[0] == (float)round + 4 && out[2] == 9);
    assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &by_row, NULL));
    ck_assert(out[0] == (float)round + 5 && out[1] == 15);
    assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_MAX, &by_row, NULL));
    ck_assert(out[1] == 6);
    array.strides = (int64_t[]){1, 2};
    assert_ok(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &by_row, NULL));
    ck_assert(out[1] == 2 + 4 + 6);
    int64_t many = 1 + round % 100; /* more layouts than any cache holds */
    DLTensor column = ndr_tensor(x, NDR_F32, NDR_SHAPE(many, 1)), ends = ndr_tensor(out, NDR_F32, NDR_SHAPE(1));
    column.strides = (int64_t[]){0, 1};
    assert_ok(ndreduce(&column, NDR_DIMS(0), NDR_SUM, &ends, NULL));
    ck_assert(out[0] == (float)(round * many));
  }
}
END_TEST

/* ---- Where one element is ---------------------------------------------------------------------------------------- */

/* The index of element p of the output that reduces it, by the definition: row-major over the reduced dims. */
static int64_t index_in_output(const ndr_problem *problem, const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < problem->ndim; d++)
    for (int i = 0; i < problem->dim_count; i++)
      if (problem->dims[i] == d) at = at * problem->shape[d] + index[d];
  return at;
}

/* One 1 among zeros, at the element that is `back` before the last, is counted once and found where it is. */
static void assert_found(const ndr_problem *problem, ndr_dtype dtype, int64_t back) {
  test_array array;
  int64_t index[NDR_MAX_DIMS], kept[NDR_MAX_DIMS], where[64], count[64], rest = back;
  array_make(&array, dtype, problem->ndim, problem->shape, problem->strides);
  memset(array.memory, 0, array.bytes);
  int kept_count = 0;
  for (int d = problem->ndim - 1; d >= 0; d--) {
    index[d] = problem->shape[d] - 1 - rest % problem->shape[d];
    rest /= problem->shape[d];
  }
  int64_t output = 0, outputs = 1;
  for (int d = 0; d < problem->ndim; d++) {
    bool reduced = false;
    for (int i = 0; i < problem->dim_count; i++) reduced |= problem->dims[i] == d;
    if (reduced) continue;
    kept[kept_count++] = problem->shape[d];
    output = output * problem->shape[d] + index[d];
    outputs *= problem->shape[d];
  }
  element_store(dtype, element_at(&array.tensor, index), (element){1, 0});
  DLTensor results[] = {ndr_tensor(count, NDR_I64, NDR_SHAPE(1)), ndr_tensor(where, NDR_I64, NDR_SHAPE(1))};
  for (int r = 0; r < 2; r++) {
    results[r].ndim = kept_count;
    results[r].shape = kept;
  }
  int ops = is_complex(dtype) ? 1 : 2;
  ck_assert_int_le(outputs, 64);
  assert_ok(ndreduce_many(&array.tensor, problem->dim_count, problem->dims, ops, (ndr_op[]){NDR_COUNT, NDR_ARGMAX},
                          (DLTensor *[]){&results[0], &results[1]}, NULL));
  for (int64_t j = 0; j < outputs; j++) ck_assert_int_eq(count[j], j == output);
  if (ops == 2)
    ck_assert_msg(where[output] == index_in_output(problem, index), "%s: %lld from the end of %s is found at %lld",
                  ndr_dtype_name(dtype), (long long)back, case_text(problem), (long long)where[output]);
  array_free(&array);
}

/* Long axes end in parts of the pieces that they are cut in: their last elements are the ones that get lost. */
START_TEST(every_element_is_where_it_is) {
  static const char *const texts[] = {
      "count u8 [70003] /0",     "count u8 [70003:2] /0",   "count u8 [3,40009] /1",     "count u8 [40009,3] /0",
      "count u8 [1,9001,37] /1", "count u8 [307,311] /0,1", "count u8 [29,2,8209] /0,2",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
      ndr_problem problem = NDR_PROBLEM_INIT;
      assert_ok(ndr_problem_parse(texts[i], &problem));
      for (int64_t back = 0; back < 20000; back = back * 3 / 2 + 1) assert_found(&problem, (ndr_dtype)dtype, back);
    }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api shapes");
  suite_case(suite, "dims", 30, the_example_of_the_header_works, the_macros_expand_to_what_they_say,
             dims_may_be_negative_and_in_any_order, all_dims_give_a_scalar, no_dims_map_each_element_by_itself,
             scalars_can_be_reduced, thirty_two_dims_can_be_reduced, sizes_zero_and_one_are_sizes, NULL);
  suite_case(suite, "layout", 30, arrays_may_have_any_strides, overlapping_windows_can_be_reduced,
             byte_offsets_are_added, complex_data_may_sit_on_half_its_size, NULL);
  suite_case(suite, "places", 120, every_element_is_where_it_is, NULL);
  suite_case(suite, "result", 30, keepdims_keeps_ones_in_place, describe_fills_in_the_whole_tensor,
             result_strides_are_free_and_gaps_stay, strides_of_size_one_do_not_count,
             strides_of_empty_results_do_not_count, null_options_are_the_defaults, options_may_be_named_in_the_call,
             repeated_calls_with_small_changes_stay_apart, NULL);
  return suite_run(suite);
}
