/* Sums over layouts that have loops of their own, against the definitions, for each instruction set: rows and columns
 * of every width around the widths of registers and tiles, at every alignment, with and without gaps, in steps. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include <stdlib.h>

#include "support/cases.h"
#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

/* How a matrix of rows lies in memory, in elements, and which dim is reduced; -1: none. */
typedef struct layout {
  int64_t rows, width, pitch, step, shift;
  int dim;
} layout;

static const int64_t wide[] = {95, 96, 100, 127, 128, 129, 254, 255, 256, 257, 510, 511, 512, 513, 700};
static const int64_t many[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65};
enum { NARROW = 70, WIDE_COUNT = sizeof wide / sizeof *wide, MANY_COUNT = sizeof many / sizeof *many };

static ndr_problem matrix_of(const layout *l, ndr_dtype dtype, ndr_op op) {
  ndr_problem c = NDR_PROBLEM_INIT;
  c.dtype = dtype;
  c.op_count = 1;
  c.ops[0] = op;
  c.ndim = 2;
  c.shape[0] = l->rows;
  c.shape[1] = l->width;
  c.strides[0] = l->pitch;
  c.strides[1] = l->step;
  c.dim_count = l->dim >= 0;
  c.dims[0] = l->dim;
  return c;
}

/* The matrix ends where its memory ends, and begins `shift` elements after its beginning. */
static void check(rng *random, const layout *l, ndr_dtype dtype, ndr_op op) {
  char message[512];
  test_array memory, result;
  ndr_problem c = matrix_of(l, dtype, op);
  ndr_options options = case_options(&c);
  int64_t size = l->shift + (l->rows - 1) * l->pitch + (l->width - 1) * l->step + 1;
  array_make(&memory, dtype, 1, &size, NULL);
  array_fill(&memory, random, random_filling_of(random, &c));
  DLTensor view = memory.tensor;
  view.ndim = 2;
  view.shape = c.shape;
  view.strides = c.strides;
  view.byte_offset += (uint64_t)l->shift * ndr_dtype_bytes(dtype);
  options.threads = rng_once_in(random, 2) ? 1 : 2;
  assert_ok(case_reduce(&c, 0, &view, &options, &result, rng_once_in(random, 4) ? random : NULL));
  bool right = oracle_accepts(&c, op, &view, &result.tensor, message, sizeof message);
  ck_assert_msg(right, "%s, %lld elements in (seed %llu): %s", case_text(&c), (long long)l->shift,
                (unsigned long long)test_seed(), message);
  array_free(&memory);
  array_free(&result);
}

static ndr_op pick_op(rng *random, ndr_dtype dtype) {
  ndr_op op = NDR_SUM;
  if (rng_once_in(random, 3)) return op;
  do op = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
  while (!op_defined(op, dtype));
  return op;
}

static void check_width(rng *random, ndr_dtype dtype, int64_t width, int dim) {
  layout l = {.width = width, .dim = dim, .step = rng_once_in(random, 4) ? rng_between(random, 2, 9) : 1};
  int64_t row = (width - 1) * l.step + 1;
  l.rows = many[rng_between(random, 0, MANY_COUNT - 1)];
  if (rng_once_in(random, 16)) l.rows = rng_between(random, 500, 1100);
  l.pitch = row + (rng_once_in(random, 3) ? rng_between(random, 1, 20) : 0);
  l.shift = rng_between(random, 0, 15);
  check(random, &l, dtype, pick_op(random, dtype));
}

static void check_layouts(const char *isa) {
  rng random = {test_seed()};
  setenv("NDR_CPU_ISA", isa, 1);
  for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++)
    for (int dim = -1; dim < 2; dim++) {
      for (int64_t width = 1; width <= NARROW; width++)
        for (int i = 0; i < test_case_count(1); i++) check_width(&random, (ndr_dtype)dtype, width, dim);
      for (int i = 0; i < WIDE_COUNT; i++) check_width(&random, (ndr_dtype)dtype, wide[i], dim);
    }
}

START_TEST(baseline) {
  check_layouts("baseline");
}
END_TEST

START_TEST(avx2) {
  check_layouts("avx2");
}
END_TEST

START_TEST(avx512) {
  check_layouts("avx512");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu layouts");
  suite_case(suite, "layouts", 300, baseline, avx2, avx512, NULL);
  return suite_run(suite);
}
