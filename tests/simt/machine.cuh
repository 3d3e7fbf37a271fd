/* The machine of kernels/machine.cuh on the host: a thread is a fibre (see machine.h), a warp 32 of them, a block's
 * static shared memory the thread-local storage of the module that holds the kernels, which the emulation poisons
 * before every block. Taking the original's include guard keeps the original out: this header comes first. */
#ifndef NDR_MACHINE_CUH
#define NDR_MACHINE_CUH

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../../tools/simt/machine.h"
#include "params.h"

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the name is CUDA's
#define __grid_constant__

#define NDR_KERNEL extern "C" __attribute__((visibility("default"))) void
#define NDR_BOUNDS(...)
#define NDR_DEVICE inline
#define NDR_CALLED static inline
#define NDR_SHARED static thread_local

typedef unsigned long long ndr_word;
struct alignas(16) ndr_vector {
  unsigned word[4];
};

namespace machine {

NDR_DEVICE int thread() {
  return simt_here->thread;
}
NDR_DEVICE int threads() {
  return simt_here->threads;
}
NDR_DEVICE long long block() {
  return simt_here->block;
}
NDR_DEVICE long long blocks() {
  return simt_here->blocks;
}

NDR_DEVICE void begin() {
  simt_begin();
}

/* Default arguments are evaluated where the call stands, so each carries the place that a failure names. */
NDR_DEVICE void barrier(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_barrier(file, line);
}
template <int NUMBER>
NDR_DEVICE void barrier_of(int count, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_barrier_of(count, file, line);
}
NDR_DEVICE void warp_barrier(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_shuffle_xor(0, 0, file, line);
}
NDR_DEVICE unsigned shuffle_xor(unsigned value, int mask, const char *file = __builtin_FILE(),
                                int line = __builtin_LINE()) {
  return simt_shuffle_xor(value, mask, file, line);
}
NDR_DEVICE unsigned shuffle_from(unsigned value, int lane, const char *file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
  return simt_shuffle_from(value, lane & 31, file, line);
}
NDR_DEVICE unsigned ballot(bool bit, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  unsigned bits = bit ? 1U << thread() % 32 : 0;
  for (int mask = 1; mask < 32; mask *= 2) bits |= simt_shuffle_xor(bits, mask, file, line);
  return bits;
}
NDR_DEVICE int count_bits(unsigned bits) {
  return __builtin_popcount(bits);
}
NDR_DEVICE int first_bit(unsigned bits) {
  return __builtin_ctz(bits);
}

NDR_DEVICE unsigned char *shared_bytes() {
  return simt_here->shared;
}

NDR_DEVICE void check_vector(const void *address, const char *file, int line) {
  if ((uintptr_t)address % sizeof(ndr_vector) != 0)
    simt_fail(file, line, "a vector is loaded from an address that is not a multiple of 16");
}
/* The sanitizer sees the last byte only: the vector may begin before its array. */
__attribute__((no_sanitize("address"))) inline ndr_vector load_unseen(const void *address) {
  const volatile unsigned *word = (const volatile unsigned *)address;
  return {{word[0], word[1], word[2], word[3]}};
}
template <int BYTES = 0>
NDR_DEVICE ndr_vector keep_vector(const void *address, const char *file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  const unsigned char *first = (const unsigned char *)address + BYTES;
  check_vector(first, file, line);
  (void)*(const volatile unsigned char *)(first + sizeof(ndr_vector) - 1);
  return load_unseen(first);
}
template <bool EARLY = false>
NDR_DEVICE ndr_vector load_vector(const void *address, const char *file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  if (EARLY) return keep_vector(address, file, line);
  check_vector(address, file, line);
  ndr_vector p;
  memcpy(&p, address, sizeof p);
  return p;
}
NDR_DEVICE void copy_vector(void *shared, const void *address, const char *file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  *(ndr_vector *)shared = keep_vector(address, file, line);
}
template <class T>
inline void copy_element(T *shared, const T *address, const char *file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  if ((uintptr_t)address % sizeof(T) != 0 || (uintptr_t)shared % sizeof(T) != 0)
    simt_fail(file, line, "an element is copied from or to an address that is not a multiple of its size");
  *shared = *address;
}
/* Bulks are copied at once. Who waits goes on without those who have not arrived: a block's barrier follows. */
struct copy_barrier {
  int count, arrived, rounds;
};
NDR_DEVICE constexpr bool copies_bulks() {
  return true;
}
NDR_DEVICE void begin_copy_barrier(copy_barrier *m, int count) {
  *m = {count, 0, 0};
}
NDR_DEVICE void copy_bulk(void *shared, const void *address, int bytes, copy_barrier *m,
                          const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  (void)m;
  if ((uintptr_t)shared % 16 != 0 || bytes % 16 != 0 || bytes <= 0)
    simt_fail(file, line, "a bulk does not consist of whole vectors");
  for (int at = 0; at < bytes; at += (int)sizeof(ndr_vector))
    copy_vector((char *)shared + at, (const char *)address + at, file, line);
}
inline void arrive(copy_barrier *m, int bytes, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  (void)bytes;
  if (m->arrived == m->count) simt_fail(file, line, "more threads arrive than the barrier of a copy has");
  if (++m->arrived == m->count) m->arrived = 0, m->rounds++;
}
inline void await_copy_barrier(copy_barrier *m, int round, const char *file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  if (m->rounds != round && m->rounds != round + 1)
    simt_fail(file, line, "waits for a round of a copy that is not the next");
}
NDR_DEVICE void fence_bulks() {}
NDR_DEVICE long long take_number(unsigned long long *left) {
  return (long long)(*left)++;
}
NDR_DEVICE void group_copies() {}
template <int LATER> NDR_DEVICE void await_copies() {}
template <class T> NDR_DEVICE T load_element(const T *address) {
  return *address;
}
/* The sanitizer sees the last byte only where the others may lie before the array. */
template <int BYTES> __attribute__((no_sanitize("address"))) inline void copy_unseen(unsigned *word, const void *from) {
  const volatile unsigned char *at = (const volatile unsigned char *)from;
  for (int b = 0; b < BYTES; b++) word[b / 4] |= (unsigned)at[b] << b % 4 * 8;
}
template <int BYTES, bool KEEP, bool EARLY = false>
NDR_DEVICE void load_bytes(unsigned *word, const void *address, const char *file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  if ((uintptr_t)address % BYTES != 0)
    simt_fail(file, line, "bytes are loaded from an address that is not a multiple of their number");
  for (int w = 0; w < (BYTES + 3) / 4; w++) word[w] = 0;
  if (EARLY) {
    (void)((const volatile unsigned char *)address)[BYTES - 1];
    copy_unseen<BYTES>(word, address);
    return;
  }
  memcpy(word, address, BYTES);
}

NDR_DEVICE void set_slot(ndr_posted *slot, const ndr_posted &to, const char *file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  if (to.half[0] != 0 && (slot->half[0] != 0 || slot->half[1] != 0))
    simt_fail(file, line, "a word is posted in a slot that is not empty");
  *slot = to;
}
NDR_DEVICE ndr_posted look_at(const ndr_posted *slot) {
  return *slot;
}
/* Nothing here knows whether the word that is replaced is needed. */
NDR_DEVICE void refill_slot(ndr_posted *slot, const ndr_posted &to) {
  *slot = to;
}
/* Lets other blocks go on. Fails where blocks run one after the other: what earlier ones post is there, what later ones
 * post never will be. */
NDR_DEVICE bool wait(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_pause(file, line);
  return true;
}
NDR_DEVICE void assume(bool holds, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) simt_fail(file, line, "what the kernel assumes does not hold");
}
NDR_DEVICE long long opaque(long long value) {
  return value;
}
template <class V> NDR_DEVICE V hide_negation(V value) {
  return value;
}
template <class LANE, class SUM> NDR_DEVICE SUM dot4_of(SUM a, SUM b, SUM c) {
  LANE x[4], y[4];
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  unsigned sum = (unsigned)c;
  for (int i = 0; i < 4; i++) sum += (unsigned)((SUM)x[i] * (SUM)y[i]);
  return (SUM)sum;
}
NDR_DEVICE int dot4(int a, int b, int c) {
  return dot4_of<signed char>(a, b, c);
}
NDR_DEVICE unsigned dot4(unsigned a, unsigned b, unsigned c) {
  return dot4_of<unsigned char>(a, b, c);
}
NDR_DEVICE unsigned maximum_halves(unsigned a, unsigned b) {
  const unsigned low = 0xffff, high = ~low;
  return ((a & low) > (b & low) ? a & low : b & low) | ((a & high) > (b & high) ? a & high : b & high);
}
template <unsigned WHICH> NDR_DEVICE unsigned pick_bytes(unsigned low, unsigned high) {
  unsigned picked = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned number = WHICH >> 4 * i & 15;
    picked |= ((number < 4 ? low : high) >> 8 * (number & 3) & 255) << 8 * i;
  }
  return picked;
}
NDR_DEVICE unsigned multiply_high(unsigned a, unsigned b) {
  return (unsigned)((uint64_t)a * b >> 32);
}

NDR_DEVICE unsigned funnel_shift(unsigned low, unsigned high, unsigned bits) {
  return (unsigned)(((uint64_t)high << 32 | low) >> (bits & 31));
}

template <class TO, class FROM> NDR_DEVICE TO same_bits(FROM from) {
  static_assert(sizeof(TO) == sizeof(FROM), "sizes differ");
  TO to;
  memcpy(&to, &from, sizeof to);
  return to;
}
NDR_DEVICE float float_of(unsigned bits) {
  return same_bits<float>(bits);
}
NDR_DEVICE unsigned bits_of(float value) {
  return same_bits<unsigned>(value);
}
NDR_DEVICE double double_of(ndr_word bits) {
  return same_bits<double>(bits);
}
NDR_DEVICE ndr_word bits_of(double value) {
  return same_bits<ndr_word>(value);
}

/* binary16: 1 sign, 5 exponent bits biased by 15, 10 fraction bits; a unit of subnormals is 2^-24. */
NDR_DEVICE float half_to_float(unsigned short bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
               : exponent > 0 ? ldexpf((float)(fraction + 1024), exponent - 25)
                              : ldexpf((float)fraction, -24);
  return (bits & 0x8000) != 0 ? -size : size;
}
NDR_DEVICE unsigned short double_to_half(double value) {
  int sign = signbit(value) ? 0x8000 : 0, exponent = 0;
  if (value != value) return 0x7fff;
  if (value == 0) return (unsigned short)sign;
  if (fabs(value) >= 65520) return (unsigned short)(sign | 0x7c00); /* half a unit beyond the largest, 65504 */
  frexp(value, &exponent);
  int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  /* In units of the last place; reaching 2048 carries into the exponent, and below 1024 it is a subnormal. */
  int steps = (int)nearbyint(ldexp(fabs(value), -unit));
  return (unsigned short)(sign | (((unit + 24) << 10) + steps));
}
NDR_DEVICE unsigned short float_to_half(float value) {
  return double_to_half((double)value);
}
NDR_DEVICE unsigned short float_to_bf16(float value) {
  unsigned bits = bits_of(value);
  return value != value ? 0x7fff : (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
NDR_DEVICE float truncate_to_float(double value) {
  float nearest = (float)value;
  return fabs((double)nearest) > fabs(value) ? nextafterf(nearest, 0) : nearest;
}
/* Kernels are compiled without contraction. */
NDR_DEVICE float rounded_product(float a, float b) {
  return a * b;
}
NDR_DEVICE double rounded_product(double a, double b) {
  return a * b;
}
NDR_DEVICE float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
NDR_DEVICE double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
NDR_DEVICE double rounded_sum(double a, double b) {
  return a + b;
}

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
template <class V> NDR_DEVICE V loud(V a, V b, V chosen) {
  return isnan(a) || isnan(b) ? (V)NAN : chosen;
}
NDR_DEVICE float minimum(float a, float b) {
  return loud(a, b, fminf(a, b));
}
NDR_DEVICE float maximum(float a, float b) {
  return loud(a, b, fmaxf(a, b));
}
NDR_DEVICE double minimum(double a, double b) {
  return loud(a, b, fmin(a, b));
}
NDR_DEVICE double maximum(double a, double b) {
  return loud(a, b, fmax(a, b));
}

/* The fast ones flush subnormal results to 0 (and 2^x its subnormal arguments, for which 2^x is 1 anyway). */
NDR_DEVICE float flushed(float x) {
  return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}
NDR_DEVICE float exp2_fast(float x) {
  return flushed(exp2f(x));
}
NDR_DEVICE float divide_fast(float a, float b) {
  return a / b;
}

} // namespace machine

/* See module.c. A module is one file, so this is defined once. */
extern "C" __attribute__((visibility("default"))) const void *simt_touch_statics() {
  NDR_SHARED char touched;
  return &touched;
}

#endif
