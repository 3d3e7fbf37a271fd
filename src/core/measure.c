#include "core/measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/measurements.h"

/* Each candidate is run once to warm up, then in turns with the others, so that a clock that changes its pace meets all
 * of them; its time is the best of its turns. A turn of a short one is a batch, which hides the clock's own cost. */
enum { MOST_TURNS = 7, LEAST_TURNS = 2, MOST_BATCH = 64 };
static const double turn_seconds = 200e-6, total_seconds = 0.1, shortest = 1e-9;

/* Slower than the best by this factor after a turn: out. Another choice than the model's must win by the margin, or
 * noise would decide between equals. */
static const double out_of_the_race = 2, margin = 1.03;

typedef struct candidate {
  ndr_plan *plan; /* NULL: rejects, hopeless, or out of the race */
  int batch;
  double seconds; /* the best so far */
} candidate;

typedef struct trial {
  const ndr_plan *asked;
  candidate candidates[NDR_MAX_FAMILIES];
  const void *data;
  void *stream, *data_scratch, *result_scratch[NDR_MAX_OPS], *results[NDR_MAX_OPS];
} trial;

/* ---- clocks ---- */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static ndr_status start_clock(const trial *t, void **clock, double *started) {
  const ndr_backend *backend = t->asked->backend;
  *started = now();
  return backend->clock_start ? backend->clock_start(t->asked->device.id, t->stream, clock) : NDR_OK;
}

static ndr_status stop_clock(const trial *t, void *clock, double started, double *seconds) {
  const ndr_backend *backend = t->asked->backend;
  if (backend->clock_stop) return backend->clock_stop(t->asked->device.id, t->stream, clock, seconds);
  *seconds = now() - started;
  return NDR_OK;
}

/* Whether the stream can be timed now: a clock that times nothing. */
static ndr_status try_clock(const trial *t) {
  void *clock = NULL;
  double started, seconds;
  NDR_TRY(start_clock(t, &clock, &started));
  return stop_clock(t, clock, started, &seconds);
}

/* ---- scratch ---- */

static ndr_status scratch(trial *t, int64_t elements, int64_t element_bytes, void **memory) {
  int64_t bytes;
  if (__builtin_mul_overflow(elements, element_bytes, &bytes) || bytes > NDR_MOST_SCRATCH)
    return ndr_fail(NDR_ERR_MEMORY, "%lld elements of scratch are more than is taken for it", (long long)elements);
  return t->asked->backend->allocate(t->asked->device.id, (size_t)bytes, t->stream, memory);
}

/* Zeros: denormal numbers or NaN, which memory may hold, slow some processors down. */
static ndr_status scratch_data(trial *t) {
  static const ndr_state zero = {NDR_SUM, NDR_U64, false, 0};
  const ndr_problem *problem = &t->asked->problem;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype), last = 0;
  for (int a = 0; a < problem->kept_count; a++) last += (problem->kept[a].size - 1) * problem->kept[a].stride;
  for (int a = 0; a < problem->reduced_count; a++) last += (problem->reduced[a].size - 1) * problem->reduced[a].stride;
  int64_t words = (last + 1) * bytes / 8 + 1;
  NDR_TRY(scratch(t, words, 8, &t->data_scratch));
  NDR_TRY(t->asked->backend->states_identity(&zero, t->asked->device.id, t->data_scratch, words, t->stream));
  t->data = (const void *)((uintptr_t)t->data_scratch - (uintptr_t)(problem->origin * bytes));
  return NDR_OK;
}

/* Room for result i in its layout, gaps and all. */
static ndr_status scratch_result(trial *t, int i) {
  const ndr_problem *problem = &t->asked->problem;
  if (problem->partial)
    return scratch(t, problem->outputs, 8 * ndr_state_words(problem->ops[i], problem->dtype), &t->result_scratch[i]);
  int64_t low = problem->result_origin[i], high = low, bytes;
  for (int a = 0; a < problem->kept_count; a++) {
    int64_t reach = (problem->kept[a].size - 1) * problem->kept[a].result[i];
    *(reach < 0 ? &low : &high) += reach;
  }
  bytes = (int64_t)ndr_dtype_bytes(ndr_op_result(problem->ops[i], problem->dtype));
  NDR_TRY(scratch(t, high - low + 1, bytes, &t->result_scratch[i]));
  t->results[i] = (void *)((uintptr_t)t->result_scratch[i] - (uintptr_t)(low * bytes));
  return NDR_OK;
}

static ndr_status take_scratch(trial *t) {
  if (!t->data) NDR_TRY(scratch_data(t));
  for (int i = 0; i < t->asked->problem.op_count; i++) {
    NDR_TRY(scratch_result(t, i));
    if (t->asked->problem.partial) t->results[i] = t->result_scratch[i];
  }
  return NDR_OK;
}

static void free_trial(trial *t) {
  const ndr_backend *backend = t->asked->backend;
  int id = t->asked->device.id;
  for (int i = 0; i < NDR_MAX_OPS; i++) backend->release(id, t->result_scratch[i], t->stream);
  backend->release(id, t->data_scratch, t->stream);
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) free(t->candidates[f].plan);
}

/* ---- the race ---- */

/* The families that can and might win, as plans; *able is how many can. */
static ndr_status enter_candidates(trial *t, int *able) {
  char reason[160];
  const ndr_plan *asked = t->asked;
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
    t->candidates[f].plan = made;
  }
  return NDR_OK;
}

static ndr_status time_batch(const trial *t, const ndr_plan *plan, int batch, double *seconds) {
  const ndr_backend *backend = plan->backend;
  void *workspace, *clock = NULL;
  double started, taken = 0;
  NDR_TRY(ndr_plan_borrow_workspace(plan, t->stream, &workspace));
  ndr_status status = start_clock(t, &clock, &started);
  if (status == NDR_OK) {
    for (int i = 0; status == NDR_OK && i < batch; i++)
      status = backend->execute(plan, t->data, t->results, workspace, t->stream);
    ndr_status stopped = stop_clock(t, clock, started, &taken);
    if (status == NDR_OK) status = stopped;
  }
  *seconds = taken > shortest ? taken / batch : shortest;
  ndr_plan_return_workspace(plan, workspace, t->stream);
  return status;
}

static ndr_status warm_up(trial *t) {
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    candidate *c = &t->candidates[f];
    if (!c->plan) continue;
    NDR_TRY(time_batch(t, c->plan, 1, &c->seconds));
    /* Loading a kernel may be most of this, so the batch is set by the second run. */
    if (c->seconds < total_seconds) NDR_TRY(time_batch(t, c->plan, 1, &c->seconds));
    double batch = turn_seconds / (c->seconds);
    c->batch = batch < 1 ? 1 : batch > MOST_BATCH ? MOST_BATCH : (int)batch;
  }
  return NDR_OK;
}

static double best_seconds(const trial *t) {
  double best = 0;
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    double seconds = t->candidates[f].seconds;
    if (seconds > 0 && (best <= 0 || seconds < best)) best = seconds;
  }
  return best;
}

static ndr_status race(trial *t) {
  double start = now();
  NDR_TRY(warm_up(t));
  for (int turn = 0; turn < MOST_TURNS && (turn < LEAST_TURNS || now() - start < total_seconds); turn++) {
    double limit = out_of_the_race * best_seconds(t);
    for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
      candidate *c = &t->candidates[f];
      double seconds;
      if (!c->plan || c->seconds > limit) continue;
      NDR_TRY(time_batch(t, c->plan, c->batch, &seconds));
      if (seconds < c->seconds) c->seconds = seconds;
    }
  }
  return NDR_OK;
}

static void announce_winner(const trial *t, ndr_timings *timings) {
  double best = best_seconds(t);
  *timings = (ndr_timings){.choice = NULL};
  for (int f = 0; f < NDR_MAX_FAMILIES; f++) {
    const candidate *c = &t->candidates[f];
    timings->seconds[f] = c->seconds;
    if (!c->plan) continue;
    bool stands = c->plan->family == t->asked->family && c->seconds <= margin * best;
    if (stands || (!timings->choice && c->seconds <= best)) timings->choice = c->plan->family;
  }
}

static ndr_status run_trial(trial *t, ndr_timings *timings) {
  int able;
  NDR_TRY(enter_candidates(t, &able));
  if (able < 2) return NDR_OK;
  NDR_TRY(try_clock(t));
  NDR_TRY(take_scratch(t));
  NDR_TRY(race(t));
  announce_winner(t, timings);
  char key[NDR_MEASUREMENT_KEY];
  ndr_measurement_key(t->asked, key);
  ndr_measurement *made = ndr_measurement_make(key, t->asked->backend, timings);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a measurement");
  ndr_measurements_remember(1, &made);
  return NDR_OK;
}

ndr_status ndr_plan_measure(ndr_plan *plan, const void *data, void *stream) {
  static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
  trial t = {.asked = plan, .data = data, .stream = stream};
  ndr_timings timings = {.choice = NULL};
  ndr_status status = NDR_OK;
  if (plan->problem.outputs == 0 || plan->problem.length == 0) return NDR_OK;
  pthread_mutex_lock(&turns);
  /* Another thread may have had the same question. */
  if (!ndr_measurements_recall(plan, &timings)) {
    status = run_trial(&t, &timings);
    free_trial(&t);
  }
  pthread_mutex_unlock(&turns);
  if (status == NDR_ERR_MEMORY || status == NDR_ERR_UNSUPPORTED) {
    snprintf(plan->untimed, sizeof plan->untimed, "%s", ndr_last_error());
    return NDR_OK;
  }
  return status == NDR_OK && timings.choice ? ndr_plan_choose(plan, NULL) : status;
}
