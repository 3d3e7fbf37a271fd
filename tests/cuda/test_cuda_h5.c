/* Datasets reduced on the GPU: any dataset against the oracle, the fixtures and a large dataset against the CPU, the
 * same bits in every run. tests/simt has what fails, and streams that are late. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"
#include "support/h5_any.h"

static char path[64];

static void set_up(void) {
  snprintf(path, sizeof path, "/tmp/ndreduce-cuda-%ld.h5", (long)getpid());
}

static void tear_down(void) {
  unlink(path);
}

static ndr_h5_options on_gpu(void) {
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  options.device = NDR_H5_CUDA;
  return options;
}

START_TEST(datasets_reduce_as_arrays_do) {
  rng random = {test_seed()};
  ndr_h5_options how = on_gpu();
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 10);
  int cases = 0;
  /* Many of them have kernels compiled for them. */
  for (; cases < test_case_count(12) || test_clock() < until; cases++)
    h5_check_any(&random, path, 100000, !rng_once_in(&random, 6), &how, (int64_t)1 << rng_between(&random, 12, 24));
  printf("datasets: %d cases\n", cases);
}
END_TEST

/* prod is left out: what it comes to depends on where it overflows. */
static const ndr_op ops[] = {NDR_SUM, NDR_MEAN,  NDR_VALID, NDR_MIN,     NDR_ARGMAX, NDR_MAX, NDR_ARGMIN,
                             NDR_ANY, NDR_COUNT, NDR_ALL,   NDR_NORMINF, NDR_NORM1,  NDR_STD};
enum { OPS = sizeof ops / sizeof *ops };

START_TEST(fixtures_reduce_as_on_the_cpu) {
  static const char *const files[] = {"../../data/kinds.h5", "../../data/ocean.nc", "../../data/packed.h5"};
  ndr_h5_options how = on_gpu();
  int count = gpu_subset() ? 2 : OPS;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    int found = h5_check_file(files[i], 1 << 20, count, ops, &how);
    printf("%s: %d datasets\n", files[i], found);
    ck_assert_int_gt(found, 0);
  }
}
END_TEST

START_TEST(weights_are_applied) {
  ndr_h5_dataset *dataset;
  ndr_h5_options how = on_gpu();
  double by[18];
  DLTensor weights = ndr_tensor(by, NDR_F64, NDR_SHAPE(18));
  for (int i = 0; i < 18; i++) by[i] = 1 + i % 5;
  h5_write_packed(path);
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  how.memory = 256 << 10;
  how.weights = &weights;
  how.weight_dims = (int[]){1};
  h5_check_same(dataset, NDR_DIMS(0, 1), 3, ops, &how);
  h5_check_same(dataset, NDR_DIMS(0), 3, ops, &how);
  ndr_h5_close(dataset);
}
END_TEST

/* Many slabs, of which several are under way; one block for each dim but under little memory. */
static void check_large(bool chunked) {
  const int64_t shape[] = {gpu_subset() ? 20 : 160, 512, 512};
  ndr_h5_dataset *dataset;
  ndr_h5_options how = on_gpu();
  test_array array;
  rng random = {test_seed()};
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) {
    H5Pset_chunk(creation, 3, (hsize_t[]){16, 128, 256});
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
  }
  array_make(&array, NDR_F32, 3, shape, NULL);
  array_fill(&array, &random, FILL_WIDE);
  h5_write(path, &array.tensor, NDR_F32, creation);
  array_free(&array);
  H5Pclose(creation);
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  for (int little = 0; little < 2; little++) {
    how.memory = little ? 40 << 20 : 0;
    for (int d = 0; d < 3; d++) h5_check_same(dataset, 1, &d, 1, &(ndr_op){NDR_MEAN}, &how);
    h5_check_same(dataset, NDR_ALL_DIMS, 3, (ndr_op[]){NDR_SUM, NDR_MAX, NDR_ARGMIN}, &how);
  }
  ndr_h5_close(dataset);
}

START_TEST(large_datasets_reduce_as_on_the_cpu) {
  check_large(false);
  check_large(true);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 on the GPU");
  TCase *cases = tcase_create("h5");
  tcase_set_timeout(cases, 300);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, datasets_reduce_as_arrays_do);
  tcase_add_test(cases, fixtures_reduce_as_on_the_cpu);
  tcase_add_test(cases, weights_are_applied);
  tcase_add_test(cases, large_datasets_reduce_as_on_the_cpu);
  suite_add_tcase(suite, cases);
  return gpu_suite_run(suite);
}
