/* The ladder's operators: all that a rung needs to know of what it computes. */
#ifndef LADDER_OPS_CUH
#define LADDER_OPS_CUH

#include "machine.cuh"

namespace ladder {

/* Integers wrap around, as they do on a GPU. */
template <class T> LADDER_BOTH T plus(T a, T b) {
  return a + b;
}
template <> LADDER_BOTH int plus(int a, int b) {
  return (int)((unsigned)a + (unsigned)b);
}
template <class T> LADDER_BOTH T times(T a, T b) {
  return a * b;
}
template <> LADDER_BOTH int times(int a, int b) {
  return (int)((unsigned)a * (unsigned)b);
}

template <class T> struct most {
  static LADDER_BOTH T value() { return (T)__builtin_huge_val(); }
  static LADDER_BOTH T negative() { return -(T)__builtin_huge_val(); }
};
template <> struct most<int> {
  static LADDER_BOTH int value() { return 0x7fffffff; }
  static LADDER_BOTH int negative() { return -0x7fffffff - 1; }
};

template <class T> struct sum {
  using type = T;
  static LADDER_BOTH T identity() { return 0; }
  static LADDER_BOTH T map(T x) { return x; }
  static LADDER_BOTH T combine(T a, T b) { return plus(a, b); }
  static LADDER_DEVICE void atomic(T *at, T value) { atomic_plus(at, value); }
};

template <class T> struct product {
  using type = T;
  static LADDER_BOTH T identity() { return 1; }
  static LADDER_BOTH T map(T x) { return x; }
  static LADDER_BOTH T combine(T a, T b) { return times(a, b); }
  static LADDER_DEVICE void atomic(T *at, T value) { atomic_times(at, value); }
};

template <class T> struct smallest {
  using type = T;
  static LADDER_BOTH T identity() { return most<T>::value(); }
  static LADDER_BOTH T map(T x) { return x; }
  static LADDER_BOTH T combine(T a, T b) { return b < a ? b : a; }
  static LADDER_DEVICE void atomic(T *at, T value) { atomic_smaller(at, value); }
};

template <class T> struct largest {
  using type = T;
  static LADDER_BOTH T identity() { return most<T>::negative(); }
  static LADDER_BOTH T map(T x) { return x; }
  static LADDER_BOTH T combine(T a, T b) { return a < b ? b : a; }
  static LADDER_DEVICE void atomic(T *at, T value) { atomic_larger(at, value); }
};

/* 2x^3 + 2x^2 - 4x - 5 by Horner's rule: six operations an element, which still hide behind the reading. */
template <class T> struct polynomial : sum<T> {
  static LADDER_BOTH T map(T x) {
    T p = plus(times((T)2, x), (T)2);
    p = plus(times(p, x), (T)-4);
    return plus(times(p, x), (T)-5);
  }
};

/* The same operator over results that were mapped before. */
template <class OP> struct mapped : OP {
  static LADDER_BOTH typename OP::type map(typename OP::type x) { return x; }
};

} // namespace ladder
#endif
