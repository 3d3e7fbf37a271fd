/* Groups along a dim through the library: windows and labels against loops, whatever memory and threads there are; what
 * they are called; refusals. Times are compared with another program's dates in tests/cli/groups.py. */
#include <stdlib.h>
#include <string.h>

#include "h5/run/job/stages.h"
#include "support/h5_any.h"
#include "support/suite.h"

enum { STEPS = 300, ROWS = 20, COLUMNS = 30, ZONES = 5 };

static double x[STEPS][ROWS][COLUMNS];
static int16_t labels[STEPS];
static ndr_h5_dataset *dataset, *zones, *floats;
static int steps = STEPS; /* of the dataset, in which x repeats */
static const double *weights;
static char label_file[128];

static void start(void) {
  rng random = {5};
  h5_make_folder();
  snprintf(label_file, sizeof label_file, "%s/labels.h5", h5_folder);
  for (int i = 0; i < STEPS * ROWS * COLUMNS; i++) (&x[0][0][0])[i] = (double)rng_between(&random, -1000, 1000) / 7;
  for (int i = 0; i < STEPS; i++) labels[i] = (int16_t)(rng_between(&random, -1, ZONES - 1) * 10);
  DLTensor array = ndr_tensor(x, NDR_F64, NDR_SHAPE(STEPS, ROWS, COLUMNS));
  DLTensor numbers = ndr_tensor(labels, NDR_I16, NDR_SHAPE(STEPS));
  dataset = h5_open_written(h5_input, &array, NDR_F64, (const hsize_t[]){7, 20, 11});
  zones = h5_open_written(label_file, &numbers, NDR_I16, NULL);
  DLTensor wrong = ndr_tensor(x, NDR_F64, NDR_SHAPE(STEPS));
  floats = h5_open_written(h5_output, &wrong, NDR_F64, NULL);
}

static void finish(void) {
  ndr_stage_bytes = -1;
  ndr_h5_close(dataset);
  ndr_h5_close(zones);
  ndr_h5_close(floats);
  remove(label_file);
  h5_remove_folder();
}

/* Reduces by groups along dim 0; `columns`: dim 2 is reduced, too. */
static void reduce(const ndr_h5_groups *groups, ndr_op op, bool columns, const ndr_h5_options *given, void *result) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_h5_options how = *given;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor tensor = {.shape = shape};
  const DLTensor along = ndr_tensor((void *)(uintptr_t)weights, NDR_F64, NDR_SHAPE(steps));
  how.groups = groups;
  how.weights = weights && op == NDR_SUM ? &along : NULL;
  how.weight_dims = (int[]){0};
  assert_ok(ndr_h5_problem(&problem, dataset, columns, (int[]){2}, 1, &op));
  assert_ok(ndr_h5_problem_operands(&problem, dataset, &how));
  assert_ok(ndr_problem_result(&problem, 0, &tensor));
  ck_assert_int_eq(tensor.ndim, columns ? 2 : 3);
  ck_assert_int_eq(shape[0], ndr_h5_groups_count(groups));
  tensor.data = result;
  assert_ok(ndr_h5_reduce(dataset, &problem, (DLTensor *[]){&tensor}, &how));
}

/* The same of one output by a loop; group_of(step) is the step's group, or -1. */
static double loop(int (*group_of)(int), int group, int row, int column, bool index) {
  double sum = 0, most = -1e300;
  int at = -1;
  for (int t = 0; t < steps; t++)
    for (int c = column < 0 ? 0 : column; c < (column < 0 ? COLUMNS : column + 1); c++) {
      double value = x[t % STEPS][row][c];
      if (group_of(t) != group) continue;
      sum += value * (weights ? weights[t] : 1);
      if (value <= most) continue;
      most = value;
      at = column < 0 ? t * COLUMNS + c : t;
    }
  return index ? at : sum;
}

static int in_window(int step) {
  return step / 24;
}

static int in_zone(int step) {
  return labels[step] < 0 ? -1 : labels[step] / 10;
}

static double sums[STEPS * ROWS * COLUMNS], again[STEPS * ROWS * COLUMNS];
static int64_t found[STEPS * ROWS * COLUMNS];

static void compare(const ndr_h5_groups *groups, int (*group_of)(int)) {
  static const struct {
    int64_t memory;
    int threads;
  } ways[] = {{0, 0}, {200 << 10, 1}, {1 << 20, 3}};
  int count = (int)ndr_h5_groups_count(groups);
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
    for (int columns = 0; columns < 2; columns++) {
      int width = columns ? 1 : COLUMNS, outputs = count * ROWS * width;
      ndr_h5_options how = NDR_H5_OPTIONS_INIT;
      how.memory = ways[way].memory;
      how.threads = ways[way].threads;
      reduce(groups, NDR_SUM, columns, &how, sums);
      reduce(groups, NDR_ARGMAX, columns, &how, found);
      for (int i = 0; i < outputs; i++) {
        int group = i / (ROWS * width), row = i / width % ROWS, column = columns ? -1 : i % width;
        ck_assert_double_eq_tol(sums[i], loop(group_of, group, row, column, false), 1e-9);
        ck_assert_int_eq(found[i], (int64_t)loop(group_of, group, row, column, true));
      }
      how.threads = 2;
      reduce(groups, NDR_SUM, columns, &how, again);
      ck_assert_mem_eq(again, sums, (size_t)outputs * sizeof *sums);
    }
}

static void assert_name(const ndr_h5_groups *groups, int64_t i, const char *name) {
  char text[NDR_H5_GROUP_CHARS];
  ndr_h5_groups_name(groups, i, text);
  ck_assert_str_eq(text, name);
}

START_TEST(windows_are_neighbours) {
  ndr_h5_groups *groups;
  assert_ok(ndr_h5_groups_windows(&groups, dataset, 0, 24, NDR_REST_PAD));
  ck_assert_int_eq(ndr_h5_groups_count(groups), 13);
  ck_assert_str_eq(ndr_h5_groups_text(groups), "dim 0:24");
  assert_name(groups, 12, "12");
  assert_name(groups, 13, "");
  compare(groups, in_window);
  ndr_h5_groups_destroy(groups);
}
END_TEST

START_TEST(labels_come_from_a_dataset) {
  ndr_h5_groups *groups;
  assert_ok(ndr_h5_groups_by_labels(&groups, dataset, -3, zones));
  ck_assert_int_eq(ndr_h5_groups_count(groups), ZONES);
  ck_assert_int_eq(ndr_h5_groups_dim(groups), 0);
  ck_assert_str_eq(ndr_h5_groups_dim_name(groups), "x");
  assert_name(groups, 4, "40");
  compare(groups, in_zone);
  ndr_h5_groups_destroy(groups);
}
END_TEST

/* Stages are cut between groups, wherever files and chunks begin; all weights of the first stage are 0. */
START_TEST(groups_in_a_row_are_done_in_stages) {
  ndr_h5_groups *groups;
  const char *const files[] = {h5_input, h5_input}, *const paths[] = {"/x", "/x"};
  double heavy[2 * STEPS];
  ndr_stage *stages;
  int count;
  for (int i = 0; i < 2 * STEPS; i++) heavy[i] = i < 80 ? 0 : i % 5;
  ndr_stage_bytes = 0;
  for (int series = 0; series < 2; series++)
    for (int weighted = 0; weighted < 2; weighted++) {
      weights = weighted ? heavy : NULL;
      assert_ok(ndr_h5_groups_windows(&groups, dataset, 0, 24, NDR_REST_PAD));
      assert_ok(ndr_stages_cut(groups, &(ndr_stage_sizes){1, 8, 8, true}, &stages, &count));
      ck_assert_int_gt(count, 3);
      free(stages);
      compare(groups, in_window);
      ndr_h5_groups_destroy(groups);
      if (!weighted) continue;
      ndr_h5_close(dataset);
      assert_ok(ndr_h5_open_series(&dataset, 2, files, paths, "0", NULL));
      steps = 2 * STEPS;
    }
  steps = STEPS;
  weights = NULL;
}
END_TEST

/* Groups of one dataset are those of another one whose axes are the same. */
START_TEST(groups_fit_the_same_axes) {
  ndr_h5_groups *groups;
  ndr_h5_dataset *same, *part, *twice;
  char path[256];
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  const char *files[] = {info->file, info->file}, *paths[] = {info->dataset, info->dataset};
  snprintf(path, sizeof path, "%s[0:%d, ::2]", info->dataset, STEPS - 1);
  assert_ok(ndr_h5_open(&same, info->file, info->dataset, NULL));
  assert_ok(ndr_h5_open(&part, info->file, path, NULL));
  assert_ok(ndr_h5_open_series(&twice, 2, files, paths, "0", NULL));
  assert_ok(ndr_h5_groups_windows(&groups, dataset, 0, 24, NDR_REST_PAD));
  ck_assert(ndr_h5_groups_fit(groups, dataset) && ndr_h5_groups_fit(groups, same));
  ck_assert(!ndr_h5_groups_fit(groups, part) && !ndr_h5_groups_fit(groups, twice));
  ck_assert(!ndr_h5_groups_fit(groups, NULL) && !ndr_h5_groups_fit(NULL, dataset));
  ndr_h5_groups_destroy(groups);
  assert_ok(ndr_h5_groups_windows(&groups, twice, 1, 2, NDR_REST_TRIM));
  ck_assert(ndr_h5_groups_fit(groups, twice) && !ndr_h5_groups_fit(groups, dataset));
  ndr_h5_groups_destroy(groups);
  ndr_h5_close(same);
  ndr_h5_close(part);
  ndr_h5_close(twice);
}
END_TEST

/* The result of windows over several dims has one dim for them, or is read with a dim for each; a file has those. */
START_TEST(windows_lie_over_several_dims) {
  enum { HIGH = 7, WIDE = 10, BOXES = 3 * 3 };
  const int64_t windows[] = {HIGH, WIDE}, folded[] = {STEPS, BOXES};
  const ndr_rest rests[] = {NDR_REST_PAD, NDR_REST_REFUSE};
  const ndr_op op = NDR_SUM;
  ndr_h5_groups *groups;
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_problem problem = NDR_PROBLEM_INIT;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor result = ndr_tensor(sums, NDR_F64, 2, (int64_t *)(uintptr_t)folded), *results[] = {&result};
  assert_ok(ndr_h5_groups_boxes(&groups, dataset, 1, 2, windows, rests));
  ck_assert_str_eq(ndr_h5_groups_text(groups), "dim 1:7,dim 2:10");
  assert_name(groups, 5, "1, 2");
  ck_assert_int_eq(ndr_h5_groups_dim_count(groups), 2);
  ck_assert_ptr_null(ndr_h5_groups_along(groups, 0));
  ck_assert_int_eq(ndr_h5_groups_count(ndr_h5_groups_along(groups, 2)), 3);
  how.groups = groups;
  assert_ok(ndr_h5_problem(&problem, dataset, 0, NULL, 1, &op));
  assert_ok(ndr_h5_problem_operands(&problem, dataset, &how));
  assert_ok(ndr_h5_reduce(dataset, &problem, results, &how));
  for (int i = 0; i < STEPS * BOXES; i++) {
    double sum = 0;
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c < COLUMNS; c++) sum += r / HIGH * 3 + c / WIDE == i % BOXES ? x[i / BOXES][r][c] : 0;
    ck_assert_double_eq_tol(sums[i], sum, 1e-9);
  }
  ck_assert_int_eq(ndr_h5_groups_unfold(groups, &problem, &result, shape), 3);
  ck_assert(shape[0] == STEPS && shape[1] == 3 && shape[2] == 3);
  ndr_h5_writer *writer;
  char path[160];
  const DLTensor unfolded = ndr_tensor(sums, NDR_F64, 3, shape);
  snprintf(path, sizeof path, "%s/out.nc", h5_folder);
  assert_ok(ndr_h5_writer_create(&writer, path, 0, NULL, NULL));
  assert_ok(ndr_h5_writer_groups(writer, groups));
  assert_ok(ndr_h5_writer_add(writer, dataset, &problem, 0, "a", &result));
  assert_ok(ndr_h5_writer_add(writer, dataset, &problem, 0, "b", &unfolded));
  shape[0]--;
  assert_fails(ndr_h5_writer_add(writer, dataset, &problem, 0, "c", &unfolded), NDR_ERR_RESULT, "the shape is not");
  ndr_h5_writer_destroy(writer);
  ndr_h5_groups_destroy(groups);
  assert_fails(ndr_h5_groups_boxes(&groups, dataset, 2, 2, windows, rests), NDR_ERR_DIMS, "do not fit from dim 2 on");
  assert_fails(ndr_h5_groups_boxes(&groups, dataset, 1, 0, windows, rests), NDR_ERR_ARGUMENT, "over 0 dims");
  assert_fails(ndr_h5_groups_boxes(&groups, dataset, 1, 2, NULL, rests), NDR_ERR_ARGUMENT, "null pointer");
  ck_assert_ptr_null(groups);
}
END_TEST

/* Sums in boxes of 2 x 3 x 7 elements, or shorter ones at the ends. */
static double *boxes_of(const int64_t *windows, const int64_t *counts) {
  double *made = calloc((size_t)(counts[0] * counts[1] * counts[2]), sizeof *made);
  for (int s = 0; s < STEPS; s++)
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c < COLUMNS; c++) {
        int64_t box = (s / windows[0] * counts[1] + r / windows[1]) * counts[2] + c / windows[2];
        if (s / windows[0] < counts[0]) made[box] += x[s][r][c];
      }
  return made;
}

/* Stages are of windows along the first dim that has several. */
START_TEST(boxes_are_done_in_stages) {
  const int64_t windows[][3] = {{14, 3, 7}, {STEPS, 2, 30}}, counts[][3] = {{21, 7, 5}, {1, 10, 1}};
  const ndr_rest rests[] = {NDR_REST_TRIM, NDR_REST_PAD, NDR_REST_PAD};
  const ndr_op op = NDR_SUM;
  ndr_stage_bytes = 0;
  for (int i = 0; i < 2; i++) {
    ndr_h5_groups *groups;
    ndr_stage *stages;
    int count;
    ndr_h5_options how = NDR_H5_OPTIONS_INIT;
    ndr_problem problem = NDR_PROBLEM_INIT;
    double *expected = boxes_of(windows[i], counts[i]);
    assert_ok(ndr_h5_groups_boxes(&groups, dataset, 0, 3, windows[i], rests));
    ck_assert_int_eq(ndr_h5_groups_count(groups), counts[i][0] * counts[i][1] * counts[i][2]);
    ck_assert_int_eq(ndr_stage_dim(groups), i);
    assert_ok(ndr_stages_cut(groups, &(ndr_stage_sizes){1, 8, 1, true}, &stages, &count));
    ck_assert_int_gt(count, 1);
    free(stages);
    DLTensor result = ndr_tensor(sums, NDR_F64, NDR_SHAPE(ndr_h5_groups_count(groups))), *results[] = {&result};
    how.groups = groups;
    assert_ok(ndr_h5_problem(&problem, dataset, 0, NULL, 1, &op));
    assert_ok(ndr_h5_problem_operands(&problem, dataset, &how));
    assert_ok(ndr_h5_reduce(dataset, &problem, results, &how));
    for (int64_t b = 0; b < ndr_h5_groups_count(groups); b++) ck_assert_double_eq_tol(sums[b], expected[b], 1e-9);
    ndr_h5_groups_destroy(groups);
    free(expected);
  }
}
END_TEST

/* Of many windows a stage has as many as make about 2^19 states, up to the end of a chunk if that is near. */
START_TEST(stages_of_boxes_have_few_states) {
  const int64_t windows[] = {2, 1, 1};
  const ndr_rest rests[] = {NDR_REST_PAD, NDR_REST_PAD, NDR_REST_PAD};
  ndr_h5_groups *groups;
  ndr_stage *stages;
  int count;
  assert_ok(ndr_h5_groups_boxes(&groups, dataset, 0, 3, windows, rests));
  assert_ok(ndr_stages_cut(groups, &(ndr_stage_sizes){1 << 4, 8, 24, true}, &stages, &count));
  ck_assert_int_eq(stages[0].end, 120); /* 55 windows would do */
  ck_assert_int_eq(stages[0].count, 60 * ROWS * COLUMNS);
  ck_assert_int_eq(stages[count - 1].end, STEPS);
  free(stages);
  ndr_h5_groups_destroy(groups);
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
  ndr_h5_groups *groups;
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  const ndr_op op = NDR_SUM;
  DLTensor tensor = ndr_tensor(sums, NDR_F64, NDR_SHAPE(10, ROWS, COLUMNS)), *results[] = {&tensor};
  assert_fails(ndr_h5_groups_windows(&groups, dataset, 0, 24, NDR_REST_REFUSE), NDR_ERR_ARGUMENT,
               "windows of 24 do not fill");
  ck_assert_ptr_null(groups);
  assert_fails(ndr_h5_groups_windows(&groups, dataset, 3, 24, NDR_REST_PAD), NDR_ERR_DIMS, "dim 3 is out of range");
  assert_fails(ndr_h5_groups_by_labels(&groups, dataset, 0, floats), NDR_ERR_DTYPE, "labels are f64, must be integers");
  assert_fails(ndr_h5_groups_by_labels(&groups, dataset, 1, zones), NDR_ERR_DIMS, "has 300 labels");
  assert_fails(ndr_h5_groups_by_labels(&groups, dataset, 0, NULL), NDR_ERR_ARGUMENT, "null pointer");
  assert_fails(ndr_h5_groups_by_time(&groups, dataset, 0, "week"), NDR_ERR_ARGUMENT, "only by month, season");
  assert_fails(ndr_h5_groups_by_time(&groups, dataset, 0, "month"), NDR_ERR_DIMS, "has no coordinates");
  assert_ok(ndr_h5_groups_windows(&groups, dataset, 0, 30, NDR_REST_REFUSE));
  how.groups = groups;
  assert_ok(ndr_h5_problem(&problem, dataset, 0, NULL, 1, &op));
  assert_ok(ndr_h5_problem_operands(&problem, dataset, &how));
  assert_fails(ndr_h5_reduce(dataset, &problem, results, NULL), NDR_ERR_ARGUMENT, "ndr_h5_options.groups is NULL");
  assert_fails(ndr_h5_reduce(zones, &problem, results, &how), NDR_ERR_ARGUMENT, "the problem is of");
  ndr_h5_operand beside = NDR_H5_OPERAND_INIT;
  const ndr_h5_operand *operands[] = {&beside};
  ndr_h5_options with = NDR_H5_OPTIONS_INIT;
  beside.role = NDR_WEIGHTS;
  beside.dataset = dataset;
  beside.groups = groups;
  with.operands = operands;
  with.operand_count = 1;
  assert_fails(ndr_h5_problem_operands(&problem, dataset, &with), NDR_ERR_ARGUMENT, "are not of times");
  ndr_h5_writer *writer;
  char path[160];
  snprintf(path, sizeof path, "%s/out.nc", h5_folder);
  assert_ok(ndr_h5_writer_create(&writer, path, 0, NULL, NULL));
  assert_ok(ndr_h5_reduce(dataset, &problem, results, &how));
  assert_fails(ndr_h5_writer_add(writer, dataset, &problem, 0, "x", &tensor), NDR_ERR_ARGUMENT, "ndr_h5_writer_groups");
  assert_ok(ndr_h5_writer_groups(writer, groups));
  assert_ok(ndr_h5_writer_add(writer, dataset, &problem, 0, "x", &tensor));
  ndr_h5_writer_destroy(writer);
  ndr_h5_groups_destroy(groups);
  ndr_h5_groups_destroy(NULL);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 groups");
  TCase *groups = tcase_create("groups");
  tcase_add_checked_fixture(groups, start, finish);
  tcase_set_timeout(groups, 60);
  tcase_add_test(groups, windows_are_neighbours);
  tcase_add_test(groups, labels_come_from_a_dataset);
  tcase_add_test(groups, groups_in_a_row_are_done_in_stages);
  tcase_add_test(groups, groups_fit_the_same_axes);
  tcase_add_test(groups, windows_lie_over_several_dims);
  tcase_add_test(groups, boxes_are_done_in_stages);
  tcase_add_test(groups, stages_of_boxes_have_few_states);
  tcase_add_test(groups, what_does_not_fit_is_refused);
  suite_add_tcase(suite, groups);
  return suite_run(suite);
}
