/* 64-bit integers become the nearest f64, ties to even, on every instruction set: where they are converted, and where
 * means of columns and of rows add them up. And variances of f64. */
#include <string.h>

#include "core/types.h"
#include "cpu/fold/fold.h"
#include "support/cases.h"
#include "support/suite.h"

enum { COUNT = 1000, ROW = 8 };

/* Random bits, of which any number is 0 at the top, and around powers of 2, where ties are. */
static uint64_t any_word(rng *random, int i) {
  uint64_t word = rng_next(random) >> rng_between(random, 0, 63);
  if (i % 2 == 0) return word;
  return (UINT64_C(1) << rng_between(random, 0, 63)) + (uint64_t)rng_between(random, -1025, 1025);
}

static double nearest(ndr_dtype dtype, uint64_t word) {
  return dtype == NDR_I64 ? (double)(int64_t)word : (double)word;
}

static void compare(const ndr_isa *isa, const char *how, ndr_dtype dtype, const uint64_t *words, const double *got) {
  for (int i = 0; i < COUNT; i++)
    ck_assert_msg(got[i] == nearest(dtype, words[i]), "%s, %s of %s %#llx: %.17g (seed %llu)", isa->name, how,
                  ndr_dtype_name(dtype), (unsigned long long)words[i], got[i], (unsigned long long)test_seed());
}

static void check(const ndr_isa *isa, rng *random, ndr_dtype dtype) {
  static uint64_t words[COUNT], rows[COUNT * ROW], states[2 * COUNT];
  static double got[COUNT];
  memset(rows, 0, sizeof rows);
  for (int i = 0; i < COUNT; i++) rows[i * ROW] = words[i] = any_word(random, i);
  isa->convert[dtype][NDR_F64](words, got, COUNT);
  compare(isa, "conversion", dtype, words, got);
  ndr_tile tile = {.data = words, .lanes = COUNT, .period = COUNT, .rows = 1, .row_stride = COUNT, .fresh = true};
  isa->fold[0][dtype][NDR_MEAN](&tile, states, COUNT);
  memcpy(got, states, sizeof got);
  compare(isa, "mean of a column", dtype, words, got);
  tile = (ndr_tile){
      .data = rows, .lanes = COUNT, .period = COUNT, .rows = ROW, .row_stride = 1, .lane_stride = ROW, .fresh = true};
  isa->across[dtype][NDR_MEAN](&tile, states, COUNT);
  memcpy(got, states, sizeof got);
  compare(isa, "mean of a row", dtype, words, got);
}

START_TEST(integers_become_the_nearest_f64) {
  const ndr_isa *const all[] = {ndr_isa_baseline, ndr_isa_avx2, ndr_isa_avx512}, *widest = ndr_isa_here();
  rng random = {test_seed()};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    if (all[k]) check(all[k], &random, NDR_I64);
    if (all[k]) check(all[k], &random, NDR_U64);
    if (all[k] == widest) return; /* those that this machine has come before it */
  }
}
END_TEST

/* Variances of rows whose first element lies far from the others. The first of these alone would cost log2 of their
 * number of bits. */
START_TEST(variances_keep_their_digits) {
  enum { ROWS = 64, LENGTH = 400 };
  static double rows[ROWS * LENGTH], got[ROWS];
  int64_t shape[] = {ROWS, LENGTH}, one[] = {ROWS};
  const int last = 1;
  rng random = {test_seed()};
  for (int i = 0; i < ROWS * LENGTH; i++) rows[i] = (double)rng_between(&random, -1000000, 1000000) / 1e6;
  for (int r = 0; r < ROWS; r++) rows[r * LENGTH] = 1e4 + (double)r;
  DLTensor array = ndr_tensor(rows, NDR_F64, 2, shape), result = ndr_tensor(got, NDR_F64, 1, one);
  assert_ok(ndreduce(&array, 1, &last, NDR_VAR, &result, NULL));
  for (int r = 0; r < ROWS; r++) {
    long double mean = 0, squares = 0;
    for (int i = 0; i < LENGTH; i++) mean += rows[r * LENGTH + i];
    mean /= LENGTH;
    for (int i = 0; i < LENGTH; i++) squares += (rows[r * LENGTH + i] - mean) * (rows[r * LENGTH + i] - mean);
    const double error = (double)(got[r] / (squares / LENGTH) - 1);
    ck_assert_msg(error < 0x1p-48 && error > -0x1p-48, "row %d: %g off (seed %llu)", r, error,
                  (unsigned long long)test_seed());
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("64-bit integers as f64");
  suite_case(suite, "real", 30, integers_become_the_nearest_f64, variances_keep_their_digits, NULL);
  return suite_run(suite);
}
