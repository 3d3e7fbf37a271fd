/* Template: transposes tiles of eight by eight elements. A register has one or two halves of 16 bytes, which are
 * interleaved each for itself. Elements of 32 and 64 bits use both: the halves are of different rows. */
#ifdef __AVX2__
#define HALVES 2
#define TWO(a, b)                                                                                                      \
  _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)(a))),                                  \
                          _mm_loadu_si128((const void *)(b)), 1)
#define UNPACK(half, bits, a, b) _mm256_unpack##half##_epi##bits(a, b)
#define PUT(to, v) _mm256_storeu_si256((void *)(to), v)
typedef __m256i halves;
#elif defined __SSE2__
#define HALVES 1
#define TWO(a, b) _mm_loadu_si128((const void *)(a))
#define UNPACK(half, bits, a, b) _mm_unpack##half##_epi##bits(a, b)
#define PUT(to, v) _mm_storeu_si128((void *)(to), v)
typedef __m128i halves;
#endif

/* One of the pitches is 8: as a constant, it makes addresses constants. */
#define TRANSPOSE(name, type, TILE)                                                                                    \
  static inline __attribute__((always_inline)) void tiles_##name(const type *from, int64_t from_pitch,                 \
                                                                 int64_t from_step, type *to, int64_t to_pitch,        \
                                                                 int64_t to_step, int64_t tiles, int64_t ahead) {      \
    for (int64_t t = 0; t < tiles; t++, from += from_step, to += to_step) {                                            \
      const bool begins = ahead && t * from_step * (int64_t)sizeof(type) % 64 < 8 * (int64_t)sizeof(type);             \
      for (int64_t l = 0; begins && l < 8; l++) __builtin_prefetch((const char *)(from + l * from_pitch) + ahead);     \
      TILE(type)                                                                                                       \
    }                                                                                                                  \
  }                                                                                                                    \
  static void transpose_##name(const void *from, int64_t from_pitch, int64_t from_step, void *to, int64_t to_pitch,    \
                               int64_t to_step, int64_t tiles, int64_t ahead) {                                        \
    if (to_pitch == 8)                                                                                                 \
      tiles_##name(from, from_pitch, from_step, to, 8, to_step, tiles, ahead);                                         \
    else                                                                                                               \
      tiles_##name(from, 8, from_step, to, to_pitch, to_step, tiles, 0);                                               \
  }

#define TILE_ANY(type)                                                                                                 \
  for (int64_t l = 0; l < 8; l++)                                                                                      \
    for (int64_t r = 0; r < 8; r++) to[r * to_pitch + l] = from[l * from_pitch + r];

#ifdef HALVES
/* Eight rows of eight bytes are two columns in each of four registers. */
#define LOAD_8(k) _mm_loadl_epi64((const void *)(from + (k)*from_pitch))
#define TILE_8(type)                                                                                                   \
  const __m128i a = _mm_unpacklo_epi8(LOAD_8(0), LOAD_8(1)), b = _mm_unpacklo_epi8(LOAD_8(2), LOAD_8(3));              \
  const __m128i c = _mm_unpacklo_epi8(LOAD_8(4), LOAD_8(5)), d = _mm_unpacklo_epi8(LOAD_8(6), LOAD_8(7));              \
  const __m128i e = _mm_unpacklo_epi16(a, b), f = _mm_unpackhi_epi16(a, b);                                            \
  const __m128i g = _mm_unpacklo_epi16(c, d), h = _mm_unpackhi_epi16(c, d);                                            \
  const __m128i out[] = {_mm_unpacklo_epi32(e, g), _mm_unpackhi_epi32(e, g), _mm_unpacklo_epi32(f, h),                 \
                         _mm_unpackhi_epi32(f, h)};                                                                    \
  for (int k = 0; k < 4; k++) {                                                                                        \
    _mm_storel_epi64((void *)(to + 2 * k * to_pitch), out[k]);                                                         \
    _mm_storel_epi64((void *)(to + (2 * k + 1) * to_pitch), _mm_unpackhi_epi64(out[k], out[k]));                       \
  }

/* Four columns of eight rows at a time: of the rows' low halves, then of the high ones. */
#define LOAD_16(k) _mm_loadu_si128((const void *)(from + (k)*from_pitch))
#define COLUMNS_16(half, first)                                                                                        \
  {                                                                                                                    \
    const __m128i a = _mm_unpack##half##_epi16(LOAD_16(0), LOAD_16(1));                                                \
    const __m128i b = _mm_unpack##half##_epi16(LOAD_16(2), LOAD_16(3));                                                \
    const __m128i c = _mm_unpack##half##_epi16(LOAD_16(4), LOAD_16(5));                                                \
    const __m128i d = _mm_unpack##half##_epi16(LOAD_16(6), LOAD_16(7));                                                \
    const __m128i e = _mm_unpacklo_epi32(a, b), f = _mm_unpackhi_epi32(a, b);                                          \
    const __m128i g = _mm_unpacklo_epi32(c, d), h = _mm_unpackhi_epi32(c, d);                                          \
    _mm_storeu_si128((void *)(to + (first)*to_pitch), _mm_unpacklo_epi64(e, g));                                       \
    _mm_storeu_si128((void *)(to + ((first) + 1) * to_pitch), _mm_unpackhi_epi64(e, g));                               \
    _mm_storeu_si128((void *)(to + ((first) + 2) * to_pitch), _mm_unpacklo_epi64(f, h));                               \
    _mm_storeu_si128((void *)(to + ((first) + 3) * to_pitch), _mm_unpackhi_epi64(f, h));                               \
  }
#define TILE_16(type) COLUMNS_16(lo, 0) COLUMNS_16(hi, 4)

/* Four columns of four rows in each half. */
#define LOAD_32(k) TWO(from + (i + (k)) * from_pitch + j, from + (i + 4 + (k)) * from_pitch + j)
#define TILE_32(type)                                                                                                  \
  for (int64_t i = 0; i < 8; i += 4 * HALVES)                                                                          \
    for (int64_t j = 0; j < 8; j += 4) {                                                                               \
      const halves a = LOAD_32(0), b = LOAD_32(1), c = LOAD_32(2), d = LOAD_32(3);                                     \
      const halves e = UNPACK(lo, 32, a, b), f = UNPACK(hi, 32, a, b);                                                 \
      const halves g = UNPACK(lo, 32, c, d), h = UNPACK(hi, 32, c, d);                                                 \
      PUT(to + j * to_pitch + i, UNPACK(lo, 64, e, g));                                                                \
      PUT(to + (j + 1) * to_pitch + i, UNPACK(hi, 64, e, g));                                                          \
      PUT(to + (j + 2) * to_pitch + i, UNPACK(lo, 64, f, h));                                                          \
      PUT(to + (j + 3) * to_pitch + i, UNPACK(hi, 64, f, h));                                                          \
    }

/* Two columns of two rows in each half. */
#define LOAD_64(k) TWO(from + (i + (k)) * from_pitch + j, from + (i + 2 + (k)) * from_pitch + j)
#define TILE_64(type)                                                                                                  \
  for (int64_t i = 0; i < 8; i += 2 * HALVES)                                                                          \
    for (int64_t j = 0; j < 8; j += 2) {                                                                               \
      const halves a = LOAD_64(0), b = LOAD_64(1);                                                                     \
      PUT(to + j * to_pitch + i, UNPACK(lo, 64, a, b));                                                                \
      PUT(to + (j + 1) * to_pitch + i, UNPACK(hi, 64, a, b));                                                          \
    }

#define TILE_128(type)                                                                                                 \
  for (int64_t l = 0; l < 8; l++)                                                                                      \
    for (int64_t r = 0; r < 8; r++) _mm_storeu_si128(to + r * to_pitch + l, _mm_loadu_si128(from + l * from_pitch + r));
#else
#define TILE_8 TILE_ANY
#define TILE_16 TILE_ANY
#define TILE_32 TILE_ANY
#define TILE_64 TILE_ANY
#endif

TRANSPOSE(8, uint8_t, TILE_8)
TRANSPOSE(16, uint16_t, TILE_16)
TRANSPOSE(32, uint32_t, TILE_32)
TRANSPOSE(64, uint64_t, TILE_64)
#ifdef HALVES
TRANSPOSE(128, __m128i, TILE_128)
#else
TRANSPOSE(128, ndr_c128, TILE_ANY)
#endif
