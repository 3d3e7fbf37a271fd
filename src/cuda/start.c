/* Starts kernels. */
#include "cuda/start.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether on a device that can start kernels early all of the library's kernels wait in machine::begin(). It is 0 where
 * such a device would compile them from PTX of an older one. */
#ifndef NDR_CUDA_KERNELS_WAIT
#define NDR_CUDA_KERNELS_WAIT 1
#endif

enum { MOST_DEVICES = 64 };

/* From driver 12.3 on such launches can be captured in graphs, too. */
static bool starts_early(int id) {
  static _Atomic signed char known[MOST_DEVICES]; /* 1: no, 2: yes */
  int driver = 0, major = 0;
  if (!NDR_CUDA_KERNELS_WAIT || id < 0 || id >= MOST_DEVICES) return false;
  if (known[id]) return known[id] > 1;
  bool early = cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12030 &&
               cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id) == cudaSuccess && major >= 9;
  known[id] = early ? 2 : 1;
  return early;
}

ndr_status ndr_cuda_start(cudaKernel_t kernel, const ndr_cuda_grid *grid, const void *argument, void *stream) {
  void *arguments[] = {(void *)(uintptr_t)argument};
  cudaLaunchAttribute early = {.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                               .val = {.programmaticStreamSerializationAllowed = 1}};
  cudaLaunchConfig_t config = {.gridDim = {grid->blocks, 1, 1},
                               .blockDim = {grid->threads, 1, 1},
                               .dynamicSmemBytes = grid->shared_bytes,
                               .stream = (cudaStream_t)stream,
                               .attrs = &early};
  int id;
  NDR_CUDA(cudaGetDevice(&id));
  config.numAttrs = starts_early(id);
  NDR_CUDA(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
  return NDR_OK;
}
