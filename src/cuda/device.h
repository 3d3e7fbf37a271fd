#ifndef NDR_CUDA_DEVICE_H
#define NDR_CUDA_DEVICE_H

#include "cuda/error.h"
#include "ndreduce/plan.h"

/* Reads the numbers of CUDA device id once. Fails with NDR_ERR_NO_DEVICE if there is no such device, or no driver. */
ndr_status ndr_cuda_device(int id, ndr_device *device);

typedef struct ndr_cuda_grid {
  unsigned blocks, threads;
  size_t shared_bytes; /* dynamic shared memory of a block */
} ndr_cuda_grid;

/* Queues a kernel on the calling thread's device. It takes a single argument, of which *argument is copied, and its
 * first statement is machine::begin(). Where device and driver can, it is started before memory has all that the
 * kernel before it in the stream has written: calls that follow each other take up to 1 us less. */
ndr_status ndr_cuda_start(cudaKernel_t kernel, const ndr_cuda_grid *grid, const void *argument, void *stream);

/* Makes id the calling thread's device. Pass *before to ndr_cuda_leave, which restores the device before. */
ndr_status ndr_cuda_enter(int id, int *before);
void ndr_cuda_leave(int id, int before);

#endif
