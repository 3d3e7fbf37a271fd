/* See operators.h. */
#include "operators.h"

#include <math.h>
#include <stdio.h>

#include "cases.h"

static const double numbers[] = {0.5, -1, 0.25, 2};

static const struct {
  const char *text;
  int values;
} texts[] = {
    {"a(x): s += x -> s", 0},
    {"a(x): s += x * x, n += 1 -> sqrt(s / n)", 0},
    {"a(x; t): n += x > t -> n", 1},
    {"a(x; c[3]): s += poly(x, c) -> s", 3},
    {"a(x): a += x > 0 ? x : 0, m max= x -> m > 0 ? a / m : 0", 0},
    {"a(x): lo min= x, hi max= x, s += x -> hi - lo + s", 0},
    {"a(x): s += exp(-x / 4) -> log(s)", 0},
    {"a(x): p *= x > 0 ? 3 : -1 -> p", 0},
    {"a(x): q &= x == x, r |= x > 6 -> q && !r", 0},
    {"a(x; e): s += abs(x) ** e -> s / n", 1},
    {"a(x): s += real(x) * imag(x), t += abs(x) -> s / t", 0},
    {"a(x): s += x * conj(x) / (x + 20) -> s", 0},
    {"a(x): s += sin(x) + cos(x) + floor(x / 3) -> s", 0},
    {"a(x): s += isnan(x) || x < -2 -> s", 0},
    {"a(x): s += x / 3, m max= -x -> s - m", 0},
    {"a(x): q += f64(x) ** 2, s += x -> q - s * s / n", 0},
    {"a(x): s += min(x, 3) * max(x, -3) -> s", 0},
    {"a(x; a, b, c, d): s += a * x + b, t += c * x + d -> s - t", 4},
    {"a(x): n += 1 -> n", 0},
};

static const char *const pairs[] = {
    "a(x, y): s += (x - y) ** 2, n += 1 -> sqrt(s / n)",
    "a(x, y): s += x * y -> s",
    "a(x, y): s += f64(x) * y - x -> s",
    "a(x, y): s += y > 0 ? x : 0, m max= y -> m > 0 ? s / m : s",
    "a(x, y): n += x > y -> n",
    "a(x, y): s += y - index(0) -> s / n",
};

int test_operator_count(void) {
  return (int)(sizeof texts / sizeof *texts);
}

ndr_status test_operator(int number, ndr_op *op) {
  return ndr_operator_create(op, texts[number].text, texts[number].values ? numbers : NULL, texts[number].values);
}

ndr_op random_operator_of_two(rng *random, ndr_dtype dtype, ndr_dtype other) {
  static int64_t one = 1, shape[NDR_MAX_DIMS];
  DLTensor array = ndr_tensor(NULL, dtype, 1, &one), second = ndr_tensor(NULL, other, 1, &one),
           result = {.shape = shape};
  const DLTensor *const with[] = {&second};
  for (;;) {
    ndr_op op;
    int number = (int)rng_between(random, 0, (int)(sizeof pairs / sizeof *pairs) - 1);
    if (ndr_operator_create(&op, pairs[number], NULL, 0) != NDR_OK) continue;
    if (ndr_result_describe(&array, NDR_ALL_DIMS, op, NDR_OPTIONS(.with = with, .with_count = 1), &result) == NDR_OK)
      return op;
    ndr_operator_destroy(op);
  }
}

/* Whether the operator has a result for the dtype. */
static bool is_defined(ndr_op op, ndr_dtype dtype) {
  int64_t shape[NDR_MAX_DIMS], one = 1;
  DLTensor array = ndr_tensor(NULL, dtype, 1, &one), result = {.shape = shape};
  return ndr_result_describe(&array, NDR_ALL_DIMS, op, NULL, &result) == NDR_OK;
}

ndr_op random_operator(rng *random, ndr_dtype dtype, int own) {
  ndr_op op = NDR_SUM;
  if (!rng_once_in(random, own)) {
    do op = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
    while (!op_defined(op, dtype) || !op_has_empty(op) || op == NDR_PROD); /* products overflow in one order only */
    return op;
  }
  for (;;) {
    if (test_operator((int)rng_between(random, 0, test_operator_count() - 1), &op) != NDR_OK) continue;
    if (is_defined(op, dtype)) return op;
    ndr_operator_destroy(op);
  }
}

ndr_options options_of_operator(const ndr_options *options, ndr_op op) {
  ndr_options own = *options;
  if (ndr_operator_arrays(op) == 1) own.with_count = 0, own.with = NULL;
  return own;
}

static bool close_parts(long double a, long double b, long double error) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return a == b;
  return fabsl(a - b) <= error * (1 + fabsl(a) + fabsl(b));
}

bool results_agree(const DLTensor *a, const DLTensor *b, double loose, char *text, size_t capacity) {
  ndr_dtype dtype = NDR_F64;
  int64_t index[NDR_MAX_DIMS] = {0};
  (void)ndr_dtype_from_dlpack(a->dtype, &dtype);
  /* Values are computed in f32 at least. */
  long double error = is_integer(dtype) ? 0 : loose * fmaxl(2 * rounding_of(dtype), 0x1p-22L);
  if (array_count(a) == 0) return true;
  do {
    element x = array_get(a, index), y = array_get(b, index);
    if (close_parts(x.re, y.re, error) && close_parts(x.im, y.im, error)) continue;
    snprintf(text, capacity, "%.17Lg%+.17Lgi against %.17Lg%+.17Lgi, output %lld ...", x.re, x.im, y.re, y.im,
             (long long)index[0]);
    return false;
  } while (next_index(a->ndim, a->shape, index));
  return true;
}
