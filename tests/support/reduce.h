/* The library's calls as tests make them: for a case, and plans and accumulators by the arguments of ndreduce_many. */
#ifndef TEST_SUPPORT_REDUCE_H
#define TEST_SUPPORT_REDUCE_H

#include "cases.h"
#include "ndreduce/plan.h"

/* ndreduce for op i of the case into a new result; with random, in a random layout. Free result whatever comes back. */
ndr_status case_reduce(const ndr_problem *problem, int i, const DLTensor *array, const ndr_options *options,
                       test_array *result, rng *random);

/* Reduces compact data through the default family and the scalar one, and compares exactly: every rule of the public
 * header can be put in one line. NaN equals NaN; imaginary parts are 0. */
void assert_reduces(const char *text, const double *values, const double *expected);

/* The problem that a call of ndreduce_many means; options say what is computed, too. */
ndr_status problem_of(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims, int op_count,
                      const ndr_op *ops, const ndr_options *options);

/* The options without what they say about the problem. */
ndr_options options_beside(const ndr_options *options);

ndr_status plan_array(ndr_plan **plan, const DLTensor *array, int dim_count, const int *dims, int op_count,
                      const ndr_op *ops, const DLTensor *const *results, const ndr_options *options);
ndr_status accumulate_array(ndr_accumulator **accumulator, DLDevice device, ndr_dtype dtype, int ndim,
                            const int64_t *shape, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                            const ndr_options *options);

#endif
