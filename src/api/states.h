/* The partial states of a request's operators in memory: one array for each, word-major, row-major over the outputs. */
#ifndef NDR_API_STATES_H
#define NDR_API_STATES_H

#include "core/plan.h"

/* Outputs of the whole: the product of the sizes that results differ along. */
int64_t ndr_states_outputs(const ndr_request *request);

/* Bytes of all operators' states for `outputs` outputs. */
ndr_status ndr_states_bytes(const ndr_request *request, int64_t outputs, size_t *bytes);

/* Sets states[i] to the array of op i in `memory`, aligned for the backends. */
void ndr_states_place(const ndr_request *request, int64_t outputs, void *memory, uint64_t **states);

/* Sets the states of all operators, for `outputs` outputs, to those of no elements. */
ndr_status ndr_states_begin(const ndr_request *request, const ndr_backend *backend, int id, uint64_t *const *states,
                            int64_t outputs, void *stream);

/* Writes the results of all outputs. */
ndr_status ndr_states_finish(const ndr_request *request, const ndr_backend *backend, int id, uint64_t *const *states,
                             int64_t outputs, void *const *results, void *stream);

#endif
