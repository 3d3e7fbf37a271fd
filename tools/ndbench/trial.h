/* One problem run by every kernel family that can, beside the planner's choice: what `ndbench regret` and `ndbench
 * heat` are made of. Thousands of problems share one allocation. */
#ifndef NDBENCH_TRIAL_H
#define NDBENCH_TRIAL_H

#include "ndbench/ndbench.h"

enum { MOST_FAMILIES = 8 };

/* Random data that every dtype can be read from, and room for results. */
typedef struct bench_pool {
  const bench_options *options;
  void *host, *placed;
  size_t bytes;
  void *result_host, *result;
  size_t result_bytes;
} bench_pool;

/* Makes a pool for the problems of the list. NULL, or why not. */
const char *bench_pool_open(bench_pool *pool, const bench_options *options, const bench_list *list);
void bench_pool_close(bench_pool *pool);

/* A family's run of the problem. */
typedef struct bench_runner {
  char family[16];
  ndr_plan *plan;
  const void *data;
  void *results[NDR_MAX_OPS];
  double seconds; /* the median of its samples, or, where the device says so, the least */
} bench_runner;

typedef struct bench_trial {
  const bench_problem *problem;
  double bytes;   /* distinct elements read plus results written */
  double ceiling; /* bytes a second of the best plain read loop over about as many; set by whoever measures it */
  int count;      /* families that ran it; the first is the planner's choice */
  bench_runner runners[MOST_FAMILIES];
  int best;      /* the fastest */
  double regret; /* time of the choice over that of the best, at least 1 */
  char complaint[160];
} bench_trial;

/* Sets offsets[i] to where the results of op i begin, in bytes from the start of the pool's room for results, and
 * offsets[op_count] to where the last ones end. Returns the bytes of the results; negative if the problem cannot be
 * run, and ndr_last_error says why. */
double bench_result_offsets(const ndr_problem *reduction, size_t *offsets);

/* Times the problem in every family that can run it. Each family is warmed up and timed once. Those that take less than
 * twice the least time then take turns until they have options->repeat samples each. If the planner's choice is not the
 * fastest, it and the fastest are timed again as often, and only the new samples count: the fastest of several noisy
 * times is too fast. With `verify` each family's results are compared with the CPU's. False: a run failed or was wrong,
 * and the complaint says how. */
bool bench_trial_run(const bench_pool *pool, const bench_problem *problem, bool verify, bench_trial *trial);

#endif
