/* What is said of attributes that cannot be read or written, and what a callback that returns not 0 stops. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/h5_any.h"
#include "support/suite.h"

static double elements[2][3] = {{1, 2, 3}, {4, 5, 6}}, sums[3] = {5, 7, 9};
static int64_t sizes[] = {2, 3};

/* Counts what it is told, and stops from the sentence `stop_at` on. */
typedef struct {
  int told, stop_at, visited;
  char last[256];
} listener;

static int listen(void *user, const char *sentence) {
  listener *l = user;
  snprintf(l->last, sizeof l->last, "%s", sentence);
  return ++l->told == l->stop_at;
}

static ndr_h5_access access_of(listener *l) {
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  access.on_remark = listen;
  access.user = l;
  return access;
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static void put_units(void) {
  hid_t file = H5Fopen(h5_input, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, "x", H5P_DEFAULT);
  hid_t text = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
  H5Tset_size(text, H5T_VARIABLE);
  hid_t units = H5Acreate2(data, "units", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(H5Awrite(units, text, (const char *[]){"K"}) >= 0);
  H5Aclose(units);
  H5Sclose(scalar);
  H5Tclose(text);
  H5Dclose(data);
  H5Fclose(file);
}

/* Overwrites the signature of the heap that has the attribute's text. */
static void lose_heap(void) {
  char content[8192];
  FILE *file = fopen(h5_input, "r+b");
  ck_assert_ptr_nonnull(file);
  size_t length = fread(content, 1, sizeof content, file);
  for (size_t at = 0; at + 4 <= length; at++)
    if (memcmp(content + at, "GCOL", 4) == 0) {
      fseek(file, (long)at, SEEK_SET);
      ck_assert_uint_eq(fwrite("LOST", 1, 4, file), 4);
      fclose(file);
      return;
    }
  ck_abort_msg("%s has no heap", h5_input);
}

static int count_visit(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  (void)path, (void)info, (void)reason;
  ((listener *)user)->visited++;
  return 0;
}

START_TEST(opening_goes_on_unless_it_is_stopped) {
  const char *files[] = {h5_input, h5_input}, *paths[] = {"/x", "/x"};
  ndr_h5_dataset *opened;
  put_units();
  lose_heap();
  for (int stop = 0; stop < 2; stop++) {
    listener l = {.stop_at = stop};
    ndr_h5_access access = access_of(&l);
    ndr_status status = ndr_h5_open(&opened, h5_input, stop ? NULL : "/x", &access);
    ck_assert_str_eq(strstr(l.last, "/in.h5:"), "/in.h5:/x: its attribute units cannot be read");
    ck_assert_int_eq(l.told, 1);
    if (stop) assert_fails(status, NDR_ERR_CANCELLED, "/in.h5:/x: stopped by on_remark");
    if (stop) ck_assert_ptr_null(opened);
    if (!stop) assert_ok(status);
    ndr_h5_close(opened);
  }
  listener l = {.stop_at = 2};
  ndr_h5_access access = access_of(&l);
  assert_fails(ndr_h5_open_series(&opened, 2, files, paths, "0", &access), NDR_ERR_CANCELLED, "stopped by on_remark");
  ck_assert_int_eq(l.told, 2);
}
END_TEST

START_TEST(listing_goes_on_unless_it_is_stopped) {
  put_units();
  lose_heap();
  for (int stop = 0; stop < 2; stop++) {
    listener l = {.stop_at = stop};
    ndr_h5_access access = access_of(&l);
    ndr_status status = ndr_h5_list(h5_input, &access, count_visit, &l);
    if (stop) assert_fails(status, NDR_ERR_CANCELLED, "/in.h5: stopped by on_remark");
    if (!stop) assert_ok(status);
    ck_assert(l.told == 1 && l.visited == !stop);
  }
}
END_TEST

static int count_path(void *user, const char *path) {
  (void)path;
  ((listener *)user)->visited++;
  return 0;
}

static void put_table(void) {
  hid_t file = H5Fopen(h5_input, H5F_ACC_RDWR, H5P_DEFAULT), table = H5Tcreate(H5T_COMPOUND, 2 * sizeof(double));
  hid_t space = H5Screate_simple(1, (hsize_t[]){2}, NULL);
  H5Tinsert(table, "a", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(table, "b", sizeof(double), H5T_NATIVE_INT);
  hid_t data = H5Dcreate2(file, "table", table, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(data >= 0);
  H5Dclose(data);
  H5Sclose(space);
  H5Tclose(table);
  H5Fclose(file);
}

START_TEST(candidates_are_visited_unless_that_is_stopped) {
  put_table();
  for (int stop = 0; stop < 2; stop++) {
    listener l = {.stop_at = stop};
    ndr_h5_access access = access_of(&l);
    ndr_status status = ndr_h5_candidates(h5_input, &access, count_path, &l);
    if (stop) assert_fails(status, NDR_ERR_CANCELLED, "/in.h5: stopped by on_remark");
    if (!stop) assert_ok(status);
    ck_assert(l.told == 1 && l.visited == !stop);
  }
}
END_TEST

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

/* Numbers with several dims are left out of files of results. */
static void put_matrices(void) {
  hid_t file = H5Fopen(h5_input, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, "x", H5P_DEFAULT);
  hid_t square = H5Screate_simple(2, (hsize_t[]){2, 2}, NULL);
  static const char *const names[] = {"first", "second"};
  for (int i = 0; i < 2; i++) {
    hid_t matrix = H5Acreate2(data, names[i], H5T_NATIVE_INT, square, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Awrite(matrix, H5T_NATIVE_INT, (int[]){1, 2, 3, 4}) >= 0);
    H5Aclose(matrix);
  }
  H5Sclose(square);
  H5Dclose(data);
  H5Fclose(file);
}

static ndr_h5_writer *start_writer(listener *l) {
  ndr_h5_writer_options options = NDR_H5_WRITER_OPTIONS_INIT;
  ndr_h5_writer *writer;
  options.on_remark = listen;
  options.user = l;
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, &options));
  return writer;
}

static ndr_status add(ndr_h5_writer *writer, const ndr_h5_dataset *source, const char *name) {
  const DLTensor result = ndr_tensor(sums, NDR_F64, 1, &sizes[1]);
  return ndr_h5_writer_add(writer, source, h5_problem(source, NDR_DIMS(0), 1, &(ndr_op){NDR_SUM}), 0, name, &result);
}

START_TEST(writing_goes_on_unless_it_is_stopped) {
  ndr_h5_dataset *source;
  listener l = {0};
  put_matrices();
  assert_ok(ndr_h5_open(&source, h5_input, "/x", NULL));
  ndr_h5_writer *writer = start_writer(&l);
  assert_ok(add(writer, source, "sums"));
  assert_ok(add(writer, source, "again"));
  ck_assert_int_eq(l.told, 2);
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  ck_assert_int_eq(access(h5_output, F_OK), 0);
  ndr_h5_close(source);
}
END_TEST

START_TEST(a_writer_that_is_stopped_writes_nothing) {
  ndr_h5_dataset *source;
  listener l = {.stop_at = 1};
  put_matrices();
  assert_ok(ndr_h5_open(&source, h5_input, "/x", NULL));
  ndr_h5_writer *writer = start_writer(&l);
  assert_fails(add(writer, source, "sums"), NDR_ERR_CANCELLED, "/out.h5: stopped by on_remark");
  assert_fails(add(writer, source, "again"), NDR_ERR_CANCELLED, "/out.h5: stopped by on_remark");
  assert_fails(ndr_h5_writer_commit(writer), NDR_ERR_CANCELLED, "/out.h5: stopped by on_remark");
  assert_fails(ndr_h5_writer_commit_bytes(writer, "a", 1), NDR_ERR_CANCELLED, "/out.h5: stopped by on_remark");
  ck_assert_int_eq(l.told, 1);
  ndr_h5_writer_destroy(writer);
  ck_assert_int_ne(access(h5_output, F_OK), 0);
  ndr_h5_close(source);
}
END_TEST

static void start(void) {
  const DLTensor array = ndr_tensor(elements, NDR_F64, 2, sizes);
  h5_make_folder();
  h5_write(h5_input, &array, NDR_F64, H5P_DEFAULT);
}

int main(void) {
  Suite *suite = suite_create("h5 remarks");
  TCase *cases = tcase_create("remarks");
  tcase_add_checked_fixture(cases, start, h5_remove_folder);
  tcase_add_test(cases, opening_goes_on_unless_it_is_stopped);
  tcase_add_test(cases, listing_goes_on_unless_it_is_stopped);
  tcase_add_test(cases, candidates_are_visited_unless_that_is_stopped);
  tcase_add_test(cases, writing_goes_on_unless_it_is_stopped);
  tcase_add_test(cases, a_writer_that_is_stopped_writes_nothing);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
