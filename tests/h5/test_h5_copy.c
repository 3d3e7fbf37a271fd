/* Variables that are copied as they are, groups of results, and datasets of no numbers. */
#include <string.h>

#include "h5/file/hdf.h"
#include "support/h5_any.h"
#include "support/suite.h"

enum { SIZE = 3 };

static void put_dataset(hid_t file, const char *path, hid_t type, const void *data) {
  hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(1, (hsize_t[]){SIZE}, NULL);
  H5Pset_create_intermediate_group(links, 1);
  hid_t dataset = H5Dcreate2(file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert_int_ge(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(links);
}

/* /g/x of i16 (packed), /g/names of texts, /pairs of compounds. */
static void write_input(void) {
  hid_t file = H5Fcreate(h5_input, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t text = H5Tcopy(H5T_C_S1), pair = H5Tcreate(H5T_COMPOUND, 4), scalar = H5Screate(H5S_SCALAR);
  H5Tset_size(text, 4);
  H5Tinsert(pair, "left", 0, H5T_NATIVE_INT16);
  H5Tinsert(pair, "right", 2, H5T_NATIVE_INT16);
  put_dataset(file, "/g/x", H5T_STD_I16BE, (char[]){0, 1, 0, 2, 0, 3});
  put_dataset(file, "/g/names", text, "one\0two\0six");
  put_dataset(file, "/pairs", pair, (int16_t[2 * SIZE]){0});
  hid_t x = H5Dopen2(file, "/g/x", H5P_DEFAULT);
  hid_t factor = H5Acreate2(x, "scale_factor", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(factor, H5T_NATIVE_DOUBLE, &(double){0.5});
  H5Aclose(factor);
  H5Dclose(x);
  H5Sclose(scalar);
  H5Tclose(pair);
  H5Tclose(text);
  H5Fclose(file);
}

static ndr_h5_dataset *open_any(const char *path) {
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  ndr_h5_dataset *dataset;
  access.any_type = access.raw = 1;
  assert_ok(ndr_h5_open(&dataset, h5_input, path, &access));
  return dataset;
}

static ndr_h5_writer *create(void) {
  ndr_h5_writer *writer;
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, NULL));
  return writer;
}

static void setup(void) {
  h5_make_folder();
  write_input();
}

static void assert_elements(const char *path, hid_t type, const void *wanted, size_t bytes) {
  char found[64];
  hid_t file = H5Fopen(h5_output, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, path, H5P_DEFAULT);
  hid_t stored = H5Dget_type(dataset);
  ck_assert_int_gt(H5Tequal(stored, type), 0);
  ck_assert_int_ge(H5Dread(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
  ck_assert_mem_eq(found, wanted, bytes);
  H5Tclose(stored);
  H5Dclose(dataset);
  H5Fclose(file);
}

START_TEST(elements_are_copied_as_they_are_stored) {
  setup();
  ndr_h5_writer *writer = create();
  ndr_h5_dataset *x = open_any("/g/x[1:]"), *names = open_any("/g/names");
  const char *name;
  hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  assert_ok(ndr_h5_writer_copy(writer, x, &name));
  ck_assert_str_eq(name, "g/x");
  assert_ok(ndr_h5_writer_copy(writer, names, &name));
  ck_assert_str_eq(name, "g/names");
  assert_ok(ndr_h5_writer_commit(writer));
  assert_elements("/g/x", H5T_STD_I16BE, (char[]){0, 2, 0, 3}, 4);
  assert_elements("/g/names", text, "one\0two\0six", 12);
  H5Tclose(text);
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(x);
  ndr_h5_close(names);
  h5_remove_folder();
}
END_TEST

START_TEST(a_copy_that_is_there_is_not_made_again) {
  setup();
  ndr_h5_writer *writer = create();
  ndr_h5_dataset *x = open_any("/g/x"), *again = open_any("/g/x"), *other = open_any("/g/x[:2]");
  const char *name;
  assert_ok(ndr_h5_writer_copy(writer, x, &name));
  assert_ok(ndr_h5_writer_copy(writer, again, &name));
  ck_assert_ptr_null(name);
  assert_ok(ndr_h5_writer_copy(writer, other, &name));
  ck_assert_str_eq(name, "g/x_2");
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(x);
  ndr_h5_close(again);
  ndr_h5_close(other);
  h5_remove_folder();
}
END_TEST

START_TEST(what_is_no_number_is_described_and_not_reduced) {
  setup();
  ndr_h5_dataset *names = open_any("/g/names"), *x = open_any("/g/x"), *pairs = open_any("/pairs"), *refused;
  ndr_h5_writer *writer = create();
  ndr_problem problem = NDR_PROBLEM_INIT;
  const ndr_op op = NDR_SUM;
  const char *name;
  double sum;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  ndr_h5_operand mask = NDR_H5_OPERAND_INIT;
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  ck_assert_str_eq(ndr_h5_describe(names)->elements, "strings");
  ck_assert_ptr_null(ndr_h5_describe(x)->elements);
  assert_fails(ndr_h5_problem(&problem, names, NDR_ALL_DIMS, 1, &op), NDR_ERR_DTYPE, "strings");
  assert_ok(ndr_h5_problem(&problem, x, NDR_ALL_DIMS, 1, &op));
  problem.dtype = NDR_F64;
  assert_fails(ndr_h5_reduce(names, &problem, (DLTensor *[]){&result}, NULL), NDR_ERR_DTYPE, "strings");
  mask.role = NDR_WHERE;
  mask.dataset = names;
  options.operands = (const ndr_h5_operand *[]){&mask};
  options.operand_count = 1;
  assert_fails(ndr_h5_reduce(x, &problem, (DLTensor *[]){&result}, &options), NDR_ERR_DTYPE, "strings");
  assert_fails(ndr_h5_writer_copy(writer, pairs, &name), NDR_ERR_DTYPE, "cannot be copied");
  assert_fails(ndr_h5_open(&refused, h5_input, "/g/names", NULL), NDR_ERR_DTYPE, "strings");
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(names);
  ndr_h5_close(pairs);
  ndr_h5_close(x);
  h5_remove_folder();
}
END_TEST

static void assert_same(const char *path, const char *other, int wanted) {
  ndr_h5_dataset *a = open_any(path), *b = open_any(other);
  int same = -1;
  assert_ok(ndr_h5_same(a, b, &same));
  ck_assert_msg((same != 0) == wanted, "%s and %s", path, other);
  ndr_h5_close(a);
  ndr_h5_close(b);
}

START_TEST(what_is_the_same_is_told) {
  setup();
  ndr_h5_dataset *series;
  int same;
  hid_t file = H5Fopen(h5_input, H5F_ACC_RDWR, H5P_DEFAULT);
  put_dataset(file, "/a/little", H5T_STD_I16LE, (int16_t[]){4, 5, 6});
  put_dataset(file, "/a/big", H5T_STD_I16BE, (char[]){0, 4, 0, 5, 0, 6});
  put_dataset(file, "/a/wide", H5T_NATIVE_INT32, (int32_t[]){4, 5, 6});
  put_dataset(file, "/a/x", H5T_STD_I16BE, (char[]){0, 1, 0, 2, 0, 3});
  H5Fclose(file);
  ndr_h5_dataset *pairs = open_any("/pairs");
  assert_same("/g/x", "/g/x", 1);
  assert_same("/g/x", "/a/x", 0); /* is not packed */
  assert_same("/g/x[1:]", "/g/x[1:]", 1);
  assert_same("/g/x[1:]", "/g/x[:2]", 0);
  assert_same("/g/x", "/g/x[:2]", 0);
  assert_same("/a/little", "/a/big", 0);
  assert_same("/a/little", "/a/wide", 0);
  assert_same("/g/names", "/g/names", 1);
  assert_same("/g/names", "/a/x", 0);
  assert_fails(ndr_h5_same(pairs, pairs, &same), NDR_ERR_DTYPE, "cannot be copied");
  assert_ok(ndr_h5_open_series(&series, 2, (const char *[]){h5_input, h5_input}, (const char *[]){"/g/x", "/g/x"}, "0",
                               NULL));
  assert_fails(ndr_h5_same(series, series, &same), NDR_ERR_ARGUMENT, "a series is not compared");
  assert_fails(ndr_h5_same(NULL, pairs, &same), NDR_ERR_ARGUMENT, "null pointer");
  ndr_h5_close(series);
  ndr_h5_close(pairs);
  h5_remove_folder();
}
END_TEST

START_TEST(results_lie_in_groups) {
  setup();
  ndr_h5_dataset *x, *back;
  ndr_h5_writer *writer = create();
  const ndr_op op = NDR_SUM;
  double sum = 3;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  assert_ok(ndr_h5_open(&x, h5_input, "/g/x", NULL));
  ndr_problem *problem = h5_problem(x, NDR_ALL_DIMS, 1, &op);
  assert_ok(ndr_h5_writer_add(writer, x, problem, 0, "a/b/x", &result));
  assert_ok(ndr_h5_writer_add(writer, x, problem, 0, "x", &result));
  assert_fails(ndr_h5_writer_add(writer, x, problem, 0, "a/b/x", &result), NDR_ERR_FILE, "a/b/x");
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  assert_ok(ndr_h5_open(&back, h5_output, "/a/b/x", NULL));
  ndr_h5_close(back);
  ndr_h5_close(x);
  h5_remove_folder();
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 copy");
  suite_case(suite, "copies", 10, elements_are_copied_as_they_are_stored, a_copy_that_is_there_is_not_made_again,
             what_is_no_number_is_described_and_not_reduced, what_is_the_same_is_told, results_lie_in_groups, NULL);
  return suite_run(suite);
}
