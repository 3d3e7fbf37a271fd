/* Template: converting elements to a dtype that has kernels. */
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "cpu/fold/f16.h"

#define CONVERT(name, from_type, to_type, value)                                                                       \
  static void convert_##name(const void *source, void *target, int64_t count) {                                        \
    const from_type *from = source;                                                                                    \
    to_type *to = target;                                                                                              \
    for (int64_t l = 0; l < count; l++) {                                                                              \
      const from_type x = from[l];                                                                                     \
      to[l] = value;                                                                                                   \
    }                                                                                                                  \
  }

CONVERT(bool_u8, uint8_t, uint8_t, x != 0)
CONVERT(bool_f32, uint8_t, float, x != 0 ? 1.0f : 0.0f)
CONVERT(i8_f32, int8_t, float, (float)x)
CONVERT(u8_f32, uint8_t, float, (float)x)
CONVERT(i16_f32, int16_t, float, (float)x)
CONVERT(u16_f32, uint16_t, float, (float)x)
CONVERT(bool_f64, uint8_t, double, x != 0 ? 1.0 : 0.0)
CONVERT(i8_f64, int8_t, double, (double)x)
CONVERT(u8_f64, uint8_t, double, (double)x)
CONVERT(i16_f64, int16_t, double, (double)x)
CONVERT(u16_f64, uint16_t, double, (double)x)
CONVERT(i32_f64, int32_t, double, (double)x)
CONVERT(u32_f64, uint32_t, double, (double)x)
CONVERT(i64_f64, int64_t, double, F64_OF_I64(x))
CONVERT(u64_f64, uint64_t, double, F64_OF_U64(x))
CONVERT(f32_f64, float, double, (double)x)
CONVERT(bf16_f32, ndr_bf16, float, f32_of_bf16(x))

#ifdef __F16C__
static inline void convert_eight(const ndr_f16 *from, float *to) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from)));
}

static inline void convert_four(const ndr_f16 *from, float *to) {
  _mm_storeu_ps(to, _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)from)));
}

/* The last eight or four overlap those before: rows are often short, and one element takes as long as eight. */
static void convert_f16_f32(const void *source, void *target, int64_t count) {
  const ndr_f16 *from = source;
  float *to = target;
  if (count < 4) {
    for (int64_t l = 0; l < count; l++) to[l] = f32_of_f16(from[l]);
  } else if (count < 8) {
    convert_four(from, to);
    convert_four(from + count - 4, to + count - 4);
  } else {
    for (int64_t l = 0; l + 8 < count; l += 8) convert_eight(from + l, to + l);
    convert_eight(from + count - 8, to + count - 8);
  }
}
#else
CONVERT(f16_f32, ndr_f16, float, f32_of_f16(x))
#endif
