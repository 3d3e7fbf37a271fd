/* Template: stores of whole cache lines past the caches. */
#define LINE 64

#if defined __AVX512F__
#define STREAM_LINE(to, line) _mm512_stream_si512((void *)(to), _mm512_load_si512((const void *)(line)))
#elif defined __AVX2__
#define STREAM_LINE(to, line)                                                                                          \
  for (int p_ = 0; p_ < LINE; p_ += 32)                                                                                \
  _mm256_stream_si256((__m256i *)(void *)((char *)(to) + p_), _mm256_load_si256((const void *)((line) + p_)))
#elif defined __SSE2__
#include <immintrin.h>
#define STREAM_LINE(to, line)                                                                                          \
  for (int p_ = 0; p_ < LINE; p_ += 16)                                                                                \
  _mm_stream_si128((__m128i *)(void *)((char *)(to) + p_), _mm_load_si128((const void *)((line) + p_)))
#endif

#ifdef STREAM_LINE
/* What lies before and behind the whole lines, and results that lie apart, are stored as usual. */
#define STREAM(name, word_type, to_type, value)                                                                        \
  static void stream_##name(const void *source, void *target, int64_t stride, int64_t count) {                         \
    enum { EACH = LINE / sizeof(to_type) };                                                                            \
    const word_type *from = source;                                                                                    \
    to_type *to = target;                                                                                              \
    int64_t before = (int64_t)(-(uintptr_t)target % LINE / sizeof(to_type)), i;                                        \
    if (stride != 1 || before + EACH > count) {                                                                        \
      store_##name(source, target, stride, count);                                                                     \
      return;                                                                                                          \
    }                                                                                                                  \
    store_##name(from, to, 1, before);                                                                                 \
    for (i = before; i + EACH <= count; i += EACH) {                                                                   \
      ALIGNED char line[LINE];                                                                                         \
      for (int k = 0; k < EACH; k++) {                                                                                 \
        const word_type x = from[i + k];                                                                               \
        ((to_type *)(void *)line)[k] = value;                                                                          \
      }                                                                                                                \
      STREAM_LINE(to + i, line);                                                                                       \
    }                                                                                                                  \
    store_##name(from + i, to + i, 1, count - i);                                                                      \
  }

STREAM(32, uint32_t, uint32_t, x)
STREAM(64, uint64_t, uint64_t, x)
STREAM(f64_f32, double, float, (float)x)

static void fence(void) {
  _mm_sfence();
}
#else
#define stream_32 NULL
#define stream_64 NULL
#define stream_f64_f32 NULL

static void fence(void) {}
#endif
