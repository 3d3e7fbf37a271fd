/* See measure.h: a race of the families, each timed in turns. The clock and the scratch are in trial.c;
 * measurements.c remembers the winner. */
#include "core/measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/measurements.h"
#include "core/trial.h"

/* Each candidate is run once to load its kernels, then in turns with the others, so that a clock that changes its pace
 * meets all of them. Without a sweep a turn of a short one is a batch, which hides the clock's own cost, and the best
 * turn counts: what disturbs a host only makes it slower. With a sweep a turn is one run, timed in steps of up to half
 * a microsecond that may fall either way: the median counts. */
enum { BATCH_TURNS = 7, SINGLE_TURNS = 20, LEAST_TURNS = 2, MOST_BATCH = 64 };
static const double turn_seconds = 200e-6, total_seconds = 0.1;

/* Slower than the best by this factor, and by more than a disturbance would explain: out. Another choice than the
 * model's must win by the margin, or noise would decide between equals. */
static const double out_of_the_race = 2, disturbance = 100e-6, margin = 1.03;

typedef struct candidate {
  ndr_plan *plan; /* NULL: rejects, or hopeless */
  int batch, count;
  double turns[1 + SINGLE_TURNS]; /* ascending */
  double seconds;                 /* what counts of them; 0: none yet */
} candidate;

typedef struct race {
  ndr_trial trial;
  candidate candidates[NDR_MAX_FAMILIES];
  double start; /* less what went into loading kernels since */
} race;

/* The families that can and might win, as plans; *able is how many can. */
static ndr_status enter_candidates(race *r, int *able) {
  char reason[160];
  const ndr_plan *asked = r->trial.asked;
  double least = asked->family->cost(&asked->problem, &asked->device);
  *able = 0;
  for (int f = 0; asked->backend->families[f] && f < NDR_MAX_FAMILIES; f++) {
    const ndr_family *family = asked->backend->families[f];
    if (family->reject(&asked->problem, &asked->device, reason)) continue;
    ++*able;
    if (family->cost(&asked->problem, &asked->device) > NDR_HOPELESS * least) continue;
    ndr_plan *made = malloc(sizeof *made);
    if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
    *made = *asked;
    made->family = family;
    family->configure(made);
    r->candidates[f].plan = made;
  }
  return NDR_OK;
}

static void add_turn(const race *r, candidate *c, double seconds) {
  int at = c->count++;
  for (; at > 0 && c->turns[at - 1] > seconds; at--) c->turns[at] = c->turns[at - 1];
  c->turns[at] = seconds;
  c->seconds = c->turns[r->trial.sweep ? c->count / 2 : 0];
}

/* The first run may be all loading or compiling, so the second counts. On a host, where kernels need neither, a long
 * one is not run again. */
static ndr_status warm_up(race *r) {
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    candidate *c = &r->candidates[f];
    double first, seconds;
    if (!c->plan) continue;
    NDR_TRY(ndr_trial_time(&r->trial, c->plan, 1, &first));
    seconds = first;
    if (c->plan->backend->clock_start || first < total_seconds)
      NDR_TRY(ndr_trial_time(&r->trial, c->plan, 1, &seconds));
    r->start += first - seconds;
    add_turn(r, c, seconds);
    double batch = r->trial.sweep ? 1 : turn_seconds / seconds;
    c->batch = batch < 1 ? 1 : batch > MOST_BATCH ? MOST_BATCH : (int)batch;
  }
  return NDR_OK;
}

static double best_seconds(const race *r) {
  double best = 0;
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    double seconds = r->candidates[f].seconds;
    if (seconds > 0 && (best <= 0 || seconds < best)) best = seconds;
  }
  return best;
}

static ndr_status take_turns(race *r) {
  double limit = out_of_the_race * best_seconds(r) + disturbance;
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    candidate *c = &r->candidates[f];
    double seconds;
    if (!c->plan || c->seconds > limit) continue;
    NDR_TRY(ndr_trial_time(&r->trial, c->plan, c->batch, &seconds));
    add_turn(r, c, seconds);
  }
  return NDR_OK;
}

static void announce_winner(const race *r, ndr_timings *timings) {
  double best = best_seconds(r);
  *timings = (ndr_timings){.choice = NULL};
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    const candidate *c = &r->candidates[f];
    timings->seconds[f] = c->seconds;
    if (!c->plan) continue;
    bool stands = c->plan->family == r->trial.asked->family && c->seconds <= margin * best;
    if (stands || (!timings->choice && c->seconds <= best)) timings->choice = c->plan->family;
  }
}

static ndr_status remember(const ndr_plan *asked, const ndr_timings *timings) {
  char key[NDR_MEASUREMENT_KEY];
  ndr_measurement_key(asked, key);
  ndr_measurement *made = ndr_measurement_make(key, asked->backend, timings);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a measurement");
  ndr_measurements_remember(1, &made);
  return NDR_OK;
}

static ndr_status run_race(race *r, ndr_timings *timings) {
  int able;
  NDR_TRY(enter_candidates(r, &able));
  if (able < 2) return NDR_OK;
  NDR_TRY(ndr_trial_begin(&r->trial));
  int most = r->trial.sweep ? SINGLE_TURNS : BATCH_TURNS;
  r->start = ndr_trial_now();
  NDR_TRY(warm_up(r));
  for (int turn = 0; turn < most && (turn < LEAST_TURNS || ndr_trial_now() - r->start < total_seconds); turn++)
    NDR_TRY(take_turns(r));
  announce_winner(r, timings);
  return remember(r->trial.asked, timings);
}

static void end_race(race *r) {
  ndr_trial_end(&r->trial);
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) free(r->candidates[f].plan);
}

/* Threads measure one after the other. The lock guards no data: a child of fork() need not wait until it is free. */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;

static void free_turns(void) {
  turns = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, free_turns);
}

ndr_status ndr_plan_measure(ndr_plan *plan, const void *data, void *stream) {
  race r = {.trial = {.asked = plan, .data = data, .stream = stream}};
  ndr_timings timings = {.choice = NULL};
  ndr_status status = NDR_OK;
  if (plan->problem.outputs == 0 || plan->problem.length == 0) return NDR_OK;
  pthread_mutex_lock(&turns);
  /* Another thread may have had the same question. */
  if (!ndr_measurements_recall(plan, &timings)) {
    status = run_race(&r, &timings);
    end_race(&r);
  }
  pthread_mutex_unlock(&turns);
  if (status == NDR_ERR_MEMORY || status == NDR_ERR_UNSUPPORTED) {
    snprintf(plan->untimed, sizeof plan->untimed, "%s", ndr_last_error());
    return NDR_OK;
  }
  return status == NDR_OK && timings.choice ? ndr_plan_choose(plan, NULL) : status;
}
