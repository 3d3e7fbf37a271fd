/* The program's own OpenMP threads, where they keep the cores busy. */
#ifndef NDR_CPU_OPENMP_H
#define NDR_CPU_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/pool.h"

/* Between parallel regions, the threads of an OpenMP library poll for the next one for up to 200 ms, and take the cores
 * from the pool's threads meanwhile. If those of the calling thread do so now, runs body(context, 0) to
 * body(context, wanted - 1), or some of these, in a parallel region of that library, and returns true. Otherwise runs
 * nothing and returns false. The work takes one thread about `nanoseconds`. `awake` is the number of the pool's threads
 * that do not sleep, and pool_time() says how many nanoseconds they have run, all together. One thread calls this at a
 * time. */
bool ndr_openmp_run(int wanted, int64_t nanoseconds, int awake, int64_t (*pool_time)(void), ndr_pool_body *body,
                    void *context);

#endif
