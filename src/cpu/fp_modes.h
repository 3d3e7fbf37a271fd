/* How a thread rounds and whether it flushes denormal numbers to zero. Threads that share a job have the modes of its
 * caller, so that results do not depend on who computes them. */
#ifndef NDR_CPU_FP_MODES_H
#define NDR_CPU_FP_MODES_H

#include <stdint.h>

#if defined __SSE2__
#include <immintrin.h>
#endif

/* The modes of the calling thread. */
static inline uint64_t ndr_fp_modes(void) {
#if defined __SSE2__
  return _mm_getcsr();
#elif defined __aarch64__
  uint64_t modes;
  __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
  return modes;
#else
  return 0;
#endif
}

static inline void ndr_set_fp_modes(uint64_t modes) {
#if defined __SSE2__
  _mm_setcsr((unsigned)modes);
#elif defined __aarch64__
  __asm__ volatile("msr fpcr, %0" : : "r"(modes));
#else
  (void)modes;
#endif
}

#endif
