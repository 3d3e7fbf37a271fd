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

/* Makes a walk from the states of `outputs` outputs in row-major order to the strides of result i. */
void ndr_states_walk_result(const ndr_request *request, int i, ndr_walk *walk);

#endif
