#ifndef NDR_CUDA_ERROR_H
#define NDR_CUDA_ERROR_H

#include <cuda_runtime_api.h>

#include "core/status.h"

/* Turns a CUDA error into a status with a sentence that names the call. */
ndr_status ndr_cuda_fail(cudaError_t error, const char *call);

#define NDR_CUDA(call)                                                                                                 \
  do {                                                                                                                 \
    cudaError_t cuda_error_ = (call);                                                                                  \
    if (cuda_error_ != cudaSuccess) return ndr_cuda_fail(cuda_error_, #call);                                          \
  } while (0)

#endif
