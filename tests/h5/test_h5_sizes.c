/* Structs of h5.h that start with their size, from programs that know fewer members than the library, and from programs
 * that know more. */
#include <stdlib.h>
#include <unistd.h>

#include "support/h5_any.h"
#include "support/sized.h"
#include "support/suite.h"

static double elements[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3];
static int64_t sizes[] = {2, 3};
static ndr_h5_dataset *dataset;

static DLTensor result(void) {
  return ndr_tensor(sums, NDR_F64, 1, &sizes[1]);
}

static ndr_status reduce(const ndr_problem *problem, const ndr_h5_options *options) {
  DLTensor to = result();
  return ndr_h5_reduce(dataset, problem, (DLTensor *[]){&to}, options);
}

static ndr_problem *sum_of_rows(void) {
  return h5_problem(dataset, NDR_DIMS(0), 1, &(ndr_op){NDR_SUM});
}

/* ---- read from the caller ---- */

static ndr_status call_with_access(const void *access) {
  ndr_h5_dataset *opened;
  ndr_status status = ndr_h5_open(&opened, h5_input, "/x", access);
  ndr_h5_close(opened);
  return status;
}

static ndr_status call_with_options(const void *options) {
  char text[4096];
  size_t length;
  ndr_status status = ndr_h5_explain(dataset, sum_of_rows(), options, text, sizeof text, &length);
  return status == NDR_OK ? reduce(sum_of_rows(), options) : status;
}

static ndr_status call_with_writer_options(const void *options) {
  ndr_h5_writer *writer;
  ndr_status status = ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, options);
  ndr_h5_writer_destroy(writer);
  return status;
}

static ndr_status call_with_problem(const void *problem) {
  DLTensor from = result();
  ndr_h5_writer *writer;
  ndr_status status = reduce(problem, NULL);
  if (status != NDR_OK) return status;
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, NULL));
  status = ndr_h5_writer_add(writer, dataset, problem, 0, "sums", &from);
  ndr_h5_writer_destroy(writer);
  return status;
}

static const ndr_h5_access access_options = NDR_H5_ACCESS_INIT;
static const ndr_h5_options options = NDR_H5_OPTIONS_INIT;
static const ndr_h5_writer_options writer_options = NDR_H5_WRITER_OPTIONS_INIT;
static const ndr_problem problem = {
    .size = sizeof problem, .dtype = NDR_F64, .ndim = 2, .shape = {2, 3}, .dim_count = 1, .op_count = 1};

static const sized_struct read_structs[] = {
    {"ndr_h5_access", call_with_access, &access_options, sizeof access_options, sizeof(size_t)},
    {"ndr_h5_options", call_with_options, &options, sizeof options, sizeof(size_t)},
    {"ndr_h5_writer_options", call_with_writer_options, &writer_options, sizeof writer_options, sizeof(size_t)},
    {"ndr_problem", call_with_problem, &problem, sizeof problem, offsetof(ndr_problem, keepdims)},
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
  ndr_h5_options whole = NDR_H5_OPTIONS_INIT;
  whole.memory = 1;
  void *without = sized_copy(&whole, sizeof whole, offsetof(ndr_h5_options, memory));
  void *with = sized_copy(&whole, sizeof whole, offsetof(ndr_h5_options, on_progress));
  assert_ok(reduce(sum_of_rows(), without));
  assert_fails(reduce(sum_of_rows(), with), NDR_ERR_MEMORY, "/x: one chunk");
  free(without);
  free(with);
}
END_TEST

/* ---- written for the caller ---- */

START_TEST(a_problem_is_written_as_far_as_it_goes) {
  const ndr_problem empty = NDR_PROBLEM_INIT;
  ndr_problem *enough = sized_copy(&empty, sizeof empty, offsetof(ndr_problem, keepdims));
  ndr_problem *small = sized_copy(&empty, sizeof empty, offsetof(ndr_problem, strides));
  assert_ok(ndr_h5_problem(enough, dataset, NDR_DIMS(-2), 1, &(ndr_op){NDR_SUM}));
  assert_ok(reduce(enough, NULL));
  ck_assert(sums[0] == 5 && sums[1] == 7 && sums[2] == 9);
  assert_fails(ndr_h5_problem(small, dataset, NDR_DIMS(-2), 1, &(ndr_op){NDR_SUM}), NDR_ERR_UNSUPPORTED,
               "in.h5:/x: problem of");
  free(enough);
  free(small);
}
END_TEST

static void start(void) {
  const DLTensor array = ndr_tensor(elements, NDR_F64, 2, sizes);
  h5_make_folder();
  h5_write(h5_input, &array, NDR_F64, H5P_DEFAULT);
  assert_ok(ndr_h5_open(&dataset, h5_input, "/x", NULL));
}

static void finish(void) {
  ndr_h5_close(dataset);
  ck_assert_int_ne(access(h5_output, F_OK), 0);
  h5_remove_folder();
}

int main(void) {
  Suite *suite = suite_create("h5 sizes");
  TCase *cases = tcase_create("sizes");
  tcase_add_checked_fixture(cases, start, finish);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, a_shorter_struct_is_read_as_far_as_it_goes, 0, READ_STRUCTS);
  tcase_add_loop_test(cases, a_longer_struct_must_be_zero_where_it_is_not_known, 0, READ_STRUCTS);
  tcase_add_loop_test(cases, a_struct_without_a_size_is_refused, 0, READ_STRUCTS);
  tcase_add_test(cases, members_of_a_shorter_struct_count);
  tcase_add_test(cases, a_problem_is_written_as_far_as_it_goes);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
