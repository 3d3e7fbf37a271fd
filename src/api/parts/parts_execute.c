/* Writes results: of parts that have whole groups at once, else from merged states. */
#include "api/parts/parts_inside.h"

/* Where result i has the first output of a group. */
static void *result_of(const ndr_parts *parts, int i, int64_t label, void *const *results) {
  const ndr_request *request = &parts->request;
  int64_t bytes = (int64_t)ndr_dtype_bytes(request->results[i]);
  return (char *)results[i] + label * request->result_strides[i][request->problem.group_dim] * bytes;
}

static ndr_status write_part(const ndr_parts *parts, const part *p, const void *const *data, void *const *results,
                             void *workspace, void *stream) {
  void *moved_results[NDR_MAX_OPS];
  const void *moved[NDR_MOST_ARRAYS];
  ndr_part_move(parts, p, data, moved);
  for (int i = 0; i < parts->request.problem.op_count; i++)
    moved_results[i] = result_of(parts, i, p->piece.label, results);
  return ndr_part_execute(p, moved, moved_results, workspace, stream);
}

/* Parts that threads take, a few neighbours at a time: with the last rows of one the first of the next are prefetched.
 */
typedef struct writing {
  const ndr_parts *parts;
  int64_t together; /* parts of a task; the last one has the rest */
  const void *const *data;
  void *const *results;
  _Atomic int failed; /* the last status that is not NDR_OK */
} writing;

static void write_task(void *context, int64_t number) {
  writing *w = context;
  int64_t first = number * w->together, left = w->parts->count - first, count = left < w->together ? left : w->together;
  for (const part *p = w->parts->parts + first, *end = p + count; p < end; p++) {
    ndr_status status = write_part(w->parts, p, w->data, w->results, NULL, NULL);
    if (status != NDR_OK) atomic_store(&w->failed, (int)status);
  }
}

/* Where there are many parts, each is one thread's; else the threads share each. */
static ndr_status write_parts(const ndr_parts *parts, const void *const *data, void *const *results, void *workspace,
                              void *stream) {
  if (parts->count == 0) return NDR_OK;
  const ndr_canonical *one = &parts->parts[0].plan->problem;
  int threads = parts->options.threads > 0 ? parts->options.threads : ndr_thread_count();
  if (!workspace && parts->backend->run_tasks && parts->count >= 4 * (int64_t)threads && threads > 1) {
    enum { TASKS = 16, MOST_TOGETHER = 16 };
    int64_t together = parts->count / (TASKS * (int64_t)threads);
    together = together < 1 ? 1 : together > MOST_TOGETHER ? MOST_TOGETHER : together;
    writing w = {parts, together, data, results, NDR_OK};
    double bytes = (double)one->outputs * (double)one->length * (double)ndr_dtype_bytes(one->dtype);
    parts->backend->run_tasks((parts->count - 1) / together + 1, threads, (int64_t)(bytes * (double)parts->count / 10),
                              write_task, &w);
    ndr_status status = (ndr_status)atomic_load(&w.failed);
    return status == NDR_OK ? NDR_OK : ndr_fail(status, "a group could not be reduced: %s", ndr_status_name(status));
  }
  for (int64_t at = 0; at < parts->count; at++)
    NDR_TRY(write_part(parts, &parts->parts[at], data, results, workspace, stream));
  return NDR_OK;
}

/* Writes the results of `count` groups without elements, from one state that all their outputs share. */
static ndr_status write_empty(const ndr_parts *parts, int64_t label, int64_t count, uint64_t *const *states,
                              void *const *results, void *stream) {
  const ndr_request *request = &parts->request;
  for (int i = 0; i < request->problem.op_count; i++) {
    ndr_walk walk = {0};
    ndr_state state = ndr_request_state(request, i);
    for (int d = request->problem.ndim - 1; d >= 0; d--) {
      int64_t size;
      if (!ndr_request_keeps(request, d, &size)) continue;
      if (request->reduced[d]) size = count;
      if (size != 1) walk.axes[walk.count++] = (ndr_walk_axis){size, 0, request->result_strides[i][d]};
    }
    NDR_TRY(parts->backend->states_finish(&state, parts->device.device_id, &walk, states[i], 1,
                                          result_of(parts, i, label, results), stream));
  }
  return NDR_OK;
}

static bool has_part(const ndr_parts *parts, int64_t label) {
  return parts->seen[label / 8] >> label % 8 & 1;
}

static ndr_status write_empties(const ndr_parts *parts, uint64_t *const *states, void *const *results, void *stream) {
  int64_t count = parts->request.problem.groups->count;
  for (int64_t label = 0, end; label < count; label = end) {
    for (end = label + 1; end < count && has_part(parts, end) == has_part(parts, label);) end++;
    if (!has_part(parts, label)) NDR_TRY(write_empty(parts, label, end - label, states, results, stream));
  }
  return NDR_OK;
}

/* `memory` has the states, and what lies behind them; plans take their workspace from `rest`, if that is not NULL. */
static ndr_status run(const ndr_parts *parts, const void *const *data, void *const *results, char *memory,
                      size_t state_size, void *rest, void *stream) {
  uint64_t *states[NDR_MAX_OPS];
  int64_t outputs = ndr_parts_state_count(parts);
  ndr_states_place(&parts->request, outputs, memory, states);
  NDR_TRY(ndr_states_begin(&parts->request, parts->backend, parts->device.device_id, states, outputs, stream));
  if (!parts->direct) {
    NDR_TRY(ndr_parts_add(parts, data, &parts->request, states, outputs, memory + state_size, rest, stream));
    return ndr_states_finish(&parts->request, parts->backend, parts->device.device_id, states, outputs, results,
                             stream);
  }
  NDR_TRY(write_empties(parts, states, results, stream));
  return write_parts(parts, data, results, rest, stream);
}

ndr_status ndr_parts_execute(const ndr_parts *parts, const void *const *data, void *const *results, void *workspace,
                             void *stream) {
  size_t states, scratch;
  void *memory = workspace;
  if (parts->direct) NDR_TRY(ndr_parts_check_weights(parts, data));
  NDR_TRY(ndr_parts_state_bytes(parts, &states, &scratch));
  if (!workspace) NDR_TRY(parts->backend->allocate(parts->device.device_id, states + scratch, stream, &memory));
  ndr_status status =
      run(parts, data, results, memory, states, workspace ? (char *)workspace + states + scratch : NULL, stream);
  if (!workspace) parts->backend->release(parts->device.device_id, memory, stream);
  return status;
}
