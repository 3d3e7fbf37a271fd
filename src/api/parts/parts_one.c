/* Runs one part, and merges its partial states. */
#include "api/parts/parts_inside.h"

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

/* The axes of the windows of a box; returns how many states lie from one of the next axis to the next. */
static int64_t walk_box(const ndr_groups *groups, const ndr_box *box, int64_t from, int64_t to, ndr_walk *walk) {
  for (int d = groups->ndim - 1; d >= 0; d--) {
    add_axis(walk, (ndr_walk_axis){box->groups[d], from, to});
    from *= box->groups[d];
    to *= ndr_groups_windows_along(groups, d);
  }
  return from;
}

/* Makes a walk from the states of a part to those of the whole, of which the request is a slab. Returns the number of
 * the first output in the whole. */
static int64_t walk_part(const ndr_request *request, const part *p, const ndr_request *whole, ndr_walk *walk) {
  int64_t from = 1, to = 1, start = 0, size;
  walk->count = 0;
  for (int d = request->problem.ndim - 1; d >= 0; d--) {
    if (!ndr_request_keeps(whole, d, &size)) continue;
    ndr_walk_axis axis = {request->problem.shape[d], from, to};
    if (request->reduced[d] && p->box) {
      start += p->piece.label * to;
      from = walk_box(request->problem.groups, p->box, from, to, walk);
      to *= size;
      continue;
    }
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

/* Without a workspace the plan borrows one. */
ndr_status ndr_part_execute(const part *p, const void *const *data, void *const *results, void *workspace,
                            void *stream) {
  bool given = workspace && p->plan->workspace > 0;
  if (p->rows) return ndr_simple_run(p->plan, p->rows, data, results, given ? workspace : NULL, stream);
  return ndr_simple_execute(p->plan, data, results, given ? workspace : NULL, given ? p->plan->workspace : 0, stream);
}

/* The kept dims of a box, and what the index of argmin and argmax grows by along each of them. */
typedef struct kept_dims {
  int count;
  int64_t size[NDR_MAX_DIMS], index[NDR_MAX_DIMS];
} kept_dims;

static kept_dims kept_of(const ndr_request *request, const ndr_box *box) {
  const ndr_problem *problem = &request->problem;
  kept_dims kept = {.count = 0};
  int64_t steps[NDR_MAX_DIMS];
  ndr_request_index_steps(request, steps);
  for (int d = 0; d < problem->ndim; d++) {
    int w = d - problem->group_dim;
    bool windowed = w >= 0 && w < problem->groups->ndim;
    if (!windowed && request->reduced[d]) continue;
    kept.size[kept.count] = windowed ? box->groups[w] : problem->shape[d];
    kept.index[kept.count++] = windowed ? box->inner[w] * steps[d] : 0;
  }
  return kept;
}

/* An index of -1, or the highest one, is that of no element. */
static void add_to_indices(const kept_dims *kept, uint64_t *indices, int64_t count) {
  int64_t at[NDR_MAX_DIMS] = {0}, add = 0;
  for (int64_t o = 0; o < count; o++) {
    int64_t index = (int64_t)indices[o];
    if (index >= 0 && index < INT64_MAX) indices[o] = (uint64_t)(index + add);
    for (int d = kept->count - 1; d >= 0; d--) {
      add += kept->index[d];
      if (++at[d] < kept->size[d]) break;
      add -= at[d] * kept->index[d];
      at[d] = 0;
    }
  }
}

/* A plan counts the index of argmin and argmax from one place on: as if all windows of a box began with the first. A
 * state of theirs is a value and an index. On the host. */
static void move_indices(const ndr_parts *parts, const part *p, uint64_t *const *made) {
  const ndr_problem *problem = &parts->request.problem;
  int64_t outputs = p->plan->problem.outputs;
  kept_dims kept = kept_of(&parts->request, p->box);
  for (int i = 0; i < problem->op_count; i++)
    if (!ndr_op_is_own(problem->ops[i]) && ndr_op_is_index(problem->ops[i]))
      add_to_indices(&kept, made[i] + outputs, outputs);
}

ndr_status ndr_part_add(const ndr_parts *parts, const part *p, const void *const *data, uint64_t *const *states,
                        void *workspace, void *stream) {
  void *results[NDR_MAX_OPS];
  const void *moved[NDR_MOST_ARRAYS];
  for (int i = 0; i < parts->request.problem.op_count; i++) results[i] = states[i];
  ndr_part_move(parts, p, data, moved);
  return ndr_part_execute(p, moved, results, workspace, stream);
}

ndr_status ndr_part_reduce(const ndr_parts *parts, const part *p, const void *const *data, void *scratch,
                           void *workspace, void *stream) {
  uint64_t *made[NDR_MAX_OPS];
  void *results[NDR_MAX_OPS];
  const void *moved[NDR_MOST_ARRAYS];
  ndr_states_place(&parts->request, p->plan->problem.outputs, scratch, made);
  for (int i = 0; i < parts->request.problem.op_count; i++) results[i] = made[i];
  ndr_part_move(parts, p, data, moved);
  NDR_TRY(ndr_part_execute(p, moved, results, workspace, stream));
  if (p->box && ndr_request_has_index(&parts->request)) move_indices(parts, p, made);
  return NDR_OK;
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
