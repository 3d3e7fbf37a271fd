/* Runs work in the program's own OpenMP threads while these keep the cores busy. At all other times the pool does it
 * (pool.h). */
#ifndef NDR_CPU_OPENMP_H
#define NDR_CPU_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/pool.h"

/* Between parallel regions, the threads of an OpenMP library poll for the next one for milliseconds, and take the cores
 * from the pool's threads meanwhile. If a whole team of GNU's library does so now and the program's first thread calls,
 * runs body(context, 0) and some or all of body(context, 1) to body(context, wanted - 1) in a parallel region, and
 * returns true when these have returned. Otherwise, and where that would not pay, runs nothing and returns false.
 *
 * The work takes one thread about `nanoseconds`. `awake` pool threads do not sleep. pool_time() returns the CPU time of
 * all pool threads together, in nanoseconds. Only one thread may call this at a time. */
bool ndr_openmp_run(int wanted, int64_t nanoseconds, int awake, int64_t (*pool_time)(void), ndr_pool_body *body,
                    void *context);

/* Threads that a team must have: on two cores the pool loses nothing, and the end of a region may be late by the time
 * that another program keeps a core. Tests set it to less. */
extern int ndr_openmp_least_team;

#endif
