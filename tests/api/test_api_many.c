/* Several statistics from one read are what single calls give: to the bit where no rounding can show. */
#include <stdlib.h>

#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

/* Long products of floats stay in range only if the filling sees to it. */
static int defined_ops(ndr_dtype dtype, filling how, ndr_op *ops) {
  int count = 0;
  for (int op = 0; op < NDR_OP_COUNT; op++)
    if (op_defined((ndr_op)op, dtype) && (op != NDR_PROD || is_integer(dtype) || how == FILL_UNIT))
      ops[count++] = (ndr_op)op;
  return count;
}

static void assert_many(const char *text, ndr_dtype dtype, filling how) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  test_array array, single[NDR_MAX_OPS], many[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  rng random = {test_seed()};
  char message[512] = "not the same";
  assert_ok(ndr_problem_parse(text, &problem));
  ndr_options options = case_options(&problem);
  problem.dtype = dtype;
  problem.op_count = defined_ops(dtype, how, problem.ops);
  array_of_case(&array, &problem);
  array_fill(&array, &random, how);
  for (int i = 0; i < problem.op_count; i++) {
    assert_ok(case_reduce(&problem, i, &array.tensor, &options, &single[i], NULL));
    assert_ok(
        array_result(&many[i], &array.tensor, problem.dim_count, problem.dims, problem.ops[i], &options, &random));
    results[i] = &many[i].tensor;
  }
  assert_ok(
      ndreduce_many(&array.tensor, problem.dim_count, problem.dims, problem.op_count, problem.ops, results, &options));
  for (int i = 0; i < problem.op_count; i++) {
    bool exact = op_exact(problem.ops[i], dtype, how == FILL_SMALL);
    bool same = exact ? same_elements(&single[i].tensor, &many[i].tensor)
                      : oracle_accepts(&problem, problem.ops[i], &array.tensor, results[i], message, sizeof message);
    ck_assert_msg(same, "%s: %s of %s differs among many: %s", text, ndr_op_name(problem.ops[i]), ndr_dtype_name(dtype),
                  message);
    array_free(&single[i]);
    array_free(&many[i]);
  }
  array_free(&array);
}

static const char *const layouts[] = {
    "sum f32 [31,17,5] /0,2",        "sum f32 [40,300] /1",    "sum f32 [300,40] /0",
    "sum f32 [500,3] /0 keepdims",   "sum f32 [4,1000:-1] /1", "sum f32 [20:1,30:20] /1 skipnan",
    "sum f32 [9,8,7,6] /1,3 ddof=1", "sum f32 [60000] /all",   "sum f32 [7,11] /",
};

START_TEST(many_equal_single_calls) {
  ndr_dtype dtype = (ndr_dtype)_i;
  for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
    assert_many(layouts[l], dtype, FILL_SMALL);
    assert_many(layouts[l], dtype, FILL_SPECIAL);
    assert_many(layouts[l], dtype, FILL_UNIT);
  }
}
END_TEST

START_TEST(an_op_may_be_asked_for_twice) {
  float x[4] = {1, 2, 3, 4}, a = 0, b = 0;
  ndr_op ops[] = {NDR_SUM, NDR_SUM};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4));
  DLTensor first = {&a, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0}, second = first;
  second.data = &b;
  assert_ok(ndreduce_many(&array, NDR_ALL_DIMS, 2, ops, (DLTensor *[]){&first, &second}, NULL));
  ck_assert(a == 10 && b == 10);
}
END_TEST

START_TEST(one_bad_result_fails_all_and_writes_none) {
  float x[4] = {1, 2, 3, 4}, a = -1;
  ndr_op ops[] = {NDR_SUM, NDR_ARGMAX};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4));
  DLTensor first = {&a, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0}, second = first;
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, 2, ops, (DLTensor *[]){&first, &second}, NULL), NDR_ERR_RESULT,
               "argmax");
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, 2, ops, (DLTensor *[]){&first, NULL}, NULL), NDR_ERR_ARGUMENT,
               "argmax");
  ck_assert(a == -1);
}
END_TEST

START_TEST(one_op_without_empty_value_fails_all) {
  float a = -1, b = -1;
  ndr_op ops[] = {NDR_SUM, NDR_MIN};
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(0));
  DLTensor first = {&a, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0}, second = first;
  second.data = &b;
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, 2, ops, (DLTensor *[]){&first, &second}, NULL), NDR_ERR_EMPTY,
               "min");
  ck_assert(a == -1 && b == -1);
}
END_TEST

START_TEST(counts_of_ops_are_checked) {
  float x[4] = {1, 2, 3, 4}, a = -1;
  ndr_op ops[NDR_MAX_OPS + 1] = {NDR_SUM};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4));
  DLTensor result = {&a, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0}, *results[NDR_MAX_OPS + 1];
  for (int i = 0; i <= NDR_MAX_OPS; i++) results[i] = &result;
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, 0, ops, results, NULL), NDR_ERR_ARGUMENT, "op_count is 0");
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, -1, ops, results, NULL), NDR_ERR_ARGUMENT, "op_count is -1");
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, NDR_MAX_OPS + 1, ops, results, NULL), NDR_ERR_ARGUMENT,
               "op_count is 21");
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, 1, NULL, results, NULL), NDR_ERR_ARGUMENT, "ops");
  assert_fails(ndreduce_many(&array, NDR_ALL_DIMS, 1, ops, NULL, NULL), NDR_ERR_ARGUMENT, "results");
  ck_assert(a == -1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api many");
  TCase *equal = tcase_create("equal");
  tcase_set_timeout(equal, 120);
  tcase_add_loop_test(equal, many_equal_single_calls, 0, NDR_DTYPE_COUNT);
  suite_add_tcase(suite, equal);
  suite_case(suite, "arguments", 10, an_op_may_be_asked_for_twice, one_bad_result_fails_all_and_writes_none,
             one_op_without_empty_value_fails_all, counts_of_ops_are_checked, NULL);
  return suite_run(suite);
}
