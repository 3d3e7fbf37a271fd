/* The public plans of scans. scan/plan.c chooses the family, and the backend runs it. */
#include "api/scan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "api/backends.h"

#define WORKSPACE_ALIGNMENT 256

ndr_status ndr_scan_check_device(const ndr_backend *backend, DLDevice array_device, DLDevice device, const char *what,
                                 ndr_status failure) {
  bool same_device = device.device_id == array_device.device_id || device.device_type != array_device.device_type;
  if (backend->owns(device.device_type) && same_device) return NDR_OK;
  return ndr_fail(failure, "%s is on %s:%d, the array on %s:%d", what, ndr_device_type_name(device.device_type),
                  device.device_id, ndr_device_type_name(array_device.device_type), array_device.device_id);
}

static ndr_status check_devices(const ndr_scan_plan *plan, const ndr_scan_call *call) {
  DLDevice device = call->array->device;
  if (call->result)
    NDR_TRY(ndr_scan_check_device(plan->backend, device, call->result->device, "the result", NDR_ERR_RESULT));
  for (int k = 0; k < call->options->with_count; k++)
    NDR_TRY(ndr_scan_check_device(plan->backend, device, call->options->with[k]->device, "an array of 'with'",
                                  NDR_ERR_ARGUMENT));
  return NDR_OK;
}

ndr_status ndr_scan_plan_make(ndr_scan_plan *plan, const ndr_scan_call *call, ndr_scan_options *options) {
  ndr_scan_call read = *call;
  memset(plan, 0, sizeof *plan);
  NDR_TRY(ndr_scan_options_read(call->options, options));
  read.options = options;
  NDR_TRY(ndr_scan_problem_make(&plan->problem, &read));
  DLDevice device = call->array->device;
  ndr_status status = ndr_backend_find(device.device_type, &plan->backend);
  if (status == NDR_OK) status = plan->backend->device(device.device_id, &plan->device);
  if (status == NDR_OK) status = check_devices(plan, &read);
  plan->threads = options->threads > 0 ? options->threads : ndr_thread_count();
  if (status == NDR_OK) status = ndr_scan_choose(plan, options->force_family);
  if (status != NDR_OK) ndr_scan_plan_release(plan);
  return status;
}

void ndr_scan_plan_release(ndr_scan_plan *plan) {
  ndr_scan_problem_free(&plan->problem);
  free(plan->text);
  plan->text = NULL;
}

/* Operators may be destroyed before the plan is described. */
static ndr_status keep_text(ndr_scan_plan *plan, const ndr_scan_call *call) {
  size_t length = ndr_scan_sketch(call, &plan->problem, NULL, 0);
  plan->text = malloc(length + 1);
  if (!plan->text) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the text of a plan, %zu bytes", length);
  ndr_scan_sketch(call, &plan->problem, plan->text, length + 1);
  return NDR_OK;
}

ndr_status ndr_scan_plan_create(ndr_scan_plan **plan, const DLTensor *array, int dim, ndr_op op, const DLTensor *result,
                                const ndr_scan_options *options) {
  ndr_scan_options read;
  if (!plan) return ndr_fail(NDR_ERR_ARGUMENT, "plan is a null pointer");
  *plan = NULL;
  ndr_scan_plan *made = malloc(sizeof *made);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  const ndr_scan_call call = {array, dim, op, result, options}, as_read = {array, dim, op, result, &read};
  ndr_status status = ndr_scan_plan_make(made, &call, &read);
  if (status == NDR_OK) {
    status = keep_text(made, &as_read);
    if (status != NDR_OK) ndr_scan_plan_release(made);
  }
  if (status == NDR_OK)
    *plan = made;
  else
    free(made);
  return status;
}

size_t ndr_scan_plan_workspace(const ndr_scan_plan *plan) {
  return plan ? plan->workspace : 0;
}

size_t ndr_scan_plan_describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  if (!text) capacity = 0;
  if (capacity) text[0] = 0;
  return plan ? ndr_scan_describe_plan(plan, text, capacity) : 0;
}

void ndr_scan_plan_destroy(ndr_scan_plan *plan) {
  if (plan) ndr_scan_plan_release(plan);
  free(plan);
}

/* ---- executing ---- */

static ndr_status check_address(const void *address, size_t alignment, const char *what) {
  if (!address) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_scan_plan_execute: %s is a null pointer", what);
  if ((uintptr_t)address % alignment == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_scan_plan_execute: %s's address is not a multiple of %zu", what, alignment);
}

static ndr_status check_addresses(const ndr_scan_problem *problem, const void *const *data, const void *result) {
  NDR_TRY(check_address(result, ndr_dtype_alignment(problem->result_dtype), "result"));
  if (problem->length == 0) return NDR_OK;
  NDR_TRY(check_address(data[0], ndr_dtype_alignment(problem->dtype), "data[0]"));
  for (int k = 0; k < problem->operand_count; k++)
    NDR_TRY(check_address(data[k + 1], ndr_dtype_alignment(problem->operand_dtypes[k]), "an array of 'with'"));
  return ndr_scan_check_overlap(problem, data, result);
}

static ndr_status check_workspace(const ndr_scan_plan *plan, const void *workspace, size_t bytes) {
  if (!workspace && bytes == 0) return NDR_OK;
  NDR_TRY(check_address(workspace, WORKSPACE_ALIGNMENT, "workspace"));
  if (bytes >= plan->workspace) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_scan_plan_execute: the workspace has %zu bytes, the plan needs %zu", bytes,
                  plan->workspace);
}

ndr_status ndr_scan_plan_execute(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                                 size_t workspace_bytes, void *stream) {
  if (!plan || !data) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_scan_plan_execute: null pointer");
  if (ndr_scan_is_empty(&plan->problem)) return NDR_OK;
  NDR_TRY(check_addresses(&plan->problem, data, result));
  NDR_TRY(check_workspace(plan, workspace, workspace_bytes));
  return plan->backend->scans->execute(plan, data, result, workspace, stream);
}
