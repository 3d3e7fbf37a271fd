/* The clocks of the system, and of threads. */
#ifndef NDR_CPU_CLOCK_H
#define NDR_CPU_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What a clock shows, in nanoseconds; 0: there is no such clock. */
static inline int64_t ndr_read_clock(clockid_t clock) {
  struct timespec time;
  return clock_gettime(clock, &time) == 0 ? (int64_t)time.tv_sec * 1000000000 + time.tv_nsec : 0;
}

#endif
