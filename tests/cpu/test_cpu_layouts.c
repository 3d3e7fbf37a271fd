/* Sums over layouts that have loops of their own, against the definitions, for each instruction set: rows and columns
 * of every width around the widths of registers and tiles, at every alignment, with and without gaps, in steps. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include <stdlib.h>

#include "core/types.h"
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

/* The array ends where its memory ends, and begins `shift` elements after its beginning. */
static void check_problem(rng *random, ndr_problem *c, int64_t shift) {
  char message[512];
  test_array memory, result;
  ndr_options options = case_options(c);
  int64_t size = shift + 1;
  for (int d = 0; d < c->ndim; d++) size += (c->shape[d] - 1) * c->strides[d];
  array_make(&memory, c->dtype, 1, &size, NULL);
  array_fill(&memory, random, random_filling_of(random, c));
  DLTensor view = memory.tensor;
  view.ndim = c->ndim;
  view.shape = c->shape;
  view.strides = c->strides;
  view.byte_offset += (uint64_t)shift * ndr_dtype_bytes(c->dtype);
  options.threads = rng_once_in(random, 2) ? 1 : 2;
  assert_ok(case_reduce(c, 0, &view, &options, &result, rng_once_in(random, 4) ? random : NULL));
  bool right = oracle_accepts(c, c->ops[0], &view, &result.tensor, message, sizeof message);
  ck_assert_msg(right, "%s, %lld elements in (seed %llu): %s", case_text(c), (long long)shift,
                (unsigned long long)test_seed(), message);
  array_free(&memory);
  array_free(&result);
}

static void check(rng *random, const layout *l, ndr_dtype dtype, ndr_op op) {
  ndr_problem c = matrix_of(l, dtype, op);
  check_problem(random, &c, l->shift);
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

static ndr_problem one_op(rng *random, ndr_dtype dtype, int ndim) {
  ndr_problem c = NDR_PROBLEM_INIT;
  c.dtype = dtype;
  c.op_count = 1;
  c.ops[0] = pick_op(random, dtype);
  c.ndim = ndim;
  return c;
}

/* Results of which those along the fastest axis lie whole pages apart: of rows or of nothing, in widths around those
 * of tiles, with room between columns. */
static void check_pages(rng *random, ndr_dtype dtype) {
  ndr_problem c = one_op(random, dtype, 3);
  c.shape[0] = rng_once_in(random, 2) ? rng_between(random, 2, 40) : rng_between(random, 60, 140);
  c.shape[1] = 4096 / (int64_t)ndr_dtype_bytes(ndr_op_result(c.ops[0], dtype)) / (1 << rng_between(random, 0, 1));
  c.shape[2] = rng_once_in(random, 2) ? 1 : rng_between(random, 2, 5);
  c.strides[0] = 1;
  c.strides[2] = c.shape[0] + rng_between(random, 0, 1);
  c.strides[1] = c.strides[2] * c.shape[2] + rng_between(random, 0, 1);
  c.dim_count = 1;
  c.dims[0] = 2;
  check_problem(random, &c, rng_between(random, 0, 15));
}

/* Short kept axes inside of two reduced ones that do not merge, which are the periods of grids, around the sizes of
 * registers and tiles. */
static void check_channels(rng *random, ndr_dtype dtype) {
  ndr_problem c = one_op(random, dtype, 4);
  c.shape[3] = rng_once_in(random, 3) ? rng_between(random, 30, 140) : rng_between(random, 2, 17);
  c.shape[2] = rng_between(random, 2, 1100 / c.shape[3]);
  c.shape[1] = rng_between(random, 1, 3);
  c.shape[0] = rng_once_in(random, 4) ? rng_between(random, 250, 520) : rng_between(random, 2, 40);
  c.strides[3] = 1;
  c.strides[2] = c.shape[3];
  c.strides[1] = c.strides[2] * c.shape[2] + rng_between(random, 0, 1);
  c.strides[0] = c.strides[1] * c.shape[1] + rng_between(random, 0, 1);
  c.dim_count = 2;
  c.dims[0] = 0;
  c.dims[1] = 2;
  check_problem(random, &c, rng_between(random, 0, 15));
}

static void check_layouts(const char *isa) {
  rng random = {test_seed()};
  setenv("NDR_CPU_ISA", isa, 1);
  for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
    for (int dim = -1; dim < 2; dim++) {
      for (int64_t width = rng_between(&random, 1, test_share()); width <= NARROW; width += test_share())
        for (int i = 0; i < test_case_count(1); i++) check_width(&random, (ndr_dtype)dtype, width, dim);
      for (int64_t i = rng_between(&random, 0, test_share() - 1); i < WIDE_COUNT; i += test_share())
        check_width(&random, (ndr_dtype)dtype, wide[i], dim);
    }
    for (int i = test_case_count(8); i > 0; i--) check_pages(&random, (ndr_dtype)dtype);
    for (int i = test_case_count(8); i > 0; i--) check_channels(&random, (ndr_dtype)dtype);
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
