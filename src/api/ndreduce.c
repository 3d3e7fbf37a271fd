/* The calls that plan and execute at once. Plans are looked up in cache.c and made in plan.c. */
#include "api/plan.h"

ndr_status ndr_result_describe(const DLTensor *array, int dim_count, const int *dims, ndr_op op,
                               const ndr_options *options, DLTensor *result) {
  ndr_request request;
  if (!result || !result->shape)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_result_describe: result has no room for a shape");
  NDR_TRY(ndr_request_make(&request, array, dim_count, dims, 1, &op, options));
  int64_t *shape = result->shape;
  *result = (DLTensor){.device = array->device,
                       .ndim = ndr_request_result_shape(&request, shape),
                       .dtype = ndr_dtype_to_dlpack(ndr_op_result(op, request.dtype)),
                       .shape = shape};
  return NDR_OK;
}

static ndr_status run(const ndr_plan *plan, const DLTensor *array, DLTensor *const *results, void *stream) {
  void *data, *addresses[NDR_MAX_OPS];
  NDR_TRY(ndr_tensor_address(array, "array", &data));
  for (int i = 0; i < plan->problem.op_count; i++) NDR_TRY(ndr_tensor_address(results[i], "result", &addresses[i]));
  return plan->problem.outputs ? ndr_plan_execute(plan, data, addresses, NULL, stream) : NDR_OK;
}

ndr_status ndreduce_many(const DLTensor *array, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                         DLTensor *const *results, const ndr_options *options) {
  ndr_plan *plan;
  ndr_options read;
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  NDR_TRY(ndr_options_read(options, &read));
  NDR_TRY(ndr_plan_hold(&plan, array, dim_count, dims, op_count, ops, (const DLTensor *const *)results, options));
  ndr_status status = run(plan, array, results, read.stream);
  ndr_plan_let_go(plan);
  return status;
}

ndr_status ndreduce(const DLTensor *array, int dim_count, const int *dims, ndr_op op, DLTensor *result,
                    const ndr_options *options) {
  return ndreduce_many(array, dim_count, dims, 1, &op, &result, options);
}
