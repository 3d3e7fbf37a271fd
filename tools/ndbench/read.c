/* The ceiling: loops that do nothing but read. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "ndbench/ndbench.h"

typedef uint64_t read_words(const uint64_t *words, size_t count);

/* One stream; the compiler vectorises the sum. */
#define PLAIN(name, attributes)                                                                                        \
  attributes static uint64_t name(const uint64_t *words, size_t count) {                                               \
    uint64_t sum = 0;                                                                                                  \
    for (size_t i = 0; i < count; i++) sum += words[i];                                                                \
    return sum;                                                                                                        \
  }

/* The same, asking for the page ahead, where the hardware's own prefetch stops at the end of one. Past the end of the
 * array that is harmless: a prefetch never faults. */
enum { AHEAD = 512 };
#define PREFETCHED(name, attributes)                                                                                   \
  attributes static uint64_t name(const uint64_t *words, size_t count) {                                               \
    uint64_t sum = 0;                                                                                                  \
    size_t i = 0;                                                                                                      \
    for (; i + 64 <= count; i += 64) {                                                                                 \
      for (size_t line = 0; line < 64; line += 8) __builtin_prefetch(words + i + line + AHEAD);                        \
      for (size_t w = 0; w < 64; w++) sum += words[i + w];                                                             \
    }                                                                                                                  \
    for (; i < count; i++) sum += words[i];                                                                            \
    return sum;                                                                                                        \
  }

/* Four streams, a quarter each: more pages are open at once. */
#define FOUR(name, attributes)                                                                                         \
  attributes static uint64_t name(const uint64_t *words, size_t count) {                                               \
    const size_t quarter = count / 4;                                                                                  \
    const uint64_t *a = words, *b = a + quarter, *c = b + quarter, *d = c + quarter;                                   \
    uint64_t sum = 0;                                                                                                  \
    for (size_t i = 0; i < quarter; i++) sum += (a[i] + b[i]) + (c[i] + d[i]);                                         \
    for (size_t i = 4 * quarter; i < count; i++) sum += words[i];                                                      \
    return sum;                                                                                                        \
  }

#define ALL(isa, attributes)                                                                                           \
  PLAIN(plain_##isa, attributes)                                                                                       \
  PREFETCHED(ahead_##isa, attributes)                                                                                  \
  FOUR(four_##isa, attributes)

ALL(base, )
#if defined __x86_64__
ALL(avx2, __attribute__((target("avx2"))))
ALL(avx512, __attribute__((target("avx512f"))))
#endif

enum { KINDS = 3 };

static read_words *reader(int kind) {
  static read_words *const base[KINDS] = {plain_base, ahead_base, four_base};
#if defined __x86_64__
  static read_words *const avx2[KINDS] = {plain_avx2, ahead_avx2, four_avx2};
  static read_words *const avx512[KINDS] = {plain_avx512, ahead_avx512, four_avx512};
  if (__builtin_cpu_supports("avx512f")) return avx512[kind];
  if (__builtin_cpu_supports("avx2")) return avx2[kind];
#endif
  return base[kind];
}

/* Threads take pieces as they come for them: one that another program slows down takes fewer. */
static uint64_t read_pieces(read_words *read, const uint64_t *words, size_t count, int threads) {
  enum { PIECE = (1 << 20) / sizeof *words };
  uint64_t total = 0;
  (void)threads; /* not used without OpenMP */
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : total)
  for (size_t first = 0; first < count; first += PIECE)
    total += read(words + first, count - first < PIECE ? count - first : PIECE);
  return total;
}

/* Loops 0 to 2 give each thread one part; 3 reads on one thread, which wins while an array is small; 4 shares out
 * pieces. */
bool bench_read(int loop, const void *memory, size_t bytes, int threads, uint64_t *sum) {
  const uint64_t *words = memory;
  size_t count = bytes / sizeof *words;
  if (loop > KINDS + 1) return false;
  read_words *read = reader(loop % KINDS);
  if (loop == KINDS || threads == 1) {
    *sum += read(words, count);
    return true;
  }
  if (loop == KINDS + 1) {
    *sum += read_pieces(reader(0), words, count, threads);
    return true;
  }
  uint64_t total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
#ifdef _OPENMP
    size_t thread = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
#else
    size_t thread = 0, team = 1;
#endif
    size_t first = count * thread / team, last = count * (thread + 1) / team;
    total += read(words + first, last - first);
  }
  *sum += total;
  return true;
}
