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
#include "support/setting.h"
#include "support/suite.h"

enum { MOST = 6000 };

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
    "wide(x, y): s += f64(x) * y, q += f64(x) * x -> s + q",
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
  if (!setting_run(s, "scalar", 1, &expected)) ck_abort_msg("%s: %s", case_text(&s->problem), ndr_last_error());
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    if (!setting_run(s, families[f], 1, &got)) continue;
    ck_assert_msg(compare(s, &got, &expected, false, message), "%s, %s (seed %llu): %s", case_text(&s->problem),
                  families[f] ? families[f] : "default", (unsigned long long)test_seed(), message);
    ck_assert(setting_run(s, families[f], (int)rng_between(random, 2, 8), &threaded));
    ck_assert_msg(compare(s, &threaded, &got, true, message), "%s, %s, threads (seed %llu): %s", case_text(&s->problem),
                  families[f] ? families[f] : "default", (unsigned long long)test_seed(), message);
    outcome_free(&got);
    outcome_free(&threaded);
  }
  outcome_free(&expected);
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
  setting_free(&s);
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
  if (setting_run(&s, "scalar", 1, &tried)) { /* else the operator is not defined for these dtypes */
    outcome_free(&tried);
    check(random, &s);
  }
  setting_free(&s);
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
  ck_assert(setting_run(&built_in, NULL, 1, &a));
  if (setting_run(&own, NULL, 2, &b)) {
    ck_assert(a.results[0].memory && b.results[0].memory);
    for (int64_t j = 0; j < array_count(&a.results[0].tensor); j++) {
      size_t x = ndr_dtype_bytes(a.results[0].dtype), y = ndr_dtype_bytes(b.results[0].dtype);
      if (x != y) break; /* halves are computed as f32 */
      ck_assert_msg(
          memcmp((char *)a.results[0].memory + (size_t)j * x, (char *)b.results[0].memory + (size_t)j * x, x) == 0,
          "%s: output %lld differs from %s", case_text(&own.problem), (long long)j, ndr_op_name(op));
    }
    outcome_free(&b);
  }
  outcome_free(&a);
  setting_free(&own);
}

/* ---- the tests ---- */

TESTS_OF_ISAS(options, check_options)

TESTS_OF_ISAS(own, check_own)

TESTS_OF_ISAS(fused, check_fused)

static void check_bits(rng *random, ndr_dtype dtype) {
  check_same(random, dtype, "f(x): s += x -> s", NDR_SUM);
  check_same(random, dtype, "f(x): s *= x -> s", NDR_PROD);
  check_same(random, dtype, "f(x): s max= x -> s", NDR_MAX);
  check_same(random, dtype, "f(x): s min= x -> s", NDR_MIN);
  check_same(random, dtype, "f(x): s &= x -> s", NDR_ALL);
  check_same(random, dtype, "f(x): s |= x -> s", NDR_ANY);
}

START_TEST(updates_have_the_bits_of_built_in_operators) {
  check_with_isa("", check_bits);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu programs");
  suite_case(suite, "options", 300, NAMES_OF_ISAS(options), NULL);
  suite_case(suite, "own operators", 300, NAMES_OF_ISAS(own), NULL);
  suite_case(suite, "fused", 300, NAMES_OF_ISAS(fused), NULL);
  suite_case(suite, "bits", 300, updates_have_the_bits_of_built_in_operators, NULL);
  return suite_run(suite);
}
