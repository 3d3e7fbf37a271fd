#include "plan_array.h"

#include <string.h>

#include "core/types.h"

ndr_status problem_of(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims, int op_count,
                      const ndr_op *ops, const ndr_options *options) {
  *problem = (ndr_problem)NDR_PROBLEM_INIT;
  NDR_TRY(ndr_problem_make(problem, array, dim_count, dims, op_count, ops));
  if (!options) return NDR_OK;
  problem->keepdims = options->keepdims;
  problem->skip_nan = options->skip_nan;
  problem->ddof = options->ddof;
  problem->accumulate = options->accumulate;
  return NDR_OK;
}

ndr_options options_beside(const ndr_options *options) {
  ndr_options beside = options ? *options : (ndr_options)NDR_OPTIONS_INIT;
  beside.keepdims = beside.skip_nan = 0;
  beside.ddof = 0;
  beside.accumulate = NDR_ACCUMULATE_DEFAULT;
  return beside;
}

ndr_status plan_array(ndr_plan **plan, const DLTensor *array, int dim_count, const int *dims, int op_count,
                      const ndr_op *ops, const DLTensor *const *results, const ndr_options *options) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_options beside = options_beside(options);
  *plan = NULL;
  NDR_TRY(problem_of(&problem, array, dim_count, dims, op_count, ops, options));
  return ndr_plan_create(plan, &problem, array->device, results, &beside);
}

ndr_status accumulate_array(ndr_accumulator **accumulator, DLDevice device, ndr_dtype dtype, int ndim,
                            const int64_t *shape, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                            const ndr_options *options) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_options beside = options_beside(options);
  int64_t sizes[NDR_MAX_DIMS];
  memcpy(sizes, shape, (size_t)ndim * sizeof *sizes);
  DLTensor whole = ndr_tensor(NULL, dtype, ndim, sizes);
  *accumulator = NULL;
  NDR_TRY(problem_of(&problem, &whole, dim_count, dims, op_count, ops, options));
  return ndr_accumulator_create(accumulator, &problem, device, &beside);
}
