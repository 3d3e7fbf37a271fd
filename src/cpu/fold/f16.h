/* Template: f16 and bf16 to f32, and f64 to them, in loops that vectorise. Stands behind lane.h. Also for
 * the loops of scans. */
#ifndef NDR_CPU_FOLD_F16_H
#define NDR_CPU_FOLD_F16_H

/* Moves the exponent's bias from 15 to 127. Infinities and NaN keep the largest exponent. A subnormal has no leading 1:
 * as if it had one, then that one is subtracted, which also normalises it. */
static inline float f32_of_f16(ndr_f16 half) {
  uint32_t bits = (uint32_t)(half & 0x7fff) << 13, exponent = bits & 0x0f800000;
  uint32_t special = bits + 0x70000000, normal = bits + 0x38000000;
  uint32_t tiny = bits_of(f32_of(bits + 0x38800000) - 0x1p-14f);
  uint32_t moved = exponent == 0x0f800000 ? special : exponent == 0 ? tiny : normal;
  return f32_of(moved | (uint32_t)(half & 0x8000) << 16);
}

static inline float f32_of_bf16(ndr_bf16 bits) {
  return f32_of((uint32_t)bits << 16);
}

/* The bits of a float of `digits` significand bits, with the hidden one, whose smallest normal exponent is `lowest`:
 * rounded once, to nearest even, as ndr_f16_from_double does it. Adding 2^k, whose last place is that of the
 * subnormals, rounds these. */
static inline uint16_t narrow(double value, int digits, int lowest) {
  const int shift = 53 - digits;
  const uint64_t infinity = (uint64_t)(3 - 2 * lowest) << (digits - 1);
  const double magnitude = fabs(value), subnormal = f64_of((uint64_t)(1076 + lowest - digits) << 52);
  uint64_t bits = word_of(magnitude);
  uint64_t tiny = word_of(magnitude + subnormal) - word_of(subnormal);
  uint64_t normal = ((bits + ((UINT64_C(1) << (shift - 1)) - 1) + (bits >> shift & 1)) >> shift) -
                    ((uint64_t)(1022 + lowest) << (digits - 1));
  uint64_t finite = bits < (uint64_t)(1023 + lowest) << 52 ? tiny : normal;
  uint64_t rounded = finite < infinity ? finite : infinity;
  rounded = value == value ? rounded : infinity | UINT64_C(1) << (digits - 2);
  return (uint16_t)(rounded | (word_of(value) >> 48 & 0x8000));
}

#define F16_OF(value) narrow(value, 11, -14)
#define BF16_OF(value) narrow(value, 8, -126)

#endif
