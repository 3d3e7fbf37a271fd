/* Threads that help the calling thread. The caller works, and others join in as they wake up. While the program's own
 * OpenMP threads poll for work, large work is done in these instead (openmp.h). */
#ifndef NDR_CPU_POOL_H
#define NDR_CPU_POOL_H

#include <stdint.h>

/* Bytes of a thread's stack, at least: a program's default may be too small for the loops. */
#define NDR_LEAST_STACK 262144

/* Does work until none is left. Calls that run at the same time have different numbers `thread`. */
typedef void ndr_pool_body(void *context, int thread);

/* Runs body(context, 0) in the calling thread, and body(context, 1) to body(context, wanted - 1) in other threads. Not
 * all of these need to run: a thread that has not woken up when body(context, 0) returns stays away, and
 * where the pool serves another caller, or no thread can be started, the calling thread is alone. So body(context, 0)
 * must not return before all work is taken. Returns when every body that was begun has returned.
 *
 * The work takes one thread about `nanoseconds`: threads that sleep are woken only where that pays. */
void ndr_pool_run(int wanted, int64_t nanoseconds, ndr_pool_body *body, void *context);

#endif
