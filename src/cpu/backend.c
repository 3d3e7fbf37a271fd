/* The table of the CPU's functions and families. The loops are in nest*.c. */
#include "cpu/backend.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/family.h"
#include "cpu/labels.h"
#include "cpu/nest.h"
#include "cpu/pool.h"
#include "cpu/program/code.h"
#include "cpu/scan/scans.h"
#include "cpu/threads.h"

#define ALIGNMENT 256

static bool owns(DLDeviceType type) {
  return type == kDLCPU;
}

/* Only `units` changes plans; the other numbers are those of common server cores. */
static ndr_status device(int id, ndr_device *device) {
  if (id != 0) return ndr_fail(NDR_ERR_NO_DEVICE, "there is no CPU device %d: the CPU is device 0", id);
  *device = (ndr_device){.size = sizeof *device,
                         .type = kDLCPU,
                         .units = ndr_thread_count(),
                         .threads_per_unit = 1,
                         .shared_bytes_per_unit = 32768,
                         .shared_bytes_per_block = 32768,
                         .l2_bytes = 1 << 20,
                         .bandwidth = 30e9};
  return NDR_OK;
}

static ndr_status execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                          void *stream) {
  (void)stream;
  ((const ndr_cpu_family *)(const void *)plan->family)->run(plan, data, results, workspace);
  return NDR_OK;
}

/* Families without a nest refuse problems with a scattered axis. */
static ndr_status execute_rows(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                               void *workspace) {
  ndr_nest_execute_rows(plan, rows, data, results, workspace);
  return NDR_OK;
}

typedef struct task_list {
  _Atomic int64_t next;
  int64_t count;
  void (*task)(void *context, int64_t number);
  void *context;
} task_list;

static void do_tasks(void *context, int thread) {
  task_list *list = context;
  (void)thread;
  for (int64_t number; (number = atomic_fetch_add(&list->next, 1)) < list->count;) list->task(list->context, number);
}

static void run_tasks(int64_t count, int threads, int64_t nanoseconds, void (*task)(void *context, int64_t number),
                      void *context) {
  task_list list = {0, count, task, context};
  int wanted = threads > 0 ? threads : ndr_thread_count();
  ndr_pool_run(count < wanted ? (int)count : wanted, nanoseconds, do_tasks, &list);
}

static ndr_status allocate(int id, size_t bytes, void *stream, void **memory) {
  (void)id;
  (void)stream;
  *memory = NULL;
  if (bytes == 0) return NDR_OK;
  if (bytes <= SIZE_MAX - ALIGNMENT)
    *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (!*memory) return ndr_fail(NDR_ERR_MEMORY, "out of memory: %zu bytes", bytes);
  return NDR_OK;
}

static void release(int id, void *memory, void *stream) {
  (void)id;
  (void)stream;
  free(memory);
}

static ndr_status states_identity(const ndr_state *state, int id, uint64_t *states, int64_t count, void *stream) {
  (void)id;
  (void)stream;
  ndr_state_identity(state, states, count, count);
  return NDR_OK;
}

/* ---- walks over two arrays; the functions that are called loop over the first axis themselves ---- */

typedef struct walk_place {
  int64_t from, to;
  int64_t at[NDR_MAX_DIMS];
} walk_place;

/* Moves to the next place outside the first axis; false after the last. */
static bool next(const ndr_walk *walk, walk_place *place) {
  for (int a = 1; a < walk->count; a++) {
    const ndr_walk_axis *axis = &walk->axes[a];
    place->from += axis->from;
    place->to += axis->to;
    if (++place->at[a] < axis->size) return true;
    place->from -= axis->size * axis->from;
    place->to -= axis->size * axis->to;
    place->at[a] = 0;
  }
  return false;
}

static bool empty(const ndr_walk *walk) {
  for (int a = 0; a < walk->count; a++)
    if (walk->axes[a].size == 0) return true;
  return false;
}

static ndr_walk_axis first_axis(const ndr_walk *walk) {
  return walk->count ? walk->axes[0] : (ndr_walk_axis){1, 1, 1};
}

static void merge_states(const ndr_state *state, const ndr_walk *walk, const uint64_t *from, int64_t from_pitch,
                         uint64_t *to, int64_t to_pitch) {
  ndr_walk_axis inner = first_axis(walk);
  ndr_join *join = inner.from == 1 && inner.to == 1 && !state->program ? ndr_isa_here()->join(state) : NULL;
  walk_place place = {0};
  if (empty(walk)) return;
  do {
    if (join)
      join(to + place.to, to_pitch, from + place.from, from_pitch, inner.size);
    else
      ndr_state_merge(state, to + place.to, to_pitch, inner.to, from + place.from, from_pitch, inner.from, inner.size);
  } while (next(walk, &place));
}

static ndr_status states_merge(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                               int64_t from_pitch, uint64_t *to, int64_t to_pitch, void *stream) {
  (void)id;
  (void)stream;
  for (int p = 0; p < (state->program ? state->program->part_count : 1); p++) {
    int before;
    ndr_state part = ndr_state_part(state, p, &before);
    merge_states(&part, walk, from + before * from_pitch, from_pitch, to + before * to_pitch, to_pitch);
  }
  return NDR_OK;
}

static ndr_status states_finish(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                int64_t from_pitch, void *to, void *stream) {
  (void)id;
  (void)stream;
  int64_t bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(state));
  ndr_walk_axis inner = first_axis(walk);
  walk_place place = {0};
  if (empty(walk)) return NDR_OK;
  do {
    ndr_finish(ndr_isa_here(), state, from + place.from, from_pitch, inner.from, inner.size,
               (char *)to + place.to * bytes, inner.to);
  } while (next(walk, &place));
  return NDR_OK;
}

static const ndr_family *const families[] = {&ndr_cpu_scalar.family, &ndr_cpu_rows.family,   &ndr_cpu_runs.family,
                                             &ndr_cpu_tile.family,   &ndr_cpu_labels.family, NULL};

const ndr_backend ndr_backend_cpu = {
    .name = "cpu",
    .owns = owns,
    .device = device,
    .families = families,
    .scans = &ndr_cpu_scans,
    .execute = execute,
    .execute_rows = execute_rows,
    .make_table = ndr_labels_make_table,
    .free_table = ndr_labels_free_table,
    .run_tasks = run_tasks,
    .allocate = allocate,
    .release = release,
    .states_identity = states_identity,
    .states_merge = states_merge,
    .states_finish = states_finish,
};
