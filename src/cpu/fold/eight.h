/* Template: vectors of eight words, and how eight elements of every dtype are loaded into one. A vector is as many
 * registers of the instruction set as it takes, so that all instruction sets associate alike. It is not a vector of the
 * compiler's where there is no register of that size: GCC 12 takes such vectors apart, element by element, at each
 * conversion and shuffle.
 *
 * load_f64_DTYPE(to, at, count), load_i64_DTYPE and load_u64_DTYPE load the first `count` of eight elements, and 0
 * after them. They write to memory, which inlining removes: vectors that are returned would have another ABI on each
 * instruction set. */
#if defined __AVX512BW__
#define EIGHT_PARTS 1
#elif defined __AVX2__
#define EIGHT_PARTS 2
#else
#define EIGHT_PARTS 4
#endif

#define PART_BYTES (64 / EIGHT_PARTS)
typedef double f64_part __attribute__((vector_size(PART_BYTES)));
typedef int64_t i64_part __attribute__((vector_size(PART_BYTES)));
typedef uint64_t u64_part __attribute__((vector_size(PART_BYTES)));

typedef float f32x8 __attribute__((vector_size(32)));

typedef struct f64x8 {
  f64_part part[EIGHT_PARTS];
} f64x8;

typedef struct i64x8 {
  i64_part part[EIGHT_PARTS];
} i64x8;

typedef struct u64x8 {
  u64_part part[EIGHT_PARTS];
} u64x8;

#define EACH_PART(...)                                                                                                 \
  for (int p = 0; p < EIGHT_PARTS; p++) {                                                                              \
    __VA_ARGS__;                                                                                                       \
  }

/* Joins the eight words of each of eight vectors v[] as ((0, 1), (2, 3)), ((4, 5), (6, 7)); v[0] gets the eight
 * results. */
#if EIGHT_PARTS == 1
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define EVEN_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13)
#define ODD_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15)
#define FOLD_FOURS(MEET, v)                                                                                            \
  FOLD_PAIRS(MEET, (v)[0], (v)[2], 0);                                                                                 \
  FOLD_PAIRS(MEET, (v)[4], (v)[6], 0);                                                                                 \
  FOLD_PAIRS(MEET, (v)[0], (v)[4], 0)
#elif EIGHT_PARTS == 2
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define EVEN_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define ODD_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define FOLD_FOURS(MEET, v)                                                                                            \
  for (int r_ = 0; r_ < 8; r_ += 4) {                                                                                  \
    FOLD_PAIRS(MEET, (v)[r_], (v)[r_ + 2], 0);                                                                         \
    FOLD_PAIRS(MEET, (v)[r_], (v)[r_ + 2], 1);                                                                         \
    (v)[0].part[r_ / 4] = MEET((v)[r_].part[0], (v)[r_].part[1]);                                                      \
  }
#else
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3)
#define FOLD_FOURS(MEET, v)                                                                                            \
  for (int r_ = 0; r_ < 8; r_ += 2) {                                                                                  \
    (v)[r_].part[0] = MEET((v)[r_].part[0], (v)[r_].part[1]);                                                          \
    (v)[r_].part[2] = MEET((v)[r_].part[2], (v)[r_].part[3]);                                                          \
    (v)[0].part[r_ / 2] = MEET((v)[r_].part[0], (v)[r_].part[2]);                                                      \
  }
#endif
#define FOLD_PAIRS(MEET, a, b, p)                                                                                      \
  (a).part[p] = MEET(EVEN_PAIRS((a).part[p], (b).part[p]), ODD_PAIRS((a).part[p], (b).part[p]))
#define FOLD_EIGHT(MEET, v)                                                                                            \
  do {                                                                                                                 \
    for (int r_ = 0; r_ < 8; r_ += 2)                                                                                  \
      EACH_PART((v)[r_].part[p] =                                                                                      \
                    MEET(EVEN((v)[r_].part[p], (v)[r_ + 1].part[p]), ODD((v)[r_].part[p], (v)[r_ + 1].part[p])))       \
    FOLD_FOURS(MEET, v);                                                                                               \
  } while (0)

/* The words of a where the mask is all ones, and those of b where it is 0. */
#define PICK_PART(mask, a, b) ((__typeof__(a))(((i64_part)(a) & (mask)) | ((i64_part)(b) & ~(mask))))

/* Sets the first `count` of eight words to all ones, and the others to 0. */
INLINE void first_of_eight(i64x8 *words, int64_t count) {
  static const int64_t places[] = {0, 1, 2, 3, 4, 5, 6, 7};
  memcpy(words, places, sizeof *words);
  EACH_PART(words->part[p] = words->part[p] < count)
}

static inline int64_t lower(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The first lanes of a tile whose last elements may be loaded as `unit` elements: what is loaded too much lies before
 * the end of the tile, and in a page of a row. Masked loads are avoided, because on a Zen 5 core those that miss the
 * first-level cache do not overlap: rows of 7 f32 run at 4 GB/s with them, and at 16 without. */
static inline int64_t lanes_with(int64_t unit, const ndr_tile *tile, int64_t bytes) {
  int64_t stride = tile->lane_stride, more = (unit - tile->rows % unit) % unit;
  if (stride < tile->rows || (stride - tile->rows) * bytes >= 4096) return 0;
  int64_t lanes = tile->lanes - 1 - (more + stride - 1) / stride;
  return lanes < 0 ? 0 : lanes + 1;
}

#ifdef __AVX512BW__
#define LOAD8(kind, name, widen, load)                                                                                 \
  INLINE void load_##kind##_##name(kind##x8 *to, const void *at, int64_t count) {                                      \
    const __mmask8 some = (__mmask8)((1u << count) - 1);                                                               \
    to->part[0] = (kind##_part)widen(load(some, at));                                                                  \
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
#elif defined __AVX2__ && defined __F16C__
static inline __m128i four_bytes(const void *at) {
  int bytes;
  memcpy(&bytes, at, sizeof bytes);
  return _mm_cvtsi32_si128(bytes);
}

/* The highest bit changes sides: the difference is 2^31, and both steps are exact. */
static inline __m256d f64_of_four_u32(const void *at) {
  const __m128i words = _mm_xor_si128(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi32(INT32_MIN));
  return _mm256_add_pd(_mm256_cvtepi32_pd(words), _mm256_set1_pd(0x1p31));
}

/* As f64_of_u64 and f64_of_i64. */
static inline __m256d f64_of_four_halves(__m256i high, __m256i words, double excess) {
  const __m256i low = _mm256_blend_epi32(words, _mm256_set1_epi64x(0x4330000000000000), 0xaa);
  high = _mm256_or_si256(high, _mm256_set1_epi64x(0x4530000000000000));
  return _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(excess)), _mm256_castsi256_pd(low));
}

static inline __m256d f64_of_four_u64(const void *at) {
  const __m256i words = _mm256_loadu_si256((const __m256i *)at);
  return f64_of_four_halves(_mm256_srli_epi64(words, 32), words, 0x1p84 + 0x1p52);
}

static inline __m256d f64_of_four_i64(const void *at) {
  const __m256i words = _mm256_loadu_si256((const __m256i *)at);
  const __m256i high = _mm256_xor_si256(_mm256_srli_epi64(words, 32), _mm256_set1_epi64x(0x80000000));
  return f64_of_four_halves(high, words, 0x1p84 + 0x1p63 + 0x1p52);
}

/* Two registers of four: FOUR loads one. Less than eight are rare. */
#define LOAD8(kind, name, element, word, value, FOUR)                                                                  \
  INLINE void load_##kind##_##name(kind##x8 *to, const void *from, int64_t count) {                                    \
    const element *at = from;                                                                                          \
    if (count == 8) {                                                                                                  \
      to->part[0] = (kind##_part)FOUR(at);                                                                             \
      to->part[1] = (kind##_part)FOUR(at + 4);                                                                         \
      return;                                                                                                          \
    }                                                                                                                  \
    word loaded[8] = {0};                                                                                              \
    for (int k = 0; k < count; k++) loaded[k] = (word)value(at[k]);                                                    \
    memcpy(to, loaded, sizeof *to);                                                                                    \
  }
#define FOUR_HALVES(at) _mm_loadl_epi64((const __m128i *)(const void *)(at))
#define FOUR_WORDS(at) _mm_loadu_si128((const __m128i *)(const void *)(at))
#define FOUR_LONGS(at) _mm256_loadu_si256((const __m256i *)(const void *)(at))
#define F64_OF_F16(at) _mm256_cvtps_pd(_mm_cvtph_ps(FOUR_HALVES(at)))
#define F64_OF_BF16(at) _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(FOUR_HALVES(at)), 16)))
#define F64_OF_F32(at) _mm256_cvtps_pd(_mm_loadu_ps(at))
#define F64_OF_I8(at) _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(four_bytes(at)))
#define F64_OF_U8(at) _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(four_bytes(at)))
#define F64_OF_I16(at) _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(FOUR_HALVES(at)))
#define F64_OF_U16(at) _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(FOUR_HALVES(at)))
#define F64_OF_I32(at) _mm256_cvtepi32_pd(FOUR_WORDS(at))
#define I64_OF_I8(at) _mm256_cvtepi8_epi64(four_bytes(at))
#define U64_OF_U8(at) _mm256_cvtepu8_epi64(four_bytes(at))
#define I64_OF_I16(at) _mm256_cvtepi16_epi64(FOUR_HALVES(at))
#define U64_OF_U16(at) _mm256_cvtepu16_epi64(FOUR_HALVES(at))
#define I64_OF_I32(at) _mm256_cvtepi32_epi64(FOUR_WORDS(at))
#define U64_OF_U32(at) _mm256_cvtepu32_epi64(FOUR_WORDS(at))
LOAD8(f64, f16, ndr_f16, double, f32_of_f16, F64_OF_F16)
LOAD8(f64, bf16, ndr_bf16, double, f32_of_bf16, F64_OF_BF16)
LOAD8(f64, f32, float, double, , F64_OF_F32)
LOAD8(f64, f64, double, double, , _mm256_loadu_pd)
LOAD8(f64, i8, int8_t, double, , F64_OF_I8)
LOAD8(f64, u8, uint8_t, double, , F64_OF_U8)
LOAD8(f64, i16, int16_t, double, , F64_OF_I16)
LOAD8(f64, u16, uint16_t, double, , F64_OF_U16)
LOAD8(f64, i32, int32_t, double, , F64_OF_I32)
LOAD8(f64, u32, uint32_t, double, , f64_of_four_u32)
LOAD8(f64, i64, int64_t, double, , f64_of_four_i64)
LOAD8(f64, u64, uint64_t, double, , f64_of_four_u64)
LOAD8(i64, i8, int8_t, int64_t, , I64_OF_I8)
LOAD8(u64, u8, uint8_t, uint64_t, , U64_OF_U8)
LOAD8(i64, i16, int16_t, int64_t, , I64_OF_I16)
LOAD8(u64, u16, uint16_t, uint64_t, , U64_OF_U16)
LOAD8(i64, i32, int32_t, int64_t, , I64_OF_I32)
LOAD8(u64, u32, uint32_t, uint64_t, , U64_OF_U32)
LOAD8(i64, i64, int64_t, int64_t, , FOUR_LONGS)
LOAD8(u64, u64, uint64_t, uint64_t, , FOUR_LONGS)
#undef FOUR_HALVES
#undef FOUR_WORDS
#undef FOUR_LONGS
#undef F64_OF_F16
#undef F64_OF_BF16
#undef F64_OF_F32
#undef F64_OF_I8
#undef F64_OF_U8
#undef F64_OF_I16
#undef F64_OF_U16
#undef F64_OF_I32
#undef I64_OF_I8
#undef U64_OF_U8
#undef I64_OF_I16
#undef U64_OF_U16
#undef I64_OF_I32
#undef U64_OF_U32
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

/* ---- sums of lanes for moments.h ---- */

/* Where the sums of lanes are stored, as f64 words: the number of elements, the sum of their distances from the lane's
 * shift, and that of the squared distances. Without shifts (NULL) only the sum of squared elements is. */
typedef struct lane_sums {
  const double *shift;
  uint64_t *count, *sum, *square;
} lane_sums;

/* The same of eight lanes, in registers. `count` is used only where elements may be missing. */
typedef struct eight_sums {
  f64x8 count, sum, square;
} eight_sums;

#define EIGHT_AT(words, l, p) ((words) + (l) + (p) * (8 / EIGHT_PARTS))

INLINE void take_sums(eight_sums *to, const lane_sums *sums, int64_t l, bool counted) {
  EACH_PART(LOAD_VECTOR(to->square.part[p], EIGHT_AT(sums->square, l, p));
            if (sums->shift) LOAD_VECTOR(to->sum.part[p], EIGHT_AT(sums->sum, l, p));
            if (sums->shift && counted) LOAD_VECTOR(to->count.part[p], EIGHT_AT(sums->count, l, p)))
}

INLINE void store_sums(eight_sums *from, const lane_sums *sums, int64_t l, bool counted) {
  EACH_PART(STORE_VECTOR(EIGHT_AT(sums->square, l, p), from->square.part[p]);
            if (sums->shift) STORE_VECTOR(EIGHT_AT(sums->sum, l, p), from->sum.part[p]);
            if (sums->shift && counted) STORE_VECTOR(EIGHT_AT(sums->count, l, p), from->count.part[p]))
}

/* How many eights of lanes of a run have their sums in registers: of moments, and of squares alone. */
#define RUN_MOMENTS (4 / EIGHT_PARTS)
#define RUN_SQUARES (EIGHT_PARTS == 1 ? 4 : 8 / EIGHT_PARTS)
