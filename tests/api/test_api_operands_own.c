/* Operators of one's own that read arrays beside the array, and choices for problems with such arrays, which are
 * remembered. */
#include <math.h>
#include <stdio.h>

#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "support/array.h"
#include "support/cases.h"
#include "support/small.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

/* ---- operators of one's own ---- */

/* Each operator of a call has a result as the call's, described with the call's options. */
START_TEST(each_operator_of_a_call_is_described) {
  DLTensor weight = small_weights();
  double dots[2], wide[2], sums[2];
  int64_t shape[] = {2}, sizes[3][NDR_MAX_DIMS];
  DLTensor array = small_array(), results[3], absent = ndr_tensor(NULL, NDR_F64, 1, (int64_t[]){7});
  void *const data[] = {dots, wide, sums};
  const DLTensor *with[] = {&weight}, *unfit[] = {&absent};
  DLTensor *const given[] = {&results[0], &results[1], &results[2]};
  const ndr_options *options = NDR_OPTIONS(.with = with, .with_count = 1, .keepdims = 1);
  ndr_op ops[3] = {NDR_SUM, NDR_SUM, NDR_SUM};
  assert_ok(ndr_operator_create(&ops[0], "dot(x, y): s += x * y -> s", NULL, 0));
  assert_ok(ndr_operator_create(&ops[1], "twice(x): s += 2.0 * x -> s", NULL, 0));
  for (int i = 0; i < 3; i++) {
    results[i].shape = sizes[i];
    assert_ok(ndr_result_describe(&array, NDR_DIMS(1), ops[i], options, &results[i]));
    ck_assert(results[i].ndim == 2 && sizes[i][0] == shape[0] && sizes[i][1] == 1);
    ck_assert_uint_le(results[i].dtype.bits, 64);
    results[i].data = data[i];
  }
  assert_ok(ndreduce_many(&array, NDR_DIMS(1), 3, ops, given, options));
  ck_assert(dots[0] == 8.5 && dots[1] == 19);
  assert_fails(ndr_result_describe(&array, NDR_DIMS(1), ops[0], NULL, &results[0]), NDR_ERR_ARGUMENT, "dot reads 2");
  options = NDR_OPTIONS(.with = unfit, .with_count = 1);
  assert_fails(ndr_result_describe(&array, NDR_DIMS(1), ops[0], options, &results[0]), NDR_ERR_ARGUMENT, "broadcast");
  ndr_operator_destroy(ops[0]);
  ndr_operator_destroy(ops[1]);
  assert_fails(ndr_result_describe(&array, NDR_DIMS(1), ops[1], options, &results[1]), NDR_ERR_OP, "destroyed");
}
END_TEST

/* Where no element counts, states have the values that operator.h names, also those of operators that say no more than
 * a built-in one. */
START_TEST(states_of_nothing_are_their_first_values) {
  static const struct {
    const char *text;
    double expected;
  } cases[] = {{"t(x): s += x -> s", 0},
               {"t(x): p *= x -> p", 1},
               {"t(x): m max= x -> m", -INFINITY},
               {"t(x): m min= x -> m", INFINITY},
               {"t(x): m max= x, s += x -> max(m, s)", 0}};
  float nan[4] = {NAN, NAN, NAN, NAN};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_op op;
    assert_ok(ndr_operator_create(&op, cases[i].text, NULL, 0));
    for (int64_t length = 0; length < 5; length += 4) {
      float got[1] = {7};
      DLTensor array = ndr_tensor(nan, NDR_F32, NDR_SHAPE(1, length)), result = ndr_tensor(got, NDR_F32, NDR_SHAPE(1));
      assert_ok(ndreduce(&array, NDR_DIMS(1), op, &result, NDR_OPTIONS(.skip_nan = 1)));
      ck_assert_msg(got[0] == (float)cases[i].expected, "%s over %lld: %g", cases[i].text, (long long)length, got[0]);
    }
    ndr_operator_destroy(op);
  }
}
END_TEST

/* A plan says what it was made for, also once its operators have been destroyed. */
START_TEST(a_plan_is_described_after_its_operators) {
  char before[512], after[512];
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  assert_ok(ndr_problem_parse("{above(x; t): n += x > t -> n}(2.5),sum f64 [2,3] /1", &problem));
  assert_ok(ndr_plan_create(&plan, &problem, (DLDevice){kDLCPU, 0}, NULL, NULL));
  ndr_plan_describe(plan, before, sizeof before);
  ck_assert_ptr_eq(strstr(before, "{above(x; t): n += x > t -> n}(2.5),sum f64 [2,3] /1 on cpu:0"), before);
  ndr_operator_destroy(problem.ops[0]);
  ndr_plan_describe(plan, after, sizeof after);
  ck_assert_str_eq(after, before);
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(own_operators_read_their_arrays) {
  DLTensor weight = small_weights();
  double out[2];
  int64_t shape[] = {2};
  DLTensor array = small_array(), result = ndr_tensor(out, NDR_F64, 1, shape),
           form = {.shape = (int64_t[NDR_MAX_DIMS]){0}};
  const DLTensor *with[] = {&weight};
  const ndr_options *options = NDR_OPTIONS(.with = with, .with_count = 1);
  ndr_op op;
  assert_ok(ndr_operator_create(&op, "dot(x, y): s += x * y -> s", NULL, 0));
  assert_ok(ndr_result_describe(&array, NDR_DIMS(1), op, options, &form));
  ck_assert(form.ndim == 1 && form.dtype.bits == 64);
  assert_ok(ndreduce(&array, NDR_DIMS(1), op, &result, options));
  ck_assert(out[0] == 8.5 && out[1] == 19);
  assert_fails(ndreduce(&array, NDR_DIMS(1), op, &result, NULL), NDR_ERR_ARGUMENT, "dot reads 2 arrays");
  ndr_operator_destroy(op);
  assert_fails(ndreduce(&array, NDR_DIMS(1), op, &result, options), NDR_ERR_OP, "operator");
}
END_TEST

/* A constant that is folded has a tile, as small as the array; what is computed from constants reads a strip of it.
 * Only sanitizers see more than the tile read. */
START_TEST(constants_that_are_folded_are_operands_too) {
  static const char *const texts[] = {"f(x): s += x * (1 >= 2) -> s / n", "f(x; p): t += p, s += x * (p > 1) -> s / t",
                                      "f(x): t |= sqrt(1 >= 2), s += x -> t * s"};
  static double values[600];
  double out, two = 2;
  for (int i = 0; i < 600; i++) values[i] = 1;
  for (int t = 0; t < 3; t++) {
    ndr_op op;
    assert_ok(ndr_operator_create(&op, texts[t], &two, t == 1));
    for (int64_t size = 1; size < 600; size += size < 10 ? 1 : 167) {
      DLTensor array = ndr_tensor(values, NDR_F64, NDR_SHAPE(size)), result = ndr_tensor(&out, NDR_F64, 0, NULL);
      assert_ok(ndreduce(&array, NDR_ALL_DIMS, op, &result, NULL));
      ck_assert(out == (t == 1 ? 0.5 : 0));
    }
    ndr_operator_destroy(op);
  }
}
END_TEST

START_TEST(plans_outlive_operators) {
  const char *text = "{dot(x, y): s += x * y -> s} f32 [2,3] /1 with=f64[0,1]";
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  char description[600];
  double out[2];
  assert_ok(ndr_problem_parse(text, &problem));
  assert_ok(ndr_plan_create(&plan, &problem, cpu, NULL, NULL));
  ck_assert_uint_gt(ndr_plan_describe(plan, description, sizeof description), 0);
  ck_assert(strstr(description, "with=f64[0,1] on cpu"));
  ndr_operator_destroy(problem.ops[0]);
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){small_x, small_w}, (void *[]){out}, NULL, 0, NULL));
  ck_assert(out[0] == 8.5 && out[1] == 19);
  ck_assert_uint_gt(ndr_plan_describe(plan, description, sizeof description), 0);
  ndr_plan_destroy(plan);
}
END_TEST

/* ---- measurements ---- */

START_TEST(choices_of_problems_with_operands_are_remembered) {
  const char *line = "sum f32 [100,100] /0 where=bool[1,0] weights=f64[0,1] on cpu 2 threads: scalar 5 us\n";
  char text[4096];
  ndr_measurements_forget();
  assert_ok(ndr_measurements_import(line));
  ndr_measurements_export(text, sizeof text);
  ck_assert_str_eq(text, line);
  assert_ok(ndr_measurements_import("{hot(x; t): n += x > t -> n}(3) f32 [100] /0 on cpu 2 threads: scalar 5 us"));
  assert_ok(ndr_measurements_import("sum i32 [100] /0 initial=7 on cpu 2 threads: scalar 5 us"));
  assert_fails(ndr_measurements_import("{at(x): s += index(0) + x -> s} f32 [100] /0 on cpu 2 threads: scalar 5 us"),
               NDR_ERR_PARSE, "not remembered");
  ndr_measurements_export(text, sizeof text);
  ck_assert(strstr(text, "{hot(x; t): n += x > t -> n}(3) f32 [100] /0 on cpu"));
  ck_assert(strstr(text, "sum i32 [100] /0 initial=0 on cpu"));
  ndr_measurements_forget();
}
END_TEST

/* The first operator's result alone, and beside the second one. */
static void check_beside(const test_array *array, int dim, const ndr_op *both, const ndr_options *options) {
  test_array alone, beside[2];
  DLTensor *results[2];
  assert_ok(array_result(&alone, &array->tensor, 1, &dim, both[0], options, NULL));
  for (int r = 0; r < 2; r++) {
    assert_ok(array_result(&beside[r], &array->tensor, 1, &dim, both[r], options, NULL));
    results[r] = &beside[r].tensor;
  }
  assert_ok(ndreduce(&array->tensor, 1, &dim, both[0], &alone.tensor, options));
  assert_ok(ndreduce_many(&array->tensor, 1, &dim, 2, both, results, options));
  ck_assert_msg(same_elements(&alone.tensor, &beside[0].tensor), "%s beside %s of [%lld,%lld] over %d%s (seed %llu)",
                ndr_op_name(both[0]), ndr_op_name(both[1]), (long long)array->tensor.shape[0],
                (long long)array->tensor.shape[1], dim, options ? " with a mask" : "", (unsigned long long)test_seed());
  array_free(&alone);
  array_free(&beside[0]);
  array_free(&beside[1]);
}

/* Rows around the lengths at which tiles are cut. */
START_TEST(results_do_not_depend_on_what_else_a_call_computes) {
  static const ndr_dtype dtypes[] = {NDR_F64, NDR_F32, NDR_C64, NDR_BF16};
  static const ndr_op ops[] = {NDR_SUM, NDR_VAR, NDR_NORM2};
  rng random = {test_seed()};
  ndr_op own;
  assert_ok(ndr_operator_create(&own, "count(x): n += x != 0 -> n", NULL, 0));
  for (int i = 0; i < 60; i++) {
    const int64_t shape[2] = {rng_between(&random, 100, 900), rng_between(&random, 1, 1100)};
    const ndr_op both[] = {ops[i % 3], own}, masked[] = {i % 2 ? NDR_SUM : NDR_MEAN, NDR_VAR};
    ndr_options options = NDR_OPTIONS_INIT;
    test_array array, mask;
    array_make(&array, dtypes[i % 4], 2, shape, NULL);
    array_make(&mask, NDR_BOOL, 2, shape, NULL);
    array_fill(&array, &random, FILL_WIDE);
    array_fill(&mask, &random, FILL_SMALL);
    check_beside(&array, 1, both, NULL);
    options.where = &mask.tensor;
    for (int dim = 0; dim < 2; dim++) check_beside(&array, dim, masked, &options);
    array_free(&array);
    array_free(&mask);
  }
  ndr_operator_destroy(own);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("operands of own operators");
  suite_case(suite, "operators", 10, own_operators_read_their_arrays, constants_that_are_folded_are_operands_too,
             each_operator_of_a_call_is_described, a_plan_is_described_after_its_operators, plans_outlive_operators,
             results_do_not_depend_on_what_else_a_call_computes, states_of_nothing_are_their_first_values, NULL);
  suite_case(suite, "measurements", 10, choices_of_problems_with_operands_are_remembered, NULL);
  return suite_run(suite);
}
