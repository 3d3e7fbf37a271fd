/* See states.h. */
#include "api/states.h"

static int64_t words_of(const ndr_request *request, int i) {
  ndr_state state = ndr_request_state(request, i);
  return ndr_state_size(&state);
}

int64_t ndr_states_outputs(const ndr_request *request) {
  int64_t outputs = 1, size;
  for (int d = 0; d < request->problem.ndim; d++)
    if (ndr_request_keeps(request, d, &size)) outputs *= size;
  return outputs;
}

ndr_status ndr_states_bytes(const ndr_request *request, int64_t outputs, size_t *bytes) {
  int64_t words = 0, total;
  for (int i = 0; i < request->problem.op_count; i++) words += words_of(request, i);
  if (__builtin_mul_overflow(words * 8, outputs, &total) ||
      __builtin_add_overflow(total, (int64_t)request->problem.op_count * 256, &total))
    return ndr_fail(NDR_ERR_OVERFLOW, "the partial states of %lld outputs do not fit in 63 bits", (long long)outputs);
  *bytes = (size_t)total;
  return NDR_OK;
}

void ndr_states_place(const ndr_request *request, int64_t outputs, void *memory, uint64_t **states) {
  size_t at = 0;
  for (int i = 0; i < request->problem.op_count; i++) {
    states[i] = (uint64_t *)(void *)((char *)memory + at);
    at += ((size_t)(words_of(request, i) * outputs) * 8 + 255) / 256 * 256;
  }
}

/* Makes a walk from the states of all outputs in row-major order to the strides of result i. */
static void walk_result(const ndr_request *request, int i, ndr_walk *walk) {
  int64_t from = 1, size;
  walk->count = 0;
  for (int d = request->problem.ndim - 1; d >= 0; d--) {
    if (!ndr_request_keeps(request, d, &size) || size == 1) continue;
    walk->axes[walk->count++] = (ndr_walk_axis){size, from, request->result_strides[i][d]};
    from *= size;
  }
}

ndr_status ndr_states_begin(const ndr_request *request, const ndr_backend *backend, int id, uint64_t *const *states,
                            int64_t outputs, void *stream) {
  for (int i = 0; i < request->problem.op_count; i++) {
    ndr_state state = ndr_request_state(request, i);
    NDR_TRY(backend->states_identity(&state, id, states[i], outputs, stream));
  }
  return NDR_OK;
}

ndr_status ndr_states_finish(const ndr_request *request, const ndr_backend *backend, int id, uint64_t *const *states,
                             int64_t outputs, void *const *results, void *stream) {
  for (int i = 0; i < request->problem.op_count; i++) {
    ndr_state state = ndr_request_state(request, i);
    ndr_walk walk;
    walk_result(request, i, &walk);
    NDR_TRY(backend->states_finish(&state, id, &walk, states[i], outputs, results[i], stream));
  }
  return NDR_OK;
}
