#include "scans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static const ndr_op scanned[] = {NDR_SUM, NDR_PROD, NDR_MIN, NDR_MAX, NDR_LOGSUMEXP, NDR_ANY, NDR_ALL};

/* ---- cases ---- */

static int64_t random_size(rng *random, int64_t most) {
  static const int64_t edges[] = {1,   7,   8,   9,   15,  16,   17,   63,   64,   65,
                                  255, 256, 257, 511, 513, 1023, 4095, 4096, 4097, 8193};
  int64_t size = rng_once_in(random, 2) ? edges[rng_between(random, 0, (int)(sizeof edges / sizeof *edges) - 1)]
                                        : rng_between(random, rng_once_in(random, 12) ? 0 : 1, 6);
  return size < most ? size : most;
}

static void random_layout(ndr_problem *made, rng *random, int64_t most) {
  int order[NDR_MAX_DIMS];
  int64_t step = 1;
  made->ndim = (int)rng_between(random, 0, 4);
  for (int d = 0; d < made->ndim; d++) {
    made->shape[d] = random_size(random, most);
    most /= made->shape[d] > 0 ? made->shape[d] : 1;
    order[d] = made->ndim - 1 - d;
  }
  if (rng_once_in(random, 2)) rng_shuffle(random, made->ndim, order);
  for (int d = 0; d < made->ndim; d++) {
    if (rng_once_in(random, 5)) step *= rng_between(random, 2, 3);
    made->strides[order[d]] = rng_once_in(random, 12) ? 0 : rng_once_in(random, 5) ? -step : step;
    step *= made->shape[order[d]] > 0 ? made->shape[order[d]] : 1;
    if (rng_once_in(random, 6)) step += rng_between(random, 1, 40);
  }
}

static void random_options(scan_case *made, rng *random, ndr_dtype dtype) {
  int64_t kind = rng_between(random, 0, 4);
  made->options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
  made->options.exclusive = kind == 1;
  made->options.include_initial = kind == 2;
  made->options.reverse = rng_once_in(random, 3);
  made->options.skip_nan = rng_once_in(random, 3);
  made->options.threads = (int)rng_between(random, 0, 3);
  if (made->op <= NDR_MAX && rng_once_in(random, 4)) {
    made->initial =
        (double)(is_integer(dtype) && !is_signed(dtype) ? rng_between(random, 0, 1) : rng_between(random, -3, 3));
    made->options.initial = &made->initial;
  }
}

static void write_text(scan_case *made) {
  const test_array *array = &made->array;
  int at = snprintf(made->text, sizeof made->text, "%s %s [", ndr_op_name(made->op), ndr_dtype_name(array->dtype));
  for (int d = 0; d < array->tensor.ndim; d++)
    at += snprintf(made->text + at, sizeof made->text - (size_t)at, "%s%lld:%lld", d ? "," : "",
                   (long long)array->shape[d], (long long)array->strides[d]);
  at += snprintf(made->text + at, sizeof made->text - (size_t)at, "] along %d%s%s%s%s", made->dim,
                 made->options.exclusive ? " exclusive" : "", made->options.include_initial ? " include_initial" : "",
                 made->options.reverse ? " reverse" : "", made->options.skip_nan ? " skip_nan" : "");
  if (made->options.initial) snprintf(made->text + at, sizeof made->text - (size_t)at, " initial=%g", made->initial);
}

void scan_random(scan_case *made, rng *random, int64_t most) {
  ndr_problem layout = NDR_PROBLEM_INIT;
  do {
    made->op = scanned[rng_between(random, 0, 6)];
    layout.dtype = (ndr_dtype)rng_between(random, 0, NDR_DTYPE_COUNT - 1);
  } while (!op_defined(made->op, layout.dtype));
  random_layout(&layout, random, most);
  array_of_case(&made->array, &layout);
  array_fill(&made->array, random, random_filling(random, made->op));
  made->dim = layout.ndim == 0 || rng_once_in(random, 6) ? NDR_SCAN_ALL : (int)rng_between(random, 0, layout.ndim - 1);
  random_options(made, random, layout.dtype);
  write_text(made);
}

void scan_compact(scan_case *made, rng *random, const int64_t shape[3], int dim, const char *family) {
  const bool no_f64_sums = !strcmp(family, "bands") || !strcmp(family, "streams");
  ndr_dtype dtype;
  memset(made, 0, sizeof *made);
  made->dim = dim;
  made->options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
  made->options.exclusive = rng_once_in(random, 3);
  made->options.skip_nan = rng_once_in(random, 3);
  do {
    made->op = scanned[rng_between(random, 0, 6)];
    dtype = (ndr_dtype)rng_between(random, 0, NDR_DTYPE_COUNT - 1);
  } while (!op_defined(made->op, dtype) || (no_f64_sums && (dtype == NDR_F64 || dtype == NDR_C128)) ||
           (made->op == NDR_LOGSUMEXP && is_integer(dtype)));
  array_make(&made->array, dtype, 3, shape, NULL);
  array_fill(&made->array, random, random_filling(random, made->op));
  write_text(made);
  made->options.force_family = family;
}

void scan_in_bands(scan_case *made, rng *random, int64_t rows, int64_t columns) {
  const int64_t shape[3] = {rng_between(random, 1, 3), rows, columns};
  scan_compact(made, random, shape, 1, "bands");
}

void scan_in_streams(scan_case *made, rng *random, int64_t rows, int64_t columns) {
  const int64_t shape[3] = {rng_between(random, 1, 24 / columns < 3 ? 24 / columns : 3), rows, columns};
  scan_compact(made, random, shape, 1, "streams");
}

void scan_free(scan_case *made) {
  array_free(&made->array);
}

/* ---- results ---- */

ndr_status scan_result(const scan_case *given, test_array *result, rng *random) {
  ndr_problem layout = NDR_PROBLEM_INIT;
  DLTensor form = {.shape = layout.shape};
  ndr_status status = ndr_scan_describe(&given->array.tensor, given->dim, given->op, &given->options, &form);
  if (status != NDR_OK) return status;
  ndr_dtype dtype;
  if (ndr_dtype_from_dlpack(form.dtype, &dtype) != NDR_OK) abort();
  int ndim = form.ndim;
  if (random && given->dim == NDR_SCAN_ALL && !given->options.include_initial && rng_once_in(random, 2)) {
    ndim = given->array.tensor.ndim;
    memcpy(layout.shape, given->array.shape, sizeof layout.shape);
  }
  int order[NDR_MAX_DIMS];
  int64_t step = 1;
  for (int d = 0; d < ndim; d++) order[d] = ndim - 1 - d;
  if (random && rng_once_in(random, 2)) rng_shuffle(random, ndim, order);
  for (int d = 0; d < ndim; d++) {
    if (random && rng_once_in(random, 4)) step *= 2;
    layout.strides[order[d]] = random && rng_once_in(random, 4) ? -step : step;
    step *= layout.shape[order[d]] > 0 ? layout.shape[order[d]] : 1;
  }
  array_make(result, dtype, ndim, layout.shape, layout.strides);
  return NDR_OK;
}

bool scan_same(const DLTensor *a, const DLTensor *b) {
  int64_t index[NDR_MAX_DIMS] = {0};
  ndr_dtype dtype;
  if (ndr_dtype_from_dlpack(a->dtype, &dtype) != NDR_OK) return false;
  if (array_count(a) == 0) return true;
  do {
    element x = element_load(dtype, element_at(a, index)), y = element_load(dtype, element_at(b, index));
    bool nan = (isnan(x.re) && isnan(y.re)) || (isnan(x.im) && isnan(y.im));
    if (!nan && memcmp(element_at(a, index), element_at(b, index), ndr_dtype_bytes(dtype)) != 0) return false;
  } while (next_index(a->ndim, a->shape, index));
  return true;
}

/* ---- the definitions ---- */

typedef struct running {
  const scan_case *given;
  ndr_dtype dtype, result;
  bool integers, skips;
  uint64_t bits;                   /* sums and products of integers, which wrap */
  element value;                   /* of others */
  long double size_re, size_im, n; /* sums of magnitudes, which rounding errors are relative to */
  long double top, sum;            /* logsumexp */
} running;

static bool is_nan(element x) {
  return isnan(x.re) || isnan(x.im);
}

/* min and max of no elements. */
static long double limit_of(const running *now, bool largest) {
  if (!is_integer(now->dtype)) return now->skips ? NAN : largest ? INFINITY : -INFINITY;
  int bits = now->dtype == NDR_BOOL ? 1 : 8 * (int)ndr_dtype_bytes(now->dtype) - is_signed(now->dtype);
  if (largest) return ldexpl(1, bits) - 1;
  return is_signed(now->dtype) ? -ldexpl(1, bits) : 0;
}

static void begin(running *now) {
  const scan_case *given = now->given;
  switch (given->op) {
  case NDR_PROD: now->value.re = now->bits = 1; break;
  case NDR_MIN: now->value.re = limit_of(now, true); break;
  case NDR_MAX: now->value.re = limit_of(now, false); break;
  case NDR_ALL: now->value.re = 1; break;
  default: break;
  }
  now->top = -INFINITY;
  if (!given->options.initial || (now->skips && isnan(given->initial))) return;
  now->value.re = given->initial;
  now->bits = (uint64_t)(int64_t)given->initial;
  now->size_re = fabs(given->initial);
}

/* A NaN that wins stays; under skip_nan the first number replaces it. */
static void add_extreme(running *now, long double x, bool smaller) {
  long double have = now->value.re;
  bool wins = smaller ? x < have : x > have;
  if (isnan(have) ? now->skips : wins || isnan(x)) now->value.re = x;
}

static void add_exponential(running *now, long double x) {
  if (isnan(x) || isnan(now->top)) {
    now->top = NAN;
  } else if (x > now->top) {
    now->sum = (now->top == -INFINITY ? 0 : now->sum * expl(now->top - x)) + 1;
    now->top = x;
  } else if (x != -INFINITY) {
    now->sum += expl(x - now->top);
  }
  if (isfinite(x)) now->size_re = fmaxl(now->size_re, fabsl(x));
}

static uint64_t bits_of(const running *now, long double x) {
  if (!now->integers) return 0;
  return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static void add(running *now, element x) {
  element before = now->value;
  if (now->skips && is_nan(x)) return;
  now->n++;
  switch (now->given->op) {
  case NDR_SUM:
    now->bits += bits_of(now, x.re);
    now->value = (element){before.re + x.re, before.im + x.im};
    if (isfinite(x.re)) now->size_re += fabsl(x.re);
    if (isfinite(x.im)) now->size_im += fabsl(x.im);
    break;
  case NDR_PROD:
    now->bits *= bits_of(now, x.re);
    now->value.re = before.re * x.re - (is_complex(now->dtype) ? before.im * x.im : 0);
    now->value.im = is_complex(now->dtype) ? before.re * x.im + before.im * x.re : 0;
    now->size_re = now->size_im = hypotl(now->value.re, now->value.im);
    break;
  case NDR_MIN: add_extreme(now, x.re, true); break;
  case NDR_MAX: add_extreme(now, x.re, false); break;
  case NDR_ANY: now->value.re = now->value.re != 0 || x.re != 0 || x.im != 0; break;
  case NDR_ALL: now->value.re = now->value.re != 0 && (x.re != 0 || x.im != 0); break;
  default: add_exponential(now, x.re); break;
  }
}

static answer answer_of(const running *now) {
  element value = now->value;
  ndr_op op = now->given->op;
  if (now->integers && (op == NDR_SUM || op == NDR_PROD))
    value.re = is_signed(now->result) ? (long double)(int64_t)now->bits : (long double)now->bits;
  else if (op == NDR_LOGSUMEXP)
    value.re = isinf(now->top) || isnan(now->top) ? now->top : now->top + logl(now->sum);
  bool rounds = op == NDR_LOGSUMEXP || (!now->integers && (op == NDR_SUM || op == NDR_PROD));
  long double unit = rounds ? (now->n + 8) * 0x1p-52L : 0, re = unit * (now->size_re + (op == NDR_LOGSUMEXP)),
              im = unit * now->size_im;
  if (!isfinite(value.re)) re = 0;
  if (!isfinite(value.im)) im = 0;
  return (answer){{value.re - re, value.im - im},
                  {value.re + re, value.im + im},
                  is_complex(now->dtype) && op == NDR_PROD && !(isfinite(value.re) && isfinite(value.im))};
}

static bool check(const running *now, const DLTensor *result, const int64_t *index, char *text, size_t capacity) {
  answer expected = answer_of(now);
  element got = array_get(result, index);
  if (answer_accepts(&expected, now->result, got)) return true;
  int at = snprintf(text, capacity, "place");
  for (int d = 0; d < result->ndim; d++) at += snprintf(text + at, capacity - (size_t)at, " %lld", (long long)index[d]);
  snprintf(text + at, capacity - (size_t)at, " is %.20Lg%+.20Lgi, must be in %.20Lg..%.20Lg", got.re, got.im,
           expected.low.re, expected.high.re);
  return false;
}

/* The index of place i of a line of a result that is scanned along `dim`, or flattened. */
static void set_index(const scan_case *given, const DLTensor *result, const int64_t *line, int64_t i, int64_t *index) {
  if (given->dim != NDR_SCAN_ALL) {
    memcpy(index, line, NDR_MAX_DIMS * sizeof *index);
    index[given->dim] = i;
    return;
  }
  for (int d = result->ndim - 1; d >= 0; d--) {
    index[d] = i % result->shape[d];
    i /= result->shape[d];
  }
}

static bool check_line(const scan_case *given, const DLTensor *result, const int64_t *line, int64_t length, char *text,
                       size_t capacity) {
  running now = {.given = given, .dtype = given->array.dtype, .integers = is_integer(given->array.dtype)};
  int64_t index[NDR_MAX_DIMS] = {0}, longer = given->options.include_initial;
  bool reverse = given->options.reverse, right = true;
  now.skips = given->options.skip_nan && !now.integers;
  if (ndr_dtype_from_dlpack(result->dtype, &now.result) != NDR_OK) return false;
  begin(&now);
  if (longer) {
    set_index(given, result, line, reverse ? length : 0, index);
    right = check(&now, result, index, text, capacity);
  }
  for (int64_t i = 0; right && i < length; i++) {
    int64_t e = reverse ? length - 1 - i : i;
    set_index(given, &given->array.tensor, line, e, index);
    element x = array_get(&given->array.tensor, index);
    if (!given->options.exclusive) add(&now, x);
    set_index(given, result, line, e + (longer && !reverse), index);
    right = check(&now, result, index, text, capacity);
    if (given->options.exclusive) add(&now, x);
  }
  return right;
}

bool scan_accepts(const scan_case *given, const DLTensor *result, char *text, size_t capacity) {
  const DLTensor *array = &given->array.tensor;
  int64_t line[NDR_MAX_DIMS] = {0}, shape[NDR_MAX_DIMS] = {0}, length = 1;
  for (int d = 0; d < array->ndim; d++) {
    bool scans = given->dim == NDR_SCAN_ALL || d == given->dim;
    shape[d] = scans ? 1 : array->shape[d];
    if (scans) length *= array->shape[d];
    if (shape[d] == 0) return true;
  }
  do {
    if (!check_line(given, result, line, length, text, capacity)) return false;
  } while (next_index(array->ndim, shape, line));
  return true;
}
