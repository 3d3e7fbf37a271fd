/* Plans through the public calls: made once, executed often and from many threads, described, destroyed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/reduce.h"
#include "support/suite.h"

enum { ROWS = 37, COLUMNS = 53 };

static void make_input(test_array *array) {
  rng random = {test_seed()};
  array_make(array, NDR_F32, 2, (int64_t[]){ROWS, COLUMNS}, NULL);
  array_fill(array, &random, FILL_SMALL);
}

static void *make_workspace(const ndr_plan *plan) {
  size_t bytes = ndr_plan_workspace(plan);
  return bytes ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
}

static ndr_status execute(const ndr_plan *plan, const void *data, void *result) {
  void *workspace = make_workspace(plan);
  ndr_status status = ndr_plan_execute(plan, data, &result, workspace, ndr_plan_workspace(plan), NULL);
  free(workspace);
  return status;
}

static double column_sum(const test_array *array, int column) {
  long double sum = 0;
  for (int64_t r = 0; r < ROWS; r++) sum += array_get(&array->tensor, (int64_t[]){r, column}).re;
  return (double)sum;
}

START_TEST(a_plan_is_created_executed_and_destroyed) {
  test_array array;
  float sums[COLUMNS];
  ndr_plan *plan = NULL;
  ndr_op op = NDR_SUM;
  make_input(&array);
  assert_ok(plan_array(&plan, &array.tensor, NDR_DIMS(0), 1, &op, NULL, NULL));
  void *workspace = make_workspace(plan);
  for (int round = 0; round < 3; round++) {
    memset(sums, 0, sizeof sums);
    assert_ok(ndr_plan_execute(plan, array.memory, (void *[]){sums}, workspace, ndr_plan_workspace(plan), NULL));
    for (int c = 0; c < COLUMNS; c++) ck_assert((double)sums[c] == column_sum(&array, c));
  }
  ndr_plan_destroy(plan);
  free(workspace);
  array_free(&array);
}
END_TEST

START_TEST(data_is_not_needed_to_plan) {
  ndr_plan *plan = NULL;
  ndr_op op = NDR_MAX;
  DLTensor array = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(100, 100));
  assert_ok(plan_array(&plan, &array, NDR_DIMS(1), 1, &op, NULL, NULL));
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(result_strides_are_part_of_the_plan) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, out[5] = {-1, -1, -1, -1, -1};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(3));
  ndr_plan *plan = NULL;
  ndr_op op = NDR_SUM;
  result.strides = (int64_t[]){2};
  assert_ok(plan_array(&plan, &array, NDR_DIMS(0), 1, &op, (const DLTensor *[]){&result}, NULL));
  assert_ok(execute(plan, x, out));
  ck_assert(out[0] == 5 && out[1] == -1 && out[2] == 7 && out[3] == -1 && out[4] == 9);
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(failing_to_plan_leaves_null) {
  DLTensor array = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(4, 4)), wrong = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(5));
  ndr_plan *plan = (ndr_plan *)(void *)&array;
  ndr_op op = NDR_SUM;
  assert_fails(plan_array(&plan, &array, NDR_DIMS(2), 1, &op, NULL, NULL), NDR_ERR_DIMS, "dim 2");
  ck_assert_ptr_null(plan);
  plan = (ndr_plan *)(void *)&array;
  assert_fails(plan_array(&plan, &array, NDR_DIMS(1), 1, &op, (const DLTensor *[]){&wrong}, NULL), NDR_ERR_RESULT,
               "must be [4]");
  ck_assert_ptr_null(plan);
  assert_fails(plan_array(&plan, NULL, NDR_DIMS(1), 1, &op, NULL, NULL), NDR_ERR_ARGUMENT, "array");
  assert_fails(ndr_plan_create(NULL, &(ndr_problem)NDR_PROBLEM_INIT, array.device, NULL, NULL), NDR_ERR_ARGUMENT,
               "plan");
  assert_fails(ndr_plan_create(&plan, NULL, array.device, NULL, NULL), NDR_ERR_ARGUMENT, "problem");
  assert_fails(plan_array(&plan, &array, NDR_DIMS(1), 0, &op, NULL, NULL), NDR_ERR_ARGUMENT, "op_count");
  assert_fails(plan_array(&plan, &array, NDR_DIMS(1), NDR_MAX_OPS + 1, &op, NULL, NULL), NDR_ERR_ARGUMENT, "21");
  assert_fails(plan_array(&plan, &array, NDR_DIMS(1), 1, NULL, NULL, NULL), NDR_ERR_ARGUMENT, "ops");
}
END_TEST

START_TEST(empty_ordered_reductions_are_not_planned) {
  DLTensor array = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(4, 0));
  ndr_plan *plan;
  ndr_op op = NDR_MAX;
  assert_fails(plan_array(&plan, &array, NDR_DIMS(1), 1, &op, NULL, NULL), NDR_ERR_EMPTY, "max");
}
END_TEST

START_TEST(executing_checks_its_pointers) {
  float x[4] = {1, 2, 3, 4}, sum = -1;
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4));
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  assert_ok(plan_array(&plan, &array, NDR_DIMS(0), 1, &op, NULL, NULL));
  assert_fails(ndr_plan_execute(NULL, x, (void *[]){&sum}, NULL, 0, NULL), NDR_ERR_ARGUMENT, "null");
  assert_fails(ndr_plan_execute(plan, NULL, (void *[]){&sum}, NULL, 0, NULL), NDR_ERR_ARGUMENT, "data");
  assert_fails(ndr_plan_execute(plan, x, NULL, NULL, 0, NULL), NDR_ERR_ARGUMENT, "null");
  assert_fails(ndr_plan_execute(plan, x, (void *[]){NULL}, NULL, 0, NULL), NDR_ERR_ARGUMENT, "result 0");
  ck_assert(sum == -1);
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(a_workspace_is_lent_to_who_has_none) {
  enum { WIDE = 8000, TALL = 500 };
  test_array array;
  rng random = {test_seed()};
  double *own = malloc(WIDE * sizeof *own), *lent = malloc(WIDE * sizeof *lent);
  ndr_plan *plan;
  ndr_op op = NDR_VAR;
  array_make(&array, NDR_F64, 2, (int64_t[]){TALL, WIDE}, NULL);
  array_fill(&array, &random, FILL_WIDE);
  assert_ok(plan_array(&plan, &array.tensor, NDR_DIMS(0), 1, &op, NULL, NULL));
  ck_assert_uint_gt(ndr_plan_workspace(plan), 0);
  assert_ok(execute(plan, array.memory, own));
  assert_ok(ndr_plan_execute(plan, array.memory, (void *[]){lent}, NULL, 0, NULL));
  ck_assert(memcmp(own, lent, WIDE * sizeof *own) == 0);
  ndr_plan_destroy(plan);
  free(own);
  free(lent);
  array_free(&array);
}
END_TEST

START_TEST(plans_of_nothing_run) {
  double sums[3] = {9, 9, 9};
  DLTensor empty = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(3, 0));
  ndr_plan *plan;
  ndr_op op = NDR_PROD;
  assert_ok(plan_array(&plan, &empty, NDR_DIMS(1), 1, &op, NULL, NULL));
  assert_ok(execute(plan, NULL, sums));
  ck_assert(sums[0] == 1 && sums[2] == 1);
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(null_plans_are_harmless) {
  char text[8] = "before";
  ndr_plan_destroy(NULL);
  ck_assert_uint_eq(ndr_plan_workspace(NULL), 0);
  ck_assert_uint_eq(ndr_plan_describe(NULL, text, sizeof text), 0);
  ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_description_repeats_the_problem) {
  char text[4096];
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(64, 1000));
  ndr_plan *plan;
  ndr_op ops[] = {NDR_MEAN, NDR_VAR};
  ndr_options options = NDR_OPTIONS_INIT;
  options.ddof = 1;
  array.strides = (int64_t[]){1, 64};
  assert_ok(plan_array(&plan, &array, NDR_DIMS(-1), 2, ops, NULL, &options));
  ck_assert_uint_lt(ndr_plan_describe(plan, text, sizeof text), sizeof text);
  ck_assert_msg(strstr(text, "mean,var f32 [64:1,1000:64] /1 ddof=1 on cpu:0") == text, "%s", text);
  ck_assert_ptr_nonnull(strstr(text, "64 outputs x 1000"));
  ck_assert_ptr_nonnull(strstr(text, "scalar"));
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(plans_can_be_made_for_a_machine_that_is_not_there) {
  char text[4096];
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(1 << 14, 1 << 14));
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  ndr_device device = {.size = sizeof device, .type = kDLCPU, .units = 96, .bandwidth = 3e11};
  ndr_options options = NDR_OPTIONS_INIT;
  options.device = &device;
  assert_ok(plan_array(&plan, &array, NDR_DIMS(0), 1, &op, NULL, &options));
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_msg(strstr(text, "(96 threads)") != NULL, "%s", text);
  ndr_plan_destroy(plan);
}
END_TEST

/* The family that a CPU of so many threads takes. */
static void choose_family(int units, int64_t rows, int64_t columns, int dim, int op_count, char *family) {
  static const ndr_op ops[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_NORM2};
  char text[4096];
  DLTensor array = ndr_tensor(NULL, NDR_F64, NDR_SHAPE(rows, columns));
  ndr_plan *plan;
  ndr_device device = {.size = sizeof device, .type = kDLCPU, .units = units, .bandwidth = 3e10};
  ndr_options options = NDR_OPTIONS_INIT;
  options.device = &device;
  assert_ok(plan_array(&plan, &array, NDR_DIMS(dim), op_count, ops, NULL, &options));
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_int_eq(sscanf(strchr(text, '\n'), "%15s", family), 1);
  ndr_plan_destroy(plan);
}

/* Families add in different orders. */
START_TEST(neither_threads_nor_other_ops_choose_the_family) {
  for (int64_t rows = 1; rows <= 5000; rows += 1 + rows / 4) {
    for (int64_t columns = 1; columns <= 5000; columns += 1 + columns / 4) {
      char one[16], other[16];
      choose_family(1, rows, columns, 1, 1, one);
      choose_family(1000, rows, columns, 1, 1, other);
      ck_assert_str_eq(one, other);
      choose_family(1, rows, columns, 1, 4, other);
      ck_assert_str_eq(one, other);
    }
  }
}
END_TEST

START_TEST(a_forced_family_is_named) {
  char text[4096];
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(100, 100));
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  ndr_options options = NDR_OPTIONS_INIT;
  options.force_family = "scalar";
  assert_ok(plan_array(&plan, &array, NDR_DIMS(0), 1, &op, NULL, &options));
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_ptr_nonnull(strstr(text, "\nscalar  100 outputs x 100"));
  ck_assert_ptr_nonnull(strstr(text, "(forced)"));
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(measured_planning_gives_the_same_result) {
  test_array array;
  float sums[COLUMNS];
  ndr_options options = NDR_OPTIONS_INIT;
  options.planning = NDR_MEASURE;
  DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS));
  make_input(&array);
  assert_ok(ndreduce(&array.tensor, NDR_DIMS(0), NDR_SUM, &result, &options));
  for (int c = 0; c < COLUMNS; c++) ck_assert((double)sums[c] == column_sum(&array, c));
  array_free(&array);
}
END_TEST

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 200 };

typedef struct worker {
  pthread_t thread;
  const ndr_plan *plan; /* NULL: call ndreduce, which shares its cache */
  test_array array;
  int wrong;
} worker;

static ndr_status sum_once(worker *w, float *sums) {
  DLTensor result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(COLUMNS));
  if (!w->plan) return ndreduce(&w->array.tensor, NDR_DIMS(0), NDR_SUM, &result, NULL);
  return execute(w->plan, w->array.memory, sums);
}

static void *work(void *argument) {
  worker *w = argument;
  for (int round = 0; round < ROUNDS; round++) {
    float sums[COLUMNS] = {0};
    w->wrong += sum_once(w, sums) != NDR_OK;
    for (int c = 0; c < COLUMNS; c++) w->wrong += (double)sums[c] != column_sum(&w->array, c);
  }
  return NULL;
}

static void run_workers(const ndr_plan *plan) {
  static worker workers[THREADS];
  for (int t = 0; t < THREADS; t++) {
    rng random = {test_seed() + (uint64_t)t};
    workers[t].plan = plan;
    workers[t].wrong = 0;
    array_make(&workers[t].array, NDR_F32, 2, (int64_t[]){ROWS, COLUMNS}, NULL);
    array_fill(&workers[t].array, &random, FILL_SMALL);
    ck_assert_int_eq(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
  }
  for (int t = 0; t < THREADS; t++) {
    pthread_join(workers[t].thread, NULL);
    ck_assert_int_eq(workers[t].wrong, 0);
    array_free(&workers[t].array);
  }
}

START_TEST(one_plan_serves_many_threads) {
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(ROWS, COLUMNS));
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  assert_ok(plan_array(&plan, &array, NDR_DIMS(0), 1, &op, NULL, NULL));
  run_workers(plan);
  ndr_plan_destroy(plan);
}
END_TEST

START_TEST(ndreduce_serves_many_threads) {
  run_workers(NULL);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api plan");
  suite_case(suite, "life", 30, a_plan_is_created_executed_and_destroyed, data_is_not_needed_to_plan,
             result_strides_are_part_of_the_plan, failing_to_plan_leaves_null, empty_ordered_reductions_are_not_planned,
             executing_checks_its_pointers, a_workspace_is_lent_to_who_has_none, plans_of_nothing_run,
             null_plans_are_harmless, NULL);
  suite_case(suite, "choice", 30, a_description_repeats_the_problem, plans_can_be_made_for_a_machine_that_is_not_there,
             neither_threads_nor_other_ops_choose_the_family, a_forced_family_is_named,
             measured_planning_gives_the_same_result, NULL);
  suite_case(suite, "threads", 120, one_plan_serves_many_threads, ndreduce_serves_many_threads, NULL);
  return suite_run(suite);
}
