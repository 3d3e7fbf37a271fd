#include "reduce.h"

#include <math.h>
#include <stdlib.h>

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
