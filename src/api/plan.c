/* The public calls on plans. The family is chosen in core/plan.c. */
#include "api/plan.h"

#include "core/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKSPACE_ALIGNMENT 256

static void describe_case(ndr_case *described, const ndr_request *request) {
  memset(described, 0, sizeof *described);
  described->op_count = request->op_count;
  memcpy(described->ops, request->ops, sizeof request->ops);
  described->dtype = request->dtype;
  described->ndim = request->ndim;
  memcpy(described->shape, request->shape, sizeof request->shape);
  memcpy(described->strides, request->strides, sizeof request->strides);
  for (int d = 0; d < request->ndim; d++)
    if (request->reduced[d]) described->dims[described->dim_count++] = d;
  described->keepdims = request->keepdims;
  described->skip_nan = request->skip_nan;
  described->ddof = request->ddof;
  described->accumulate = request->accumulate_f64 ? NDR_ACCUMULATE_F64 : NDR_ACCUMULATE_DEFAULT;
}

static ndr_status device_numbers(const ndr_backend *backend, int id, const ndr_options *options, ndr_device *device) {
  if (!options->device) return backend->device(id, device);
  if (!backend->owns(options->device->type))
    return ndr_fail(NDR_ERR_ARGUMENT, "options.device describes a %s device, the array is on %s",
                    ndr_device_type_name(options->device->type), backend->name);
  *device = *options->device;
  return NDR_OK;
}

/* Both modes take what was measured before; only NDR_MEASURE asks the clock. */
static ndr_status choose(ndr_plan *plan, const void *data, const ndr_options *options) {
  NDR_TRY(ndr_plan_choose(plan, options->force_family));
  if (options->planning != NDR_MEASURE || plan->forced || plan->timings.choice) return NDR_OK;
  if (!options->device) return ndr_plan_measure(plan, data, options->stream);
  strcpy(plan->untimed, "the device was described by options.device, and may not be there");
  return NDR_OK;
}

ndr_status ndr_plan_from_request(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *data,
                                 const ndr_options *options) {
  ndr_options read;
  ndr_plan *made = calloc(1, sizeof *made);
  *plan = NULL;
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  ndr_status status = ndr_options_read(options, &read);
  if (status == NDR_OK) status = ndr_backend_find(device.device_type, &made->backend);
  if (status == NDR_OK) status = device_numbers(made->backend, device.device_id, &read, &made->device);
  if (status == NDR_OK) status = ndr_canonical_make(&made->problem, request);
  if (status == NDR_OK) {
    made->threads = read.threads;
    describe_case(&made->described, request);
    status = choose(made, data, &read);
  }
  if (status != NDR_OK) {
    free(made);
    return status;
  }
  *plan = made;
  return NDR_OK;
}

ndr_status ndr_plan_create(ndr_plan **plan, const DLTensor *array, int dim_count, const int *dims, int op_count,
                           const ndr_op *ops, const DLTensor *const *results, const ndr_options *options) {
  ndr_request request;
  ndr_options read;
  const ndr_backend *backend;
  void *data = NULL;
  if (!plan) return ndr_fail(NDR_ERR_ARGUMENT, "plan is a null pointer");
  *plan = NULL;
  NDR_TRY(ndr_options_read(options, &read));
  NDR_TRY(ndr_request_make(&request, array, dim_count, dims, op_count, ops, options));
  NDR_TRY(ndr_backend_find(array->device.device_type, &backend));
  if (results) NDR_TRY(ndr_request_results(&request, results));
  for (int i = 0; results && i < op_count; i++)
    NDR_TRY(ndr_check_result_device(backend, array->device, results[i]->device));
  if (read.planning == NDR_MEASURE && array->data) NDR_TRY(ndr_tensor_address(array, "array", &data));
  return ndr_plan_from_request(plan, &request, array->device, data, options);
}

size_t ndr_plan_workspace(const ndr_plan *plan) {
  return plan ? plan->workspace : 0;
}

static ndr_status check_address(const void *address, size_t alignment, const char *what) {
  if (!address) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: %s is a null pointer", what);
  if ((uintptr_t)address % alignment == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: %s's address is not a multiple of %zu", what, alignment);
}

static ndr_status check_addresses(const ndr_canonical *problem, const void *data, void *const *results,
                                  const void *workspace) {
  if (problem->length > 0) NDR_TRY(check_address(data, ndr_dtype_alignment(problem->dtype), "data"));
  for (int i = 0; i < problem->op_count; i++) {
    ndr_dtype dtype = ndr_op_result(problem->ops[i], problem->dtype);
    char what[32];
    snprintf(what, sizeof what, "result %d", i);
    NDR_TRY(check_address(results[i], problem->partial ? sizeof(uint64_t) : ndr_dtype_alignment(dtype), what));
  }
  return workspace ? check_address(workspace, WORKSPACE_ALIGNMENT, "workspace") : NDR_OK;
}

ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                            void *stream) {
  if (!plan || !results) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: null pointer");
  if (plan->problem.outputs == 0) return NDR_OK;
  NDR_TRY(check_addresses(&plan->problem, data, results, workspace));
  void *borrowed = NULL;
  if (!workspace) NDR_TRY(ndr_plan_borrow_workspace(plan, stream, &borrowed));
  ndr_status status = plan->backend->execute(plan, data, results, workspace ? workspace : borrowed, stream);
  ndr_plan_return_workspace(plan, borrowed, stream);
  return status;
}

void ndr_plan_destroy(ndr_plan *plan) {
  free(plan);
}
