/* Template: stores of whole cache lines past the caches. */
#define LINE 64

#if defined __AVX512F__
#define STREAM_LINE(to, from) _mm512_stream_si512((void *)(to), _mm512_loadu_si512((const void *)(from)))
#elif defined __AVX2__
#define STREAM_LINE(to, from)                                                                                          \
  for (int p_ = 0; p_ < LINE; p_ += 32)                                                                                \
  _mm256_stream_si256((__m256i *)(void *)((to) + p_), _mm256_loadu_si256((const void *)((from) + p_)))
#elif defined __SSE2__
#include <immintrin.h>
#define STREAM_LINE(to, from)                                                                                          \
  for (int p_ = 0; p_ < LINE; p_ += 16)                                                                                \
  _mm_stream_si128((__m128i *)(void *)((to) + p_), _mm_loadu_si128((const void *)((from) + p_)))
#endif

/* What lies before and behind the whole lines is stored as usual. */
static void stream(const void *source, void *target, int64_t bytes) {
#ifdef STREAM_LINE
  const char *from = source;
  char *to = target;
  int64_t before = (int64_t)(-(uintptr_t)target % LINE), i;
  if (before + LINE > bytes) before = bytes;
  memcpy(to, from, (size_t)before);
  for (i = before; i + LINE <= bytes; i += LINE) STREAM_LINE(to + i, from + i);
  memcpy(to + i, from + i, (size_t)(bytes - i));
#else
  memcpy(target, source, (size_t)bytes);
#endif
}

static void fence(void) {
#ifdef STREAM_LINE
  _mm_sfence();
#endif
}
