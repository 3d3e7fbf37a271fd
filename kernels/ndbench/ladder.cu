// The ladder's own kernels.
#include "ladder.cuh"

#include "../../tools/ndbench/cuda.h"

extern "C" int ndbench_ladder(ladder_kernel kernel, const ladder_job *job, void *stream) {
  ladder_on_gpu launch = {(cudaStream_t)stream, cudaSuccess};
  bool known =
      ladder::with_operator(*job, [&](auto op) { return ladder::launch_own<decltype(op)>(launch, kernel, *job); });
  return known ? (int)launch.error : NDBENCH_NONE;
}
