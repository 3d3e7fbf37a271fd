/* Plans of problems without groups, which a family of a backend runs. */
#ifndef NDR_API_SIMPLE_H
#define NDR_API_SIMPLE_H

#include "api/backends.h"

/* A plan without a choice: its device and its canonical problem. */
ndr_status ndr_simple_start(ndr_plan **plan, const ndr_request *request, DLDevice device, const ndr_options *options);

/* A plan for a request that has been checked. data is what NDR_MEASURE reads, as for a backend's execute, or NULL;
 * options have been read. Free with ndr_simple_free. */
ndr_status ndr_simple_make(ndr_plan **plan, const ndr_request *request, DLDevice device, const void *const *data,
                           const ndr_options *options);
void ndr_simple_free(ndr_plan *plan);

/* Checks what a caller of ndr_plan_execute_operands gives. */
ndr_status ndr_plan_check(const ndr_plan *plan, const void *const *data, void *const *results, const void *workspace,
                          size_t bytes);

/* Runs a plan whose arguments have been checked; without a workspace it borrows one. `rows` says where the elements of
 * a scattered axis are; NULL: there is none. */
ndr_status ndr_simple_run(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                          void *workspace, void *stream);

/* As ndr_plan_execute_operands. */
ndr_status ndr_simple_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                              size_t bytes, void *stream);

#endif
