// How the ladder's kernels are launched on a GPU.
#ifndef NDBENCH_LADDER_CUH
#define NDBENCH_LADDER_CUH

#include "../ladder/launch.cuh"

// What launch() of ladder/launch.cuh is here: queues, and keeps the first error.
struct ladder_on_gpu {
  cudaStream_t stream;
  cudaError_t error;

  template <class KERNEL, class... ARGUMENTS>
  void operator()(long long blocks, int threads, size_t shared, KERNEL kernel, ARGUMENTS... arguments) {
    if (error != cudaSuccess) return;
    if (blocks < 1 || blocks > 0x7fffffff) {
      error = cudaErrorInvalidConfiguration;
      return;
    }
    // A kernel may have more than 48 KiB of dynamic shared memory only with this attribute.
    if (shared > 48 << 10)
      error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error != cudaSuccess) return;
    kernel<<<(unsigned)blocks, (unsigned)threads, shared, stream>>>(arguments...);
    error = cudaGetLastError();
  }
};

#endif
