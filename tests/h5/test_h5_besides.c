/* Arrays beside a dataset through the library: masks, conditions, weights and second arrays, in files and in memory;
 * that memory and threads do not show in the last bits; refusals. Random ones are compared with NumPy in
 * tests/cli/besides.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/operator.h"
#include "support/h5_any.h"
#include "support/suite.h"

enum { TIMES = 60, ROWS = 40, COLUMNS = 30 };

static double x[TIMES][ROWS][COLUMNS], y[TIMES][ROWS][COLUMNS];
static bool mask[ROWS][COLUMNS];
static ndr_h5_dataset *dataset, *second, *land;
static char masks[128];

static void start(void) {
  rng random = {5};
  h5_make_folder();
  snprintf(masks, sizeof masks, "%s/masks.h5", h5_folder);
  for (int i = 0; i < TIMES * ROWS * COLUMNS; i++) {
    (&x[0][0][0])[i] = (double)rng_between(&random, 0, 1000) / 7;
    (&y[0][0][0])[i] = (double)rng_between(&random, 0, 1000) / 3;
  }
  for (int i = 0; i < ROWS * COLUMNS; i++) (&mask[0][0])[i] = rng_once_in(&random, 3);
  DLTensor first = ndr_tensor(x, NDR_F64, NDR_SHAPE(TIMES, ROWS, COLUMNS));
  DLTensor other = ndr_tensor(y, NDR_F64, NDR_SHAPE(TIMES, ROWS, COLUMNS));
  DLTensor map = ndr_tensor(mask, NDR_BOOL, NDR_SHAPE(ROWS, COLUMNS));
  dataset = h5_open_written(h5_input, &first, NDR_F64, (const hsize_t[]){7, 40, 11});
  second = h5_open_written(h5_output, &other, NDR_F64, NULL);
  land = h5_open_written(masks, &map, NDR_BOOL, (const hsize_t[]){9, 30});
}

static void finish(void) {
  ndr_h5_close(dataset);
  ndr_h5_close(second);
  ndr_h5_close(land);
  remove(masks);
  h5_remove_folder();
}

static ndr_h5_operand operand_of(ndr_role role, ndr_h5_dataset *array, const char *name) {
  ndr_h5_operand operand = NDR_H5_OPERAND_INIT;
  operand.role = role;
  operand.dataset = array;
  operand.name = name;
  return operand;
}

/* Over all dims, or over the first. */
static void reduce(ndr_op op, bool all, const ndr_h5_options *how, double *result) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor tensor = {.shape = shape};
  assert_ok(ndr_h5_problem(&problem, dataset, all ? -1 : 1, all ? NULL : (int[]){0}, 1, &op));
  assert_ok(ndr_h5_problem_operands(&problem, dataset, how));
  assert_ok(ndr_problem_result(&problem, 0, &tensor));
  ck_assert_int_eq(tensor.dtype.bits, 64);
  tensor.data = result;
  assert_ok(ndr_h5_reduce(dataset, &problem, (DLTensor *[]){&tensor}, how));
}

static void assert_near(double got, double expected) {
  ck_assert_msg(fabs(got - expected) <= 1e-12 * fabs(expected), "%.17g, not %.17g", got, expected);
}

START_TEST(a_mask_leaves_elements_out) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  const ndr_h5_operand where = operand_of(NDR_WHERE, land, NULL);
  double sum = 0, got;
  int64_t count = 0;
  for (int t = 0; t < TIMES; t++)
    for (int i = 0; i < ROWS * COLUMNS; i++)
      if ((&mask[0][0])[i]) sum += (&x[t][0][0])[i], count++;
  how.operands = (const ndr_h5_operand *const[]){&where};
  how.operand_count = 1;
  reduce(NDR_MEAN, true, &how, &got);
  assert_near(got, sum / (double)count);
}
END_TEST

START_TEST(a_condition_reads_elements_arrays_and_places) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  const ndr_h5_operand other = operand_of(NDR_WITH, second, "y"), map = operand_of(NDR_WITH, land, "land");
  double sum = 0, got;
  for (int t = 9; t < TIMES; t++)
    for (int i = 0; i < ROWS * COLUMNS; i++)
      if ((&mask[0][0])[i] && (&x[t][0][0])[i] < (&y[t][0][0])[i]) sum += (&x[t][0][0])[i];
  how.operands = (const ndr_h5_operand *const[]){&other, &map};
  how.operand_count = 2;
  how.where = "x < y && land && index(0) > 8";
  for (how.memory = 0; how.memory <= 200000; how.memory += 200000) {
    reduce(NDR_SUM, true, &how, &got);
    assert_near(got, sum);
  }
}
END_TEST

/* Where elements may be left out, they are also counted: the count takes no initial value. */
START_TEST(an_initial_value_goes_with_a_condition) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_op op = NDR_SUM;
  double sum = 1000, got;
  DLTensor result = ndr_tensor(&got, NDR_F64, 0, NULL);
  how.where = "x > 70";
  for (int i = 0; i < TIMES * ROWS * COLUMNS; i++) sum += (&x[0][0][0])[i] > 70 ? (&x[0][0][0])[i] : 0;
  assert_ok(ndr_h5_problem(&problem, dataset, -1, NULL, 1, &op));
  problem.has_initial = 1;
  problem.initial = 1000;
  assert_ok(ndr_h5_reduce(dataset, &problem, (DLTensor *[]){&result}, &how));
  assert_near(got, sum);
}
END_TEST

START_TEST(weights_come_from_a_file_or_from_memory) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT, in_memory = NDR_H5_OPTIONS_INIT;
  const ndr_h5_operand weights = operand_of(NDR_WEIGHTS, second, NULL);
  static double got[2][ROWS * COLUMNS];
  int dims[] = {0, 1, 2};
  DLTensor tensor = ndr_tensor(y, NDR_F64, NDR_SHAPE(TIMES, ROWS, COLUMNS));
  how.operands = (const ndr_h5_operand *const[]){&weights};
  how.operand_count = 1;
  in_memory.weights = &tensor;
  in_memory.weight_dims = dims;
  reduce(NDR_STD, false, &how, got[0]);
  reduce(NDR_STD, false, &in_memory, got[1]);
  ck_assert_int_eq(memcmp(got[0], got[1], sizeof got[0]), 0);
  double total = 0, mean = 0, squares = 0;
  for (int t = 0; t < TIMES; t++) total += y[t][3][4], mean += x[t][3][4] * y[t][3][4];
  mean /= total;
  for (int t = 0; t < TIMES; t++) squares += y[t][3][4] * (x[t][3][4] - mean) * (x[t][3][4] - mean);
  assert_near(got[0][3 * COLUMNS + 4], sqrt(squares / total));
}
END_TEST

START_TEST(memory_and_threads_do_not_show) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  const ndr_h5_operand other = operand_of(NDR_WITH, second, "y"), map = operand_of(NDR_WITH, land, "land");
  static double expected[ROWS * COLUMNS], got[ROWS * COLUMNS];
  bool all = _i % 2;
  size_t bytes = (all ? 1 : ROWS * COLUMNS) * sizeof *got;
  ndr_op rmse;
  assert_ok(ndr_operator_create(&rmse, "rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)", NULL, 0));
  how.device = NDR_H5_CPU;
  how.operands = (const ndr_h5_operand *const[]){&other, &map};
  how.operand_count = 2;
  how.where = _i / 2 ? "land || x > 100" : "land == land";
  reduce(rmse, all, &how, expected);
  for (how.memory = (int64_t)3 << 20; how.memory < (int64_t)64 << 20; how.memory *= 2) {
    how.threads = how.threads % 3 + 1;
    reduce(rmse, all, &how, got);
    ck_assert_msg(memcmp(expected, got, bytes) == 0, "%lld bytes show", (long long)how.memory);
  }
  ndr_operator_destroy(rmse);
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static ndr_status try(ndr_op op, const ndr_h5_options *how) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  double result;
  DLTensor tensor = ndr_tensor(&result, NDR_F64, 0, NULL);
  assert_ok(ndr_h5_problem(&problem, dataset, -1, NULL, 1, &op));
  return ndr_h5_reduce(dataset, &problem, (DLTensor *[]){&tensor}, how);
}

START_TEST(what_does_not_fit_is_refused) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_h5_operand one = operand_of(NDR_WHERE, land, NULL), other = one;
  const ndr_h5_operand *const both[] = {&one, &other};
  double number = 1;
  DLTensor tensor = ndr_tensor(&number, NDR_F64, 0, NULL), long_one = ndr_tensor(x, NDR_F64, NDR_SHAPE(7));
  how.operands = both;
  how.operand_count = 2;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "two operands with the role where");
  how.operand_count = 1;
  how.where = "x > 1";
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "as a condition and as an operand");
  one = operand_of(NDR_WITH, land, "land");
  assert_ok(try(NDR_SUM, &how));
  how.where = "x > sea";
  assert_fails(try(NDR_SUM, &how), NDR_ERR_PARSE, "there is no array 'sea'; there are x, land");
  how.where = "land > > x";
  assert_fails(try(NDR_SUM, &how), NDR_ERR_PARSE, "column 8: ");
  how.where = NULL;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "no operator reads operand with 0");
  one.tensor = &tensor;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "a dataset or a tensor");
  one.dataset = NULL;
  one.tensor = &long_one;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_DIMS, "has size 7 along dim 2 of size 30");
  one.role = (ndr_role)9;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "unknown role number 9");
  how.operand_count = -1;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "operand_count is -1");
  how.operand_count = 1;
  how.operands = NULL;
  assert_fails(try(NDR_SUM, &how), NDR_ERR_ARGUMENT, "operand 0 is a null pointer");
}
END_TEST

static void put_attribute(hid_t of, const char *name, hid_t type, const void *value) {
  hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(of, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(attribute >= 0 && H5Awrite(attribute, type, value) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void put_words(hid_t of, const char *name, const char *words) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(words) + 1);
  put_attribute(of, name, type, words);
  H5Tclose(type);
}

/* `days` days of 2001, as the dataset x along a time with dates. */
static ndr_h5_dataset *open_days(const char *path, int days) {
  double when[TIMES];
  hobj_ref_t reference;
  hvl_t scales = {1, &reference};
  ndr_h5_dataset *opened;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t line = H5Screate_simple(1, (hsize_t[]){(hsize_t)days}, NULL), list = H5Tvlen_create(H5T_STD_REF_OBJ);
  hid_t time = H5Dcreate2(file, "time", H5T_NATIVE_DOUBLE, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hid_t array = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (int i = 0; i < days; i++) when[i] = i;
  H5Dwrite(time, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, when);
  H5Dwrite(array, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, when);
  put_words(time, "CLASS", "DIMENSION_SCALE");
  put_words(time, "units", "days since 2001-01-01");
  H5Rcreate(&reference, file, "time", H5R_OBJECT, H5I_INVALID_HID);
  hid_t one = H5Screate_simple(1, (hsize_t[]){1}, NULL);
  hid_t ties = H5Acreate2(array, "DIMENSION_LIST", list, one, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(ties >= 0 && H5Awrite(ties, list, &scales) >= 0);
  H5Aclose(ties);
  H5Sclose(one);
  H5Dclose(array);
  H5Dclose(time);
  H5Tclose(list);
  H5Sclose(line);
  H5Fclose(file);
  assert_ok(ndr_h5_open(&opened, path, "/x", NULL));
  return opened;
}

static void forget_days(ndr_h5_dataset *opened) {
  char path[256];
  snprintf(path, sizeof path, "%s", ndr_h5_describe(opened)->file);
  ndr_h5_close(opened);
  remove(path);
}

/* The field says so in place of the sentence, and of the operand that it is. */
START_TEST(what_groups_would_pair_is_told_by_number) {
  char path[128];
  int number = 7;
  snprintf(path, sizeof path, "%s/all.h5", h5_folder);
  ndr_h5_dataset *all = open_days(path, TIMES);
  snprintf(path, sizeof path, "%s/few.h5", h5_folder);
  ndr_h5_dataset *few = open_days(path, 12);
  ndr_h5_operand fits = operand_of(NDR_WHERE, all, NULL), does_not = operand_of(NDR_WEIGHTS, few, NULL);
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_problem problem = NDR_PROBLEM_INIT;
  const ndr_op op = NDR_MEAN;
  how.operands = (const ndr_h5_operand *const[]){&fits, &does_not};
  how.operand_count = 2;
  assert_ok(ndr_h5_problem(&problem, all, -1, NULL, 1, &op));
  assert_fails(ndr_h5_problem_operands(&problem, all, &how), NDR_ERR_DIMS, "; ndr_h5_operand.groups pairs groups");
  how.needs_groups = &number;
  assert_fails(ndr_h5_problem_operands(&problem, all, &how), NDR_ERR_DIMS, "has size 12 along");
  ck_assert_int_eq(number, 1);
  ck_assert_ptr_null(strstr(ndr_last_error(), "pairs groups"));
  how.operand_count = 1;
  assert_ok(ndr_h5_problem_operands(&problem, all, &how));
  ck_assert_int_eq(number, -1);
  fits.dataset = second;
  number = 7;
  assert_fails(ndr_h5_problem_operands(&problem, all, &how), NDR_ERR_DIMS, "dims");
  ck_assert_int_eq(number, -1);
  how.operand_count = 0;
  number = 7;
  assert_ok(ndr_h5_problem_operands(&problem, all, &how));
  ck_assert_int_eq(number, -1);
  forget_days(all);
  forget_days(few);
}
END_TEST

/* The bad weight comes with the last slab. */
START_TEST(weights_are_looked_at_slab_by_slab) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  DLTensor other = ndr_tensor(y, NDR_F64, NDR_SHAPE(TIMES, ROWS, COLUMNS));
  how.operand_count = 1;
  how.memory = 400000;
  y[TIMES - 1][2][3] = -1;
  ndr_h5_close(second);
  remove(h5_output);
  second = h5_open_written(h5_output, &other, NDR_F64, NULL);
  ndr_h5_operand again = operand_of(NDR_WEIGHTS, second, NULL);
  how.operands = (const ndr_h5_operand *const[]){&again};
  assert_fails(try(NDR_MEAN, &how), NDR_ERR_ARGUMENT, "-1 at [59, 2, 3] is no weight");
  memset(y, 0, sizeof y);
  ndr_h5_close(second);
  remove(h5_output);
  second = again.dataset = h5_open_written(h5_output, &other, NDR_F64, NULL);
  assert_fails(try(NDR_MEAN, &how), NDR_ERR_ARGUMENT, "all weights are 0");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 besides");
  TCase *besides = tcase_create("besides");
  tcase_add_checked_fixture(besides, start, finish);
  tcase_set_timeout(besides, 60);
  tcase_add_test(besides, a_mask_leaves_elements_out);
  tcase_add_test(besides, a_condition_reads_elements_arrays_and_places);
  tcase_add_test(besides, an_initial_value_goes_with_a_condition);
  tcase_add_test(besides, weights_come_from_a_file_or_from_memory);
  tcase_add_loop_test(besides, memory_and_threads_do_not_show, 0, 4);
  tcase_add_test(besides, what_does_not_fit_is_refused);
  tcase_add_test(besides, what_groups_would_pair_is_told_by_number);
  tcase_add_test(besides, weights_are_looked_at_slab_by_slab);
  suite_add_tcase(suite, besides);
  return suite_run(suite);
}
