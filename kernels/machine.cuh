/* The intrinsics of the machine, and nothing else. tests/simt/machine.cuh replaces this file with an emulation on the
 * host, so a kernel may use threads, shared memory and special instructions only through it. */
#ifndef NDR_MACHINE_CUH
#define NDR_MACHINE_CUH

#include "params.h"

#define NDR_KERNEL extern "C" __global__ void
#define NDR_BOUNDS(...) __launch_bounds__(__VA_ARGS__)
#define NDR_DEVICE __device__ __forceinline__
#define NDR_CALLED                                                                                                     \
  static __device__ __noinline__ /* for long functions with many callers that take little of the time */
#define NDR_SHARED __shared__

typedef unsigned long long ndr_word;
struct alignas(16) ndr_vector {
  unsigned word[4];
};

namespace machine {

NDR_DEVICE int thread() {
  return (int)threadIdx.x;
}
NDR_DEVICE int threads() {
  return (int)blockDim.x;
}
NDR_DEVICE long long block() {
  return blockIdx.x;
}
NDR_DEVICE long long blocks() {
  return gridDim.x;
}
/* Every kernel calls this first. From compute capability 9.0 on it may start when the blocks of the kernel before it in
 * the stream are done, but before what they wrote can be seen (ndr_cuda_start): this waits until it can. Nothing lets
 * the next kernel start earlier than that: columns of 4 MB in a row would take 8.2 us each, not 6.7. */
NDR_DEVICE void begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
NDR_DEVICE void barrier() {
  __syncthreads();
}

/* The same of the block's first `count` threads, whole warps, wherever each warp calls it. Barriers of other threads
 * have another NUMBER, from 1 to 15. */
template <int NUMBER> NDR_DEVICE void barrier_of(int count) {
  asm volatile("bar.sync %0, %1;" : : "n"(NUMBER), "r"(count) : "memory");
}

/* The threads of a warp wait for each other, and see what each wrote to shared memory. */
NDR_DEVICE void warp_barrier() {
  __syncwarp();
}

/* Dynamic shared memory of the launch. */
NDR_DEVICE unsigned char *shared_bytes() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

/* Loads a vector of data that is read once: by the read-only path, without a place in the first-level cache. With
 * EARLY it may begin before the array that it ends in: arrays lie in memory that was allocated from a 16-byte boundary
 * on. */
template <bool EARLY = false> NDR_DEVICE ndr_vector load_vector(const void *address) {
  ndr_vector p;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3])
               : "l"(address));
  return p;
}

/* Loads the vector BYTES behind an address and keeps it in the first-level cache. That is slower, except where threads
 * write about as much as they read, or where another thread reads the vector too. It may begin before the array that it
 * ends in. */
template <int BYTES = 0> NDR_DEVICE ndr_vector keep_vector(const void *address) {
  ndr_vector p;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4 + %5];"
               : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3])
               : "l"(address), "n"(BYTES));
  return p;
}

/* Starts to copy a vector to shared memory, past the registers and the first-level cache where the machine can. */
NDR_DEVICE void copy_vector(void *shared, const void *address) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(address)
               : "memory");
#else
  *(ndr_vector *)shared = load_vector(address);
#endif
}

/* The same of 4 or 8 bytes. */
template <class T> NDR_DEVICE void copy_element(T *shared, const T *address) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(address), "n"((int)sizeof(T))
               : "memory");
#else
  *shared = *address;
#endif
}

/* The copies that this thread has started since the last call are a group. */
NDR_DEVICE void group_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for this thread's groups of copies, except for the last LATER of them. */
template <int LATER> NDR_DEVICE void await_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

/* Bulks: copies of many vectors that one thread starts, where the machine has them, and their barrier (PTX: mbarrier).
 * Each of `count` threads arrives once a round, after it has started its copies, and says their bytes. await returns
 * when all have arrived and all bytes have been copied. `round` counts from 0. Other threads may use it after a block's
 * barrier. A thread that has written or read what a bulk overwrites calls fence_bulks before the barrier between. */
struct copy_barrier {
  unsigned long long word;
};
#if __CUDA_ARCH__ >= 900
NDR_DEVICE constexpr bool copies_bulks() {
  return true;
}
NDR_DEVICE void begin_copy_barrier(copy_barrier *m, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n"
               "fence.proxy.async.shared::cta;" ::"r"((unsigned)__cvta_generic_to_shared(m)),
               "r"(count)
               : "memory");
}
NDR_DEVICE void copy_bulk(void *shared, const void *address, int bytes, copy_barrier *m) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(address), "r"(bytes),
                 "r"((unsigned)__cvta_generic_to_shared(m))
               : "memory");
}
NDR_DEVICE void arrive(copy_barrier *m, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(m)),
               "r"(bytes)
               : "memory");
}
NDR_DEVICE void fence_bulks() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
NDR_DEVICE void await_copy_barrier(copy_barrier *m, int round) {
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"((unsigned)__cvta_generic_to_shared(m)), "r"(round & 1)
                 : "memory");
}
#else
NDR_DEVICE constexpr bool copies_bulks() {
  return false;
}
NDR_DEVICE void begin_copy_barrier(copy_barrier *, int) {}
NDR_DEVICE void copy_bulk(void *, const void *, int, copy_barrier *) {}
NDR_DEVICE void arrive(copy_barrier *, int) {}
NDR_DEVICE void fence_bulks() {}
NDR_DEVICE void await_copy_barrier(copy_barrier *, int) {}
#endif

template <class T> NDR_DEVICE T load_element(const T *address) {
  return *address;
}

/* Loads BYTES bytes, a power of 2 up to 16, from a multiple of BYTES, by the read-only path, to the first bytes of
 * `word`. KEEP: the first-level cache keeps them; it always keeps loads of fewer than 16 bytes, whose neighbours other
 * loads read. EARLY: they may begin before the array; only the emulated machine, which checks bounds, looks at it. */
template <int BYTES, bool KEEP, bool EARLY = false> NDR_DEVICE void load_bytes(unsigned *word, const void *address) {
  if constexpr (BYTES == 16) {
    ndr_vector v = KEEP ? keep_vector(address) : load_vector(address);
    word[0] = v.word[0], word[1] = v.word[1], word[2] = v.word[2], word[3] = v.word[3];
  } else if constexpr (BYTES == 8) {
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(address));
  } else if constexpr (BYTES == 4) {
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word[0]) : "l"(address));
  } else if constexpr (BYTES == 2) {
    asm volatile("ld.global.nc.u16 %0, [%1];" : "=r"(word[0]) : "l"(address));
  } else {
    asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(word[0]) : "l"(address));
  }
}

/* Posts something for another block in a slot that is empty, or makes a slot empty. Each half is written and seen
 * whole. */
NDR_DEVICE void set_slot(ndr_posted *slot, const ndr_posted &to) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(slot), "l"(to.half[0]), "l"(to.half[1])
               : "memory");
}

/* The same in a slot that may hold a word, which nobody needs any more. */
NDR_DEVICE void refill_slot(ndr_posted *slot, const ndr_posted &to) {
  set_slot(slot, to);
}

/* What a slot holds by now. */
NDR_DEVICE ndr_posted look_at(const ndr_posted *slot) {
  ndr_posted p;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(p.half[0]), "=l"(p.half[1])
               : "l"(slot)
               : "memory");
  return p;
}

/* A number that no other thread gets: the smallest that is left of 0, 1, 2, ... */
NDR_DEVICE long long take_number(unsigned long long *left) {
  return (long long)atomicAdd(left, 1ull);
}

/* What a thread does before it looks again for something that another block posts. Returns true. */
NDR_DEVICE bool wait() {
  return true;
}

/* Tells the compiler what always holds here. */
NDR_DEVICE void assume(bool holds) {
  __builtin_assume(holds);
}

/* Hides the value from the compiler, so that what depends on it is computed again rather than kept in registers. */
NDR_DEVICE long long opaque(long long value) {
  asm volatile("" : "+l"(value));
  return value;
}

/* Hides from the assembler that the value may be a negated one. ptxas 13.0 merges two minima or maxima of 32-bit
 * integers into one instruction (VIMNMX3) and then drops the sign of an operand: max(max(-a, -b), max(-c, -d)) was
 * wrong. Integers of 8, 16 and 64 bits were right. */
template <class V> NDR_DEVICE V hide_negation(V value) {
  return value;
}
NDR_DEVICE int hide_negation(int value) {
  int hidden;
  asm("not.b32 %0, %1;\n\tnot.b32 %0, %0;" : "=r"(hidden) : "r"(value));
  return hidden;
}
NDR_DEVICE unsigned hide_negation(unsigned value) {
  return (unsigned)hide_negation((int)value);
}

NDR_DEVICE unsigned shuffle_xor(unsigned value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
/* The value of another lane, whose number is taken modulo 32. */
NDR_DEVICE unsigned shuffle_from(unsigned value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
/* A bit of each lane of the warp. */
NDR_DEVICE unsigned ballot(bool bit) {
  return __ballot_sync(0xffffffffu, bit);
}
NDR_DEVICE int count_bits(unsigned bits) {
  return __popc(bits);
}
/* The number of the lowest bit that is set; there is one. */
NDR_DEVICE int first_bit(unsigned bits) {
  return __ffs((int)bits) - 1;
}

NDR_DEVICE int dot4(int a, int b, int c) {
  return __dp4a(a, b, c);
}
NDR_DEVICE unsigned dot4(unsigned a, unsigned b, unsigned c) {
  return __dp4a(a, b, c);
}
/* The larger of both 16-bit halves, each by itself. */
NDR_DEVICE unsigned maximum_halves(unsigned a, unsigned b) {
  return __vmaxu2(a, b);
}
/* Four bytes of two words: hexadecimal digit i of WHICH is the number of byte i, from 0 in `low` and 4 in `high`. */
template <unsigned WHICH> NDR_DEVICE unsigned pick_bytes(unsigned low, unsigned high) {
  return __byte_perm(low, high, WHICH);
}
NDR_DEVICE unsigned multiply_high(unsigned a, unsigned b) {
  return __umulhi(a, b);
}

/* The low word of the two words shifted right by `bits` modulo 32. */
NDR_DEVICE unsigned funnel_shift(unsigned low, unsigned high, unsigned bits) {
  return __funnelshift_r(low, high, bits);
}

NDR_DEVICE float float_of(unsigned bits) {
  return __uint_as_float(bits);
}
NDR_DEVICE unsigned bits_of(float value) {
  return __float_as_uint(value);
}
NDR_DEVICE double double_of(ndr_word bits) {
  return __longlong_as_double((long long)bits);
}
NDR_DEVICE ndr_word bits_of(double value) {
  return (ndr_word)__double_as_longlong(value);
}

NDR_DEVICE float half_to_float(unsigned short bits) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
  return f;
}
NDR_DEVICE unsigned short double_to_half(double value) {
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(value));
  return bits;
}
NDR_DEVICE unsigned short float_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
NDR_DEVICE unsigned short float_to_bf16(float value) {
#if __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  unsigned bits = __float_as_uint(value);
  return value != value ? 0x7fff : (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}
NDR_DEVICE float truncate_to_float(double value) {
  return __double2float_rz(value);
}

/* Products and sums that are each rounded: the compiler does not fuse them into one multiply-add. */
NDR_DEVICE float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}
NDR_DEVICE double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}
/* a * b + c, rounded once. */
NDR_DEVICE float fused(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
NDR_DEVICE double fused(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
NDR_DEVICE double rounded_sum(double a, double b) {
  return __dadd_rn(a, b);
}

/* The smaller and the larger value, by IEEE 754's names: minimum_number and maximum_number ignore a NaN, minimum and
 * maximum return it. */
NDR_DEVICE float minimum_number(float a, float b) {
  return fminf(a, b);
}
NDR_DEVICE float maximum_number(float a, float b) {
  return fmaxf(a, b);
}
NDR_DEVICE double minimum_number(double a, double b) {
  return fmin(a, b);
}
NDR_DEVICE double maximum_number(double a, double b) {
  return fmax(a, b);
}
NDR_DEVICE float minimum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : b != b ? b : fminf(a, b);
#endif
}
NDR_DEVICE float maximum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : b != b ? b : fmaxf(a, b);
#endif
}
NDR_DEVICE double minimum(double a, double b) {
  return a != a || a < b ? a : b != b || b < a ? b : a;
}
NDR_DEVICE double maximum(double a, double b) {
  return a != a || a > b ? a : b != b || b > a ? b : a;
}

/* 2^x to about 2 units in the last place. */
NDR_DEVICE float exp2_fast(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
NDR_DEVICE float divide_fast(float a, float b) {
  return __fdividef(a, b);
}

} // namespace machine
#endif
