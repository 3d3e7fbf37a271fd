/* Parts of programs whose values have weights. Their states are f64 (core/state.h), and so is what threads accumulate.
 */
#ifndef NDR_WEIGHTED_CUH
#define NDR_WEIGHTED_CUH

#include "ops.cuh"

/* What weighted parts have in common: values and weights, in f64. */
template <class T> struct weighing {
  typedef typename kind<T>::state_value given; /* integers come as f64 */
  typedef typename choose<sizeof(given) == 16, c128, double>::type point;
  typedef typename traits<T>::value value;
  template <int N> struct batch {
    value values[N];
    bool mask[N];
    double weight[N];
  };
  static const bool indexed = false;
  template <bool SKIP, int N> static NDR_DEVICE void read(const batch<N> &x, point (&v)[N], double (&w)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool counts = x.mask[i] && !(SKIP && is_nan(x.values[i]));
      v[i] = counts ? value_of<point>(x.values[i]) : unit<point>(0);
      w[i] = counts ? x.weight[i] : 0;
    }
  }
};

template <class V> struct weighted_total {
  V sum;
  double weight;
};

/* sum, mean and norm2: the sum of w x or w |x|^2, and that of w, which only the state of mean has. */
template <class T, bool SKIP, bool SQUARED, bool COUNTED> struct weighted_sum : weighing<T> {
  typedef weighing<T> base;
  typedef typename choose<SQUARED, double, typename base::point>::type sum_type;
  typedef typename choose<COUNTED, weighted_total<sum_type>, sum_type>::type Accumulator;
  typedef Accumulator State;
  static const int words = wording<sum_type>::words + COUNTED;
  static NDR_DEVICE Accumulator identity() {
    if constexpr (COUNTED)
      return {unit<sum_type>(0), 0};
    else
      return unit<sum_type>(0);
  }
  static NDR_DEVICE State state_identity() { return identity(); }
  template <int N, int>
  static NDR_DEVICE void fold(Accumulator &a, const typename base::template batch<N> &x, i64, i64, i64,
                              const ndr_params &) {
    typename base::point v[N];
    double w[N];
    sum_type b[N];
    base::template read<SKIP>(x, v, w);
#pragma unroll
    for (int i = 0; i < N; i++) {
      if constexpr (SQUARED)
        b[i] = w[i] * square<double>(v[i]);
      else
        b[i] = scale(v[i], w[i]);
    }
    if constexpr (COUNTED)
      join(a, Accumulator{tree<add, N>::join(b), tree<add, N>::join(w)});
    else
      join(a, tree<add, N>::join(b));
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    if constexpr (COUNTED)
      a = {a.sum + b.sum, a.weight + b.weight};
    else
      a = a + b;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    join(a, b);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return a;
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    if constexpr (COUNTED) {
      wording<sum_type>::save(a.sum, w);
      w[words - 1] = to_word(a.weight);
    } else {
      wording<sum_type>::save(a, w);
    }
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    if constexpr (COUNTED)
      return {wording<sum_type>::load(w), from_word<double>(w[words - 1])};
    else
      return wording<sum_type>::load(w);
  }
  static NDR_DEVICE sum_type finish(const State &a, double) {
    if constexpr (COUNTED)
      return op_mean<f64, false, false>::divided(a.sum, a.weight == 0 ? NDR_NAN : a.weight);
    else
      return SQUARED ? root_of(a) : a;
  }
  static NDR_DEVICE double root_of(double x) {
    return sqrt(x);
  }
  static NDR_DEVICE c128 root_of(c128 x) {
    return x;
  }
};

/* var and std: the sum of the weights, the mean, the sum of w |x - mean|^2, and for reliabilities that of w^2. */
template <class V, bool RELIABLE> struct weighted_moments : moments<V, double> { double squares; };
template <class V> struct weighted_moments<V, false> : moments<V, double> {};

template <class T, bool SKIP, bool ROOT, bool RELIABLE> struct weighted_var : weighing<T> {
  typedef weighing<T> base;
  typedef typename base::point point;
  typedef weighted_moments<point, RELIABLE> Accumulator;
  typedef Accumulator State;
  static const int points = wording<point>::words, words = points + 2 + RELIABLE;
  static NDR_DEVICE Accumulator identity() {
    Accumulator a;
    a.n = a.m2 = 0, a.mean = unit<point>(0);
    if constexpr (RELIABLE) a.squares = 0;
    return a;
  }
  static NDR_DEVICE State state_identity() { return identity(); }
  /* As op_moments::fold: the moments of the batch, then those of both. */
  template <int N, int>
  static NDR_DEVICE void fold(Accumulator &a, const typename base::template batch<N> &x, i64, i64, i64,
                              const ndr_params &) {
    point v[N], sums[N];
    double w[N], d[N];
    Accumulator b;
    base::template read<SKIP>(x, v, w);
#pragma unroll
    for (int i = 0; i < N; i++) sums[i] = scale(v[i], w[i]);
    b.n = tree<add, N>::join(w);
    b.mean = scale(tree<add, N>::join(sums), b.n == 0 ? 0 : 1 / b.n);
#pragma unroll
    for (int i = 0; i < N; i++) d[i] = w[i] * square<double>(v[i] - b.mean);
    b.m2 = tree<add, N>::join(d);
    if constexpr (RELIABLE) {
#pragma unroll
      for (int i = 0; i < N; i++) d[i] = w[i] * w[i];
      b.squares = tree<add, N>::join(d);
    }
    join(a, b);
  }
  /* A batch whose weights add up to 0 counts if an element is NaN or infinite: its m2 is then NaN (core/state.h). */
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    if constexpr (RELIABLE) a.squares += b.squares;
    if (b.n == 0 && b.m2 == 0) return;
    if (a.n == 0) {
      a.n = b.n, a.mean = b.mean, a.m2 += b.m2;
      return;
    }
    double total = a.n + b.n, share = b.n / total;
    point delta = b.mean - a.mean;
    a.mean = a.mean + scale(delta, share);
    a.m2 += b.m2 + square<double>(delta) * (a.n * share);
    a.n = total;
  }
  NDR_CALLED State joined(State a, State b) {
    join(a, b);
    return a;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a = joined(a, b);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return a;
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    w[0] = to_word(a.n);
    wording<point>::save(a.mean, w + 1);
    w[points + 1] = to_word(a.m2);
    if constexpr (RELIABLE) w[points + 2] = to_word(a.squares);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    State a;
    a.n = from_word<double>(w[0]);
    a.mean = wording<point>::load(w + 1);
    a.m2 = from_word<double>(w[points + 1]);
    if constexpr (RELIABLE) a.squares = from_word<double>(w[points + 2]);
    return a;
  }
  NDR_CALLED double finish(State a, double ddof) {
    double taken = ddof, divisor;
    if constexpr (RELIABLE) taken = a.n == 0 ? 0 : ddof * (a.squares / a.n);
    divisor = a.n - taken > 0 ? a.n - taken : 0;
    double variance = a.n == 0 ? NDR_NAN : a.m2 / divisor;
    return ROOT ? sqrt(variance) : variance;
  }
};

#endif
