/* Options and sets of operators under emulation: skip_nan, accumulation in f64 and several operators from one read,
 * which are compiled at run time, and the kernels that stand in where nothing can be compiled. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/backends.h"
#include "drive.h"
#include "memory.h"
#include "runtime/control.h"
#include "support/oracle.h"
#include "support/suite.h"

enum { MOST_ELEMENTS = 3000, MOST_OPS = 6 };
static const char *const families[] = {"tree", "thread", "tile", NULL};
static const ndr_dtype dtypes[] = {NDR_F32, NDR_F16, NDR_C64, NDR_F64, NDR_I8};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static void draw_ops(rng *random, ndr_problem *problem, int count) {
  for (problem->op_count = 0; problem->op_count < count; problem->op_count++) {
    ndr_op *op = &problem->ops[problem->op_count];
    do *op = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
    while (!op_defined(*op, problem->dtype) || *op == NDR_PROD);
  }
}

static void check_results(const ndr_problem *problem, const device_array *array, device_array *results) {
  char why[1024] = "";
  for (int i = 0; i < problem->op_count; i++) {
    device_fetch(&results[i]);
    ck_assert_msg(array_gaps_untouched(&results[i].host), "%s\n  written between the results", announced_case());
    ck_assert_msg(
        oracle_accepts(problem, problem->ops[i], &array->host.tensor, &results[i].host.tensor, why, sizeof why),
        "%s\n  %s", announced_case(), why);
  }
  ck_assert_msg(!simt_guards_broken(), "%s\n  something was written outside the arrays", announced_case());
}

static void run_case(const ndr_problem *problem, const char *family, bool compiles, rng *random) {
  device_array array, results[MOST_OPS];
  DLTensor *tensors[MOST_OPS];
  twist how = random_twist(random, problem->dtype);
  ndr_options options = case_options(problem);
  ndr_device device;
  announce_case(problem, family, &how, 0);
  array_of_case(&array.host, problem);
  array_fill(&array.host, random, FILL_SPECIAL);
  device_array_of(&array, how.device, how.past);
  const ndr_backend *backend;
  assert_ok(ndr_backend_find(kDLCUDA, &backend));
  assert_ok(backend->device(how.device, &device));
  device.compiles = device.compiles && compiles;
  options.device = &device;
  options.force_family = family;
  simt_controls.order = how.order;
  bool same_layout = rng_once_in(random, 2);
  for (int i = 0; i < problem->op_count; i++) {
    assert_ok(array_result(&results[i].host, &array.host.tensor, problem->dim_count, problem->dims, problem->ops[i],
                           &options, same_layout ? NULL : random));
    device_array_of(&results[i], how.device, 0);
    tensors[i] = &results[i].tensor;
  }
  ndr_status status = ndreduce_many(&array.tensor, problem->dim_count, problem->dims, problem->op_count, problem->ops,
                                    tensors, &options);
  if (status != NDR_ERR_UNSUPPORTED) {
    ck_assert_msg(status == NDR_OK, "%s\n  %s", announced_case(), ndr_last_error());
    check_results(problem, &array, results);
  }
  for (int i = 0; i < problem->op_count; i++) device_free(&results[i]);
  device_free(&array);
}

static void draw_and_run(int number, int most_ops, bool compiles) {
  rng random = {test_seed() + (uint64_t)number};
  ndr_problem problem = NDR_PROBLEM_INIT;
  const char *family = families[number % 4];
  directed_case(&random, dtypes[number / 4 % DTYPES], NDR_SUM, family ? family : "tree", MOST_ELEMENTS, &problem);
  problem.skip_nan = rng_once_in(&random, 2);
  if (rng_once_in(&random, 2)) problem.accumulate = NDR_ACCUMULATE_F64;
  draw_ops(&random, &problem, (int)rng_between(&random, most_ops > 1 ? 2 : 1, most_ops));
  run_case(&problem, family, compiles, &random);
}

/* Each of these costs a compilation. */
START_TEST(test_compiled) {
  draw_and_run(1000 + _i, MOST_OPS, true);
}
END_TEST

START_TEST(test_uncompiled) {
  for (int i = 0; i < 8; i++) draw_and_run(2000 + _i * 8 + i, MOST_OPS, false);
}
END_TEST

/* Such arrays have no address; the kept dim runs backwards. With a mask, and without. */
START_TEST(arrays_without_elements_are_reduced) {
  int64_t shape[2] = {0, 5}, strides[2] = {7, -3};
  DLTensor array = ndr_tensor(NULL, NDR_F32, 2, shape), mask = ndr_tensor(NULL, NDR_BOOL, 2, shape);
  device_array result;
  array.strides = mask.strides = strides;
  array.device = mask.device = (DLDevice){kDLCUDA, 0};
  array_make(&result.host, NDR_F32, 1, shape + 1, NULL);
  device_array_of(&result, 0, 0);
  for (int masked = 0; masked < 2; masked++) {
    memset(result.memory, ARRAY_POISON, result.host.bytes);
    assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result.tensor, masked ? NDR_OPTIONS(.where = &mask) : NULL));
    device_fetch(&result);
    for (int i = 0; i < 5; i++) ck_assert(((const float *)result.host.memory)[i] == 0);
  }
  device_free(&result);
}
END_TEST

/* The variance of 64 columns of 12,000 elements, a third of which in the middle are others. Each thread joins the
 * states of several splits. */
static double variance_of_columns(double elements, double others, bool skip_nan) {
  enum { DEVICE = 2, ROWS = 12000, COLUMNS = 64 };
  int64_t shape[] = {ROWS, COLUMNS};
  device_array array, result;
  array_make(&array.host, NDR_F64, 2, shape, NULL);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    ((double *)array.host.memory)[i] = i / COLUMNS >= ROWS / 3 && i / COLUMNS < ROWS / 3 * 2 ? others : elements;
  device_array_of(&array, DEVICE, 0);
  array_make(&result.host, NDR_F64, 1, shape + 1, NULL);
  device_array_of(&result, DEVICE, 0);
  assert_ok(ndreduce(&array.tensor, NDR_DIMS(0), NDR_VAR, &result.tensor,
                     NDR_OPTIONS(.skip_nan = skip_nan, .force_family = "thread")));
  device_fetch(&result);
  double first = *(const double *)result.host.memory;
  for (int k = 1; k < COLUMNS; k++)
    ck_assert(memcmp((const double *)result.host.memory + k, &first, sizeof first) == 0);
  device_free(&result);
  device_free(&array);
  return first;
}

/* Splits without a valid element have a mean of 0: the square of its distance from the others' would be infinite. */
START_TEST(variance_of_huge_elements) {
  ck_assert_double_eq(variance_of_columns(1e200, (double)NAN, true), 0);
  ck_assert_double_eq(variance_of_columns(0, 1e200, false), (double)INFINITY);
  ck_assert_double_eq(variance_of_columns(-1e200, 1e200, false), (double)INFINITY);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("options");
  TCase *cases = tcase_create("options");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, test_compiled, 0, test_case_count(20));
  tcase_add_loop_test(cases, test_uncompiled, 0, test_case_count(20));
  tcase_add_test(cases, arrays_without_elements_are_reduced);
  tcase_add_test(cases, variance_of_huge_elements);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
