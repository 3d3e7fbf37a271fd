#ifndef NDR_CUDA_DEVICE_H
#define NDR_CUDA_DEVICE_H

#include "cuda/error.h"
#include "ndreduce/plan.h"

/* Reads the numbers of CUDA device id once. Fails with NDR_ERR_NO_DEVICE if there is no such device, or no driver. */
ndr_status ndr_cuda_device(int id, ndr_device *device);

/* Makes id the calling thread's device. Pass *before to ndr_cuda_leave, which restores the device before. */
ndr_status ndr_cuda_enter(int id, int *before);
void ndr_cuda_leave(int id, int before);

#endif
