#include "oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Additions that one element's value goes through in a blockwise sum of n: a block of at most 256, and the tree above.
 */
static long double growth(int64_t n) {
  return n <= 256 ? (long double)n : 256 + log2l((long double)n);
}

static ndr_dtype accumulator_of(const ndr_problem *problem) {
  bool wide = problem->accumulate == NDR_ACCUMULATE_F64 || is_integer(problem->dtype) || problem->dtype == NDR_C128;
  return wide || problem->dtype == NDR_F64 ? NDR_F64 : NDR_F32;
}

static answer exactly(long double value) {
  return (answer){{value, 0}, {value, 0}, false};
}

static answer within(long double value, long double bound) {
  return isnan(value) || isinf(value) ? exactly(value) : (answer){{value - bound, 0}, {value + bound, 0}, false};
}

static answer square_root(answer squared) {
  squared.low.re = sqrtl(squared.low.re < 0 ? 0 : squared.low.re);
  squared.high.re = sqrtl(squared.high.re);
  return squared;
}

static long double magnitude(element x) {
  return x.im == 0 ? fabsl(x.re) : hypotl(x.re, x.im);
}

/* Neumaier (1974): the rounding errors of the sum are summed beside it. */
typedef struct exact_sum {
  long double sum, correction, magnitude;
} exact_sum;

static void add(exact_sum *total, long double x) {
  long double next = total->sum + x;
  if (isfinite(next)) {
    bool larger = fabsl(total->sum) >= fabsl(x);
    total->correction += larger ? (total->sum - next) + x : (x - next) + total->sum;
  }
  total->sum = next;
  total->magnitude += fabsl(x);
}

static long double total_of(const exact_sum *total) {
  return total->sum + total->correction;
}

static answer sum_of(const ndr_problem *problem, const element *x, int64_t n, long double divisor) {
  exact_sum re = {0}, im = {0};
  for (int64_t i = 0; i < n; i++) {
    add(&re, x[i].re);
    add(&im, x[i].im);
  }
  long double relative = (growth(n) + 2) * rounding_of(accumulator_of(problem)) / divisor;
  answer sum = within(total_of(&re) / divisor, re.magnitude * relative);
  answer imaginary = within(total_of(&im) / divisor, im.magnitude * relative);
  if (is_complex(problem->dtype)) {
    sum.low.im = imaginary.low.re;
    sum.high.im = imaginary.high.re;
  }
  return sum;
}

/* Two's complement wraps around the same way for both signs. */
static uint64_t bits_of(ndr_dtype dtype, element x) {
  return is_signed(dtype) ? (uint64_t)(int64_t)x.re : (uint64_t)x.re;
}

static answer wrapped(ndr_dtype dtype, uint64_t bits) {
  return exactly(is_signed(dtype) ? (long double)(int64_t)bits : (long double)bits);
}

static answer integer_sum(const ndr_problem *problem, const element *x, int64_t n) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += bits_of(problem->dtype, x[i]);
  return wrapped(problem->dtype, sum);
}

static answer product_of(const ndr_problem *problem, const element *x, int64_t n) {
  uint64_t bits = 1;
  element p = {1, 0};
  long double size = 1;
  bool finite = true;
  for (int64_t i = 0; i < n; i++) {
    if (is_integer(problem->dtype)) bits *= bits_of(problem->dtype, x[i]);
    p = is_complex(problem->dtype) ? (element){p.re * x[i].re - p.im * x[i].im, p.re * x[i].im + p.im * x[i].re}
                                   : (element){p.re * x[i].re, 0};
    size *= magnitude(x[i]);
    finite = finite && isfinite(x[i].re) && isfinite(x[i].im);
  }
  if (is_integer(problem->dtype)) return wrapped(problem->dtype, bits);
  /* Each multiplication adds a relative error (a complex one up to 3), wherever in the tree it stands. */
  long double bound = 3 * ((long double)n + 1) * rounding_of(accumulator_of(problem)) * size;
  answer re = within(p.re, bound), im = is_complex(problem->dtype) ? within(p.im, bound) : exactly(0);
  return (answer){{re.low.re, im.low.re}, {re.high.re, im.high.re}, is_complex(problem->dtype) && !finite};
}

static int64_t extreme_index(const element *x, int64_t n, bool smallest) {
  int64_t best = n > 0 ? 0 : -1;
  for (int64_t i = 1; i < n && !isnan(x[best].re); i++)
    if (isnan(x[i].re) || (smallest ? x[i].re < x[best].re : x[i].re > x[best].re)) best = i;
  return best;
}

static answer norm_inf(const element *x, int64_t n, long double relative) {
  long double largest = 0;
  for (int64_t i = 0; i < n && !isnan(largest); i++)
    if (isnan(magnitude(x[i])) || magnitude(x[i]) > largest) largest = magnitude(x[i]);
  return within(largest, largest * relative);
}

static answer norm_sum(const ndr_problem *problem, const element *x, int64_t n, int power) {
  exact_sum sum = {0};
  for (int64_t i = 0; i < n; i++) {
    long double size = magnitude(x[i]);
    add(&sum, power == 2 ? size * size : size);
  }
  return within(total_of(&sum), sum.magnitude * (growth(n) + 4) * rounding_of(accumulator_of(problem)));
}

/* The spread of stable one-pass and two-pass algorithms grows with the condition number sqrt(1 + mean^2 / variance)
 * (Chan, Golub and LeVeque, 1983). Where parts of single elements are joined, each of few joins rounds up to eight
 * times.
 */
static answer variance_of(const ndr_problem *problem, const element *x, int64_t n) {
  exact_sum re = {0}, im = {0}, spread = {0};
  for (int64_t i = 0; i < n; i++) {
    add(&re, x[i].re);
    add(&im, x[i].im);
  }
  long double count = (long double)n, mean_re = total_of(&re) / count, mean_im = total_of(&im) / count;
  for (int64_t i = 0; i < n; i++)
    add(&spread, (x[i].re - mean_re) * (x[i].re - mean_re) + (x[i].im - mean_im) * (x[i].im - mean_im));
  long double divisor = fmaxl(count - (long double)problem->ddof, 0);
  long double m2 = total_of(&spread), mean = hypotl(mean_re, mean_im);
  long double relative = 2 * (growth(n) + 8) * rounding_of(accumulator_of(problem));
  long double bound = relative * (m2 + mean * sqrtl(m2 * count) + relative * mean * mean * count);
  answer variance = within(m2 / divisor, bound / divisor);
  variance.open = n > 1 && divisor == 0 && m2 <= bound;
  return n == 0 ? exactly(NAN) : variance;
}

static answer log_sum_exp(const ndr_problem *problem, const element *x, int64_t n) {
  int64_t top = extreme_index(x, n, false);
  if (top < 0) return exactly(-INFINITY);
  long double max = x[top].re;
  if (isnan(max) || isinf(max)) return exactly(max);
  exact_sum sum = {0};
  for (int64_t i = 0; i < n; i++) add(&sum, expl(x[i].re - max));
  long double value = max + logl(total_of(&sum));
  /* x - max is off by a rounding of its size, which exp turns into a relative error; the terms that matter are
   * those with max - x below log n or so. exp and log themselves may be off by a few units. */
  long double units = growth(n) + logl((long double)n) + 8 + 2 * fabsl(max) + 2 * fabsl(value);
  return within(value, units * rounding_of(accumulator_of(problem)));
}

static int64_t count_nonzero(const element *x, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) count += x[i].re != 0 || x[i].im != 0;
  return count;
}

static int64_t count_valid(const element *x, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) count += !isnan(x[i].re) && !isnan(x[i].im);
  return count;
}

/* Leaves the NaN elements out; where[] remembers the flattened index of those that stay. */
static int64_t drop_nan(const ndr_problem *problem, const element *x, int64_t count, element *left, int64_t *where) {
  int64_t n = 0;
  for (int64_t i = 0; i < count; i++) {
    if (problem->skip_nan && (isnan(x[i].re) || isnan(x[i].im))) continue;
    left[n] = x[i];
    where[n++] = i;
  }
  return n;
}

static answer extreme_of(ndr_op op, const element *x, const int64_t *where, int64_t n) {
  int64_t at = extreme_index(x, n, op == NDR_MIN || op == NDR_ARGMIN);
  if (op == NDR_MIN || op == NDR_MAX) return exactly(at < 0 ? (long double)NAN : x[at].re);
  return exactly(at < 0 ? -1 : (long double)where[at]);
}

/* Of integers modulo 2 to the number of their bits; the difference of floats is rounded once. */
static answer range_of_values(const ndr_problem *problem, const element *x, int64_t n) {
  int64_t low = extreme_index(x, n, true), high = extreme_index(x, n, false);
  if (low < 0) return exactly((long double)NAN);
  long double difference = x[high].re - x[low].re;
  long double bits = 8 * (long double)ndr_dtype_bytes(problem->dtype);
  if (is_integer(problem->dtype) && is_signed(problem->dtype) && difference >= exp2l(bits - 1))
    difference -= exp2l(bits);
  return exactly(difference);
}

static answer fold_present(const ndr_problem *problem, ndr_op op, const element *x, const int64_t *where, int64_t n) {
  long double unit = rounding_of(accumulator_of(problem));
  switch (op) {
  case NDR_SUM: return is_integer(problem->dtype) ? integer_sum(problem, x, n) : sum_of(problem, x, n, 1);
  case NDR_PROD: return product_of(problem, x, n);
  case NDR_MIN:
  case NDR_MAX:
  case NDR_ARGMIN:
  case NDR_ARGMAX: return extreme_of(op, x, where, n);
  case NDR_PTP: return range_of_values(problem, x, n);
  case NDR_MEAN: return sum_of(problem, x, n, (long double)n);
  case NDR_VAR: return variance_of(problem, x, n);
  case NDR_STD: return square_root(variance_of(problem, x, n));
  case NDR_NORM1: return norm_sum(problem, x, n, 1);
  case NDR_NORM2: return square_root(norm_sum(problem, x, n, 2));
  case NDR_NORMINF: return norm_inf(x, n, is_complex(problem->dtype) ? 4 * unit : 0);
  case NDR_LOGSUMEXP: return log_sum_exp(problem, x, n);
  case NDR_ANY: return exactly(count_nonzero(x, n) > 0);
  case NDR_ALL: return exactly(count_nonzero(x, n) == n);
  case NDR_COUNT: return exactly((long double)count_nonzero(x, n));
  case NDR_VALID: break;
  }
  return exactly((long double)count_valid(x, n));
}

answer oracle_fold(const ndr_problem *problem, ndr_op op, const element *x, int64_t count) {
  element *left = calloc((size_t)count + 1, sizeof *left);
  int64_t *where = calloc((size_t)count + 1, sizeof *where);
  if (!left || !where) abort();
  int64_t n = drop_nan(problem, x, count, left, where);
  answer folded = fold_present(problem, op, left, where, n);
  free(left);
  free(where);
  return folded;
}

/* The array with the kept dims in front and the reduced ones behind, so that row-major order gathers each output. */
static void kept_first(const ndr_problem *problem, const DLTensor *array, DLTensor *view, int64_t *shape,
                       int64_t *strides, int64_t *outputs) {
  bool reduced[NDR_MAX_DIMS] = {false};
  int at = 0;
  for (int i = 0; i < problem->dim_count; i++)
    reduced[problem->dims[i] < 0 ? problem->dims[i] + problem->ndim : problem->dims[i]] = true;
  *outputs = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int d = 0; d < array->ndim; d++) {
      if (reduced[d] != pass) continue;
      shape[at] = array->shape[d];
      strides[at++] = array->strides ? array->strides[d] : problem->strides[d];
      if (!pass) *outputs *= array->shape[d];
    }
  }
  *view = *array;
  view->shape = shape;
  view->strides = strides;
}

answer *oracle_reduce(const ndr_problem *problem, ndr_op op, const DLTensor *array, int64_t *outputs) {
  DLTensor view;
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  kept_first(problem, array, &view, shape, strides, outputs);
  element *values = array_elements(&view);
  int64_t length = *outputs ? array_count(&view) / *outputs : 0;
  answer *answers = malloc(((size_t)*outputs + 1) * sizeof *answers);
  if (!answers) abort();
  for (int64_t j = 0; j < *outputs; j++) answers[j] = oracle_fold(problem, op, values + j * length, length);
  free(values);
  return answers;
}

static bool part_accepts(long double low, long double high, ndr_dtype dtype, long double got) {
  if (isnan(low)) return isnan(got);
  if (is_integer(dtype)) return low <= got && got <= high;
  return round_to(format_of(dtype), low) <= got && got <= round_to(format_of(dtype), high);
}

bool answer_accepts(const answer *expected, ndr_dtype dtype, element got) {
  return expected->open || (part_accepts(expected->low.re, expected->high.re, dtype, got.re) &&
                            part_accepts(expected->low.im, expected->high.im, dtype, got.im));
}

bool oracle_accepts(const ndr_problem *problem, ndr_op op, const DLTensor *array, const DLTensor *result, char *text,
                    size_t capacity) {
  int64_t outputs;
  ndr_dtype dtype = NDR_BOOL;
  answer *answers = oracle_reduce(problem, op, array, &outputs);
  element *got = array_elements(result);
  bool accepted = ndr_dtype_from_dlpack(result->dtype, &dtype) == NDR_OK && array_count(result) == outputs;
  if (!accepted) snprintf(text, capacity, "%s: the result has the wrong size or dtype", ndr_op_name(op));
  for (int64_t j = 0; accepted && j < outputs; j++) {
    accepted = answer_accepts(&answers[j], dtype, got[j]);
    if (!accepted)
      snprintf(text, capacity, "%s: output %lld of %lld is %.20Lg%+.20Lgi, must be in %.20Lg..%.20Lg, %.20Lg..%.20Lgi",
               ndr_op_name(op), (long long)j, (long long)outputs, got[j].re, got[j].im, answers[j].low.re,
               answers[j].high.re, answers[j].low.im, answers[j].high.im);
  }
  free(answers);
  free(got);
  return accepted;
}
