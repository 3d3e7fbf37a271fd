/* Every kernel of one dtype, named on the command line, from every place in a vector on: rows, columns and runs of 1 to
 * 70 elements and around the widths of teams and blocks, with any operator. NDR_TEST_CASES=1000000 runs all of them. */
#include <stdio.h>
#include <stdlib.h>

#include "forced.h"
#include "support/gpus.h"
#include "support/suite.h"

static ndr_dtype dtype;

static int element_bytes(void) {
  return (int)ndr_dtype_bytes(dtype);
}

static int vector_elements(void) {
  return NDR_VECTOR_BYTES / element_bytes();
}

/* ---- layouts ---------------------------------------------------------------------------------------------------- */

enum { MOST_SHAPES = 4, ANY_UNITS = 132 };

/* Problems that a kernel is for, planned for a GPU of `units` multiprocessors. In their shapes the letters are numbers:
 *   w  the width that is tried, and `base` bytes more; at least `narrowest` vectors
 *   v  the width, in vectors
 *   p  w, or up to 20 more
 *   m  2 to 5
 *   P  m * w, or up to 20 more
 *   n  rows of p elements that have `bytes` bytes, but at least `least`
 *   N  n / m
 *   k  2 to the most rows of thread_few
 * Of each, `cases` are run, and more where none of these gets the kernel. */
typedef struct layout {
  ndr_kernel kernel;
  const char *family;
  int cases, units, base, bytes, least, narrowest;
  const char *shapes[MOST_SHAPES];
} layout;

enum {
  FEW_BYTES = 2100 * NDR_VECTOR_BYTES, /* of a row of thread_few: two waves of four blocks, see src/gpuplan/thread.c */
  LONG_BYTES = 70000,                  /* of columns that are not staged, see src/gpuplan/tile.c */
  GROUP_BYTES = 9000                   /* the same of three columns, in at least 32 groups */
};

enum { USUAL = 12, SLOW = 4, TRIES = 8 };

static const layout layouts[] = {
    {NDR_KERNEL_TREE_BLOCK, "tree", USUAL, ANY_UNITS, 512, 0, 1, 0, {"[w] /0", "[m:p,w:1] /1"}},
    {NDR_KERNEL_TREE_BLOCK, "tree", USUAL, ANY_UNITS, 4096, 0, 1, 0, {"[m:p,w:1] /0,1", "[m,m:p,w:1] /1,2"}},
    {NDR_KERNEL_TREE_RUNS, "tree", USUAL, 1, 0, 6000, 5, 0, {"[n:p,w:1] /0,1", "[m,n:p,w:1] /1,2", "[n,m:p,w:1] /0,2"}},
    {NDR_KERNEL_TREE_STRIDED, "tree", USUAL, 1, 0, 3000, 2, 0, {"[n:p,w:1] /0", "[w:3] /0", "[m,n:P,w:2] /1,2"}},
    {NDR_KERNEL_TREE_LANES, "tree", USUAL, 1, 0, 6000, 1, 0, {"[n:p,w:1] /1", "[m,N:p,w:1] /2"}},
    {NDR_KERNEL_TREE_LISTED, "tree", USUAL, 1, 0, 6000, 64, 0, {"[n:p,w:1] /1", "[N:P,m:p,w:1] /1,2", "[n:P,w:2] /1"}},
    {NDR_KERNEL_THREAD_VECTORS, "thread", USUAL, 1, 0, 6000, 2, 0, {"[n,v] /0", "[m,n,v] /1", "[n,m,v] /0"}},
    {NDR_KERNEL_THREAD_SHIFTED,
     "thread",
     USUAL,
     1,
     0,
     6000,
     2,
     1,
     {"[n:p,w:1] /0", "[m,n:p,w:1] /1", "[n,m:p,w:1] /0"}},
    {NDR_KERNEL_THREAD_SHIFTED, "thread", USUAL, 1, 0, 6000, 64, 1, {"[m:1,n:P,w:m] /1", "[w:1,n:P,m:w] /1"}},
    {NDR_KERNEL_THREAD_SPREAD,
     "thread",
     USUAL,
     1,
     508,
     12000,
     2,
     0,
     {"[n:p,w:1] /0", "[m,n:p,w:1] /1", "[n,m:p,w:1] /0"}},
    {NDR_KERNEL_THREAD_PHASED, "thread", USUAL, 1, 0, 40000, 64, 1, {"[n:p,w:1] /0", "[m,n:p,w:1] /0,1"}},
    {NDR_KERNEL_THREAD_FEW, "thread", SLOW, 1, FEW_BYTES, 0, 1, 0, {"[k:p,w:1] /0"}},
    {NDR_KERNEL_THREAD_ELEMENTS,
     "thread",
     USUAL,
     ANY_UNITS,
     0,
     3000,
     2,
     0,
     {"[n:p,w:1] /0", "[n:P,w:2] /0", "[w:3] /"}},
    {NDR_KERNEL_TILE_COLUMNS, "tile", SLOW, 1, 0, LONG_BYTES, 2, 0, {"[n,w] /0", "[m,n,w] /1"}},
    {NDR_KERNEL_TILE_COLUMNS3, "tile", SLOW, 1, LONG_BYTES / 3, 0, 1, 0, {"[w,3] /0"}},
    {NDR_KERNEL_TILE_COLUMNS3, "tile", SLOW, 1, GROUP_BYTES / 3, 0, 1, 0, {"[34,w,3] /1"}},
    {NDR_KERNEL_TILE_ROWS, "tile", USUAL, 1, 0, 6000, 2, 0, {"[n:p,w:1] /1"}},
    {NDR_KERNEL_TILE_STAGED, "tile", USUAL, 1, 0, 6000, 2, 0, {"[m,N:P,w:2] /2", "[w:2] /0", "[n,m,w] /1"}},
    {NDR_KERNEL_TILE_RUN_VECTORS,
     "tile",
     USUAL,
     1,
     0,
     6000,
     64,
     1,
     {"[n:p,w:1] /0,1", "[n,m:p,w:1] /0,2", "[m,n:p,w:1] /1,2"}},
    {NDR_KERNEL_TILE_RUN_ELEMENTS,
     "tile",
     USUAL,
     ANY_UNITS,
     0,
     3000,
     20,
     0,
     {"[n,m:P,m:w,w:1] /0,2", "[n:p,w:1] /0,1"}},
    {NDR_KERNEL_TILE_RUN_DENSE,
     "tile",
     USUAL,
     1,
     0,
     6000,
     4,
     0,
     {"[n:P,m,w] /0,2", "[n,9,m,w] /0,2", "[n:P,w,m] /0,2"}},
    {NDR_KERNEL_TILE_VECTORS, "tile", USUAL, 1, 0, 0, 1, 0, {"[w,2] /1", "[w,4] /1", "[w,8] /1", "[w] /"}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* The numbers that stand for the letters of a shape. */
typedef struct numbers {
  int w, p, v, n, m, k, P, N;
} numbers;

static int gap(rng *random) {
  return rng_once_in(random, 2) ? 0 : (int)rng_between(random, 1, 20);
}

static numbers draw_numbers(rng *random, const layout *l, int width) {
  numbers of = {.w = l->base / element_bytes() + width, .m = (int)rng_between(random, 2, 5)};
  if (of.w < l->narrowest * vector_elements()) of.w += vector_elements();
  of.p = of.w + gap(random);
  of.P = of.m * of.w + gap(random);
  of.v = width * vector_elements();
  of.n = l->bytes / element_bytes() / of.p + 1;
  if (of.n < l->least) of.n = l->least;
  of.N = of.n / of.m + 1;
  of.k = (int)rng_between(random, 2, NDR_FEW_ROWS);
  return of;
}

static void write_shape(const char *shape, const numbers *of, char *text, size_t capacity) {
  size_t length = 0;
  for (; *shape && length + 16 < capacity; shape++) {
    int number = *shape == 'w'   ? of->w
                 : *shape == 'p' ? of->p
                 : *shape == 'v' ? of->v
                 : *shape == 'n' ? of->n
                 : *shape == 'm' ? of->m
                 : *shape == 'k' ? of->k
                 : *shape == 'P' ? of->P
                 : *shape == 'N' ? of->N
                                 : 0;
    length += (size_t)(number ? sprintf(text + length, "%d", number) : sprintf(text + length, "%c", *shape));
  }
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

enum { LEAST_WIDTHS = 70, EDGES = 15 };

/* Width number i: 1 to 70, then one less than, as many as, and one more than 8, 32, 64, 128 and 256 threads have
 * elements with a vector each. */
static int width_of(int i) {
  static const int threads[EDGES / 3] = {8, 32, 64, 128, 256};
  if (i < LEAST_WIDTHS) return i + 1;
  i -= LEAST_WIDTHS;
  return threads[i / 3] * vector_elements() + i % 3 - 1;
}

static int places(void) {
  return NDR_VECTOR_BYTES / (int)ndr_dtype_alignment(dtype);
}

/* Every width from every place; and as often on boundaries of vectors, which some kernels need. */
static int count_cases(void) {
  return 2 * places() * (LEAST_WIDTHS + EDGES);
}

/* Runs a case, which `number` alone decides, and returns whether the kernel ran. */
static bool run_number(const layout *l, int number) {
  rng random = {test_seed() + (uint64_t)dtype * 10000019 + (uint64_t)(l - layouts) * 100003 + (uint64_t)number};
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_device device = gpus[GPU_COUNT - 1];
  char shape[64], text[96];
  twist how = random_twist(&random, dtype);
  how.device = 0;
  how.past = number % 2 ? 0 : (size_t)(number / 2 % places()) * ndr_dtype_alignment(dtype);
  int width = width_of(number / 2 / places()), shapes = 0;
  numbers of = draw_numbers(&random, l, width);
  while (shapes < MOST_SHAPES && l->shapes[shapes]) shapes++;
  write_shape(l->shapes[rng_between(&random, 0, shapes - 1)], &of, shape, sizeof shape);
  ndr_op op;
  do op = (ndr_op)rng_between(&random, 0, NDR_OP_COUNT - 1);
  while (!op_defined(op, dtype));
  snprintf(text, sizeof text, "%s %s %s", ndr_op_name(op), ndr_dtype_name(dtype), shape);
  assert_ok(ndr_problem_parse(text, &problem));
  announce_case(&problem, l->family, &how, test_seed());
  device.units = l->units;
  outcome came = run_forced(&problem, l->family, &device, &how, &random);
  ck_assert_msg(!came.why[0], "%s\n  case %d of %s: %s", announced_case(), number, ndr_kernel_name(l->kernel),
                came.why);
  return came.ran && came.kernel == l->kernel;
}

/* Whether no launch of the dtype has the kernel: vectors of one element each are never shifted. */
static bool never_runs(ndr_kernel kernel) {
  switch (kernel) {
  case NDR_KERNEL_THREAD_SHIFTED:
  case NDR_KERNEL_THREAD_PHASED:
  case NDR_KERNEL_TILE_RUN_DENSE: return vector_elements() == 1;
  case NDR_KERNEL_THREAD_SPREAD: return !NDR_CAN_SPREAD(element_bytes());
  default: return false;
  }
}

START_TEST(test_widths) {
  const layout *l = &layouts[_i];
  int all = count_cases(), cases = test_case_count(l->cases), ran = 0;
  int *order = malloc((size_t)all * sizeof *order);
  rng random = {test_seed() + (uint64_t)dtype};
  if (!order) abort();
  rng_shuffle(&random, all, order);
  if (cases > all) cases = all;
  for (int i = 0; i < cases; i++) ran += run_number(l, order[i]);
  /* Some layouts get their kernel from few places, or in few widths. */
  for (int i = cases; i < all && i < TRIES * l->cases && ran == 0 && !never_runs(l->kernel); i++)
    ran += run_number(l, order[i]);
  free(order);
  ck_assert_msg(ran > 0 || never_runs(l->kernel), "%s ran in no case", ndr_kernel_name(l->kernel));
}
END_TEST

int main(int argc, char **argv) {
  if (argc != 2 || ndr_dtype_parse(argv[1], &dtype) != NDR_OK) {
    fprintf(stderr, "usage: test_simt_widths DTYPE\n");
    return 2;
  }
  Suite *suite = suite_create(argv[1]);
  TCase *widths = tcase_create("widths");
  tcase_set_timeout(widths, 3600);
  tcase_add_loop_test(widths, test_widths, 0, LAYOUTS);
  suite_add_tcase(suite, widths);
  return suite_run(suite);
}
