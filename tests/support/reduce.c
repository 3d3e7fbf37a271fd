#include "reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/types.h"
#include "suite.h"

ndr_status case_reduce(const ndr_problem *problem, int i, const DLTensor *array, const ndr_options *options,
                       test_array *result, rng *random) {
  ndr_status status = array_result(result, array, problem->dim_count, problem->dims, problem->ops[i], options, random);
  if (status != NDR_OK) return status;
  return ndreduce(array, problem->dim_count, problem->dims, problem->ops[i], &result->tensor, options);
}

void assert_reduces(const char *text, const double *values, const double *expected) {
  static const char *const families[] = {NULL, "scalar"};
  ndr_problem problem = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &problem));
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    test_array array, result;
    ndr_options options = case_options(&problem);
    options.force_family = families[f];
    array_from(&array, problem.dtype, problem.ndim, problem.shape, values);
    assert_ok(case_reduce(&problem, 0, &array.tensor, &options, &result, NULL));
    element *got = array_elements(&result.tensor);
    for (int64_t j = 0; j < array_count(&result.tensor); j++)
      ck_assert_msg(isnan(expected[j]) ? isnan(got[j].re) : got[j].re == expected[j],
                    "%s: output %lld is %.17Lg, expected %.17g", text, (long long)j, got[j].re, expected[j]);
    free(got);
    array_free(&array);
    array_free(&result);
  }
}

/* ---- By arguments ------------------------------------------------------------------------------------------------ */

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
