/* Whether a result is right: equal to the reference for integers, within a bound from n for floats. */
#include <math.h>
#include <string.h>

#include "ndbench/ndbench.h"

static bool is_complex(ndr_dtype dtype) {
  return dtype == NDR_C64 || dtype == NDR_C128;
}

static bool is_integer(ndr_dtype dtype) {
  return dtype <= NDR_U64;
}

static double half_value(uint16_t bits, int fraction, int bias) {
  int field = (bits & 0x7fff) >> fraction, rest = bits & ((1 << fraction) - 1), infinity = 2 * bias + 1;
  double magnitude = field == infinity ? (rest ? NAN : INFINITY)
                     : field           ? ldexp(rest + (1 << fraction), field - bias - fraction)
                                       : ldexp(rest, 1 - bias - fraction);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/* Part number i of an array of floats, where a complex number has two parts. */
static double part(ndr_dtype dtype, const void *array, int64_t i) {
  uint16_t half;
  switch (dtype) {
  case NDR_F16:
  case NDR_BF16:
    memcpy(&half, (const char *)array + 2 * i, sizeof half);
    return dtype == NDR_F16 ? half_value(half, 10, 15) : half_value(half, 7, 127);
  case NDR_F32:
  case NDR_C64: return (double)((const float *)array)[i];
  default: return ((const double *)array)[i];
  }
}

/* Half a unit in the last place of 1. */
static double rounding_of(ndr_dtype dtype) {
  return dtype == NDR_F16                       ? 0x1p-11
         : dtype == NDR_BF16                    ? 0x1p-8
         : dtype == NDR_F32 || dtype == NDR_C64 ? 0x1p-24
                                                : 0x1p-53;
}

/* A bound on the magnitude of elements as bench_fill makes them. */
static double largest_element(ndr_dtype dtype) {
  return is_complex(dtype) ? 1.5 : is_integer(dtype) ? ldexp(1, 8 * (int)ndr_dtype_bytes(dtype)) : 1;
}

static double reduced_elements(const ndr_problem *reduction) {
  double n = 1;
  for (int i = 0; i < reduction->dim_count; i++) {
    int d = reduction->dims[i];
    n *= (double)reduction->shape[d < 0 ? d + reduction->ndim : d];
  }
  return n;
}

/* What the error of the accumulation is relative to, given the value. */
static double scale_of(ndr_op op, double n, double largest, double value) {
  /* Of operators of one's own, sums of squares and of numbers of both signs: the error of a sum of both signs grows
   * with the root of their number. */
  if (op >= NDR_OP_COUNT) return 64 * (fabs(value) + sqrt(n) * largest);
  switch (op) {
  case NDR_SUM: return n * largest;
  case NDR_MEAN: return largest;
  case NDR_VAR: return largest * largest;
  case NDR_STD: return largest * largest / fmax(fabs(value), 1e-30);
  case NDR_LOGSUMEXP: return largest + log(n) + 1;
  case NDR_PROD: return n * fabs(value);
  default: return fabs(value);
  }
}

/* Both results carry an error: a block of up to 256 additions and the tree above it, and the final rounding. */
static double tolerance(const ndr_problem *reduction, ndr_op op, ndr_dtype result, double value) {
  double n = reduced_elements(reduction), growth = n <= 256 ? n : 256 + log2(n);
  bool wide = reduction->accumulate == NDR_ACCUMULATE_F64 || is_integer(reduction->dtype) ||
              reduction->dtype == NDR_F64 || reduction->dtype == NDR_C128;
  double accumulation = (growth + 8) * (wide ? 0x1p-53 : 0x1p-24);
  return 2 *
         (accumulation * scale_of(op, n, largest_element(reduction->dtype), value) + rounding_of(result) * fabs(value));
}

bool bench_same(const ndr_problem *reduction, ndr_op op, ndr_dtype dtype, int64_t outputs, const void *got,
                const void *expected, char *complaint, size_t capacity) {
  bool ordered = op == NDR_MIN || op == NDR_MAX;
  size_t bytes = (size_t)outputs * ndr_dtype_bytes(dtype);
  if (memcmp(got, expected, bytes) == 0) return true;
  if (is_integer(dtype)) {
    snprintf(complaint, capacity, "%s differs from the reference", ndr_op_name(op));
    return false;
  }
  for (int64_t i = 0; i < outputs * (is_complex(dtype) ? 2 : 1); i++) {
    double a = part(dtype, got, i), b = part(dtype, expected, i);
    bool same = a == b || (isnan(a) && isnan(b)) || (!ordered && fabs(a - b) <= tolerance(reduction, op, dtype, b));
    if (same) continue;
    snprintf(complaint, capacity, "%s: output %lld is %.9g, the reference gives %.9g", ndr_op_name(op), (long long)i, a,
             b);
    return false;
  }
  return true;
}
