/* The public calls with arrays beside the array: options, plans, accumulators, and what they refuse. */
#include <math.h>
#include <stdio.h>

#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "support/cases.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

static float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
static uint8_t mask[2][3] = {{1, 0, 1}, {0, 1, 1}};
static double weights[3] = {0.5, 1, 2};
static const double none;

static DLTensor array_of(void) {
  static int64_t shape[] = {2, 3};
  return ndr_tensor(x, NDR_F32, 2, shape);
}

static DLTensor mask_of(void) {
  static int64_t shape[] = {2, 3};
  return ndr_tensor(mask, NDR_BOOL, 2, shape);
}

static DLTensor weights_of(void) {
  static int64_t shape[] = {3};
  return ndr_tensor(weights, NDR_F64, 1, shape);
}

/* Reduces x over dim 1 to two f32. */
static ndr_status rows(ndr_op op, const ndr_options *options, float *out) {
  int64_t shape[] = {2};
  DLTensor array = array_of(), result = ndr_tensor(out, NDR_F32, 1, shape);
  return ndreduce(&array, NDR_DIMS(1), op, &result, options);
}

/* ---- options ---- */

START_TEST(where_leaves_elements_out) {
  DLTensor where = mask_of();
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
  DLTensor weight = weights_of();
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.weights = &weight), out));
  ck_assert(out[0] == 8.5f && out[1] == 19);
  assert_ok(rows(NDR_MEAN, NDR_OPTIONS(.weights = &weight), out));
  ck_assert(out[0] == (float)(8.5 / 3.5) && out[1] == (float)(19 / 3.5));
  double mean = 8.5 / 3.5, spread = 0, squares = 0.25 + 1 + 4;
  for (int i = 0; i < 3; i++) spread += weights[i] * ((double)x[0][i] - mean) * ((double)x[0][i] - mean);
  assert_ok(rows(NDR_VAR, NDR_OPTIONS(.ddof = 1, .weights = &weight), out));
  ck_assert_float_eq_tol(out[0], (float)(spread / 2.5), 1e-6f);
  assert_ok(rows(NDR_STD, NDR_OPTIONS(.ddof = 1, .weighting = NDR_RELIABILITY, .weights = &weight), out));
  ck_assert_float_eq_tol(out[0], (float)sqrt(spread / (3.5 - squares / 3.5)), 1e-6f);
}
END_TEST

START_TEST(a_mask_and_weights_go_together) {
  DLTensor weight = weights_of(), where = mask_of();
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

START_TEST(initial_is_the_minimum_of_nothing) {
  const double three = 3;
  float out = 0;
  int64_t empty[] = {0};
  DLTensor array = ndr_tensor(x, NDR_F32, 1, empty), result = ndr_tensor(&out, NDR_F32, 0, NULL);
  assert_fails(ndreduce(&array, NDR_ALL_DIMS, NDR_MIN, &result, NULL), NDR_ERR_EMPTY, "min");
  assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_MIN, &result, NDR_OPTIONS(.initial = &three)));
  ck_assert(out == 3);
}
END_TEST

START_TEST(all_statistics_of_one_read_share_the_options) {
  int64_t rows_shape[] = {2, 1}, valid[2], at[2];
  float sum[2];
  uint8_t any[2];
  DLTensor array = array_of(), where = mask_of(), results[4];
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

START_TEST(operands_have_any_strides) {
  int64_t steps[] = {-3, -1}, column[] = {2, 1};
  uint8_t spread[] = {1, 9, 0};
  DLTensor where = mask_of();
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
  DLTensor where = mask_of(), weight = weights_of(), narrow = weights_of();
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
  DLTensor where = mask_of();
  float out[2];
  assert_ok(rows(NDR_SUM, NDR_OPTIONS(.where = &where, .planning = NDR_MEASURE), out));
  ck_assert(out[0] == 4 && out[1] == 11);
}
END_TEST

/* ---- operators of one's own ---- */

/* Each operator of a call has a result as the call's, described with the call's options. */
START_TEST(each_operator_of_a_call_is_described) {
  DLTensor weight = weights_of();
  double dots[2], wide[2], sums[2];
  int64_t shape[] = {2}, sizes[3][NDR_MAX_DIMS];
  DLTensor array = array_of(), results[3], absent = ndr_tensor(NULL, NDR_F64, 1, (int64_t[]){7});
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
  DLTensor weight = weights_of();
  double out[2];
  int64_t shape[] = {2};
  DLTensor array = array_of(), result = ndr_tensor(out, NDR_F64, 1, shape),
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
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){x, weights}, (void *[]){out}, NULL, 0, NULL));
  ck_assert(out[0] == 8.5 && out[1] == 19);
  ck_assert_uint_gt(ndr_plan_describe(plan, description, sizeof description), 0);
  ndr_plan_destroy(plan);
}
END_TEST

/* ---- plans ---- */

START_TEST(plans_take_operands) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  DLTensor array = array_of(), where = mask_of(), weight = weights_of();
  const ndr_op ops[] = {NDR_SUM, NDR_MEAN};
  ndr_plan *plan;
  float sum[2], mean[2];
  void *results[] = {sum, mean};
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(1), 2, ops));
  assert_ok(ndr_problem_add_operand(&problem, NDR_WEIGHTS, &weight));
  assert_ok(ndr_problem_add_operand(&problem, NDR_WHERE, &where));
  ck_assert_int_eq(problem.operands[0].strides[0], 0);
  assert_ok(ndr_plan_create(&plan, &problem, cpu, NULL, NULL));
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){x, weights, mask}, results, NULL, 0, NULL));
  ck_assert(sum[0] == 6.5f && sum[1] == 17 && mean[0] == 2.6f);
  assert_fails(ndr_plan_execute(plan, x, results, NULL, 0, NULL), NDR_ERR_ARGUMENT, "ndr_plan_execute_operands");
  assert_fails(ndr_plan_execute_operands(plan, (const void *[]){x, NULL, mask}, results, NULL, 0, NULL),
               NDR_ERR_ARGUMENT, "weights is a null pointer");
  assert_fails(ndr_plan_execute_operands(plan, (const void *[]){x, (char *)weights + 4, mask}, results, NULL, 0, NULL),
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
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){x}, (void *[]){&out}, NULL, 0, NULL));
  ck_assert(out == 21);
  ndr_plan_destroy(plan);
}
END_TEST

/* Threads look at pieces of the weights: at either end, at the borders, and in between. */
START_TEST(nan_is_found_among_many_weights) {
  enum { ROWS = 301, COLUMNS = 700, PITCH = 703 };
  static float values[ROWS * COLUMNS], weight[ROWS * PITCH], out[COLUMNS];
  int64_t shape[] = {ROWS, COLUMNS}, kept[] = {COLUMNS}, strides[] = {PITCH, 1}, swapped[] = {1, ROWS};
  for (int i = 0; i < ROWS * PITCH; i++) weight[i] = i % PITCH < COLUMNS ? 1 : NAN; /* not what lies between rows */
  for (int layout = 0; layout < 2; layout++) {
    DLTensor array = ndr_tensor(values, NDR_F32, 2, shape), result = ndr_tensor(out, NDR_F32, 1, kept),
             tensor = ndr_tensor(weight, NDR_F32, 2, shape);
    tensor.strides = layout ? swapped : strides;
    for (int i = 0; layout && i < ROWS * COLUMNS; i++) weight[i] = 1;
    for (int threads = 1; threads <= 4; threads += 3) {
      ndr_options options = NDR_OPTIONS_INIT;
      options.weights = &tensor;
      options.threads = threads;
      out[0] = 7;
      assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_MEAN, &result, &options));
      ck_assert(out[0] == 0);
      for (int place = 0; place < ROWS * COLUMNS; place += place < 5 ? 1 : 4999) {
        float *at = weight + place / COLUMNS * tensor.strides[0] + place % COLUMNS * tensor.strides[1];
        *at = NAN;
        out[0] = 7;
        assert_fails(ndreduce(&array, NDR_DIMS(0), NDR_MEAN, &result, &options), NDR_ERR_ARGUMENT, "weights have NaN");
        ck_assert(out[0] == 7);
        *at = 1;
      }
      float *last = weight + (ROWS - 1) * tensor.strides[0] + (COLUMNS - 1) * tensor.strides[1];
      *last = NAN;
      assert_fails(ndreduce(&array, NDR_DIMS(0), NDR_MEAN, &result, &options), NDR_ERR_ARGUMENT, "weights have NaN");
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

/* ---- accumulators ---- */

enum { ROWS = 7, COLUMNS = 5 };

typedef struct whole {
  double x[ROWS][COLUMNS], y[ROWS][COLUMNS];
  uint8_t where[ROWS][COLUMNS];
  ndr_problem problem;
  double expected[6][COLUMNS];
} whole;

static const char problem_text[] =
    "sum,mean,{at(x, y): s += x * y + index(0) * 10 + index(1) -> s},{n(x): m max= x -> m * 2 + n},max,var "
    "f64 [7,5] /0 where=bool[5,1] with=f64[5,1]";

static void fill(whole *w, rng *random) {
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    w->x[i / COLUMNS][i % COLUMNS] = (double)rng_between(random, -9, 9);
    w->y[i / COLUMNS][i % COLUMNS] = (double)rng_between(random, -9, 9);
    w->where[i / COLUMNS][i % COLUMNS] = rng_between(random, 0, 2) > 0;
  }
  assert_ok(ndr_problem_parse(problem_text, &w->problem));
}

static void reduce_whole(whole *w) {
  ndr_plan *plan;
  void *results[6];
  for (int i = 0; i < 6; i++) results[i] = w->expected[i];
  assert_ok(ndr_plan_create(&plan, &w->problem, cpu, NULL, NULL));
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){w->x, w->where, w->y}, results, NULL, 0, NULL));
  ndr_plan_destroy(plan);
}

static DLTensor part_of(void *data, ndr_dtype dtype, int64_t *shape) {
  static int64_t strides[] = {COLUMNS, 1};
  DLTensor tensor = ndr_tensor(data, dtype, 2, shape);
  tensor.strides = strides;
  return tensor;
}

static void add_part(ndr_accumulator *a, whole *w, int64_t row, int64_t column, int64_t height, int64_t width) {
  int64_t shape[] = {height, width}, offset[] = {row, column};
  if (height == 0 || width == 0) row = column = 0; /* an address in the array, for a slab of no elements */
  DLTensor slab = part_of(&w->x[row][column], NDR_F64, shape), where = part_of(&w->where[row][column], NDR_BOOL, shape),
           with = part_of(&w->y[row][column], NDR_F64, shape);
  assert_ok(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&where, &with}, offset));
}

static void assert_finished(const ndr_accumulator *a, const whole *w) {
  double got[6][COLUMNS];
  int64_t shape[] = {COLUMNS};
  DLTensor results[6];
  DLTensor *pointers[6];
  for (int i = 0; i < 6; i++) {
    results[i] = ndr_tensor(got[i], NDR_F64, 1, shape);
    pointers[i] = &results[i];
  }
  assert_ok(ndr_accumulator_finish(a, pointers));
  for (int i = 0; i < 6; i++)
    for (int c = 0; c < COLUMNS; c++)
      ck_assert_msg(got[i][c] == w->expected[i][c] || (isnan(got[i][c]) && isnan(w->expected[i][c])) ||
                        fabs(got[i][c] - w->expected[i][c]) <= 1e-12 * fabs(got[i][c]),
                    "operator %d, column %d: %g, expected %g", i, c, got[i][c], w->expected[i][c]);
}

START_TEST(slabs_come_in_any_order) {
  rng random = {test_seed()};
  for (int round = 0; round < test_case_count(50); round++) {
    whole w = {.problem = NDR_PROBLEM_INIT};
    fill(&w, &random);
    reduce_whole(&w);
    ndr_accumulator *a, *b;
    int64_t row = rng_between(&random, 0, ROWS), column = rng_between(&random, 0, COLUMNS);
    assert_ok(ndr_accumulator_create(&a, &w.problem, cpu, NULL));
    assert_ok(ndr_accumulator_create(&b, &w.problem, cpu, NULL));
    ndr_operator_destroy(w.problem.ops[2]); /* accumulators outlive them */
    ndr_operator_destroy(w.problem.ops[3]);
    add_part(b, &w, row, column, ROWS - row, COLUMNS - column);
    add_part(a, &w, 0, column, row, COLUMNS - column);
    add_part(a, &w, row, 0, ROWS - row, column);
    add_part(b, &w, 0, 0, row, column);
    assert_ok(ndr_accumulator_merge(a, b));
    assert_finished(a, &w);
    ck_assert_uint_gt(ndr_accumulator_bytes(a), 0);
    ndr_accumulator_destroy(a);
    ndr_accumulator_destroy(b);
  }
}
END_TEST

START_TEST(operands_of_slabs_broadcast) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_accumulator *a;
  double sum[2];
  int64_t shape[] = {2};
  DLTensor slab = array_of(), weight = weights_of(), result = ndr_tensor(sum, NDR_F32, 1, shape);
  float got[2];
  result.data = got;
  assert_ok(ndr_problem_parse("sum f32 [4,3] /1 weights=f64[0,1]", &problem));
  assert_ok(ndr_accumulator_create(&a, &problem, cpu, NULL));
  assert_ok(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&weight}, (int64_t[]){2, 0}));
  float all[4];
  shape[0] = 4;
  result.data = all;
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert(all[0] == 0 && all[2] == 8.5f && all[3] == 19);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(initial_counts_once) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_accumulator *a;
  int64_t out[1] = {0}, values[4] = {1, 2, 3, 4}, two[] = {2};
  DLTensor result = ndr_tensor(out, NDR_I64, 0, NULL);
  assert_ok(ndr_problem_parse("sum i64 [4] /0 initial=100", &problem));
  assert_ok(ndr_accumulator_create(&a, &problem, cpu, NULL));
  for (int64_t at = 0; at < 4; at += 2) {
    DLTensor slab = ndr_tensor(values + at, NDR_I64, 1, two);
    assert_ok(ndr_accumulator_add(a, &slab, &at));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  }
  ck_assert_int_eq(out[0], 110);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(accumulators_refuse) {
  ndr_problem problem = NDR_PROBLEM_INIT, other = NDR_PROBLEM_INIT;
  ndr_accumulator *a, *b;
  const int64_t offset[] = {0, 0};
  DLTensor slab = array_of(), where = mask_of(), weight = weights_of(), far = mask_of();
  far.device = (DLDevice){kDLCUDA, 0};
  assert_ok(ndr_problem_parse("sum f32 [2,3] /1 where=bool[3,1]", &problem));
  assert_ok(ndr_problem_parse("sum f32 [2,3] /1 where=bool[3,1] initial=1", &other));
  assert_ok(ndr_accumulator_create(&a, &problem, cpu, NULL));
  assert_ok(ndr_accumulator_create(&b, &other, cpu, NULL));
  assert_fails(ndr_accumulator_add(a, &slab, offset), NDR_ERR_ARGUMENT, "ndr_accumulator_add_operands");
  assert_fails(ndr_accumulator_add_operands(a, &slab, NULL, offset), NDR_ERR_ARGUMENT, "operands is a null pointer");
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){NULL}, offset), NDR_ERR_ARGUMENT, "'where'");
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&weight}, offset), NDR_ERR_ARGUMENT, "f64");
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&far}, offset), NDR_ERR_ARGUMENT, "cuda:0");
  where.shape = (int64_t[]){3, 2};
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&where}, offset), NDR_ERR_ARGUMENT,
               "does not broadcast");
  assert_fails(ndr_accumulator_merge(a, b), NDR_ERR_ARGUMENT, "alike");
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(options_are_checked) {
  const double half = 0.5;
  float out[2];
  DLTensor where = mask_of(), weight = weights_of(), tall = mask_of(), deep = mask_of(), cuda = mask_of();
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
  DLTensor where = mask_of(), weight = weights_of();
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
  DLTensor where = mask_of(), array = array_of();
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

int main(void) {
  Suite *suite = suite_create("operands");
  suite_case(suite, "options", 10, where_leaves_elements_out, what_is_masked_out_is_not_looked_at,
             nothing_live_gives_the_identity, weights_weigh, a_mask_and_weights_go_together, initial_is_reduced_too,
             initial_is_the_minimum_of_nothing, all_statistics_of_one_read_share_the_options, operands_have_any_strides,
             calls_with_other_operands_stay_apart, measuring_changes_no_result, scalars_and_empty_arrays_have_operands,
             NULL);
  suite_case(suite, "operators", 10, own_operators_read_their_arrays, each_operator_of_a_call_is_described,
             a_plan_is_described_after_its_operators, plans_outlive_operators, NULL);
  suite_case(suite, "plans", 10, plans_take_operands, a_plan_without_operands_takes_one_address,
             nan_weights_are_refused, nan_is_found_among_many_weights, choices_of_problems_with_operands_are_remembered,
             NULL);
  suite_case(suite, "accumulators", 60, slabs_come_in_any_order, operands_of_slabs_broadcast, initial_counts_once,
             accumulators_refuse, NULL);
  suite_case(suite, "refused", 10, options_are_checked, beside_a_problem_they_are_refused,
             operands_of_problems_are_checked, NULL);
  return suite_run(suite);
}
