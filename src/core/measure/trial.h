/* What NDR_MEASURE times plans with: an array to read, room for results, a clock, and a way to empty the cache. */
#ifndef NDR_CORE_TRIAL_H
#define NDR_CORE_TRIAL_H

#include "core/plan.h"

/* The most bytes of scratch that stand for an array. */
#define NDR_MOST_SCRATCH (INT64_C(1) << 31)

typedef struct ndr_trial {
  const ndr_plan *estimate; /* the cost model's plan; plans of its problem on its device are timed */
  const void *const *data;  /* as for a backend's execute; NULL: scratch stands for the arrays */
  void *stream;
  const void *arrays[NDR_MOST_ARRAYS]; /* what stands for data if that is NULL */
  void *array_scratch[NDR_MOST_ARRAYS], *result_scratch[NDR_MAX_OPS], *results[NDR_MAX_OPS];
  /* Empties the device's cache by reading more than it holds. NULL on a host: a run finds what the run before left. */
  ndr_plan *sweep;
  void *sweep_scratch;
} ndr_trial;

/* Completes a trial; `estimate`, `data` and `stream` must be set. Fails with NDR_ERR_UNSUPPORTED if the stream cannot
 * be timed now, and with NDR_ERR_MEMORY if scratch does not fit. Call ndr_trial_end even then. */
ndr_status ndr_trial_begin(ndr_trial *trial);

/* Sets *seconds, above 0, to the average time of `runs` runs in a row. A sweep, if there is one, goes first. It empties
 * the cache, so that the array comes from memory, as in a program that works on other data in between. It also takes
 * long enough for the host to queue the runs, so that the runs are timed rather than their launches. */
ndr_status ndr_trial_time(const ndr_trial *trial, const ndr_plan *plan, int runs, double *seconds);

void ndr_trial_end(ndr_trial *trial);

/* The host's clock, in seconds. */
double ndr_trial_now(void);

#endif
