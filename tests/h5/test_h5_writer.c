/* Files of results: whole or not at all, and read back as what was written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/atomic_file.h"
#include "h5/cf/attributes.h"
#include "h5/file/hdf.h"
#include "support/h5_any.h"
#include "support/suite.h"

/* ---- Replacing a file ------------------------------------------------------------------------------------------- */

START_TEST(a_new_file_appears_on_commit) {
  ndr_atomic_file file;
  h5_make_folder();
  assert_ok(ndr_atomic_file_open(&file, h5_output, false));
  assert_ok(ndr_atomic_file_write(&file, "new", 3));
  ck_assert_int_ne(access(h5_output, F_OK), 0);
  assert_ok(ndr_atomic_file_commit(&file));
  ndr_atomic_file_close(&file);
  assert_holds(h5_output, "new");
  h5_remove_folder();
}
END_TEST

START_TEST(an_abandoned_file_leaves_nothing) {
  ndr_atomic_file file;
  h5_make_folder();
  put_text(h5_output, "old");
  assert_ok(ndr_atomic_file_open(&file, h5_output, true));
  assert_ok(ndr_atomic_file_write(&file, "new", 3));
  ndr_atomic_file_close(&file);
  assert_holds(h5_output, "old");
  h5_remove_folder();
}
END_TEST

START_TEST(a_file_that_appears_meanwhile_is_kept) {
  ndr_atomic_file file;
  h5_make_folder();
  assert_ok(ndr_atomic_file_open(&file, h5_output, false));
  assert_ok(ndr_atomic_file_write(&file, "new", 3));
  put_text(h5_output, "theirs");
  assert_fails(ndr_atomic_file_commit(&file), NDR_ERR_FILE, "exists");
  ndr_atomic_file_close(&file);
  assert_holds(h5_output, "theirs");
  h5_remove_folder();
}
END_TEST

START_TEST(permissions_are_kept) {
  ndr_atomic_file file;
  struct stat facts;
  h5_make_folder();
  put_text(h5_output, "old");
  chmod(h5_output, 0604);
  assert_ok(ndr_atomic_file_open(&file, h5_output, true));
  assert_ok(ndr_atomic_file_commit(&file));
  ndr_atomic_file_close(&file);
  ck_assert_int_eq(stat(h5_output, &facts), 0);
  ck_assert_int_eq(facts.st_mode & 07777, 0604);
  h5_remove_folder();
}
END_TEST

/* What a program prints must not end up in its output. */
START_TEST(standard_descriptors_are_left_alone) {
  ndr_atomic_file file;
  h5_make_folder();
  int kept = dup(STDOUT_FILENO);
  close(STDOUT_FILENO);
  ndr_status status = ndr_atomic_file_open(&file, h5_output, false);
  ssize_t printed = write(STDOUT_FILENO, "text", 4);
  if (status == NDR_OK) status = ndr_atomic_file_write(&file, "new", 3);
  if (status == NDR_OK) status = ndr_atomic_file_commit(&file);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  assert_ok(status);
  ck_assert_int_eq(printed, -1);
  ndr_atomic_file_close(&file);
  assert_holds(h5_output, "new");
  h5_remove_folder();
}
END_TEST

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static ndr_h5_dataset *open_input(void) {
  hid_t file = H5Fcreate(h5_input, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(2, (hsize_t[]){2, 3}, NULL);
  hid_t dataset = H5Dcreate2(file, "x", H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, (int[]){1, 2, 3, 4, 5, 6});
  hid_t texts = H5Tcopy(H5T_C_S1), two = H5Screate_simple(1, (hsize_t[]){2}, NULL);
  H5Tset_size(texts, H5T_VARIABLE);
  hid_t names = H5Acreate2(dataset, "DIMENSION_LABELS", texts, two, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(names, texts, (const char *[]){"y", "x"});
  H5Aclose(names);
  H5Sclose(two);
  H5Tclose(texts);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Fclose(file);
  ndr_h5_dataset *opened;
  assert_ok(ndr_h5_open(&opened, h5_input, NULL, NULL));
  return opened;
}

/* A dim that has only a name becomes a bare scale, and so keeps it. */
START_TEST(results_are_read_back) {
  h5_make_folder();
  ndr_h5_dataset *source = open_input(), *back;
  ndr_h5_writer *writer;
  int64_t sums[3] = {5, 7, 9}, again[3];
  DLTensor result = ndr_tensor(sums, NDR_I64, NDR_SHAPE(3)), read = ndr_tensor(again, NDR_I64, NDR_SHAPE(3));
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, NULL));
  const ndr_op sum = NDR_SUM;
  assert_ok(ndr_h5_writer_add(writer, source, h5_problem(source, NDR_DIMS(-2), 1, &sum), 0, "sums", &result));
  assert_fails(ndr_h5_writer_add(writer, source, h5_problem(source, NDR_DIMS(0), 1, &sum), 0, "sums", &result),
               NDR_ERR_FILE, "sums");
  assert_fails(ndr_h5_writer_add(writer, source, h5_problem(source, NDR_ALL_DIMS, 1, &sum), 0, "other", &result),
               NDR_ERR_RESULT, "/x");
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(source);
  assert_ok(ndr_h5_open(&back, h5_output, NULL, NULL));
  ck_assert_str_eq(ndr_h5_describe(back)->dataset, "/sums");
  ck_assert_str_eq(ndr_h5_describe(back)->dim_names[0], "x");
  assert_ok(ndr_h5_reduce(back, h5_problem(back, 0, NULL, 1, &(ndr_op){NDR_MAX}), (DLTensor *[]){&read}, NULL));
  ck_assert_mem_eq(sums, again, sizeof sums);
  ndr_h5_close(back);
  h5_remove_folder();
}
END_TEST

/* NULL is where no elements are; sanitizers see whether an offset is added to it. */
START_TEST(results_without_elements_need_no_memory) {
  h5_make_folder();
  int64_t none[] = {0, 3};
  DLTensor array = {.ndim = 2, .shape = none};
  DLTensor result = ndr_tensor(NULL, NDR_I64, 1, none);
  ndr_h5_dataset *source;
  ndr_h5_writer *writer;
  h5_write(h5_input, &array, NDR_I32, H5P_DEFAULT);
  assert_ok(ndr_h5_open(&source, h5_input, "/x", NULL));
  const ndr_problem *problem = h5_problem(source, NDR_DIMS(1), 1, &(ndr_op){NDR_SUM});
  assert_ok(ndr_h5_reduce(source, problem, (DLTensor *[]){&result}, NULL));
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, NULL));
  assert_ok(ndr_h5_writer_add(writer, source, problem, 0, "none", &result));
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(source);
  h5_remove_folder();
}
END_TEST

/* As HDF5's dimension scales want it: each scale lists who uses it, and as which dim. */
START_TEST(scales_know_their_users) {
  h5_make_folder();
  ndr_h5_dataset *source = open_input();
  ndr_h5_writer *writer;
  int64_t values[2][3] = {{1, 2, 3}, {4, 5, 6}};
  DLTensor result = ndr_tensor(values, NDR_I64, NDR_SHAPE(2, 3));
  struct {
    hobj_ref_t variable;
    int dim;
  } user[1];
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, NULL));
  assert_ok(ndr_h5_writer_add(writer, source, h5_problem(source, 0, NULL, 1, &(ndr_op){NDR_SUM}), 0, "same", &result));
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(source);
  hid_t file = H5Fopen(h5_output, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (int d = 0; d < 2; d++) {
    hid_t scale = H5Dopen2(file, d ? "/x" : "/y", H5P_DEFAULT), list = H5Aopen(scale, "REFERENCE_LIST", H5P_DEFAULT);
    hid_t stored = H5Aget_type(list), type = H5Tget_native_type(stored, H5T_DIR_DEFAULT);
    char name[16] = "";
    ck_assert_uint_eq(H5Tget_size(type), sizeof *user);
    ck_assert(H5Aread(list, type, user) >= 0);
    ck_assert_int_eq(user->dim, d);
    H5Rget_name(file, H5R_OBJECT, &user->variable, name, sizeof name);
    ck_assert_str_eq(name, "/same");
    H5Tclose(type);
    H5Tclose(stored);
    H5Aclose(list);
    H5Dclose(scale);
  }
  H5Fclose(file);
  h5_remove_folder();
}
END_TEST

static void put_number(hid_t object, const char *name, int number) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(object, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT, &number);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void put_ints(const char *path, const int numbers[3]) {
  FILE *file = fopen(path, "w");
  ck_assert_uint_eq(fwrite(numbers, sizeof *numbers, 3, file), 3);
  fclose(file);
}

/* A dataset y(i) and its scale i, whose data are in the file `elsewhere` if there is one. */
static void make_scaled(const char *elsewhere) {
  hsize_t size = 3;
  hobj_ref_t reference;
  hid_t file = H5Fcreate(h5_input, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &size, NULL);
  hid_t outside = H5Pcreate(H5P_DATASET_CREATE), list = H5Tvlen_create(H5T_STD_REF_OBJ);
  if (elsewhere) H5Pset_external(outside, elsewhere, 0, sizeof(int[3]));
  hid_t scale = H5Dcreate2(file, "i", H5T_NATIVE_INT, space, H5P_DEFAULT, outside, H5P_DEFAULT);
  if (!elsewhere) H5Dwrite(scale, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, (int[]){10, 20, 30});
  put_number(scale, "valid_min", 7);
  put_number(scale, "_Netcdf4Dimid", 4);
  hid_t array = H5Dcreate2(file, "y", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(array, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, (int[]){1, 2, 3});
  H5Rcreate(&reference, file, "i", H5R_OBJECT, H5I_INVALID_HID);
  hid_t one = H5Screate_simple(1, (hsize_t[]){1}, NULL);
  hid_t ties = H5Acreate2(array, "DIMENSION_LIST", list, one, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(ties, list, &(hvl_t){1, &reference});
  H5Aclose(ties);
  H5Sclose(one);
  H5Dclose(array);
  H5Dclose(scale);
  H5Tclose(list);
  H5Pclose(outside);
  H5Sclose(space);
  H5Fclose(file);
}

/* What describes the coordinates, not what numbers them within the input. */
START_TEST(coordinates_keep_their_attributes) {
  ndr_h5_dataset *source;
  ndr_h5_writer *writer;
  int64_t values[3] = {1, 2, 3};
  int coordinates[3], least = 0;
  DLTensor result = ndr_tensor(values, NDR_I64, NDR_SHAPE(3));
  h5_make_folder();
  make_scaled(NULL);
  assert_ok(ndr_h5_open(&source, h5_input, "/y", NULL));
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, NULL));
  assert_ok(ndr_h5_writer_add(writer, source, h5_problem(source, 0, NULL, 1, &(ndr_op){NDR_SUM}), 0, "y", &result));
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(source);
  hid_t file = H5Fopen(h5_output, H5F_ACC_RDONLY, H5P_DEFAULT), scale = H5Dopen2(file, "/i", H5P_DEFAULT);
  ck_assert(H5Dread(scale, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, coordinates) >= 0);
  ck_assert_int_eq(coordinates[2], 30);
  hid_t attribute = H5Aopen(scale, "valid_min", H5P_DEFAULT);
  ck_assert(H5Aread(attribute, H5T_NATIVE_INT, &least) >= 0);
  ck_assert_int_eq(least, 7);
  ck_assert_int_eq(H5Aexists(scale, "_Netcdf4Dimid"), 0);
  H5Aclose(attribute);
  H5Dclose(scale);
  H5Fclose(file);
  h5_remove_folder();
}
END_TEST

START_TEST(coordinates_are_read) {
  ndr_h5_dataset *array, *plain;
  double values[3];
  h5_make_folder();
  make_scaled(NULL);
  assert_ok(ndr_h5_open(&array, h5_input, "/y", NULL));
  assert_ok(ndr_h5_coordinate(array, 0, values));
  ck_assert(values[0] == 10 && values[1] == 20 && values[2] == 30);
  assert_ok(ndr_h5_coordinate(array, -1, NULL));
  assert_fails(ndr_h5_coordinate(array, 1, values), NDR_ERR_DIMS, "out of range");
  assert_fails(ndr_h5_coordinate(NULL, 0, values), NDR_ERR_ARGUMENT, "null");
  ndr_h5_close(array);
  plain = open_input();
  assert_fails(ndr_h5_coordinate(plain, 1, values), NDR_ERR_DIMS, "dim x has no coordinates");
  ndr_h5_close(plain);
  h5_remove_folder();
}
END_TEST

START_TEST(places_are_looked_up) {
  ndr_h5_dataset *array;
  int64_t found[4] = {2, -1, 0, 1};
  double values[4];
  DLTensor indices = ndr_tensor(found, NDR_I64, NDR_SHAPE(2, 2)), others = ndr_tensor(values, NDR_F64, NDR_SHAPE(4));
  h5_make_folder();
  make_scaled(NULL);
  assert_ok(ndr_h5_open(&array, h5_input, "/y", NULL));
  const ndr_problem all = *h5_problem(array, NDR_ALL_DIMS, 1, &(ndr_op){NDR_ARGMAX});
  assert_ok(ndr_h5_locate(array, &all, 0, &indices, values));
  ck_assert(values[0] == 30 && isnan(values[1]) && values[2] == 10 && values[3] == 20);
  values[0] = 0;
  assert_ok(ndr_h5_locate(array, h5_problem(array, NDR_DIMS(-1), 1, &(ndr_op){NDR_ARGMAX}), -1, &indices, values));
  ck_assert(values[0] == 30);
  assert_fails(ndr_h5_locate(array, h5_problem(array, 0, NULL, 1, &(ndr_op){NDR_ARGMAX}), 0, &indices, values),
               NDR_ERR_DIMS, "not among");
  assert_fails(ndr_h5_locate(array, &all, 1, &indices, values), NDR_ERR_DIMS, "out of range");
  assert_fails(ndr_h5_locate(array, &all, 0, &others, values), NDR_ERR_ARGUMENT, "i64");
  ndr_h5_close(array);
  h5_remove_folder();
}
END_TEST

START_TEST(bytes_can_be_written_instead) {
  ndr_h5_writer *writer;
  h5_make_folder();
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, NULL));
  assert_fails(ndr_h5_writer_commit_bytes(writer, NULL, 3), NDR_ERR_ARGUMENT, "null");
  assert_ok(ndr_h5_writer_commit_bytes(writer, "a,b\n", 4));
  ndr_h5_writer_destroy(writer);
  assert_holds(h5_output, "a,b\n");
  h5_remove_folder();
}
END_TEST

static int say_nothing(void *user, const char *sentence) {
  (void)user, (void)sentence;
  return 0;
}

/* Who looks whether the files overlap, and where a range begins, hands on what has been read. */
START_TEST(coordinates_of_a_series_are_read_once) {
  const char *const files[] = {h5_input, h5_input}, *const whole[] = {"/y", "/y"}, *const parts[] = {"/y[i=20:]", "/y"};
  char elsewhere[96];
  double values[6];
  ndr_h5_dataset *series;
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  access.on_remark = say_nothing;
  h5_make_folder();
  snprintf(elsewhere, sizeof elsewhere, "%s/scale", h5_folder);
  for (int part = 0; part < 2; part++) {
    put_ints(elsewhere, (int[]){10, 20, 30});
    make_scaled(elsewhere);
    assert_ok(ndr_h5_open_series(&series, 2, files, part ? parts : whole, "i", &access));
    put_ints(elsewhere, (int[]){7, 8, 9});
    assert_ok(ndr_h5_coordinate(series, 0, values));
    const double wanted[] = {10, 20, 30, 10, 20, 30};
    for (int64_t i = part; i < 6; i++) ck_assert_double_eq(values[i - part], wanted[i]);
    ndr_h5_close(series);
  }
  unlink(elsewhere);
  h5_remove_folder();
}
END_TEST

/* The output would else give away what another file holds. */
START_TEST(scales_outside_the_folder_are_not_copied) {
  char elsewhere[96];
  ndr_h5_dataset *source, *scale;
  ndr_h5_writer *writer;
  int64_t values[3] = {1, 2, 3};
  DLTensor result = ndr_tensor(values, NDR_I64, NDR_SHAPE(3));
  h5_make_folder();
  snprintf(elsewhere, sizeof elsewhere, "%s.secret", h5_folder);
  put_text(elsewhere, "a secret of so many bytes");
  make_scaled(elsewhere);
  assert_ok(ndr_h5_open(&source, h5_input, "/y", NULL));
  ck_assert_str_eq(ndr_h5_describe(source)->dim_names[0], "i");
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, NULL));
  assert_ok(ndr_h5_writer_add(writer, source, h5_problem(source, 0, NULL, 1, &(ndr_op){NDR_SUM}), 0, "y", &result));
  assert_ok(ndr_h5_writer_commit(writer));
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(source);
  assert_fails(ndr_h5_open(&scale, h5_output, "/i", NULL), NDR_ERR_DTYPE, "size 3 without coordinates");
  unlink(elsewhere);
  h5_remove_folder();
}
END_TEST

START_TEST(outputs_that_are_inputs_are_refused) {
  h5_make_folder();
  ndr_h5_writer *writer;
  ndr_h5_writer_options replacing = NDR_H5_WRITER_OPTIONS_INIT;
  replacing.overwrite = 1;
  put_text(h5_input, "data");
  ck_assert_int_eq(link(h5_input, h5_output), 0);
  assert_fails(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, &replacing), NDR_ERR_FILE,
               "input");
  ck_assert_ptr_null(writer);
  unlink(h5_output);
  put_text(h5_output, "old");
  assert_fails(ndr_h5_writer_create(&writer, h5_output, 1, (const char *[]){h5_input}, NULL), NDR_ERR_FILE, "exists");
  ndr_h5_writer_destroy(NULL);
  h5_remove_folder();
}
END_TEST

/* The writer is told of no input: it knows what its sources are made of. */
START_TEST(files_of_sources_are_refused) {
  ndr_h5_writer *writer;
  ndr_h5_writer_options replacing = NDR_H5_WRITER_OPTIONS_INIT;
  int64_t values[3] = {1, 2, 3};
  DLTensor result = ndr_tensor(values, NDR_I64, NDR_SHAPE(3));
  replacing.overwrite = 1;
  h5_make_folder();
  ndr_h5_dataset *source = open_input();
  ck_assert_int_eq(link(h5_input, h5_output), 0);
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, &replacing));
  assert_fails(ndr_h5_writer_protect(writer, source), NDR_ERR_FILE, "out.h5: the output is also an input");
  assert_fails(
      ndr_h5_writer_add(writer, source, h5_problem(source, NDR_DIMS(0), 1, &(ndr_op){NDR_SUM}), 0, "x", &result),
      NDR_ERR_FILE, "also an input");
  ndr_h5_writer_destroy(writer);
  ndr_h5_close(source);
  h5_remove_folder();
}
END_TEST

/* ---- What attributes say ---------------------------------------------------------------------------------------- */

static void assert_methods(const char *before, const char *first, const char *second, ndr_op op, const char *wanted) {
  char *text =
      ndr_cf_attributes_methods(before, 2, (const char *[]){first, second}, ndr_cf_attributes_method(op), NULL);
  ck_assert_str_eq(text, wanted);
  free(text);
}

START_TEST(methods_name_dims_that_have_names) {
  assert_methods(NULL, "time", "lat", NDR_MEAN, "time: lat: mean");
  assert_methods("area: mean", NULL, "lat", NDR_MIN, "area: mean lat: minimum");
  assert_methods("area: mean", NULL, NULL, NDR_MIN, "area: mean");
  assert_methods(NULL, NULL, NULL, NDR_SUM, "");
  assert_methods("", "a dim", "x", NDR_VAR, "x: variance");
  char *weighted = ndr_cf_attributes_methods("area: mean", 1, (const char *[]){"lat"}, "sum", "weighted by lat");
  ck_assert_str_eq(weighted, "area: mean lat: sum (weighted by lat)");
  char *bracketed = ndr_cf_attributes_methods(NULL, 1, (const char *[]){"lat"}, "sum", "weighted by a (1).nc:/))");
  ck_assert_str_eq(bracketed, "lat: sum (weighted by a %281%29.nc:/%29%29)");
  free(bracketed);
  free(weighted);
  for (int op = 0; op < NDR_OP_COUNT; op++) {
    char *text = ndr_cf_attributes_methods(NULL, 1, (const char *[]){"x"}, ndr_cf_attributes_method((ndr_op)op), NULL);
    ck_assert(strncmp(text, "x: ", 3) == 0 && strlen(text) > 5);
    free(text);
  }
}
END_TEST

static void assert_units(const char *units, ndr_op op, const char *wanted) {
  char *text;
  ck_assert(ndr_cf_attributes_units(units, op, &text));
  ck_assert_pstr_eq(text, wanted);
  free(text);
}

/* `weights` are the units of weights. */
static void assert_weighed(const char *units, ndr_op op, const char *weights, const char *wanted) {
  char *text;
  ck_assert(ndr_cf_attributes_weigh(units, op, weights, &text));
  ck_assert_pstr_eq(text, wanted);
  free(text);
}

START_TEST(units_follow_the_weights) {
  assert_weighed("K", NDR_SUM, "m2", "K m2");
  assert_weighed("1", NDR_SUM, "m2", "m2");
  assert_weighed(NULL, NDR_SUM, "m2", NULL);
  assert_weighed("K", NDR_SUM, "", NULL);
  assert_weighed("K", NDR_SUM, "days since 2001-01-01", NULL);
  assert_weighed("K", NDR_NORM2, "m2", NULL);
  ck_assert(!ndr_cf_attributes_has_weights(NDR_MEAN) && !ndr_cf_attributes_has_weights(NDR_VALID));
}
END_TEST

START_TEST(units_follow_the_operator) {
  assert_units("K", NDR_SUM, "K");
  assert_units("K", NDR_VAR, "K2");
  assert_units("m s-1", NDR_VAR, "(m s-1)^2");
  assert_units("1", NDR_VAR, "1");
  assert_units("K", NDR_COUNT, "1");
  assert_units("K", NDR_ARGMAX, NULL);
  assert_units(NULL, NDR_COUNT, NULL);
  assert_units("", NDR_VAR, NULL);
  assert_units("days since 2000-01-01", NDR_MAX, "days since 2000-01-01");
  assert_units("days since 2000-01-01", NDR_STD, "days");
  assert_units("days since 2000-01-01", NDR_SUM, NULL);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 writer");
  suite_case(suite, "replace", 10, a_new_file_appears_on_commit, an_abandoned_file_leaves_nothing,
             a_file_that_appears_meanwhile_is_kept, permissions_are_kept, standard_descriptors_are_left_alone, NULL);
  suite_case(suite, "results", 10, results_are_read_back, results_without_elements_need_no_memory,
             scales_know_their_users, coordinates_keep_their_attributes, coordinates_are_read, places_are_looked_up,
             bytes_can_be_written_instead, coordinates_of_a_series_are_read_once,
             scales_outside_the_folder_are_not_copied, outputs_that_are_inputs_are_refused,
             files_of_sources_are_refused, NULL);
  suite_case(suite, "meaning", 10, methods_name_dims_that_have_names, units_follow_the_operator,
             units_follow_the_weights, NULL);
  return suite_run(suite);
}
