/* Elements of any dtype as decimal text. What stands around the numbers is up to the formats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/number.h"

enum { LEAST_DIGITS = 7 };

/* IEEE binary16: 5 bits of exponent, 10 of fraction. */
static double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent     ? ldexp(fraction + 1024, exponent - 25)
                                    : ldexp(fraction, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

/* bfloat16 is the upper half of a float. */
static double brain_value(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

#define LOAD(type, target)                                                                                             \
  do {                                                                                                                 \
    type loaded;                                                                                                       \
    memcpy(&loaded, element, sizeof loaded);                                                                           \
    (target) = loaded;                                                                                                 \
  } while (0)

static void read_complex(number *n, ndr_dtype dtype, const void *element) {
  if (dtype == NDR_C64) {
    float parts[2];
    memcpy(parts, element, sizeof parts);
    n->re = parts[0];
    n->im = parts[1];
  } else {
    double parts[2];
    memcpy(parts, element, sizeof parts);
    n->re = parts[0];
    n->im = parts[1];
  }
}

number number_read(ndr_dtype dtype, const void *element) {
  static const struct {
    unsigned char kind, digits;
  } kinds[NDR_DTYPE_COUNT] = {
      [NDR_BOOL] = {TRUTH, 0},   [NDR_I8] = {SIGNED, 0},   [NDR_I16] = {SIGNED, 0},    [NDR_I32] = {SIGNED, 0},
      [NDR_I64] = {SIGNED, 0},   [NDR_U8] = {UNSIGNED, 0}, [NDR_U16] = {UNSIGNED, 0},  [NDR_U32] = {UNSIGNED, 0},
      [NDR_U64] = {UNSIGNED, 0}, [NDR_F16] = {REAL, 5},    [NDR_BF16] = {REAL, 4},     [NDR_F32] = {REAL, 9},
      [NDR_F64] = {REAL, 17},    [NDR_C64] = {COMPLEX, 9}, [NDR_C128] = {COMPLEX, 17},
  };
  number n = {.kind = kinds[dtype].kind, .digits = kinds[dtype].digits};
  uint16_t half;
  switch (dtype) {
  case NDR_BOOL:
  case NDR_U8: LOAD(uint8_t, n.as_unsigned); break;
  case NDR_I8: LOAD(int8_t, n.as_signed); break; /* NOLINT(*-signed-char-misuse,cert-str34-c): a number it is */
  case NDR_I16: LOAD(int16_t, n.as_signed); break;
  case NDR_I32: LOAD(int32_t, n.as_signed); break;
  case NDR_I64: LOAD(int64_t, n.as_signed); break;
  case NDR_U16: LOAD(uint16_t, n.as_unsigned); break;
  case NDR_U32: LOAD(uint32_t, n.as_unsigned); break;
  case NDR_U64: LOAD(uint64_t, n.as_unsigned); break;
  case NDR_F16:
    LOAD(uint16_t, half);
    n.re = half_value(half);
    break;
  case NDR_BF16:
    LOAD(uint16_t, half);
    n.re = brain_value(half);
    break;
  case NDR_F32: LOAD(float, n.re); break;
  case NDR_F64: LOAD(double, n.re); break;
  case NDR_C64:
  case NDR_C128: read_complex(&n, dtype, element); break;
  }
  return n;
}

static void round_text(double value, int digits, char text[NUMBER_CHARS]) {
  snprintf(text, NUMBER_CHARS, "%.*g", digits < 17 ? digits : 17, value);
}

void number_shortest(double value, int digits, char text[NUMBER_CHARS]) {
  if (isnan(value)) {
    strcpy(text, "nan");
    return;
  }
  for (int d = digits == 17 ? 15 : digits == 9 ? 6 : digits; d <= digits; d++) {
    round_text(value, d, text);
    double back = strtod(text, NULL);
    if (digits == 17 ? back == value : (float)back == (float)value) break;
  }
}

void number_rounded(double value, double tolerance, char text[NUMBER_CHARS]) {
  for (int d = LEAST_DIGITS; d <= 17; d++) {
    round_text(value, d, text);
    if (fabs(strtod(text, NULL) - value) <= tolerance) return;
  }
  number_shortest(value, 17, text);
}

static void real_text(double value, int digits, int limit, char text[NUMBER_CHARS]) {
  if (limit && limit < digits && !isnan(value))
    round_text(value, limit, text);
  else
    number_shortest(value, digits, text);
}

void number_text(number n, int digits, char text[NUMBER_CHARS]) {
  char re[NUMBER_CHARS], im[NUMBER_CHARS];
  switch (n.kind) {
  case TRUTH: strcpy(text, n.as_unsigned ? "true" : "false"); break;
  case SIGNED: snprintf(text, NUMBER_CHARS, "%lld", (long long)n.as_signed); break;
  case UNSIGNED: snprintf(text, NUMBER_CHARS, "%llu", (unsigned long long)n.as_unsigned); break;
  case REAL: real_text(n.re, n.digits, digits, text); break;
  case COMPLEX:
    real_text(n.re, n.digits, digits, re);
    real_text(n.im, n.digits, digits, im);
    snprintf(text, NUMBER_CHARS, "%.30s%s%.30si", re, im[0] == '-' ? "" : "+", im);
    break;
  }
}

int64_t tensor_count(const DLTensor *tensor) {
  int64_t count = 1;
  for (int d = 0; d < tensor->ndim; d++) count *= tensor->shape[d];
  return count;
}

ndr_dtype tensor_dtype(const DLTensor *tensor) {
  ndr_dtype dtype = NDR_F64;
  ndr_dtype_from_dlpack(tensor->dtype, &dtype);
  return dtype;
}
