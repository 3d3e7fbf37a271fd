/* Groups under emulation: the parts of regular and of scattered labels, and of windows, against the CPU. */
#include <stdio.h>
#include <stdlib.h>

#include "drive.h"
#include "memory.h"
#include "ndreduce/groups.h"
#include "ndreduce/plan.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/suite.h"

enum { GROUPS = 5, MOST_ROWS = 24, MOST_COLUMNS = 70 };

typedef enum pattern { RUNS, CYCLE, BACKWARDS, SCATTERED, GAPS, WINDOWS, PATTERNS } pattern;

static ndr_groups *random_groups(rng *random, pattern how, int64_t length) {
  int32_t values[MOST_ROWS];
  ndr_groups *groups;
  for (int64_t at = 0; at < length; at++) {
    int32_t drawn = (int32_t)rng_between(random, -1, GROUPS - 1);
    int32_t by_pattern[] = {(int32_t)(at / 4 % GROUPS), (int32_t)(at % GROUPS), (int32_t)(GROUPS - 1 - at % GROUPS),
                            drawn, drawn > 1 ? -1 : drawn};
    values[at] = by_pattern[how];
  }
  DLTensor labels = ndr_tensor(values, NDR_I32, NDR_SHAPE(length));
  assert_ok(ndr_groups_create(&groups, &labels, GROUPS));
  return groups;
}

/* Over two dims. */
static ndr_groups *random_windows(rng *random, const int64_t *shape) {
  ndr_windows windows[2];
  ndr_groups *groups;
  for (int d = 0; d < 2; d++)
    windows[d] = (ndr_windows){shape[d], 0, rng_between(random, 1, shape[d]), rng_between(random, 1, 7)};
  assert_ok(ndr_groups_boxes(&groups, 2, windows));
  return groups;
}

/* Reduces an array over dim `dim` in groups, on the device and on the CPU: at once, or as two slabs. */
static void check_case(rng *random, ndr_dtype dtype, pattern how, ndr_op op, int number) {
  int64_t shape[3] = {rng_between(random, 1, 3), rng_between(random, 1, MOST_ROWS),
                      rng_between(random, 1, MOST_COLUMNS)};
  int dim = rng_once_in(random, 3) ? 2 : 1, dims[] = {dim, dim - 1}, dim_count = (int)rng_between(random, 1, 2);
  if (dim == 2) shape[2] = rng_between(random, 1, MOST_ROWS);
  device_array array, result;
  test_array expected;
  char why[256];
  array_make(&array.host, dtype, 3, shape, NULL);
  array_fill(&array.host, random, random_filling(random, op));
  device_array_of(&array, 0, 0);
  if (how == WINDOWS) dim_count = 2;
  ndr_groups *groups =
      how == WINDOWS ? random_windows(random, shape + dim - 1) : random_groups(random, how, shape[dim]);
  ndr_options options = *NDR_OPTIONS(.groups = groups, .group_dim = how == WINDOWS ? dim - 1 : dim);
  assert_ok(array_result(&result.host, &array.host.tensor, dim_count, dims, op, &options, NULL));
  assert_ok(array_result(&expected, &array.host.tensor, dim_count, dims, op, &options, NULL));
  device_array_of(&result, 0, 0);
  assert_ok(ndreduce(&array.host.tensor, dim_count, dims, op, &expected.tensor, &options));
  assert_ok(ndreduce(&array.tensor, dim_count, dims, op, &result.tensor, &options));
  device_fetch(&result);
  ck_assert_msg(results_agree(&result.host.tensor, &expected.tensor, 16, why, sizeof why),
                "case %d: %s of %s [%d,%d,%d], dim %d of %d, pattern %d: %s", number, ndr_op_name(op),
                ndr_dtype_name(dtype), (int)shape[0], (int)shape[1], (int)shape[2], dim, dim_count, (int)how, why);
  ndr_groups_destroy(groups);
  device_free(&array);
  device_free(&result);
  array_free(&expected);
}

START_TEST(groups_agree_with_the_cpu) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I8, NDR_C64};
  static const ndr_op ops[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_MIN, NDR_ARGMAX, NDR_PTP, NDR_ANY, NDR_COUNT};
  rng random = {test_seed() + (uint64_t)_i};
  int cases = test_case_count(120);
  for (int number = 0; number < cases; number++) {
    ndr_op op = ops[rng_between(&random, 0, (int64_t)(sizeof ops / sizeof *ops) - 1)];
    if (op_defined(op, dtypes[_i])) check_case(&random, dtypes[_i], (pattern)(number % PATTERNS), op, number);
  }
  ck_assert(!simt_guards_broken());
}
END_TEST

int main(void) {
  Suite *suite = suite_create("groups on the emulated GPU");
  TCase *cases = tcase_create("against the CPU");
  tcase_set_timeout(cases, 300);
  tcase_add_loop_test(cases, groups_agree_with_the_cpu, 0, 3);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
