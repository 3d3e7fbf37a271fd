/* Adds blocks whose labels are sorted, the runs of which are parts. Threads take blocks one by one. Where blocks have
 * outputs in common they are merged in the order of the blocks, so that bits do not depend on the threads. */
#include <pthread.h>
#include <stdlib.h>

#include "api/parts/parts_inside.h"
#include "api/parts/sorted.h"

/* What the threads share. */
typedef struct adding {
  const ndr_parts *parts;
  ndr_sorted cut;
  const ndr_request *whole;
  uint64_t *const *states;
  int64_t outputs;
  _Atomic int64_t next; /* the block that is taken next */
  _Atomic int failed;   /* the last status that is not NDR_OK */
  pthread_mutex_t lock;
  pthread_cond_t turned;
  int64_t turn; /* the block that is merged next */
} adding;

/* A thread's block. */
typedef struct adder {
  ndr_sorted sorted;
  ndr_parts block;
  char *scratch;       /* the states of all runs */
  size_t of_run, room; /* bytes of one run's states, and of scratch */
} adder;

/* Plans the runs of a block. */
static ndr_status plan_runs(adder *a) {
  ndr_parts *block = &a->block;
  ndr_parts_free_plans(block);
  for (int64_t r = 0; r < a->sorted.run_count; r++) {
    const ndr_sorted_run *run = &a->sorted.runs[r];
    NDR_TRY(ndr_parts_append(block, (part){.piece = {run->begin, 1, 1, 1, run->count, run->label, 1}}));
    NDR_TRY(ndr_parts_plan(block, r, true, &block->options));
  }
  NDR_TRY(ndr_parts_scratch(block, &a->of_run));
  a->of_run = (a->of_run + 63) / 64 * 64;
  size_t bytes = a->of_run * (size_t)block->count;
  if (bytes <= a->room) return NDR_OK;
  free(a->scratch);
  a->room = 0;
  a->scratch = aligned_alloc(64, bytes);
  if (!a->scratch)
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for the states of %lld runs", (long long)block->count);
  a->room = bytes;
  return NDR_OK;
}

static ndr_status reduce_block(adder *a, int64_t number) {
  bool same = ndr_sorted_copy(&a->sorted, number);
  a->block.request = a->sorted.request;
  if (!same) NDR_TRY(plan_runs(a));
  for (int64_t r = 0; r < a->block.count; r++)
    NDR_TRY(
        ndr_part_reduce(&a->block, &a->block.parts[r], a->sorted.data, a->scratch + (size_t)r * a->of_run, NULL, NULL));
  return NDR_OK;
}

static ndr_status merge_block(const adding *shared, const adder *a) {
  for (int64_t r = 0; r < a->block.count; r++)
    NDR_TRY(ndr_part_merge(&a->block, &a->block.parts[r], shared->whole, shared->states, shared->outputs,
                           a->scratch + (size_t)r * a->of_run, NULL));
  return NDR_OK;
}

/* Blocks are taken in order, so that the thread whose turn it is does not wait. */
static void wait_for_turn(adding *shared, int64_t number) {
  pthread_mutex_lock(&shared->lock);
  while (shared->turn < number) pthread_cond_wait(&shared->turned, &shared->lock);
  pthread_mutex_unlock(&shared->lock);
}

static void end_turn(adding *shared, int64_t number) {
  pthread_mutex_lock(&shared->lock);
  shared->turn = number + 1;
  pthread_cond_broadcast(&shared->turned);
  pthread_mutex_unlock(&shared->lock);
}

/* After a failure blocks are passed over, but for their turns. */
static void add_blocks(adding *shared, adder *a) {
  ndr_status status = ndr_sorted_open(&a->sorted, &shared->cut);
  if (status != NDR_OK) atomic_store(&shared->failed, (int)status);
  for (int64_t number; status == NDR_OK && (number = atomic_fetch_add(&shared->next, 1)) < a->sorted.blocks;) {
    if (atomic_load(&shared->failed) == NDR_OK) status = reduce_block(a, number);
    if (!a->sorted.disjoint) wait_for_turn(shared, number);
    if (status == NDR_OK && atomic_load(&shared->failed) == NDR_OK) status = merge_block(shared, a);
    if (status != NDR_OK) atomic_store(&shared->failed, (int)status);
    if (!a->sorted.disjoint) end_turn(shared, number);
  }
  ndr_sorted_close(&a->sorted);
}

static void add_task(void *context, int64_t number) {
  adding *shared = context;
  adder a = {
      .block = {.backend = shared->parts->backend, .device = shared->parts->device, .options = shared->parts->options}};
  (void)number;
  a.block.options.threads = 1;
  add_blocks(shared, &a);
  ndr_parts_free_plans(&a.block);
  free(a.block.parts);
  free(a.scratch);
}

ndr_status ndr_parts_add_sorted(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                                uint64_t *const *states, int64_t outputs) {
  const ndr_problem *problem = &parts->request.problem;
  int threads = parts->options.threads > 0 ? parts->options.threads : ndr_thread_count();
  double bytes = (double)ndr_dtype_bytes(problem->dtype);
  for (int d = 0; d < problem->ndim; d++) bytes *= (double)problem->shape[d];
  adding shared = {.parts = parts, .whole = whole, .states = states, .outputs = outputs};
  ndr_sorted_cut(&shared.cut, &parts->request, data);
  if (threads > shared.cut.blocks) threads = (int)shared.cut.blocks;
  pthread_mutex_init(&shared.lock, NULL);
  pthread_cond_init(&shared.turned, NULL);
  parts->backend->run_tasks(threads, threads, (int64_t)(bytes / 4), add_task, &shared);
  pthread_cond_destroy(&shared.turned);
  pthread_mutex_destroy(&shared.lock);
  ndr_status status = (ndr_status)atomic_load(&shared.failed);
  return status == NDR_OK ? NDR_OK : ndr_fail(status, "a block could not be reduced: %s", ndr_status_name(status));
}
