/* Executes plans. */
#include <stdio.h>

#include "api/operands.h"
#include "api/parts.h"

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

static ndr_status execute_checked(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                                  void *stream) {
  if (workspace) {
    if (plan->workspace > 0 && plan->backend->clear_workspace)
      NDR_TRY(plan->backend->clear_workspace(plan, workspace, stream));
    return plan->backend->execute(plan, data, results, workspace, stream);
  }
  void *borrowed;
  NDR_TRY(ndr_plan_borrow_workspace(plan, stream, &borrowed));
  ndr_status status = plan->backend->execute(plan, data, results, borrowed, stream);
  ndr_plan_return_workspace(plan, borrowed, stream);
  return status;
}

ndr_status ndr_plan_execute_operands(const ndr_plan *plan, const void *const *data, void *const *results,
                                     void *workspace, size_t workspace_bytes, void *stream) {
  if (!plan || !data || !results) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_plan_execute: null pointer");
  if (plan->problem.outputs == 0) return NDR_OK;
  NDR_TRY(check_addresses(&plan->problem, data, results));
  NDR_TRY(check_workspace(plan, workspace, workspace_bytes));
  if (plan->parts) return ndr_parts_execute(plan->parts, data, results, workspace, stream);
  /* A device's memory is not read here: there NaN weights give NaN. */
  if (!plan->backend->calls) NDR_TRY(ndr_operands_check_weights(&plan->problem, data));
  return execute_checked(plan, data, results, workspace, stream);
}

ndr_status ndr_plan_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                            size_t workspace_bytes, void *stream) {
  if (plan && plan->problem.operand_count > 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "the plan's problem has operands: use ndr_plan_execute_operands");
  return ndr_plan_execute_operands(plan, &data, results, workspace, workspace_bytes, stream);
}
