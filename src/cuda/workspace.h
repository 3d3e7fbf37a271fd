/* Device memory. A workspace that the library lends is kept, one for each stream. Work on a stream runs in order, so
 * that one is enough; it is 0 between launches and need not be cleared again. */
#ifndef NDR_CUDA_WORKSPACE_H
#define NDR_CUDA_WORKSPACE_H

#include "core/plan.h"

ndr_status ndr_cuda_allocate(int id, size_t bytes, void *stream, void **memory);
void ndr_cuda_release(int id, void *memory, void *stream);

/* Lets another device read what ndr_cuda_allocate gives, if it can: copies to it then take the shortest way. */
void ndr_cuda_show_pool(int id, int reader);

/* Lends memory that is 0, for work that the stream will do and that leaves it 0. `clean`: all of that work was queued;
 * otherwise the memory is not lent again. */
ndr_status ndr_cuda_lend(int id, size_t bytes, void *stream, void **memory);
void ndr_cuda_take_back(int id, void *memory, bool clean, void *stream);

ndr_status ndr_cuda_borrow_workspace(const ndr_plan *plan, void *stream, void **memory);
void ndr_cuda_return_workspace(const ndr_plan *plan, void *memory, bool clean, void *stream);
ndr_status ndr_cuda_clear_workspace(const ndr_plan *plan, void *memory, void *stream);

/* Frees the workspace of a stream that is about to be destroyed, once the work that is queued there has used it. */
void ndr_cuda_drop_workspace(int id, void *stream);

#endif
