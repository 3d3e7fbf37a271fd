/* Requests: a checked problem with its programs and the layout of its results. Plans nothing. */
#include <stdio.h>
#include <string.h>

#include "core/groups/label.h"
#include "core/request/lower.h"
#include "lang/programs.h"

bool ndr_request_keeps(const ndr_request *request, int d, int64_t *size) {
  const ndr_problem *problem = &request->problem;
  bool groups = problem->groups && d == problem->group_dim;
  *size = groups ? problem->groups->count : problem->shape[d];
  return groups || !request->reduced[d];
}

/* Whether the result has a dim for dim d of the array; its size is 1 where the result does not differ along it. */
static bool has_dim(const ndr_request *request, int d, int64_t *size) {
  const ndr_problem *problem = &request->problem;
  int behind = problem->groups ? problem->group_dim + problem->groups->ndim : 0;
  if (ndr_request_keeps(request, d, size)) return true;
  *size = 1;
  return problem->keepdims && !(problem->groups && d > problem->group_dim && d < behind);
}

void ndr_request_compact_results(ndr_request *request) {
  int64_t step = 1, size;
  for (int d = request->problem.ndim - 1; d >= 0; d--) {
    bool kept = ndr_request_keeps(request, d, &size);
    for (int i = 0; i < request->problem.op_count; i++) request->result_strides[i][d] = kept ? step : 0;
    if (kept && size > 0) step *= size;
  }
}

/* A stride of 0 gives an array that needs no memory results that no memory holds. */
static ndr_status check_result_bytes(const ndr_request *request) {
  int64_t outputs = 1, size, bytes;
  bool fits = true;
  char label[NDR_LABEL_BYTES];
  for (int d = 0; d < request->problem.ndim; d++)
    if (ndr_request_keeps(request, d, &size)) fits = !__builtin_mul_overflow(outputs, size, &outputs) && fits;
  for (int i = 0; i < request->problem.op_count; i++) {
    int64_t each = (int64_t)ndr_dtype_bytes(request->results[i]);
    if (!fits || __builtin_mul_overflow(outputs, each, &bytes) || bytes > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_OVERFLOW, "the size in bytes of the result of %s does not fit in 62 bits",
                      ndr_op_label(request->problem.ops[i], label));
  }
  return NDR_OK;
}

/* Copies the problem, and sets to 0 what lies behind its counts, so that equal requests have equal bytes. */
static void take_problem(ndr_request *request, const ndr_problem *problem) {
  ndr_problem *taken = &request->problem;
  *taken = *problem;
  taken->keepdims = problem->keepdims != 0;
  taken->skip_nan = problem->skip_nan != 0;
  memset(taken->dims, 0, sizeof taken->dims);
  taken->dim_count = 0;
  for (int d = 0; d < problem->ndim; d++)
    if (request->reduced[d]) taken->dims[taken->dim_count++] = d;
  for (int d = problem->ndim; d < NDR_MAX_DIMS; d++) taken->shape[d] = taken->strides[d] = 0;
  for (int i = problem->op_count; i < NDR_MAX_OPS; i++) taken->ops[i] = (ndr_op)0;
  taken->has_initial = problem->has_initial != 0;
  if (!taken->has_initial) taken->initial = 0;
  taken->group_dim = !problem->groups ? 0 : problem->group_dim + (problem->group_dim < 0 ? problem->ndim : 0);
  memset(taken->operands, 0, sizeof taken->operands);
  for (int k = 0; k < problem->operand_count; k++) {
    taken->operands[k].role = problem->operands[k].role;
    taken->operands[k].dtype = problem->operands[k].dtype;
    memcpy(taken->operands[k].strides, problem->operands[k].strides, (size_t)problem->ndim * sizeof(int64_t));
  }
}

static ndr_status complete(ndr_request *request) {
  memcpy(request->whole_shape, request->problem.shape, sizeof request->whole_shape);
  memcpy(request->whole_reduced, request->reduced, sizeof request->whole_reduced);
  request->whole_ndim = request->problem.ndim;
  for (int d = 0; d < request->problem.ndim; d++) {
    request->along[d] = d;
    request->step[d] = 1;
  }
  for (int i = 0; i < request->problem.op_count; i++) {
    const ndr_program *program = request->programs[i];
    request->results[i] =
        program ? program->result_dtype : ndr_op_result(request->problem.ops[i], request->problem.dtype);
  }
  NDR_TRY(check_result_bytes(request));
  ndr_request_compact_results(request);
  return NDR_OK;
}

ndr_status ndr_request_make(ndr_request *request, const ndr_problem *problem) {
  memset(request, 0, sizeof *request);
  NDR_TRY(ndr_problem_check(problem, request->reduced));
  take_problem(request, problem);
  (void)ndr_groups_hold(request->problem.groups);
  ndr_status status = ndr_lower(request);
  if (status == NDR_OK) status = complete(request);
  if (status != NDR_OK) ndr_request_free(request);
  return status;
}

ndr_status ndr_request_make_part(ndr_request *request, const ndr_request *whole, const ndr_problem *problem) {
  memset(request, 0, sizeof *request);
  NDR_TRY(ndr_problem_check_layout(problem, request->reduced));
  take_problem(request, problem);
  memcpy(request->programs, whole->programs, sizeof request->programs);
  request->programs_owner = whole->programs_owner;
  request->place_count = whole->place_count;
  memcpy(request->place_dims, whole->place_dims, sizeof request->place_dims);
  return complete(request);
}

void ndr_request_share(const ndr_request *request) {
  ndr_programs_share(request->programs_owner);
  (void)ndr_groups_hold(request->problem.groups);
}

void ndr_request_free(ndr_request *request) {
  ndr_programs_drop(request->programs_owner);
  request->programs_owner = NULL;
  ndr_groups_destroy((ndr_groups *)(uintptr_t)request->problem.groups);
  request->problem.groups = NULL;
}

/* An operator of one's own has the result of its states' identities, an initial value is one, and groups may be empty.
 */
bool ndr_request_has_empty(const ndr_request *request, int i) {
  ndr_op op = request->problem.ops[i];
  return ndr_op_is_own(op) || request->problem.has_initial || request->problem.groups || ndr_op_has_empty(op);
}

ndr_state ndr_request_state(const ndr_request *request, int i) {
  return (ndr_state){.op = request->problem.ops[i],
                     .dtype = request->problem.dtype,
                     .skip_nan = request->problem.skip_nan,
                     .ddof = request->problem.ddof,
                     .program = request->programs[i]};
}

int ndr_request_result_shape(const ndr_request *request, int64_t *shape) {
  int ndim = 0;
  for (int d = 0; d < request->problem.ndim; d++)
    if (has_dim(request, d, &shape[ndim])) ndim++;
  return ndim;
}

static void shape_text(int ndim, const int64_t *shape, char *text, size_t capacity) {
  size_t length = 0;
  text[0] = 0;
  for (int d = 0; d < ndim && length + 24 < capacity; d++)
    length += (size_t)snprintf(text + length, capacity - length, "%s%lld", d ? "," : "", (long long)shape[d]);
}

ndr_status ndr_check_result(const char *op, ndr_dtype dtype, ndr_dtype expected, int ndim, const int64_t *shape,
                            const DLTensor *result) {
  ndr_dtype given;
  if (!result) return ndr_fail(NDR_ERR_ARGUMENT, "the result of %s is a null pointer", op);
  if (ndr_dtype_from_dlpack(result->dtype, &given) != NDR_OK || given != expected)
    return ndr_fail(NDR_ERR_RESULT, "the result of %s over %s has dtype %s, must be %s", op, ndr_dtype_name(dtype),
                    ndr_dtype_from_dlpack(result->dtype, &given) == NDR_OK ? ndr_dtype_name(given) : "unknown",
                    ndr_dtype_name(expected));
  bool same = result->ndim == ndim && (ndim == 0 || result->shape), empty = false;
  for (int d = 0; same && d < ndim; d++) {
    same = result->shape[d] == shape[d];
    empty = empty || shape[d] == 0;
  }
  if (!same) {
    char has[128] = "?", must[128];
    if (result->ndim >= 0 && result->ndim <= NDR_MAX_DIMS && (result->ndim == 0 || result->shape))
      shape_text(result->ndim, result->shape, has, sizeof has);
    shape_text(ndim, shape, must, sizeof must);
    return ndr_fail(NDR_ERR_RESULT, "the result of %s has shape [%s], must be [%s]", op, has, must);
  }
  for (int d = 0; result->strides && d < ndim && !empty; d++)
    if (result->strides[d] == 0 && shape[d] > 1)
      return ndr_fail(NDR_ERR_RESULT, "dim %d of the result of %s has stride 0: its elements overlap", d, op);
  return result->strides ? ndr_check_span("result", ndim, shape, result->strides, ndr_dtype_bytes(given)) : NDR_OK;
}

static ndr_status check_result(const ndr_request *request, int i, const DLTensor *result) {
  char label[NDR_LABEL_BYTES];
  int64_t shape[NDR_MAX_DIMS];
  int ndim = ndr_request_result_shape(request, shape);
  return ndr_check_result(ndr_op_label(request->problem.ops[i], label), request->problem.dtype, request->results[i],
                          ndim, shape, result);
}

ndr_status ndr_request_results(ndr_request *request, const DLTensor *const *results) {
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  for (int i = 0; i < request->problem.op_count; i++) {
    NDR_TRY(check_result(request, i, results[i]));
    if (!results[i]->strides) continue;
    for (int d = 0, r = 0; d < request->problem.ndim; d++) {
      int64_t size;
      if (ndr_request_keeps(request, d, &size)) request->result_strides[i][d] = results[i]->strides[r];
      r += has_dim(request, d, &size);
    }
  }
  return NDR_OK;
}
