/* Programs in the fast families, against the scalar family, which follows the definitions: masks, weights and operators
 * of one's own over random layouts of all arrays, for each instruction set and any number of threads. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/types.h"
#include "ndreduce/operator.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MOST = 6000, MOST_ARRAYS = 1 + NDR_MAX_OPERANDS };

/* A problem with its arrays. */
typedef struct setting {
  ndr_problem problem;
  int array_count;
  test_array arrays[MOST_ARRAYS];
  filling how;
  ndr_op own; /* an operator that was made for it; 0: none */
} setting;

typedef struct outcome {
  int count;
  test_array results[NDR_MAX_OPS];
} outcome;

static const char *const texts[] = {
    "hot(x; t): n += x > t -> n",
    "wet(x): a += x > 0 ? x : 0, m max= x -> m > 0 ? a / m : 0",
    "span(x): a min= x, b max= x -> b - a",
    "every(x): a &= x != 3, b |= x == 5, n += 1 -> a ? 1 : b ? 2 : n",
    "total(x): s += x, p *= x != 0 ? 1 : 1 -> s * p",
    "turn(x): s += -x * 2 + 1 -> s",
    "place(x): s += index(0) * (x > 0 ? 1 : 2) -> s",
    "rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)",
    "both(x, y): s += min(x, y) * 3 - max(x, y), n += x == y || !(x < y) && y >= 1 -> s + n",
    "smooth(x, y): s += sqrt(abs(x)) + floor(y) * cos(x), m max= exp(-abs(y)) -> s * m",
    "first(x, y): a += x, b += y -> a - b",
    "pair(x, y): s += x * conj(y), t += abs(x - y) -> real(s) + t",
    "ratio(x, y): s += x / (y * y + 1) -> s",
    "curve(x; c[3]): s += poly(x, c), m min= isnan(x) ? 7 : 8 -> s * m",
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* ---- problems ---- */

/* Strides of a view of the problem's shape, with broadcasts, reversals, steps and gaps, or compact ones. */
static void any_strides(rng *random, const ndr_problem *problem, int64_t *strides) {
  int order[NDR_MAX_DIMS];
  int64_t span = rng_once_in(random, 6) ? rng_between(random, 2, 3) : 1;
  bool compact = rng_once_in(random, 2);
  if (compact) span = 1;
  rng_shuffle(random, problem->ndim, order);
  for (int i = 0; i < problem->ndim; i++) {
    int d = compact ? problem->ndim - 1 - i : order[i];
    bool broadcast = rng_once_in(random, 4);
    strides[d] = broadcast ? 0 : !compact && rng_once_in(random, 4) ? -span : span;
    if (!broadcast) span *= problem->shape[d] > 0 ? problem->shape[d] : 1;
    if (!compact && rng_once_in(random, 4)) span += rng_between(random, 1, 5);
  }
}

static void add_array(rng *random, setting *made, ndr_role role, ndr_dtype dtype, filling how) {
  ndr_problem layout = made->problem;
  test_array *array = &made->arrays[made->array_count++];
  layout.dtype = dtype;
  layout.op_count = 0;
  layout.operand_count = 0;
  any_strides(random, &made->problem, layout.strides);
  array_of_case(array, &layout);
  array_fill(array, random, how);
  assert_ok(ndr_problem_add_operand(&made->problem, role, &array->tensor));
}

/* A shape whose axes are of the sizes at which the nest takes other forms. */
static void directed_shape(rng *random, ndr_problem *p) {
  static const int64_t shapes[][4] = {{1500, 3, 1, 1}, {700, 5, 1, 1}, {3, 1500, 1, 1}, {6, 7, 20, 5}, {5000, 1, 1, 1},
                                      {2, 2050, 1, 1}, {70, 66, 1, 1}, {40, 3, 40, 1},  {9, 8, 7, 6},  {1100, 4, 1, 1}};
  static const int dims[][2] = {{0, 0}, {1, 1}, {0, 2}, {1, 3}, {0, 1}};
  const int64_t *shape = shapes[rng_between(random, 0, 9)];
  const int *reduced = dims[rng_between(random, 0, 4)];
  p->ndim = 4;
  memcpy(p->shape, shape, sizeof *shapes);
  ndr_dtype dtype = p->dtype;
  for (int64_t d = 3, step = rng_once_in(random, 4) ? 2 : 1; d >= 0; step *= p->shape[d--]) p->strides[d] = step;
  p->dtype = dtype;
  p->dim_count = reduced[0] == reduced[1] ? 1 : 2;
  p->dims[0] = reduced[0];
  p->dims[1] = reduced[1];
}

static void start(rng *random, setting *made, ndr_dtype dtype) {
  memset(made, 0, sizeof *made);
  do random_case_of(random, dtype, MOST, &made->problem);
  while (case_elements(&made->problem) == 0 || made->problem.ndim > 6);
  if (rng_once_in(random, 2)) directed_shape(random, &made->problem);
  bool large = is_integer(dtype) && ndr_dtype_bytes(dtype) >= 4; /* whose squares leave nothing to compare */
  made->how = large || rng_once_in(random, 2) ? FILL_SMALL : FILL_WIDE;
  made->array_count = 1;
  array_of_case(&made->arrays[0], &made->problem);
  array_fill(&made->arrays[0], random, made->how);
}

static void finish(setting *made) {
  for (int a = 0; a < made->array_count; a++) array_free(&made->arrays[a]);
  if (made->own) ndr_operator_destroy(made->own);
}

/* ---- running ---- */

static void make_results(const ndr_problem *problem, outcome *made) {
  made->count = problem->op_count;
  for (int i = 0; i < made->count; i++) {
    int64_t shape[NDR_MAX_DIMS];
    ndr_dtype dtype = NDR_F64;
    DLTensor described = {.shape = shape};
    assert_ok(ndr_problem_result(problem, i, &described));
    assert_ok(ndr_dtype_from_dlpack(described.dtype, &dtype));
    array_make(&made->results[i], dtype, described.ndim, shape, NULL);
  }
}

static void free_results(outcome *made) {
  for (int i = 0; i < made->count; i++) array_free(&made->results[i]);
}

/* False where the family cannot run the problem. */
static bool run(const setting *s, const char *family, int threads, outcome *made) {
  const void *data[MOST_ARRAYS];
  void *results[NDR_MAX_OPS];
  ndr_plan *plan;
  ndr_options options = NDR_OPTIONS_INIT;
  options.force_family = family;
  options.threads = threads;
  if (ndr_plan_create(&plan, &s->problem, (DLDevice){kDLCPU, 0}, NULL, &options) != NDR_OK) return false;
  make_results(&s->problem, made);
  for (int a = 0; a < s->array_count; a++) data[a] = (const char *)s->arrays[a].tensor.data;
  for (int i = 0; i < made->count; i++) results[i] = made->results[i].memory;
  assert_ok(ndr_plan_execute_operands(plan, data, results, NULL, 0, NULL));
  ndr_plan_destroy(plan);
  return true;
}

/* ---- comparing ---- */

static bool is_narrow(ndr_dtype dtype) {
  return dtype == NDR_F16 || dtype == NDR_BF16 || dtype == NDR_F32 || dtype == NDR_C64;
}

static double result_rounding(ndr_dtype dtype) {
  switch (dtype) {
  case NDR_F16: return 0x1p-10;
  case NDR_BF16: return 0x1p-7;
  case NDR_F32:
  case NDR_C64: return 0x1p-21;
  default: return 0x1p-40;
  }
}

/* How far values of a problem may be apart: every element's rounding, and that of the result. */
static long double bound(const setting *s, ndr_dtype result, long double expected) {
  bool narrow = false;
  for (int a = 0; a < s->array_count; a++) narrow = narrow || is_narrow(s->arrays[a].dtype);
  long double elements = 1;
  for (int d = 0; d < s->problem.dim_count; d++)
    elements *= s->problem.shape[(s->problem.dims[d] + s->problem.ndim) % s->problem.ndim];
  return (narrow ? 0x1p-18L : 0x1p-38L) * 256 * elements + 4 * result_rounding(result) * fabsl(expected);
}

static bool near(long double got, long double expected, long double bound) {
  return got == expected || (isnan(got) && isnan(expected)) || fabsl(got - expected) <= bound;
}

static bool compare(const setting *s, const outcome *got, const outcome *expected, bool exact, char *message) {
  for (int i = 0; i < got->count; i++) {
    ndr_op op = s->problem.ops[i];
    ndr_dtype dtype = got->results[i].dtype;
    bool small = s->how == FILL_SMALL && op < NDR_OP_COUNT;
    bool same = exact || is_integer(dtype) || (small && op_exact(op, s->problem.dtype, true));
    element *x = array_elements(&got->results[i].tensor), *y = array_elements(&expected->results[i].tensor);
    int64_t wrong = -1;
    for (int64_t j = 0; j < array_count(&got->results[i].tensor) && wrong < 0; j++)
      if (!near(x[j].re, y[j].re, same ? 0 : bound(s, dtype, y[j].re)) ||
          !near(x[j].im, y[j].im, same ? 0 : bound(s, dtype, y[j].im)))
        wrong = j;
    if (wrong >= 0)
      snprintf(message, 256, "output %lld of op %d is %.17Lg%+.17Lgi, not %.17Lg%+.17Lgi", (long long)wrong, i,
               x[wrong].re, x[wrong].im, y[wrong].re, y[wrong].im);
    free(x);
    free(y);
    if (wrong >= 0) return false;
  }
  return true;
}

/* Every family against the scalar one, and each with some number of threads against one thread, bit for bit. */
static void check(rng *random, const setting *s) {
  static const char *const families[] = {NULL, "rows", "runs", "tile"};
  char message[256];
  outcome expected, got, threaded;
  if (!run(s, "scalar", 1, &expected)) ck_abort_msg("%s: %s", case_text(&s->problem), ndr_last_error());
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    if (!run(s, families[f], 1, &got)) continue;
    ck_assert_msg(compare(s, &got, &expected, false, message), "%s, %s (seed %llu): %s", case_text(&s->problem),
                  families[f] ? families[f] : "default", (unsigned long long)test_seed(), message);
    ck_assert(run(s, families[f], (int)rng_between(random, 2, 8), &threaded));
    ck_assert_msg(compare(s, &threaded, &got, true, message), "%s, %s, threads (seed %llu): %s", case_text(&s->problem),
                  families[f] ? families[f] : "default", (unsigned long long)test_seed(), message);
    free_results(&got);
    free_results(&threaded);
  }
  free_results(&expected);
}

/* ---- masks and weights ---- */

static bool is_bounded(ndr_op op, const setting *s) {
  return s->how == FILL_SMALL || (op != NDR_PROD && op != NDR_LOGSUMEXP);
}

static void pick_ops(rng *random, setting *s, bool weighted) {
  static const ndr_op with_weights[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_STD, NDR_NORM2};
  s->problem.op_count = (int)rng_between(random, 1, 3);
  for (int i = 0; i < s->problem.op_count; i++) {
    ndr_op *op = &s->problem.ops[i];
    do *op = weighted ? with_weights[rng_between(random, 0, 4)] : (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
    while (!op_defined(*op, s->problem.dtype) || !is_bounded(*op, s));
    if (*op == NDR_PROD) array_fill(&s->arrays[0], random, FILL_UNIT);
  }
}

/* Elements that do not count become NaN, infinities or any bits. */
static void poison(rng *random, setting *s, int mask) {
  int64_t index[NDR_MAX_DIMS] = {0};
  const DLTensor *array = &s->arrays[0].tensor;
  for (int d = 0; d < array->ndim; d++)
    if (array->strides[d] == 0) return; /* an element may be that of several places */
  do {
    bool live = *(const uint8_t *)element_at(&s->arrays[mask].tensor, index);
    uint64_t bits[2] = {rng_next(random) | 0x7ff07f807f807c00u, rng_next(random)};
    if (!live) memcpy(element_at(array, index), bits, ndr_dtype_bytes(s->problem.dtype));
  } while (next_index(array->ndim, array->shape, index));
}

static void check_options(rng *random, ndr_dtype dtype) {
  setting s;
  start(random, &s, dtype);
  bool weighted = rng_once_in(random, 2), masked = !weighted || rng_once_in(random, 2);
  pick_ops(random, &s, weighted);
  if (masked) add_array(random, &s, NDR_WHERE, NDR_BOOL, rng_once_in(random, 4) ? FILL_SPARSE : FILL_WIDE);
  int mask = s.array_count - 1;
  if (weighted) {
    s.how = s.how == FILL_SMALL ? FILL_SMALL : FILL_WIDE;
    add_array(random, &s, NDR_WEIGHTS, rng_once_in(random, 2) ? NDR_F32 : NDR_F64, FILL_UNIT);
    for (size_t at = 0; at < s.arrays[s.array_count - 1].bytes;
         at += ndr_dtype_bytes(s.arrays[s.array_count - 1].dtype)) {
      char *weight = (char *)s.arrays[s.array_count - 1].memory + at;
      element_store(s.arrays[s.array_count - 1].dtype, weight, (element){rng_between(random, 1, 5), 0});
    }
    s.problem.weighting = rng_once_in(random, 2) ? NDR_RELIABILITY : NDR_FREQUENCY;
  }
  if (masked && rng_once_in(random, 2)) poison(random, &s, mask);
  check(random, &s);
  finish(&s);
}

/* ---- operators of one's own ---- */

static bool add_own(rng *random, setting *s, const char *text) {
  double values[3] = {rng_once_in(random, 2) ? 0.5 : 2, 1, -2};
  assert_ok(ndr_operator_create(&s->own, text, NULL, 0));
  int parameters = ndr_operator_parameters(s->own);
  if (parameters) {
    ndr_op bound;
    assert_ok(ndr_operator_bind(&bound, s->own, values, parameters));
    ndr_operator_destroy(s->own);
    s->own = bound;
  }
  for (int a = 1; a < ndr_operator_arrays(s->own); a++) {
    ndr_dtype dtype =
        rng_once_in(random, 2) ? s->problem.dtype : (ndr_dtype)rng_between(random, 0, NDR_DTYPE_COUNT - 1);
    add_array(random, s, NDR_WITH, dtype, s->how);
  }
  s->problem.ops[0] = s->own;
  return true;
}

static void check_text(rng *random, ndr_dtype dtype, const char *text) {
  setting s;
  outcome tried;
  start(random, &s, dtype);
  s.how = FILL_SMALL;
  array_fill(&s.arrays[0], random, s.how);
  add_own(random, &s, text);
  if (rng_once_in(random, 3)) add_array(random, &s, NDR_WHERE, NDR_BOOL, FILL_WIDE);
  if (rng_once_in(random, 3)) s.problem.ops[s.problem.op_count++] = NDR_COUNT;
  if (run(&s, "scalar", 1, &tried)) { /* else the operator is not defined for these dtypes */
    free_results(&tried);
    check(random, &s);
  }
  finish(&s);
}

static void check_own(rng *random, ndr_dtype dtype) {
  check_text(random, dtype, texts[rng_between(random, 0, TEXTS - 1)]);
}

/* Folds that have kernels of their own. */
static void check_fused(rng *random, ndr_dtype dtype) {
  static const char *const fused[] = {
      "order(x, y; t): a += x < t, b += x <= y, c += x > t, d += t <= x -> a + 3 * b + 5 * c + 7 * d",
      "alike(x, y; t): a += x == y, b += x != t, c += y == t, n += 1 -> a - b + c * n",
      "apart(x, y; t): s += (x - y)**2, u += (t - x)**2, v += (y - t)**2 -> s + 2 * u - v",
      "product(x, y): s += x * y, t += x * x -> s + t",
  };
  if (dtype != NDR_F32 && dtype != NDR_F64) return;
  for (size_t i = 0; i < sizeof fused / sizeof *fused; i++) check_text(random, dtype, fused[i]);
}

/* ---- the same bits as built-in operators ---- */

static void check_same(rng *random, ndr_dtype dtype, const char *text, ndr_op op) {
  setting own, built_in;
  outcome a = {0}, b = {0};
  if (!op_defined(op, dtype)) return;
  start(random, &own, dtype);
  if (op == NDR_PROD) array_fill(&own.arrays[0], random, FILL_UNIT);
  own.problem.op_count = 1;
  own.problem.skip_nan = 0;
  built_in = own;
  built_in.problem.ops[0] = op;
  add_own(random, &own, text);
  ck_assert(run(&built_in, NULL, 1, &a));
  if (run(&own, NULL, 2, &b)) {
    ck_assert(a.results[0].memory && b.results[0].memory);
    for (int64_t j = 0; j < array_count(&a.results[0].tensor); j++) {
      size_t x = ndr_dtype_bytes(a.results[0].dtype), y = ndr_dtype_bytes(b.results[0].dtype);
      if (x != y) break; /* halves are computed as f32 */
      ck_assert_msg(
          memcmp((char *)a.results[0].memory + (size_t)j * x, (char *)b.results[0].memory + (size_t)j * x, x) == 0,
          "%s: output %lld differs from %s", case_text(&own.problem), (long long)j, ndr_op_name(op));
    }
    free_results(&b);
  }
  free_results(&a);
  finish(&own);
}

/* ---- weights ---- */

/* A weight for each row has the bits of the same weights for each element, also where NaN are left out. */
static void check_weights_of_rows(rng *random, ndr_dtype dtype) {
  if (dtype != NDR_F32 && dtype != NDR_F64) return;
  setting s = {.array_count = 1, .how = FILL_UNIT};
  int64_t rows = rng_between(random, 1, 70), lanes = rng_between(random, 1, 150);
  ndr_dtype wide = rng_once_in(random, 2) ? NDR_F64 : dtype;
  int64_t bytes = (int64_t)ndr_dtype_bytes(dtype), weight_bytes = (int64_t)ndr_dtype_bytes(wide);
  char text[128], message[256];
  s.problem = (ndr_problem)NDR_PROBLEM_INIT;
  snprintf(text, sizeof text, "sum,mean,std,var,norm2 %s [%lld,%lld] /0 weighting=%s%s", ndr_dtype_name(dtype),
           (long long)rows, (long long)lanes, rng_once_in(random, 2) ? "reliability" : "frequency",
           rng_once_in(random, 2) ? " skipnan" : "");
  assert_ok(ndr_problem_parse(text, &s.problem));
  array_of_case(&s.arrays[0], &s.problem);
  array_fill(&s.arrays[0], random, s.how);
  for (int64_t i = rng_between(random, 0, 300); i < rows * lanes; i += rng_between(random, 1, 300))
    element_store(dtype, (char *)s.arrays[0].memory + i * bytes, (element){(long double)NAN, 0});
  test_array *weights = &s.arrays[s.array_count++];
  array_make(weights, wide, 2, s.problem.shape, NULL);
  for (int64_t i = 0; i < rows * lanes; i++) {
    char *at = (char *)weights->memory + i * weight_bytes;
    if (i % lanes == 0)
      element_store(wide, at, (element){(long double)rng_between(random, 1, 1000) / 7, 0});
    else
      memcpy(at, at - weight_bytes, (size_t)weight_bytes);
  }
  assert_ok(ndr_problem_add_operand(&s.problem, NDR_WEIGHTS, &weights->tensor));
  outcome each, shared;
  ck_assert(run(&s, NULL, 1, &each));
  s.problem.operands[0].strides[0] = lanes;
  s.problem.operands[0].strides[1] = 0;
  ck_assert(run(&s, NULL, 1, &shared));
  ck_assert_msg(compare(&s, &shared, &each, true, message), "%s: %s", case_text(&s.problem), message);
  free_results(&each);
  free_results(&shared);
  finish(&s);
}

/* ---- polynomials ---- */

/* Horner's rule with each product and each sum rounded to the dtype. */
static double value_by_steps(ndr_dtype dtype, const double *c, int count, double x) {
  volatile double value = c[count - 1];
  volatile float narrow = (float)value;
  for (int k = count - 2; k >= 0; k--) {
    if (dtype == NDR_F32) {
      narrow = narrow * (float)x;
      narrow = narrow + (float)c[k];
    } else {
      value = value * x;
      value = value + c[k];
    }
  }
  return dtype == NDR_F32 ? (double)narrow : value;
}

/* Each output is the polynomial of one element, with `count` coefficients. The steps are one instruction or several;
 * `written` are written out by hand. */
static void check_polynomial(rng *random, ndr_dtype dtype, int count, bool written) {
  enum { ELEMENTS = 1100 };
  double c[24];
  char text[1024], *end = text;
  setting s = {.array_count = 1, .how = FILL_SMALL};
  outcome made;
  s.problem = (ndr_problem)NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(dtype == NDR_F32 ? "sum f32 [1100,1] /1" : "sum f64 [1100,1] /1", &s.problem));
  array_of_case(&s.arrays[0], &s.problem);
  array_fill(&s.arrays[0], random, FILL_UNIT);
  for (int k = 0; k < count; k++) c[k] = (double)rng_between(random, -8, 8) / 7;
  end += sprintf(end, "p(x; c[%d]): s += ", count);
  for (int k = 0; written && k < count - 1; k++) end += sprintf(end, k % 2 ? "(c[%d] + x * " : "(x * ", k);
  if (written) end += sprintf(end, "c[%d]", count - 1);
  for (int k = count - 2; written && k >= 0; k--) end += k % 2 ? sprintf(end, ")") : sprintf(end, " + c[%d])", k);
  sprintf(end, written ? " -> s" : "poly(x, c) -> s");
  ndr_op bare;
  assert_ok(ndr_operator_create(&bare, text, NULL, 0));
  assert_ok(ndr_operator_bind(&s.own, bare, c, count));
  ndr_operator_destroy(bare);
  s.problem.ops[0] = s.own;
  ck_assert(run(&s, NULL, 1, &made));
  element *x = array_elements(&s.arrays[0].tensor), *got = array_elements(&made.results[0].tensor);
  for (int i = 0; i < ELEMENTS; i++) {
    double expected = value_by_steps(dtype, c, count, (double)x[i].re);
    ck_assert_msg((double)got[i].re == expected, "%s, x = %.17g: %.17g, not %.17g", text, (double)x[i].re,
                  (double)got[i].re, expected);
  }
  free(x);
  free(got);
  free_results(&made);
  finish(&s);
}

static void check_polynomials(rng *random, ndr_dtype dtype) {
  if (dtype != NDR_F32 && dtype != NDR_F64) return;
  for (int count = 2; count <= 20; count++) {
    check_polynomial(random, dtype, count, false);
    check_polynomial(random, dtype, count, true);
  }
}

/* ---- the tests ---- */

static void check_all(const char *isa, void (*check_one)(rng *, ndr_dtype)) {
  rng random = {test_seed()};
  setenv("NDR_CPU_ISA", isa, 1);
  for (int i = test_case_count(12); i > 0; i--)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) check_one(&random, (ndr_dtype)dtype);
}

START_TEST(options_baseline) {
  check_all("baseline", check_options);
}
END_TEST

START_TEST(options_avx2) {
  check_all("avx2", check_options);
}
END_TEST

START_TEST(options_avx512) {
  check_all("avx512", check_options);
}
END_TEST

START_TEST(own_baseline) {
  check_all("baseline", check_own);
}
END_TEST

START_TEST(own_avx2) {
  check_all("avx2", check_own);
}
END_TEST

START_TEST(own_avx512) {
  check_all("avx512", check_own);
}
END_TEST

START_TEST(fused_baseline) {
  check_all("baseline", check_fused);
}
END_TEST

START_TEST(fused_avx2) {
  check_all("avx2", check_fused);
}
END_TEST

START_TEST(fused_avx512) {
  check_all("avx512", check_fused);
}
END_TEST

static void check_many_weights_of_rows(rng *random, ndr_dtype dtype) {
  for (int i = 0; i < 20; i++) check_weights_of_rows(random, dtype);
}

START_TEST(weights_of_rows_baseline) {
  check_all("baseline", check_many_weights_of_rows);
}
END_TEST

START_TEST(weights_of_rows_avx2) {
  check_all("avx2", check_many_weights_of_rows);
}
END_TEST

START_TEST(weights_of_rows_avx512) {
  check_all("avx512", check_many_weights_of_rows);
}
END_TEST

START_TEST(polynomials_baseline) {
  check_all("baseline", check_polynomials);
}
END_TEST

START_TEST(polynomials_avx2) {
  check_all("avx2", check_polynomials);
}
END_TEST

START_TEST(polynomials_avx512) {
  check_all("avx512", check_polynomials);
}
END_TEST

static void check_bits(rng *random, ndr_dtype dtype) {
  check_same(random, dtype, "f(x): s += x -> s", NDR_SUM);
  check_same(random, dtype, "f(x): s *= x -> s", NDR_PROD);
  check_same(random, dtype, "f(x): s max= x -> s", NDR_MAX);
  check_same(random, dtype, "f(x): s min= x -> s", NDR_MIN);
  check_same(random, dtype, "f(x): s &= x -> s", NDR_ALL);
  check_same(random, dtype, "f(x): s |= x -> s", NDR_ANY);
}

START_TEST(updates_have_the_bits_of_built_in_operators) {
  check_all("", check_bits);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu programs");
  suite_case(suite, "options", 300, options_baseline, options_avx2, options_avx512, NULL);
  suite_case(suite, "own operators", 300, own_baseline, own_avx2, own_avx512, NULL);
  suite_case(suite, "fused", 300, fused_baseline, fused_avx2, fused_avx512, NULL);
  suite_case(suite, "weights of rows", 300, weights_of_rows_baseline, weights_of_rows_avx2, weights_of_rows_avx512,
             NULL);
  suite_case(suite, "polynomials", 300, polynomials_baseline, polynomials_avx2, polynomials_avx512, NULL);
  suite_case(suite, "bits", 300, updates_have_the_bits_of_built_in_operators, NULL);
  return suite_run(suite);
}
