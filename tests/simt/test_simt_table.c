/* Scattered labels under emulation: rows gathered through a table, and tiles in shared memory, against the CPU. */
#include <stdlib.h>
#include <string.h>

#include "core/groups/label.h"
#include "cuda/workspace.h"
#include "drive.h"
#include "memory.h"
#include "ndreduce/plan.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/scattered.h"
#include "support/suite.h"

enum { MOST_ROWS = 600, MOST_COLUMNS = 70, WIDE = 300 /* columns, of which a lane has several that lie apart */ };

/* The arrays of a case on the device, and its results on both. */
typedef struct trial {
  scattered problem;
  int device;
  ndr_options host_options, options;
  device_array array, where, weights, results[SCATTERED_OPS];
  test_array expected[SCATTERED_OPS];
} trial;

static void make_arrays(rng *random, trial *t) {
  const scattered *c = &t->problem;
  scattered_array(random, c, &t->array.host);
  device_array_of(&t->array, t->device, rng_once_in(random, 2) ? ndr_dtype_alignment(c->dtype) : 0);
  t->host_options = *NDR_OPTIONS(.groups = scattered_groups(random, c), .group_dim = 1, .skip_nan = c->skip_nan);
  t->options = t->host_options;
  if (c->where) {
    scattered_operand(random, c, NDR_BOOL, &t->where.host);
    device_array_of(&t->where, t->device, 0);
    t->host_options.where = &t->where.host.tensor, t->options.where = &t->where.tensor;
  }
  if (c->weights) {
    scattered_operand(random, c, NDR_F32, &t->weights.host);
    device_array_of(&t->weights, t->device, 0);
    t->host_options.weights = &t->weights.host.tensor, t->options.weights = &t->weights.tensor;
  }
  bool compact = rng_once_in(random, 2);
  for (int i = 0; i < c->op_count; i++) {
    assert_ok(array_result(&t->results[i].host, &t->array.host.tensor, c->dim_count, c->dims, c->ops[i],
                           &t->host_options, compact ? NULL : random));
    assert_ok(
        array_result(&t->expected[i], &t->array.host.tensor, c->dim_count, c->dims, c->ops[i], &t->host_options, NULL));
    device_array_of(&t->results[i], t->device, 0);
  }
}

static void free_arrays(trial *t) {
  for (int i = 0; i < t->problem.op_count; i++) {
    device_free(&t->results[i]);
    array_free(&t->expected[i]);
  }
  ndr_groups_destroy((ndr_groups *)(uintptr_t)t->options.groups);
  device_free(&t->array);
  if (t->problem.where) device_free(&t->where);
  if (t->problem.weights) device_free(&t->weights);
}

static ndr_status run_on_device(trial *t) {
  const scattered *c = &t->problem;
  DLTensor *results[SCATTERED_OPS];
  for (int i = 0; i < c->op_count; i++) results[i] = &t->results[i].tensor;
  return ndreduce_many(&t->array.tensor, c->dim_count, c->dims, c->op_count, c->ops, results, &t->options);
}

static ndr_status run_on_host(trial *t) {
  const scattered *c = &t->problem;
  DLTensor *results[SCATTERED_OPS];
  for (int i = 0; i < c->op_count; i++) results[i] = &t->expected[i].tensor;
  return ndreduce_many(&t->array.host.tensor, c->dim_count, c->dims, c->op_count, c->ops, results, &t->host_options);
}

static void check_results(trial *t, int number) {
  const scattered *c = &t->problem;
  char why[256], label[NDR_LABEL_BYTES];
  for (int i = 0; i < c->op_count; i++) {
    device_fetch(&t->results[i]);
    ck_assert_msg(results_agree(&t->results[i].host.tensor, &t->expected[i].tensor, 64, why, sizeof why),
                  "case %d: %s: %s: %s", number, c->text, ndr_op_label(c->ops[i], label), why);
    ck_assert_msg(array_gaps_untouched(&t->results[i].host), "case %d: %s: written between results", number, c->text);
  }
  ck_assert_msg(!simt_guards_broken(), "case %d: %s: something was written outside the arrays", number, c->text);
}

/* A reduction on the same stream, whose splits find the workspace as it must be: all 0. */
static void check_workspace(trial *t) {
  device_array total;
  test_array expected;
  char why[256];
  assert_ok(array_result(&total.host, &t->array.host.tensor, NDR_ALL_DIMS, NDR_SUM, NULL, NULL));
  assert_ok(array_result(&expected, &t->array.host.tensor, NDR_ALL_DIMS, NDR_SUM, NULL, NULL));
  device_array_of(&total, t->device, 0);
  assert_ok(ndreduce(&t->array.host.tensor, NDR_ALL_DIMS, NDR_SUM, &expected.tensor, NULL));
  assert_ok(ndreduce(&t->array.tensor, NDR_ALL_DIMS, NDR_SUM, &total.tensor, NULL));
  device_fetch(&total);
  ck_assert_msg(results_agree(&total.host.tensor, &expected.tensor, 64, why, sizeof why), "%s: then a sum: %s",
                t->problem.text, why);
  device_free(&total);
  array_free(&expected);
}

/* Runs a trial whose arrays are made on the host and on the device, compares the results, and frees the arrays. */
static void compare_and_free(trial *t, int number) {
  assert_ok(run_on_host(t));
  ndr_status status = run_on_device(t);
  ck_assert_msg(status == NDR_OK, "case %d: %s: %s", number, t->problem.text, ndr_last_error());
  check_results(t, number);
  check_workspace(t);
  free_arrays(t);
}

/* Each of these costs a compilation. */
START_TEST(scattered_labels_agree_with_the_cpu) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I8, NDR_C64};
  rng random = {test_seed() + 77 * (uint64_t)_i};
  int cases = test_case_count(12);
  for (int number = 0; number < cases; number++) {
    trial t = {.device = (int)rng_between(&random, 0, 2)};
    scattered_draw(&random, dtypes[_i], MOST_ROWS, rng_once_in(&random, 4) ? WIDE : MOST_COLUMNS, &t.problem);
    make_arrays(&random, &t);
    compare_and_free(&t, number);
  }
}
END_TEST

/* Rows that are gathered, then labels along the fastest axis. */
START_TEST(places_are_those_of_the_array) {
  rng random = {test_seed()};
  trial t = {.device = 1,
             .problem = {.dtype = NDR_F32,
                         .shape = {2, 300, 48},
                         .strides = {300 * 48, _i ? 1 : 48, _i ? 300 : 1},
                         .label_dims = 1,
                         .groups = 60,
                         .dim_count = 1,
                         .dims = {1},
                         .op_count = 2,
                         .ops = {scattered_placed(), NDR_ARGMAX},
                         .text = "places"}};
  make_arrays(&random, &t);
  assert_ok(run_on_host(&t));
  assert_ok(run_on_device(&t));
  check_results(&t, _i);
  free_arrays(&t);
}
END_TEST

static const char *description_of(const trial *t) {
  static char text[1 << 20];
  const scattered *c = &t->problem;
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  assert_ok(ndr_problem_make(&problem, &t->array.tensor, c->dim_count, c->dims, c->op_count, c->ops));
  problem.groups = t->options.groups;
  problem.group_dim = 1;
  assert_ok(ndr_plan_create(&plan, &problem, t->array.tensor.device, NULL, NULL));
  ndr_plan_describe(plan, text, sizeof text);
  ndr_plan_destroy(plan);
  return text;
}

static int parts_of(const trial *t) {
  const char *rows = strstr(description_of(t), " rows, ");
  return rows ? (int)strtol(rows + strlen(" rows, "), NULL, 10) : 0;
}

/* Parts of a group that a block joins, and fewer that lanes of a warp do. */
START_TEST(parts_are_joined) {
  static const struct {
    int64_t rows, labels;
    int groups, least_parts;
  } of[] = {{1, 2000000, 7, 257}, {3, 200000, 300, 9}};
  rng random = {test_seed()};
  trial t = {.device = 2,
             .problem = {.dtype = NDR_C64,
                         .shape = {of[_i].rows, of[_i].labels, 1},
                         .strides = {of[_i].labels, 1, 1},
                         .label_dims = 1,
                         .groups = of[_i].groups,
                         .dim_count = 1,
                         .dims = {1},
                         .op_count = 1,
                         .ops = {NDR_SUM},
                         .text = "parts"}};
  make_arrays(&random, &t);
  ck_assert_int_ge(parts_of(&t), of[_i].least_parts);
  compare_and_free(&t, _i);
}
END_TEST

/* Rising labels, with tiles that share no group: nothing is joined. Two reduced axes, and two kept ones. */
START_TEST(tiles_of_rising_labels_share_no_group) {
  static const struct {
    ndr_dtype dtype;
    int64_t shape[3], strides[3];
    int groups, dim_count, dims[2], op_count;
    ndr_op ops[SCATTERED_OPS];
    bool where, skip_nan;
  } of[] = {{NDR_F32, {3, 20000, 1}, {20000, 1, 1}, 3000, 1, {1}, 1, {NDR_SUM}, false, false},
            {NDR_F32, {5, 15000, 2}, {30000, 1, 15000}, 300, 2, {1, 0}, 2, {NDR_VAR, NDR_ARGMAX}, true, false},
            {NDR_I8, {2, 90001, 3}, {270007, 1, 90002}, 6001, 1, {1}, 2, {NDR_MAX, NDR_ARGMIN}, false, false},
            {NDR_C64, {6, 9001, 1}, {9001, 1, 1}, 300, 1, {1}, 1, {NDR_MEAN}, true, true}};
  rng random = {test_seed() + (uint64_t)_i};
  trial t = {.device = _i % 3,
             .problem = {.dtype = of[_i].dtype,
                         .label_dims = 1,
                         .groups = of[_i].groups,
                         .rising = true,
                         .dim_count = of[_i].dim_count,
                         .op_count = of[_i].op_count,
                         .skip_nan = of[_i].skip_nan,
                         .where = of[_i].where,
                         .text = "rising"}};
  memcpy(t.problem.shape, of[_i].shape, sizeof of[_i].shape);
  memcpy(t.problem.strides, of[_i].strides, sizeof of[_i].strides);
  memcpy(t.problem.dims, of[_i].dims, sizeof of[_i].dims);
  memcpy(t.problem.ops, of[_i].ops, sizeof of[_i].ops);
  make_arrays(&random, &t);
  ck_assert_int_ge(parts_of(&t), 2);
  ck_assert_ptr_nonnull(strstr(description_of(&t), "workspace 0 B"));
  compare_and_free(&t, _i);
}
END_TEST

/* Groups that have few labels in a tile, whose states have one word. */
START_TEST(few_labels_of_a_group_are_added_one_by_one) {
  static const struct {
    ndr_dtype dtype;
    int64_t shape[3];
    int groups;
    ndr_op op;
    bool where;
  } of[] = {{NDR_F32, {3, 5000, 1}, 1500, NDR_SUM, false},
            {NDR_I8, {2, 3001, 2}, 2000, NDR_MIN, false},
            {NDR_F32, {6, 2500, 1}, 700, NDR_COUNT, true},
            {NDR_F32, {1, 40000, 1}, 5000, NDR_SUM, true}};
  rng random = {test_seed() + (uint64_t)_i};
  const int64_t *shape = of[_i].shape;
  trial t = {.device = _i % 3,
             .problem = {.dtype = of[_i].dtype,
                         .shape = {shape[0], shape[1], shape[2]},
                         .strides = {shape[1] * shape[2], 1, shape[1]},
                         .label_dims = 1,
                         .groups = of[_i].groups,
                         .even = true,
                         .dim_count = 1,
                         .dims = {1},
                         .op_count = 1,
                         .ops = {of[_i].op},
                         .where = of[_i].where,
                         .text = "pairs"}};
  make_arrays(&random, &t);
  const char *text = description_of(&t);
  ck_assert_msg(strstr(text, "label by label") != NULL, "case %d: %s", _i, text);
  compare_and_free(&t, _i);
}
END_TEST

/* Expects that a plan for an array [1000, columns], with labels of `group_count` groups along dim 0, is described by
 * these words. */
static void expect_kernel(int64_t columns, int group_count, const char *words) {
  int32_t values[1000];
  for (int i = 0; i < 1000; i++) values[i] = i * 7 % 311 % group_count;
  DLTensor labels = ndr_tensor(values, NDR_I32, NDR_SHAPE(1000)),
           array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(1000, columns));
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  static char text[1 << 16];
  array.device = (DLDevice){kDLCUDA, 2};
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(0), 1, &op));
  ndr_groups *groups;
  assert_ok(ndr_groups_create(&groups, &labels, group_count));
  problem.groups = groups;
  assert_ok(ndr_plan_create(&plan, &problem, array.device, NULL, NULL));
  ndr_plan_describe(plan, text, sizeof text);
  ck_assert_msg(strstr(text, words) != NULL, "%lld columns: %s", (long long)columns, text);
  ndr_plan_destroy(plan);
  ndr_groups_destroy(groups);
}

START_TEST(long_rows_are_gathered_and_single_elements_tiled) {
  expect_kernel(64, 10, "table_columns");
  expect_kernel(1, 10, "table_tiles");
  expect_kernel(1, 300, "label by label");
}
END_TEST

/* Emulated blocks run one after the other, so that a sum would not notice what is left in its slots. */
static void check_workspace_is_clear(int device) {
  enum { BYTES = 1 << 20 };
  void *memory;
  assert_ok(ndr_cuda_lend(device, BYTES, NULL, &memory));
  const char *bytes = memory;
  ck_assert(bytes[0] == 0 && memcmp(bytes, bytes + 1, BYTES - 1) == 0);
  ndr_cuda_take_back(device, memory, true, NULL);
}

/* Whatever call of the runtime fails, what follows on the stream is right, and if it is the second launch, which joins
 * what the first one left. */
START_TEST(failures_leave_nothing_behind) {
  rng random = {test_seed()};
  trial t = {.device = 2,
             .problem = {.dtype = NDR_F32,
                         .shape = {1, 3000, 48},
                         .strides = {3000 * 48, 48, 1},
                         .label_dims = 1,
                         .groups = 5,
                         .dim_count = 1,
                         .dims = {1},
                         .op_count = 1,
                         .ops = {NDR_SUM},
                         .text = "failures"}};
  make_arrays(&random, &t);
  assert_ok(run_on_host(&t));
  int64_t launches = simt_controls.launches;
  assert_ok(run_on_device(&t));
  ck_assert_int_eq(simt_controls.launches - launches, 2);
  int failed = 0;
  bool fails = true;
  for (int64_t call = 1; fails; call++) {
    simt_controls.calls = 0;
    simt_controls.failing_call = call;
    fails = run_on_device(&t) != NDR_OK || simt_controls.calls >= call;
    simt_controls.failing_call = 0;
    failed += fails;
    check_workspace_is_clear(t.device);
  }
  ck_assert_int_gt(failed, 2);
  assert_ok(run_on_device(&t));
  check_results(&t, 0);
  free_arrays(&t);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("tables on the emulated GPU");
  TCase *cases = tcase_create("against the CPU");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, scattered_labels_agree_with_the_cpu, 0, 3);
  tcase_add_loop_test(cases, places_are_those_of_the_array, 0, 2);
  tcase_add_loop_test(cases, parts_are_joined, 0, 2);
  tcase_add_loop_test(cases, tiles_of_rising_labels_share_no_group, 0, 4);
  tcase_add_loop_test(cases, few_labels_of_a_group_are_added_one_by_one, 0, 4);
  tcase_add_test(cases, long_rows_are_gathered_and_single_elements_tiled);
  tcase_add_test(cases, failures_leave_nothing_behind);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
