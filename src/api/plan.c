/* The public functions for plans. core/plan.c chooses the family. */
#include "api/plan.h"

#include "core/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKSPACE_ALIGNMENT 256

/* The device's numbers, or those that the options give for it. */
static ndr_status device_numbers(const ndr_backend *backend, int id, const ndr_options *options, ndr_device *device) {
  if (!options->device) return backend->device(id, device);
  NDR_TRY(ndr_device_read(options->device, device));
  if (backend->owns(device->type)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "options.device describes a %s device, the array is on %s",
                  ndr_device_type_name(device->type), backend->name);
}

/* Both modes take a choice that was measured before; only NDR_MEASURE measures. */
static ndr_status choose(ndr_plan *plan, const void *data, const ndr_options *options) {
  NDR_TRY(ndr_plan_choose(plan, options->force_family));
  if (options->planning != NDR_MEASURE || plan->forced || plan->timings.choice) return NDR_OK;
  if (!options->device) return ndr_plan_measure(plan, data ? &data : NULL, options->stream);
  strcpy(plan->untimed, "the device was described by options.device, and may not be there");
  return NDR_OK;
}

ndr_status ndr_plan_from_request(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *data,
                                 const ndr_options *options) {
  ndr_plan *made = calloc(1, sizeof *made);
  *plan = NULL;
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  ndr_status status = ndr_backend_find(device.device_type, &made->backend);
  if (status == NDR_OK) status = device_numbers(made->backend, device.device_id, options, &made->device);
  if (status == NDR_OK) status = ndr_canonical_make(&made->problem, request);
  if (status == NDR_OK) {
    made->threads = options->threads;
    made->described = request->problem;
    status = choose(made, data, options);
  }
  if (status != NDR_OK) {
    free(made);
    return status;
  }
  *plan = made;
  return NDR_OK;
}

ndr_status ndr_request_from_call(ndr_request *request, const ndr_call *call, ndr_options *options) {
  ndr_problem problem;
  NDR_TRY(ndr_options_read(call->options, options));
  NDR_TRY(ndr_problem_fill(&problem, call->array, call->dim_count, call->dims, call->op_count, call->ops));
  problem.keepdims = options->keepdims;
  problem.skip_nan = options->skip_nan;
  problem.ddof = options->ddof;
  problem.accumulate = options->accumulate;
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
  if (results) NDR_TRY(ndr_request_place(&request, device, results));
  return ndr_plan_from_request(plan, &request, device, NULL, &how);
}

size_t ndr_plan_workspace(const ndr_plan *plan) {
  return plan ? plan->workspace : 0;
}

static ndr_status check_address(const void *address, size_t alignment, const char *what) {
  if (!address) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: %s is a null pointer", what);
  if ((uintptr_t)address % alignment == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: %s's address is not a multiple of %zu", what, alignment);
}

static ndr_status check_addresses(const ndr_canonical *problem, const void *data, void *const *results) {
  if (problem->length > 0) NDR_TRY(check_address(data, ndr_dtype_alignment(problem->dtype), "data"));
  for (int i = 0; i < problem->op_count; i++) {
    ndr_dtype dtype = ndr_op_result(problem->ops[i], problem->dtype);
    char what[32];
    snprintf(what, sizeof what, "result %d", i);
    NDR_TRY(check_address(results[i], problem->partial ? sizeof(uint64_t) : ndr_dtype_alignment(dtype), what));
  }
  return NDR_OK;
}

static ndr_status check_workspace(const ndr_plan *plan, const void *workspace, size_t bytes) {
  if (!workspace && bytes == 0) return NDR_OK;
  NDR_TRY(check_address(workspace, WORKSPACE_ALIGNMENT, "workspace"));
  if (bytes >= plan->workspace) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: the workspace has %zu bytes, the plan needs %zu", bytes,
                  plan->workspace);
}

ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                            size_t workspace_bytes, void *stream) {
  if (!plan || !results) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: null pointer");
  if (plan->problem.outputs == 0) return NDR_OK;
  NDR_TRY(check_addresses(&plan->problem, data, results));
  NDR_TRY(check_workspace(plan, workspace, workspace_bytes));
  if (workspace) {
    if (plan->workspace > 0 && plan->backend->clear_workspace)
      NDR_TRY(plan->backend->clear_workspace(plan, workspace, stream));
    return plan->backend->execute(plan, &data, results, workspace, stream);
  }
  void *borrowed;
  NDR_TRY(ndr_plan_borrow_workspace(plan, stream, &borrowed));
  ndr_status status = plan->backend->execute(plan, &data, results, borrowed, stream);
  ndr_plan_return_workspace(plan, borrowed, stream);
  return status;
}

void ndr_plan_destroy(ndr_plan *plan) {
  free(plan);
}
