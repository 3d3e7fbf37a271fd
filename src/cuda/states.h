#ifndef NDR_CUDA_STATES_H
#define NDR_CUDA_STATES_H

#include "core/plan.h"

ndr_status ndr_cuda_states_identity(const ndr_state *state, int id, uint64_t *states, int64_t count, void *stream);
ndr_status ndr_cuda_states_merge(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                 int64_t from_pitch, uint64_t *to, int64_t to_pitch, void *stream);
ndr_status ndr_cuda_states_finish(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                  int64_t from_pitch, void *to, void *stream);

#endif
