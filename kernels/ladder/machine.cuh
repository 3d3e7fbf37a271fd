/* The machine as the ladder's kernels see it. tools/simt/machine.cuh replaces this file with one that runs on
 * the host and counts, so the kernels touch memory only through global<T> and shared<T>, and say `branch(condition)`
 * where a warp's threads may part. On a GPU all of that is nothing: pointers, and the condition itself. */
#ifndef LADDER_MACHINE_CUH
#define LADDER_MACHINE_CUH

#define LADDER_KERNEL __global__ void __launch_bounds__(1024)
#define LADDER_DEVICE __device__ __forceinline__
#define LADDER_BOTH __host__ __device__ __forceinline__
#define LADDER_UNROLL _Pragma("unroll")
#define LADDER_UNROLL_BY(n) LADDER_PRAGMA(unroll n)
#define LADDER_PRAGMA(text) _Pragma(#text)

namespace ladder {

enum { WARP = 32 };

template <class T> using global = T *;
template <class T> using shared = T *;

LADDER_DEVICE int thread() {
  return (int)threadIdx.x;
}
LADDER_DEVICE int threads() {
  return (int)blockDim.x;
}
LADDER_DEVICE long long block() {
  return blockIdx.x;
}
LADDER_DEVICE long long blocks() {
  return gridDim.x;
}
LADDER_DEVICE void barrier() {
  __syncthreads();
}
LADDER_DEVICE void warp_barrier() {
  __syncwarp();
}
LADDER_DEVICE bool branch(bool taken) {
  return taken;
}

/* The launch's dynamic shared memory. */
template <class T> LADDER_DEVICE shared<T> shared_memory() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return (T *)bytes;
}

/* The value of the lane whose number differs from this one's in the bits of mask. */
template <class T> LADDER_DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

/* The value of lane number `lane`. */
template <class T> LADDER_DEVICE T shuffle_from(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

/* The value of the lane `by` before; of the lane itself where there is none. */
template <class T> LADDER_DEVICE T shuffle_up(T value, int by) {
  return __shfl_up_sync(0xffffffffu, value, by);
}

/* Bit number l is lane l's vote. */
LADDER_DEVICE unsigned ballot(bool vote) {
  return __ballot_sync(0xffffffffu, vote);
}
LADDER_DEVICE int count_bits(unsigned bits) {
  return __popc(bits);
}
LADDER_DEVICE int last_bit(unsigned bits) {
  return 31 - __clz((int)bits);
}

/* What other blocks have written during this launch: from the second-level cache, which all share. */
template <class T> LADDER_DEVICE T fresh(global<T> array, long long i) {
  return __ldcg(array + i);
}

/* How many have come before; what this thread wrote earlier can be seen by whoever comes later. */
LADDER_DEVICE unsigned take_ticket(global<unsigned> counter) {
  __threadfence();
  return atomicAdd(counter, 1u);
}

/* values[i] = value, then flags[i] = flag: whoever sees the flag with flag_of then sees the value, and all that was
 * written before. */
template <class T> LADDER_DEVICE void publish(global<T> values, global<int> flags, long long i, T value, int flag) {
  values[i] = value;
  asm volatile("st.release.gpu.s32 [%0], %1;" ::"l"(flags + i), "r"(flag) : "memory");
}
LADDER_DEVICE int flag_of(global<int> flags, long long i) {
  int flag;
  asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(flag) : "l"(flags + i) : "memory");
  return flag;
}

/* Called in each round of a loop that waits for other blocks. On a GPU they run at the same time; under emulation this
 * gives them their turn. */
LADDER_DEVICE void pause() {}

/* array[i] += amount, atomically; returns what it was before. */
LADDER_DEVICE int fetch_add(global<int> array, long long i, int amount) {
  return atomicAdd(array + i, amount);
}

/* ---- array[i] = combine(array[i], value), at once. Addition, and smaller and larger of integers, are instructions. */

LADDER_DEVICE void atomic_plus(int *at, int value) {
  atomicAdd(at, value);
}
LADDER_DEVICE void atomic_plus(float *at, float value) {
  atomicAdd(at, value);
}
LADDER_DEVICE void atomic_plus(double *at, double value) {
  atomicAdd(at, value);
}

/* The bits of floats that are not negative are ordered like signed integers, those of the others like unsigned ones the
 * other way round; and as signed integers the others come before. */
LADDER_DEVICE void atomic_smaller(int *at, int value) {
  atomicMin(at, value);
}
LADDER_DEVICE void atomic_larger(int *at, int value) {
  atomicMax(at, value);
}
LADDER_DEVICE void atomic_smaller(float *at, float value) {
  int bits = __float_as_int(value);
  if (bits >= 0)
    atomicMin((int *)at, bits);
  else
    atomicMax((unsigned *)at, (unsigned)bits);
}
LADDER_DEVICE void atomic_larger(float *at, float value) {
  int bits = __float_as_int(value);
  if (bits >= 0)
    atomicMax((int *)at, bits);
  else
    atomicMin((unsigned *)at, (unsigned)bits);
}
LADDER_DEVICE void atomic_smaller(double *at, double value) {
  long long bits = __double_as_longlong(value);
  if (bits >= 0)
    atomicMin((long long *)at, bits);
  else
    atomicMax((unsigned long long *)at, (unsigned long long)bits);
}
LADDER_DEVICE void atomic_larger(double *at, double value) {
  long long bits = __double_as_longlong(value);
  if (bits >= 0)
    atomicMax((long long *)at, bits);
  else
    atomicMin((unsigned long long *)at, (unsigned long long)bits);
}

/* There is no atomic product: read, multiply, and store if nobody has stored in between, else again. */
LADDER_DEVICE void atomic_times(int *at, int value) {
  int seen = *(volatile int *)at, expected;
  do {
    expected = seen;
    seen = atomicCAS(at, expected, (int)((unsigned)expected * (unsigned)value));
  } while (seen != expected);
}
LADDER_DEVICE void atomic_times(float *at, float value) {
  int seen = *(volatile int *)at, expected;
  do {
    expected = seen;
    seen = atomicCAS((int *)at, expected, __float_as_int(__int_as_float(expected) * value));
  } while (seen != expected);
}
LADDER_DEVICE void atomic_times(double *at, double value) {
  unsigned long long seen = *(volatile unsigned long long *)at, expected;
  do {
    expected = seen;
    seen = atomicCAS((unsigned long long *)at, expected,
                     (unsigned long long)__double_as_longlong(__longlong_as_double((long long)expected) * value));
  } while (seen != expected);
}

template <class OP, class T> LADDER_DEVICE void atomic_combine(T *array, long long i, T value) {
  OP::atomic(array + i, value);
}

} // namespace ladder
#endif
