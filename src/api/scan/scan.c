/* ndr_scan: a plan in this call's memory, executed once. */
#include "api/backends.h"
#include "api/scan/plan.h"

ndr_status ndr_scan_describe(const DLTensor *array, int dim, ndr_op op, const ndr_scan_options *options,
                             DLTensor *result) {
  ndr_scan_options read;
  ndr_scan_problem problem;
  if (!result || !result->shape) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_scan_describe: result has no room for a shape");
  int64_t *shape = result->shape;
  NDR_TRY(ndr_scan_options_read(options, &read));
  const ndr_scan_call call = {array, dim, op, NULL, &read};
  NDR_TRY(ndr_scan_problem_make(&problem, &call));
  for (int d = 0; d < problem.result_ndim; d++) shape[d] = problem.result_shape[d];
  *result = (DLTensor){.device = array->device,
                       .ndim = problem.result_ndim,
                       .dtype = ndr_dtype_to_dlpack(problem.result_dtype),
                       .shape = shape};
  ndr_scan_problem_free(&problem);
  return NDR_OK;
}

static ndr_status run(const ndr_scan_plan *plan, const ndr_scan_call *call, const ndr_scan_options *options) {
  const void *data[NDR_MOST_ARRAYS];
  void *address;
  NDR_TRY(ndr_tensor_address(call->array, "array", &address));
  data[0] = address;
  for (int k = 0; k < options->with_count; k++) {
    NDR_TRY(ndr_tensor_address(options->with[k], "array of 'with'", &address));
    data[k + 1] = address;
  }
  NDR_TRY(ndr_tensor_address(call->result, "result", &address));
  return ndr_scan_plan_execute(plan, data, address, NULL, 0, options->stream);
}

ndr_status ndr_scan(const DLTensor *array, int dim, ndr_op op, DLTensor *result, const ndr_scan_options *options) {
  const ndr_scan_call call = {array, dim, op, result, options};
  ndr_scan_options read;
  ndr_scan_plan plan;
  if (!result) return ndr_fail(NDR_ERR_ARGUMENT, "result is a null pointer");
  NDR_TRY(ndr_scan_plan_make(&plan, &call, &read));
  ndr_status status = run(&plan, &call, &read);
  ndr_scan_plan_release(&plan);
  return status;
}
