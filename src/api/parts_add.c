/* Runs parts and merges their partial states. */
#include <stdlib.h>

#include "api/parts_inside.h"
#include "api/weights.h"

void ndr_part_move(const ndr_parts *parts, const part *p, const void *const *data, const void **moved) {
  const ndr_problem *problem = &parts->request.problem;
  for (int k = 0; k <= problem->operand_count; k++) {
    ndr_dtype dtype = k ? problem->operands[k - 1].dtype : problem->dtype;
    moved[k] = data[k] ? (const char *)data[k] + p->from[k] * (int64_t)ndr_dtype_bytes(dtype) : NULL;
  }
}

/* Adds an axis to a walk, or makes the last one longer. */
static void add_axis(ndr_walk *walk, ndr_walk_axis axis) {
  ndr_walk_axis *inner = walk->count ? &walk->axes[walk->count - 1] : NULL;
  if (inner && axis.from == inner->from * inner->size && axis.to == inner->to * inner->size)
    inner->size *= axis.size;
  else if (axis.size != 1)
    walk->axes[walk->count++] = axis;
}

/* Makes a walk from the states of a part to those of the whole, of which the request is a slab. Returns the number of
 * the first output in the whole. */
static int64_t walk_part(const ndr_request *request, const part *p, const ndr_request *whole, ndr_walk *walk) {
  int64_t from = 1, to = 1, start = 0, size;
  walk->count = 0;
  for (int d = request->problem.ndim - 1; d >= 0; d--) {
    if (!ndr_request_keeps(whole, d, &size)) continue;
    ndr_walk_axis axis = {request->problem.shape[d], from, to};
    if (request->reduced[d]) {
      axis = (ndr_walk_axis){p->piece.groups, from, to * p->piece.label_step};
      start += p->piece.label * to;
    } else {
      start += request->offset[d] * to;
    }
    add_axis(walk, axis);
    from *= axis.size;
    to *= size;
  }
  return start;
}

static ndr_status execute_rows(const part *p, const void *const *data, void *const *results, void *workspace,
                               void *stream) {
  const ndr_plan *plan = p->plan;
  void *memory = workspace;
  if (!workspace) NDR_TRY(ndr_plan_borrow_workspace(plan, stream, &memory));
  ndr_status status = plan->backend->execute_rows(plan, p->rows, data, results, memory);
  if (!workspace) ndr_plan_return_workspace(plan, memory, stream);
  return status;
}

/* Without a workspace the plan borrows one. */
ndr_status ndr_part_execute(const part *p, const void *const *data, void *const *results, void *workspace,
                            void *stream) {
  bool given = workspace && p->plan->workspace > 0;
  if (p->rows && p->plan->problem.outputs) return execute_rows(p, data, results, given ? workspace : NULL, stream);
  return ndr_simple_execute(p->plan, data, results, given ? workspace : NULL, given ? p->plan->workspace : 0, stream);
}

ndr_status ndr_part_reduce(const ndr_parts *parts, const part *p, const void *const *data, void *scratch,
                           void *workspace, void *stream) {
  uint64_t *made[NDR_MAX_OPS];
  void *results[NDR_MAX_OPS];
  const void *moved[NDR_MOST_ARRAYS];
  ndr_states_place(&parts->request, p->plan->problem.outputs, scratch, made);
  for (int i = 0; i < parts->request.problem.op_count; i++) results[i] = made[i];
  ndr_part_move(parts, p, data, moved);
  return ndr_part_execute(p, moved, results, workspace, stream);
}

ndr_status ndr_part_merge(const ndr_parts *parts, const part *p, const ndr_request *whole, uint64_t *const *states,
                          int64_t outputs, void *scratch, void *stream) {
  uint64_t *made[NDR_MAX_OPS];
  ndr_walk walk;
  int64_t pitch = p->plan->problem.outputs, start = walk_part(&parts->request, p, whole, &walk);
  ndr_states_place(&parts->request, pitch, scratch, made);
  for (int i = 0; i < whole->problem.op_count; i++) {
    ndr_state state = ndr_request_state(whole, i);
    NDR_TRY(parts->backend->states_merge(&state, parts->device.device_id, &walk, made[i], pitch, states[i] + start,
                                         outputs, stream));
  }
  return NDR_OK;
}

static ndr_status add_parts(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                            uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream) {
  for (int64_t at = 0; at < parts->count; at++) {
    NDR_TRY(ndr_part_reduce(parts, &parts->parts[at], data, scratch, workspace, stream));
    NDR_TRY(ndr_part_merge(parts, &parts->parts[at], whole, states, outputs, scratch, stream));
  }
  return NDR_OK;
}

/* All weights, those of no group included, so that nothing has been added where they are refused. */
ndr_status ndr_parts_check_weights(const ndr_parts *parts, const void *const *data) {
  const ndr_problem *problem = &parts->request.problem;
  bool weighted = false;
  ndr_canonical whole;
  for (int k = 0; k < problem->operand_count; k++) weighted = weighted || problem->operands[k].role == NDR_WEIGHTS;
  if (!weighted || parts->backend->calls) return NDR_OK;
  NDR_TRY(ndr_canonical_make(&whole, &parts->request));
  ndr_status status = ndr_weights_check(parts->backend, parts->options.threads, &whole, data);
  ndr_canonical_free(&whole);
  return status;
}

ndr_status ndr_parts_add(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                         uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream) {
  NDR_TRY(ndr_parts_check_weights(parts, data));
  return parts->sorted ? ndr_parts_add_sorted(parts, data, whole, states, outputs)
                       : add_parts(parts, data, whole, states, outputs, scratch, workspace, stream);
}
