/* Makes the canonical form of a request. It reorders and merges axes; the result stays the same. */
#include "core/request/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "core/groups/label.h"
#include "lang/programs.h"

static int64_t product(const ndr_request *request, bool reduced) {
  int64_t count = 1;
  for (int d = 0; d < request->problem.ndim; d++)
    if (request->reduced[d] == reduced) count *= request->problem.shape[d];
  return count;
}

void ndr_request_index_steps(const ndr_request *request, int64_t *steps) {
  int64_t step = 1;
  for (int d = request->whole_ndim - 1; d >= 0; d--) {
    steps[d] = step;
    if (request->whole_reduced[d] && request->whole_shape[d] > 0) step *= request->whole_shape[d];
  }
}

/* ---- the order of axes ---- */

/* Bytes of an array's distinct elements, as a size for comparing: repeated elements count once. */
static double distinct_bytes(const ndr_problem *problem, ndr_dtype dtype, const int64_t *strides) {
  double bytes = (double)ndr_dtype_bytes(dtype);
  for (int d = 0; d < problem->ndim; d++)
    if (strides[d] != 0) bytes *= (double)problem->shape[d];
  return bytes;
}

/* The operand whose strides decide the order of axes, or -1: those of the array. */
static int leading_operand(const ndr_problem *problem) {
  double most = distinct_bytes(problem, problem->dtype, problem->strides);
  int leads = -1;
  for (int k = 0; k < problem->operand_count; k++) {
    double bytes = distinct_bytes(problem, problem->operands[k].dtype, problem->operands[k].strides);
    if (bytes <= most) continue;
    most = bytes;
    leads = k;
  }
  return leads;
}

static bool smaller_stride(int64_t a, int64_t b) {
  return b == 0 ? a != 0 : a != 0 && a < b;
}

static bool inner_to(const ndr_axis *a, const ndr_axis *b, int leads) {
  if (leads >= 0) {
    int64_t x = llabs(a->operand[leads]), y = llabs(b->operand[leads]);
    if (x != y) return smaller_stride(x, y);
  }
  if (a->stride != b->stride) return smaller_stride(a->stride, b->stride);
  if (a->size != b->size) return a->size < b->size;
  for (int k = 0; k < NDR_MAX_OPERANDS; k++)
    if (a->operand[k] != b->operand[k]) return smaller_stride(llabs(a->operand[k]), llabs(b->operand[k]));
  return false;
}

static void insert_sorted(ndr_axis *axes, int *count, const ndr_axis *axis, int leads) {
  int at = (*count)++;
  for (; at > 0 && inner_to(axis, &axes[at - 1], leads); at--) axes[at] = axes[at - 1];
  axes[at] = *axis;
}

/* ---- the direction of axes ---- */

/* Whether the array is walked backwards along an axis; where it repeats, whether the first operand that does not is. */
static bool is_backward(const ndr_canonical *problem, const ndr_axis *axis) {
  int64_t stride = axis->stride;
  for (int k = 0; stride == 0 && k < problem->operand_count; k++) stride = axis->operand[k];
  return stride < 0;
}

/* Walks an axis from its other end. */
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
  for (int k = 0; k < problem->operand_count; k++) {
    problem->operand_origin[k] += last * axis->operand[k];
    axis->operand[k] = -axis->operand[k];
  }
  for (int p = 0; p < problem->place_count; p++) {
    problem->place_origin[p] += last * axis->place[p];
    axis->place[p] = -axis->place[p];
  }
}

/* ---- merging ---- */

/* Whether the stride `outer` is `size` times the stride `inner`. The product may overflow. */
static bool continues_stride(int64_t inner, int64_t size, int64_t outer) {
  int64_t end;
  return !__builtin_mul_overflow(inner, size, &end) && end == outer;
}

static bool continues(const ndr_canonical *problem, const ndr_axis *inner, const ndr_axis *outer) {
  bool merges = !inner->scattered && !outer->scattered && continues_stride(inner->stride, inner->size, outer->stride) &&
                continues_stride(inner->index, inner->size, outer->index);
  for (int i = 0; merges && i < problem->op_count; i++)
    merges = continues_stride(inner->result[i], inner->size, outer->result[i]);
  for (int k = 0; merges && k < problem->operand_count; k++)
    merges = continues_stride(inner->operand[k], inner->size, outer->operand[k]);
  for (int p = 0; merges && p < problem->place_count; p++)
    merges = continues_stride(inner->place[p], inner->size, outer->place[p]);
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

/* ---- the whole ---- */

static void add_axis(ndr_canonical *problem, const ndr_request *request, int d, int64_t index_step, int leads) {
  ndr_axis axis = {.size = request->problem.shape[d], .stride = request->problem.strides[d]};
  if (request->reduced[d])
    axis.index = index_step;
  else
    for (int i = 0; i < request->problem.op_count; i++) axis.result[i] = request->result_strides[i][d];
  for (int k = 0; k < problem->operand_count; k++) axis.operand[k] = request->problem.operands[k].strides[d];
  for (int p = 0; p < problem->place_count; p++)
    axis.place[p] = request->place_dims[p] == request->along[d] ? request->step[d] : 0;
  axis.scattered = request->scattered[d];
  if (axis.scattered) {
    problem->row_stride = axis.stride; /* the table goes either way */
    axis.stride = llabs(axis.stride);
  } else if (is_backward(problem, &axis)) {
    flip(problem, &axis);
  }
  if (request->table && d == request->table_dim)
    problem->group = axis;
  else if (request->reduced[d])
    insert_sorted(problem->reduced, &problem->reduced_count, &axis, leads);
  else
    insert_sorted(problem->kept, &problem->kept_count, &axis, leads);
}

/* Whether a program is a built-in operator over any elements, or none. */
static bool is_built_in(const ndr_program *program, const ndr_problem *problem) {
  const ndr_op op = program->parts[0].op;
  return problem->operand_count == 0 && op != NDR_MIN && op != NDR_MAX &&
         ndr_program_is_built_in(program, problem->dtype, problem->skip_nan);
}

/* An operator of one's own that is no more than a built-in one, as `s += x -> s`, is that: it has its plans and bits.
 */
static void copy_operator(ndr_canonical *problem, const ndr_request *request, int i) {
  const ndr_problem *given = &request->problem;
  const ndr_program *program = request->programs[i];
  const bool built_in = program && ndr_op_is_own(given->ops[i]) && is_built_in(program, given);
  problem->ops[i] = built_in ? program->parts[0].op : given->ops[i];
  problem->programs[i] = built_in ? NULL : program;
}

static void copy_members(ndr_canonical *problem, const ndr_request *request) {
  const ndr_problem *given = &request->problem;
  problem->dtype = given->dtype;
  problem->op_count = given->op_count;
  for (int i = 0; i < given->op_count; i++) copy_operator(problem, request, i);
  problem->skip_nan = given->skip_nan;
  problem->accumulate_f64 = given->accumulate == NDR_ACCUMULATE_F64;
  problem->partial = request->partial;
  problem->merges = request->merges;
  problem->ddof = given->ddof;
  problem->outputs = product(request, false);
  problem->length = product(request, true);
  problem->operand_count = given->operand_count;
  for (int k = 0; k < given->operand_count; k++) {
    problem->operand_roles[k] = given->operands[k].role;
    problem->operand_dtypes[k] = given->operands[k].dtype;
  }
  problem->table = request->table;
  problem->group.size = 1; /* unless there are several */
  problem->place_count = request->place_count;
  for (int p = 0; p < request->place_count; p++) {
    int d = request->place_dims[p];
    problem->place_origin[p] = request->begin[d] + request->offset[d];
  }
}

/* Arrays without elements may have no address to step from. */
static void stay_at_start(ndr_canonical *problem) {
  problem->origin = 0;
  memset(problem->operand_origin, 0, sizeof problem->operand_origin);
}

static ndr_status check_empty(const ndr_canonical *problem, const ndr_request *request) {
  char label[NDR_LABEL_BYTES];
  if (problem->length > 0 || problem->outputs == 0 || request->partial) return NDR_OK;
  for (int i = 0; i < problem->op_count; i++)
    if (!ndr_request_has_empty(request, i))
      return ndr_fail(NDR_ERR_EMPTY, "%s over no elements has no value", ndr_op_label(request->problem.ops[i], label));
  return NDR_OK;
}

bool ndr_request_has_index(const ndr_request *request) {
  const ndr_problem *problem = &request->problem;
  bool has = false;
  for (int i = 0; i < problem->op_count; i++)
    has = has || (!ndr_op_is_own(problem->ops[i]) && ndr_op_is_index(problem->ops[i]));
  return has;
}

ndr_status ndr_canonical_make(ndr_canonical *problem, const ndr_request *request) {
  int64_t steps[NDR_MAX_DIMS];
  bool indexed = ndr_request_has_index(request);
  int leads = leading_operand(&request->problem);
  memset(problem, 0, sizeof *problem);
  copy_members(problem, request);
  NDR_TRY(check_empty(problem, request));
  ndr_request_index_steps(request, steps);
  for (int d = 0; d < request->whole_ndim; d++)
    if (request->whole_reduced[d] && indexed) problem->index_origin += request->offset[d] * steps[d];
  for (int d = 0; d < request->problem.ndim; d++)
    if (request->problem.shape[d] > 1)
      add_axis(problem, request, d, indexed ? steps[request->along[d]] * request->step[d] : 0, leads);
  /* Without argmin and argmax the index is not used. With the index equal to the stride, every neighbour can merge. */
  for (int a = 0; !indexed && a < problem->reduced_count; a++) problem->reduced[a].index = problem->reduced[a].stride;
  problem->kept_count = merge_neighbours(problem, problem->kept, problem->kept_count);
  problem->reduced_count = merge_neighbours(problem, problem->reduced, problem->reduced_count);
  if (problem->length == 0) stay_at_start(problem);
  problem->programs_owner = request->programs_owner;
  ndr_programs_share(problem->programs_owner);
  return NDR_OK;
}

void ndr_canonical_share(const ndr_canonical *problem) {
  ndr_programs_share(problem->programs_owner);
}

void ndr_canonical_free(ndr_canonical *problem) {
  ndr_programs_drop(problem->programs_owner);
  problem->programs_owner = NULL;
}

ndr_dtype ndr_canonical_result(const ndr_canonical *problem, int i) {
  const ndr_program *program = problem->programs[i];
  return program ? program->result_dtype : ndr_op_result(problem->ops[i], problem->dtype);
}

ndr_state ndr_canonical_state(const ndr_canonical *problem, int i) {
  return (ndr_state){.op = problem->ops[i],
                     .dtype = problem->dtype,
                     .skip_nan = problem->skip_nan,
                     .ddof = problem->ddof,
                     .program = problem->programs[i]};
}

int ndr_canonical_words(const ndr_canonical *problem, int first, int count) {
  int words = 0;
  for (int i = first; i < first + count; i++) {
    ndr_state state = ndr_canonical_state(problem, i);
    words += ndr_state_size(&state);
  }
  return words;
}
