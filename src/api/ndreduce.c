/* ndreduce and its relatives: they look a plan up in cache.c, which makes it in plan.c if need be, and execute it. */
#include "api/plan.h"

static void describe(const ndr_request *request, int i, DLDevice device, DLTensor *result) {
  int64_t *shape = result->shape;
  *result = (DLTensor){.device = device,
                       .ndim = ndr_request_result_shape(request, shape),
                       .dtype = ndr_dtype_to_dlpack(ndr_op_result(request->problem.ops[i], request->problem.dtype)),
                       .shape = shape};
}

ndr_status ndr_result_describe(const DLTensor *array, int dim_count, const int *dims, ndr_op op,
                               const ndr_options *options, DLTensor *result) {
  const ndr_call call = {array, dim_count, dims, 1, &op, NULL, options};
  ndr_request request;
  ndr_options read;
  if (!result || !result->shape)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_result_describe: result has no room for a shape");
  NDR_TRY(ndr_request_from_call(&request, &call, &read));
  describe(&request, 0, array->device, result);
  return NDR_OK;
}

ndr_status ndr_problem_result(const ndr_problem *problem, int i, DLTensor *result) {
  ndr_problem read;
  ndr_request request;
  if (!result || !result->shape)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_problem_result: result has no room for a shape");
  NDR_TRY(ndr_problem_read(problem, &read));
  NDR_TRY(ndr_request_make(&request, &read));
  if (i < 0 || i >= read.op_count)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_problem_result: %d is none of %d operators", i, read.op_count);
  describe(&request, i, (DLDevice){kDLCPU, 0}, result);
  return NDR_OK;
}

static ndr_status run(const ndr_plan *plan, const ndr_call *call, void *stream) {
  void *data, *addresses[NDR_MAX_OPS];
  NDR_TRY(ndr_tensor_address(call->array, "array", &data));
  for (int i = 0; i < plan->problem.op_count; i++)
    NDR_TRY(ndr_tensor_address(call->results[i], "result", &addresses[i]));
  return plan->problem.outputs ? ndr_plan_execute(plan, data, addresses, NULL, 0, stream) : NDR_OK;
}

ndr_status ndreduce_many(const DLTensor *array, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                         DLTensor *const *results, const ndr_options *options) {
  const ndr_call call = {array, dim_count, dims, op_count, ops, (const DLTensor *const *)results, options};
  ndr_plan *plan;
  ndr_options read;
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  NDR_TRY(ndr_options_read(options, &read));
  NDR_TRY(ndr_plan_hold(&plan, &call));
  ndr_status status = run(plan, &call, read.stream);
  ndr_plan_let_go(plan);
  return status;
}

ndr_status ndreduce(const DLTensor *array, int dim_count, const int *dims, ndr_op op, DLTensor *result,
                    const ndr_options *options) {
  return ndreduce_many(array, dim_count, dims, 1, &op, &result, options);
}
