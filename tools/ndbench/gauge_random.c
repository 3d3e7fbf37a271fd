/* Random problems for `ndbench gauge`, and what kind a problem is. Sizes are mostly not powers of two; every dtype is
 * as likely as any other. */
#include <math.h>
#include <stdlib.h>

#include "ndbench/gauge.h"

enum { MOST_NDIM = 4, TRIES = 10000 };

typedef struct dice {
  uint64_t seed, rolls;
} dice;

/* From 0 to n - 1. */
static int below(dice *d, int n) {
  return (int)(bench_random(d->seed, d->rolls++) % (uint64_t)n);
}

static bool chance(dice *d, int percent) {
  return below(d, 100) < percent;
}

/* In (0, 1]. */
static double uniform(dice *d) {
  return (double)((bench_random(d->seed, d->rolls++) >> 11) + 1) * 0x1p-53;
}

const char *gauge_kind_name(gauge_kind kind) {
  static const char *const names[] = {"compact", "permuted", "pitched", "stepped"};
  return names[kind];
}

gauge_kind gauge_kind_of(const ndr_problem *reduction) {
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS], next = 1;
  int count = 0;
  bool permuted = false;
  for (int d = 0; d < reduction->ndim; d++) {
    if (reduction->shape[d] == 1 || reduction->strides[d] == 0) continue;
    shape[count] = reduction->shape[d];
    strides[count++] = llabs(reduction->strides[d]);
  }
  /* From the fastest: of dims that are equally fast the last one. */
  for (; count > 0; count--) {
    int fastest = count - 1;
    for (int i = count - 1; i >= 0; i--)
      if (strides[i] < strides[fastest]) fastest = i;
    if (strides[fastest] != next) return next == 1 ? GAUGE_STEPPED : GAUGE_PITCHED;
    permuted = permuted || fastest != count - 1;
    next *= shape[fastest];
    for (int i = fastest; i < count - 1; i++) {
      shape[i] = shape[i + 1];
      strides[i] = strides[i + 1];
    }
  }
  return permuted ? GAUGE_PERMUTED : GAUGE_COMPACT;
}

/* An operator that needs every element: any and all may stop at the first. */
static ndr_op pick_op(dice *d, ndr_dtype dtype) {
  static const ndr_op rest[] = {NDR_MAX, NDR_MIN, NDR_MEAN, NDR_VAR, NDR_NORM2, NDR_ARGMAX};
  if (dtype == NDR_BOOL || dtype == NDR_C64 || dtype == NDR_C128 || chance(d, 60)) return NDR_SUM;
  return rest[below(d, sizeof rest / sizeof *rest)];
}

/* Shares of the logarithm that are uniform over all cuts. One size in ten is made a power of two. */
static void pick_shape(dice *d, ndr_problem *reduction, double elements) {
  double shares[MOST_NDIM], sum = 0;
  for (int i = 0; i < reduction->ndim; i++) sum += shares[i] = -log(uniform(d));
  for (int i = 0; i < reduction->ndim; i++) {
    double logarithm = sum > 0 ? log2(elements) * shares[i] / sum : 0;
    reduction->shape[i] = (int64_t)llround(exp2(chance(d, 10) ? round(logarithm) : logarithm));
  }
}

static void pick_strides(dice *d, ndr_problem *reduction, gauge_kind kind, int64_t step) {
  int order[MOST_NDIM], ndim = reduction->ndim; /* from the fastest */
  int pitched = kind == GAUGE_PITCHED ? below(d, ndim - 1) : -1;
  bool mixed = kind == GAUGE_PERMUTED || (kind != GAUGE_COMPACT && chance(d, 40));
  for (int i = 0; i < ndim; i++) order[i] = ndim - 1 - i;
  for (int i = ndim - 1; mixed && i > 0; i--) {
    int j = below(d, i + 1), other = order[j];
    order[j] = order[i];
    order[i] = other;
  }
  for (int i = 0; i < ndim; i++) {
    reduction->strides[order[i]] = step;
    step *= reduction->shape[order[i]];
    if (i == pitched) step += 1 + below(d, 64);
  }
  if (kind == GAUGE_STEPPED && chance(d, 20)) reduction->strides[below(d, ndim)] *= -1;
}

static void pick_dims(dice *d, ndr_problem *reduction) {
  unsigned mask = 1 + (unsigned)below(d, (1 << reduction->ndim) - 1);
  reduction->dim_count = 0;
  for (int i = 0; i < reduction->ndim; i++)
    if (mask >> i & 1) reduction->dims[reduction->dim_count++] = i;
}

static ndr_problem pick(dice *d, gauge_kind kind, double largest) {
  ndr_problem reduction = NDR_PROBLEM_INIT;
  double bytes = LEAST_GAUGE_BYTES * pow(largest / LEAST_GAUGE_BYTES, uniform(d));
  int64_t step = kind == GAUGE_STEPPED ? 2 + below(d, 7) : 1;
  bool several = kind == GAUGE_PERMUTED || kind == GAUGE_PITCHED;
  reduction.dtype = (ndr_dtype)below(d, NDR_DTYPE_COUNT);
  reduction.op_count = 1;
  reduction.ops[0] = pick_op(d, reduction.dtype);
  reduction.ndim = several ? 2 + below(d, MOST_NDIM - 1) : 1 + below(d, MOST_NDIM);
  pick_shape(d, &reduction, bytes / (double)(step * (int64_t)ndr_dtype_bytes(reduction.dtype)));
  pick_strides(d, &reduction, kind, step);
  pick_dims(d, &reduction);
  return reduction;
}

/* Whether the array spans at least the least bytes and at most the largest, with its results no larger, and came out as
 * the kind that it was meant to be. */
static bool suits(const ndr_problem *reduction, gauge_kind kind, double largest) {
  size_t offsets[NDR_MAX_OPS + 1];
  int64_t low, high;
  double results = bench_result_offsets(reduction, offsets);
  if (gauge_kind_of(reduction) != kind || results < 0 || results > largest) return false;
  if (ndr_problem_extent(reduction, &low, &high) != NDR_OK) return false;
  double bytes = (double)(high - low + 1) * (double)ndr_dtype_bytes(reduction->dtype);
  return bytes >= LEAST_GAUGE_BYTES && bytes <= largest;
}

void gauge_list_add_random(bench_list *list, const bench_options *options) {
  double largest = (double)options->largest;
  for (int i = 0; i < options->count; i++) {
    dice d = {.seed = bench_random(options->seed, (uint64_t)i)};
    gauge_kind kind = (gauge_kind)(i % GAUGE_KINDS);
    char text[PROBLEM_TEXT], name[16];
    ndr_problem reduction;
    int tries = 0;
    do reduction = pick(&d, kind, largest);
    while (!suits(&reduction, kind, largest) && ++tries < TRIES);
    ndr_problem_print(&reduction, text, sizeof text);
    snprintf(name, sizeof name, "%d", i);
    bench_list_add_text(list, "random", name, text);
  }
}
