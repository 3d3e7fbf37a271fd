// The ceiling: kernels that only read, by 16-byte loads. All that differs is how much a thread has in flight and which
// bytes a block has to itself.
#include "../../tools/ndbench/cuda.h"

// Keeps the compiler from leaving the loads out: data for which the store happens are not what ndbench makes.
static __device__ void keep(unsigned bits, unsigned *sink) {
  if (bits == 0x9e3779b9u) *sink = bits;
}

static __device__ unsigned fold(uint4 v) {
  return v.x ^ v.y ^ v.z ^ v.w;
}

// A grid that fits the machine walks over everything in step.
template <int UNROLL>
static __global__ void __launch_bounds__(512) read_in_step(const uint4 *from, size_t count, unsigned *sink) {
  size_t step = (size_t)gridDim.x * blockDim.x, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (; i + (UNROLL - 1) * step < count; i += UNROLL * step) {
    uint4 v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) v[u] = __ldcs(from + i + u * step);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) bits ^= fold(v[u]);
  }
  for (; i < count; i += step) bits ^= fold(__ldcs(from + i));
  keep(bits, sink);
}

// Each block reads one contiguous piece of THREADS * UNROLL vectors.
template <int THREADS, int UNROLL>
static __global__ void __launch_bounds__(THREADS) read_pieces(const uint4 *from, size_t count, unsigned *sink) {
  size_t i = (size_t)blockIdx.x * (THREADS * UNROLL) + threadIdx.x;
  uint4 v[UNROLL];
  unsigned bits = 0;
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    v[u] = i + u * THREADS < count ? __ldcs(from + i + u * THREADS) : make_uint4(0, 0, 0, 0);
#pragma unroll
  for (int u = 0; u < UNROLL; u++) bits ^= fold(v[u]);
  keep(bits, sink);
}

// The first 32 of every 64 bytes.
static __global__ void __launch_bounds__(256) read_alternate(const uint4 *from, size_t count, unsigned *sink) {
  const int UNROLL = 4;
  size_t i = (size_t)blockIdx.x * (256 * UNROLL) + threadIdx.x;
  uint4 v[UNROLL];
  unsigned bits = 0;
#pragma unroll
  for (int u = 0; u < UNROLL; u++, i += 256) {
    size_t at = i / 2 * 4 + i % 2;
    v[u] = at < count ? __ldcs(from + at) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++) bits ^= fold(v[u]);
  keep(bits, sink);
}

template <int UNROLL>
static void step(int blocks_per_unit, const uint4 *from, size_t count, unsigned *sink, cudaStream_t stream) {
  int device = 0, units = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
  read_in_step<UNROLL><<<units * blocks_per_unit, 512, 0, stream>>>(from, count, sink);
}

template <int THREADS, int UNROLL>
static void pieces(const uint4 *from, size_t count, unsigned *sink, cudaStream_t stream) {
  size_t blocks = (count + THREADS * UNROLL - 1) / (THREADS * UNROLL);
  read_pieces<THREADS, UNROLL><<<(unsigned)(blocks ? blocks : 1), THREADS, 0, stream>>>(from, count, sink);
}

extern "C" int ndbench_read(int loop, const void *memory, size_t bytes, void *sink, void *stream) {
  const uint4 *from = (const uint4 *)memory;
  unsigned *out = (unsigned *)sink;
  cudaStream_t on = (cudaStream_t)stream;
  size_t count = bytes / sizeof(uint4);
  switch (loop) {
  case 0: pieces<256, 2>(from, count, out, on); break; // 8 KiB a block
  case 1: pieces<256, 4>(from, count, out, on); break;
  case 2: pieces<256, 8>(from, count, out, on); break;
  case 3: pieces<512, 4>(from, count, out, on); break;
  case 4: pieces<128, 8>(from, count, out, on); break;
  case 5: step<4>(4, from, count, out, on); break;
  case 6: step<8>(4, from, count, out, on); break;
  case 7: step<4>(16, from, count, out, on); break;
  default: return NDBENCH_NONE;
  }
  return cudaGetLastError();
}

extern "C" int ndbench_read_alternate(const void *memory, size_t bytes, void *sink, void *stream) {
  size_t count = bytes / sizeof(uint4), blocks = (count / 2 + 1023) / 1024;
  read_alternate<<<(unsigned)(blocks ? blocks : 1), 256, 0, (cudaStream_t)stream>>>((const uint4 *)memory, count,
                                                                                    (unsigned *)sink);
  return cudaGetLastError();
}
