/* Device memory. Workspaces of ndreduce() itself are kept, one a stream: work on a stream runs in order, so one is
 * enough, and its counters, all 0 between launches, need not be cleared again. */
#ifndef NDR_CUDA_WORKSPACE_H
#define NDR_CUDA_WORKSPACE_H

#include "core/plan.h"

ndr_status ndr_cuda_allocate(int id, size_t bytes, void *stream, void **memory);
void ndr_cuda_release(int id, void *memory, void *stream);

ndr_status ndr_cuda_borrow_workspace(const ndr_plan *plan, void *stream, void **memory);
void ndr_cuda_return_workspace(const ndr_plan *plan, void *memory, void *stream);
ndr_status ndr_cuda_clear_workspace(const ndr_plan *plan, void *memory, void *stream);

/* Frees what is kept for a stream that is about to be destroyed; what is queued on it may still use it. */
void ndr_cuda_drop_workspace(int id, void *stream);

#endif
