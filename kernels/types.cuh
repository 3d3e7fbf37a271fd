/* Storage types of the elements, the values they become in registers, and the sizes of a block. */
#ifndef NDR_TYPES_CUH
#define NDR_TYPES_CUH

#include "machine.cuh"

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct boolean {
  u8 byte;
};
template <class R> struct complex { R re, im; };
typedef complex<float> c64;
typedef complex<double> c128;

/* Threads of a block and of a warp. */
enum { NDR_BLOCK = 256, NDR_BLOCK_LOG = 8, NDR_WARP = 32, NDR_WARP_LOG = 5 };

/* value: the type in registers; real: the type of means and magnitudes; WIDE: both are f64 where f32 is the default. */
template <class T, bool WIDE = false> struct traits {
  typedef T value;
  typedef double real;
};
template <> struct traits<i8> {
  typedef int value;
  typedef double real;
};
template <> struct traits<i16> {
  typedef int value;
  typedef double real;
};
template <> struct traits<u8> {
  typedef unsigned value;
  typedef double real;
};
template <> struct traits<u16> {
  typedef unsigned value;
  typedef double real;
};
template <> struct traits<boolean> {
  typedef unsigned value;
  typedef double real;
};
template <> struct traits<f16> { typedef float value, real; };
template <> struct traits<bf16> { typedef float value, real; };
template <> struct traits<f32> { typedef float value, real; };
template <> struct traits<c64> {
  typedef c64 value;
  typedef float real;
};
template <> struct traits<f16, true> { typedef double value, real; };
template <> struct traits<bf16, true> { typedef double value, real; };
template <> struct traits<f32, true> { typedef double value, real; };
template <> struct traits<c64, true> {
  typedef c128 value;
  typedef double real;
};
template <class T> struct traits<T, true> : traits<T, false> {};

template <class V, class T> NDR_DEVICE V value_of(T x) {
  return (V)x;
}
template <class V> NDR_DEVICE V value_of(boolean x) {
  return (V)(x.byte != 0);
}
template <class V> NDR_DEVICE V value_of(f16 x) {
  return (V)machine::half_to_float(x.bits);
}
template <class V> NDR_DEVICE V value_of(bf16 x) {
  return (V)machine::float_of((u32)x.bits << 16);
}
template <class V, class R> NDR_DEVICE V value_of(complex<R> x) {
  typedef decltype(V().re) part;
  return V{(part)x.re, (part)x.im};
}

template <class R> NDR_DEVICE complex<R> operator+(complex<R> a, complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R> NDR_DEVICE complex<R> operator-(complex<R> a, complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R> NDR_DEVICE complex<R> operator*(complex<R> a, complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> NDR_DEVICE complex<R> scale(complex<R> a, R s) {
  return {a.re * s, a.im * s};
}
NDR_DEVICE float scale(float a, float s) {
  return a * s;
}
NDR_DEVICE double scale(double a, double s) {
  return a * s;
}

template <class V> NDR_DEVICE bool is_nan(V) {
  return false;
}
NDR_DEVICE bool is_nan(float x) {
  return x != x;
}
NDR_DEVICE bool is_nan(double x) {
  return x != x;
}
template <class R> NDR_DEVICE bool is_nan(complex<R> x) {
  return x.re != x.re || x.im != x.im;
}

template <class V> NDR_DEVICE bool is_nonzero(V x) {
  return x != 0;
}
template <class R> NDR_DEVICE bool is_nonzero(complex<R> x) {
  return x.re != 0 || x.im != 0;
}

/* Whether |x| is not at most the limit. With limit 0 that is whether x is nonzero, with limit infinity whether it is
 * NaN. Either part of a complex number decides. Integers are tested for nonzero whatever the limit is. */
template <class V> NDR_DEVICE bool is_beyond(V x, float) {
  return x != 0;
}
NDR_DEVICE bool is_beyond(float x, float limit) {
  return !(fabsf(x) <= limit);
}
NDR_DEVICE bool is_beyond(double x, float limit) {
  return !(fabs(x) <= (double)limit);
}
template <class R> NDR_DEVICE bool is_beyond(complex<R> x, float limit) {
  return is_beyond(x.re, limit) || is_beyond(x.im, limit);
}

/* |x| and |x|^2 in the real type R. */
template <class R, class V> NDR_DEVICE R magnitude(V x) {
  return x < 0 ? -(R)x : (R)x;
}
template <class R> NDR_DEVICE R magnitude(float x) {
  return (R)fabsf(x);
}
template <class R> NDR_DEVICE R magnitude(double x) {
  return (R)fabs(x);
}
template <class R> NDR_DEVICE R magnitude(complex<float> x) {
  return (R)sqrt((double)x.re * x.re + (double)x.im * x.im);
}
template <class R> NDR_DEVICE R magnitude(complex<double> x) {
  return hypot(x.re, x.im);
}
template <class R, class V> NDR_DEVICE R square(V x) {
  return (R)x * (R)x;
}
template <class R, class P> NDR_DEVICE R square(complex<P> x) {
  return (R)x.re * (R)x.re + (R)x.im * (R)x.im;
}
/* The inner product of the plane, where |x|^2 is that of x with itself. */
template <class R> NDR_DEVICE R inner_product(R a, R b) {
  return a * b;
}
template <class R> NDR_DEVICE R inner_product(complex<R> a, complex<R> b) {
  return a.re * b.re + a.im * b.im;
}

/* A word of a state holds an integer, or the bits of an f64. */
NDR_DEVICE ndr_word to_word(i64 x) {
  return (ndr_word)x;
}
NDR_DEVICE ndr_word to_word(u64 x) {
  return x;
}
NDR_DEVICE ndr_word to_word(double x) {
  return machine::bits_of(x);
}
template <class V> NDR_DEVICE V from_word(ndr_word w) {
  return (V)w;
}
template <> NDR_DEVICE double from_word<double>(ndr_word w) {
  return machine::double_of(w);
}

/* Rounds a result to bf16. Truncating to f32 with a sticky last bit first keeps it from being rounded twice. */
NDR_DEVICE u16 bf16_bits(double value) {
  float cut = machine::truncate_to_float(value);
  u32 bits = machine::bits_of(cut);
  if (value != value) return 0x7fc0;
  if ((double)cut != value) bits |= 1u;
  if ((bits & 0x7f800000u) == 0x7f800000u) return (u16)(bits >> 16);
  return (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
template <class V> NDR_DEVICE void store_value(i8 *out, V x) {
  *out = (i8)x;
}
template <class T, class V> NDR_DEVICE void store_value(T *out, V x) {
  *out = (T)x;
}
template <class V> NDR_DEVICE void store_value(boolean *out, V x) {
  out->byte = x != 0;
}
NDR_DEVICE void store_value(f16 *out, double x) {
  out->bits = machine::double_to_half(x);
}
NDR_DEVICE void store_value(f16 *out, float x) {
  out->bits = machine::float_to_half(x);
}
NDR_DEVICE void store_value(bf16 *out, double x) {
  out->bits = bf16_bits(x);
}
NDR_DEVICE void store_value(bf16 *out, float x) {
  out->bits = machine::float_to_bf16(x);
}
template <class R> NDR_DEVICE void store_value(complex<R> *out, c128 x) {
  *out = complex<R>{(R)x.re, (R)x.im};
}

#endif
