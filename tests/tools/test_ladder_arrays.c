/* The ladder's prefix sums, selections and quicksort under emulation: right for any length, operator and dtype, and in
 * any order of threads and blocks, also where blocks wait for each other; and what is counted shows what each is for.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/ladder/ladder.h"
#include "../../tools/simt/ladder.h"
#include "../../tools/simt/launch.h"
#include "../../tools/simt/machine.h"
#include "support/cases.h"
#include "support/suite.h"

static ladder_rung rung_of(ladder_kernel kernel) {
  ladder_kind kind = kernel <= LADDER_LOOK_UP ? LADDER_SCAN : LADDER_SELECT;
  return (ladder_rung){kind, "", "", NULL, LADDER_BY_KERNEL, kernel, 1, {0}, ""};
}

static ladder_data data_for(ladder_kernel kernel, ladder_op op, ladder_dtype dtype, int64_t length, int keep) {
  ladder_options options = {.bench = {.seed = 1}, .op = op, .dtype = dtype};
  ladder_data data = {.kind = rung_of(kernel).kind, .ndim = 1, .shape = {length}, .keep = keep};
  ck_assert(ladder_data_make(&data, &options));
  data.placed = data.host;
  return data;
}

/* The kernel's results over the data, to be freed; in odd orders of the second call, since a call must leave its memory
 * so that another can follow. (Of the first in the others, since what a call leaves might be what the next waits for.)
 */
static void *run(ladder_kernel kernel, const ladder_data *data, int block, uint64_t order, int *selected,
                 simt_counts *counts) {
  ladder_options options = {.op = data->op, .dtype = data->dtype, .block = block, .overlap = 1};
  ladder_job job = ladder_job_of(&options, data);
  size_t bytes = (size_t)data->elements * ladder_bytes(data->dtype);
  job.results = bench_allocate(bytes);
  job.scratch = bench_allocate((size_t)ladder_scratch_bytes(kernel, &job));
  memset(job.scratch, 0, (size_t)ladder_scratch_bytes(kernel, &job));
  for (int call = 0; call < 1 + (int)(order % 2); call++) {
    memset(job.results, 0xa5, bytes);
    const char *failure = simt_ladder(kernel, &job, order, counts);
    ck_assert_msg(!failure, "kernel %d, order %d: %s", (int)kernel, (int)order, failure);
  }
  memcpy(selected, job.scratch, sizeof *selected);
  free(job.scratch);
  return job.results;
}

static simt_counts climb_over(ladder_kernel kernel, ladder_data *data, int block, uint64_t order) {
  ladder_rung rung = rung_of(kernel);
  simt_counts counts;
  char complaint[160] = "";
  int selected;
  void *results = run(kernel, data, block, order, &selected, &counts);
  ck_assert_msg(ladder_check(data, &rung, results, selected, complaint, sizeof complaint),
                "kernel %d, op %d, dtype %d, %lld elements, %d %% kept, block %d, order %d: %s", (int)kernel,
                (int)data->op, (int)data->dtype, (long long)data->elements, data->keep, block, (int)order, complaint);
  free(results);
  return counts;
}

static simt_counts climb(ladder_kernel kernel, ladder_op op, ladder_dtype dtype, int64_t length, int keep, int block,
                         uint64_t order) {
  ladder_data data = data_for(kernel, op, dtype, length, keep);
  simt_counts counts = climb_over(kernel, &data, block, order);
  ladder_data_free(&data);
  return counts;
}

START_TEST(scans_of_any_length) {
  static const int64_t lengths[] = {1, 31, 33, 1023, 1025, 2051};
  for (int kernel = LADDER_HILLIS_STEELE; kernel <= LADDER_LOOK_UP; kernel++)
    for (int op = 0; op < LADDER_OPS; op++)
      for (int dtype = 0; dtype < LADDER_DTYPES; dtype++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i += (size_t)test_share())
          climb((ladder_kernel)kernel, (ladder_op)op, (ladder_dtype)dtype, lengths[i], 0, 64, (uint64_t)i);
}
END_TEST

/* 65537 elements are three levels of tiles of 64, and of 32 tiles that share a parent. */
START_TEST(scans_by_any_block) {
  for (int kernel = LADDER_HILLIS_STEELE; kernel <= LADDER_LOOK_UP; kernel++)
    for (int block = 64; block <= 1024; block *= 2)
      climb((ladder_kernel)kernel, LADDER_SUM, LADDER_F64, block == 64 ? 65537 : 5003, 0, block, (uint64_t)block + 1);
}
END_TEST

START_TEST(selections_of_any_length) {
  static const int64_t lengths[] = {1, 31, 33, 1023, 1025, 9001};
  static const int keeps[] = {0, 1, 50, 100};
  for (int kernel = LADDER_SELECT_ATOMIC; kernel <= LADDER_QUICKSORT; kernel++)
    for (int dtype = 0; dtype < LADDER_DTYPES; dtype++)
      for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i += (size_t)test_share())
          climb((ladder_kernel)kernel, LADDER_SUM, (ladder_dtype)dtype, lengths[i], keeps[k], 64, (uint64_t)i);
}
END_TEST

START_TEST(selections_by_any_block) {
  for (int kernel = LADDER_SELECT_ATOMIC; kernel <= LADDER_QUICKSORT; kernel++)
    for (int block = 64; block <= 1024; block *= 2)
      climb((ladder_kernel)kernel, LADDER_SUM, LADDER_F32, 20001, 10, block, (uint64_t)block);
}
END_TEST

/* What pivots may go wrong with. */
static double worst_value(int kind, int64_t i, int64_t n) {
  switch (kind) {
  case 0: return 7;
  case 1: return (double)i;
  case 2: return (double)(n - i);
  case 3: return (double)(i % 2);
  case 4: return (double)(i < n / 2 ? i : n - i);
  default: return i == n / 2 ? 0 : i % 64 == 0 ? 9 : 5;
  }
}

START_TEST(quicksort_of_any_order) {
  for (int kind = 0; kind <= 5; kind++)
    for (uint64_t order = 0; order < 4; order++) {
      ladder_data data = data_for(LADDER_QUICKSORT, LADDER_SUM, LADDER_F64, 5003, 50);
      for (int64_t i = 0; i < data.elements; i++) ((double *)data.host)[i] = worst_value(kind, i, data.elements);
      climb_over(LADDER_QUICKSORT, &data, 64, order);
      ladder_data_free(&data);
    }
}
END_TEST

/* Sums that are not exact, whose bits tell the order of additions. It must not depend on the order of blocks, that is,
 * on how near the first prefix is that a block finds. */
START_TEST(bits_repeat) {
  for (int kernel = LADDER_HILLIS_STEELE; kernel <= LADDER_LOOK_UP; kernel++) {
    ladder_data data = data_for((ladder_kernel)kernel, LADDER_SUM, LADDER_F32, 40007, 0);
    void *first = NULL;
    for (int64_t i = 0; i < data.elements; i++)
      ((float *)data.host)[i] = (float)(bench_random(1, (uint64_t)i) % 10007) / 7919.0F;
    for (uint64_t order = 0; order < (kernel < LADDER_LOOK_BACK ? 3 : 10); order++) {
      simt_counts counts;
      int selected;
      void *results = run((ladder_kernel)kernel, &data, 64, order, &selected, &counts);
      ck_assert_msg(!first || memcmp(first, results, (size_t)data.elements * 4) == 0, "kernel %d, order %d", kernel,
                    (int)order);
      if (first) free(results);
      if (!first) first = results;
    }
    free(first);
    ladder_data_free(&data);
  }
}
END_TEST

/* ---- facts: 2^14 f32, blocks of 256 ---- */

enum { LENGTH = 1 << 14, BLOCK = 256 };

static simt_counts facts(ladder_kernel kernel) {
  return climb(kernel, LADDER_SUM, LADDER_F32, LENGTH, 50, BLOCK, 0);
}

/* Threads that work at stride s touch words 2s apart, so those of a warp fall into 32/2s banks: on the way up by two
 * loads and a store, on the way down by two of each. */
static long long conflicts_of_sweeps(int block) {
  long long conflicts = 0;
  for (int stride = 1; stride < 2 * block; stride *= 2) {
    int workers = block / stride, lanes = workers < 32 ? workers : 32, banks = stride < 16 ? 16 / stride : 1;
    conflicts += (lanes > banks ? lanes / banks - 1 : 0) * (3 + 4) * (workers / lanes);
  }
  return conflicts;
}

START_TEST(padding_removes_conflicts_of_sweeps) {
  /* 32 tiles, and one of their totals, which is scanned by the same kernel. */
  ck_assert_int_gt(conflicts_of_sweeps(BLOCK), 0);
  ck_assert_int_eq(facts(LADDER_SWEEPS).conflicts, (LENGTH / (2 * BLOCK) + 1) * conflicts_of_sweeps(BLOCK));
  for (int dtype = 0; dtype < LADDER_DTYPES; dtype++)
    for (int block = 64; block <= 1024; block *= 2) {
      ck_assert_int_gt(climb(LADDER_SWEEPS, LADDER_SUM, (ladder_dtype)dtype, 5000, 0, block, 0).conflicts, 0);
      ck_assert_int_eq(climb(LADDER_SWEEPS_PADDED, LADDER_SUM, (ladder_dtype)dtype, 5000, 0, block, 0).conflicts, 0);
    }
  simt_counts bare = facts(LADDER_SWEEPS), padded = facts(LADDER_SWEEPS_PADDED);
  ck_assert_int_eq(bare.shared_accesses, padded.shared_accesses);
  ck_assert_int_eq(bare.sectors, padded.sectors);
}
END_TEST

START_TEST(other_scans_have_no_conflicts) {
  static const ladder_kernel kernels[] = {LADDER_HILLIS_STEELE, LADDER_SCAN_SHUFFLE, LADDER_SCAN_SERIAL,
                                          LADDER_SCAN_PHASES,   LADDER_LOOK_BACK,    LADDER_LOOK_UP};
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (int dtype = 0; dtype < LADDER_DTYPES; dtype++)
      ck_assert_int_eq(climb(kernels[k], LADDER_SUM, (ladder_dtype)dtype, LENGTH, 0, BLOCK, 0).conflicts, 0);
}
END_TEST

/* Tiles of B, 2B, 2B and B elements, and one tile of totals; then 16B, of which there are four. */
START_TEST(barriers_of_scans_become_fewer) {
  ck_assert_int_eq(facts(LADDER_HILLIS_STEELE).barriers, (LENGTH / BLOCK + 1) * (1 + 8));
  ck_assert_int_eq(facts(LADDER_SWEEPS).barriers, (LENGTH / (2 * BLOCK) + 1) * (2 * 9 + 1));
  ck_assert_int_eq(facts(LADDER_SCAN_SHUFFLE).barriers, (LENGTH / BLOCK + 1) * 2);
  ck_assert_int_eq(facts(LADDER_SCAN_SERIAL).barriers, (LENGTH / (16 * BLOCK) + 1) * 5);
}
END_TEST

/* In passes over the array, beside what little blocks tell each other. */
START_TEST(passes_over_memory_become_fewer) {
  const long long pass = LENGTH * 4 / 32;
  const struct {
    ladder_kernel kernel;
    int passes, launches;
  } rungs[] = {
      {LADDER_SCAN_SERIAL, 4, 3}, {LADDER_SCAN_PHASES, 3, 3}, {LADDER_LOOK_BACK, 2, 2}, {LADDER_LOOK_UP, 2, 2}};
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; r++) {
    simt_counts counts = facts(rungs[r].kernel);
    /* One tile of the four has nothing before it and is neither read nor written again. */
    ck_assert_int_ge(counts.sectors, rungs[r].passes * pass - (rungs[r].passes == 4 ? pass / 2 : 0));
    ck_assert_int_le(counts.sectors, rungs[r].passes * pass + pass / 10);
    ck_assert_int_eq(counts.launches, rungs[r].launches);
  }
  ck_assert_int_eq(facts(LADDER_LOOK_BACK).global_atomics, LENGTH / (16 * BLOCK));
}
END_TEST

START_TEST(atomics_of_selections_become_fewer) {
  ladder_data data = data_for(LADDER_SELECT_ATOMIC, LADDER_SUM, LADDER_F32, LENGTH, 50);
  ck_assert_ptr_nonnull(ladder_expected(&data, LADDER_IN_ORDER));
  ck_assert_int_eq(facts(LADDER_SELECT_ATOMIC).global_atomics, data.expected_count);
  ck_assert_int_eq(facts(LADDER_SELECT_WARP).global_atomics, LENGTH / 32);
  ck_assert_int_eq(facts(LADDER_SELECT_SCATTER).global_atomics, 0);
  ck_assert_int_eq(facts(LADDER_SELECT_LOOK_UP).global_atomics, LENGTH / (16 * BLOCK));
  ck_assert_int_gt(facts(LADDER_SELECT_SCATTER).sectors, 2 * facts(LADDER_SELECT_LOOK_UP).sectors);
  ladder_data_free(&data);
}
END_TEST

/* Blocks that take turns are counted as those that follow each other. */
START_TEST(counts_do_not_depend_on_turns) {
  simt_counts one = climb(LADDER_SWEEPS, LADDER_SUM, LADDER_F32, 5000, 0, 64, 0);
  simt_counts turns = climb(LADDER_SWEEPS, LADDER_SUM, LADDER_F32, 5000, 0, 64, 7);
  ck_assert_int_eq(memcmp(&one, &turns, sizeof one), 0);
}
END_TEST

/* ---- what is noticed ---- */

START_TEST(wrong_results_are_noticed) {
  ladder_rung ordered = rung_of(LADDER_SELECT_SCATTER), unordered = rung_of(LADDER_SELECT_WARP);
  ladder_data data = data_for(LADDER_SELECT_WARP, LADDER_SUM, LADDER_F32, 4, 50);
  char complaint[160] = "";
  memcpy(data.host, (float[]){3, 900000, 1, 2}, 4 * sizeof(float));
  ck_assert(ladder_check(&data, &unordered, (float[]){2, 1, 3}, 3, complaint, sizeof complaint));
  ck_assert(ladder_check(&data, &ordered, (float[]){3, 1, 2}, 3, complaint, sizeof complaint));
  ck_assert(!ladder_check(&data, &ordered, (float[]){2, 1, 3}, 3, complaint, sizeof complaint));
  ck_assert_str_eq(complaint, "value 0 is 2, it must be 3");
  ck_assert(!ladder_check(&data, &unordered, (float[]){1, 2, 2}, 3, complaint, sizeof complaint));
  ck_assert_str_eq(complaint, "value 2 is 2, it must be 3");
  ck_assert(!ladder_check(&data, &unordered, (float[]){1, 2, 3.5F}, 3, complaint, sizeof complaint));
  ck_assert_str_eq(complaint, "value 2 is 3.5, it must be 3");
  ck_assert(!ladder_check(&data, &unordered, (float[]){1, 2}, 2, complaint, sizeof complaint));
  ck_assert_str_eq(complaint, "2 elements are kept, it must be 3");
  ladder_data_free(&data);
}
END_TEST

static int number_of_block_0;

static void wait_for_block_0(const void *unused) {
  (void)unused;
  if (simt_here->block == 0) number_of_block_0 = 1;
  while (!number_of_block_0) simt_pause(__FILE__, __LINE__);
}

static void wait_forever(const void *unused) {
  (void)unused;
  for (;;) simt_pause(__FILE__, __LINE__);
}

static void shuffle_with_lane_32(const void *unused) {
  (void)unused;
  (void)simt_shuffle_from(0, 32, __FILE__, __LINE__);
}

/* Blocks that run one after the other cannot wait for each other, those that take turns can. */
START_TEST(waiting_in_vain_is_noticed) {
  int failures = 0;
  for (uint64_t order = 1; order <= 20; order++) {
    simt_launch launch = {.body = wait_for_block_0, .grid = 2, .threads = 64, .order = order};
    number_of_block_0 = 0;
    failures += simt_run(&launch) != NULL;
    launch.resident = 2;
    number_of_block_0 = 0;
    ck_assert_ptr_null(simt_run(&launch));
  }
  ck_assert_int_gt(failures, 0);
  ck_assert_int_lt(failures, 20);
  simt_launch wrong = {.body = shuffle_with_lane_32, .grid = 1, .threads = 32};
  const char *said = simt_run(&wrong);
  ck_assert_ptr_nonnull(said);
  ck_assert_ptr_nonnull(strstr(said, "shuffles with lane 32"));
  simt_launch launch = {.body = wait_forever, .grid = 3, .threads = 64, .order = 1, .resident = 3};
  const char *failure = simt_run(&launch);
  ck_assert_ptr_nonnull(failure);
  ck_assert_ptr_nonnull(strstr(failure, "waits for what no block does"));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ladder_arrays");
  suite_case(suite, "right", 120, scans_of_any_length, scans_by_any_block, selections_of_any_length,
             selections_by_any_block, quicksort_of_any_order, bits_repeat, NULL);
  suite_case(suite, "facts", 60, padding_removes_conflicts_of_sweeps, other_scans_have_no_conflicts,
             barriers_of_scans_become_fewer, passes_over_memory_become_fewer, atomics_of_selections_become_fewer,
             counts_do_not_depend_on_turns, NULL);
  suite_case(suite, "noticed", 60, wrong_results_are_noticed, waiting_in_vain_is_noticed, NULL);
  return suite_run(suite);
}
