/* Scans by operators of one's own. */
#include <math.h>

#include "ndreduce/operator.h"
#include "ndreduce/scan.h"
#include "support/random.h"
#include "support/suite.h"

START_TEST(own_operators_have_their_result_at_every_place) {
  float x[2][3] = {{1, 2, 6}, {4, 4, 1}}, out[2][3];
  ndr_op mean;
  assert_ok(ndr_operator_create(&mean, "mean(x): s += x, n += 1 -> s / n", NULL, 0));
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2, 3));
  assert_ok(ndr_scan(&array, 1, mean, &result, NULL));
  ck_assert(out[0][0] == 1 && out[0][1] == 1.5f && out[0][2] == 3 && out[1][1] == 4 && out[1][2] == 3);
  assert_ok(ndr_scan(&array, 1, mean, &result, NDR_SCAN_OPTIONS(.exclusive = 1)));
  ck_assert(isnan(out[0][0]) && out[0][1] == 1 && out[0][2] == 1.5f);
  x[0][1] = NAN;
  assert_ok(ndr_scan(&array, 1, mean, &result, NDR_SCAN_OPTIONS(.skip_nan = 1)));
  ck_assert(out[0][0] == 1 && out[0][1] == 1 && out[0][2] == 3.5f);
  ndr_scan_plan *plan;
  char text[512];
  assert_ok(ndr_scan_plan_create(&plan, &array, 1, mean, NULL, NULL));
  ndr_operator_destroy(mean);
  ndr_scan_plan_describe(plan, text, sizeof text);
  ck_assert_msg(strstr(text, "scan mean f32") && strstr(text, "lines   rejected: it has the built-in operators only"),
                "%s", text);
  assert_ok(ndr_scan_plan_execute(plan, (const void *[]){x}, out, NULL, 0, NULL));
  ck_assert(out[1][2] == 3);
  ndr_scan_plan_destroy(plan);
  assert_fails(ndr_scan(&array, 1, mean, &result, NULL), NDR_ERR_OP, "may have been destroyed");
}
END_TEST

START_TEST(own_operators_read_other_arrays_and_indices) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
  double weights[3] = {1, 0, 2}, out[2][3]; /* weights are also a result */
  ndr_op weighted;
  assert_ok(ndr_operator_create(&weighted, "w(x, y): s += x * y, p += index(1) -> s + p", NULL, 0));
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), second = ndr_tensor(weights, NDR_F64, NDR_SHAPE(3));
  DLTensor result = ndr_tensor(out, NDR_F64, NDR_SHAPE(2, 3)), short_one = ndr_tensor(weights, NDR_F64, NDR_SHAPE(2));
  const DLTensor *with[] = {&second}, *wrong[] = {&short_one}, *nothing[] = {NULL};
  const ndr_scan_options options = {.size = sizeof options, .with = with, .with_count = 1};
  assert_ok(ndr_scan(&array, 1, weighted, &result, &options));
  ck_assert(out[0][0] == 1 && out[0][1] == 2 && out[0][2] == 10 && out[1][0] == 4 && out[1][2] == 19);
  assert_ok(ndr_scan(&array, 1, weighted, &result, NDR_SCAN_OPTIONS(.with = with, .with_count = 1, .reverse = 1)));
  ck_assert(out[0][2] == 8 && out[0][1] == 9 && out[0][0] == 10);
  assert_ok(ndr_scan(&array, NDR_SCAN_ALL, weighted, &result, &options));
  ck_assert(out[0][2] == 10 && out[1][0] == 14 && out[1][1] == 15);
  assert_fails(ndr_scan(&array, 1, weighted, &result, NULL), NDR_ERR_ARGUMENT, "w reads 2 arrays");
  assert_fails(ndr_scan(&array, 1, NDR_SUM, &result, &options), NDR_ERR_ARGUMENT, "'with' has 1 array,");
  assert_fails(ndr_scan(&array, 1, weighted, &result, NDR_SCAN_OPTIONS(.with = wrong, .with_count = 1)),
               NDR_ERR_ARGUMENT, "does not broadcast");
  assert_fails(ndr_scan(&array, 1, weighted, &result, NDR_SCAN_OPTIONS(.with = nothing, .with_count = 1)),
               NDR_ERR_ARGUMENT, "null pointer");
  assert_fails(ndr_scan(&array, 1, weighted, &result, NDR_SCAN_OPTIONS(.with_count = 1)), NDR_ERR_ARGUMENT,
               "with is a null pointer");
  result.data = weights;
  result.shape = (int64_t[]){1, 3};
  array.shape = (int64_t[]){1, 3};
  assert_ok(ndr_scan(&array, 1, weighted, &result, &options)); /* in place of its second array */
  ck_assert(weights[0] == 1 && weights[1] == 2 && weights[2] == 10);
  second.data = weights + 1;
  result.shape = second.shape = array.shape = (int64_t[]){1, 2};
  assert_fails(ndr_scan(&array, 1, weighted, &result, &options), NDR_ERR_ARGUMENT, "overlaps an array of 'with'");
  ndr_operator_destroy(weighted);
}
END_TEST

/* A fold of states of every kind, long enough for several threads. */
START_TEST(own_operators_agree_with_built_in_ones) {
  enum { ROWS = 70, COLUMNS = 300 };
  static float x[ROWS][COLUMNS], low[ROWS][COLUMNS], own[ROWS][COLUMNS];
  rng random = {11};
  ndr_op lowest;
  assert_ok(ndr_operator_create(&lowest, "lowest(x): m min= x -> m", NULL, 0));
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) x[r][c] = (float)rng_between(&random, -1000, 1000);
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(ROWS, COLUMNS)),
           a = ndr_tensor(low, NDR_F32, NDR_SHAPE(ROWS, COLUMNS));
  DLTensor b = ndr_tensor(own, NDR_F32, NDR_SHAPE(ROWS, COLUMNS));
  for (int dim = 0; dim < 2; dim++) {
    assert_ok(ndr_scan(&array, dim, NDR_MIN, &a, NULL));
    assert_ok(ndr_scan(&array, dim, lowest, &b, NDR_SCAN_OPTIONS(.threads = 3)));
    ck_assert(memcmp(low, own, sizeof low) == 0);
  }
  ndr_operator_destroy(lowest);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api scan own");
  suite_case(suite, "own operators", 30, own_operators_have_their_result_at_every_place,
             own_operators_read_other_arrays_and_indices, own_operators_agree_with_built_in_ones, NULL);
  return suite_run(suite);
}
