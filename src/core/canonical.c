/* Makes the canonical form of a request. It reorders and merges axes; the result stays the same. */
#include "core/canonical.h"

#include <string.h>

static int64_t product(const ndr_request *request, bool reduced) {
  int64_t count = 1;
  for (int d = 0; d < request->problem.ndim; d++)
    if (request->reduced[d] == reduced) count *= request->problem.shape[d];
  return count;
}

/* Steps of the flattened index along the reduced dims of the whole array. */
static void index_steps(const ndr_request *request, int64_t *steps) {
  int64_t step = 1;
  for (int d = request->problem.ndim - 1; d >= 0; d--) {
    steps[d] = step;
    if (request->reduced[d] && request->whole_shape[d] > 0) step *= request->whole_shape[d];
  }
}

/* Walks an axis of negative stride from its other end. */
static void flip(ndr_canonical *problem, ndr_axis *axis) {
  int64_t last = axis->size - 1;
  problem->origin += last * axis->stride;
  problem->index_origin += last * axis->index;
  axis->stride = -axis->stride;
  axis->index = -axis->index;
  for (int i = 0; i < problem->op_count; i++) {
    problem->result_origin[i] += last * axis->result[i];
    axis->result[i] = -axis->result[i];
  }
}

static bool inner_to(const ndr_axis *a, const ndr_axis *b) {
  if (a->stride != b->stride) return b->stride == 0 || (a->stride != 0 && a->stride < b->stride);
  return a->size < b->size;
}

static void insert_sorted(ndr_axis *axes, int *count, const ndr_axis *axis) {
  int at = (*count)++;
  for (; at > 0 && inner_to(axis, &axes[at - 1]); at--) axes[at] = axes[at - 1];
  axes[at] = *axis;
}

/* Whether the stride `outer` is `size` times the stride `inner`. The product may overflow. */
static bool continues_stride(int64_t inner, int64_t size, int64_t outer) {
  int64_t end;
  return !__builtin_mul_overflow(inner, size, &end) && end == outer;
}

static bool continues(const ndr_canonical *problem, const ndr_axis *inner, const ndr_axis *outer) {
  bool merges = continues_stride(inner->stride, inner->size, outer->stride) &&
                continues_stride(inner->index, inner->size, outer->index);
  for (int i = 0; merges && i < problem->op_count; i++)
    merges = continues_stride(inner->result[i], inner->size, outer->result[i]);
  return merges;
}

static int merge_neighbours(const ndr_canonical *problem, ndr_axis *axes, int count) {
  int last = 0;
  for (int a = 1; a < count; a++) {
    if (continues(problem, &axes[last], &axes[a]))
      axes[last].size *= axes[a].size;
    else
      axes[++last] = axes[a];
  }
  return count ? last + 1 : 0;
}

static void add_axis(ndr_canonical *problem, const ndr_request *request, int d, int64_t index_step) {
  ndr_axis axis = {.size = request->problem.shape[d], .stride = request->problem.strides[d]};
  if (request->reduced[d])
    axis.index = index_step;
  else
    for (int i = 0; i < request->problem.op_count; i++) axis.result[i] = request->result_strides[i][d];
  if (axis.stride < 0) flip(problem, &axis);
  if (request->reduced[d])
    insert_sorted(problem->reduced, &problem->reduced_count, &axis);
  else
    insert_sorted(problem->kept, &problem->kept_count, &axis);
}

ndr_status ndr_canonical_make(ndr_canonical *problem, const ndr_request *request) {
  int64_t steps[NDR_MAX_DIMS];
  bool indexed = false;
  memset(problem, 0, sizeof *problem);
  problem->dtype = request->problem.dtype;
  problem->op_count = request->problem.op_count;
  for (int i = 0; i < request->problem.op_count; i++) {
    problem->ops[i] = request->problem.ops[i];
    indexed = indexed || ndr_op_is_index(request->problem.ops[i]);
  }
  problem->skip_nan = request->problem.skip_nan;
  problem->accumulate_f64 = request->problem.accumulate == NDR_ACCUMULATE_F64;
  problem->partial = request->partial;
  problem->ddof = request->problem.ddof;
  problem->outputs = product(request, false);
  problem->length = product(request, true);
  for (int i = 0; problem->length == 0 && problem->outputs > 0 && i < request->problem.op_count; i++)
    if (!ndr_op_has_empty(request->problem.ops[i]) && !request->partial)
      return ndr_fail(NDR_ERR_EMPTY, "%s over no elements has no value", ndr_op_name(request->problem.ops[i]));
  index_steps(request, steps);
  for (int d = 0; d < request->problem.ndim; d++) {
    if (request->reduced[d] && indexed) problem->index_origin += request->offset[d] * steps[d];
    if (request->problem.shape[d] > 1) add_axis(problem, request, d, indexed ? steps[d] : 0);
  }
  /* Without argmin and argmax the index is not used. With the index equal to the stride, every neighbour can merge. */
  for (int a = 0; !indexed && a < problem->reduced_count; a++) problem->reduced[a].index = problem->reduced[a].stride;
  problem->kept_count = merge_neighbours(problem, problem->kept, problem->kept_count);
  problem->reduced_count = merge_neighbours(problem, problem->reduced, problem->reduced_count);
  return NDR_OK;
}

ndr_state ndr_canonical_state(const ndr_canonical *problem, int i) {
  return (ndr_state){
      .op = problem->ops[i], .dtype = problem->dtype, .skip_nan = problem->skip_nan, .ddof = problem->ddof};
}
