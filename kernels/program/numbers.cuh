/* What the nodes of programs compute (lang/program.h), one function for each kind of node that C++ has no operator for.
 * src/cuda/compile/nodes.c writes the calls. */
#ifndef NDR_NUMBERS_CUH
#define NDR_NUMBERS_CUH

#include "algebra.cuh"

/* Integers of a dtype are computed without a sign in 64 bits and cut, so that they wrap. */
template <class V> struct number {
  static NDR_DEVICE V sum(V a, V b) { return (V)((u64)a + (u64)b); }
  static NDR_DEVICE V difference(V a, V b) { return (V)((u64)a - (u64)b); }
  static NDR_DEVICE V product(V a, V b) { return (V)((u64)a * (u64)b); }
  static NDR_DEVICE V least(V a, V b) {
    a = machine::hide_negation(a), b = machine::hide_negation(b);
    return b < a ? b : a;
  }
  static NDR_DEVICE V most(V a, V b) {
    a = machine::hide_negation(a), b = machine::hide_negation(b);
    return b > a ? b : a;
  }
  static NDR_DEVICE V negative(V a) { return (V)(0 - (u64)a); }
  static NDR_DEVICE V size(V a) { return a < 0 ? negative(a) : a; }
};
/* Products are rounded: the compiler may not fuse them with a sum that follows. A step of poly is rounded once. */
template <class V> struct real_number {
  static NDR_DEVICE V sum(V a, V b) { return a + b; }
  static NDR_DEVICE V difference(V a, V b) { return a - b; }
  static NDR_DEVICE V product(V a, V b) { return machine::rounded_product(a, b); }
  static NDR_DEVICE V step(V a, V b, V c) { return machine::fused(a, b, c); }
  static NDR_DEVICE V quotient(V a, V b) { return a / b; }
  static NDR_DEVICE V least(V a, V b) { return machine::minimum(a, b); }
  static NDR_DEVICE V most(V a, V b) { return machine::maximum(a, b); }
  static NDR_DEVICE V negative(V a) { return -a; }
};
/* Long functions are called: inlined for each of 16 elements they would take seconds to compile. */
template <> struct number<float> : real_number<float> {
  static NDR_DEVICE float size(float a) { return fabsf(a); }
  static NDR_DEVICE float root(float a) { return sqrtf(a); }
  static NDR_DEVICE float exponential(float a) { return expf(a); }
  static NDR_DEVICE float logarithm(float a) { return logf(a); }
  NDR_CALLED float sine(float a) { return sinf(a); }
  NDR_CALLED float cosine(float a) { return cosf(a); }
  static NDR_DEVICE float floored(float a) { return floorf(a); }
  NDR_CALLED float power(float a, float b) { return powf(a, b); }
};
template <> struct number<double> : real_number<double> {
  static NDR_DEVICE double size(double a) { return fabs(a); }
  static NDR_DEVICE double root(double a) { return sqrt(a); }
  NDR_CALLED double exponential(double a) { return exp(a); }
  NDR_CALLED double logarithm(double a) { return log(a); }
  NDR_CALLED double sine(double a) { return sin(a); }
  NDR_CALLED double cosine(double a) { return cos(a); }
  static NDR_DEVICE double floored(double a) { return floor(a); }
  NDR_CALLED double power(double a, double b) { return pow(a, b); }
};
template <class R> struct number<complex<R>> {
  typedef complex<R> V;
  typedef number<R> part;
  static NDR_DEVICE V sum(V a, V b) { return a + b; }
  static NDR_DEVICE V difference(V a, V b) { return a - b; }
  static NDR_DEVICE V product(V a, V b) {
    return {part::product(a.re, b.re) - part::product(a.im, b.im),
            part::product(a.re, b.im) + part::product(a.im, b.re)};
  }
  /* Smith's way (1962), which divides by neither square, in f64. */
  NDR_CALLED V quotient(V a, V b) {
    c128 x = value_of<c128>(a), y = value_of<c128>(b), q;
    if (y.re == 0 && y.im == 0) {
      q = {x.re / fabs(y.re), x.im / fabs(y.re)};
    } else if (fabs(y.re) >= fabs(y.im)) {
      double ratio = y.im / y.re, divisor = y.re + y.im * ratio;
      q = {(x.re + x.im * ratio) / divisor, (x.im - x.re * ratio) / divisor};
    } else {
      double ratio = y.re / y.im, divisor = y.im + y.re * ratio;
      q = {(x.re * ratio + x.im) / divisor, (x.im * ratio - x.re) / divisor};
    }
    return value_of<V>(q);
  }
  static NDR_DEVICE V negative(V a) { return {-a.re, -a.im}; }
  NDR_CALLED R size(V a) { return magnitude<R>(a); }
};

/* Conversions, as C's. Floats beyond the limits of 64 bits give these limits, and NaN gives 0. */
NDR_DEVICE i64 integer_of(double x, i64) {
  return x != x ? 0 : x >= 0x1p63 ? limits<i64>::most() : x < -0x1p63 ? limits<i64>::least() : (i64)x;
}
NDR_DEVICE u64 integer_of(double x, u64) {
  return !(x > 0) ? 0 : x >= 0x1p64 ? limits<u64>::most() : (u64)x;
}
template <class TO> struct conversion {
  typedef typename choose<(TO)-1 < (TO)0, i64, u64>::type integer;
  template <class V> static NDR_DEVICE TO of(V x) {
    if constexpr (is_float<V>::yes && !is_float<TO>::yes)
      return (TO)integer_of((double)x, (integer)0);
    else
      return (TO)x;
  }
  template <class R> static NDR_DEVICE TO of(complex<R> x) { return of(x.re); }
};
template <> struct conversion<bool> {
  template <class V> static NDR_DEVICE bool of(V x) { return is_nonzero(x); }
};
template <class R> struct conversion<complex<R>> {
  template <class V> static NDR_DEVICE complex<R> of(V x) { return {(R)x, 0}; }
  template <class Q> static NDR_DEVICE complex<R> of(complex<Q> x) { return {(R)x.re, (R)x.im}; }
};

template <class V> NDR_DEVICE V real_part(V x) {
  return x;
}
template <class R> NDR_DEVICE R real_part(complex<R> x) {
  return x.re;
}
template <class V> NDR_DEVICE V imaginary_part(V) {
  return 0;
}
template <class R> NDR_DEVICE R imaginary_part(complex<R> x) {
  return x.im;
}
template <class V> NDR_DEVICE V conjugate(V x) {
  return x;
}
template <class R> NDR_DEVICE complex<R> conjugate(complex<R> x) {
  return {x.re, -x.im};
}
template <class V> NDR_DEVICE bool equal(V a, V b) {
  return a == b;
}
template <class R> NDR_DEVICE bool equal(complex<R> a, complex<R> b) {
  return a.re == b.re && a.im == b.im;
}

#endif
