/* Makes plans from requests, and holds those that ndreduce() caches. */
#ifndef NDR_API_PLAN_H
#define NDR_API_PLAN_H

#include "api/backends.h"

/* A plan for a request that has been checked. data is what NDR_MEASURE reads, as for a backend's execute, or NULL;
 * options have been read. Free with ndr_plan_destroy. */
ndr_status ndr_plan_from_request(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *const *data,
                                 const ndr_options *options);

/* The arguments of ndreduce_many. */
typedef struct ndr_call {
  const DLTensor *array;
  int dim_count;
  const int *dims;
  int op_count;
  const ndr_op *ops;
  const DLTensor *const *results;
  const ndr_options *options;
} ndr_call;

/* Checks a call's arguments, except its results, and reads its options. Free with ndr_request_free. */
ndr_status ndr_request_from_call(ndr_request *request, const ndr_call *call, ndr_options *options);

/* Checks that the results are where the array is, and copies their layout into the request. */
ndr_status ndr_request_place(ndr_request *request, DLDevice array_device, const DLTensor *const *results);

/* Finds the plan of a call in the cache, or makes it. Call ndr_plan_let_go afterwards. call->results is not NULL. */
ndr_status ndr_plan_hold(ndr_plan **plan, const ndr_call *call);
void ndr_plan_let_go(ndr_plan *plan);

#endif
