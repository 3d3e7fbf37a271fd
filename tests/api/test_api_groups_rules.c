/* Groups by hand: labels, windows, what is refused, and how they are written. */
#include <stdio.h>

#include "ndreduce/groups.h"
#include "ndreduce/plan.h"
#include "support/array.h"
#include "support/suite.h"

static float x[6] = {1, 2, 4, 8, 16, 32};

static ndr_status sums(const ndr_groups *groups, float *out) {
  int64_t length[] = {6}, count[] = {ndr_groups_count(groups)};
  DLTensor array = ndr_tensor(x, NDR_F32, 1, length), result = ndr_tensor(out, NDR_F32, 1, count);
  return ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NDR_OPTIONS(.groups = groups, .group_dim = -1));
}

START_TEST(labels_have_any_integer_dtype) {
  const double values[] = {2, 0, 2, 1, 0, 2};
  for (ndr_dtype dtype = NDR_I8; dtype <= NDR_U64; dtype++) {
    test_array labels;
    ndr_groups *groups;
    float out[3];
    array_from(&labels, dtype, 1, (int64_t[]){6}, values);
    assert_ok(ndr_groups_create(&groups, &labels.tensor, 3));
    assert_ok(sums(groups, out));
    ck_assert(out[0] == 18 && out[1] == 8 && out[2] == 37);
    ndr_groups_destroy(groups);
    array_free(&labels);
  }
}
END_TEST

START_TEST(windows_are_refused_trimmed_or_padded) {
  ndr_groups *groups;
  float out[2];
  assert_fails(ndr_groups_windows(&groups, 6, 4, NDR_REST_REFUSE), NDR_ERR_ARGUMENT, "windows of 4");
  assert_ok(ndr_groups_windows(&groups, 6, 4, NDR_REST_TRIM));
  ck_assert_int_eq(ndr_groups_count(groups), 1);
  assert_ok(sums(groups, out));
  ck_assert(out[0] == 15);
  ndr_groups_destroy(groups);
  assert_ok(ndr_groups_windows(&groups, 6, 4, NDR_REST_PAD));
  ck_assert_int_eq(ndr_groups_count(groups), 2);
  assert_ok(sums(groups, out));
  ck_assert(out[0] == 15 && out[1] == 48);
  ndr_groups_destroy(groups);
  assert_fails(ndr_groups_windows(&groups, 6, 0, NDR_REST_PAD), NDR_ERR_ARGUMENT, "window of 0");
  assert_fails(ndr_groups_windows(&groups, 0, 2, NDR_REST_PAD), NDR_ERR_ARGUMENT, "no window");
  assert_fails(ndr_groups_windows(&groups, 3, 4, NDR_REST_TRIM), NDR_ERR_ARGUMENT, "no window");
}
END_TEST

/* 2 x 2 cells of a map of 3 x 5; the last column is in no window, and the last row in shorter ones. */
START_TEST(windows_over_two_dims_are_boxes) {
  const ndr_windows windows[] = {{3, 0, 3, 2}, {5, 0, 4, 2}};
  float map[3][5] = {{1, 2, 3, 4, 100}, {10, 20, 30, 40, 100}, {5, 6, 7, 8, 100}}, out[4];
  int64_t at[4];
  DLTensor array = ndr_tensor(map, NDR_F32, NDR_SHAPE(3, 5)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(4)),
           places = ndr_tensor(at, NDR_I64, NDR_SHAPE(4));
  ndr_groups *groups;
  assert_ok(ndr_groups_boxes(&groups, 2, windows));
  ck_assert_int_eq(ndr_groups_count(groups), 4);
  assert_ok(ndreduce(&array, NDR_DIMS(0, 1), NDR_SUM, &result, NDR_OPTIONS(.groups = groups)));
  ck_assert(out[0] == 33 && out[1] == 77 && out[2] == 11 && out[3] == 15);
  assert_ok(ndreduce(&array, NDR_DIMS(0, 1), NDR_ARGMAX, &places, NDR_OPTIONS(.groups = groups)));
  ck_assert(at[0] == 6 && at[1] == 8 && at[2] == 11 && at[3] == 13);
  ndr_groups_destroy(groups);
}
END_TEST

/* No memory holds the labels, nor the results of one output a window. */
START_TEST(windows_need_no_labels) {
  const int64_t size = INT64_C(1) << 40;
  const ndr_windows windows[] = {{size, 0, size, 1}, {1024, 0, 1024, 512}};
  ndr_groups *groups;
  assert_ok(ndr_groups_boxes(&groups, 2, windows));
  ck_assert(ndr_groups_count(groups) == 2 * size);
  ndr_groups_destroy(groups);
}
END_TEST

START_TEST(windows_are_checked) {
  ndr_groups *groups;
  const ndr_windows none[] = {{6, 2, 2, 1}}, beyond[] = {{6, 0, 7, 1}}, empty[] = {{6, 0, 6, 0}},
                    many[] = {{INT64_C(1) << 40, 0, INT64_C(1) << 40, 1}, {INT64_C(1) << 40, 0, INT64_C(1) << 40, 1}};
  assert_fails(ndr_groups_boxes(NULL, 1, none), NDR_ERR_ARGUMENT, "groups is a null pointer");
  assert_fails(ndr_groups_boxes(&groups, 1, NULL), NDR_ERR_ARGUMENT, "windows is a null pointer");
  assert_fails(ndr_groups_boxes(&groups, 0, none), NDR_ERR_DIMS, "windows along 0 dims");
  assert_fails(ndr_groups_boxes(&groups, 1, none), NDR_ERR_ARGUMENT, "windows from 2 to 2");
  assert_fails(ndr_groups_boxes(&groups, 1, beyond), NDR_ERR_ARGUMENT, "windows from 0 to 7 along a dim of size 6");
  assert_fails(ndr_groups_boxes(&groups, 1, empty), NDR_ERR_ARGUMENT, "a window of 0");
  assert_fails(ndr_groups_boxes(&groups, 2, many), NDR_ERR_OVERFLOW, "too many windows");
  ck_assert_ptr_null(groups);
}
END_TEST

START_TEST(an_empty_dim_has_empty_groups) {
  int64_t none[] = {0}, two[] = {2};
  int32_t no;
  float out[2] = {7, 7};
  ndr_groups *groups;
  DLTensor labels = ndr_tensor(&no, NDR_I32, 1, none), array = ndr_tensor(x, NDR_F32, 1, none),
           result = ndr_tensor(out, NDR_F32, 1, two);
  assert_ok(ndr_groups_create(&groups, &labels, 2));
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NDR_OPTIONS(.groups = groups)));
  ck_assert(out[0] == 0 && out[1] == 0);
  assert_ok(ndreduce(&array, NDR_DIMS(0), NDR_MAX, &result, NDR_OPTIONS(.groups = groups)));
  ck_assert(out[0] == -INFINITY && out[1] == -INFINITY);
  ndr_groups_destroy(groups);
}
END_TEST

START_TEST(another_empty_dim_has_empty_groups) {
  int32_t values[4] = {0, 0, 1, 1};
  float out[2] = {7, 7};
  ndr_groups *groups;
  DLTensor labels = ndr_tensor(values, NDR_I32, NDR_SHAPE(4)), array = ndr_tensor(x, NDR_F32, NDR_SHAPE(4, 0)),
           result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2));
  assert_ok(ndr_groups_create(&groups, &labels, 2));
  assert_ok(ndreduce(&array, NDR_DIMS(0, 1), NDR_MIN, &result, NDR_OPTIONS(.groups = groups)));
  ck_assert(out[0] == INFINITY && out[1] == INFINITY);
  ndr_groups_destroy(groups);
}
END_TEST

START_TEST(nan_weights_are_refused_before_anything_is_written) {
  int32_t values[6] = {0, 0, 0, 1, 1, 1};
  double weight[6] = {1, 1, 1, 1, NAN, 1};
  float out[2] = {7, 7};
  ndr_groups *groups;
  DLTensor labels = ndr_tensor(values, NDR_I32, NDR_SHAPE(6)), array = ndr_tensor(x, NDR_F32, NDR_SHAPE(6)),
           weights = ndr_tensor(weight, NDR_F64, NDR_SHAPE(6)), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2));
  assert_ok(ndr_groups_create(&groups, &labels, 2));
  assert_fails(ndreduce(&array, NDR_DIMS(0), NDR_MEAN, &result, NDR_OPTIONS(.weights = &weights, .groups = groups)),
               NDR_ERR_ARGUMENT, "weights have NaN");
  ck_assert(out[0] == 7 && out[1] == 7);
  ndr_groups_destroy(groups);
}
END_TEST

START_TEST(calls_with_other_groups_stay_apart) {
  for (int round = 0; round < 100; round++) {
    int32_t labels[6];
    float out[2];
    ndr_groups *groups;
    for (int i = 0; i < 6; i++) labels[i] = i < round % 6;
    DLTensor tensor = ndr_tensor(labels, NDR_I32, NDR_SHAPE(6));
    assert_ok(ndr_groups_create(&groups, &tensor, 2));
    assert_ok(sums(groups, out));
    ck_assert(out[1] == (float)((1 << round % 6) - 1) && out[0] == 63 - out[1]);
    ndr_groups_destroy(groups);
  }
}
END_TEST

START_TEST(labels_are_checked) {
  int32_t values[6] = {0, 1, 2, 0, 1, 2};
  int64_t six[] = {6}, two_by_three[] = {2, 3};
  float out[6], reals[6] = {0};
  ndr_groups *groups = NULL, *flat;
  DLTensor labels = ndr_tensor(values, NDR_I32, 1, six), array = ndr_tensor(x, NDR_F32, 2, two_by_three),
           result = ndr_tensor(out, NDR_F32, 1, six);
  assert_fails(ndr_groups_create(NULL, &labels, 3), NDR_ERR_ARGUMENT, "groups is a null pointer");
  assert_fails(ndr_groups_create(&groups, NULL, 3), NDR_ERR_ARGUMENT, "labels is a null pointer");
  assert_fails(ndr_groups_create(&groups, &labels, 2), NDR_ERR_ARGUMENT, "label number 2 is 2");
  assert_fails(ndr_groups_create(&groups, &labels, 0), NDR_ERR_ARGUMENT, "number of groups is 0");
  values[4] = -2;
  assert_fails(ndr_groups_create(&groups, &labels, 3), NDR_ERR_ARGUMENT, "label number 4 is -2");
  ck_assert_ptr_null(groups);
  values[4] = 1;
  DLTensor floats = ndr_tensor(reals, NDR_F32, 1, six), far = labels;
  far.byte_offset = (uint64_t)1 << 63;
  assert_fails(ndr_groups_create(&groups, &far, 3), NDR_ERR_ARGUMENT, "labels' byte_offset -9223372036854775808");
  assert_fails(ndr_groups_create(&groups, &floats, 3), NDR_ERR_DTYPE, "labels are f32");
  assert_ok(ndr_groups_create(&flat, &labels, 3));
  assert_fails(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, NDR_OPTIONS(.groups = flat)), NDR_ERR_DIMS,
               "dim 0 has labels (group_dim) and is not reduced");
  assert_fails(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, NDR_OPTIONS(.groups = flat, .group_dim = 1)),
               NDR_ERR_ARGUMENT, "dim 0 of the labels has size 6, dim 1 of the array 3");
  assert_fails(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, NDR_OPTIONS(.groups = flat, .group_dim = 2)),
               NDR_ERR_DIMS, "out of range");
  assert_fails(ndreduce(&array, NDR_DIMS(1), NDR_SUM, &result, NDR_OPTIONS(.group_dim = 1)), NDR_ERR_ARGUMENT,
               "group_dim is 1, and groups a null pointer");
  ndr_groups_destroy(flat);
  ndr_groups_destroy(NULL);
}
END_TEST

/* ---- as text ---- */

static const DLDevice cpu = {kDLCPU, 0};

static void assert_prints_as(const char *text, const char *expected) {
  ndr_problem problem = NDR_PROBLEM_INIT, again = NDR_PROBLEM_INIT;
  char printed[256];
  assert_ok(ndr_problem_parse(text, &problem));
  ndr_problem_print(&problem, printed, sizeof printed);
  ck_assert_str_eq(printed, expected);
  assert_ok(ndr_problem_parse(printed, &again));
  ck_assert_ptr_eq(problem.groups, again.groups);
}

START_TEST(groups_are_text) {
  assert_prints_as("sum f32 [6] /0 groups=0:3[0,1,2,0,1,2]", "sum f32 [6] /0 groups=0:3[2(0:3)]");
  assert_prints_as("sum f32 [2,3] /all groups=0,1:3[0,0,-1,-1,2,0]",
                   "sum f32 [2,3] /0,1 groups=0,1:3[0x2,-1x2,2:-1:-2]");
  assert_prints_as("max i8 [9] /0 keepdims groups=0:5[4:1:-1x2,-1,2,2]",
                   "max i8 [9] /0 keepdims groups=0:5[4:1:-1x2,-1,2x2]");
  assert_prints_as("sum f32 [3,5,2] /0,1 groups=0,1:{0:3:2,1:5:2}", "sum f32 [3,5,2] /0,1 groups=0,1:{0:3:2,1:5:2}");
  assert_prints_as("sum f32 [0] /0 groups=0:1[]", "sum f32 [0] /0 groups=0:1[]");
}
END_TEST

START_TEST(texts_of_groups_are_checked) {
  const char *const wrong[][2] = {{"groups=1:2[0,1]", "neighbours"},
                                  {"groups=0,1:2[0,1]", "neighbours"},
                                  {"groups=0:2", "'['"},
                                  {"groups=0:{0:7:1}", "where windows end"},
                                  {"groups=0:{0:2:0}", "size of windows"},
                                  {"groups=0:{0:2:1", "'}'"},
                                  {"groups=0:0[0,1]", "number of groups"},
                                  {"groups=0:2[0]", "a label for each element"},
                                  {"groups=0:2[0,1,0]", "no more labels"},
                                  {"groups=0:2[0,2]", "a label from -1"},
                                  {"groups=0:2[0:2:0]", "an end that"},
                                  {"groups=0:2[0:2", "',' or ']'"},
                                  {"groups=0:2[9999999999(0)]", "a label"},
                                  {"groups=0:2[2(0]", "')'"},
                                  {"groups=0:2[0x0]", "how often"},
                                  {"groups=0:2[2147483647(0)]", "no more labels"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    char text[64];
    snprintf(text, sizeof text, "sum f32 [2] /0 %s", wrong[i][0]);
    assert_fails(ndr_problem_parse(text, &problem), NDR_ERR_PARSE, wrong[i][1]);
  }
}
END_TEST

/* A text that fails keeps no labels; together these would be more than the process may keep. */
START_TEST(a_text_that_fails_keeps_nothing) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  for (int round = 0; round < 3; round++)
    assert_fails(ndr_problem_parse("sum u8 [20000000:0] / groups=0:1[0x20000000]", &problem), NDR_ERR_DIMS,
                 "not reduced");
  assert_ok(ndr_problem_parse("sum u8 [4] /0 groups=0:1[0x4]", &problem));
  assert_fails(ndr_problem_parse("sum u8 [4] /0 groups=0:1[0x4] groups=0:1[0x4]", &problem), NDR_ERR_PARSE, "one list");
  assert_fails(ndr_measurements_import("sum f32 [4] /0 groups=0:2[0,0,1,1] on cpu 2 threads: rows 1 us"), NDR_ERR_PARSE,
               "groups are not measured");
}
END_TEST

START_TEST(groups_are_the_problems_to_say) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  ndr_groups *groups;
  assert_ok(ndr_problem_parse("sum f32 [4] /0", &problem));
  assert_ok(ndr_groups_windows(&groups, 4, 2, NDR_REST_REFUSE));
  assert_fails(ndr_plan_create(&plan, &problem, cpu, NULL, NDR_OPTIONS(.groups = groups)), NDR_ERR_ARGUMENT, "groups");
  assert_fails(ndr_plan_create(&plan, &problem, cpu, NULL, NDR_OPTIONS(.group_dim = 1)), NDR_ERR_ARGUMENT, "group_dim");
  problem.groups = groups;
  problem.group_dim = INT32_MAX;
  assert_fails(ndr_plan_create(&plan, &problem, cpu, NULL, NULL), NDR_ERR_DIMS, "out of range");
  ndr_groups_destroy(groups);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("rules of groups");
  suite_case(suite, "labels", 10, labels_have_any_integer_dtype, an_empty_dim_has_empty_groups,
             another_empty_dim_has_empty_groups, nan_weights_are_refused_before_anything_is_written,
             calls_with_other_groups_stay_apart, labels_are_checked, NULL);
  suite_case(suite, "windows", 10, windows_are_refused_trimmed_or_padded, windows_over_two_dims_are_boxes,
             windows_need_no_labels, windows_are_checked, NULL);
  suite_case(suite, "text", 30, groups_are_text, texts_of_groups_are_checked, a_text_that_fails_keeps_nothing,
             groups_are_the_problems_to_say, NULL);
  return suite_run(suite);
}
