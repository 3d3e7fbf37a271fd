/* Times the families of a plan's problem in turns and chooses the fastest. The clock and the scratch are in trial.c;
 * measurements.c remembers the choice. */
#include "core/measure/measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/measure/measurements.h"
#include "core/measure/trial.h"

/* Each candidate runs once to load its kernels, and then in turns with the others, so that a change of the processor's
 * clock rate affects all of them. Without a sweep (on a host), a turn repeats a short run, which hides the cost of
 * reading the clock, and the best turn counts: disturbances only make a host slower. With a sweep a turn is one run.
 * Its time is rounded up or down by up to half a microsecond, so that the median counts. */
enum { BATCH_TURNS = 7, SINGLE_TURNS = 20, LEAST_TURNS = 2, MOST_BATCH = 64 };
static const double turn_seconds = 200e-6, total_seconds = 0.1;

/* A candidate gets no more turns once it is slower than the best by this factor and by more than a disturbance
 * explains. Another choice than the cost model's must win by the margin, or noise would decide between equals. */
static const double out_of_the_race = 2, disturbance = 100e-6, margin = 1.03;

typedef struct candidate {
  ndr_plan *plan;                 /* NULL: the family rejects the problem, or is predicted to be too slow */
  int batch;                      /* runs of a turn */
  int count;                      /* turns so far */
  double turns[1 + SINGLE_TURNS]; /* seconds of a run in each turn, ascending */
  double seconds;                 /* the best turn or the median; 0: no turn yet */
} candidate;

typedef struct race {
  ndr_trial trial;
  candidate candidates[NDR_MAX_FAMILIES];
  double start; /* when turns began; the time for loading kernels does not count */
} race;

/* Makes a plan for each family that can run the problem and may be the fastest; *able is how many can run it. */
static ndr_status enter_candidates(race *r, int *able) {
  char reason[160];
  const ndr_plan *estimate = r->trial.estimate;
  double least = estimate->family->cost(&estimate->problem, &estimate->device);
  *able = 0;
  for (int f = 0; estimate->backend->families[f] && f < NDR_MAX_FAMILIES; f++) {
    const ndr_family *family = estimate->backend->families[f];
    if (family->reject(&estimate->problem, &estimate->device, reason)) continue;
    ++*able;
    if (family->cost(&estimate->problem, &estimate->device) > NDR_HOPELESS * least) continue;
    ndr_plan *made = malloc(sizeof *made);
    if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
    *made = *estimate;
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

/* The first run may load or compile kernels, so that the second one counts. A host does neither: if its first run is
 * long, it is not repeated. */
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
    bool stands = c->plan->family == r->trial.estimate->family && c->seconds <= margin * best;
    if (stands || (!timings->choice && c->seconds <= best)) timings->choice = c->plan->family;
  }
}

static ndr_status remember(const ndr_plan *estimate, const ndr_timings *timings) {
  char key[NDR_MEASUREMENT_KEY];
  if (!ndr_measurement_key(estimate, key)) return NDR_OK;
  ndr_measurement *made = ndr_measurement_make(key, estimate->backend, timings);
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
  return remember(r->trial.estimate, timings);
}

static void end_race(race *r) {
  ndr_trial_end(&r->trial);
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) free(r->candidates[f].plan);
}

/* Threads measure one after the other. The lock guards no data, so that a child of fork() may make a new one. */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;

static void free_turns(void) {
  turns = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, free_turns);
}

ndr_status ndr_plan_measure(ndr_plan *plan, const void *const *data, void *stream) {
  race r = {.trial = {.estimate = plan, .data = data, .stream = stream}};
  ndr_timings timings = {.choice = NULL};
  ndr_status status = NDR_OK;
  char key[NDR_MEASUREMENT_KEY];
  if (plan->problem.outputs == 0 || plan->problem.length == 0) return NDR_OK;
  if (!ndr_measurement_key(plan, key)) {
    snprintf(plan->untimed, sizeof plan->untimed, "choices for an operator that uses an index are not remembered");
    return NDR_OK;
  }
  pthread_mutex_lock(&turns);
  /* Another thread may have measured this problem in between. */
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
