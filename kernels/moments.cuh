/* var and std: the accumulators and states of moments, and exact sums for small integers. */
#ifndef NDR_MOMENTS_CUH
#define NDR_MOMENTS_CUH

#include "algebra.cuh"

/* ---- var, std: count, mean, sum of squared distances (Chan, Golub and LeVeque, 1979) ---- */

template <class V, class R> struct moments {
  R n;
  V mean;
  R m2;
};

NDR_DEVICE float fraction(float a, float b) {
  return machine::divide_fast(a, b);
}
NDR_DEVICE double fraction(double a, double b) {
  return a / b;
}

template <class V, class R> NDR_DEVICE void join_moments(moments<V, R> &a, const moments<V, R> &b) {
  if (b.n == 0) return;
  if (a.n == 0) {
    a = b;
    return;
  }
  R total = a.n + b.n, weight = fraction(b.n, total);
  V delta = b.mean - a.mean;
  a.mean = a.mean + scale(delta, weight);
  a.m2 += b.m2 + square<R>(delta) * (a.n * weight);
  a.n = total;
}

template <class T, bool WIDE, bool SKIP, bool ROOT> struct op_moments {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef real_t<T, WIDE> real;
  static const bool is_complex =
      sizeof(value) == 2 * sizeof(real) && sizeof(T) >= 8 && sizeof(typename kind<T>::state_value) == 16;
  typedef typename choose<is_complex, value, real>::type point;
  typedef typename choose<is_complex, c128, double>::type state_point;
  typedef moments<point, real> Accumulator;
  typedef moments<state_point, double> State;
  typedef typename kind<T>::real result;
  static const bool indexed = false, packed = false, sums_bytes = false, single = true, rooted = true, counting = false;
  static const int words = wording<state_point>::words + 2;
  static NDR_DEVICE Accumulator identity() { return {0, unit<point>(0), 0}; }
  static NDR_DEVICE State state_identity() { return {0, unit<state_point>(0), 0}; }
  /* Computes the batch's moments in two passes over the registers, then joins them. */
  template <int N> static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64, i64, const ndr_params &) {
    point b[N];
    real d[N], n = N;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool skip = SKIP && is_nan(x[i]);
      b[i] = skip ? unit<point>(0) : value_of<point>(x[i]);
      if (skip) n -= 1;
    }
    if (SKIP && n == 0) return;
    point mean = scale(tree<add, N>::join(b), SKIP ? (real)1 / n : (real)1 / N);
#pragma unroll
    for (int i = 0; i < N; i++) d[i] = SKIP && is_nan(x[i]) ? (real)0 : square<real>(b[i] - mean);
    join_moments(a, Accumulator{n, mean, tree<add, N>::join(d)});
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    join_moments(a, b);
  }
  NDR_CALLED State joined(State a, State b) {
    join_moments(a, b);
    return a;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a = joined(a, b);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return {(double)a.n, widened(a.mean), (double)a.m2};
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    w[0] = to_word(a.n);
    wording<state_point>::save(a.mean, w + 1);
    w[words - 1] = to_word(a.m2);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    return {from_word<double>(w[0]), wording<state_point>::load(w + 1), from_word<double>(w[words - 1])};
  }
  NDR_CALLED double finish(State a, double ddof) {
    double divisor = a.n - ddof > 0 ? a.n - ddof : 0;
    double variance = a.n == 0 ? NDR_NAN : a.m2 / divisor;
    return ROOT ? sqrt(variance) : variance;
  }
};

/* Integers of 8 and 16 bits: the count, the sum and the sum of squares, all exact. */
template <class SUM, class SQUARES> struct exact_moments {
  SQUARES squares;
  SUM sum;
  u32 n;
};

/* NARROW: for NDR_NARROW_ROWS elements at most, whose sum, and the squares of bytes, fit in 32 bits. */
template <class T, bool ROOT, bool NARROW = false> struct op_exact_moments : op_moments<T, false, false, ROOT> {
  typedef op_moments<T, false, false, ROOT> base;
  typedef typename base::value value;
  typedef typename base::State State;
  typedef typename choose<sizeof(T) == 1, u32, u64>::type square_type;
  typedef typename choose<NARROW, int, i64>::type sum_type;
  typedef exact_moments<sum_type, typename choose<NARROW, square_type, u64>::type> Accumulator;
  static const bool packed = packing<T, keep, add>::yes && !same<T, boolean>::yes;
  static NDR_DEVICE Accumulator identity() { return {0, 0, 0}; }
  template <int N> static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64, i64, const ndr_params &) {
    square_type b[N];
#pragma unroll
    for (int i = 0; i < N; i++) b[i] = (square_type)(u32)(x[i] * x[i]);
    a.sum += (sum_type)tree<add, N>::join(x);
    a.squares += tree<add, N>::join(b);
    a.n += N;
  }
  static NDR_DEVICE void fold_vector(Accumulator &a, const ndr_vector &p) {
    a.sum += vector_total(p, (value)0);
    a.squares += (u64)vector_squares(p, (value)0);
    a.n += 16;
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    a.sum += b.sum, a.squares += b.squares, a.n += b.n;
  }
  /* Let m be the mean rounded to an integer. The squares about m are exact, and at least twice what is subtracted. */
  NDR_CALLED State widen(Accumulator a) {
    if (a.n == 0) return base::state_identity();
    double n = a.n, mean = (double)a.sum / n;
    i64 m = (i64)rint(mean), rest = a.sum - m * (i64)a.n;
    i64 about = (i64)a.squares - 2 * m * a.sum + m * m * (i64)a.n;
    return {n, mean, (double)about - (double)rest * ((double)rest / n)};
  }
};

template <class T, bool W, bool S, bool ROOT> struct moments_of { typedef op_moments<T, W, S, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<i8, W, S, ROOT> { typedef op_exact_moments<i8, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<u8, W, S, ROOT> { typedef op_exact_moments<u8, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<i16, W, S, ROOT> { typedef op_exact_moments<i16, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<u16, W, S, ROOT> { typedef op_exact_moments<u16, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<boolean, W, S, ROOT> {
  typedef op_exact_moments<boolean, ROOT> type;
};
template <class T, bool W, bool S> using op_var = typename moments_of<T, W, S, false>::type;
template <class T, bool W, bool S> using op_std = typename moments_of<T, W, S, true>::type;

#endif
