/* Template: elements to words and back. Strides of 1 and -1 have loops of their own, which vectorise. */

#define LOAD(name, from_type, word_type, value)                                                                        \
  static void load_##name(const void *source, int64_t stride, void *target, int64_t count) {                           \
    const from_type *restrict from = source;                                                                           \
    word_type *restrict to = target;                                                                                   \
    if (stride == 1) {                                                                                                 \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const from_type x = from[i];                                                                                   \
        to[i] = value;                                                                                                 \
      }                                                                                                                \
    } else if (stride == -1) {                                                                                         \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const from_type x = from[-i];                                                                                  \
        to[i] = value;                                                                                                 \
      }                                                                                                                \
    } else {                                                                                                           \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const from_type x = from[i * stride];                                                                          \
        to[i] = value;                                                                                                 \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define STORE(name, word_type, to_type, value)                                                                         \
  static void store_##name(const void *source, void *target, int64_t stride, int64_t count) {                          \
    const word_type *restrict from = source;                                                                           \
    to_type *restrict to = target;                                                                                     \
    if (stride == 1) {                                                                                                 \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const word_type x = from[i];                                                                                   \
        to[i] = value;                                                                                                 \
      }                                                                                                                \
    } else if (stride == -1) {                                                                                         \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const word_type x = from[i];                                                                                   \
        to[-i] = value;                                                                                                \
      }                                                                                                                \
    } else {                                                                                                           \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const word_type x = from[i];                                                                                   \
        to[i * stride] = value;                                                                                        \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* Words of the elements' own bits: for min and max, and results that are words. */
#define MOVE(name, type) LOAD(name, type, type, x) STORE(name, type, type, x)
MOVE(8, uint8_t)
MOVE(16, uint16_t)
MOVE(32, uint32_t)
MOVE(64, uint64_t)
MOVE(c128, ndr_c128)

#define INTEGER(name, type) LOAD(name##_u64, type, uint64_t, (uint64_t)x) LOAD(name##_f64, type, double, (double)x)
LOAD(bool_u64, uint8_t, uint64_t, x != 0)
LOAD(bool_f64, uint8_t, double, x != 0 ? 1.0 : 0.0)
INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
LOAD(i64_f64, int64_t, double, (double)x)
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
LOAD(u64_f64, uint64_t, double, (double)x)

LOAD(f16_f64, ndr_f16, double, (double)f32_of_f16(x))
LOAD(bf16_f64, ndr_bf16, double, (double)f32_of_bf16(x))
LOAD(f32_f64, float, double, (double)x)
LOAD(c64_c128, ndr_c64, ndr_c128, ((ndr_c128){(double)x.re, (double)x.im}))
LOAD(f16_f32, ndr_f16, float, f32_of_f16(x))
LOAD(bf16_f32, ndr_bf16, float, f32_of_bf16(x))

STORE(f64_f16, double, ndr_f16, F16_OF(x))
STORE(f64_bf16, double, ndr_bf16, BF16_OF(x))
STORE(f64_f32, double, float, (float)x)
STORE(c128_c64, ndr_c128, ndr_c64, ((ndr_c64){(float)x.re, (float)x.im}))
STORE(f32_f16, float, ndr_f16, F16_OF((double)x))
STORE(f32_bf16, float, ndr_bf16, BF16_OF((double)x))

/* Truth. A NaN is not 0, and under skip_nan what changes nothing: false for any, true for all. */
LOAD(truth_8, uint8_t, uint8_t, x != 0)
LOAD(truth_16, uint16_t, uint8_t, x != 0)
LOAD(truth_32, uint32_t, uint8_t, x != 0)
LOAD(truth_64, uint64_t, uint8_t, x != 0)
LOAD(truth_f16, uint16_t, uint8_t, (uint16_t)(x << 1) != 0)
LOAD(truth_f32, float, uint8_t, x != 0)
LOAD(truth_f64, double, uint8_t, x != 0)
LOAD(truth_c64, ndr_c64, uint8_t, (x.re != 0) | (x.im != 0))
LOAD(truth_c128, ndr_c128, uint8_t, (x.re != 0) | (x.im != 0))
LOAD(number_f16, uint16_t, uint8_t, ((uint16_t)(x << 1) != 0) & ((x & 0x7fff) <= 0x7c00))
LOAD(number_bf16, uint16_t, uint8_t, ((uint16_t)(x << 1) != 0) & ((x & 0x7fff) <= 0x7f80))
LOAD(number_f32, float, uint8_t, (x != 0) & (x == x))
LOAD(number_f64, double, uint8_t, (x != 0) & (x == x))
LOAD(number_c64, ndr_c64, uint8_t, ((x.re != 0) | (x.im != 0)) & (x.re == x.re) & (x.im == x.im))
LOAD(number_c128, ndr_c128, uint8_t, ((x.re != 0) | (x.im != 0)) & (x.re == x.re) & (x.im == x.im))

static void clean_f64(void *target, const void *nothing, int64_t count) {
  double *words = target;
  const double with = *(const double *)nothing;
  for (int64_t i = 0; i < count; i++) words[i] = words[i] == words[i] ? words[i] : with;
}

static void clean_c128(void *target, const void *nothing, int64_t count) {
  ndr_c128 *words = target;
  const ndr_c128 with = *(const ndr_c128 *)nothing;
  for (int64_t i = 0; i < count; i++)
    if (words[i].re != words[i].re || words[i].im != words[i].im) words[i] = with;
}
