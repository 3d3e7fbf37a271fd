#ifndef NDR_CUDA_DEVICE_H
#define NDR_CUDA_DEVICE_H

#include "cuda/error.h"
#include "ndreduce/plan.h"

/* The numbers of CUDA device id; NDR_ERR_NO_DEVICE where there is none, or no driver. Cached after the first time. */
ndr_status ndr_cuda_device(int id, ndr_device *device);

/* Makes id the calling thread's device; *before is what to hand to ndr_cuda_leave. */
ndr_status ndr_cuda_enter(int id, int *before);
void ndr_cuda_leave(int id, int before);

#endif
