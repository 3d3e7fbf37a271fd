/* Plans and accumulators by the arguments of ndreduce_many: the problem is made on the way. */
#ifndef TEST_SUPPORT_PLAN_ARRAY_H
#define TEST_SUPPORT_PLAN_ARRAY_H

#include "ndreduce/plan.h"

/* The problem that such a call means; options say what is computed, too. */
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
