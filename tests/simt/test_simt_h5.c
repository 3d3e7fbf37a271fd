/* Datasets reduced on the emulated GPU: what the oracle and the CPU say, whether streams work at once or as late as
 * they may, the same bits in every run, and every call of CUDA that fails. */
#include <stdio.h>
#include <unistd.h>

#include "h5/run/job/job.h"
#include "memory.h"
#include "runtime/control.h"
#include "runtime/stream.h"
#include "support/h5_any.h"
#include "support/suite.h"

static char path[64];

static ndr_h5_options on_gpu(int id) {
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  options.device = NDR_H5_CUDA;
  options.device_id = id;
  return options;
}

static void set_up(void) {
  snprintf(path, sizeof path, "/tmp/ndreduce-simt-%ld.h5", (long)getpid());
  simt_controls.lazy = simt_controls.sticky = false;
  simt_controls.failing_call = 0;
  simt_controls.memory_left = -1;
}

static void tear_down(void) {
  unlink(path);
}

/* Streams are as late as they may in one half of the cases, and one in eight has options that need compiling. */
START_TEST(datasets_reduce_as_arrays_do) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(80); i++) {
    ndr_h5_options how = on_gpu((int)rng_between(&random, 0, SIMT_DEVICES - 1));
    simt_controls.lazy = i % 2;
    simt_controls.order = rng_next(&random);
    h5_check_any(&random, path, 8000, !rng_once_in(&random, 8), &how, (int64_t)1 << rng_between(&random, 11, 24));
    ck_assert(!simt_guards_broken());
  }
}
END_TEST

/* ---- Against the CPU -------------------------------------------------------------------------------------------- */

static const ndr_op every_op[] = {NDR_SUM, NDR_MEAN, NDR_VALID, NDR_MIN, NDR_ARGMAX, NDR_STD};
enum { OPS = sizeof every_op / sizeof *every_op };

static ndr_h5_dataset *open_packed(void) {
  ndr_h5_dataset *dataset;
  h5_write_packed(path);
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  return dataset;
}

START_TEST(missing_values_are_left_out) {
  ndr_h5_dataset *dataset = open_packed();
  ndr_h5_options how = on_gpu(1);
  how.memory = 128 << 10; /* several slabs */
  for (int lazy = 0; lazy < 2; lazy++) {
    simt_controls.lazy = lazy;
    h5_check_same(dataset, NDR_DIMS(0), OPS, every_op, &how);
    h5_check_same(dataset, NDR_DIMS(1, 2), OPS, every_op, &how);
  }
  ndr_h5_close(dataset);
}
END_TEST

START_TEST(weights_are_applied) {
  ndr_h5_dataset *dataset = open_packed();
  ndr_h5_options how = on_gpu(2);
  double by[18];
  DLTensor weights = ndr_tensor(by, NDR_F64, NDR_SHAPE(18));
  for (int i = 0; i < 18; i++) by[i] = 1 + i % 5;
  how.memory = 256 << 10;
  how.weights = &weights;
  how.weight_dims = (int[]){1};
  for (int lazy = 0; lazy < 2; lazy++) {
    simt_controls.lazy = lazy;
    h5_check_same(dataset, NDR_DIMS(0, 1), 3, every_op, &how);
    h5_check_same(dataset, NDR_DIMS(0), 3, every_op, &how);
  }
  ndr_h5_close(dataset);
}
END_TEST

/* Layouts, byte orders, filters and masks of all kinds; one operator, so that little is compiled. */
START_TEST(fixtures_reduce_as_on_the_cpu) {
  static const char *const files[] = {"../../data/kinds.h5", "../../data/ocean.nc", "../../data/packed.h5"};
  ndr_h5_options how = on_gpu(2);
  simt_controls.lazy = true;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    ck_assert_int_gt(h5_check_file(files[i], 64 << 10, 1, &(ndr_op){NDR_MEAN}, &how), 3);
}
END_TEST

START_TEST(threads_and_memory_of_the_host_are_not_in_the_bits) {
  ndr_h5_dataset *dataset = open_packed();
  ndr_h5_options how = on_gpu(0);
  const ndr_problem *mean = h5_problem(dataset, NDR_DIMS(0), 1, &(ndr_op){NDR_MEAN});
  double sums[2][18 * 40];
  for (int threads = 1; threads <= 2; threads++) {
    DLTensor result = ndr_tensor(sums[threads - 1], NDR_F64, NDR_SHAPE(18, 40));
    how.threads = 3 * threads - 2;
    assert_ok(ndr_h5_reduce(dataset, mean, (DLTensor *[]){&result}, &how));
  }
  ck_assert(memcmp(sums[0], sums[1], sizeof sums[0]) == 0);
  ndr_h5_close(dataset);
}
END_TEST

/* GPUs of one kind: the emulated ones are made so before the first is looked at. */
START_TEST(several_gpus_give_the_bits_of_one) {
  ndr_h5_dataset *dataset;
  ndr_h5_options one = on_gpu(0), all = on_gpu(0);
  simt_controls.alike = true;
  all.device = NDR_H5_ALL;
  h5_write_packed(path);
  assert_ok(ndr_h5_open(&dataset, path, NULL, NULL));
  for (int lazy = 0; lazy < 2; lazy++) {
    for (one.memory = 128 << 10; one.memory < 2 << 20; one.memory *= 2) {
      simt_controls.lazy = lazy;
      all.memory = one.memory;
      h5_check_bits(dataset, NDR_DIMS(0), OPS, every_op, &one, &all);
      h5_check_bits(dataset, NDR_DIMS(2), OPS, every_op, &one, &all);
      h5_check_bits(dataset, NDR_ALL_DIMS, OPS, every_op, &one, &all);
    }
  }
  ndr_h5_close(dataset);
}
END_TEST

/* ---- Failing ---------------------------------------------------------------------------------------------------- */

static ndr_status reduce_ramp(ndr_h5_dataset *dataset, const ndr_h5_options *how, double *mean, int64_t *where) {
  DLTensor results[] = {ndr_tensor(mean, NDR_F64, NDR_SHAPE(40)), ndr_tensor(where, NDR_I64, NDR_SHAPE(40))};
  return ndr_h5_reduce(dataset, h5_problem(dataset, NDR_DIMS(0, 1), 2, (ndr_op[]){NDR_MEAN, NDR_ARGMIN}),
                       (DLTensor *[]){&results[0], &results[1]}, how);
}

/* A dataset of several slabs, and what it gives. */
typedef struct trial {
  ndr_h5_dataset *dataset;
  ndr_h5_options how;
  double mean[40];
  int64_t where[40];
  int64_t calls;
  int blocks, streams;
} trial;

static void begin_trial(trial *t, ndr_h5_device device) {
  ndr_h5_access raw = NDR_H5_ACCESS_INIT;
  raw.raw = 1;
  simt_controls.alike = true;
  h5_write_packed(path);
  assert_ok(ndr_h5_open(&t->dataset, path, NULL, &raw));
  t->how = on_gpu(0);
  t->how.device = device;
  t->how.memory = 192 << 10;
  assert_ok(reduce_ramp(t->dataset, &t->how, t->mean, t->where));
  t->calls = simt_controls.calls;
  assert_ok(reduce_ramp(t->dataset, &t->how, t->mean, t->where));
  t->calls = simt_controls.calls - t->calls;
  t->blocks = simt_living_blocks();
  t->streams = simt_living_streams();
}

/* Either a clean error or the right results; nothing is left behind. */
static void check_end(const trial *t, ndr_status status, const double *mean, const int64_t *where, int64_t number) {
  ck_assert_ptr_null(simt_catch_up_all()); /* what was freed on streams that are gone */
  simt_controls.failing_call = 0;
  simt_controls.memory_left = -1;
  if (status == NDR_OK)
    ck_assert_msg(memcmp(mean, t->mean, sizeof t->mean) == 0 && memcmp(where, t->where, sizeof t->where) == 0,
                  "%lld: succeeded with other results", (long long)number);
  else
    ck_assert_msg((status == NDR_ERR_DEVICE || status == NDR_ERR_MEMORY) && strstr(ndr_last_error(), "/x: "),
                  "%lld: %s: %s", (long long)number, ndr_status_name(status), ndr_last_error());
  ck_assert_msg(simt_living_blocks() <= t->blocks, "%lld: %s: %d blocks left", (long long)number, ndr_last_error(),
                simt_living_blocks() - t->blocks);
  ck_assert_msg(simt_living_streams() == t->streams, "%lld: %s: %d streams or events left", (long long)number,
                ndr_last_error(), simt_living_streams() - t->streams);
  ck_assert(!simt_guards_broken());
}

static int fail_every_call(const trial *t, bool sticky) {
  int failures = 0;
  for (int64_t k = 1; k <= t->calls; k++) {
    double mean[40];
    int64_t where[40];
    simt_controls.lazy = true;
    simt_controls.sticky = sticky;
    simt_controls.calls = 0;
    simt_controls.failing_call = k;
    ndr_status status = reduce_ramp(t->dataset, &t->how, mean, where);
    failures += status != NDR_OK;
    check_end(t, status, mean, where, k);
  }
  return failures;
}

static void check_every_call(ndr_h5_device device) {
  trial t;
  int failures = 0;
  begin_trial(&t, device);
  failures += fail_every_call(&t, false);
  failures += fail_every_call(&t, true);
  ck_assert_int_gt(failures, (int)t.calls);
  ndr_h5_close(t.dataset);
}

START_TEST(every_call_that_fails_is_a_clean_error) {
  check_every_call(NDR_H5_CUDA);
}
END_TEST

START_TEST(every_call_of_several_gpus_that_fails_is_a_clean_error) {
  check_every_call(NDR_H5_ALL);
}
END_TEST

static int note_warning(void *user, const ndr_h5_progress *now) {
  if (now->warning) *(int *)user = 1;
  return 0;
}

/* Memory for so many blocks, then no more: smaller slabs, or an error; under auto the CPU, with a warning. */
START_TEST(memory_that_runs_out_is_an_error_or_the_cpu) {
  trial t;
  int failures = 0, warnings = 0;
  double cpu_mean[40], mean[40];
  int64_t cpu_where[40], where[40];
  begin_trial(&t, NDR_H5_CUDA);
  ndr_h5_options how = t.how;
  how.device = NDR_H5_CPU;
  assert_ok(reduce_ramp(t.dataset, &how, cpu_mean, cpu_where));
  how.device = NDR_H5_AUTO;
  how.on_progress = note_warning;
  ndr_gpu_pays = 0;
  for (int64_t left = 0; left < 40; left++) {
    int warned = 0;
    how.user = &warned;
    simt_controls.memory_left = left;
    ndr_status status = reduce_ramp(t.dataset, &t.how, mean, where);
    failures += status == NDR_ERR_MEMORY;
    check_end(&t, status, mean, where, left);
    simt_controls.memory_left = left;
    assert_ok(reduce_ramp(t.dataset, &how, mean, where));
    warnings += warned;
    ck_assert(memcmp(where, cpu_where, sizeof where) == 0);
    ck_assert(!warned || memcmp(mean, cpu_mean, sizeof mean) == 0);
    check_end(&t, NDR_OK, t.mean, t.where, left);
  }
  ck_assert_int_gt(failures, 0);
  ck_assert_int_gt(warnings, 0);
  ck_assert_int_lt(warnings, 40);
  ndr_h5_close(t.dataset);
}
END_TEST

START_TEST(devices_that_are_not_there_are_named) {
  ndr_h5_dataset *dataset = open_packed();
  ndr_h5_options how = on_gpu(SIMT_DEVICES);
  const ndr_problem *sums = h5_problem(dataset, NDR_ALL_DIMS, 1, every_op);
  double sum;
  DLTensor result = ndr_tensor(&sum, NDR_F64, 0, NULL);
  assert_fails(ndr_h5_reduce(dataset, sums, (DLTensor *[]){&result}, &how), NDR_ERR_NO_DEVICE,
               "/x: device cuda:3 cannot be used");
  simt_controls.driver = false;
  how.device_id = 0;
  assert_fails(ndr_h5_reduce(dataset, sums, (DLTensor *[]){&result}, &how), NDR_ERR_NO_DEVICE,
               "/x: device cuda:0 cannot be used");
  ndr_gpu_pays = 0;
  how.device = NDR_H5_AUTO;
  assert_ok(ndr_h5_reduce(dataset, sums, (DLTensor *[]){&result}, &how));
  simt_controls.driver = true;
  ndr_h5_close(dataset);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 on the emulated GPU");
  TCase *cases = tcase_create("h5");
  tcase_set_timeout(cases, 600);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, datasets_reduce_as_arrays_do);
  tcase_add_test(cases, missing_values_are_left_out);
  tcase_add_test(cases, weights_are_applied);
  tcase_add_test(cases, fixtures_reduce_as_on_the_cpu);
  tcase_add_test(cases, threads_and_memory_of_the_host_are_not_in_the_bits);
  tcase_add_test(cases, several_gpus_give_the_bits_of_one);
  tcase_add_test(cases, every_call_that_fails_is_a_clean_error);
  tcase_add_test(cases, every_call_of_several_gpus_that_fails_is_a_clean_error);
  tcase_add_test(cases, memory_that_runs_out_is_an_error_or_the_cpu);
  tcase_add_test(cases, devices_that_are_not_there_are_named);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
