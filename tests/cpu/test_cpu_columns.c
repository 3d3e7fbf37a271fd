/* How good sums of columns are, for each instruction set and every way that rows lie: the bound of fold/dtype/column.h,
 * sums of a few rows that are infinite in f32 alone, elements that are not finite, and any number of threads. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/ndreduce.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/suite.h"

enum { MOST_WIDTH = 1100 };

typedef struct matrix {
  int64_t rows, width, pitch;
  float *at;
} matrix;

static const int64_t widths[] = {1, 7, 8, 15, 16, 17, 31, 127, 128, 129, 135, 136, 512, 513, 1000, 1024, 1100};
static const int64_t heights[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 48, 100, 129, 300};
enum { WIDTHS = sizeof widths / sizeof *widths, HEIGHTS = sizeof heights / sizeof *heights };

static matrix make(int64_t rows, int64_t width, int64_t gap) {
  matrix m = {rows, width, width + gap, NULL};
  m.at = malloc((size_t)(m.rows * m.pitch) * sizeof *m.at);
  ck_assert_ptr_nonnull(m.at);
  for (int64_t i = 0; i < m.rows * m.pitch; i++) m.at[i] = NAN;
  return m;
}

static void reduce(const matrix *m, ndr_op op, ndr_accumulate accumulate, int threads, float *results) {
  int64_t shape[] = {m->rows, m->width}, strides[] = {m->pitch, 1}, width[] = {m->width};
  DLTensor array = ndr_tensor(m->at, NDR_F32, 2, shape);
  DLTensor result = ndr_tensor(results, NDR_F32, 1, width);
  array.strides = strides;
  ndr_options options = NDR_OPTIONS_INIT;
  options.threads = threads;
  options.accumulate = accumulate;
  ck_assert_int_eq(ndreduce(&array, NDR_DIMS(0), op, &result, &options), NDR_OK);
}

/* Large and small magnitudes of both signs, most of which cancel. */
static void fill(rng *random, const matrix *m) {
  for (int64_t row = 0; row < m->rows; row++)
    for (int64_t c = 0; c < m->width; c++) {
      float size = ldexpf(1 + (float)rng_between(random, 0, 1 << 23) * 0x1p-23f, (int)rng_between(random, -20, 20));
      m->at[row * m->pitch + c] = rng_once_in(random, 2) ? size : -size;
    }
}

static void check_bound(const matrix *m, const float *results, double divisor, double roundings) {
  for (int64_t c = 0; c < m->width; c++) {
    long double sum = 0, size = 0;
    for (int64_t row = 0; row < m->rows; row++) {
      sum += m->at[row * m->pitch + c];
      size += fabsl(m->at[row * m->pitch + c]);
    }
    long double off = fabsl(sum / divisor - results[c]);
    long double bound = (roundings * 0x1p-24L + 0x1p-44L) * size / divisor + 0x1p-24L * fabsl(sum / divisor);
    ck_assert_msg(off <= bound, "%lld rows of %lld, pitch %lld, column %lld: off by %Lg, not %Lg", (long long)m->rows,
                  (long long)m->width, (long long)m->pitch, (long long)c, off, bound);
  }
}

static void check_accuracy(rng *random, int64_t rows, int64_t width, int64_t gap) {
  float sums[MOST_WIDTH], again[MOST_WIDTH];
  matrix m = make(rows, width, gap);
  fill(random, &m);
  reduce(&m, NDR_SUM, NDR_ACCUMULATE_DEFAULT, 1, sums);
  check_bound(&m, sums, 1, 4);
  reduce(&m, NDR_SUM, NDR_ACCUMULATE_DEFAULT, 3, again);
  ck_assert_mem_eq(sums, again, (size_t)width * sizeof *sums);
  reduce(&m, NDR_MEAN, NDR_ACCUMULATE_DEFAULT, 1, sums);
  check_bound(&m, sums, (double)rows, 4);
  reduce(&m, NDR_SUM, NDR_ACCUMULATE_F64, 1, sums);
  check_bound(&m, sums, 1, 0);
  free(m.at);
}

/* Columns 0 mod 3 sum to 3e38 although two elements of them do not fit in f32; one has a NaN, one an infinity. */
static void check_extremes(int64_t rows, int64_t width, int64_t gap) {
  float sums[MOST_WIDTH];
  matrix m = make(rows, width, gap);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t c = 0; c < width; c++) {
      float large = row < 2 ? 3e38f : row == 2 ? -3e38f : 0;
      m.at[row * m.pitch + c] = c % 3 == 0 ? large : 1;
    }
  m.at[(rows - 1) * m.pitch + 1] = NAN;
  m.at[(rows / 2) * m.pitch + 2] = INFINITY;
  reduce(&m, NDR_SUM, NDR_ACCUMULATE_DEFAULT, 2, sums);
  for (int64_t c = 0; c < width; c++) {
    float expected = c % 3 == 0 ? 3e38f : c == 2 ? INFINITY : (float)rows;
    if (c == 1)
      ck_assert(isnan(sums[c]));
    else
      ck_assert_msg(sums[c] == expected, "column %lld: %g", (long long)c, (double)sums[c]);
  }
  free(m.at);
}

static void check_columns(const char *isa) {
  rng random = {test_seed()};
  setenv("NDR_CPU_ISA", isa, 1);
  for (int w = 0; w < WIDTHS; w++)
    for (int64_t h = rng_between(&random, 0, test_share() - 1); h < HEIGHTS; h += test_share())
      for (int64_t gap = 0; gap < 16; gap += 5) {
        check_accuracy(&random, heights[h], widths[w], gap);
        if (heights[h] >= 3 && widths[w] >= 3) check_extremes(heights[h], widths[w], gap);
      }
}

START_TEST(baseline) {
  check_columns("baseline");
}
END_TEST

START_TEST(avx2) {
  check_columns("avx2");
}
END_TEST

START_TEST(avx512) {
  check_columns("avx512");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu columns");
  suite_case(suite, "columns", 300, baseline, avx2, avx512, NULL);
  return suite_run(suite);
}
