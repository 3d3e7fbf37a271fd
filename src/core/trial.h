/* What NDR_MEASURE times plans with: an array to read, room for results, a clock, and a way to empty the cache. */
#ifndef NDR_CORE_TRIAL_H
#define NDR_CORE_TRIAL_H

#include "core/plan.h"

/* Scratch in place of an array that is not there is no larger than this. */
#define NDR_MOST_SCRATCH (INT64_C(1) << 31)

typedef struct ndr_trial {
  const ndr_plan *asked; /* what is timed are plans of its problem on its device */
  const void *data;      /* element 0 of the array; NULL: scratch is taken */
  void *stream;
  void *data_scratch, *result_scratch[NDR_MAX_OPS], *results[NDR_MAX_OPS];
  /* Reads more than the device's cache holds; NULL: a host's, whose caches runs find as the run before left them. */
  ndr_plan *sweep;
  void *sweep_scratch;
} ndr_trial;

/* Completes a trial; `asked`, `data` and `stream` must be set. Fails with NDR_ERR_UNSUPPORTED if the stream cannot be
 * timed now, and with NDR_ERR_MEMORY if scratch does not fit. The trial is to be ended even then. */
ndr_status ndr_trial_begin(ndr_trial *trial);

/* The average seconds of one of `runs` runs in a row, above 0. A sweep, if there is one, goes first. It empties the
 * cache, so that the array comes from memory as in a program that has done something else since; and it takes long
 * enough for the host to queue the runs meanwhile, so that the runs are timed and not their launches. */
ndr_status ndr_trial_time(const ndr_trial *trial, const ndr_plan *plan, int runs, double *seconds);

void ndr_trial_end(ndr_trial *trial);

/* What the host's clock shows, in seconds. */
double ndr_trial_now(void);

#endif
