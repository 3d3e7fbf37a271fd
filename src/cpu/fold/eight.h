/* Template: vectors of eight words, and how eight elements of every dtype are loaded into one. The compiler cuts them
 * into the registers of the instruction set, so that all instruction sets associate alike.
 *
 * load_f64_DTYPE(to, at, count), load_i64_DTYPE and load_u64_DTYPE load the first `count` of eight elements, and 0
 * after them. They write to memory, which inlining removes: vectors that are returned would have another ABI on each
 * instruction set. */
typedef float f32x8 __attribute__((vector_size(32)));
typedef double f64x8 __attribute__((vector_size(64)));
typedef int64_t i64x8 __attribute__((vector_size(64)));
typedef uint64_t u64x8 __attribute__((vector_size(64)));

/* Joins the eight words of each of eight vectors v[]; v[0] gets the eight results. */
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define EVEN_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13)
#define ODD_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15)
#define FOLD_TWO(MEET, a, b) MEET(EVEN(a, b), ODD(a, b))
#define FOLD_PAIRS(MEET, a, b) MEET(EVEN_PAIRS(a, b), ODD_PAIRS(a, b))
#define FOLD_EIGHT(MEET, v)                                                                                            \
  do {                                                                                                                 \
    for (int r_ = 0; r_ < 8; r_ += 2) (v)[r_] = FOLD_TWO(MEET, (v)[r_], (v)[r_ + 1]);                                  \
    for (int r_ = 0; r_ < 8; r_ += 4) (v)[r_] = FOLD_PAIRS(MEET, (v)[r_], (v)[r_ + 2]);                                \
    (v)[0] = FOLD_PAIRS(MEET, (v)[0], (v)[4]);                                                                         \
  } while (0)

/* The words of a where the mask is all ones, and those of b where it is 0. */
#define PICK8(type, mask, a, b) ((type)(((i64x8)(a) & (mask)) | ((i64x8)(b) & ~(mask))))

#define INLINE static inline __attribute__((always_inline))

static inline int64_t lower(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The first lanes of a tile whose last elements may be loaded as eight: what is loaded too much lies before the end of
 * the tile, and in a page of a row. Masked loads are avoided, because on a Zen 5 core those that miss the first-level
 * cache do not overlap: rows of 7 f32 run at 4 GB/s with them, and at 16 without. */
static inline int64_t lanes_with_eight(const ndr_tile *tile, int64_t bytes) {
  int64_t stride = tile->lane_stride, more = (8 - tile->rows % 8) % 8;
  if (stride < tile->rows || (stride - tile->rows) * bytes >= 4096) return 0;
  int64_t lanes = tile->lanes - 1 - (more + stride - 1) / stride;
  return lanes < 0 ? 0 : lanes + 1;
}

#ifdef __AVX512BW__
#define LOAD8(kind, name, widen, load)                                                                                 \
  INLINE void load_##kind##_##name(kind##x8 *to, const void *at, int64_t count) {                                      \
    const __mmask8 some = (__mmask8)((1u << count) - 1);                                                               \
    *to = (kind##x8)widen(load(some, at));                                                                             \
  }
#define F32_OF_F16(halves) _mm512_cvtps_pd(_mm256_cvtph_ps(halves))
#define F32_OF_BF16(halves) _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16)))
#define F64_OF_I8(bytes) _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(bytes))
#define F64_OF_U8(bytes) _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(bytes))
#define F64_OF_I16(halves) _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(halves))
#define F64_OF_U16(halves) _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(halves))
#define AS_IS(words) words
LOAD8(f64, f16, F32_OF_F16, _mm_maskz_loadu_epi16)
LOAD8(f64, bf16, F32_OF_BF16, _mm_maskz_loadu_epi16)
LOAD8(f64, f32, _mm512_cvtps_pd, _mm256_maskz_loadu_ps)
LOAD8(f64, f64, AS_IS, _mm512_maskz_loadu_pd)
LOAD8(f64, i8, F64_OF_I8, _mm_maskz_loadu_epi8)
LOAD8(f64, u8, F64_OF_U8, _mm_maskz_loadu_epi8)
LOAD8(f64, i16, F64_OF_I16, _mm_maskz_loadu_epi16)
LOAD8(f64, u16, F64_OF_U16, _mm_maskz_loadu_epi16)
LOAD8(f64, i32, _mm512_cvtepi32_pd, _mm256_maskz_loadu_epi32)
LOAD8(f64, u32, _mm512_cvtepu32_pd, _mm256_maskz_loadu_epi32)
LOAD8(f64, i64, _mm512_cvtepi64_pd, _mm512_maskz_loadu_epi64)
LOAD8(f64, u64, _mm512_cvtepu64_pd, _mm512_maskz_loadu_epi64)
LOAD8(i64, i8, _mm512_cvtepi8_epi64, _mm_maskz_loadu_epi8)
LOAD8(u64, u8, _mm512_cvtepu8_epi64, _mm_maskz_loadu_epi8)
LOAD8(i64, i16, _mm512_cvtepi16_epi64, _mm_maskz_loadu_epi16)
LOAD8(u64, u16, _mm512_cvtepu16_epi64, _mm_maskz_loadu_epi16)
LOAD8(i64, i32, _mm512_cvtepi32_epi64, _mm256_maskz_loadu_epi32)
LOAD8(u64, u32, _mm512_cvtepu32_epi64, _mm256_maskz_loadu_epi32)
LOAD8(i64, i64, AS_IS, _mm512_maskz_loadu_epi64)
LOAD8(u64, u64, AS_IS, _mm512_maskz_loadu_epi64)
#undef F32_OF_F16
#undef F32_OF_BF16
#undef F64_OF_I8
#undef F64_OF_U8
#undef F64_OF_I16
#undef F64_OF_U16
#undef AS_IS
#else
#define LOAD8(kind, name, element, word, value)                                                                        \
  INLINE void load_##kind##_##name(kind##x8 *to, const void *from, int64_t count) {                                    \
    const element *at = from;                                                                                          \
    word loaded[8] = {0};                                                                                              \
    if (count == 8)                                                                                                    \
      for (int k = 0; k < 8; k++) loaded[k] = (word)value(at[k]);                                                      \
    else                                                                                                               \
      for (int k = 0; k < count; k++) loaded[k] = (word)value(at[k]);                                                  \
    memcpy(to, loaded, sizeof *to);                                                                                    \
  }
LOAD8(f64, f16, ndr_f16, double, f32_of_f16)
LOAD8(f64, bf16, ndr_bf16, double, f32_of_bf16)
LOAD8(f64, f32, float, double, )
LOAD8(f64, f64, double, double, )
LOAD8(f64, i8, int8_t, double, )
LOAD8(f64, u8, uint8_t, double, )
LOAD8(f64, i16, int16_t, double, )
LOAD8(f64, u16, uint16_t, double, )
LOAD8(f64, i32, int32_t, double, )
LOAD8(f64, u32, uint32_t, double, )
LOAD8(f64, i64, int64_t, double, )
LOAD8(f64, u64, uint64_t, double, )
LOAD8(i64, i8, int8_t, int64_t, )
LOAD8(u64, u8, uint8_t, uint64_t, )
LOAD8(i64, i16, int16_t, int64_t, )
LOAD8(u64, u16, uint16_t, uint64_t, )
LOAD8(i64, i32, int32_t, int64_t, )
LOAD8(u64, u32, uint32_t, uint64_t, )
LOAD8(i64, i64, int64_t, int64_t, )
LOAD8(u64, u64, uint64_t, uint64_t, )
#endif
#undef LOAD8
