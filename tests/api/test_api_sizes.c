/* Structs that start with their size, from programs that know fewer members than the library, and from programs that
 * know more. */
#include <stdlib.h>
#include <string.h>

#include "ndreduce/device.h"
#include "ndreduce/plan.h"
#include "ndreduce/scan.h"
#include "support/sized.h"
#include "support/suite.h"

static float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
static int64_t shape[] = {2, 3};
static const DLDevice cpu = {kDLCPU, 0};

/* ---- read from the caller ---- */

static ndr_status call_with_options(const void *options) {
  double mean;
  DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(&mean, NDR_F32, 0, NULL);
  return ndreduce(&array, NDR_ALL_DIMS, NDR_MEAN, &result, options);
}

static ndr_status call_with_device(const void *device) {
  return call_with_options(NDR_OPTIONS(.device = device));
}

static ndr_status call_with_problem(const void *problem) {
  ndr_plan *plan;
  ndr_accumulator *sums;
  int64_t low, high;
  ndr_status status = ndr_plan_create(&plan, problem, cpu, NULL, NULL);
  ndr_plan_destroy(plan);
  if (status == NDR_OK) status = ndr_problem_extent(problem, &low, &high);
  if (status == NDR_OK && ndr_problem_print(problem, NULL, 0) == 0) status = NDR_ERR_PARSE;
  if (status == NDR_OK) status = ndr_accumulator_create(&sums, problem, cpu, NULL);
  if (status == NDR_OK) ndr_accumulator_destroy(sums);
  return status;
}

/* Elements are converted on GPUs only: the call that is refused for that has read the struct. */
static ndr_status call_with_stored(const void *stored) {
  ndr_status status = ndr_convert_stored(cpu, stored, x, x, NULL);
  return status == NDR_ERR_UNSUPPORTED ? NDR_OK : status;
}

static ndr_status call_with_scan_options(const void *given) {
  float sums[2][3];
  DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(sums, NDR_F32, 2, shape);
  return ndr_scan(&array, 0, NDR_SUM, &result, given);
}

static ndr_status call_with_select_options(const void *given) {
  int64_t places[6][2], count;
  DLTensor array = ndr_tensor(x, NDR_F32, 2, shape), result = ndr_tensor(places, NDR_I64, NDR_SHAPE(6, 2));
  return ndr_nonzero(&array, &result, &count, given);
}

static const ndr_options options = NDR_OPTIONS_INIT;
static const ndr_scan_options scan_options = NDR_SCAN_OPTIONS_INIT;
static const ndr_select_options select_options = NDR_SELECT_OPTIONS_INIT;
static const ndr_device device = {sizeof device, kDLCPU, 0, 2, 1, 32768, 32768, 1 << 20, 1e10, 0, 0};
static const ndr_problem problem = {
    .size = sizeof problem, .dtype = NDR_F32, .ndim = 2, .shape = {2, 3}, .strides = {3, 1}, .op_count = 1};
static const ndr_stored stored = NDR_STORED_INIT(NDR_F32);

static const sized_struct read_structs[] = {
    {"ndr_options", call_with_options, &options, sizeof options, sizeof(size_t)},
    {"ndr_scan_options", call_with_scan_options, &scan_options, sizeof scan_options, sizeof(size_t)},
    {"ndr_select_options", call_with_select_options, &select_options, sizeof select_options, sizeof(size_t)},
    {"ndr_device", call_with_device, &device, sizeof device, offsetof(ndr_device, capability)},
    {"ndr_problem", call_with_problem, &problem, sizeof problem, offsetof(ndr_problem, keepdims)},
    {"ndr_stored", call_with_stored, &stored, sizeof stored, offsetof(ndr_stored, swapped)},
};
enum { READ_STRUCTS = sizeof read_structs / sizeof *read_structs };

START_TEST(a_shorter_struct_is_read_as_far_as_it_goes) {
  sized_check_shorter(&read_structs[_i]);
}
END_TEST

START_TEST(a_longer_struct_must_be_zero_where_it_is_not_known) {
  sized_check_longer(&read_structs[_i]);
}
END_TEST

START_TEST(a_struct_without_a_size_is_refused) {
  sized_check_size(&read_structs[_i]);
}
END_TEST

START_TEST(members_of_a_shorter_struct_count) {
  double deviation;
  int64_t three[] = {3};
  DLTensor array = ndr_tensor(x, NDR_F32, 1, three), result = ndr_tensor(&deviation, NDR_F32, 0, NULL);
  ndr_options whole = NDR_OPTIONS_INIT;
  whole.ddof = 1;
  float variance[2];
  for (int with = 0; with < 2; with++) {
    void *given =
        sized_copy(&whole, sizeof whole, with ? offsetof(ndr_options, accumulate) : offsetof(ndr_options, ddof));
    result.data = &variance[with];
    assert_ok(ndreduce(&array, NDR_ALL_DIMS, NDR_VAR, &result, given));
    free(given);
  }
  ck_assert(variance[0] == 2.0f / 3 && variance[1] == 1);
}
END_TEST

/* ---- written for the caller ---- */

static ndr_status parse_into(ndr_problem *into) {
  return ndr_problem_parse("sum f32 [2,3] /0 acc=f64", into);
}

START_TEST(a_problem_is_written_as_far_as_it_goes) {
  ndr_problem *given = sized_copy(&problem, sizeof problem, offsetof(ndr_problem, keepdims));
  int rows = 0;
  DLTensor array = ndr_tensor(x, NDR_F32, 2, shape);
  assert_ok(ndr_problem_parse("max f32 [5,6] /1", given));
  ck_assert(given->shape[0] == 5 && given->ops[0] == NDR_MAX && given->size == offsetof(ndr_problem, keepdims));
  assert_ok(ndr_problem_make(given, &array, 1, &rows, 1, (ndr_op[]){NDR_SUM}));
  ck_assert(given->shape[0] == 2 && given->ops[0] == NDR_SUM && given->dim_count == 1);
  assert_fails(parse_into(given), NDR_ERR_UNSUPPORTED, "no room");
  ck_assert(given->ops[0] == NDR_SUM);
  free(given);
}
END_TEST

START_TEST(what_is_beyond_a_problem_is_set_to_0) {
  size_t size = sizeof problem + 64;
  char *given = sized_copy(&problem, sizeof problem, size);
  memset(given + sizeof problem, 7, 64);
  assert_ok(parse_into((ndr_problem *)(void *)given));
  for (size_t i = sizeof problem; i < size; i++) ck_assert(given[i] == 0);
  ck_assert(((ndr_problem *)(void *)given)->accumulate == NDR_ACCUMULATE_F64);
  free(given);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api sizes");
  TCase *read = tcase_create("read");
  tcase_add_loop_test(read, a_shorter_struct_is_read_as_far_as_it_goes, 0, READ_STRUCTS);
  tcase_add_loop_test(read, a_longer_struct_must_be_zero_where_it_is_not_known, 0, READ_STRUCTS);
  tcase_add_loop_test(read, a_struct_without_a_size_is_refused, 0, READ_STRUCTS);
  tcase_add_test(read, members_of_a_shorter_struct_count);
  suite_add_tcase(suite, read);
  suite_case(suite, "written", 10, a_problem_is_written_as_far_as_it_goes, what_is_beyond_a_problem_is_set_to_0, NULL);
  return suite_run(suite);
}
