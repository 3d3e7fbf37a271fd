/* Turns CUDA errors into statuses. */
#include "cuda/error.h"

/* The runtime reports an insufficient driver even if there is no driver; the driver's version is then 0. Any driver for
 * the same major version of CUDA suffices. */
static ndr_status fail_driver(void) {
  int has = 0, needs = 0;
  if (cudaDriverGetVersion(&has) != cudaSuccess || has == 0)
    return ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device: there is no NVIDIA driver (libcuda.so.1) on this machine");
  (void)cudaRuntimeGetVersion(&needs);
  return ndr_fail(NDR_ERR_NO_DEVICE,
                  "no CUDA device: the NVIDIA driver is too old: it is for CUDA %d.%d, and one for %d.0 is needed",
                  has / 1000, has % 1000 / 10, needs / 1000);
}

ndr_status ndr_cuda_fail(cudaError_t error, const char *call) {
  /* Clears an error that is not sticky, so that the next call starts clean. */
  (void)cudaGetLastError();
  if (error == cudaErrorInsufficientDriver) return fail_driver();
  if (error == cudaErrorNoDevice || error == cudaErrorInvalidDevice)
    return ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device: %s", cudaGetErrorString(error));
  if (error == cudaErrorMemoryAllocation) return ndr_fail(NDR_ERR_MEMORY, "out of device memory in %s", call);
  return ndr_fail(NDR_ERR_DEVICE, "%s failed: %s", call, cudaGetErrorString(error));
}
