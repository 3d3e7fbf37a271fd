/* Large problems whose tiles are read row by row, in the order of memory, have the bits of the same problem where a
 * second operator of the call prevents that: on each instruction set and for any number of threads. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/ndreduce.h"
#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/suite.h"

/* Bytes of elements from which on tiles are read row by row, and enough bytes for the widest tiles; room for gaps. */
enum { LEAST_BYTES = 16 << 20, WIDE_BYTES = 3 * LEAST_BYTES, ROOM = 5 * LEAST_BYTES };

/* Where the elements of a second array are: there is none, one for each element, for each lane or for each row. */
typedef enum placement { NOTHING, ELEMENTS, LANES, ROWS } placement;

typedef struct kind {
  const char *op;
  ndr_dtype dtype;
  const char *second; /* its role and dtype */
  placement where;
  const char *more;
} kind;

#define HOT "{hot(x; t): n += x > t -> n}(0.5)"
#define MOST "{most(x; t): n += x > t -> n}(-2)" /* nearly as many as a tile has rows */
#define RMSE "{rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)}"
#define DOT "{dot(x, y): s += x * y -> s}"
static const kind kinds[] = {{HOT, NDR_F32, "", NOTHING, ""},
                             {HOT, NDR_F64, "", NOTHING, ""},
                             {MOST, NDR_F32, "", NOTHING, ""},
                             {MOST, NDR_F64, "", NOTHING, ""},
                             {"{same(x, y): n += x == y -> n}", NDR_F32, "with=f32", ELEMENTS, ""},
                             {"{low(x, y): n += x <= y -> n}", NDR_F64, "with=f64", LANES, ""},
                             {"{high(x, y): n += x > y -> n}", NDR_F32, "with=f32", LANES, ""},
                             {RMSE, NDR_F32, "with=f32", ELEMENTS, ""},
                             {RMSE, NDR_F64, "with=f64", ELEMENTS, ""},
                             {RMSE, NDR_F32, "with=f32", LANES, ""},
                             {"{far(x; m): s += (x - m)**2 -> s}(0.25)", NDR_F32, "", NOTHING, ""},
                             {DOT, NDR_F32, "with=f32", LANES, ""},
                             {DOT, NDR_F64, "with=f64", ELEMENTS, ""},
                             {"sum", NDR_F32, "where=bool", ELEMENTS, ""},
                             {"mean", NDR_F32, "where=bool", ELEMENTS, ""},
                             {"mean", NDR_F64, "where=bool", ELEMENTS, ""},
                             {"sum", NDR_F32, "weights=f32", ELEMENTS, ""},
                             {"mean", NDR_F32, "weights=f32", ELEMENTS, ""},
                             {"mean", NDR_F32, "weights=f32", ROWS, ""},
                             {"mean", NDR_F32, "weights=f64", ROWS, ""},
                             {"mean", NDR_F64, "weights=f64", ELEMENTS, ""},
                             {"mean", NDR_F32, "weights=f32", ROWS, " skipnan"},
                             {"mean", NDR_F32, "weights=f64", ELEMENTS, " skipnan"}};
/* Programs with a constant on the left of an operation, or that fold one alone. */
static const kind constants[] = {{"{twice(x): s += 2 * x -> s}", NDR_F32, "", NOTHING, ""},
                                 {"{above(x; t): n += t < x -> n}(0.25)", NDR_F64, "", NOTHING, ""},
                                 {"{near(x; m): s += (m - x)**2, n += 3 -> s / n}(0.25)", NDR_F32, "", NOTHING, ""},
                                 {"{ones(x): n += 1 -> n}", NDR_F32, "", NOTHING, ""}};
static const int64_t widths[] = {64,   65,   100,  127,  128,  129,  191,  200,  255,  500,  512,  513,   1000, 1024,
                                 1025, 1100, 1600, 2047, 2048, 4095, 4096, 4097, 4100, 5000, 8191, 10001, 20000};
enum {
  CONSTANTS = sizeof constants / sizeof *constants,
  KINDS = sizeof kinds / sizeof *kinds,
  WIDTHS = sizeof widths / sizeof *widths
};

/* What all problems read. */
static char *elements, *others;

static void fill(ndr_dtype dtype) {
  uint32_t state = 1;
  for (size_t i = 0; i < ROOM / ndr_dtype_bytes(dtype); i++) {
    state = state * 1664525u + 1013904223u;
    double x = (double)(state >> 8) * 0x1p-23 - 1, y = (double)(state >> 12 & 0xfff) * 0x1p-11 - 1;
    if (state >> 15 == 77) x = (double)NAN; /* few, or most sums would be NaN */
    if (state >> 20 == 78) y = x;
    if (dtype == NDR_F32)
      ((float *)(void *)elements)[i] = (float)x, ((float *)(void *)others)[i] = (float)y;
    else
      ((double *)(void *)elements)[i] = x, ((double *)(void *)others)[i] = y;
  }
}

/* A problem over the middle dim, whose rows have `gap` elements between them. */
static void write_problem(const kind *k, const char *beside_op, int64_t width, int64_t gap, int64_t pages, char *text,
                          size_t capacity) {
  const long long pitch = width + gap, bytes = (long long)ndr_dtype_bytes(k->dtype);
  const long long least = width < 2000 ? LEAST_BYTES : WIDE_BYTES;
  const long long rows = (least / bytes / width + pages) / pages, page = rows * pitch;
  int length = snprintf(text, capacity, "%s%s %s [%lld:%lld,%lld:%lld,%lld] /1%s", k->op, beside_op,
                        ndr_dtype_name(k->dtype), (long long)pages, page, rows, pitch, (long long)width, k->more);
  char *end = text + length;
  capacity -= (size_t)length;
  switch (k->where) {
  case NOTHING: break;
  case ELEMENTS: snprintf(end, capacity, " %s[%lld,%lld,1]", k->second, page, pitch); break;
  case LANES: snprintf(end, capacity, " %s[0,0,1]", k->second); break;
  case ROWS: snprintf(end, capacity, " %s[0,1,0]", k->second); break;
  }
}

/* Returns whether the plan reads tiles row by row. */
static bool run(const char *text, int threads, void *result, void *beside) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_options options = NDR_OPTIONS_INIT;
  ndr_plan *plan;
  char described[4096];
  const void *data[] = {elements, others};
  void *results[] = {result, beside};
  options.threads = threads;
  assert_ok(ndr_problem_parse(text, &problem));
  assert_ok(ndr_plan_create(&plan, &problem, (DLDevice){kDLCPU, 0}, NULL, &options));
  assert_ok(ndr_plan_execute_operands(plan, data, results, NULL, 0, NULL));
  ndr_plan_describe(plan, described, sizeof described);
  ndr_plan_destroy(plan);
  for (int i = 0; i < problem.op_count; i++)
    if (problem.ops[i] >= NDR_OP_COUNT) ndr_operator_destroy(problem.ops[i]);
  return strstr(described, "in their order") != NULL;
}

/* Also returns that, of the problem with one operator. */
static bool check_one(const kind *k, int64_t width, int64_t gap, int64_t pages) {
  char alone[512], beside[512];
  const size_t outputs = (size_t)(pages * width), bytes = outputs * sizeof(double);
  char *results = calloc(4, bytes);
  ck_assert_ptr_nonnull(results);
  write_problem(k, "", width, gap, pages, alone, sizeof alone);
  write_problem(k, ",norm1", width, gap, pages, beside, sizeof beside);
  const bool in_order = run(alone, 1, results, NULL);
  ck_assert(run(alone, 3, results + bytes, NULL) == in_order);
  ck_assert(!run(beside, 2, results + 2 * bytes, results + 3 * bytes));
  ck_assert_msg(memcmp(results, results + bytes, bytes) == 0, "%s: other bits with 3 threads", alone);
  ck_assert_msg(memcmp(results, results + 2 * bytes, bytes) == 0, "%s: other bits", alone);
  free(results);
  return in_order;
}

/* Every kind with a few of the widths, and every width. */
static void check_kinds(const char *isa) {
  int first = -1; /* whether tiles are read row by row: all are, or none, as in builds without this instruction set */
  rng random = {test_seed()};
  setenv("NDR_CPU_ISA", isa, 1);
  elements = malloc(ROOM);
  others = calloc(2, ROOM); /* weights may be wider than elements */
  ck_assert(elements && others);
  for (int dtype = NDR_F32; dtype <= NDR_F64; dtype++) {
    fill((ndr_dtype)dtype);
    for (int i = 0; i < KINDS; i++) {
      if ((int)kinds[i].dtype != dtype) continue;
      for (int w = (int)rng_between(&random, 0, 6); w < WIDTHS; w += 7) {
        const bool in_order =
            check_one(&kinds[i], widths[w], w % 3 ? 0 : rng_between(&random, 1, 40), rng_between(&random, 1, 4));
        if (first < 0) first = in_order;
        ck_assert_int_eq(in_order, first);
      }
    }
    for (int i = 0; i < CONSTANTS; i++)
      if ((int)constants[i].dtype == dtype) check_one(&constants[i], 2000 + i, 0, 1);
  }
  if (strcmp(isa, "baseline") == 0) ck_assert_int_eq(first, false);
#ifdef __x86_64__
  if (strcmp(isa, "avx2") == 0 && __builtin_cpu_supports("avx2")) ck_assert_int_eq(first, true);
#endif
  free(elements);
  free(others);
}

START_TEST(baseline) {
  check_kinds("baseline");
}
END_TEST

START_TEST(avx2) {
  check_kinds("avx2");
}
END_TEST

START_TEST(avx512) {
  check_kinds("avx512");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu in order");
  suite_case(suite, "kinds", 300, baseline, avx2, avx512, NULL);
  return suite_run(suite);
}
