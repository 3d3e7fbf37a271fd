/* Template: e^x for programs, within 2 units in the last place for every x, with the same bits on every
 * instruction set; libm's has a call for each element. x = k ln 2 + r as in exp_f64. 2^k goes into two factors, of
 * which neither overflows: k reaches beyond the exponents of normal numbers, where the result is infinite, subnormal or
 * 0. */

/* 2^k for the whole number that `shifted` has in its low bits. */
static inline double power_f64(double shifted) {
  return f64_of((word_of(shifted) + 1023) << 52);
}

/* The terms up to r^13 leave out less than 0.35^14 / 14! < 2^-57. */
static inline double exp_of_f64(double x) {
  const double magic = 0x1.8p52, ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b39p-40;
  x = x < -746.0 ? -746.0 : x > 710.0 ? 710.0 : x;
  const double k = (x * 0x1.71547652b82fep+0 + magic) - magic;
  const double half = (k * 0.5 + magic) - magic;
  const double r = (x - k * ln2_high) - k * ln2_low;
  const double p = exp_series_f64(1.0 / 6227020800 * r + 1.0 / 479001600, r);
  return p * power_f64(half + magic) * power_f64((k - half) + magic);
}

static inline float power_f32(float shifted) {
  return f32_of((bits_of(shifted) + 127) << 23);
}

/* The terms up to r^7 leave out less than 0.35^8 / 8! < 2^-27. */
static inline float exp_of_f32(float x) {
  const float magic = 0x1.8p23f, ln2_high = 0x1.62e400p-1f, ln2_low = 0x1.7f7d1cp-20f;
  x = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  const float k = (x * 0x1.715476p+0f + magic) - magic;
  const float half = (k * 0.5f + magic) - magic;
  const float r = (x - k * ln2_high) - k * ln2_low;
  const float p = exp_series_f32(r);
  return p * power_f32(half + magic) * power_f32((k - half) + magic);
}
