/* Makes and executes plans: simple ones, and those of problems with groups, which have parts. */
#include "api/plan.h"

#include "api/operands.h"
#include "api/parts/parts.h"

#include <stdlib.h>

static ndr_status make_parts(ndr_plan *plan, const ndr_request *request, DLDevice device, const void *const *data,
                             const ndr_options *options) {
  NDR_TRY(ndr_parts_make(&plan->parts, request, device, data, options));
  return ndr_parts_workspace(plan->parts, &plan->workspace);
}

ndr_status ndr_plan_from_request(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *const *data,
                                 const ndr_options *options) {
  if (!request->problem.groups) return ndr_simple_make(plan, request, device, data, options);
  NDR_TRY(ndr_simple_start(plan, request, device, options));
  ndr_status status = make_parts(*plan, request, device, data, options);
  if (status == NDR_OK) return NDR_OK;
  ndr_plan_destroy(*plan);
  *plan = NULL;
  return status;
}

ndr_status ndr_request_from_call(ndr_request *request, const ndr_call *call, ndr_options *options) {
  ndr_problem problem;
  ndr_operands operands;
  NDR_TRY(ndr_options_read(call->options, options));
  NDR_TRY(ndr_operands_of(options, &operands));
  NDR_TRY(ndr_problem_fill(&problem, call->array, call->dim_count, call->dims, call->op_count, call->ops));
  problem.keepdims = options->keepdims;
  problem.skip_nan = options->skip_nan;
  problem.ddof = options->ddof;
  problem.accumulate = options->accumulate;
  problem.weighting = options->weighting;
  problem.has_initial = options->initial != NULL;
  if (options->initial) problem.initial = *options->initial;
  problem.groups = options->groups;
  problem.group_dim = options->group_dim;
  for (int k = 0; k < operands.count; k++)
    NDR_TRY(ndr_problem_take_operand(&problem, operands.roles[k], operands.tensors[k]));
  return ndr_request_make(request, &problem);
}

ndr_status ndr_request_place(ndr_request *request, DLDevice array_device, const DLTensor *const *results) {
  const ndr_backend *backend;
  NDR_TRY(ndr_backend_find(array_device.device_type, &backend));
  NDR_TRY(ndr_request_results(request, results));
  for (int i = 0; i < request->problem.op_count; i++)
    NDR_TRY(ndr_check_result_device(backend, array_device, results[i]->device));
  return NDR_OK;
}

/* Operators may be destroyed before the plan is described. */
static ndr_status keep_text(ndr_plan *plan, const ndr_problem *problem) {
  size_t length = ndr_problem_sketch(problem, NULL, 0);
  plan->text = malloc(length + 1);
  if (!plan->text) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the text of a plan, %zu bytes", length);
  ndr_problem_sketch(problem, plan->text, length + 1);
  return NDR_OK;
}

ndr_status ndr_plan_create(ndr_plan **plan, const ndr_problem *problem, DLDevice device, const DLTensor *const *results,
                           const ndr_options *options) {
  ndr_problem read;
  ndr_request request;
  ndr_options how;
  if (!plan) return ndr_fail(NDR_ERR_ARGUMENT, "plan is a null pointer");
  *plan = NULL;
  NDR_TRY(ndr_options_read_beside_problem(options, &how));
  NDR_TRY(ndr_problem_read(problem, &read));
  NDR_TRY(ndr_request_make(&request, &read));
  ndr_status status = results ? ndr_request_place(&request, device, results) : NDR_OK;
  if (status == NDR_OK) status = ndr_plan_from_request(plan, &request, device, NULL, &how);
  if (status == NDR_OK) status = keep_text(*plan, &request.problem);
  ndr_request_free(&request);
  if (status == NDR_OK) return NDR_OK;
  ndr_plan_destroy(*plan);
  *plan = NULL;
  return status;
}

size_t ndr_plan_describe(const ndr_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  if (!text) capacity = 0;
  if (capacity) text[0] = 0;
  if (!plan) return 0;
  ndr_plan_describe_place(plan, text, capacity, &length);
  if (plan->parts)
    ndr_parts_describe(plan->parts, text, capacity, &length);
  else
    ndr_plan_describe_choice(plan, text, capacity, &length);
  return length;
}

size_t ndr_plan_workspace(const ndr_plan *plan) {
  return plan ? plan->workspace : 0;
}

void ndr_plan_destroy(ndr_plan *plan) {
  if (plan) ndr_parts_drop(plan->parts);
  ndr_simple_free(plan);
}

ndr_status ndr_plan_execute_operands(const ndr_plan *plan, const void *const *data, void *const *results,
                                     void *workspace, size_t workspace_bytes, void *stream) {
  if (!plan || !data || !results) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: null pointer");
  if (!plan->parts) return ndr_simple_execute(plan, data, results, workspace, workspace_bytes, stream);
  if (plan->problem.outputs == 0) return NDR_OK;
  NDR_TRY(ndr_plan_check(plan, data, results, workspace, workspace_bytes));
  return ndr_parts_execute(plan->parts, data, results, workspace, stream);
}

ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                            size_t workspace_bytes, void *stream) {
  if (plan && plan->problem.operand_count > 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "the plan's problem has operands: use ndr_plan_execute_operands");
  return ndr_plan_execute_operands(plan, &data, results, workspace, workspace_bytes, stream);
}
