/* Reducing datasets through the library: any dtype, layout, dims and memory budget give what the array in memory gives;
 * progress, cancelling, refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "h5/file/dtype.h"
#include "ndreduce/device.h"
#include "support/h5_any.h"
#include "support/suite.h"

static char path[64];

static void make_path(void) {
  snprintf(path, sizeof path, "/tmp/ndreduce-test-%ld.h5", (long)getpid());
}

static void remove_path(void) {
  unlink(path);
}

/* ---- Any dataset ------------------------------------------------------------------------------------------------ */

START_TEST(datasets_reduce_as_arrays_do) {
  rng random = {test_seed()};
  make_path();
  const ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  for (int i = 0; i < test_case_count(300); i++)
    h5_check_any(&random, path, 20000, false, &how, (int64_t)1 << rng_between(&random, 10, 24));
  remove_path();
}
END_TEST

/* ---- One dataset, looked at closely ----------------------------------------------------------------------------- */

enum { ROWS = 64, COLUMNS = 48 };

static ndr_h5_dataset *open_ramp(void) {
  static double values[ROWS][COLUMNS];
  ndr_h5_dataset *dataset;
  for (int i = 0; i < ROWS * COLUMNS; i++) values[i / COLUMNS][i % COLUMNS] = i;
  DLTensor tensor = ndr_tensor(values, NDR_F64, NDR_SHAPE(ROWS, COLUMNS));
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 2, (hsize_t[]){8, 16});
  make_path();
  h5_write(path, &tensor, NDR_F64, creation);
  H5Pclose(creation);
  assert_ok(ndr_h5_open(&dataset, path, "/x", NULL));
  return dataset;
}

static void close_ramp(ndr_h5_dataset *dataset) {
  ndr_h5_close(dataset);
  remove_path();
}

START_TEST(datasets_are_stacked_along_a_new_dim) {
  ndr_h5_dataset *dataset = open_ramp(), *stack;
  const char *const files[] = {path, path, path}, *const paths[] = {"/x", "/x[::-1]", "/x"};
  static double sums[ROWS][COLUMNS];
  DLTensor result = ndr_tensor(sums, NDR_F64, NDR_SHAPE(ROWS, COLUMNS)), *results[] = {&result};
  ndr_problem problem = NDR_PROBLEM_INIT;
  const ndr_op op = NDR_SUM;
  assert_fails(ndr_h5_open_series(&stack, 3, files, paths, "new:run", NULL), NDR_ERR_PARSE, "step");
  assert_fails(ndr_h5_open_series(&stack, 1, files, paths, "new:", NULL), NDR_ERR_DIMS, "no name for a new dim");
  assert_ok(ndr_h5_open_series(&stack, 3, files, (const char *const[]){"/x", "/x", "/x"}, "new:run", NULL));
  const ndr_h5_info *info = ndr_h5_describe(stack);
  ck_assert_int_eq(info->ndim, 3);
  ck_assert_int_eq(info->shape[0], 3);
  ck_assert_int_eq(info->shape[2], COLUMNS);
  ck_assert_int_eq(info->chunk[1], 8);
  ck_assert_str_eq(info->dim_names[0], "run");
  assert_fails(ndr_h5_coordinate(stack, 0, NULL), NDR_ERR_DIMS, "run has no coordinates");
  assert_ok(ndr_h5_problem(&problem, stack, NDR_DIMS(0), 1, &op));
  assert_ok(ndr_h5_reduce(stack, &problem, results, NULL));
  for (int i = 0; i < ROWS * COLUMNS; i++) ck_assert_double_eq(sums[i / COLUMNS][i % COLUMNS], 3.0 * i);
  ndr_h5_close(stack);
  close_ramp(dataset);
}
END_TEST

START_TEST(a_dataset_describes_itself) {
  ndr_h5_dataset *dataset = open_ramp();
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  ck_assert_str_eq(info->file, path);
  ck_assert_str_eq(info->dataset, "/x");
  ck_assert_int_eq(info->dtype, NDR_F64);
  ck_assert_int_eq(info->ndim, 2);
  ck_assert(info->shape[0] == ROWS && info->shape[1] == COLUMNS);
  ck_assert(info->layout == NDR_H5_CHUNKED && info->chunk[0] == 8 && info->chunk[1] == 16);
  ck_assert_int_eq(info->stored_bytes, ROWS * COLUMNS * 8);
  ck_assert_str_eq(info->filters, "");
  ck_assert(!info->dim_names[0] && !info->is_scale);
  close_ramp(dataset);
}
END_TEST

static ndr_dtype dtype_of_integer(hid_t from, size_t precision) {
  hid_t type = H5Tcopy(from);
  ndr_dtype dtype = NDR_BOOL;
  H5Tset_precision(type, precision);
  ck_assert_ptr_null(ndr_hdf_dtype(type, &dtype));
  H5Tclose(type);
  return dtype;
}

static ndr_dtype dtype_of_float(size_t exponent, size_t mantissa, size_t bias) {
  hid_t type = H5Tcopy(H5T_NATIVE_DOUBLE);
  ndr_dtype dtype = NDR_BOOL;
  ck_assert(H5Tset_fields(type, 63, 63 - exponent, exponent, 63 - exponent - mantissa, mantissa) >= 0);
  ck_assert(H5Tset_ebias(type, bias) >= 0);
  ck_assert_ptr_null(ndr_hdf_dtype(type, &dtype));
  H5Tclose(type);
  return dtype;
}

/* Numbers of any width and range become the narrowest dtype that holds them all. */
START_TEST(odd_types_become_the_narrowest_dtype_that_holds_them) {
  ck_assert_int_eq(dtype_of_integer(H5T_NATIVE_INT64, 8), NDR_I8);
  ck_assert_int_eq(dtype_of_integer(H5T_NATIVE_INT64, 9), NDR_I16);
  ck_assert_int_eq(dtype_of_integer(H5T_NATIVE_INT64, 16), NDR_I16);
  ck_assert_int_eq(dtype_of_integer(H5T_NATIVE_INT64, 17), NDR_I32);
  ck_assert_int_eq(dtype_of_integer(H5T_NATIVE_UINT64, 32), NDR_U32);
  ck_assert_int_eq(dtype_of_integer(H5T_NATIVE_UINT64, 33), NDR_U64);
  ck_assert_int_eq(dtype_of_float(5, 10, 15), NDR_F16);
  ck_assert_int_eq(dtype_of_float(5, 11, 15), NDR_F32);
  ck_assert_int_eq(dtype_of_float(8, 7, 127), NDR_BF16);
  ck_assert_int_eq(dtype_of_float(8, 23, 127), NDR_F32);
  ck_assert_int_eq(dtype_of_float(8, 23, 128), NDR_F64);
  ck_assert_int_eq(dtype_of_float(8, 23, 126), NDR_F64);
  ck_assert_int_eq(dtype_of_float(9, 7, 127), NDR_F64);
}
END_TEST

/* Below, at and above where states are squared instead of elements added. */
START_TEST(what_was_never_written_is_the_fill_value) {
  static const int64_t lengths[] = {1, 2, 4095, 4096, 4097, 8192, 3 * 4096, 5 * 4096 + 1, (int64_t)1 << 40};
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_value(creation, H5T_NATIVE_INT, &(int){3});
  make_path();
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    ndr_h5_dataset *dataset;
    int64_t sum, where, count, n = lengths[i];
    double variance;
    DLTensor tensor = {.ndim = 1, .shape = &n};
    DLTensor results[] = {{.data = &sum}, {.data = &where}, {.data = &count}, {.data = &variance}};
    for (int r = 0; r < 4; r++) results[r].device.device_type = kDLCPU;
    for (int r = 0; r < 4; r++) results[r].dtype = ndr_dtype_to_dlpack(r < 3 ? NDR_I64 : NDR_F64);
    h5_write(path, &tensor, NDR_I32, creation);
    assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
    const ndr_op ops[] = {NDR_SUM, NDR_ARGMIN, NDR_COUNT, NDR_VAR};
    assert_ok(ndr_h5_reduce(dataset, h5_problem(dataset, NDR_ALL_DIMS, 4, ops),
                            (DLTensor *[]){&results[0], &results[1], &results[2], &results[3]}, NULL));
    ck_assert_int_eq(sum, 3 * n);
    ck_assert_int_eq(where, 0);
    ck_assert_int_eq(count, n);
    ck_assert(variance == 0);
    ndr_h5_close(dataset);
  }
  remove_path();
  H5Pclose(creation);
}
END_TEST

/* Fortran pads texts with blanks. */
START_TEST(names_of_fixed_length_are_trimmed) {
  ndr_h5_dataset *dataset = open_ramp();
  ndr_h5_close(dataset);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), array = H5Dopen2(file, "/x", H5P_DEFAULT);
  hid_t text = H5Tcopy(H5T_FORTRAN_S1), two = H5Screate_simple(1, (hsize_t[]){2}, NULL);
  H5Tset_size(text, 6);
  hid_t labels = H5Acreate2(array, "DIMENSION_LABELS", text, two, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(labels, text, "row   column");
  H5Aclose(labels);
  H5Sclose(two);
  H5Tclose(text);
  H5Dclose(array);
  H5Fclose(file);
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  ck_assert_str_eq(ndr_h5_describe(dataset)->dim_names[0], "row");
  ck_assert_str_eq(ndr_h5_describe(dataset)->dim_names[1], "column");
  close_ramp(dataset);
}
END_TEST

START_TEST(several_ops_come_from_one_read) {
  ndr_h5_dataset *dataset = open_ramp();
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  double sum[COLUMNS], mean[COLUMNS];
  int64_t where[COLUMNS];
  DLTensor results[] = {ndr_tensor(sum, NDR_F64, NDR_SHAPE(COLUMNS)), ndr_tensor(mean, NDR_F64, NDR_SHAPE(COLUMNS)),
                        ndr_tensor(where, NDR_I64, NDR_SHAPE(COLUMNS))};
  options.memory = 8192;
  const ndr_op ops[] = {NDR_SUM, NDR_MEAN, NDR_ARGMAX};
  assert_ok(ndr_h5_reduce(dataset, h5_problem(dataset, NDR_DIMS(-2), 3, ops),
                          (DLTensor *[]){&results[0], &results[1], &results[2]}, &options));
  const int rows = ROWS * (ROWS - 1) / 2;
  for (int j = 0; j < COLUMNS; j++) {
    ck_assert(sum[j] == ROWS * j + COLUMNS * rows);
    ck_assert(mean[j] == sum[j] / ROWS);
    ck_assert_int_eq(where[j], ROWS - 1);
  }
  close_ramp(dataset);
}
END_TEST

static int watch(void *user, const ndr_h5_progress *now) {
  const h5_watcher *w = user;
  ck_assert_int_eq(now->slabs, w->last.slabs + 1);
  ck_assert_int_gt(now->bytes, w->last.bytes);
  return h5_watch(user, now);
}

static ndr_status reduce_watched(ndr_h5_dataset *dataset, h5_watcher *w) {
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  double sum;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  options.memory = 4096;
  options.threads = 1;
  options.on_progress = watch;
  options.user = w;
  return ndr_h5_reduce(dataset, h5_problem(dataset, NDR_ALL_DIMS, 1, &(ndr_op){NDR_SUM}), (DLTensor *[]){&result},
                       &options);
}

START_TEST(progress_ends_at_the_total) {
  ndr_h5_dataset *dataset = open_ramp();
  h5_watcher w = {0};
  assert_ok(reduce_watched(dataset, &w));
  ck_assert_int_gt(w.calls, 4);
  ck_assert_int_eq(w.last.bytes, ROWS * COLUMNS * 8);
  ck_assert_int_eq(w.last.total_bytes, w.last.bytes);
  ck_assert_int_eq(w.last.total_slabs, w.last.slabs);
  close_ramp(dataset);
}
END_TEST

START_TEST(a_cancelled_reduction_stops) {
  ndr_h5_dataset *dataset = open_ramp();
  h5_watcher w = {.cancel_after = 2};
  assert_fails(reduce_watched(dataset, &w), NDR_ERR_CANCELLED, "/x: stopped by on_progress");
  ck_assert_int_eq(w.calls, 2);
  w = (h5_watcher){0};
  assert_ok(reduce_watched(dataset, &w));
  close_ramp(dataset);
}
END_TEST

START_TEST(bad_requests_are_refused) {
  ndr_h5_dataset *dataset = open_ramp();
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  double value[COLUMNS];
  DLTensor scalar = ndr_tensor(value, NDR_F64, 0, NULL), single = ndr_tensor(value, NDR_F32, NDR_SHAPE(COLUMNS));
  DLTensor *scalars[] = {&scalar}, *singles[] = {&single};
  ndr_op sum = NDR_SUM;
  ndr_problem rows = *h5_problem(dataset, NDR_DIMS(0), 1, &sum), all = *h5_problem(dataset, NDR_ALL_DIMS, 1, &sum);
  assert_fails(ndr_h5_problem(&rows, dataset, NDR_DIMS(2), 1, &sum), NDR_ERR_DIMS, "/x: dim 2");
  assert_fails(ndr_h5_problem(&rows, dataset, NDR_DIMS(0), 0, &sum), NDR_ERR_ARGUMENT, "/x: op_count");
  assert_fails(ndr_h5_reduce(dataset, &rows, scalars, NULL), NDR_ERR_RESULT, "/x: ");
  assert_fails(ndr_h5_reduce(dataset, &rows, singles, NULL), NDR_ERR_RESULT, "f32");
  assert_fails(ndr_h5_reduce(dataset, &all, NULL, NULL), NDR_ERR_ARGUMENT, "results");
  assert_fails(ndr_h5_reduce(NULL, &all, scalars, NULL), NDR_ERR_ARGUMENT, "dataset");
  options.memory = -1;
  assert_fails(ndr_h5_reduce(dataset, &all, scalars, &options), NDR_ERR_ARGUMENT, "memory");
  options.memory = 64;
  assert_fails(ndr_h5_reduce(dataset, &all, scalars, &options), NDR_ERR_MEMORY, "/x: one chunk");
  options.size = 3;
  assert_fails(ndr_h5_reduce(dataset, &all, scalars, &options), NDR_ERR_ARGUMENT, "size");
  close_ramp(dataset);
}
END_TEST

/* So many GiB of bytes that are allocated, or claimed by one chunk that is there, but take no room on the disk. */
static void write_vast(int64_t gibibytes, bool filtered) {
  int64_t size = gibibytes << 30;
  const DLTensor claimed = {.ndim = 1, .shape = &size};
  const hsize_t chunk = (hsize_t)1 << 20, origin = 0;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  if (filtered) {
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_fletcher32(creation);
  } else {
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  }
  h5_write(path, &claimed, NDR_U8, creation);
  H5Pclose(creation);
  if (!filtered) return;
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  ck_assert(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &origin, 4, "abcd") >= 0);
  H5Dclose(dataset);
  H5Fclose(file);
}

/* What AUTO says of its choice, with or without a GPU: contiguous data pay later than filtered ones, which the cores
 * have to decode. */
START_TEST(a_gpu_is_taken_for_what_it_saves) {
  static const struct {
    int gibibytes;
    bool filtered, pays;
  } cases[] = {{11, false, false}, {12, false, true}, {2, true, false}, {3, true, true}};
  int gpus = 0;
  bool none = ndr_device_count(kDLCUDA, &gpus) != NDR_OK || gpus == 0;
  bool built = !none || !strstr(ndr_last_error(), "this build has no CUDA backend");
  make_path();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_h5_dataset *dataset;
    char text[4096];
    size_t length;
    write_vast(cases[i].gibibytes, cases[i].filtered);
    assert_ok(ndr_h5_open(&dataset, path, "/x", NULL));
    assert_ok(ndr_h5_explain(dataset, h5_problem(dataset, NDR_ALL_DIMS, 1, &(ndr_op){NDR_SUM}), NULL, text, sizeof text,
                             &length));
    const char *wanted = !built              ? "device   cpu (this build has no CUDA backend)"
                         : !cases[i].pays    ? "device   cpu (under "
                         : none              ? "device   cpu (device cuda:0 cannot be used: "
                         : cases[i].filtered ? "device   cuda:0 (there is one, and 3 GiB or more of filtered data)"
                                             : "device   cuda:0 (there is one, and 12 GiB or more to reduce)";
    ck_assert_msg(strstr(text, wanted) != NULL, "case %zu: '%s' is not in: %s", i, wanted, text);
    ck_assert(!built || cases[i].pays || cases[i].filtered == (strstr(text, "of filtered data") != NULL));
    ndr_h5_close(dataset);
  }
  remove_path();
}
END_TEST

START_TEST(explaining_reads_nothing_and_fits) {
  ndr_h5_dataset *dataset = open_ramp();
  char text[2048], small[16];
  size_t length, again;
  ndr_problem *problem = h5_problem(dataset, NDR_DIMS(1), 1, &(ndr_op){NDR_SUM});
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.memory = 64 << 20; /* what is free changes from call to call, and is in the text */
  assert_ok(ndr_h5_explain(dataset, problem, &how, text, sizeof text, &length));
  ck_assert_uint_eq(length, strlen(text));
  ck_assert_ptr_nonnull(strstr(text, "chunked 8x16"));
  assert_ok(ndr_h5_explain(dataset, problem, &how, small, sizeof small, &again));
  ck_assert_uint_eq(strlen(small), sizeof small - 1);
  ck_assert_uint_eq(again, length);
  assert_ok(ndr_h5_explain(dataset, problem, &how, NULL, 0, &again));
  ck_assert_uint_eq(again, length);
  close_ramp(dataset);
}
END_TEST

/* ---- The host program's own HDF5 -------------------------------------------------------------------------------- */

static herr_t count_errors(hid_t stack, void *user) {
  (void)stack;
  ++*(int *)user;
  return 0;
}

START_TEST(settings_of_the_program_are_kept) {
  int errors = 0;
  ndr_h5_dataset *dataset;
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  unsigned before, after;
  access.no_plugins = 1;
  H5Eset_auto2(H5E_DEFAULT, count_errors, &errors);
  H5PLget_loading_state(&before);
  assert_fails(ndr_h5_open(&dataset, "/dev/null", NULL, &access), NDR_ERR_FILE, "/dev/null");
  dataset = open_ramp();
  close_ramp(dataset);
  H5PLget_loading_state(&after);
  ck_assert_int_eq(errors, 0);
  ck_assert_uint_eq(before, after);
  H5Fopen("/dev/null", H5F_ACC_RDONLY, H5P_DEFAULT);
  ck_assert_int_gt(errors, 0);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}
END_TEST

START_TEST(nothing_stays_open) {
  ndr_h5_dataset *dataset = open_ramp();
  assert_fails(ndr_h5_open(&(ndr_h5_dataset *){NULL}, path, "/y", NULL), NDR_ERR_FILE, "/y");
  assert_fails(ndr_h5_open(&(ndr_h5_dataset *){NULL}, path, "/", NULL), NDR_ERR_FILE, "group");
  close_ramp(dataset);
  ck_assert_int_eq(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 reduce");
  suite_case(suite, "any", 300, datasets_reduce_as_arrays_do, NULL);
  suite_case(suite, "one", 30, a_dataset_describes_itself, datasets_are_stacked_along_a_new_dim,
             odd_types_become_the_narrowest_dtype_that_holds_them, what_was_never_written_is_the_fill_value,
             names_of_fixed_length_are_trimmed, several_ops_come_from_one_read, progress_ends_at_the_total,
             a_cancelled_reduction_stops, bad_requests_are_refused, explaining_reads_nothing_and_fits,
             a_gpu_is_taken_for_what_it_saves, NULL);
  suite_case(suite, "host", 30, settings_of_the_program_are_kept, nothing_stays_open, NULL);
  return suite_run(suite);
}
