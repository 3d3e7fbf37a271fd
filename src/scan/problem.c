/* Checks the arguments of a scan and makes its canonical form. */
#include "scan/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/groups/label.h"
#include "core/sized.h"
#include "lang/programs.h"
#include "scan/overlap.h"

ndr_status ndr_scan_options_read(const ndr_scan_options *given, ndr_scan_options *out) {
  *out = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
  if (!given) return NDR_OK;
  NDR_TRY(ndr_sized_read(given, out, sizeof *out, "options", "NDR_SCAN_OPTIONS_INIT"));
  if (out->threads < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.threads is %d", out->threads);
  if (out->with_count < 0 || out->with_count > NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.with_count is %d, must be 0 to %d", out->with_count, NDR_MAX_OPERANDS);
  if (out->with_count > 0 && !out->with)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.with is a null pointer, and with_count %d", out->with_count);
  if (out->exclusive && out->include_initial)
    return ndr_fail(NDR_ERR_ARGUMENT,
                    "exclusive and include_initial are both set: either begins with the initial value");
  return NDR_OK;
}

/* ---- the request: the reduction whose running values are wanted ---- */

static ndr_status check_op(ndr_op op) {
  if (ndr_op_scans(op)) return NDR_OK;
  return ndr_fail(NDR_ERR_OP,
                  "%s has no scan: sum, prod, min, max, logsumexp, any and all do, and operators of one's own, such as "
                  "'mean(x): s += x, n += 1 -> s / n'",
                  ndr_op_name(op));
}

static ndr_status make_request(ndr_request *request, const ndr_scan_call *call) {
  const ndr_scan_options *options = call->options;
  ndr_problem problem;
  bool all = call->dim == NDR_SCAN_ALL;
  NDR_TRY(ndr_problem_fill(&problem, call->array, all ? -1 : 1, all ? NULL : &call->dim, 1, &call->op));
  NDR_TRY(check_op(call->op));
  problem.skip_nan = options->skip_nan;
  problem.has_initial = options->initial != NULL;
  if (options->initial) problem.initial = *options->initial;
  for (int k = 0; k < options->with_count; k++) NDR_TRY(ndr_problem_take_operand(&problem, NDR_WITH, options->with[k]));
  return ndr_request_make(request, &problem);
}

/* ---- the result ---- */

/* A scan of all elements may keep the array's shape. */
static bool keeps_shape(const ndr_scan_problem *problem, const DLTensor *result) {
  if (!result || problem->longer || result->ndim != problem->ndim || problem->ndim == 1) return false;
  return problem->ndim == 0 ||
         (result->shape && memcmp(result->shape, problem->shape, (size_t)problem->ndim * sizeof *problem->shape) == 0);
}

static ndr_status set_result(ndr_scan_problem *problem, const ndr_request *request, const ndr_scan_call *call,
                             int dim) {
  const DLTensor *result = call->result;
  char label[NDR_LABEL_BYTES], what[NDR_LABEL_BYTES + 16];
  bool shaped = dim >= 0 || keeps_shape(problem, result);
  problem->result_ndim = shaped ? problem->ndim : 1;
  memcpy(problem->result_shape, problem->shape, sizeof problem->result_shape);
  if (!shaped) problem->result_shape[0] = problem->length;
  if (problem->longer) problem->result_shape[dim >= 0 ? dim : 0]++;
  snprintf(what, sizeof what, "the result of %s", ndr_op_label(call->op, label));
  NDR_TRY(ndr_check_bytes(what, problem->result_ndim, problem->result_shape, ndr_dtype_bytes(problem->result_dtype)));
  ndr_compact_strides(problem->result_ndim, problem->result_shape, problem->result_strides);
  if (result)
    NDR_TRY(ndr_check_result(ndr_op_label(call->op, label), request->problem.dtype, problem->result_dtype,
                             problem->result_ndim, problem->result_shape, result));
  for (int d = 0; result && result->strides && d < problem->result_ndim; d++)
    problem->result_strides[d] = result->strides[d];
  ndr_settle_strides(problem->result_ndim, problem->result_shape, problem->result_strides);
  return NDR_OK;
}

/* ---- axes ---- */

void ndr_scan_step(const ndr_scan_problem *problem, const ndr_scan_axis *axis, int64_t steps, ndr_scan_place *place) {
  place->at += steps * axis->stride;
  place->result += steps * axis->result;
  for (int k = 0; k < problem->operand_count; k++) place->operand[k] += steps * axis->operand[k];
  for (int p = 0; p < problem->place_count; p++) place->place[p] += steps * axis->place[p];
}

void ndr_scan_line(const ndr_scan_problem *problem, int64_t line, ndr_scan_place *place) {
  place->at = problem->origin;
  place->result = problem->result_origin;
  memcpy(place->operand, problem->operand_origin, sizeof place->operand);
  memcpy(place->place, problem->place_origin, sizeof place->place);
  for (int a = 0; a < problem->kept_count; a++) {
    ndr_scan_step(problem, &problem->kept[a], line % problem->kept[a].size, place);
    line /= problem->kept[a].size;
  }
}

/* Walks an axis from its other end. */
static void flip(ndr_scan_problem *problem, ndr_scan_axis *axis) {
  ndr_scan_place start = {problem->origin, problem->result_origin, {0}, {0}};
  memcpy(start.operand, problem->operand_origin, sizeof start.operand);
  memcpy(start.place, problem->place_origin, sizeof start.place);
  ndr_scan_step(problem, axis, axis->size - 1, &start);
  problem->origin = start.at;
  problem->result_origin = start.result;
  memcpy(problem->operand_origin, start.operand, sizeof start.operand);
  memcpy(problem->place_origin, start.place, sizeof start.place);
  axis->stride = -axis->stride;
  axis->result = -axis->result;
  for (int k = 0; k < NDR_MAX_OPERANDS; k++) axis->operand[k] = -axis->operand[k];
  for (int p = 0; p < NDR_MOST_PLACES; p++) axis->place[p] = -axis->place[p];
}

static bool inner_to(const ndr_scan_axis *a, const ndr_scan_axis *b) {
  if (a->stride != b->stride) return b->stride == 0 || (a->stride != 0 && a->stride < b->stride);
  return llabs(a->result) < llabs(b->result);
}

/* The product may overflow. */
static bool follows(int64_t inner, int64_t size, int64_t outer) {
  int64_t end;
  return !__builtin_mul_overflow(inner, size, &end) && end == outer;
}

static bool continues(const ndr_scan_axis *inner, const ndr_scan_axis *outer) {
  bool merges =
      follows(inner->stride, inner->size, outer->stride) && follows(inner->result, inner->size, outer->result);
  for (int k = 0; merges && k < NDR_MAX_OPERANDS; k++)
    merges = follows(inner->operand[k], inner->size, outer->operand[k]);
  for (int p = 0; merges && p < NDR_MOST_PLACES; p++) merges = follows(inner->place[p], inner->size, outer->place[p]);
  return merges;
}

static int merge_neighbours(ndr_scan_axis *axes, int count) {
  int last = 0;
  for (int a = 1; a < count; a++) {
    if (continues(&axes[last], &axes[a]))
      axes[last].size *= axes[a].size;
    else
      axes[++last] = axes[a];
  }
  return count ? last + 1 : 0;
}

static void add_kept(ndr_scan_problem *problem, ndr_scan_axis *axis) {
  int at = problem->kept_count++;
  if (axis->stride < 0) flip(problem, axis);
  for (; at > 0 && inner_to(axis, &problem->kept[at - 1]); at--) problem->kept[at] = problem->kept[at - 1];
  problem->kept[at] = *axis;
}

/* The result's step along dim d, which it may have flattened with all others. */
static int64_t result_stride(const ndr_scan_problem *problem, int d, int64_t behind) {
  return problem->result_ndim == problem->ndim ? problem->result_strides[d] : problem->result_strides[0] * behind;
}

/* A longer result has its first value one step before a line's first element, where the walk starts. */
static void set_axes(ndr_scan_problem *problem, const ndr_request *request, int dim, bool reverse) {
  int64_t behind = 1;
  int inner = dim >= 0 ? dim : problem->ndim - 1;
  if (problem->result_ndim > 0) problem->result_step = result_stride(problem, inner > 0 ? inner : 0, 1);
  if (problem->longer && !reverse) problem->result_origin = problem->result_step;
  if (reverse) problem->result_step = -problem->result_step;
  for (int d = problem->ndim - 1; d >= 0; d--) {
    ndr_scan_axis axis = {problem->shape[d], problem->strides[d], result_stride(problem, d, behind), {0}, {0}};
    behind *= problem->shape[d];
    if (axis.size < 2 || (request->reduced[d] && problem->length == 0)) continue;
    for (int k = 0; k < problem->operand_count; k++) axis.operand[k] = problem->operand_strides[k][d];
    for (int p = 0; p < problem->place_count; p++) axis.place[p] = request->place_dims[p] == d;
    if (!request->reduced[d]) {
      add_kept(problem, &axis);
    } else {
      if (reverse) flip(problem, &axis);
      problem->scan[problem->scan_count++] = axis;
    }
  }
  problem->scan_count = merge_neighbours(problem->scan, problem->scan_count);
  problem->kept_count = merge_neighbours(problem->kept, problem->kept_count);
}

/* ---- the whole ---- */

static ndr_status set_program(ndr_scan_problem *problem, const ndr_request *request) {
  if (request->programs[0]) {
    problem->programs_owner = request->programs_owner;
    problem->program = request->programs[0];
    ndr_programs_share(problem->programs_owner);
    return NDR_OK;
  }
  problem->programs_owner = ndr_programs_make(1);
  if (!problem->programs_owner) return ndr_fail(NDR_ERR_MEMORY, "out of memory for programs");
  ndr_program_built_in(problem->programs_owner->programs, problem->op, problem->dtype, problem->skip_nan);
  problem->program = problem->programs_owner->programs;
  return NDR_OK;
}

static void copy_members(ndr_scan_problem *problem, const ndr_request *request, const ndr_scan_call *call) {
  const ndr_problem *given = &request->problem;
  problem->op = call->op;
  problem->dtype = given->dtype;
  problem->result_dtype = request->results[0];
  problem->skip_nan = given->skip_nan;
  problem->has_initial = given->has_initial;
  problem->initial = given->initial;
  problem->exclusive = call->options->exclusive != 0;
  problem->longer = call->options->include_initial != 0;
  problem->ndim = given->ndim;
  memcpy(problem->shape, given->shape, sizeof problem->shape);
  memcpy(problem->strides, given->strides, sizeof problem->strides);
  ndr_settle_strides(problem->ndim, problem->shape, problem->strides);
  problem->length = problem->lines = 1;
  for (int d = 0; d < given->ndim; d++) *(request->reduced[d] ? &problem->length : &problem->lines) *= given->shape[d];
  problem->operand_count = given->operand_count;
  for (int k = 0; k < given->operand_count; k++) {
    problem->operand_dtypes[k] = given->operands[k].dtype;
    memcpy(problem->operand_strides[k], given->operands[k].strides, sizeof problem->operand_strides[k]);
    ndr_settle_strides(problem->ndim, problem->shape, problem->operand_strides[k]);
  }
  problem->place_count = request->place_count;
}

ndr_status ndr_scan_problem_make(ndr_scan_problem *problem, const ndr_scan_call *call) {
  ndr_request request;
  memset(problem, 0, sizeof *problem);
  NDR_TRY(make_request(&request, call));
  int dim = call->dim == NDR_SCAN_ALL ? -1 : request.problem.dims[0];
  copy_members(problem, &request, call);
  ndr_status status = set_result(problem, &request, call, dim);
  if (status == NDR_OK) status = set_program(problem, &request);
  if (status == NDR_OK) set_axes(problem, &request, dim, call->options->reverse != 0);
  ndr_request_free(&request);
  return status;
}

void ndr_scan_problem_free(ndr_scan_problem *problem) {
  ndr_programs_drop(problem->programs_owner);
  problem->programs_owner = NULL;
}

/* ---- overlap ---- */

/* In place: each element is written where it was read. */
static bool same_layout(const ndr_scan_problem *problem, ndr_dtype dtype, const int64_t *strides) {
  bool same = dtype == problem->result_dtype && problem->result_ndim == problem->ndim && !problem->longer;
  for (int d = 0; same && d < problem->ndim; d++) same = strides[d] == problem->result_strides[d];
  return same;
}

static ndr_status check_one(const ndr_scan_problem *problem, const char *what, ndr_dtype dtype, const int64_t *strides,
                            const void *address, const void *result) {
  if (address == result && same_layout(problem, dtype, strides)) return NDR_OK;
  ndr_span read = {address, ndr_dtype_bytes(dtype), problem->ndim, problem->shape, strides};
  ndr_span written = {result, ndr_dtype_bytes(problem->result_dtype), problem->result_ndim, problem->result_shape,
                      problem->result_strides};
  if (!ndr_spans_overlap(&read, &written)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "the result overlaps %s, and has not its address, strides and dtype", what);
}

ndr_status ndr_scan_check_overlap(const ndr_scan_problem *problem, const void *const *data, const void *result) {
  if (problem->length == 0 || problem->lines == 0) return NDR_OK;
  NDR_TRY(check_one(problem, "the array", problem->dtype, problem->strides, data[0], result));
  for (int k = 0; k < problem->operand_count; k++)
    NDR_TRY(check_one(problem, "an array of 'with'", problem->operand_dtypes[k], problem->operand_strides[k],
                      data[k + 1], result));
  return NDR_OK;
}
