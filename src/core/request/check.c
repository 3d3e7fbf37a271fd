/* Checks problems: shapes, strides, dims, operators and operands. Fills in what callers may leave out. */
#include "core/groups/label.h"
#include "core/request/canonical.h"
#include "core/sized.h"
#include "ndreduce/operator.h"

/* A size of 0 counts as 1: the product of the others must not overflow either. */
ndr_status ndr_check_bytes(const char *what, int ndim, const int64_t *shape, size_t element_bytes) {
  int64_t bytes = (int64_t)element_bytes;
  for (int d = 0; d < ndim; d++)
    if (__builtin_mul_overflow(bytes, shape[d] ? shape[d] : 1, &bytes) || bytes > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_OVERFLOW, "the size in bytes of %s does not fit in 62 bits", what);
  return NDR_OK;
}

ndr_status ndr_check_shape(int ndim, const int64_t *shape, size_t element_bytes) {
  if (ndim < 0 || ndim > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_ARGUMENT, "array has %d dims, at most %d are supported", ndim, NDR_MAX_DIMS);
  if (ndim > 0 && !shape) return ndr_fail(NDR_ERR_ARGUMENT, "array has no shape");
  for (int d = 0; d < ndim; d++)
    if (shape[d] < 0) return ndr_fail(NDR_ERR_ARGUMENT, "dim %d has size %lld", d, (long long)shape[d]);
  return ndr_check_bytes("the array", ndim, shape, element_bytes);
}

void ndr_compact_strides(int ndim, const int64_t *shape, int64_t *strides) {
  int64_t step = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    strides[d] = step;
    step *= shape[d] > 0 ? shape[d] : 1;
  }
}

void ndr_settle_strides(int ndim, const int64_t *shape, int64_t *strides) {
  for (int d = 0; d < ndim; d++)
    if (shape[d] < 2) strides[d] = 0;
}

ndr_status ndr_check_span(const char *what, int ndim, const int64_t *shape, const int64_t *strides, size_t bytes) {
  int64_t span = (int64_t)bytes;
  for (int d = 0; d < ndim; d++) {
    int64_t reach;
    if (shape[d] < 2) continue;
    if (__builtin_mul_overflow(shape[d], strides[d], &reach) || reach == INT64_MIN ||
        __builtin_mul_overflow(reach < 0 ? -reach : reach, (int64_t)bytes, &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_OVERFLOW, "stride %lld of dim %d of the %s reaches past 62 bits", (long long)strides[d],
                      d, what);
  }
  return NDR_OK;
}

ndr_status ndr_check_dims(int ndim, int dim_count, const int *dims, bool *reduced) {
  for (int d = 0; d < NDR_MAX_DIMS; d++) reduced[d] = dim_count == -1 && d < ndim;
  if (dim_count == -1) {
    return dims ? ndr_fail(NDR_ERR_DIMS, "dim_count is -1 (all) but dims is not NULL") : NDR_OK;
  }
  if (dim_count < 0 || dim_count > NDR_MAX_DIMS) return ndr_fail(NDR_ERR_DIMS, "dim_count is %d", dim_count);
  if (dim_count > 0 && !dims) return ndr_fail(NDR_ERR_DIMS, "dims is a null pointer");
  for (int i = 0; i < dim_count; i++) {
    int d = dims[i] < 0 ? dims[i] + ndim : dims[i];
    if (dims[i] < -ndim || dims[i] >= ndim)
      return ndr_fail(NDR_ERR_DIMS, "dim %d is out of range for an array of %d dim%s", dims[i], ndim, NDR_PLURAL(ndim));
    if (reduced[d]) return ndr_fail(NDR_ERR_DIMS, "dim %d is named twice", d);
    reduced[d] = true;
  }
  return NDR_OK;
}

/* ---- operators ---- */

static ndr_status check_op(ndr_op op, ndr_dtype dtype) {
  if (!ndr_op_is_own(op)) return ndr_op_check(op, dtype);
  if (ndr_operator_arrays(op) > 0) return NDR_OK;
  return ndr_fail(NDR_ERR_OP, "there is no operator with the number %d; it may have been destroyed", (int)op);
}

static ndr_status check_ops(const ndr_problem *problem) {
  if (problem->op_count < 1 || problem->op_count > NDR_MAX_OPS)
    return ndr_fail(NDR_ERR_ARGUMENT, "op_count is %d, must be 1 to %d", problem->op_count, NDR_MAX_OPS);
  for (int i = 0; i < problem->op_count; i++) NDR_TRY(check_op(problem->ops[i], problem->dtype));
  return NDR_OK;
}

/* Checks that the operators read all arrays of `with`, and no more than there are. */
static ndr_status check_arrays(const ndr_problem *problem) {
  int given = 1, most = 1;
  char label[NDR_LABEL_BYTES];
  for (int k = 0; k < problem->operand_count; k++) given += problem->operands[k].role == NDR_WITH;
  for (int i = 0; i < problem->op_count; i++) {
    int arrays = ndr_operator_arrays(problem->ops[i]);
    if (arrays == 0) return check_op(problem->ops[i], problem->dtype); /* it was destroyed since */
    if (arrays > given)
      return ndr_fail(NDR_ERR_ARGUMENT, "%s reads %d arrays, and 'with' has %d beside the array",
                      ndr_op_label(problem->ops[i], label), arrays, given - 1);
    if (arrays > most) most = arrays;
  }
  if (most == given) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "'with' has %d array%s, of which the operators read %d", given - 1,
                  NDR_PLURAL(given - 1), most - 1);
}

/* ---- operands ---- */

const char *ndr_role_name(ndr_role role) {
  static const char *const names[] = {[NDR_WHERE] = "where", [NDR_WEIGHTS] = "weights", [NDR_WITH] = "with"};
  return names[role];
}

static ndr_status check_operand_dtype(ndr_role role, ndr_dtype dtype) {
  if (!ndr_dtype_valid(dtype)) return ndr_fail(NDR_ERR_DTYPE, "unknown dtype number %d", (int)dtype);
  if (role == NDR_WHERE && dtype != NDR_BOOL)
    return ndr_fail(NDR_ERR_DTYPE, "'where' is %s, must be bool", ndr_dtype_name(dtype));
  if (role == NDR_WEIGHTS && dtype != NDR_F32 && dtype != NDR_F64)
    return ndr_fail(NDR_ERR_DTYPE, "'weights' are %s, must be f32 or f64", ndr_dtype_name(dtype));
  return NDR_OK;
}

/* Checks operand k beside those before it. */
static ndr_status check_operand(const ndr_problem *problem, int k) {
  const ndr_operand *operand = &problem->operands[k];
  if ((unsigned)operand->role > NDR_WITH)
    return ndr_fail(NDR_ERR_ARGUMENT, "operand %d has the role %d", k, (int)operand->role);
  for (int before = 0; before < k; before++)
    if (operand->role != NDR_WITH && problem->operands[before].role == operand->role)
      return ndr_fail(NDR_ERR_ARGUMENT, "two operands have the role '%s'", ndr_role_name(operand->role));
  NDR_TRY(check_operand_dtype(operand->role, operand->dtype));
  return ndr_check_span(ndr_role_name(operand->role), problem->ndim, problem->shape, operand->strides,
                        ndr_dtype_bytes(operand->dtype));
}

static ndr_status check_operands(const ndr_problem *problem) {
  if (problem->operand_count < 0 || problem->operand_count > NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "operand_count is %d, must be 0 to %d", problem->operand_count, NDR_MAX_OPERANDS);
  for (int k = 0; k < problem->operand_count; k++) NDR_TRY(check_operand(problem, k));
  return NDR_OK;
}

ndr_status ndr_broadcast_strides(const ndr_problem *problem, const char *what, const DLTensor *tensor,
                                 int64_t *strides) {
  int64_t own[NDR_MAX_DIMS];
  int ahead = problem->ndim - tensor->ndim;
  if (tensor->ndim < 0 || ahead < 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "'%s' has %d dim%s, the array %d", what, tensor->ndim, NDR_PLURAL(tensor->ndim),
                    problem->ndim);
  if (tensor->ndim > 0 && !tensor->shape) return ndr_fail(NDR_ERR_ARGUMENT, "'%s' has no shape", what);
  for (int d = 0; d < tensor->ndim; d++)
    if (tensor->shape[d] != 1 && tensor->shape[d] != problem->shape[ahead + d])
      return ndr_fail(NDR_ERR_ARGUMENT, "dim %d of '%s' has size %lld, and does not broadcast to %lld", d, what,
                      (long long)tensor->shape[d], (long long)problem->shape[ahead + d]);
  ndr_compact_strides(tensor->ndim, tensor->shape, own);
  for (int d = 0; d < problem->ndim; d++) {
    strides[d] = 0;
    if (d < ahead || tensor->shape[d - ahead] == 1) continue;
    strides[d] = tensor->strides ? tensor->strides[d - ahead] : own[d - ahead];
  }
  return NDR_OK;
}

ndr_status ndr_problem_take_operand(ndr_problem *problem, ndr_role role, const DLTensor *tensor) {
  if ((unsigned)role > NDR_WITH) return ndr_fail(NDR_ERR_ARGUMENT, "an operand has the role %d", (int)role);
  if (!tensor) return ndr_fail(NDR_ERR_ARGUMENT, "'%s' is a null pointer", ndr_role_name(role));
  if (problem->operand_count < 0 || problem->operand_count >= NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "a problem has at most %d arrays beside its own", NDR_MAX_OPERANDS);
  ndr_operand *operand = &problem->operands[problem->operand_count];
  memset(operand, 0, sizeof *operand);
  operand->role = role;
  NDR_TRY(ndr_dtype_from_dlpack(tensor->dtype, &operand->dtype));
  NDR_TRY(ndr_broadcast_strides(problem, ndr_role_name(role), tensor, operand->strides));
  NDR_TRY(check_operand(problem, problem->operand_count));
  problem->operand_count++;
  return NDR_OK;
}

/* ---- problems ---- */

ndr_status ndr_problem_read(const ndr_problem *given, ndr_problem *problem) {
  if (!given) return ndr_fail(NDR_ERR_ARGUMENT, "problem is a null pointer");
  return ndr_sized_read(given, problem, sizeof *problem, "problem", "NDR_PROBLEM_INIT");
}

ndr_status ndr_problem_check_layout(const ndr_problem *problem, bool *reduced) {
  if (!ndr_dtype_valid(problem->dtype)) return ndr_fail(NDR_ERR_DTYPE, "unknown dtype number %d", (int)problem->dtype);
  size_t bytes = ndr_dtype_bytes(problem->dtype);
  NDR_TRY(ndr_check_shape(problem->ndim, problem->shape, bytes));
  NDR_TRY(ndr_check_span("array", problem->ndim, problem->shape, problem->strides, bytes));
  NDR_TRY(ndr_check_dims(problem->ndim, problem->dim_count, problem->dim_count == -1 ? NULL : problem->dims, reduced));
  if (problem->op_count < 1 || problem->op_count > NDR_MAX_OPS)
    return ndr_fail(NDR_ERR_ARGUMENT, "op_count is %d, must be 1 to %d", problem->op_count, NDR_MAX_OPS);
  return check_operands(problem);
}

/* ---- groups ---- */

static ndr_status check_groups(const ndr_problem *problem, const bool *reduced) {
  const ndr_groups *groups = problem->groups;
  int ndim = problem->ndim, first = problem->group_dim + (problem->group_dim < 0 ? ndim : 0);
  if (!groups && problem->group_dim)
    return ndr_fail(NDR_ERR_ARGUMENT, "group_dim is %d, and groups a null pointer", problem->group_dim);
  if (!groups) return NDR_OK;
  if (first < 0 || first > ndim - groups->ndim)
    return ndr_fail(NDR_ERR_DIMS, "labels of %d dim%s at group_dim %d are out of range for an array of %d dim%s",
                    groups->ndim, NDR_PLURAL(groups->ndim), problem->group_dim, ndim, NDR_PLURAL(ndim));
  if (ndim - groups->ndim + 3 > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "groups of an array of %d dims: labels that repeat need two more, at most %d",
                    ndim, NDR_MAX_DIMS);
  for (int d = 0; d < groups->ndim; d++) {
    if (!reduced[first + d])
      return ndr_fail(NDR_ERR_DIMS, "dim %d has labels (group_dim) and is not reduced", first + d);
    if (groups->shape[d] != problem->shape[first + d])
      return ndr_fail(NDR_ERR_ARGUMENT, "dim %d of the labels has size %lld, dim %d of the array %lld", d,
                      (long long)groups->shape[d], first + d, (long long)problem->shape[first + d]);
  }
  return NDR_OK;
}

ndr_status ndr_problem_check(const ndr_problem *problem, bool *reduced) {
  NDR_TRY(ndr_problem_check_layout(problem, reduced));
  NDR_TRY(check_ops(problem));
  NDR_TRY(check_arrays(problem));
  if (!(problem->ddof >= 0)) return ndr_fail(NDR_ERR_ARGUMENT, "ddof is %g, must be 0 or more", problem->ddof);
  if ((unsigned)problem->accumulate > NDR_ACCUMULATE_F64)
    return ndr_fail(NDR_ERR_ARGUMENT, "accumulate is %d", (int)problem->accumulate);
  if ((unsigned)problem->weighting > NDR_RELIABILITY)
    return ndr_fail(NDR_ERR_ARGUMENT, "weighting is %d", (int)problem->weighting);
  return check_groups(problem, reduced);
}

ndr_status ndr_problem_take_array(ndr_problem *problem, const DLTensor *array) {
  if (!array) return ndr_fail(NDR_ERR_ARGUMENT, "array is a null pointer");
  NDR_TRY(ndr_dtype_from_dlpack(array->dtype, &problem->dtype));
  NDR_TRY(ndr_check_shape(array->ndim, array->shape, ndr_dtype_bytes(problem->dtype)));
  problem->ndim = array->ndim;
  for (int d = 0; d < array->ndim; d++) problem->shape[d] = array->shape[d];
  ndr_compact_strides(problem->ndim, problem->shape, problem->strides);
  for (int d = 0; array->strides && d < array->ndim; d++) problem->strides[d] = array->strides[d];
  return ndr_check_span("array", problem->ndim, problem->shape, problem->strides, ndr_dtype_bytes(problem->dtype));
}

ndr_status ndr_problem_fill(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims, int op_count,
                            const ndr_op *ops) {
  bool reduced[NDR_MAX_DIMS];
  *problem = (ndr_problem)NDR_PROBLEM_INIT;
  NDR_TRY(ndr_problem_take_array(problem, array));
  NDR_TRY(ndr_check_dims(problem->ndim, dim_count, dims, reduced));
  for (int d = 0; d < problem->ndim; d++)
    if (reduced[d]) problem->dims[problem->dim_count++] = d;
  problem->op_count = op_count;
  if (op_count > 0 && !ops) return ndr_fail(NDR_ERR_ARGUMENT, "ops is a null pointer");
  for (int i = 0; i < op_count && op_count <= NDR_MAX_OPS; i++) problem->ops[i] = ops[i];
  return check_ops(problem);
}

ndr_status ndr_problem_make(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims, int op_count,
                            const ndr_op *ops) {
  ndr_problem made;
  if (!problem) return ndr_fail(NDR_ERR_ARGUMENT, "problem is a null pointer");
  NDR_TRY(ndr_problem_fill(&made, array, dim_count, dims, op_count, ops));
  return ndr_sized_write(problem, &made, sizeof made, "problem", "NDR_PROBLEM_INIT");
}

ndr_status ndr_problem_add_operand(ndr_problem *problem, ndr_role role, const DLTensor *tensor) {
  ndr_problem read;
  NDR_TRY(ndr_problem_read(problem, &read));
  if (!ndr_dtype_valid(read.dtype)) return ndr_fail(NDR_ERR_DTYPE, "unknown dtype number %d", (int)read.dtype);
  NDR_TRY(ndr_check_shape(read.ndim, read.shape, ndr_dtype_bytes(read.dtype)));
  NDR_TRY(ndr_problem_take_operand(&read, role, tensor));
  return ndr_sized_write(problem, &read, sizeof read, "problem", "NDR_PROBLEM_INIT");
}
