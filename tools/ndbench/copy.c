/* The ceiling where results are a large part of what moves: loops that do nothing but copy. */
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "ndbench/ndbench.h"

typedef void copy_bytes(char *to, const char *from, size_t bytes);

static void copy_cached(char *to, const char *from, size_t bytes) {
  memcpy(to, from, bytes);
}

/* Past the caches, where the processor need not read a line before it is overwritten. */
static void copy_streamed(char *to, const char *from, size_t bytes) {
#if defined __x86_64__
  size_t i = 0;
  for (; i + sizeof(long long) <= bytes; i += sizeof(long long)) {
    long long word;
    memcpy(&word, from + i, sizeof word);
    __builtin_ia32_movnti64((long long *)(to + i), word);
  }
  memcpy(to + i, from + i, bytes - i);
  __builtin_ia32_sfence();
#else
  memcpy(to, from, bytes);
#endif
}

/* Loops 0 and 1 give each thread one part; 2 and 3 copy on one thread. */
bool bench_copy(int loop, void *to, const void *from, size_t bytes, int threads) {
  static copy_bytes *const kinds[] = {copy_cached, copy_streamed};
  if (loop > 3) return false;
  copy_bytes *copy = kinds[loop % 2];
  if (loop >= 2 || threads == 1) {
    copy(to, from, bytes);
    return true;
  }
#pragma omp parallel num_threads(threads)
  {
#ifdef _OPENMP
    size_t thread = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
#else
    size_t thread = 0, team = 1;
#endif
    size_t lines = bytes / 64, first = lines * thread / team * 64;
    size_t end = thread + 1 == team ? bytes : lines * (thread + 1) / team * 64;
    copy((char *)to + first, (const char *)from + first, end - first);
  }
  return true;
}
