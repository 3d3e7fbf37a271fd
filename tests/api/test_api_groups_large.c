/* Labels in no order, of arrays that are large enough for many blocks and several threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/groups.h"
#include "ndreduce/plan.h"
#include "support/cases.h"
#include "support/suite.h"

static void scatter(rng *random, int32_t *labels, int64_t length, int64_t count) {
  for (int64_t at = 0; at < length; at++) labels[at] = (int32_t)rng_between(random, -1, count - 1);
}

/* Sums of small integers, which are exact, are what a loop over the labels gives. */
static void check_sums(const DLTensor *array, int axis, const int32_t *values, int32_t count, int threads) {
  int64_t rows = array->shape[0], columns = array->shape[1], outputs = axis ? rows * count : count * columns;
  int64_t shape[] = {axis ? rows : count, axis ? count : columns};
  float *sums = calloc((size_t)outputs, sizeof *sums), *expected = calloc((size_t)outputs, sizeof *sums);
  const float *elements = array->data;
  ndr_groups *groups;
  DLTensor labels = ndr_tensor((void *)(uintptr_t)values, NDR_I32, 1, array->shape + axis),
           result = ndr_tensor(sums, NDR_F32, 2, shape);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) {
      int32_t group = values[axis ? c : r];
      if (group >= 0) expected[axis ? r * count + group : group * columns + c] += elements[r * columns + c];
    }
  assert_ok(ndr_groups_create(&groups, &labels, count));
  ndr_options options = NDR_OPTIONS_INIT;
  options.groups = groups;
  options.group_dim = axis;
  options.threads = threads;
  assert_ok(ndreduce(array, NDR_DIMS(axis), NDR_SUM, &result, &options));
  ck_assert_msg(memcmp(sums, expected, (size_t)outputs * sizeof *sums) == 0, "axis %d, %d groups", axis, (int)count);
  ndr_groups_destroy(groups);
  free(sums);
  free(expected);
}

/* Many blocks, the last of which are smaller, rows of more than a tile, and more sections than one. */
START_TEST(scattered_labels_of_large_arrays) {
  static const int64_t shapes[][2] = {{1201, 1500}, {3, 500000}, {40000, 30}, {1, 300000}};
  rng random = {test_seed() + 8};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    int64_t shape[] = {shapes[s][0], shapes[s][1]}, length = shape[0] * shape[1];
    float *values = malloc((size_t)length * sizeof *values);
    for (int64_t i = 0; i < length; i++) values[i] = (float)rng_between(&random, -4, 4);
    DLTensor array = ndr_tensor(values, NDR_F32, 2, shape);
    for (int axis = 0; axis < 2; axis++) {
      int32_t *labels = malloc((size_t)shape[axis] * sizeof *labels), count = axis ? 5000 : 300;
      for (int more = 0; more < 2; more++, count = 7) {
        scatter(&random, labels, shape[axis], count);
        check_sums(&array, axis, labels, count, more ? 3 : 1);
      }
      free(labels);
    }
    free(values);
  }
}
END_TEST

static double var_of_group(const int32_t *elements, const int32_t *labels, int64_t rows, int64_t columns, int32_t group,
                           int64_t column) {
  double n = 0, sum = 0, squares = 0;
  for (int64_t r = 0; r < rows; r++)
    if (labels[r] == group) n++, sum += elements[r * columns + column];
  for (int64_t r = 0; r < rows; r++)
    if (labels[r] == group) squares += pow(elements[r * columns + column] - sum / n, 2);
  return squares / n;
}

/* Rows of groups that are converted a few at a time, the last of which are fewer. */
START_TEST(rows_of_groups_are_converted) {
  enum { COLUMNS = 1024, COUNT = 2, MOST_ROWS = 412 };
  rng random = {test_seed() + 10};
  int32_t *elements = malloc(sizeof *elements * MOST_ROWS * COLUMNS), labels[MOST_ROWS];
  double *vars = malloc(sizeof *vars * COUNT * COLUMNS);
  for (int i = 0; i < MOST_ROWS * COLUMNS; i++) elements[i] = (int32_t)rng_between(&random, -99, 99);
  for (int64_t rows = MOST_ROWS - 12; rows <= MOST_ROWS; rows++) {
    int64_t shape[] = {rows, COLUMNS}, results[] = {COUNT, COLUMNS}, length[] = {rows};
    DLTensor array = ndr_tensor(elements, NDR_I32, 2, shape), result = ndr_tensor(vars, NDR_F64, 2, results),
             tensor = ndr_tensor(labels, NDR_I32, 1, length);
    ndr_options options = NDR_OPTIONS_INIT;
    ndr_groups *groups;
    for (int64_t r = 0; r < rows; r++) labels[r] = (int32_t)rng_between(&random, 0, 1);
    labels[0] = 0;
    labels[rows - 1] = 1;
    assert_ok(ndr_groups_create(&groups, &tensor, COUNT));
    options.groups = groups;
    assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_VAR, &result, &options));
    for (int32_t g = 0; g < COUNT; g++)
      for (int64_t c = 0; c < COLUMNS; c += 99)
        ck_assert_double_eq_tol(vars[g * COLUMNS + c], var_of_group(elements, labels, rows, COLUMNS, g, c), 1e-8);
    ndr_groups_destroy(groups);
  }
  free(vars);
  free(elements);
}
END_TEST

/* Of sums that are not exact, and blocks with outputs in common. */
START_TEST(threads_do_not_change_bits) {
  enum { ROWS = 90, COLUMNS = 20000, COUNT = 11 };
  rng random = {test_seed() + 9};
  int32_t values[COLUMNS];
  double *elements = malloc(sizeof *elements * ROWS * COLUMNS), one[COUNT], sums[COUNT];
  int64_t shape[] = {ROWS, COLUMNS}, columns[] = {COLUMNS}, count[] = {COUNT};
  ndr_groups *groups;
  for (int i = 0; i < ROWS * COLUMNS; i++) elements[i] = 1.0 / (double)rng_between(&random, 1, 1 << 24);
  scatter(&random, values, COLUMNS, COUNT);
  DLTensor array = ndr_tensor(elements, NDR_F64, 2, shape), labels = ndr_tensor(values, NDR_I32, 1, columns);
  assert_ok(ndr_groups_create(&groups, &labels, COUNT));
  for (int threads = 1; threads <= 5; threads++) {
    DLTensor result = ndr_tensor(threads == 1 ? one : sums, NDR_F64, 1, count);
    ndr_options options = NDR_OPTIONS_INIT;
    options.groups = groups;
    options.group_dim = 1;
    options.threads = threads;
    for (int repeat = 0; repeat < 4; repeat++) {
      assert_ok(ndreduce(&array, NDR_DIMS(0, 1), NDR_SUM, &result, &options));
      if (threads > 1) ck_assert_msg(memcmp(one, sums, sizeof sums) == 0, "%d threads", threads);
    }
  }
  ndr_groups_destroy(groups);
  free(elements);
}
END_TEST

/* Splits of a few long rows begin within a row and go on in the next one: their means count all labels in between. */
START_TEST(means_of_few_long_rows) {
  enum { STEPS = 3, ROWS = 8, COLUMNS = 19000, COUNT = 7 };
  rng random = {test_seed() + 12};
  int32_t values[COLUMNS];
  float *elements = malloc(sizeof *elements * STEPS * ROWS * COLUMNS), means[ROWS][COUNT];
  double sums[ROWS][COUNT] = {{0}}, counts[COUNT] = {0};
  int64_t shape[] = {STEPS, ROWS, COLUMNS}, columns[] = {COLUMNS}, results[] = {ROWS, COUNT};
  ndr_groups *groups;
  scatter(&random, values, COLUMNS, COUNT);
  for (int64_t i = 0; i < STEPS * ROWS * COLUMNS; i++) {
    const int32_t group = values[i % COLUMNS];
    elements[i] = (float)rng_between(&random, -9, 9);
    if (group >= 0) sums[i / COLUMNS % ROWS][group] += (double)elements[i];
    if (group >= 0) counts[group] += i / COLUMNS % ROWS == 0;
  }
  DLTensor array = ndr_tensor(elements, NDR_F32, 3, shape), labels = ndr_tensor(values, NDR_I32, 1, columns),
           result = ndr_tensor(means, NDR_F32, 2, results);
  assert_ok(ndr_groups_create(&groups, &labels, COUNT));
  for (int threads = 1; threads <= 3; threads++) {
    assert_ok(ndreduce(&array, NDR_DIMS(0, 2), NDR_MEAN, &result,
                       NDR_OPTIONS(.groups = groups, .group_dim = 2, .threads = threads)));
    for (int r = 0; r < ROWS; r++)
      for (int g = 0; g < COUNT; g++) ck_assert_float_eq(means[r][g], (float)(sums[r][g] / counts[g]));
  }
  ndr_groups_destroy(groups);
  free(elements);
}
END_TEST

/* Means over rows, too, any number of them: each label counts once for each row. */
START_TEST(means_over_any_number_of_rows) {
  enum { MOST_ROWS = 200, COLUMNS = 101, COUNT = 30 };
  rng random = {test_seed() + 13};
  int32_t values[COLUMNS];
  float *elements = malloc(sizeof *elements * MOST_ROWS * COLUMNS), means[COUNT];
  int64_t columns[] = {COLUMNS}, results[] = {COUNT};
  ndr_groups *groups;
  for (int i = 0; i < COLUMNS; i++) values[i] = i < COUNT ? i : (int32_t)rng_between(&random, 0, COUNT - 1);
  for (int64_t i = 0; i < MOST_ROWS * COLUMNS; i++) elements[i] = (float)values[i % COLUMNS];
  DLTensor labels = ndr_tensor(values, NDR_I32, 1, columns), result = ndr_tensor(means, NDR_F32, 1, results);
  assert_ok(ndr_groups_create(&groups, &labels, COUNT));
  for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
    int64_t shape[] = {rows, COLUMNS};
    DLTensor array = ndr_tensor(elements, NDR_F32, 2, shape);
    assert_ok(ndreduce(&array, NDR_DIMS(0, 1), NDR_MEAN, &result, NDR_OPTIONS(.groups = groups, .group_dim = 1)));
    for (int g = 0; g < COUNT; g++)
      ck_assert_msg(means[g] == (float)g, "%lld rows: %g of %d", (long long)rows, (double)means[g], g);
  }
  ndr_groups_destroy(groups);
  free(elements);
}
END_TEST

/* Every group has a label; the others are of any group or of none, each `least` to `most` times. */
static void label_in_runs(rng *random, int32_t *labels, int64_t length, int64_t count, int64_t least, int64_t most) {
  for (int64_t at = 0, group = 0, end; at < length; at = end, group++) {
    int32_t label = (int32_t)(group < count ? group : rng_between(random, -1, count - 1));
    for (end = at + rng_between(random, least, most); at < end && at < length;) labels[at++] = label;
  }
  for (int64_t at = length - 1; most == 1 && at > 0; at--) {
    int64_t other = rng_between(random, 0, at);
    int32_t label = labels[at];
    labels[at] = labels[other];
    labels[other] = label;
  }
}

/* The elements of one group along dim 1 of three. */
static void take_group(const test_array *array, const int32_t *labels, int32_t group, test_array *taken) {
  int64_t shape[] = {array->shape[0], 0, array->shape[2]}, at[3] = {0};
  for (int64_t l = 0; l < array->shape[1]; l++) shape[1] += labels[l] == group;
  array_make(taken, array->dtype, 3, shape, NULL);
  for (at[0] = 0; at[0] < shape[0]; at[0]++)
    for (at[2] = 0; at[2] < shape[2]; at[2]++) {
      int64_t to[] = {at[0], 0, at[2]};
      for (at[1] = 0; at[1] < array->shape[1]; at[1]++) {
        if (labels[at[1]] != group) continue;
        memcpy(element_at(&taken->tensor, to), element_at(&array->tensor, at), ndr_dtype_bytes(array->dtype));
        to[1]++;
      }
    }
}

/* Whether the results of a group are those of its elements by themselves. */
static void check_group(const test_array *array, const int32_t *labels, int32_t group, ndr_op op,
                        const test_array *results) {
  test_array taken, alone;
  int64_t at[3] = {0};
  take_group(array, labels, group, &taken);
  assert_ok(array_result(&alone, &taken.tensor, NDR_DIMS(1), op, NULL, NULL));
  assert_ok(ndreduce(&taken.tensor, NDR_DIMS(1), op, &alone.tensor, NULL));
  do {
    int64_t of_group[] = {at[0], group, at[1]};
    ck_assert_msg(memcmp(element_at(&alone.tensor, at), element_at(&results->tensor, of_group),
                         ndr_dtype_bytes(alone.dtype)) == 0,
                  "%s of %s [%d,%d,%d], group %d at %d, %d", ndr_op_name(op), ndr_dtype_name(array->dtype),
                  (int)array->shape[0], (int)array->shape[1], (int)array->shape[2], (int)group, (int)at[0], (int)at[1]);
  } while (next_index(2, alone.shape, at));
  array_free(&alone);
  array_free(&taken);
}

/* Of small integers all of these are exact. The last two have no kernels for lists. */
static void check_groups(rng *random, ndr_dtype dtype, const int64_t *shape, const int32_t *labels, int32_t count) {
  static const ndr_op all[] = {NDR_SUM, NDR_MEAN, NDR_NORM2, NDR_MIN, NDR_MAX, NDR_COUNT, NDR_ANY};
  enum { OPS = sizeof all / sizeof *all };
  ndr_op ops[OPS];
  test_array array, results[OPS];
  DLTensor *tensors[OPS], labelled = ndr_tensor((void *)(uintptr_t)labels, NDR_I32, 1, (int64_t[]){shape[1]});
  int used = 0;
  ndr_groups *groups;
  ndr_options options = NDR_OPTIONS_INIT;
  assert_ok(ndr_groups_create(&groups, &labelled, count));
  options.groups = groups;
  options.group_dim = 1;
  array_make(&array, dtype, 3, shape, NULL);
  array_fill(&array, random, FILL_SMALL);
  for (int i = 0; i < OPS; i++) {
    if (!op_defined(all[i], dtype)) continue;
    assert_ok(array_result(&results[used], &array.tensor, NDR_DIMS(1), all[i], &options, NULL));
    tensors[used] = &results[used].tensor;
    ops[used++] = all[i];
  }
  assert_ok(ndreduce_many(&array.tensor, NDR_DIMS(1), used, ops, tensors, &options));
  const int32_t step = count > 20 ? 11 : 1;
  for (int i = 0; i < used; i++) {
    for (int32_t g = 0; g < count; g += step) check_group(&array, labels, g, ops[i], &results[i]);
    array_free(&results[i]);
  }
  array_free(&array);
  ndr_groups_destroy(groups);
}

/* Lanes in eights and with a rest, lanes side by side in memory and apart; lists of labels, groups of few labels, runs
 * that are short, and long enough to be folded where they lie. */
START_TEST(groups_are_as_if_alone) {
  enum { LENGTH = 900, FEW = 12, MANY = 190 };
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_F64, NDR_F16, NDR_BF16, NDR_I32, NDR_U32,
                                     NDR_I64, NDR_U64, NDR_I8,  NDR_U16,  NDR_C64, NDR_BOOL};
  static const int64_t beside[][2] = {{16, 1}, {8, 1}, {19, 1}, {9, 1}, {5, 1}, {2, 8}, {3, 11}, {10, 3}, {1, 7}};
  rng random = {test_seed() + 11};
  int32_t labels[LENGTH];
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t b = 0; b < sizeof beside / sizeof *beside; b++) {
      int64_t shape[] = {beside[b][0], LENGTH - (int64_t)b, beside[b][1]};
      label_in_runs(&random, labels, shape[1], FEW, 1, 1);
      check_groups(&random, dtypes[d], shape, labels, FEW);
      label_in_runs(&random, labels, shape[1], MANY, 1, 1);
      check_groups(&random, dtypes[d], shape, labels, MANY);
      label_in_runs(&random, labels, shape[1], FEW, 2, 9);
      check_groups(&random, dtypes[d], shape, labels, FEW);
      label_in_runs(&random, labels, shape[1], 3, 150, 290);
      check_groups(&random, dtypes[d], shape, labels, 3);
    }
}
END_TEST

/* Rows that a table names, which are reduced, too, and as wide as the rows in which kernels read a run: those of a
 * group do not lie one after the other. */
START_TEST(named_rows_are_no_run) {
  enum { ROWS = 400, GROUPS = 2 };
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_F64, NDR_F16, NDR_BF16, NDR_I32, NDR_U8, NDR_C64, NDR_C128};
  static const ndr_op all[] = {NDR_SUM, NDR_MEAN, NDR_NORM2, NDR_MIN, NDR_MAX, NDR_PTP, NDR_COUNT};
  static const int64_t widths[] = {8, 16, 32, 64};
  rng random = {test_seed() + 12};
  int32_t labels[ROWS];
  for (size_t n = 0; n < sizeof dtypes / sizeof *dtypes * 4; n++) {
    ndr_dtype dtype = dtypes[n / 4];
    int64_t width = widths[n % 4], at[3] = {0};
    test_array array, rows, taken, results, alone;
    ndr_groups *groups;
    ndr_options options = NDR_OPTIONS_INIT;
    label_in_runs(&random, labels, ROWS, GROUPS, 1, 1);
    DLTensor labelled = ndr_tensor(labels, NDR_I32, 1, (int64_t[]){ROWS});
    assert_ok(ndr_groups_create(&groups, &labelled, GROUPS));
    options.groups = groups;
    array_make(&array, dtype, 2, (int64_t[]){ROWS, width}, NULL);
    array_fill(&array, &random, FILL_SMALL);
    array_make(&rows, dtype, 3, (int64_t[]){1, ROWS, width}, NULL);
    memcpy(rows.tensor.data, array.tensor.data, (size_t)(ROWS * width) * ndr_dtype_bytes(dtype));
    for (size_t o = 0; o < sizeof all / sizeof *all; o++) {
      if (!op_defined(all[o], dtype)) continue;
      assert_ok(array_result(&results, &array.tensor, NDR_DIMS(0, 1), all[o], &options, NULL));
      assert_ok(ndreduce(&array.tensor, NDR_DIMS(0, 1), all[o], &results.tensor, &options));
      for (int32_t g = 0; g < GROUPS; g++) {
        take_group(&rows, labels, g, &taken);
        assert_ok(array_result(&alone, &taken.tensor, NDR_DIMS(0, 1, 2), all[o], NULL, NULL));
        assert_ok(ndreduce(&taken.tensor, NDR_DIMS(0, 1, 2), all[o], &alone.tensor, NULL));
        at[0] = g;
        ck_assert_msg(memcmp(alone.tensor.data, element_at(&results.tensor, at), ndr_dtype_bytes(alone.dtype)) == 0,
                      "%s of %s [%d,%d], group %d", ndr_op_name(all[o]), ndr_dtype_name(dtype), ROWS, (int)width,
                      (int)g);
        array_free(&alone);
        array_free(&taken);
      }
      array_free(&results);
    }
    array_free(&rows);
    array_free(&array);
    ndr_groups_destroy(groups);
  }
}
END_TEST

/* Labels in no order along the fastest dim, each of 40 lines. */
static void describe_scattered(int64_t length, char *text, size_t capacity) {
  rng random = {test_seed() + 12};
  int64_t shape[] = {40, length};
  int32_t *values = malloc((size_t)length * sizeof *values);
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_groups *groups;
  ndr_plan *plan;
  scatter(&random, values, length, 12);
  DLTensor array = ndr_tensor(NULL, NDR_F32, 2, shape), labels = ndr_tensor(values, NDR_I32, 1, shape + 1);
  assert_ok(ndr_groups_create(&groups, &labels, 12));
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(1), 1, (const ndr_op[]){NDR_SUM}));
  problem.groups = groups;
  problem.group_dim = 1;
  assert_ok(ndr_plan_create(&plan, &problem, (DLDevice){kDLCPU, 0}, NULL, NULL));
  ck_assert_uint_lt(ndr_plan_describe(plan, text, capacity), capacity);
  ndr_plan_destroy(plan);
  ndr_groups_destroy(groups);
  free(values);
}

START_TEST(descriptions_list_the_first_labels_only) {
  char text[4000];
  describe_scattered(50000, text, sizeof text);
  ck_assert_msg(strstr(text, ",... 50000 labels] on ") != NULL, "%s", text);
  ck_assert_msg(strstr(text, "\nlabels") != NULL, "%s", text);
  ck_assert_msg(strstr(text, "reads 8 MB") != NULL, "%s", text);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("large groups");
  suite_case(suite, "scattered", 120, scattered_labels_of_large_arrays, rows_of_groups_are_converted,
             threads_do_not_change_bits, means_of_few_long_rows, means_over_any_number_of_rows, groups_are_as_if_alone,
             named_rows_are_no_run, descriptions_list_the_first_labels_only, NULL);
  return suite_run(suite);
}
