/* Ranks and parts on emulated GPUs of one kind: arrays and datasets, with streams that work at once or as late as they
 * may; a call of CUDA that fails on one rank ends the reduction of all. */
#include <stdio.h>
#include <unistd.h>

#include "memory.h"
#include "ndreduce/device.h"
#include "runtime/control.h"
#include "runtime/stream.h"
#include "support/gpu_ranks.h"
#include "support/h5_any.h"
#include "support/suite.h"
#include "support/threads_comm.h"

static char path[64];

static void set_up(void) {
  snprintf(path, sizeof path, "/tmp/ndreduce-simt-%ld.h5", (long)getpid());
  threads_take_turns = simt_controls.alike = true;
  simt_controls.lazy = simt_controls.sticky = false;
  simt_controls.failing_call = 0;
  simt_controls.memory_left = -1;
}

static void tear_down(void) {
  unlink(path);
}

START_TEST(parts_of_arrays_give_the_whole) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I8, NDR_C64, NDR_F16};
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(80); i++) {
    simt_controls.lazy = i % 2;
    simt_controls.order = rng_next(&random);
    gpu_ranks_check_arrays(&random, dtypes[i % 4], 3000);
    ck_assert(!simt_guards_broken());
  }
}
END_TEST

START_TEST(ranks_and_parts_of_files_give_the_bits_of_one_gpu) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(24); i++) {
    simt_controls.lazy = i % 2;
    simt_controls.order = rng_next(&random);
    gpu_ranks_check_files(&random, path, 20000);
    ck_assert(!simt_guards_broken());
  }
}
END_TEST

START_TEST(pieces_of_several_slabs_give_the_bits_of_one_gpu) {
  rng random = {test_seed()};
  for (int i = 0; i < 4; i++) {
    simt_controls.lazy = i % 2;
    gpu_ranks_check_stretches(&random, i < 2 ? NDR_F64 : NDR_F32, path);
  }
}
END_TEST

/* ---- Failures --------------------------------------------------------------------------------------------------- */

enum { RANKS = 3 };

typedef struct {
  ndr_status statuses[RANKS];
  char sentences[RANKS][512];
  float *there[RANKS], here[RANKS][5];
  int on_cpu;  /* bits of ranks whose ones are in `here` */
  bool spoilt; /* rank 1 says that its part is on a GPU that is not there, or reduces a file on the CPU */
} work;

static bool is_on_cpu(const work *w, int rank) {
  return w->on_cpu >> rank & 1;
}

/* Each rank has four ones on its GPU, or on the CPU; rank 0's result lies behind them. */
static void sum_ones(ndr_comm *comm, void *user) {
  work *w = user;
  int r = comm->rank;
  int64_t four = 4, offset = 4 * r;
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor part = ndr_tensor(w->there[r], NDR_F32, 1, &four), result = ndr_tensor(w->there[r] + 4, NDR_F32, 0, NULL);
  if (!is_on_cpu(w, r)) part.device = result.device = (DLDevice){kDLCUDA, w->spoilt && r == 1 ? SIMT_DEVICES : r};
  DLTensor *results[] = {&result};
  (void)ndr_problem_parse("sum f32 [12] /0", &problem);
  w->statuses[r] = ndreduce_parts(comm, &problem, &part, &offset, results, &options);
  snprintf(w->sentences[r], sizeof w->sentences[0], "%s", w->statuses[r] == NDR_OK ? "" : ndr_last_error());
}

static void place_ones(work *w) {
  const float numbers[5] = {1, 1, 1, 1, -7};
  for (int r = 0; r < RANKS; r++) {
    void *memory;
    if (is_on_cpu(w, r)) {
      w->there[r] = memcpy(w->here[r], numbers, sizeof numbers);
      continue;
    }
    assert_ok(ndr_memory_allocate((DLDevice){kDLCUDA, r}, sizeof numbers, &memory));
    w->there[r] = memory;
    assert_ok(ndr_copy((DLDevice){kDLCUDA, r}, memory, numbers, sizeof numbers, NULL));
    assert_ok(ndr_stream_wait((DLDevice){kDLCUDA, r}, NULL));
  }
}

static void free_ones(work *w) {
  for (int r = 0; r < RANKS; r++)
    if (!is_on_cpu(w, r)) ndr_memory_free((DLDevice){kDLCUDA, r}, w->there[r]);
}

static float fetch_sum(const work *w) {
  float sum;
  if (is_on_cpu(w, 0)) return w->here[0][4];
  assert_ok(ndr_copy((DLDevice){kDLCUDA, 0}, &sum, w->there[0] + 4, sizeof sum, NULL));
  assert_ok(ndr_stream_wait((DLDevice){kDLCUDA, 0}, NULL));
  return sum;
}

static void run_ones(work *w, float *sum) {
  place_ones(w);
  ck_assert_int_eq(threads_run(RANKS, 0, sum_ones, w, NULL), 0);
  *sum = fetch_sum(w);
  free_ones(w);
}

START_TEST(a_rank_without_its_gpu_ends_it_for_all) {
  work w = {.spoilt = false};
  float sum;
  run_ones(&w, &sum);
  ck_assert_msg(w.statuses[0] == NDR_OK && sum == 12, "%s, %g", w.sentences[0], sum);
  w.spoilt = true;
  run_ones(&w, &sum);
  for (int r = 0; r < RANKS; r++) {
    ck_assert_int_eq(w.statuses[r], NDR_ERR_NO_DEVICE);
    ck_assert_msg(strstr(w.sentences[r], "(rank 1 of 3)") != NULL, "%s", w.sentences[r]);
  }
  ck_assert(sum == -7);
}
END_TEST

/* Ranks whose states are on devices of two kinds cannot merge them where they are. */
START_TEST(parts_on_gpus_and_on_the_cpu_join) {
  for (int on_cpu = 0; on_cpu < 1 << RANKS; on_cpu++) {
    work w = {.on_cpu = on_cpu};
    float sum;
    run_ones(&w, &sum);
    for (int r = 0; r < RANKS; r++) ck_assert_msg(w.statuses[r] == NDR_OK, "%s", w.sentences[r]);
    ck_assert(sum == 12);
  }
}
END_TEST

/* Every call of CUDA fails once, on whichever rank makes it: all ranks end alike, and keep no memory. */
START_TEST(a_failing_call_ends_parts_of_arrays_for_all) {
  work w = {.spoilt = false};
  int failures = 0;
  place_ones(&w);
  ck_assert_int_eq(threads_run(RANKS, 0, sum_ones, &w, NULL), 0); /* all that is kept has been made */
  int64_t before = simt_controls.calls;
  ck_assert_int_eq(threads_run(RANKS, 0, sum_ones, &w, NULL), 0);
  int64_t calls = simt_controls.calls - before;
  int blocks = simt_living_blocks();
  for (int64_t i = 1; i <= calls; i++) {
    simt_controls.failing_call = simt_controls.calls + i;
    int64_t left = threads_run(RANKS, 0, sum_ones, &w, NULL);
    simt_controls.failing_call = 0;
    ck_assert_int_eq(left, 0);
    for (int r = 1; r < RANKS; r++)
      ck_assert_msg(w.statuses[r] == w.statuses[0], "call %d: %s, %s", (int)i, w.sentences[0], w.sentences[r]);
    ck_assert_int_le(simt_living_blocks(), blocks);
    failures += w.statuses[0] != NDR_OK;
  }
  ck_assert_int_gt(failures, calls / 2);
  ck_assert_int_eq(threads_run(RANKS, 0, sum_ones, &w, NULL), 0);
  ck_assert(w.statuses[0] == NDR_OK && fetch_sum(&w) == 12);
  free_ones(&w);
}
END_TEST

/* A dataset of several pieces by ranks, or in parts; every call of CUDA fails once, on whichever rank makes it. */
static void sum_file(ndr_comm *comm, void *user) {
  work *w = user;
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_h5_dataset *dataset;
  double mean[18 * 40];
  DLTensor result = ndr_tensor(mean, NDR_F64, NDR_SHAPE(18, 40)), *results[] = {&result};
  how.device = w->spoilt && comm->rank == 1 ? NDR_H5_CPU : NDR_H5_ALL;
  how.threads = 1;
  how.comm = comm;
  ndr_status status = ndr_h5_open(&dataset, path, NULL, NULL);
  if (status != NDR_OK) status = ndr_comm_agree(comm, status, NULL);
  if (status == NDR_OK)
    status = ndr_h5_reduce(dataset, h5_problem(dataset, NDR_DIMS(0), 1, &(ndr_op){NDR_MEAN}), results, &how);
  w->statuses[comm->rank] = status;
  ndr_h5_close(dataset);
}

START_TEST(a_rank_on_the_cpu_is_noticed) {
  work w = {.spoilt = true};
  h5_write_packed(path);
  ck_assert_int_eq(threads_run(2, 0, sum_file, &w, NULL), 0);
  ck_assert(w.statuses[0] == NDR_ERR_ARGUMENT && w.statuses[1] == NDR_ERR_ARGUMENT);
}
END_TEST

START_TEST(a_failing_call_ends_it_for_all) {
  work w = {.spoilt = false};
  int failures = 0;
  h5_write_packed(path);
  ck_assert_int_eq(threads_run(2, 0, sum_file, &w, NULL), 0); /* all that is kept has been made */
  ck_assert(w.statuses[0] == NDR_OK && w.statuses[1] == NDR_OK);
  int64_t before = simt_controls.calls;
  ck_assert_int_eq(threads_run(2, 0, sum_file, &w, NULL), 0);
  int64_t calls = simt_controls.calls - before;
  for (int64_t i = 1; i <= calls; i++) {
    simt_controls.failing_call = simt_controls.calls + i;
    int64_t left = threads_run(2, 0, sum_file, &w, NULL);
    simt_controls.failing_call = 0;
    ck_assert_int_eq(left, 0);
    ck_assert_int_eq(w.statuses[0], w.statuses[1]);
    failures += w.statuses[0] != NDR_OK;
  }
  ck_assert_int_gt(failures, calls / 2);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ranks on emulated GPUs");
  TCase *cases = tcase_create("ranks");
  tcase_set_timeout(cases, 300);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, parts_of_arrays_give_the_whole);
  tcase_add_test(cases, ranks_and_parts_of_files_give_the_bits_of_one_gpu);
  tcase_add_test(cases, pieces_of_several_slabs_give_the_bits_of_one_gpu);
  tcase_add_test(cases, a_rank_without_its_gpu_ends_it_for_all);
  tcase_add_test(cases, parts_on_gpus_and_on_the_cpu_join);
  tcase_add_test(cases, a_failing_call_ends_parts_of_arrays_for_all);
  tcase_add_test(cases, a_rank_on_the_cpu_is_noticed);
  tcase_add_test(cases, a_failing_call_ends_it_for_all);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
