/* Template: e^x for programs, within 2 units in the last place for every x, with the same bits on every
 * instruction set; libm's has a call for each element. x = k ln 2 + r as in exp_f64. k reaches beyond the exponents of
 * normal numbers, where the result is infinite, subnormal or 0: 2^k goes into two factors, of which neither overflows,
 * and the first product is exact. The series' terms up to r^7 leave out less than 0.35^8 / 8! < 2^-27, those up to r^13
 * less than 0.35^14 / 14! < 2^-57. */

#ifdef __AVX512F__
/* One instruction multiplies by 2^k, and rounds as the second of the two products does. k ln2_high is exact, so that
 * its difference from x may be rounded in the same instruction. The order of operands lets NaN pass the limits. */
#define TO_WHOLE (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

EXP_SERIES_F64(exp_series_eight, __m512d)
EXP_SERIES_F32(exp_series_sixteen, __m512)

static inline __m512d exp_of_eight(__m512d x) {
  const __m512d ln2_high = _mm512_set1_pd(0x1.62e42fefa0000p-1);
  x = _mm512_min_pd(_mm512_set1_pd(710.0), _mm512_max_pd(_mm512_set1_pd(-746.0), x));
  const __m512d k = _mm512_roundscale_pd(x * 0x1.71547652b82fep+0, TO_WHOLE);
  const __m512d r = _mm512_fnmadd_pd(k, ln2_high, x) - k * 0x1.cf79abc9e3b39p-40;
  return _mm512_scalef_pd(exp_series_eight(r * (1.0 / 6227020800) + 1.0 / 479001600, r), k);
}

static inline __m512 exp_of_sixteen(__m512 x) {
  const __m512 ln2_high = _mm512_set1_ps(0x1.62e400p-1f);
  x = _mm512_min_ps(_mm512_set1_ps(89.0f), _mm512_max_ps(_mm512_set1_ps(-104.0f), x));
  const __m512 k = _mm512_roundscale_ps(x * 0x1.715476p+0f, TO_WHOLE);
  const __m512 r = _mm512_fnmadd_ps(k, ln2_high, x) - k * 0x1.7f7d1cp-20f;
  return _mm512_scalef_ps(exp_series_sixteen(r), k);
}
#undef TO_WHOLE

#define EXP_STEP(name, type, each, s, value)                                                                           \
  static void step_exp_##name(const void *a_, const void *b_, const void *c_, void *out_, int64_t count) {             \
    const type *a = a_;                                                                                                \
    type *out = out_;                                                                                                  \
    int64_t l = 0;                                                                                                     \
    (void)b_;                                                                                                          \
    (void)c_;                                                                                                          \
    for (; l + (each) <= count; l += (each)) _mm512_storeu_##s(out + l, value(_mm512_loadu_##s(a + l)));               \
    if (l == count) return;                                                                                            \
    const __mmask##each rest = (__mmask##each)((1u << (count - l)) - 1);                                               \
    _mm512_mask_storeu_##s(out + l, rest, value(_mm512_maskz_loadu_##s(rest, a + l)));                                 \
  }
EXP_STEP(f32, float, 16, ps, exp_of_sixteen)
EXP_STEP(f64, double, 8, pd, exp_of_eight)
#undef EXP_STEP
#else
/* 2^k for the whole number that `shifted` has in its low bits. */
static inline double power_f64(double shifted) {
  return f64_of((word_of(shifted) + 1023) << 52);
}

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

static inline float exp_of_f32(float x) {
  const float magic = 0x1.8p23f, ln2_high = 0x1.62e400p-1f, ln2_low = 0x1.7f7d1cp-20f;
  x = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  const float k = (x * 0x1.715476p+0f + magic) - magic;
  const float half = (k * 0.5f + magic) - magic;
  const float r = (x - k * ln2_high) - k * ln2_low;
  const float p = exp_series_f32(r);
  return p * power_f32(half + magic) * power_f32((k - half) + magic);
}
#endif
