/* Building plans from requests; plans that ndreduce() remembers. */
#ifndef NDR_API_PLAN_H
#define NDR_API_PLAN_H

#include "api/backends.h"

/* A plan for a request that has been checked. data is element 0's address for NDR_MEASURE to read, or NULL. Free with
 * ndr_plan_destroy. */
ndr_status ndr_plan_from_request(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *data,
                                 const ndr_options *options);

/* The plan of these arguments, from the cache or new; hold it while executing, then let go. All arguments as in
 * ndr_plan_create, results not NULL. */
ndr_status ndr_plan_hold(ndr_plan **plan, const DLTensor *array, int dim_count, const int *dims, int op_count,
                         const ndr_op *ops, const DLTensor *const *results, const ndr_options *options);
void ndr_plan_let_go(ndr_plan *plan);

#endif
