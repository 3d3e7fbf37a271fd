/* The reference: scans every problem one element after the other, from the definitions. Lines are shared out to
 * threads. */
#include <stdatomic.h>

#include "cpu/pool.h"
#include "cpu/scan/scans.h"
#include "cpu/scan/states.h"

/* What an element takes, roughly. */
#define NANOSECONDS 100

typedef struct job {
  const ndr_scan_problem *problem;
  const void *const *data;
  char *result;
  ndr_state state;
  _Atomic int64_t next;
} job;

static void store(const job *all, const uint64_t *words, int64_t at) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(all->problem->result_dtype);
  ndr_state_finish(&all->state, words, 1, 1, 1, all->result + at * bytes, 1);
}

/* Moves to the next element of a line: the innermost axis that has one goes on, those inside it begin anew. */
static void next_element(const ndr_scan_problem *problem, int64_t *at, ndr_scan_place *place) {
  for (int a = 0; a < problem->scan_count; a++) {
    const ndr_scan_axis *axis = &problem->scan[a];
    if (++at[a] < axis->size) {
      ndr_scan_step(problem, axis, 1, place);
      return;
    }
    ndr_scan_step(problem, axis, 1 - axis->size, place);
    at[a] = 0;
  }
}

/* An element is read before its place is written, which may be the same. */
static void scan_line(const job *all, int64_t line) {
  const ndr_scan_problem *problem = all->problem;
  uint64_t running[NDR_MAX_PROGRAM_WORDS] = {0}, own[NDR_MAX_PROGRAM_WORDS] = {0};
  int64_t at[NDR_MAX_DIMS] = {0};
  ndr_scan_place place;
  ndr_scan_line(problem, line, &place);
  ndr_state_identity(&all->state, running, 1, 1);
  if (problem->longer) store(all, running, place.result - problem->result_step);
  for (int64_t i = 0; i < problem->length; i++) {
    ndr_scan_state_of(problem, &all->state, all->data, &place, own);
    if (problem->exclusive) store(all, running, place.result);
    ndr_state_merge(&all->state, running, 1, 1, own, 1, 1, 1);
    if (!problem->exclusive) store(all, running, place.result);
    next_element(problem, at, &place);
  }
}

static void scan_lines(void *context, int thread) {
  job *all = context;
  (void)thread;
  for (int64_t line; (line = atomic_fetch_add(&all->next, 1)) < all->problem->lines;) scan_line(all, line);
}

static void run(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace) {
  const ndr_scan_problem *problem = &plan->problem;
  job all = {problem, data, result, ndr_scan_state(problem), 0};
  double elements = (double)problem->lines * (double)(problem->length + 1);
  (void)workspace;
  int64_t nanoseconds = elements < 1e15 ? (int64_t)elements * NANOSECONDS : INT64_MAX;
  int64_t threads = problem->lines < plan->threads ? problem->lines : plan->threads;
  ndr_pool_run(nanoseconds < 100000 ? 1 : (int)threads, nanoseconds, scan_lines, &all);
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  (void)problem;
  (void)device;
  (void)text;
  return NULL;
}

static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  (void)device;
  return NANOSECONDS * 1e-9 * (double)problem->lines * (double)(problem->length + 1);
}

static void configure(ndr_scan_plan *plan) {
  plan->workspace = 0;
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  (void)plan;
  ndr_text_append(text, capacity, &length, "one element after the other");
  return length;
}

const ndr_cpu_scan_family ndr_cpu_scan_scalar = {{"scalar", reject, cost, configure, describe}, run};
