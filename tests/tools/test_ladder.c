/* The ladder's kernels under emulation: each is right for any length, operator and dtype, in any order of the threads;
 * and what is counted shows what the textbooks say of each. */
#include <stdlib.h>
#include <string.h>

#include "../../tools/ladder/ladder.h"
#include "../../tools/simt/ladder.h"
#include "support/suite.h"

/* The tool's count over kernels that are sometimes wrong. */
static const char *simt_ladder_or_worse(ladder_kernel kernel, const ladder_job *job, uint64_t order,
                                        simt_counts *counts);
#define NDBENCH_WITH_SIMT 1
#define simt_ladder simt_ladder_or_worse
#include "../../tools/ladder/count.c" /* NOLINT(bugprone-suspicious-include) */
#undef simt_ladder

static enum { RIGHT, OFF_BY_ONE, BROKEN } behaviour;

static const char *simt_ladder_or_worse(ladder_kernel kernel, const ladder_job *job, uint64_t order,
                                        simt_counts *counts) {
  const char *failure = simt_ladder(kernel, job, order, counts);
  if (behaviour == OFF_BY_ONE) ((float *)job->results)[0] += 1;
  return behaviour == BROKEN ? "a lane is missing" : failure;
}

static ladder_options settings(ladder_op op, ladder_dtype dtype) {
  return (ladder_options){.bench = {.seed = 1}, .op = op, .dtype = dtype};
}

/* Rows of what is tried lie apart where the kernel takes a pitch. */
static void *spread(const ladder_data *data, long long pitch) {
  size_t size = ladder_bytes(data->dtype), row = (size_t)data->shape[1] * size;
  char *copy = bench_allocate((size_t)data->shape[0] * (size_t)pitch * size);
  for (int64_t r = 0; r < data->shape[0]; r++)
    memcpy(copy + (size_t)(r * pitch) * size, (const char *)data->host + (size_t)r * row, row);
  return copy;
}

/* Runs the kernel over rows x columns and checks the results; rows 0: over an array of so many columns. */
static simt_counts climb(ladder_kernel kernel, ladder_op op, ladder_dtype dtype, int64_t rows, int64_t columns,
                         int block, int overlap, uint64_t order) {
  ladder_options options = settings(op, dtype);
  ladder_data data = {.kind = rows ? LADDER_AXES : LADDER_REDUCE, .ndim = 2, .shape = {rows ? rows : 1, columns}};
  ladder_job job = {op, dtype, block, overlap, 0, NULL, data.shape[0], columns, columns, NULL, NULL};
  unsigned reduced = !rows ? 3 : kernel == LADDER_THREAD_COLUMNS ? 1 : 2;
  simt_counts counts;
  char complaint[160] = "";
  ck_assert(ladder_data_make(&data, &options));
  int64_t outputs = ladder_outputs(&data, reduced);
  const void *expected = ladder_expected(&data, reduced);
  if (kernel == LADDER_BLOCK_PITCHED) job.pitch += 3;
  void *copy = spread(&data, job.pitch);
  job.data = copy;
  job.results = bench_allocate((size_t)outputs * 8);
  job.scratch = calloc(1, (size_t)ladder_scratch_bytes(kernel, &job));
  for (int call = 0; call < (kernel == LADDER_LAST_BLOCK ? 2 : 1); call++) {
    const char *failure = simt_ladder(kernel, &job, order, &counts);
    ck_assert_msg(!failure, "kernel %d: %s", (int)kernel, failure);
    ck_assert_msg(ladder_same(dtype, outputs, job.results, expected, complaint, sizeof complaint),
                  "kernel %d, op %d, dtype %d, %lld x %lld, block %d, overlap %d, call %d: %s", (int)kernel, (int)op,
                  (int)dtype, (long long)rows, (long long)columns, block, overlap, call, complaint);
  }
  free(copy);
  free(job.results);
  free(job.scratch);
  ladder_data_free(&data);
  return counts;
}

START_TEST(arrays_of_any_length) {
  static const int64_t lengths[4] = {1, 613, 130, 1001};
  for (int kernel = LADDER_ATOMIC_EACH; kernel <= LADDER_LAST_BLOCK; kernel++)
    for (int op = 0; op < LADDER_OPS; op++)
      for (int dtype = 0; dtype < LADDER_DTYPES; dtype++)
        for (size_t i = 0; i < (op ? 2 : 4); i++)
          climb((ladder_kernel)kernel, (ladder_op)op, (ladder_dtype)dtype, 0, lengths[i], 64, 3, (uint64_t)i);
}
END_TEST

START_TEST(blocks_of_any_size) {
  for (int kernel = LADDER_ATOMIC_EACH; kernel <= LADDER_LAST_BLOCK; kernel++)
    for (int block = 64; block <= 1024; block *= 2)
      for (int overlap = 1; overlap <= 9; overlap += 4)
        climb((ladder_kernel)kernel, LADDER_SUM, LADDER_F32, 0, 2051, block, overlap, (uint64_t)block);
}
END_TEST

/* Enough for three levels of launches. */
START_TEST(launches_on_launches) {
  simt_counts counts = climb(LADDER_RELAUNCH, LADDER_POLYNOMIAL, LADDER_F64, 0, 1 << 20, 64, 1, 0);
  ck_assert_int_eq(counts.launches, 3);
  ck_assert_int_eq(counts.global_atomics, 0);
}
END_TEST

START_TEST(matrices_of_any_shape) {
  static const int64_t shapes[][2] = {{1, 1}, {3, 200}, {200, 3}, {33, 65}};
  for (int kernel = LADDER_THREAD_ROWS; kernel <= LADDER_TILE_WIDE; kernel++)
    for (int op = 0; op < LADDER_OPS; op++)
      for (int dtype = 0; dtype < LADDER_DTYPES; dtype++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
          climb((ladder_kernel)kernel, (ladder_op)op, (ladder_dtype)dtype, shapes[i][0], shapes[i][1], 64, 1,
                (uint64_t)i);
}
END_TEST

/* ---- facts: 2^14 f32, blocks of 256 ---- */

enum { LENGTH = 1 << 14, BLOCK = 256, BLOCKS = LENGTH / BLOCK };

static simt_counts facts(ladder_kernel kernel) {
  return climb(kernel, LADDER_SUM, LADDER_F32, 0, LENGTH, BLOCK, 8, 0);
}

START_TEST(atomics_become_fewer) {
  simt_counts each = facts(LADDER_ATOMIC_EACH), shared = facts(LADDER_ATOMIC_SHARED), one = facts(LADDER_ONE_ADDS);
  ck_assert_int_eq(each.global_atomics, LENGTH);
  ck_assert_int_eq(shared.global_atomics, BLOCKS);
  ck_assert_int_eq(shared.shared_atomics, LENGTH);
  ck_assert_int_eq(one.global_atomics, BLOCKS);
  ck_assert_int_eq(one.shared_atomics, 0);
}
END_TEST

/* Of 8 warps all part at strides 1 to 16, then the 4, 2, 1 that still have a worker. From rung 5 on warps work or rest
 * as a whole, until the last five steps, where fewer threads have work than one warp has. The last of all is the thread
 * that makes the atomic; the one more, the launch that sets the result. */
START_TEST(rung_4_diverges_and_rung_5_does_not) {
  simt_counts modulo = facts(LADDER_TREE_MODULO), strided = facts(LADDER_TREE_STRIDED),
              sequential = facts(LADDER_TREE_SEQUENTIAL), unrolled = facts(LADDER_LAST_WARP);
  ck_assert_int_eq(modulo.divergent, BLOCKS * (5 * 8 + 4 + 2 + 1 + 1) + 1);
  ck_assert_int_eq(strided.divergent, BLOCKS * (5 + 1) + 1);
  ck_assert_int_eq(sequential.divergent, BLOCKS * (5 + 1) + 1);
  ck_assert_int_eq(unrolled.divergent, BLOCKS / 8 * 1 + 1);
}
END_TEST

START_TEST(rung_5_has_conflicts_and_rungs_4_and_6_have_none) {
  /* At stride s the lanes that work are 2s words apart, so they fall into 32/2s banks; a step is two loads and a store.
   */
  int64_t expected = 0;
  for (int stride = 1; stride < BLOCK; stride *= 2) {
    int workers = BLOCK / (2 * stride), lanes = workers < 32 ? workers : 32, banks = stride < 16 ? 16 / stride : 1;
    expected += (lanes > banks ? lanes / banks - 1 : 0) * 3 * (workers / lanes);
  }
  ck_assert_int_eq(facts(LADDER_TREE_MODULO).conflicts, 0);
  ck_assert_int_gt(expected, 0);
  ck_assert_int_eq(facts(LADDER_TREE_STRIDED).conflicts, BLOCKS * expected);
  ck_assert_int_eq(facts(LADDER_TREE_SEQUENTIAL).conflicts, 0);
}
END_TEST

START_TEST(barriers_become_fewer) {
  ck_assert_int_eq(facts(LADDER_TREE_SEQUENTIAL).barriers, BLOCKS * 9);
  ck_assert_int_eq(facts(LADDER_TWO_ON_LOAD).barriers, BLOCKS / 2 * 9);
  ck_assert_int_eq(facts(LADDER_OVERLAP).barriers, BLOCKS / 8 * 9);
  ck_assert_int_eq(facts(LADDER_LAST_WARP).barriers, BLOCKS / 8 * 3);
  ck_assert_int_eq(facts(LADDER_UNROLLED).barriers, BLOCKS / 8 * 3);
  simt_counts shuffle = facts(LADDER_SHUFFLE);
  ck_assert_int_eq(shuffle.barriers, shuffle.blocks - 1);
}
END_TEST

/* Whatever the rung, each element is read once, in whole sectors; vector loads do it with a quarter of the
 * instructions. */
START_TEST(every_rung_reads_each_element_once) {
  for (int kernel = LADDER_ATOMIC_EACH; kernel <= LADDER_VECTOR; kernel++) {
    simt_counts counts = facts((ladder_kernel)kernel);
    ck_assert_int_eq(counts.sectors, LENGTH * 4 / 32 + 1);
    ck_assert_int_eq(counts.lines, LENGTH * 4 / 128 + 1);
    ck_assert_int_eq(counts.accesses, LENGTH / (kernel == LADDER_VECTOR ? 128 : 32) + 1);
  }
}
END_TEST

START_TEST(columns_are_coalesced_and_rows_are_not) {
  simt_counts rows = climb(LADDER_THREAD_ROWS, LADDER_SUM, LADDER_F32, 256, 256, BLOCK, 1, 0);
  simt_counts columns = climb(LADDER_THREAD_COLUMNS, LADDER_SUM, LADDER_F32, 256, 256, BLOCK, 1, 0);
  ck_assert_int_eq(rows.accesses, columns.accesses);
  ck_assert_int_eq(rows.sectors, 256 * 256 + 256 / 8);
  ck_assert_int_eq(columns.sectors, 256 * 256 / 8 + 256 / 8);
}
END_TEST

START_TEST(padding_removes_conflicts_in_the_tile) {
  simt_counts bare = climb(LADDER_TILE, LADDER_SUM, LADDER_F32, 64, 64, BLOCK, 1, 0);
  simt_counts padded = climb(LADDER_TILE_PADDED, LADDER_SUM, LADDER_F32, 64, 64, BLOCK, 1, 0);
  /* 2 x 2 tiles, of which 8 warps read 4 columns each, in 32 turns. */
  ck_assert_int_eq(bare.conflicts, 2 * 2 * 8 * 4 * 31);
  ck_assert_int_eq(padded.conflicts, 0);
  /* Eight bytes a lane are fetched by half a warp at a time. */
  ck_assert_int_eq(climb(LADDER_TILE, LADDER_SUM, LADDER_F64, 64, 64, BLOCK, 1, 0).conflicts, 2 * 2 * 8 * 4 * 2 * 15);
  ck_assert_int_eq(padded.sectors, bare.sectors);
  for (int dtype = 0; dtype < LADDER_DTYPES; dtype++) {
    ck_assert_int_eq(climb(LADDER_TILE_PADDED, LADDER_SUM, (ladder_dtype)dtype, 64, 64, BLOCK, 1, 0).conflicts, 0);
    ck_assert_int_eq(climb(LADDER_TILE_WIDE, LADDER_SUM, (ladder_dtype)dtype, 64, 256, BLOCK, 1, 0).conflicts, 0);
  }
}
END_TEST

START_TEST(pitched_rows_straddle_no_sector) {
  ladder_job job = {LADDER_SUM, LADDER_F32, BLOCK, 1, 0, NULL, 16, 33, 33, NULL, NULL};
  float *data = bench_allocate(16 * 64 * sizeof *data), results[16];
  simt_counts packed, pitched;
  memset(data, 0, 16 * 64 * sizeof *data);
  job.data = data;
  job.results = results;
  ck_assert(!simt_ladder(LADDER_BLOCK_ROWS, &job, 0, &packed));
  job.pitch = 64;
  ck_assert(!simt_ladder(LADDER_BLOCK_PITCHED, &job, 0, &pitched));
  ck_assert_int_gt(packed.sectors, pitched.sectors);
  ck_assert_int_eq(pitched.sectors, 16 * (5 + 1));
  free(data);
}
END_TEST

START_TEST(what_differs_is_said) {
  char complaint[160];
  ck_assert(ladder_same(LADDER_F64, 2, (double[]){1, 2}, (double[]){1, 2}, complaint, sizeof complaint));
  ck_assert(!ladder_same(LADDER_F64, 2, (double[]){1, 2}, (double[]){1, 3}, complaint, sizeof complaint));
  ck_assert_str_eq(complaint, "value 1 is 2, it must be 3");
  ck_assert(
      !ladder_same(LADDER_I32, 1, (int32_t[]){INT32_MAX}, (int32_t[]){INT32_MAX - 1}, complaint, sizeof complaint));
}
END_TEST

START_TEST(a_rung_that_is_wrong_fails) {
  static const char *const complaints[] = {"", "value 0 is", "a lane is missing"};
  static const ladder_rung rung = {LADDER_REDUCE, "12", "", NULL, LADDER_BY_KERNEL, LADDER_SHUFFLE, 1, {0}, ""};
  ladder_options options = settings(LADDER_SUM, LADDER_F32);
  ladder_data data = {.kind = LADDER_REDUCE, .ndim = 1, .shape = {1000}};
  options.block = 64;
  options.overlap = 1;
  ck_assert(ladder_data_make(&data, &options));
  data.placed = data.host;
  for (behaviour = RIGHT; behaviour <= BROKEN; behaviour++) {
    ladder_record record = {.rung = &rung};
    ck_assert(ladder_count(&options, &data, &record) == (behaviour == RIGHT));
    ck_assert(record.correct == (behaviour == RIGHT));
    ck_assert_ptr_nonnull(strstr(record.complaint, complaints[behaviour]));
  }
  ladder_data_free(&data);
}
END_TEST

START_TEST(others_kernels_are_not_emulated) {
  float x = 1, result;
  ladder_job job = {LADDER_SUM, LADDER_F32, BLOCK, 1, 0, &x, 1, 1, 1, &result, NULL};
  simt_counts counts;
  ck_assert_ptr_nonnull(simt_ladder(LADDER_CUB_DEVICE, &job, 0, &counts));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ladder");
  suite_case(suite, "right", 120, arrays_of_any_length, blocks_of_any_size, launches_on_launches, matrices_of_any_shape,
             what_differs_is_said, a_rung_that_is_wrong_fails, others_kernels_are_not_emulated, NULL);
  suite_case(suite, "facts", 60, atomics_become_fewer, rung_4_diverges_and_rung_5_does_not,
             rung_5_has_conflicts_and_rungs_4_and_6_have_none, barriers_become_fewer,
             every_rung_reads_each_element_once, columns_are_coalesced_and_rows_are_not,
             padding_removes_conflicts_in_the_tile, pitched_rows_straddle_no_sector, NULL);
  return suite_run(suite);
}
