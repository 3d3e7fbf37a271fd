/* ndreduce and its relatives: they look a plan up in cache.c, which makes it in plan.c if need be, and execute it. */
#include "api/operands.h"
#include "api/plan.h"
#include "ndreduce/operator.h"

static void describe(const ndr_request *request, int i, DLDevice device, DLTensor *result) {
  int64_t *shape = result->shape;
  *result = (DLTensor){.device = device,
                       .ndim = ndr_request_result_shape(request, shape),
                       .dtype = ndr_dtype_to_dlpack(request->results[i]),
                       .shape = shape};
}

ndr_status ndr_result_describe(const DLTensor *array, int dim_count, const int *dims, ndr_op op,
                               const ndr_options *options, DLTensor *result) {
  ndr_request request;
  ndr_options own, read;
  if (!result || !result->shape)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_result_describe: result has no room for a shape");
  NDR_TRY(ndr_options_read(options, &own));
  int arrays = ndr_operator_arrays(op);
  if (arrays > 0 && own.with_count >= arrays) own.with_count = arrays - 1; /* the rest are other operators', */
  if (!ndr_op_is_own(op) && !ndr_op_is_weighted(op)) own.weights = NULL;   /* and so are weights */
  const ndr_call call = {array, dim_count, dims, 1, &op, NULL, &own};
  NDR_TRY(ndr_request_from_call(&request, &call, &read));
  describe(&request, 0, array->device, result);
  ndr_request_free(&request);
  return NDR_OK;
}

ndr_status ndr_problem_result(const ndr_problem *problem, int i, DLTensor *result) {
  ndr_problem read;
  ndr_request request;
  if (!result || !result->shape)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_problem_result: result has no room for a shape");
  NDR_TRY(ndr_problem_read(problem, &read));
  NDR_TRY(ndr_request_make(&request, &read));
  bool known = i >= 0 && i < read.op_count;
  if (known) describe(&request, i, (DLDevice){kDLCPU, 0}, result);
  ndr_request_free(&request);
  if (known) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "ndr_problem_result: %d is none of %d operators", i, read.op_count);
}

static ndr_status run(const ndr_plan *plan, const ndr_call *call, const ndr_options *options) {
  void *array, *addresses[NDR_MAX_OPS];
  const void *data[NDR_MOST_ARRAYS];
  ndr_operands operands;
  NDR_TRY(ndr_tensor_address(call->array, "array", &array));
  data[0] = array;
  NDR_TRY(ndr_operands_of(options, &operands));
  NDR_TRY(ndr_operands_addresses(&operands, data));
  for (int i = 0; i < plan->problem.op_count; i++)
    NDR_TRY(ndr_tensor_address(call->results[i], "result", &addresses[i]));
  return plan->problem.outputs ? ndr_plan_execute_operands(plan, data, addresses, NULL, 0, options->stream) : NDR_OK;
}

ndr_status ndreduce_many(const DLTensor *array, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                         DLTensor *const *results, const ndr_options *options) {
  const ndr_call call = {array, dim_count, dims, op_count, ops, (const DLTensor *const *)results, options};
  ndr_plan *plan;
  ndr_options read;
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  NDR_TRY(ndr_options_read(options, &read));
  NDR_TRY(ndr_plan_hold(&plan, &call));
  ndr_status status = run(plan, &call, &read);
  ndr_plan_let_go(plan);
  return status;
}

ndr_status ndreduce(const DLTensor *array, int dim_count, const int *dims, ndr_op op, DLTensor *result,
                    const ndr_options *options) {
  return ndreduce_many(array, dim_count, dims, 1, &op, &result, options);
}
