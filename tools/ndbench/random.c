/* Random problems: sizes from small to `largest` bytes, log-uniform; up to five dims in any order in memory, some of
 * them padded, stepped, reversed or broadcast. Problem number i depends on the seed and on i alone. */
#include <math.h>
#include <string.h>

#include "ndbench/ndbench.h"

enum { MOST_NDIM = 5, TRIES = 1000 };

typedef struct dice {
  uint64_t state;
} dice;

static uint64_t roll(dice *d) {
  uint64_t z = d->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int below(dice *d, int n) {
  return (int)(roll(d) % (uint64_t)n);
}

/* In (0, 1]. */
static double uniform(dice *d) {
  return (double)((roll(d) >> 11) + 1) * 0x1p-53;
}

static bool chance(dice *d, int percent) {
  return below(d, 100) < percent;
}

/* What people reduce, by how often: mostly sums, mostly f32. */
static ndr_op pick_op(dice *d) {
  static const ndr_op rest[] = {NDR_MAX, NDR_MIN, NDR_MEAN, NDR_VAR, NDR_NORM2, NDR_ARGMAX};
  return chance(d, 70) ? NDR_SUM : rest[below(d, sizeof rest / sizeof *rest)];
}

static ndr_dtype pick_dtype(dice *d) {
  static const ndr_dtype types[] = {NDR_F32, NDR_F32, NDR_F32,  NDR_F32, NDR_F32, NDR_F32, NDR_F16, NDR_F16,
                                    NDR_F64, NDR_F64, NDR_BF16, NDR_I8,  NDR_U8,  NDR_I32, NDR_I64, NDR_C64};
  return types[below(d, sizeof types / sizeof *types)];
}

/* Cuts `elements` into sizes: shares of the logarithm that are uniform over all cuts; every third size is made a power
 * of two, as sizes often are. */
static void pick_shape(dice *d, ndr_problem *reduction, double elements) {
  double shares[MOST_NDIM], sum = 0;
  reduction->ndim = chance(d, 8) ? 1 : 2 + below(d, MOST_NDIM - 1); /* one dim leaves the planner little to choose */
  for (int i = 0; i < reduction->ndim; i++) sum += shares[i] = -log(uniform(d));
  for (int i = 0; i < reduction->ndim; i++) {
    double logarithm = sum > 0 ? log2(elements) * shares[i] / sum : 0;
    reduction->shape[i] = (int64_t)llround(exp2(chance(d, 33) ? round(logarithm) : logarithm));
  }
}

static void pick_strides(dice *d, ndr_problem *reduction) {
  int order[MOST_NDIM]; /* from the innermost */
  int ndim = reduction->ndim;
  for (int i = 0; i < ndim; i++) order[i] = ndim - 1 - i;
  for (int i = ndim - 1, mixed = chance(d, 50); mixed && i > 0; i--) {
    int j = below(d, i + 1), other = order[j];
    order[j] = order[i];
    order[i] = other;
  }
  int64_t stride = chance(d, 8) ? 2 : 1;
  int pitched = chance(d, 15) ? below(d, ndim) : -1;
  for (int i = 0; i < ndim; i++) {
    reduction->strides[order[i]] = stride;
    stride *= reduction->shape[order[i]];
    if (i == pitched) stride += 1 + below(d, 64);
  }
  if (chance(d, 6)) reduction->strides[below(d, ndim)] *= -1;
  if (ndim > 1 && chance(d, 3)) reduction->strides[below(d, ndim)] = 0;
}

static void pick_dims(dice *d, ndr_problem *reduction) {
  unsigned mask = 1 + (unsigned)below(d, (1 << reduction->ndim) - 1);
  reduction->dim_count = 0;
  for (int i = 0; i < reduction->ndim; i++)
    if (mask >> i & 1) reduction->dims[reduction->dim_count++] = i;
}

static ndr_problem pick(dice *d, double largest) {
  ndr_problem reduction = NDR_PROBLEM_INIT;
  double bytes = LEAST_RANDOM_BYTES * pow(largest / LEAST_RANDOM_BYTES, uniform(d));
  reduction.op_count = 1;
  reduction.ops[0] = pick_op(d);
  reduction.dtype = pick_dtype(d);
  if (reduction.dtype == NDR_C64) reduction.ops[0] = NDR_SUM; /* the order of complex numbers is not defined */
  pick_shape(d, &reduction, bytes / (double)ndr_dtype_bytes(reduction.dtype));
  pick_strides(d, &reduction);
  pick_dims(d, &reduction);
  return reduction;
}

/* Rounding may have made it larger or smaller than was asked for, or broadcasting leave little to read; results may be
 * as large as the array, but not larger than the largest. */
static bool fits(const ndr_problem *reduction, double largest) {
  int64_t low, high;
  double results = 16, read = bench_bytes_read(reduction), size = (double)ndr_dtype_bytes(reduction->dtype);
  for (int i = 0; i < reduction->ndim; i++) results *= (double)reduction->shape[i];
  for (int i = 0; i < reduction->dim_count; i++) results /= (double)reduction->shape[reduction->dims[i]];
  return read >= LEAST_RANDOM_BYTES && read <= largest && results <= largest &&
         ndr_problem_extent(reduction, &low, &high) == NDR_OK && (double)(high - low + 1) * size <= 2 * largest;
}

void bench_list_add_random(bench_list *list, const bench_options *options) {
  double largest = (double)options->largest;
  for (int i = 0; i < options->count; i++) {
    dice d = {options->seed * 0xd6e8feb86659fd93u + (uint64_t)i * 0xa0761d6478bd642fu};
    char text[PROBLEM_TEXT], name[16];
    ndr_problem reduction;
    int tries = 0;
    do reduction = pick(&d, largest);
    while (!fits(&reduction, largest) && ++tries < TRIES);
    ndr_problem_print(&reduction, text, sizeof text);
    snprintf(name, sizeof name, "%d", i);
    bench_list_add_text(list, "random", name, text);
  }
}
