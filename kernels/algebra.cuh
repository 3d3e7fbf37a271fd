/* What operators are built from: limits, the types of totals and results, ways to join and to map values, and vectors
 * that are folded without unpacking them. */
#ifndef NDR_ALGEBRA_CUH
#define NDR_ALGEBRA_CUH

#include "params.h"
#include "types.cuh"

#define NDR_INFINITY machine::double_of(0x7ff0000000000000ull)
#define NDR_NAN machine::double_of(0x7ff8000000000000ull)

/* ---- limits ---- */

template <class V> struct limits; /* of integers; the limits of floats are infinite */
template <> struct limits<int> {
  static NDR_DEVICE int least() { return -2147483647 - 1; }
  static NDR_DEVICE int most() { return 2147483647; }
};
template <> struct limits<u32> {
  static NDR_DEVICE u32 least() { return 0; }
  static NDR_DEVICE u32 most() { return 0xffffffffu; }
};
template <> struct limits<i64> {
  static NDR_DEVICE i64 least() { return -0x7fffffffffffffffll - 1; }
  static NDR_DEVICE i64 most() { return 0x7fffffffffffffffll; }
};
template <> struct limits<u64> {
  static NDR_DEVICE u64 least() { return 0; }
  static NDR_DEVICE u64 most() { return ~0ull; }
};
template <> struct limits<float> {
  static NDR_DEVICE float least() { return (float)-NDR_INFINITY; }
  static NDR_DEVICE float most() { return (float)NDR_INFINITY; }
};
template <> struct limits<double> {
  static NDR_DEVICE double least() { return -NDR_INFINITY; }
  static NDR_DEVICE double most() { return NDR_INFINITY; }
};

template <class V> struct is_float { static const bool yes = false; };
template <> struct is_float<float> { static const bool yes = true; };
template <> struct is_float<double> { static const bool yes = true; };
template <bool YES, class A, class B> struct choose { typedef A type; };
template <class A, class B> struct choose<false, A, B> { typedef B type; };
template <class A, class B> struct same { static const bool yes = false; };
template <class A> struct same<A, A> { static const bool yes = true; };

template <class T, bool W> using value_t = typename traits<T, W>::value;
template <class T, bool W> using real_t = typename traits<T, W>::real;

/* ---- result types, as src/core/types.c has them ---- */

template <class T> struct kind {
  typedef i64 total;
  typedef double mean, real;
  typedef i64 state_value;
};
template <> struct kind<u8> {
  typedef u64 total;
  typedef double mean, real;
  typedef u64 state_value;
};
template <> struct kind<u16> : kind<u8> {};
template <> struct kind<u32> : kind<u8> {};
template <> struct kind<u64> : kind<u8> {};
template <> struct kind<boolean> : kind<u8> {};
template <> struct kind<f16> {
  typedef f16 total, mean, real;
  typedef double state_value;
};
template <> struct kind<bf16> {
  typedef bf16 total, mean, real;
  typedef double state_value;
};
template <> struct kind<f32> {
  typedef f32 total, mean, real;
  typedef double state_value;
};
template <> struct kind<f64> {
  typedef f64 total, mean, real;
  typedef double state_value;
};
template <> struct kind<c64> {
  typedef c64 total, mean;
  typedef f32 real;
  typedef c128 state_value;
};
template <> struct kind<c128> {
  typedef c128 total, mean;
  typedef f64 real;
  typedef c128 state_value;
};

/* batch: the type that the total of a short batch fits in; running: the type of a thread's accumulated total. */
template <class T, bool WIDE> struct totals { typedef typename traits<T, WIDE>::value batch, running; };
template <bool WIDE> struct totals<i8, WIDE> {
  typedef int batch;
  typedef i64 running;
};
template <bool WIDE> struct totals<i16, WIDE> {
  typedef int batch;
  typedef i64 running;
};
template <bool WIDE> struct totals<i32, WIDE> { typedef i64 batch, running; };
template <bool WIDE> struct totals<u8, WIDE> {
  typedef u32 batch;
  typedef u64 running;
};
template <bool WIDE> struct totals<u16, WIDE> {
  typedef u32 batch;
  typedef u64 running;
};
template <bool WIDE> struct totals<u32, WIDE> { typedef u64 batch, running; };
template <bool WIDE> struct totals<boolean, WIDE> {
  typedef u32 batch;
  typedef u64 running;
};

/* The same of squares. */
template <class T, bool WIDE> struct squares { typedef typename traits<T, WIDE>::real batch, running; };
template <bool WIDE> struct squares<i8, WIDE> {
  typedef u32 batch;
  typedef u64 running;
};
template <bool WIDE> struct squares<u8, WIDE> : squares<i8, WIDE> {};
template <bool WIDE> struct squares<boolean, WIDE> : squares<i8, WIDE> {};
template <bool WIDE> struct squares<i16, WIDE> { typedef u64 batch, running; };
template <bool WIDE> struct squares<u16, WIDE> : squares<i16, WIDE> {};

NDR_DEVICE c128 widened(c64 x) {
  return {x.re, x.im};
}
NDR_DEVICE c128 widened(c128 x) {
  return x;
}
NDR_DEVICE double widened(float x) {
  return x;
}
NDR_DEVICE double widened(double x) {
  return x;
}
NDR_DEVICE i64 widened(int x) {
  return x;
}
NDR_DEVICE i64 widened(i64 x) {
  return x;
}
NDR_DEVICE u64 widened(u32 x) {
  return x;
}
NDR_DEVICE u64 widened(u64 x) {
  return x;
}

template <class F> struct wording {
  static const int words = 1;
  static NDR_DEVICE void save(F value, ndr_word *w) { w[0] = to_word(value); }
  static NDR_DEVICE F load(const ndr_word *w) { return from_word<F>(w[0]); }
};
template <> struct wording<c128> {
  static const int words = 2;
  static NDR_DEVICE void save(c128 value, ndr_word *w) { w[0] = to_word(value.re), w[1] = to_word(value.im); }
  static NDR_DEVICE c128 load(const ndr_word *w) { return {from_word<double>(w[0]), from_word<double>(w[1])}; }
};

/* ---- monoids ---- */

template <class V> NDR_DEVICE V unit(double re) {
  return (V)re;
}
template <> NDR_DEVICE c64 unit<c64>(double re) {
  return {(float)re, 0};
}
template <> NDR_DEVICE c128 unit<c128>(double re) {
  return {re, 0};
}

struct add {
  template <class V> static NDR_DEVICE V identity() { return unit<V>(0); }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a + b; }
  /* Signed sums and products wrap around. */
  static NDR_DEVICE i64 join(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
};
struct multiply {
  template <class V> static NDR_DEVICE V identity() { return unit<V>(1); }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a * b; }
  static NDR_DEVICE i64 join(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
};
struct either {
  template <class V> static NDR_DEVICE V identity() { return 0; }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a | b; }
};
struct both {
  template <class V> static NDR_DEVICE V identity() { return 1; }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a & b; }
};
/* min (SIGN < 0) and max (SIGN > 0). Under SKIP, NaN means that nothing was seen and loses to everything. */
template <int SIGN, bool SKIP> struct extreme {
  template <class V> static NDR_DEVICE V identity() {
    if (SKIP && is_float<V>::yes) return (V)NDR_NAN;
    return SIGN < 0 ? limits<V>::most() : limits<V>::least();
  }
  template <class V> static NDR_DEVICE V join(V a, V b) { return (SIGN < 0) == (b < a) ? b : a; }
  static NDR_DEVICE float join(float a, float b) {
    if (SKIP) return SIGN < 0 ? machine::minimum_number(a, b) : machine::maximum_number(a, b);
    return SIGN < 0 ? machine::minimum(a, b) : machine::maximum(a, b);
  }
  static NDR_DEVICE double join(double a, double b) {
    if (SKIP) return SIGN < 0 ? machine::minimum_number(a, b) : machine::maximum_number(a, b);
    return SIGN < 0 ? machine::minimum(a, b) : machine::maximum(a, b);
  }
};
/* The largest magnitude. Its identity is 0. */
template <bool SKIP> struct largest : extreme<1, SKIP> {
  template <class V> static NDR_DEVICE V identity() { return 0; }
};

template <class J, int N> struct tree {
  template <class V> static NDR_DEVICE V join(const V *x) {
    return J::join(tree<J, N / 2>::join(x), tree<J, N - N / 2>::join(x + N / 2));
  }
};
template <class J> struct tree<J, 1> {
  template <class V> static NDR_DEVICE V join(const V *x) { return x[0]; }
};

/* ---- maps ---- */

struct keep {
  template <class B, class V> static NDR_DEVICE B of(V x, const ndr_params &) { return value_of<B>(x); }
};
struct absolute {
  template <class B, class V> static NDR_DEVICE B of(V x, const ndr_params &) { return magnitude<B>(x); }
};
struct squared {
  template <class B, class V> static NDR_DEVICE B of(V x, const ndr_params &) { return square<B>(x); }
};
struct nonzero {
  template <class B, class V> static NDR_DEVICE B of(V x, const ndr_params &) { return (B)is_nonzero(x); }
};
struct present {
  template <class B, class V> static NDR_DEVICE B of(V x, const ndr_params &) { return (B)!is_nan(x); }
};
/* Whether x is nonzero or whether it is NaN, as the launch's limit says. */
struct beyond {
  template <class B, class V> static NDR_DEVICE B of(V x, const ndr_params &p) { return (B)is_beyond(x, p.limit); }
};

/* ---- finalizing ---- */

struct plain {
  template <class F> static NDR_DEVICE F of(F x) { return x; }
};
struct root {
  static NDR_DEVICE double of(double x) { return sqrt(x); }
};

/* The total of a vector's bytes, signed or unsigned as `start` is, plus `start`. */
NDR_DEVICE int vector_total(const ndr_vector &p, int start) {
  int t = start;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4((int)p.word[w], 0x01010101, t);
  return t;
}
NDR_DEVICE u32 vector_total(const ndr_vector &p, u32 start) {
  u32 t = start;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4(p.word[w], 0x01010101u, t);
  return t;
}
/* The total of the squares of a vector's bytes, which are signed or unsigned as the second argument is. */
NDR_DEVICE int vector_squares(const ndr_vector &p, int) {
  int t = 0;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4((int)p.word[w], (int)p.word[w], t);
  return t;
}
NDR_DEVICE u32 vector_squares(const ndr_vector &p, u32) {
  u32 t = 0;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4(p.word[w], p.word[w], t);
  return t;
}

/* For each byte of a word 1 if it is not 0. Bit 7 of ((b & 127) + 127) | b says it of byte b; no carry leaves a byte.
 */
NDR_DEVICE u32 nonzero_bytes(u32 word) {
  return ((word | ((word & 0x7f7f7f7fu) + 0x7f7f7f7fu)) & 0x80808080u) >> 7;
}
/* How many bytes of a vector are not 0. */
NDR_DEVICE u32 vector_nonzero(const ndr_vector &p) {
  u32 t = 0;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4(nonzero_bytes(p.word[w]), 0x01010101u, t);
  return t;
}
NDR_DEVICE bool vector_any(const ndr_vector &p) {
  return (p.word[0] | p.word[1] | p.word[2] | p.word[3]) != 0;
}

/* Bytes that are added four at a time: of() gives those of a word as unsigned numbers, each its element plus `bias`. */
template <class T> struct unsigned_bytes { static const bool yes = false; };
template <> struct unsigned_bytes<u8> {
  static const bool yes = true;
  static const int bias = 0;
  static NDR_DEVICE u32 of(u32 word) { return word; }
};
template <> struct unsigned_bytes<i8> {
  static const bool yes = true;
  static const int bias = 128;
  static NDR_DEVICE u32 of(u32 word) { return word ^ 0x80808080u; }
};
template <> struct unsigned_bytes<boolean> {
  static const bool yes = true;
  static const int bias = 0;
  static NDR_DEVICE u32 of(u32 word) { return nonzero_bytes(word); }
};

/* Which operators fold a vector of T without unpacking it, and how. */
template <class T, class MAP, class JOIN> struct packing {
  static const bool yes = false;
  template <class A> static NDR_DEVICE A of(const ndr_vector &) { return A(); }
};
template <> struct packing<i8, keep, add> {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)vector_total(p, 0); }
};
template <> struct packing<u8, keep, add> {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)vector_total(p, 0u); }
};
template <> struct packing<i8, squared, add> {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)vector_squares(p, 0); }
};
template <> struct packing<u8, squared, add> {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)vector_squares(p, 0u); }
};
struct packing_nonzero {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)vector_nonzero(p); }
};
struct packing_any {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)vector_any(p); }
};
struct packing_all {
  static const bool yes = true;
  template <class A> static NDR_DEVICE A of(const ndr_vector &p) { return (A)(vector_nonzero(p) == 16); }
};
template <> struct packing<boolean, keep, add> : packing_nonzero {};
template <> struct packing<boolean, squared, add> : packing_nonzero {};
template <> struct packing<i8, beyond, add> : packing_nonzero {};
template <> struct packing<u8, beyond, add> : packing_nonzero {};
template <> struct packing<boolean, beyond, add> : packing_nonzero {};
template <> struct packing<i8, nonzero, either> : packing_any {};
template <> struct packing<u8, nonzero, either> : packing_any {};
template <> struct packing<boolean, nonzero, either> : packing_any {};
template <> struct packing<i8, nonzero, both> : packing_all {};
template <> struct packing<u8, nonzero, both> : packing_all {};
template <> struct packing<boolean, nonzero, both> : packing_all {};

#endif
