// The ladder's rungs that others have built: Thrust, CUB.
#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/transform_reduce.h>

#include "../../tools/ndbench/cuda.h"
#include "ladder.cuh"
#include "starts.cuh"

namespace {

template <class OP> struct mapping {
  using type = typename OP::type;
  __host__ __device__ type operator()(type x) const { return OP::map(x); }
};
template <class OP> struct combining {
  using type = typename OP::type;
  __host__ __device__ type operator()(type a, type b) const { return OP::combine(a, b); }
};

struct task {
  ladder_job job;
  void *workspace;
  size_t *workspace_bytes;
  void *value;
  cudaStream_t stream;
};

template <class OP> int thrust_reduce(const task &t) {
  using T = typename OP::type;
  const T *x = (const T *)t.job.data;
  *t.workspace_bytes = 1;
  if (!t.workspace) return cudaSuccess;
  try {
    *(T *)t.value = thrust::transform_reduce(thrust::cuda::par.on(t.stream), x, x + t.job.columns, mapping<OP>(),
                                             OP::identity(), combining<OP>());
  } catch (...) {
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? cudaErrorUnknown : error;
  }
  return cudaGetLastError();
}

template <class OP, int BLOCK, class T = typename OP::type>
__global__ void __launch_bounds__(BLOCK) cub_block(const T *x, long long n, T *out) {
  using reduction = cub::BlockReduce<T, BLOCK>;
  __shared__ typename reduction::TempStorage storage;
  T total = reduction(storage).Reduce(ladder::load_cascade<OP, T>(x, n), combining<OP>());
  if (threadIdx.x == 0) OP::atomic(out, total);
}

template <class OP> int block_reduce(const task &t) {
  using T = typename OP::type;
  const T *x = (const T *)t.job.data;
  T *out = (T *)t.job.results;
  const long long n = t.job.columns, blocks = ladder::cascade(n, t.job.block);
  ladder_on_gpu launch = {t.stream, cudaSuccess};
  *t.workspace_bytes = 1;
  if (!t.workspace) return cudaSuccess;
  launch(1, ladder::WARP, 0, ladder::set_identity<OP>, out);
  ladder::with_block(t.job.block,
                     [&](auto size) { launch(blocks, size.value, 0, cub_block<OP, size.value>, x, n, out); });
  return launch.error;
}

// By its own names where it has them, which its tuning knows; by what the operator is where it has none.
template <class T> int device_reduce(const task &t, ladder::sum<T> /*op*/) {
  return cub::DeviceReduce::Sum(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                                (int64_t)t.job.columns, t.stream);
}
template <class T> int device_reduce(const task &t, ladder::smallest<T> /*op*/) {
  return cub::DeviceReduce::Min(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                                (int64_t)t.job.columns, t.stream);
}
template <class T> int device_reduce(const task &t, ladder::largest<T> /*op*/) {
  return cub::DeviceReduce::Max(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                                (int64_t)t.job.columns, t.stream);
}
template <class T> int device_reduce(const task &t, ladder::product<T> /*op*/) {
  return cub::DeviceReduce::Reduce(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                                   (int64_t)t.job.columns, combining<ladder::product<T>>(), (T)1, t.stream);
}
template <class T> int device_reduce(const task &t, ladder::polynomial<T> /*op*/) {
  auto mapped = thrust::make_transform_iterator((const T *)t.job.data, mapping<ladder::polynomial<T>>());
  return cub::DeviceReduce::Sum(t.workspace, *t.workspace_bytes, mapped, (T *)t.job.results, (int64_t)t.job.columns,
                                t.stream);
}

template <class OP> int segmented_reduce(const task &t) {
  using T = typename OP::type;
  auto mapped = thrust::make_transform_iterator((const T *)t.job.data, mapping<OP>());
  starts at = {t.job.pitch, 0};
  return cub::DeviceSegmentedReduce::Reduce(t.workspace, *t.workspace_bytes, mapped, (T *)t.job.results,
                                            (int64_t)t.job.rows, at, at + 1, combining<OP>(), OP::identity(), t.stream);
}

template <class OP> int inclusive_scan(const task &t) {
  using T = typename OP::type;
  auto mapped = thrust::make_transform_iterator((const T *)t.job.data, mapping<OP>());
  return cub::DeviceScan::InclusiveScan(t.workspace, *t.workspace_bytes, mapped, (T *)t.job.results, combining<OP>(),
                                        (int64_t)t.job.columns, t.stream);
}
// By its own name, which its tuning knows.
template <class T> int device_scan(const task &t, ladder::sum<T> /*op*/) {
  return cub::DeviceScan::InclusiveSum(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                                       (int64_t)t.job.columns, t.stream);
}
template <class OP> int device_scan(const task &t, OP /*op*/) {
  return inclusive_scan<OP>(t);
}

template <class T> struct less_than {
  T limit;
  __host__ __device__ bool operator()(T x) const { return x < limit; }
};

template <class T> int device_select(const task &t) {
  return cub::DeviceSelect::If(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                               (int *)t.job.scratch, (int64_t)t.job.columns, less_than<T>{(T)t.job.limit}, t.stream);
}

template <class T> int device_sort(const task &t) {
  return cub::DeviceRadixSort::SortKeys(t.workspace, *t.workspace_bytes, (const T *)t.job.data, (T *)t.job.results,
                                        (int64_t)t.job.columns, 0, (int)sizeof(T) * 8, t.stream);
}

} // namespace

extern "C" int ndbench_ladder_others(ladder_kernel kernel, const ladder_job *job, void *workspace,
                                     size_t *workspace_bytes, void *value, void *stream) {
  task t = {*job, workspace, workspace_bytes, value, (cudaStream_t)stream};
  int error = NDBENCH_NONE;
  ladder::with_operator(*job, [&](auto op) {
    using OP = decltype(op);
    switch (kernel) {
    case LADDER_THRUST: error = thrust_reduce<OP>(t); break;
    case LADDER_CUB_BLOCK: error = block_reduce<OP>(t); break;
    case LADDER_CUB_DEVICE: error = device_reduce(t, op); break;
    case LADDER_CUB_SEGMENTED: error = segmented_reduce<OP>(t); break;
    case LADDER_CUB_SCAN: error = device_scan(t, op); break;
    case LADDER_CUB_SELECT: error = device_select<typename OP::type>(t); break;
    case LADDER_CUB_SORT: error = device_sort<typename OP::type>(t); break;
    default: break;
    }
    return true;
  });
  return error;
}
