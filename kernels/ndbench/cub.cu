// CUB's reductions, as ndbench's rival where it has one: contiguous segments.
#include <cub/cub.cuh>
#include <cuda_fp16.h>

#include "../../tools/ndbench/cuda.h"
#include "starts.cuh"

namespace {

struct job {
  const void *data;
  void *result;
  int64_t segments, length;
  void *workspace;
  size_t *workspace_bytes;
  cudaStream_t stream;
};

// Accumulated in the dtype of the result, as CUB does where it is not the element's.
template <class Element, class Result> int sum(const job &j) {
  const Element *from = (const Element *)j.data;
  Result *to = (Result *)j.result;
  starts at = {j.length, 0};
  if (j.segments == 1) return cub::DeviceReduce::Sum(j.workspace, *j.workspace_bytes, from, to, j.length, j.stream);
  return cub::DeviceSegmentedReduce::Sum(j.workspace, *j.workspace_bytes, from, to, j.segments, at, at + 1, j.stream);
}

int max(const job &j) {
  const float *from = (const float *)j.data;
  float *to = (float *)j.result;
  starts at = {j.length, 0};
  if (j.segments == 1) return cub::DeviceReduce::Max(j.workspace, *j.workspace_bytes, from, to, j.length, j.stream);
  return cub::DeviceSegmentedReduce::Max(j.workspace, *j.workspace_bytes, from, to, j.segments, at, at + 1, j.stream);
}

} // namespace

extern "C" int ndbench_cub(ndr_op op, ndr_dtype dtype, const void *data, void *result, int64_t segments, int64_t length,
                           void *workspace, size_t *workspace_bytes, void *stream) {
  job j = {data, result, segments, length, workspace, workspace_bytes, (cudaStream_t)stream};
  if (op == NDR_MAX && dtype == NDR_F32) return max(j);
  if (op != NDR_SUM) return NDBENCH_NONE;
  switch (dtype) {
  case NDR_F32: return sum<float, float>(j);
  case NDR_F64: return sum<double, double>(j);
  case NDR_F16: return sum<__half, __half>(j);
  case NDR_I32: return sum<int32_t, int64_t>(j);
  case NDR_I8: return sum<int8_t, int64_t>(j);
  default: return NDBENCH_NONE;
  }
}
