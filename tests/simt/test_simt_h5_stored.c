/* Datasets as they may be stored, reduced on the emulated GPU: what the GPU converts comes to the bits of what the host
 * converts for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "h5/file/dtype.h"
#include "h5/run/job/job.h"
#include "memory.h"
#include "runtime/control.h"
#include "support/h5_any.h"
#include "support/h5_stored.h"
#include "support/suite.h"

static char paths[2][64];
static const char *const files[] = {paths[0], paths[1]};

static void set_up(void) {
  for (int i = 0; i < 2; i++) snprintf(paths[i], sizeof paths[i], "/tmp/ndreduce-stored-%ld-%d.h5", (long)getpid(), i);
  simt_controls.lazy = false;
  simt_controls.alike = true;
}

static void tear_down(void) {
  ndr_gpu_converts = true;
  for (int i = 0; i < 2; i++) unlink(paths[i]);
}

/* Elements along a dim, by how many dims there are, and bytes of results. */
static const int64_t MOST[] = {1, 3000, 80, 25};
enum { MOST_RESULT = 2 * 25 * 25 * 16 };

/* ---- A dataset as it may be stored ------------------------------------------------------------------------------ */

typedef struct form {
  ndr_dtype dtype;
  int ndim;
  hsize_t shape[3], chunk[3], written[3]; /* written from the origin; the rest is fill value */
  bool chunked, swapped, shuffle, deflate, bare, unshuffled;
  bool scaled, masked;
  char part[64]; /* of it that is reduced */
} form;

static form random_form(rng *random, ndr_dtype dtype) {
  form f = {.dtype = dtype, .ndim = (int)rng_between(random, 1, 3), .chunked = !rng_once_in(random, 4)};
  char *end = f.part;
  for (int d = 0; d < f.ndim; d++) {
    int64_t size = rng_between(random, 2, MOST[f.ndim]), low = rng_between(random, 0, size / 3);
    bool cut = rng_once_in(random, 3), steps = rng_once_in(random, 12);
    f.shape[d] = (hsize_t)size;
    f.chunk[d] = (hsize_t)rng_between(random, 1, rng_once_in(random, 4) ? size : (size + 2) / 3);
    f.written[d] = (hsize_t)(rng_once_in(random, 5) ? rng_between(random, 1, size) : size);
    end += cut ? sprintf(end, "%s%lld:%lld", d ? "," : "", (long long)low, (long long)size)
               : sprintf(end, "%s::%d", d ? "," : "", steps ? 2 : 1);
  }
  f.swapped = rng_once_in(random, 2) && dtype != NDR_BOOL && !is_complex(dtype);
  f.shuffle = f.chunked && rng_once_in(random, 2);
  f.deflate = f.chunked && rng_once_in(random, 2);
  f.bare = f.shuffle && rng_once_in(random, 3);
  f.unshuffled = f.shuffle && rng_once_in(random, 3);
  f.scaled = rng_once_in(random, 2) && dtype != NDR_BOOL && !is_complex(dtype);
  f.masked = rng_once_in(random, 2) && dtype != NDR_BOOL && !is_complex(dtype);
  return f;
}

static hid_t creation_of(const form *f, hid_t type) {
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  unsigned char fill[16] = {1, 0, 0, 1};
  H5Pset_fill_value(creation, type, fill);
  if (!f->chunked) return creation;
  H5Pset_chunk(creation, f->ndim, f->chunk);
#if H5_VERSION_GE(1, 10, 0)
  if (f->bare) H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
#endif
  if (f->shuffle) H5Pset_shuffle(creation);
  if (f->deflate) H5Pset_deflate(creation, 1);
  return creation;
}

static void attach(hid_t data, const char *name, hid_t type, const void *value) {
  hid_t scalar = H5Screate(H5S_SCALAR), made = H5Acreate2(data, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(made, type, value);
  H5Aclose(made);
  H5Sclose(scalar);
}

/* The first chunk again, with no filter applied: its bytes are those of the file's type. */
static void write_unfiltered(const form *f, hid_t data, rng *random) {
  size_t bytes = ndr_dtype_bytes(f->dtype);
  for (int d = 0; d < f->ndim; d++) bytes *= f->chunk[d];
  unsigned char *chunk = malloc(bytes);
  h5_random_bytes(chunk, bytes, random);
  ck_assert(H5Dwrite_chunk(data, H5P_DEFAULT, f->deflate ? 3 : 1, (hsize_t[3]){0}, bytes, chunk) >= 0);
  free(chunk);
}

/* Bytes of random elements; a byte of each bool is 0 or 1, as HDF5 has names for no other. */
static unsigned char *random_elements(const form *f, rng *random) {
  size_t bytes = ndr_dtype_bytes(f->dtype);
  for (int d = 0; d < f->ndim; d++) bytes *= f->written[d];
  unsigned char *elements = malloc(bytes);
  h5_random_bytes(elements, bytes, random);
  for (size_t i = 0; f->dtype == NDR_BOOL && i < bytes; i++) elements[i] &= 1;
  return elements;
}

static void write_form(const char *path, const form *f, rng *random) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), type = ndr_hdf_file_type(f->dtype);
  hid_t stored = H5Tcopy(type), space = H5Screate_simple(f->ndim, f->shape, NULL);
  hid_t memory = H5Screate_simple(f->ndim, f->written, NULL);
  if (f->swapped) ck_assert(H5Tset_order(stored, H5T_ORDER_BE) >= 0);
  hid_t creation = creation_of(f, type);
  hid_t data = H5Dcreate2(file, "x", stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  unsigned char *elements = random_elements(f, random);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[3]){0}, NULL, f->written, NULL);
  ck_assert(H5Dwrite(data, type, memory, space, H5P_DEFAULT, elements) >= 0);
  if (f->masked) attach(data, "_FillValue", type, elements);
  if (f->scaled) attach(data, "scale_factor", H5T_NATIVE_DOUBLE, &(double){0.37});
  if (f->scaled) attach(data, "add_offset", H5T_NATIVE_DOUBLE, &(double){-11.3});
  if (f->unshuffled) write_unfiltered(f, data, random);
  free(elements);
  H5Dclose(data);
  H5Pclose(creation);
  H5Sclose(memory);
  H5Sclose(space);
  H5Tclose(stored);
  H5Tclose(type);
  H5Fclose(file);
}

/* ---- Both ways -------------------------------------------------------------------------------------------------- */

/* A result's bits, as the GPU comes to them in so much memory, or the least that is enough. */
static void reduce(ndr_h5_dataset *dataset, ndr_op op, int dim, int64_t memory, ndr_h5_device device,
                   unsigned char *result) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor described = {.shape = shape};
  const ndr_problem *problem = h5_problem(dataset, 1, &dim, 1, &op);
  ndr_status status = NDR_ERR_MEMORY;
  how.device = device;
  assert_ok(ndr_problem_result(problem, 0, &described));
  described.data = result;
  for (how.memory = memory; status == NDR_ERR_MEMORY; how.memory *= 2)
    status = ndr_h5_reduce(dataset, problem, (DLTensor *[]){&described}, &how);
  assert_ok(status);
}

/* In one slab any operator is the same; in several, whose extents differ, what only selects. */
static void check_both(ndr_h5_dataset *dataset, const form *f, ndr_op op, int64_t memory, ndr_h5_device device) {
  static unsigned char there[MOST_RESULT], here[MOST_RESULT];
  for (int d = 0; d < f->ndim; d++) {
    memset(there, 0, sizeof there);
    memset(here, 0, sizeof here);
    ndr_gpu_converts = true;
    reduce(dataset, op, d, memory, device, there);
    ndr_gpu_converts = false;
    reduce(dataset, op, d, memory, NDR_H5_CUDA, here);
    ck_assert_msg(memcmp(there, here, sizeof here) == 0,
                  "%s of %s [%s] over %d in %lld bytes: chunked %d, swapped %d, shuffle %d, deflate %d, bare %d, "
                  "unshuffled %d, scaled %d, masked %d",
                  ndr_op_name(op), ndr_dtype_name(f->dtype), f->part, d, (long long)memory, f->chunked, f->swapped,
                  f->shuffle, f->deflate, f->bare, f->unshuffled, f->scaled, f->masked);
  }
}

static void check_all(ndr_h5_dataset *dataset, const form *f, rng *random) {
  simt_controls.lazy = rng_once_in(random, 2);
  simt_controls.order = rng_next(random);
  check_both(dataset, f, NDR_SUM, 8 << 20, NDR_H5_CUDA);
  if (!is_complex(f->dtype)) check_both(dataset, f, NDR_MAX, 32 << 10, NDR_H5_CUDA);
  check_both(dataset, f, NDR_COUNT, 32 << 10, NDR_H5_ALL);
  ck_assert(!simt_guards_broken());
}

/* Lets some dims that are whole begin amid them and go on around their end, as longitudes may. */
static void turn_dims(ndr_h5_dataset *dataset, rng *random) {
  for (int d = 0; d < dataset->info.ndim; d++) {
    const int64_t size = dataset->extent[d];
    if (dataset->info.shape[d] != size || dataset->step[d] != 1 || !rng_once_in(random, 6)) continue;
    dataset->from[d] = rng_between(random, 1, size - 1);
    dataset->seam[d] = (ndr_seam){.at = size - dataset->from[d], .from = 0};
  }
}

START_TEST(the_gpu_converts_as_the_host_does) {
  rng random = {test_seed() + (uint64_t)_i};
  for (int i = 0; i < test_case_count(12); i++) {
    form f = random_form(&random, (ndr_dtype)_i);
    ndr_h5_dataset *dataset;
    char name[80];
    write_form(paths[0], &f, &random);
    snprintf(name, sizeof name, "/x[%s]", f.part);
    assert_ok(ndr_h5_open(&dataset, paths[0], name, NULL));
    turn_dims(dataset, &random);
    check_all(dataset, &f, &random);
    ndr_h5_close(dataset);
  }
}
END_TEST

/* The files' chunks, byte orders and filters differ, so that slabs that are cut for one begin amid chunks of another.
 */
START_TEST(files_of_a_series_are_converted_each_by_itself) {
  static const ndr_dtype dtypes[] = {NDR_I16, NDR_F32, NDR_U8, NDR_C64};
  rng random = {test_seed() + (uint64_t)_i};
  for (int i = 0; i < test_case_count(10); i++) {
    form one = random_form(&random, dtypes[_i]), other = random_form(&random, dtypes[_i]);
    ndr_h5_dataset *dataset;
    other.ndim = one.ndim;
    other.scaled = one.scaled;
    other.masked = one.masked;
    for (int d = 0; d < one.ndim; d++) {
      other.shape[d] = one.shape[d];
      other.written[d] = one.written[d];
      other.chunk[d] = (hsize_t)rng_between(&random, 1, (int64_t)one.shape[d]);
    }
    write_form(paths[0], &one, &random);
    write_form(paths[1], &other, &random);
    assert_ok(ndr_h5_open_series(&dataset, 2, files, (const char *const[]){NULL, NULL}, "0", NULL));
    check_all(dataset, &one, &random);
    ndr_h5_close(dataset);
  }
}
END_TEST

START_TEST(a_part_of_nothing_is_nothing) {
  rng random = {test_seed()};
  form f = {.dtype = NDR_I16, .ndim = 2, .shape = {9, 9}, .written = {9, 9}, .chunk = {4, 4}, .chunked = true};
  ndr_h5_dataset *dataset;
  f.shuffle = true;
  write_form(paths[0], &f, &random);
  assert_ok(ndr_h5_open(&dataset, paths[0], "/x[2:2,3:]", NULL));
  check_both(dataset, &f, NDR_SUM, 32 << 10, NDR_H5_CUDA);
  check_both(dataset, &f, NDR_COUNT, 32 << 10, NDR_H5_ALL);
  ndr_h5_close(dataset);
}
END_TEST

/* ---- What is said of it ----------------------------------------------------------------------------------------- */

static void check_said(const char *expected) {
  ndr_h5_dataset *dataset;
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  char text[4096];
  size_t length;
  how.device = NDR_H5_CUDA;
  assert_ok(ndr_h5_open(&dataset, paths[0], NULL, NULL));
  const ndr_problem *mean = h5_problem(dataset, NDR_DIMS(0), 1, &(ndr_op){NDR_MEAN});
  assert_ok(ndr_h5_explain(dataset, mean, &how, text, sizeof text, &length));
  ck_assert_msg(strstr(text, expected) != NULL, "no '%s' in:\n%s", expected, text);
  ndr_h5_close(dataset);
}

START_TEST(who_converts_what_is_said) {
  rng random = {test_seed()};
  form f = {.dtype = NDR_I16, .ndim = 2, .shape = {9, 9}, .written = {9, 9}, .chunk = {4, 4}, .scaled = true};
  f.swapped = f.masked = true;
  write_form(paths[0], &f, &random);
  check_said("\nconvert  by the GPU: byte order, missing values, scale\n");
  f.chunked = f.shuffle = true;
  write_form(paths[0], &f, &random);
  check_said("\nconvert  by the GPU: chunks, shuffle, byte order, missing values, scale\n");
  ndr_gpu_converts = false;
  check_said("\nconvert  by the threads: byte order, missing values, scale\n");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("stored datasets on the emulated GPU");
  TCase *cases = tcase_create("stored");
  tcase_set_timeout(cases, 120);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_loop_test(cases, the_gpu_converts_as_the_host_does, 0, NDR_DTYPE_COUNT);
  tcase_add_loop_test(cases, files_of_a_series_are_converted_each_by_itself, 0, 4);
  tcase_add_test(cases, a_part_of_nothing_is_nothing);
  tcase_add_test(cases, who_converts_what_is_said);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
