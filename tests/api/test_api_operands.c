/* The public calls with arrays beside the array: options and plans, and what they refuse. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "ndreduce/plan.h"
#include "support/random.h"
#include "support/small.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};
static const double none;

/* Reduces x over dim 1 to two f32. */
static ndr_status rows(ndr_op op, const ndr_options *options, float *out) {
  int64_t shape[] = {2};
  DLTensor array = small_array(), result = ndr_tensor(out, NDR_F32, 1, shape);
  return ndreduce(&array, NDR_DIMS(1), op, &result, options);
}

/* ---- options ---- */

START_TEST(where_leaves_elements_out) {
  DLTensor where = small_mask();
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where), out));
  ck_assert(out[0] == 4 && out[1] == 11);
  assert_ok(rows(NDR_MEAN, NDR_OPTIONS(.where = &where), out));
  ck_assert(out[0] == 2 && out[1] == 5.5f);
  assert_ok(rows(NDR_SUM, NULL, out));
  ck_assert(out[0] == 6 && out[1] == 15);
}
END_TEST

START_TEST(what_is_masked_out_is_not_looked_at) {
  float with_nan[] = {1, NAN, 3}, out;
  uint8_t live[] = {1, 0, 2};
  DLTensor array = ndr_tensor(with_nan, NDR_F32, NDR_SHAPE(3)), where = ndr_tensor(live, NDR_BOOL, NDR_SHAPE(3)),
           result = ndr_tensor(&out, NDR_F32, 0, NULL);
  const ndr_op ops[] = {NDR_SUM, NDR_MAX, NDR_MEAN, NDR_NORM1, NDR_PTP};
  const float expected[] = {4, 3, 2, 4, 2};
  for (int i = 0; i < 5; i++) {
    assert_ok(ndreduce(&array, NDR_ALL_DIMS, ops[i], &result, NDR_OPTIONS(.where = &where)));
    ck_assert(out == expected[i]);
  }
  int64_t at;
  DLTensor index = ndr_tensor(&at, NDR_I64, 0, NULL);
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_ARGMAX, &index, NDR_OPTIONS(.where = &where)));
  ck_assert_int_eq(at, 2);
}
END_TEST

START_TEST(nothing_live_gives_the_identity) {
  uint8_t no = 0;
  DLTensor where = ndr_tensor(&no, NDR_BOOL, 0, NULL);
  float out[2];
  assert_ok(rows(NDR_MIN, NDR_OPTIONS(.where = &where), out));
  ck_assert(out[0] == INFINITY && out[1] == INFINITY);
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where), out));
  ck_assert(out[0] == 0 && out[1] == 0);
}
END_TEST

START_TEST(weights_weigh) {
  DLTensor weight = small_weights();
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.weights = &weight), out));
  ck_assert(out[0] == 8.5f && out[1] == 19);
  assert_ok(rows(NDR_MEAN, NDR_OPTIONS(.weights = &weight), out));
  ck_assert(out[0] == (float)(8.5 / 3.5) && out[1] == (float)(19 / 3.5));
  double mean = 8.5 / 3.5, spread = 0, squares = 0.25 + 1 + 4;
  for (int i = 0; i < 3; i++) spread += small_w[i] * ((double)small_x[0][i] - mean) * ((double)small_x[0][i] - mean);
  assert_ok(rows(NDR_VAR, NDR_OPTIONS(.ddof = 1, .weights = &weight), out));
  ck_assert_float_eq_tol(out[0], (float)(spread / 2.5), 1e-6f);
  assert_ok(rows(NDR_STD, NDR_OPTIONS(.ddof = 1, .weighting = NDR_RELIABILITY, .weights = &weight), out));
  ck_assert_float_eq_tol(out[0], (float)sqrt(spread / (3.5 - squares / 3.5)), 1e-6f);
}
END_TEST

START_TEST(a_mask_and_weights_go_together) {
  DLTensor weight = small_weights(), where = small_mask();
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where, .weights = &weight), out));
  ck_assert(out[0] == 6.5f && out[1] == 17);
}
END_TEST

START_TEST(initial_is_reduced_too) {
  const double ten = 10, four = 4;
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.initial = &ten), out));
  ck_assert(out[0] == 16 && out[1] == 25);
  assert_ok(rows(NDR_MIN, NDR_OPTIONS(.initial = &four), out));
  ck_assert(out[0] == 1 && out[1] == 4);
  assert_ok(rows(NDR_PROD, NDR_OPTIONS(.initial = &ten), out));
  ck_assert(out[0] == 60 && out[1] == 1200);
}
END_TEST

START_TEST(initial_is_no_element_that_valid_counts) {
  const double ten = 10;
  const ndr_op ops[] = {NDR_SUM, NDR_VALID};
  int64_t shape[] = {2}, valid[2];
  float sum[2];
  DLTensor array = small_array(), where = small_mask();
  DLTensor results[] = {ndr_tensor(sum, NDR_F32, 1, shape), ndr_tensor(valid, NDR_I64, 1, shape)};
  DLTensor *const given[] = {&results[0], &results[1]};
  assert_ok(ndreduce_many(&array, NDR_DIMS(1), 2, ops, given, NDR_OPTIONS(.initial = &ten, .where = &where)));
  ck_assert(sum[0] == 14 && sum[1] == 21 && valid[0] == 2 && valid[1] == 2);
}
END_TEST

START_TEST(initial_is_the_minimum_of_nothing) {
  const double three = 3;
  float out = 0;
  int64_t empty[] = {0};
  DLTensor array = ndr_tensor(small_x, NDR_F32, 1, empty), result = ndr_tensor(&out, NDR_F32, 0, NULL);
  assert_fails(ndreduce(&array, NDR_ALL_DIMS, NDR_MIN, &result, NULL), NDR_ERR_EMPTY, "min");
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_MIN, &result, NDR_OPTIONS(.initial = &three)));
  ck_assert(out == 3);
}
END_TEST

START_TEST(all_statistics_of_one_read_share_the_options) {
  int64_t rows_shape[] = {2, 1}, valid[2], at[2];
  float sum[2];
  uint8_t any[2];
  DLTensor array = small_array(), where = small_mask(), results[4];
  results[0] = ndr_tensor(sum, NDR_F32, 2, rows_shape);
  results[1] = ndr_tensor(valid, NDR_I64, 2, rows_shape);
  results[2] = ndr_tensor(at, NDR_I64, 2, rows_shape);
  results[3] = ndr_tensor(any, NDR_BOOL, 2, rows_shape);
  DLTensor *pointers[] = {&results[0], &results[1], &results[2], &results[3]};
  const ndr_op ops[] = {NDR_SUM, NDR_VALID, NDR_ARGMIN, NDR_ANY};
  assert_ok(ndreduce_many(&array, NDR_DIMS(1), 4, ops, pointers, NDR_OPTIONS(.keepdims = 1, .where = &where)));
  ck_assert(sum[0] == 4 && sum[1] == 11 && valid[0] == 2 && valid[1] == 2 && at[0] == 0 && at[1] == 1);
  ck_assert(any[0] == 1 && any[1] == 1);
}
END_TEST

/* What has no weighted form, beside a mean that is weighted: as it is alone, without weights. Elements are powers of
 * two, so that products and sums are exact. */
static void compare_beside_mean(ndr_op op, const DLTensor *array, const DLTensor *weights, int dim_count,
                                const int *dims) {
  static double means[1001], beside[1001], alone[1001];
  int64_t shapes[2][NDR_MAX_DIMS];
  const ndr_op ops[] = {NDR_MEAN, op};
  DLTensor results[2], *given[] = {&results[0], &results[1]};
  int64_t count = 1;
  for (int i = 0; i < 2; i++) {
    results[i].shape = shapes[i];
    assert_ok(ndr_result_describe(array, dim_count, dims, ops[i], NDR_OPTIONS(.weights = weights), &results[i]));
  }
  for (int d = 0; d < results[1].ndim; d++) count *= shapes[1][d];
  results[0].data = means;
  results[1].data = beside;
  assert_ok(ndreduce_many(array, dim_count, dims, 2, ops, given, NDR_OPTIONS(.weights = weights)));
  results[1].data = alone;
  assert_ok(ndreduce(array, dim_count, dims, op, &results[1], NULL));
  if (op != NDR_LOGSUMEXP) {
    ck_assert_mem_eq(beside, alone, (size_t)(results[1].dtype.bits / 8 * count));
    return;
  }
  for (int64_t i = 0; i < count; i++) ck_assert_float_eq_tol(((float *)beside)[i], ((float *)alone)[i], 1e-5F);
}

START_TEST(others_stand_beside_what_is_weighted) {
  static const ndr_op ops[] = {NDR_MIN, NDR_MAX,     NDR_PTP,   NDR_ARGMIN, NDR_ARGMAX,    NDR_PROD, NDR_ANY,
                               NDR_ALL, NDR_NORMINF, NDR_COUNT, NDR_NORM1,  NDR_LOGSUMEXP, NDR_VALID};
  static const int dims[][3] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}, counts[] = {1, 1, 1, 2, 2, 2, 3};
  static float x[7 * 11 * 13], w[7 * 11 * 13];
  rng random = {_i + 1};
  for (int i = 0; i < 7 * 11 * 13; i++) {
    x[i] = ldexpf(rng_once_in(&random, 2) ? 1 : -1, (int)rng_between(&random, -1, 1));
    w[i] = (float)rng_between(&random, 0, 3);
  }
  int64_t shape[] = {7, 11, 13}, strides[] = {1, 7, 77}, *layout = _i % 2 ? strides : NULL;
  DLTensor array = ndr_tensor(x, NDR_F32, 3, shape), weights = ndr_tensor(w, NDR_F32, 3, shape);
  array.strides = layout;
  for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
    for (size_t d = 0; d < sizeof counts / sizeof *counts; d++)
      compare_beside_mean(ops[o], &array, &weights, counts[d], dims[d]);
}
END_TEST

START_TEST(operands_have_any_strides) {
  int64_t steps[] = {-3, -1}, column[] = {2, 1};
  uint8_t spread[] = {1, 9, 0};
  DLTensor where = small_mask();
  float out[2];
  where.strides = steps;
  where.byte_offset = 5;
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where), out)); /* reversed: 110, 101 */
  ck_assert(out[0] == 3 && out[1] == 10);
  where = ndr_tensor(spread, NDR_BOOL, 2, column);
  where.strides = (int64_t[]){2, 77};
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where), out));
  ck_assert(out[0] == 6 && out[1] == 0);
}
END_TEST

START_TEST(calls_with_other_operands_stay_apart) {
  const double one = 1, two = 2;
  DLTensor where = small_mask(), weight = small_weights(), narrow = small_weights();
  float halves[3] = {0.5f, 0.5f, 0.5f}, out[2];
  narrow.dtype = ndr_dtype_to_dlpack(NDR_F32);
  narrow.data = halves;
  for (int round = 0; round < 2; round++) {
    assert_ok(rows(NDR_SUM, NDR_OPTIONS(.initial = &one), out));
    ck_assert(out[0] == 7);
    assert_ok(rows(NDR_SUM, NDR_OPTIONS(.initial = &two), out));
    ck_assert(out[0] == 8);
    assert_ok(rows(NDR_SUM, NDR_OPTIONS(.initial = &none), out));
    ck_assert(out[0] == 6);
    assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where), out));
    ck_assert(out[0] == 4);
    assert_ok(rows(NDR_SUM, NDR_OPTIONS(.weights = &weight), out));
    ck_assert(out[0] == 8.5f);
    assert_ok(rows(NDR_SUM, NDR_OPTIONS(.weights = &narrow), out));
    ck_assert(out[0] == 3);
    assert_ok(rows(NDR_SUM, NULL, out));
    ck_assert(out[0] == 6);
  }
}
END_TEST

START_TEST(measuring_changes_no_result) {
  DLTensor where = small_mask();
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where, .planning = NDR_MEASURE), out));
  ck_assert(out[0] == 4 && out[1] == 11);
}
END_TEST

START_TEST(scalars_and_empty_arrays_have_operands) {
  float value = 3, out = 0;
  uint8_t yes = 1;
  int64_t empty[] = {0, 3}, three[] = {3};
  DLTensor array = ndr_tensor(&value, NDR_F32, 0, NULL), where = ndr_tensor(&yes, NDR_BOOL, 0, NULL),
           result = ndr_tensor(&out, NDR_F32, 0, NULL);
  assert_ok(ndreduce(&array, 0, NULL, NDR_SUM, &result, NDR_OPTIONS(.where = &where)));
  ck_assert(out == 3);
  float outs[3] = {7, 7, 7};
  array = ndr_tensor(NULL, NDR_F32, 2, empty);
  where = ndr_tensor(NULL, NDR_BOOL, 2, empty);
  result = ndr_tensor(outs, NDR_F32, 1, three);
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NDR_OPTIONS(.where = &where)));
  ck_assert(outs[0] == 0 && outs[2] == 0);
}
END_TEST

/* ---- plans ---- */

START_TEST(plans_take_operands) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  DLTensor array = small_array(), where = small_mask(), weight = small_weights();
  const ndr_op ops[] = {NDR_SUM, NDR_MEAN};
  ndr_plan *plan;
  float sum[2], mean[2];
  void *results[] = {sum, mean};
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(1), 2, ops));
  assert_ok(ndr_problem_add_operand(&problem, NDR_WEIGHTS, &weight));
  assert_ok(ndr_problem_add_operand(&problem, NDR_WHERE, &where));
  ck_assert_int_eq(problem.operands[0].strides[0], 0);
  assert_ok(ndr_plan_create(&plan, &problem, cpu, NULL, NULL));
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){small_x, small_w, small_live}, results, NULL, 0, NULL));
  ck_assert(sum[0] == 6.5f && sum[1] == 17 && mean[0] == 2.6f);
  assert_fails(ndr_plan_execute(plan, small_x, results, NULL, 0, NULL), NDR_ERR_ARGUMENT, "ndr_plan_execute_operands");
  assert_fails(ndr_plan_execute_operands(plan, (const void *[]){small_x, NULL, small_live}, results, NULL, 0, NULL),
               NDR_ERR_ARGUMENT, "weights is a null pointer");
  assert_fails(ndr_plan_execute_operands(plan, (const void *[]){small_x, (char *)small_w + 4, small_live}, results,
                                         NULL, 0, NULL),
               NDR_ERR_ARGUMENT, "weights's address");
  assert_fails(ndr_plan_execute_operands(plan, NULL, results, NULL, 0, NULL), NDR_ERR_ARGUMENT, "null");
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(a_plan_without_operands_takes_one_address) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  float out;
  assert_ok(ndr_problem_parse("sum f32 [6] /0", &problem));
  assert_ok(ndr_plan_create(&plan, &problem, cpu, NULL, NULL));
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){small_x}, (void *[]){&out}, NULL, 0, NULL));
  ck_assert(out == 21);
  ndr_plan_destroy(plan);
}
END_TEST

/* NaN at either end of the weights, at the borders of the pieces that threads look at, and in between, where results
 * show it and where a mask hides it. */
START_TEST(nan_is_found_among_many_weights) {
  enum { ROWS = 301, COLUMNS = 700, PITCH = 703 };
  static const ndr_op ops[] = {NDR_MEAN, NDR_SUM, NDR_STD, NDR_VAR, NDR_NORM2};
  static float values[ROWS * COLUMNS], weight[ROWS * PITCH], out[COLUMNS];
  bool live = true;
  const int dim = _i / 2 % 2, masked = _i % 2;
  const ndr_op op = ops[_i / 4];
  int64_t shape[] = {ROWS, COLUMNS}, kept[] = {dim ? ROWS : COLUMNS}, strides[] = {PITCH, 1}, swapped[] = {1, ROWS};
  for (int i = 0; i < ROWS * PITCH; i++) weight[i] = i % PITCH < COLUMNS ? 1 : NAN; /* not what lies between rows */
  for (int layout = 0; layout < 2; layout++) {
    DLTensor array = ndr_tensor(values, NDR_F32, 2, shape), result = ndr_tensor(out, NDR_F32, 1, kept),
             tensor = ndr_tensor(weight, NDR_F32, 2, shape), where = ndr_tensor(&live, NDR_BOOL, 0, NULL);
    tensor.strides = layout ? swapped : strides;
    for (int i = 0; layout && i < ROWS * COLUMNS; i++) weight[i] = 1;
    for (int threads = 1; threads <= 4; threads += 3) {
      ndr_options options = NDR_OPTIONS_INIT;
      options.weights = &tensor;
      options.where = masked ? &where : NULL;
      options.threads = threads;
      assert_ok(ndreduce(&array, NDR_DIMS(dim), op, &result, &options));
      for (int i = 0; i < kept[0]; i++) ck_assert(out[i] == 0);
      for (int place = 0; place < ROWS * COLUMNS; place += place < 5 ? 1 : place < 205000 ? 4999 : 997) {
        float *at = weight + place / COLUMNS * tensor.strides[0] + place % COLUMNS * tensor.strides[1];
        int of = dim ? place / COLUMNS : place % COLUMNS;
        *at = NAN;
        out[of] = 7;
        assert_fails(ndreduce(&array, NDR_DIMS(dim), op, &result, &options), NDR_ERR_ARGUMENT, "weights have NaN");
        ck_assert(masked ? out[of] == 7 : isnan(out[of]));
        *at = 1;
      }
      float *last = weight + (ROWS - 1) * tensor.strides[0] + (COLUMNS - 1) * tensor.strides[1];
      *last = NAN;
      assert_fails(ndreduce(&array, NDR_DIMS(dim), op, &result, &options), NDR_ERR_ARGUMENT, "weights have NaN");
      *last = 1;
    }
  }
}
END_TEST

START_TEST(nan_weights_are_refused) {
  double bad[] = {1, NAN, 2};
  DLTensor weight = ndr_tensor(bad, NDR_F64, NDR_SHAPE(3));
  float out[2] = {7, 7}, narrow[2] = {1, NAN};
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.weights = &weight), out), NDR_ERR_ARGUMENT, "weights have NaN");
  ck_assert(out[0] == 7);
  weight = ndr_tensor(narrow, NDR_F32, NDR_SHAPE(2, 1));
  assert_fails(rows(NDR_MEAN, NDR_OPTIONS(.weights = &weight), out), NDR_ERR_ARGUMENT, "weights have NaN");
  weight.strides = (int64_t[]){0, 0}; /* what is between is not looked at */
  assert_ok(rows(NDR_MEAN, NDR_OPTIONS(.weights = &weight), out));
}
END_TEST

/* ---- what is refused ---- */

START_TEST(options_are_checked) {
  const double half = 0.5;
  float out[2];
  DLTensor where = small_mask(), weight = small_weights(), tall = small_mask(), deep = small_mask(),
           cuda = small_mask();
  tall.shape = (int64_t[]){3, 3};
  deep.ndim = 3;
  deep.shape = (int64_t[]){1, 2, 3};
  cuda.device = (DLDevice){kDLCUDA, 0};
  const DLTensor *with[] = {&where, &where, &where, &where}, *absent[] = {NULL};
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.where = &weight), out), NDR_ERR_DTYPE, "must be bool");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.weights = &where), out), NDR_ERR_DTYPE, "must be f32 or f64");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.where = &tall), out), NDR_ERR_ARGUMENT, "does not broadcast to 2");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.where = &deep), out), NDR_ERR_ARGUMENT, "'where' has 3 dims");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.where = &cuda), out), NDR_ERR_ARGUMENT, "'where' is on cuda:0");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.with = with, .with_count = 1), out), NDR_ERR_ARGUMENT, "'with' has 1");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.with_count = 1), out), NDR_ERR_ARGUMENT, "options.with is a null pointer");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.with = absent, .with_count = 1), out), NDR_ERR_ARGUMENT, "null pointer");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.with = with, .with_count = 5), out), NDR_ERR_ARGUMENT, "with_count is 5");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.with = with, .with_count = -1), out), NDR_ERR_ARGUMENT, "with_count is -1");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.where = &where, .with = with, .with_count = 4), out), NDR_ERR_ARGUMENT,
               "more than 4");
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.weighting = (ndr_weighting)2), out), NDR_ERR_ARGUMENT, "weighting is 2");
  assert_fails(rows(NDR_MAX, NDR_OPTIONS(.weights = &weight), out), NDR_ERR_OP, "max has no weighted form");
  assert_fails(rows(NDR_MEAN, NDR_OPTIONS(.initial = &half), out), NDR_ERR_OP, "mean has no initial value");
  where.data = NULL;
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.where = &where), out), NDR_ERR_ARGUMENT, "the where has no data");
  weight.byte_offset = 4;
  assert_fails(rows(NDR_SUM, NDR_OPTIONS(.weights = &weight), out), NDR_ERR_ARGUMENT, "the weights's address");
}
END_TEST

START_TEST(beside_a_problem_they_are_refused) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  DLTensor where = small_mask(), weight = small_weights();
  const DLTensor *with[] = {&where};
  const ndr_options given[] = {
      {.size = sizeof(ndr_options), .where = &where},
      {.size = sizeof(ndr_options), .weights = &weight},
      {.size = sizeof(ndr_options), .with = with, .with_count = 1},
      {.size = sizeof(ndr_options), .initial = &none},
      {.size = sizeof(ndr_options), .weighting = NDR_RELIABILITY},
  };
  const char *const names[] = {"where", "weights", "with", "initial", "weighting"};
  assert_ok(ndr_problem_parse("sum f32 [6] /0", &problem));
  for (int i = 0; i < 5; i++) {
    char expected[40];
    snprintf(expected, sizeof expected, "options.%s is set", names[i]);
    assert_fails(ndr_plan_create(&plan, &problem, cpu, NULL, &given[i]), NDR_ERR_ARGUMENT, expected);
  }
}
END_TEST

START_TEST(operands_of_problems_are_checked) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  DLTensor where = small_mask(), array = small_array();
  const ndr_op op = NDR_SUM;
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(1), 1, &op));
  assert_fails(ndr_problem_add_operand(NULL, NDR_WHERE, &where), NDR_ERR_ARGUMENT, "problem");
  assert_fails(ndr_problem_add_operand(&problem, NDR_WHERE, NULL), NDR_ERR_ARGUMENT, "'where' is a null pointer");
  assert_fails(ndr_problem_add_operand(&problem, (ndr_role)3, &where), NDR_ERR_ARGUMENT, "role 3");
  assert_ok(ndr_problem_add_operand(&problem, NDR_WHERE, &where));
  assert_fails(ndr_problem_add_operand(&problem, NDR_WHERE, &where), NDR_ERR_ARGUMENT, "two operands");
  for (int k = 0; k < 3; k++) assert_ok(ndr_problem_add_operand(&problem, NDR_WITH, &where));
  assert_fails(ndr_problem_add_operand(&problem, NDR_WITH, &where), NDR_ERR_ARGUMENT, "at most 4");
  ck_assert_int_eq(problem.operand_count, 4);
  problem.group_dim = 1;
  problem.operand_count = 1;
  ndr_plan *plan;
  assert_fails(ndr_plan_create(&plan, &problem, cpu, NULL, NULL), NDR_ERR_ARGUMENT, "group_dim");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("operands");
  suite_case(suite, "options", 10, where_leaves_elements_out, what_is_masked_out_is_not_looked_at,
             nothing_live_gives_the_identity, weights_weigh, a_mask_and_weights_go_together, initial_is_reduced_too,
             initial_is_no_element_that_valid_counts, initial_is_the_minimum_of_nothing,
             all_statistics_of_one_read_share_the_options, operands_have_any_strides,
             calls_with_other_operands_stay_apart, measuring_changes_no_result, scalars_and_empty_arrays_have_operands,
             NULL);
  suite_case(suite, "plans", 10, plans_take_operands, a_plan_without_operands_takes_one_address,
             nan_weights_are_refused, NULL);
  suite_case(suite, "refused", 10, options_are_checked, beside_a_problem_they_are_refused,
             operands_of_problems_are_checked, NULL);
  TCase *many = tcase_create("many weights");
  tcase_set_timeout(many, 60);
  tcase_add_loop_test(many, nan_is_found_among_many_weights, 0, 20);
  tcase_add_loop_test(many, others_stand_beside_what_is_weighted, 0, 6);
  suite_add_tcase(suite, many);
  return suite_run(suite);
}
