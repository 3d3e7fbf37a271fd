/* Plans of problems without groups: made, and executed. core/plan.c chooses the family. */
#include "api/simple.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/weights.h"
#include "core/measure/measure.h"

/* ---- making ---- */

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

ndr_status ndr_simple_start(ndr_plan **plan, const ndr_request *request, DLDevice device, const ndr_options *options) {
  ndr_plan *made = calloc(1, sizeof *made);
  *plan = NULL;
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  ndr_status status = ndr_backend_find(device.device_type, &made->backend);
  if (status == NDR_OK) status = device_numbers(made->backend, device.device_id, options, &made->device);
  if (status == NDR_OK) status = ndr_canonical_make(&made->problem, request);
  made->threads = options->threads;
  if (status == NDR_OK)
    *plan = made;
  else
    ndr_simple_free(made);
  return status;
}

ndr_status ndr_simple_make(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *const *data,
                           const ndr_options *options) {
  NDR_TRY(ndr_simple_start(plan, request, device, options));
  ndr_status status = choose(*plan, data, options);
  if (status == NDR_OK) return NDR_OK;
  ndr_simple_free(*plan);
  *plan = NULL;
  return status;
}

void ndr_simple_free(ndr_plan *plan) {
  if (!plan) return;
  ndr_canonical_free(&plan->problem);
  free(plan->text);
  free(plan);
}

/* ---- executing ---- */

#define WORKSPACE_ALIGNMENT 256

static ndr_status check_address(const void *address, size_t alignment, const char *what) {
  if (!address) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: %s is a null pointer", what);
  if ((uintptr_t)address % alignment == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: %s's address is not a multiple of %zu", what, alignment);
}

static ndr_status check_addresses(const ndr_canonical *problem, const void *const *data, void *const *results) {
  if (problem->length > 0) NDR_TRY(check_address(data[0], ndr_dtype_alignment(problem->dtype), "data"));
  for (int k = 0; problem->length > 0 && k < problem->operand_count; k++)
    NDR_TRY(check_address(data[k + 1], ndr_dtype_alignment(problem->operand_dtypes[k]),
                          ndr_role_name(problem->operand_roles[k])));
  for (int i = 0; i < problem->op_count; i++) {
    ndr_dtype dtype = ndr_canonical_result(problem, i);
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

static ndr_status execute(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                          void *workspace, void *stream) {
  return rows ? plan->backend->execute_rows(plan, rows, data, results, workspace)
              : plan->backend->execute(plan, data, results, workspace, stream);
}

ndr_status ndr_simple_run(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                          void *workspace, void *stream) {
  if (plan->problem.outputs == 0) return NDR_OK;
  if (workspace) {
    if (plan->workspace > 0 && plan->backend->clear_workspace)
      NDR_TRY(plan->backend->clear_workspace(plan, workspace, stream));
    return execute(plan, rows, data, results, workspace, stream);
  }
  void *borrowed;
  NDR_TRY(ndr_plan_borrow_workspace(plan, stream, &borrowed));
  ndr_status status = execute(plan, rows, data, results, borrowed, stream);
  ndr_plan_return_workspace(plan, borrowed, status == NDR_OK, stream);
  return status;
}

ndr_status ndr_plan_check(const ndr_plan *plan, const void *const *data, void *const *results, const void *workspace,
                          size_t bytes) {
  NDR_TRY(check_addresses(&plan->problem, data, results));
  return check_workspace(plan, workspace, bytes);
}

ndr_status ndr_simple_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                              size_t bytes, void *stream) {
  if (plan->problem.outputs == 0) return NDR_OK;
  NDR_TRY(ndr_plan_check(plan, data, results, workspace, bytes));
  /* A device's memory is not read here: there NaN weights give NaN. */
  bool on_host = !plan->backend->calls, show = on_host && ndr_weights_show(&plan->problem);
  if (on_host && !show) NDR_TRY(ndr_weights_check(plan->backend, plan->threads, &plan->problem, data));
  NDR_TRY(ndr_simple_run(plan, NULL, data, results, workspace, stream));
  return show ? ndr_weights_check_shown(plan->backend, plan->threads, &plan->problem, data, results) : NDR_OK;
}
