/* What of ndbench is CUDA C++, as C sees it: kernels/ndbench. Every function returns a cudaError_t, 0 for success, or
 * NDBENCH_NONE where there is no such thing. */
#ifndef NDBENCH_CUDA_H
#define NDBENCH_CUDA_H

#include <stddef.h>

#include "../../kernels/ladder/job.h"
#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NDBENCH_NONE = -1 };

/* Queues a kernel that reads bytes at memory (both multiples of 16) once, and does nothing else; number `loop` of
 * several. sink is 4 bytes of device memory that it may write. */
int ndbench_read(int loop, const void *memory, size_t bytes, void *sink, void *stream);

/* Queues a kernel that reads the first half of every 64 bytes at memory. */
int ndbench_read_alternate(const void *memory, size_t bytes, void *sink, void *stream);

/* Queues CUB's op over each of `segments` contiguous segments of `length` elements; results are of the dtype that
 * ndreduce gives. With workspace NULL only sets *workspace_bytes. */
int ndbench_cub(ndr_op op, ndr_dtype dtype, const void *data, void *result, int64_t segments, int64_t length,
                void *workspace, size_t *workspace_bytes, void *stream);

/* Queues one of the ladder's own kernels, with what it needs before it; the job's pointers are the device's. */
int ndbench_ladder(ladder_kernel kernel, const ladder_job *job, void *stream);

/* Queues CUB's or Thrust's. With workspace NULL only sets *workspace_bytes. Thrust waits for its result, which goes to
 * the host, to *value. */
int ndbench_ladder_others(ladder_kernel kernel, const ladder_job *job, void *workspace, size_t *workspace_bytes,
                          void *value, void *stream);

#ifdef __cplusplus
}
#endif
#endif
