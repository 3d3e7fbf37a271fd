#include "h5_any.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "h5/file/dtype.h"
#include "support/oracle.h"
#include "support/suite.h"

void h5_write(const char *path, const DLTensor *tensor, ndr_dtype dtype, hid_t creation) {
  hsize_t size[NDR_MAX_DIMS];
  for (int d = 0; d < tensor->ndim; d++) size[d] = (hsize_t)tensor->shape[d];
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), type = ndr_hdf_file_type(dtype);
  hid_t space = H5Screate_simple(tensor->ndim, size, NULL);
  hid_t dataset = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ck_assert(dataset >= 0);
  if (tensor->data) {
    const void *data = (const char *)tensor->data + tensor->byte_offset;
    ck_assert(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  }
  H5Dclose(dataset);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

ndr_h5_dataset *h5_open_written(const char *path, const DLTensor *tensor, ndr_dtype dtype, const hsize_t *chunk) {
  ndr_h5_dataset *opened;
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk) H5Pset_chunk(creation, tensor->ndim, chunk);
  h5_write(path, tensor, dtype, creation);
  H5Pclose(creation);
  assert_ok(ndr_h5_open(&opened, path, "/x", NULL));
  return opened;
}

char h5_folder[64], h5_input[96], h5_output[96];

void h5_make_folder(void) {
  strcpy(h5_folder, "/tmp/ndreduce-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(h5_folder));
  snprintf(h5_input, sizeof h5_input, "%s/in.h5", h5_folder);
  snprintf(h5_output, sizeof h5_output, "%s/out.h5", h5_folder);
}

void h5_remove_folder(void) {
  unlink(h5_input);
  unlink(h5_output);
  ck_assert_msg(rmdir(h5_folder) == 0, "%s is not empty", h5_folder);
}

void put_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
}

void assert_holds(const char *path, const char *text) {
  char found[64] = "";
  FILE *file = fopen(path, "r");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fread(found, 1, sizeof found - 1, file), strlen(text));
  fclose(file);
  ck_assert_str_eq(found, text);
}

int h5_watch(void *user, const ndr_h5_progress *now) {
  h5_watcher *w = user;
  ck_assert_int_ge(now->slabs, w->last.slabs);
  ck_assert_int_ge(now->bytes, w->last.bytes);
  ck_assert_int_le(now->bytes, now->total_bytes);
  ck_assert(now->wait_seconds >= 0 && now->reduce_seconds >= 0);
  w->last = *now;
  return ++w->calls == w->cancel_after;
}

ndr_problem *h5_problem(const ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count,
                        const ndr_op *ops) {
  static _Thread_local ndr_problem problem;
  problem = (ndr_problem)NDR_PROBLEM_INIT;
  assert_ok(ndr_h5_problem(&problem, dataset, dim_count, dims, op_count, ops));
  return &problem;
}

/* ---- Any dataset ------------------------------------------------------------------------------------------------ */

/* Chunks of a random size, with or without filters; HDF5 allows none where a size is 0. */
static void choose_layout(hid_t creation, const DLTensor *tensor, rng *random) {
  hsize_t chunk[NDR_MAX_DIMS];
  if (tensor->ndim == 0 || array_count(tensor) == 0 || rng_once_in(random, 3)) return;
  for (int d = 0; d < tensor->ndim; d++) chunk[d] = (hsize_t)rng_between(random, 1, tensor->shape[d]);
  H5Pset_chunk(creation, tensor->ndim, chunk);
  if (rng_once_in(random, 3)) return;
  if (rng_once_in(random, 2)) H5Pset_shuffle(creation);
  if (rng_once_in(random, 2)) H5Pset_deflate(creation, 1);
  if (rng_once_in(random, 3)) H5Pset_fletcher32(creation);
}

static void check_against_oracle(const ndr_problem *problem, const test_array *array, const char *path,
                                 const ndr_h5_options *how, int64_t memory, rng *random) {
  ndr_options layout = case_options(problem);
  ndr_h5_options options = *how;
  ndr_h5_dataset *dataset;
  test_array result;
  char text[512];
  options.memory = memory;
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  assert_ok(array_result(&result, &array->tensor, problem->dim_count, problem->dims, problem->ops[0], &layout, random));
  ndr_status status = ndr_h5_reduce(dataset, problem, (DLTensor *[]){&result.tensor}, &options);
  if (status == NDR_ERR_MEMORY)
    ck_assert_int_lt(memory, 1 << 20);
  else
    ck_assert_msg(
        status == NDR_OK && oracle_accepts(problem, problem->ops[0], &array->tensor, &result.tensor, text, sizeof text),
        "%s in %lld bytes: %s", case_text(problem), (long long)memory, status == NDR_OK ? text : ndr_last_error());
  array_free(&result);
  ndr_h5_close(dataset);
}

/* Makes a random case, and a file of its array. */
static void write_case(rng *random, const char *path, int64_t most, bool plain, ndr_problem *problem,
                       test_array *array) {
  random_case(random, most, problem);
  if (plain) {
    problem->skip_nan = 0;
    problem->accumulate = NDR_ACCUMULATE_DEFAULT;
  }
  array_make(array, problem->dtype, problem->ndim, problem->shape, NULL);
  array_fill(array, random, random_filling(random, problem->ops[0]));
  memcpy(problem->strides, array->strides, sizeof problem->strides);
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  choose_layout(creation, &array->tensor, random);
  h5_write(path, &array->tensor, problem->dtype, creation);
  H5Pclose(creation);
}

void h5_write_any(rng *random, const char *path, int64_t most, ndr_problem *problem) {
  test_array array;
  write_case(random, path, most, false, problem, &array);
  array_free(&array);
}

void h5_check_any(rng *random, const char *path, int64_t most, bool plain, const ndr_h5_options *how, int64_t memory) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  test_array array;
  write_case(random, path, most, plain, &problem, &array);
  check_against_oracle(&problem, &array, path, how, memory, random);
  array_free(&array);
}

/* ---- The same on two devices ------------------------------------------------------------------------------------ */

enum { TIMES = 24, ROWS = 18, COLUMNS = 40, MISSING = -7 };

void h5_write_packed(const char *path) {
  static int16_t values[TIMES][ROWS][COLUMNS];
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  rng random = {7};
  for (int i = 0; i < TIMES * ROWS * COLUMNS; i++) {
    int row = i / COLUMNS % ROWS, column = i % COLUMNS;
    bool missing = rng_once_in(&random, 9) || (row == 3 && column == 5);
    values[i / COLUMNS / ROWS][row][column] = (int16_t)(missing ? MISSING : rng_between(&random, -1000, 1000));
  }
  H5Pset_chunk(creation, 3, (hsize_t[]){5, 7, 16});
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 1);
  DLTensor tensor = ndr_tensor(values, NDR_I16, NDR_SHAPE(TIMES, ROWS, COLUMNS));
  h5_write(path, &tensor, NDR_I16, creation);
  H5Pclose(creation);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, "x", H5P_DEFAULT);
  hid_t scalar = H5Screate(H5S_SCALAR);
  hid_t missing = H5Acreate2(data, "_FillValue", H5T_NATIVE_SHORT, scalar, H5P_DEFAULT, H5P_DEFAULT);
  hid_t scale = H5Acreate2(data, "scale_factor", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(missing, H5T_NATIVE_SHORT, &(int16_t){MISSING});
  H5Awrite(scale, H5T_NATIVE_DOUBLE, &(double){0.25});
  H5Aclose(missing);
  H5Aclose(scale);
  H5Sclose(scalar);
  H5Dclose(data);
  H5Fclose(file);
}

void h5_make_results(const ndr_problem *problem, test_array *results, DLTensor **pointers) {
  for (int i = 0; i < problem->op_count; i++) {
    int64_t shape[NDR_MAX_DIMS];
    DLTensor described = {.shape = shape};
    ndr_dtype dtype;
    assert_ok(ndr_problem_result(problem, i, &described));
    assert_ok(ndr_dtype_from_dlpack(described.dtype, &dtype));
    array_make(&results[i], dtype, described.ndim, shape, NULL);
    pointers[i] = &results[i].tensor;
  }
}

static void reduce_into(ndr_h5_dataset *dataset, const ndr_problem *problem, const ndr_h5_options *how,
                        test_array *results) {
  DLTensor *pointers[NDR_MAX_OPS];
  h5_make_results(problem, results, pointers);
  assert_ok(ndr_h5_reduce(dataset, problem, pointers, how));
}

static const char *first_of(const test_array *array) {
  return (const char *)array->tensor.data + array->tensor.byte_offset;
}

/* What adding in another order may change of a result made of elements whose magnitudes add up to `size`. */
static bool is_close(long double a, long double b, long double size, ndr_dtype dtype) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  return !is_integer(dtype) && fabsl(a - b) <= 64 * rounding_of(dtype) * (fabsl(b) + size);
}

static void assert_close(const test_array *got, const test_array *expected, const test_array *sizes, ndr_op op) {
  element *a = array_elements(&got->tensor), *b = array_elements(&expected->tensor);
  element *size = sizes ? array_elements(&sizes->tensor) : NULL;
  for (int64_t i = 0; i < array_count(&got->tensor); i++) {
    long double most = size ? size[i].re : 1e6L;
    ck_assert_msg(is_close(a[i].re, b[i].re, most, got->dtype) && is_close(a[i].im, b[i].im, most, got->dtype),
                  "%s [%lld]: %Lg, not %Lg", ndr_op_name(op), (long long)i, a[i].re, b[i].re);
  }
  free(a);
  free(b);
  free(size);
}

static void assert_same_bits(const test_array *a, const test_array *b, ndr_op op) {
  size_t bytes = (size_t)array_count(&a->tensor) * (a->tensor.dtype.bits / 8);
  ck_assert_msg(memcmp(first_of(a), first_of(b), bytes) == 0, "%s: other bits", ndr_op_name(op));
}

void h5_check_bits(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                   const ndr_h5_options *one, const ndr_h5_options *other) {
  const ndr_problem *problem = h5_problem(dataset, dim_count, dims, op_count, ops);
  test_array a[NDR_MAX_OPS], b[NDR_MAX_OPS];
  reduce_into(dataset, problem, one, a);
  reduce_into(dataset, problem, other, b);
  for (int i = 0; i < op_count; i++) {
    assert_same_bits(&a[i], &b[i], ops[i]);
    array_free(&a[i]);
    array_free(&b[i]);
  }
}

void h5_check_same(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                   const ndr_h5_options *how) {
  test_array got[NDR_MAX_OPS], again[NDR_MAX_OPS], expected[NDR_MAX_OPS], sizes;
  ndr_problem problem = *h5_problem(dataset, dim_count, dims, op_count, ops);
  ndr_h5_options cpu = *how;
  cpu.device = NDR_H5_CPU;
  cpu.memory = 0;
  if (how->weights)
    problem.dtype = NDR_F64;
  else
    reduce_into(dataset, h5_problem(dataset, dim_count, dims, 1, &(ndr_op){NDR_NORM1}), &cpu, &sizes);
  reduce_into(dataset, &problem, &cpu, expected);
  reduce_into(dataset, &problem, how, got);
  reduce_into(dataset, &problem, how, again);
  for (int i = 0; i < op_count; i++) {
    assert_close(&got[i], &expected[i], how->weights ? NULL : &sizes, ops[i]);
    assert_same_bits(&got[i], &again[i], ops[i]);
    array_free(&expected[i]);
    array_free(&got[i]);
    array_free(&again[i]);
  }
  if (!how->weights) array_free(&sizes);
}

/* ---- Every dataset of a file ------------------------------------------------------------------------------------ */

enum { MOST_DATASETS = 100 };

typedef struct {
  int64_t most_bytes;
  int count;
  char *paths[MOST_DATASETS];
} listing;

/* Datasets cannot be opened here: what visits is inside the library's lock. */
static int note_path(void *user, const char *name, const ndr_h5_info *info, const char *reason) {
  listing *list = user;
  int64_t bytes = info ? (int64_t)ndr_dtype_bytes(info->dtype) : 0;
  for (int d = 0; info && d < info->ndim; d++)
    if (__builtin_mul_overflow(bytes, info->shape[d], &bytes)) bytes = INT64_MAX;
  if (!reason && bytes > 0 && bytes <= list->most_bytes && list->count < MOST_DATASETS)
    list->paths[list->count++] = strdup(name);
  return 0;
}

static void check_dataset(ndr_h5_dataset *dataset, int op_count, const ndr_op *ops, const ndr_h5_options *how) {
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  ndr_op defined[NDR_MAX_OPS];
  int count = 0;
  for (int i = 0; i < op_count; i++)
    if (op_defined(ops[i], info->dtype)) defined[count++] = ops[i];
  h5_check_same(dataset, NDR_ALL_DIMS, count, defined, how);
  for (int d = 0; d < info->ndim; d++) h5_check_same(dataset, 1, &d, count, defined, how);
  if (info->ndim > 2) h5_check_same(dataset, NDR_DIMS(0, -1), count, defined, how);
}

int h5_check_file(const char *file, int64_t most_bytes, int op_count, const ndr_op *ops, const ndr_h5_options *how) {
  listing list = {.most_bytes = most_bytes};
  ndr_h5_dataset *dataset;
  assert_ok(ndr_h5_list(file, NULL, note_path, &list));
  for (int i = 0; i < list.count; i++) {
    assert_ok(ndr_h5_open(&dataset, file, list.paths[i], NULL));
    check_dataset(dataset, op_count, ops, how);
    ndr_h5_close(dataset);
    free(list.paths[i]);
  }
  return list.count;
}
