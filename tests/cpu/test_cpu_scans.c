/* The loops of scans: large results, which go past the caches; the same bits by every instruction set; and chains. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/scan/chain.h"
#include "cpu/scan/loops.h"
#include "support/scans.h"
#include "support/suite.h"

/* ---- results that no cache holds ---- */

/* From an address that is no multiple of a cache line, over an end that is none. */
static void check_large(ndr_dtype dtype, ndr_op op, int64_t rows, int64_t columns, int dim, int threads) {
  size_t bytes = ndr_dtype_bytes(dtype), all = (size_t)(rows * columns) * bytes;
  char *memory[3];
  DLTensor tensors[3];
  int64_t shape[] = {rows, columns};
  for (int i = 0; i < 3; i++) {
    memory[i] = aligned_alloc(64, (all + 127) / 64 * 64);
    tensors[i] = ndr_tensor(memory[i] + (i ? bytes : 0), dtype, 2, shape);
  }
  for (int64_t i = 0; i < rows * columns; i++)
    element_store(dtype, memory[0] + (size_t)i * bytes, (element){(long double)(i % 7 - 3 + (i % 1000 == 999)), 0});
  assert_ok(ndr_scan(&tensors[0], dim, op, &tensors[1], NDR_SCAN_OPTIONS(.threads = threads)));
  memcpy(tensors[2].data, memory[0], all); /* in place nothing goes past the caches */
  assert_ok(ndr_scan(&tensors[2], dim, op, &tensors[2], NDR_SCAN_OPTIONS(.threads = 1)));
  ck_assert_msg(memcmp(tensors[1].data, tensors[2].data, all) == 0, "%s of %s along %d", ndr_op_name(op),
                ndr_dtype_name(dtype), dim);
  for (int i = 0; i < 3; i++) free(memory[i]);
}

START_TEST(large_results_are_those_of_small_ones) {
  check_large(NDR_F32, NDR_SUM, 1, 4200003, 1, 64);
  check_large(NDR_F32, NDR_SUM, 2049, 2051, 0, 3);
  check_large(NDR_F64, NDR_SUM, 1025, 2051, 1, 2);
  check_large(NDR_I64, NDR_SUM, 70001, 33, 0, 5);
  check_large(NDR_I32, NDR_MAX, 1400001, 3, 0, 2);
  check_large(NDR_F32, NDR_MIN, 1400001, 3, 1, 2);
}
END_TEST

/* ---- lengths around those of runs, blocks and tiles ---- */

/* A running sum by its documented association: each run of 256 from its beginning, added to those before. */
static void sum_line(const float *from, float *to, int64_t count, int64_t step) {
  double before = -0.0, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    if (i % NDR_SCAN_RUN == 0) {
      before = i ? before + sum : before;
      sum = (double)from[i * step];
    } else {
      sum += (double)from[i * step];
    }
    to[i * step] = (float)(before + sum);
  }
}

/* Lines of `length` with `columns` beside each other, along dim 0 or, turned, along dim 1. */
static void check_lengths(int64_t length, int64_t columns, bool along, int threads, bool reverse) {
  int64_t count = length * columns, shape[] = {along ? columns : length, along ? length : columns};
  size_t bytes = (size_t)count * sizeof(float);
  float *from = malloc(bytes), *wanted = malloc(bytes), *got = malloc(bytes);
  rng random = {test_seed() + (uint64_t)length};
  for (int64_t i = 0; i < count; i++) from[i] = (float)rng_between(&random, -1000, 1000) / 7;
  int64_t step = along ? 1 : columns, apart = along ? length : 1, last = (length - 1) * step;
  for (int64_t c = 0; c < columns; c++)
    sum_line(from + c * apart + (reverse ? last : 0), wanted + c * apart + (reverse ? last : 0), length,
             reverse ? -step : step);
  DLTensor array = ndr_tensor(from, NDR_F32, 2, shape), result = ndr_tensor(got, NDR_F32, 2, shape);
  const ndr_scan_options *options = NDR_SCAN_OPTIONS(.threads = threads, .reverse = reverse);
  assert_ok(ndr_scan(&array, along, NDR_SUM, &result, options));
  ck_assert_msg(memcmp(got, wanted, bytes) == 0, "%lld x %lld along %d, %d threads", (long long)length,
                (long long)columns, along, threads);
  assert_ok(ndr_scan(&array, along, NDR_SUM, &array, options));
  ck_assert_msg(memcmp(from, wanted, bytes) == 0, "%lld x %lld along %d in place", (long long)length,
                (long long)columns, along);
  free(from);
  free(wanted);
  free(got);
}

START_TEST(sums_associate_as_documented) {
  static const int64_t lengths[] = {1,   2,   3,    5,    7,    8,    16,   17,   31,   127,  128,   129,
                                    255, 256, 1001, 2047, 2048, 2049, 2311, 8191, 8192, 8193, 65537, 140001};
  static const int64_t columns[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 63, 64, 65, 129, 513, 1025};
  static const int threads[] = {1, 2, 5, 16};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
      for (size_t t = 0; t < sizeof threads / sizeof *threads && lengths[l] * columns[c] < 600000; t++)
        for (int way = 0; way < 4; way++) check_lengths(lengths[l], columns[c], way % 2, threads[t], way / 2);
}
END_TEST

/* ---- instruction sets ---- */

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* NaN have many bits. */
static uint64_t scan_many(void) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  rng random = {test_seed()};
  for (int n = 0; n < 200; n++) {
    scan_case given;
    test_array result;
    scan_random(&given, &random, 5000);
    assert_ok(scan_result(&given, &result, NULL));
    assert_ok(ndr_scan(&given.array.tensor, given.dim, given.op, &result.tensor, &given.options));
    for (size_t i = 0; i < result.bytes; i += ndr_dtype_bytes(result.dtype)) {
      element value = element_load(result.dtype, (char *)result.memory + i);
      if (!isnan(value.re) && !isnan(value.im))
        hash = hash_of(hash, (char *)result.memory + i, ndr_dtype_bytes(result.dtype));
    }
    array_free(&result);
    scan_free(&given);
  }
  return hash;
}

/* The instruction set is chosen once in a process. */
START_TEST(all_instruction_sets_give_the_same_bits) {
  static const char *const names[] = {"baseline", "avx2", "avx512"};
  uint64_t *hashes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(hashes, MAP_FAILED);
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
      setenv("NDR_CPU_ISA", names[i], 1);
      hashes[i] = scan_many();
      _exit(0);
    }
    ck_assert(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    ck_assert_msg(hashes[i] == hashes[0], "%s differs", names[i]);
  }
  munmap(hashes, 4096);
}
END_TEST

/* ---- chains ---- */

static int helped;

static void add_block(void *context, int64_t block, const void *before, void *after) {
  (void)context;
  helped++;
  *(int64_t *)after = *(const int64_t *)before + block + 1;
}

START_TEST(who_waits_too_long_computes_what_it_waits_for) {
  enum { BLOCKS = 5 };
  char *memory = aligned_alloc(64, (size_t)ndr_scan_chain_bytes(BLOCKS, 8));
  ndr_scan_chain chain = ndr_scan_chain_at(memory, BLOCKS, 8);
  int64_t spare, wrong = 99;
  ndr_scan_chain_begin(&chain, BLOCKS);
  *(int64_t *)(void *)chain.words = 10;
  helped = 0;
  ck_assert_int_eq(*(const int64_t *)ndr_scan_chain_take(&chain, 0, add_block, NULL, &spare), 10);
  ck_assert_int_eq(*(const int64_t *)ndr_scan_chain_take(&chain, 3, add_block, NULL, &spare), 16);
  ck_assert_int_eq(helped, 3);
  ndr_scan_chain_pass(&chain, 1, &wrong); /* too late: it has been done */
  ck_assert_int_eq(*(const int64_t *)ndr_scan_chain_take(&chain, 2, add_block, NULL, &spare), 13);
  int64_t own = 20;
  ndr_scan_chain_pass(&chain, 3, &own);
  ck_assert_int_eq(*(const int64_t *)ndr_scan_chain_take(&chain, 5, add_block, NULL, &spare), 25);
  ck_assert_int_eq(helped, 4);
  free(memory);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu scans");
  suite_case(suite, "loops", 300, large_results_are_those_of_small_ones, sums_associate_as_documented,
             all_instruction_sets_give_the_same_bits, NULL);
  suite_case(suite, "chains", 30, who_waits_too_long_computes_what_it_waits_for, NULL);
  return suite_run(suite);
}
