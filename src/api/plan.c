/* Makes plans. core/plan.c chooses the family, and execute.c executes them. */
#include "api/plan.h"

#include "api/operands.h"
#include "api/parts.h"
#include "core/measure.h"

#include <stdlib.h>
#include <string.h>

/* The device's numbers, or those that the options give for it. */
static ndr_status device_numbers(const ndr_backend *backend, int id, const ndr_options *options, ndr_device *device) {
  if (!options->device) return backend->device(id, device);
  NDR_TRY(ndr_device_read(options->device, device));
  if (backend->owns(device->type)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "options.device describes a %s device, the array is on %s",
                  ndr_device_type_name(device->type), backend->name);
}

/* Both modes take a choice that was measured before; only NDR_MEASURE measures. */
static ndr_status choose(ndr_plan *plan, const void *const *data, const ndr_options *options) {
  NDR_TRY(ndr_plan_choose(plan, options->force_family));
  if (options->planning != NDR_MEASURE || plan->forced || plan->timings.choice) return NDR_OK;
  if (!options->device) return ndr_plan_measure(plan, data, options->stream);
  strcpy(plan->untimed, "the device was described by options.device, and may not be there");
  return NDR_OK;
}

/* With groups, the parts are what is planned. */
static ndr_status choose_parts(ndr_plan *plan, const ndr_request *request, DLDevice device, const void *const *data,
                               const ndr_options *options) {
  NDR_TRY(ndr_parts_make(&plan->parts, request, device, data, options));
  return ndr_parts_workspace(plan->parts, &plan->workspace);
}

ndr_status ndr_plan_from_request(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *const *data,
                                 const ndr_options *options) {
  ndr_plan *made = calloc(1, sizeof *made);
  *plan = NULL;
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  ndr_status status = ndr_backend_find(device.device_type, &made->backend);
  if (status == NDR_OK) status = device_numbers(made->backend, device.device_id, options, &made->device);
  if (status == NDR_OK) status = ndr_canonical_make(&made->problem, request);
  if (status == NDR_OK) {
    made->threads = options->threads;
    status = request->problem.groups ? choose_parts(made, request, device, data, options) : choose(made, data, options);
  }
  if (status != NDR_OK) {
    ndr_plan_destroy(made);
    return status;
  }
  *plan = made;
  return NDR_OK;
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
  size_t length = ndr_problem_print(problem, NULL, 0);
  plan->text = malloc(length + 1);
  if (!plan->text) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the text of a plan, %zu bytes", length);
  ndr_problem_print(problem, plan->text, length + 1);
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
  if (!plan) return;
  ndr_canonical_free(&plan->problem);
  ndr_parts_drop(plan->parts);
  free(plan->text);
  free(plan);
}
