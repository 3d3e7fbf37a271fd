/* Parts of programs whose values have weights. Their states are f64 (core/state.h). W is what weights come as: float
 * for elements of up to 32 bits with f32 weights, unless f64 is asked for, and otherwise double. A batch is computed in
 * W and added to f64 totals. Where its terms leave the range in which f32 is as good as any, it is computed in f64
 * instead: weights may be of any size. */
#ifndef NDR_WEIGHTED_CUH
#define NDR_WEIGHTED_CUH

#include "ops.cuh"

/* What weighted parts have in common: values and weights of a batch, as points of W's precision, 0 where they do not
 * count. */
template <class T, class W> struct weighing {
  typedef typename kind<T>::state_value given; /* integers come as f64 */
  typedef typename choose<sizeof(given) == 16, c128, double>::type wide;
  typedef typename choose<sizeof(given) == 16, c128, W>::type point;
  typedef typename traits<T>::value value;
  template <int N> struct batch {
    value values[N];
    bool mask[N];
    W weight[N];
  };
  template <int N> struct points {
    point v[N];
    W w[N];
  };
  static const bool indexed = false, narrow = same<W, float>::yes;
  template <bool SKIP, int N> static NDR_DEVICE points<N> read(const batch<N> &x) {
    points<N> p;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool counts = x.mask[i] && !(SKIP && is_nan(x.values[i]));
      p.v[i] = counts ? value_of<point>(x.values[i]) : unit<point>(0);
      p.w[i] = counts ? x.weight[i] : (W)0;
    }
    return p;
  }
};

/* ---- ranges ---- */

/* Whether a sum of products has lost nothing to the limits of f32: it is large enough that products below them would
 * not count, and none was beyond them. */
NDR_DEVICE bool is_in_range(float sum) {
  const u32 least = (127 - 80) << 23, most = (127 + 120) << 23;
  return (machine::bits_of(sum) & 0x7fffffffu) - least <= most - least;
}
NDR_DEVICE bool is_below_limit(float sum) {
  return fabsf(sum) < 0x1p120f;
}
template <int N> NDR_DEVICE bool are_zeros(const float (&v)[N]) {
  u32 bits = 0;
#pragma unroll
  for (int i = 0; i < N; i++) bits |= machine::bits_of(v[i]);
  return bits << 1 == 0;
}

/* ---- sums of a batch ---- */

/* Terms are added in up to four chains, of which the machine can work on several. */
template <class V, int N> NDR_DEVICE void add_term(V (&chain)[N < 4 ? N : 4], int i, const V &term) {
  chain[i % 4] = i < 4 ? term : chain[i % 4] + term;
}
template <int N, class V> NDR_DEVICE V chains_total(const V (&chain)[N < 4 ? N : 4]) {
  return tree<add, (N < 4 ? N : 4)>::join(chain);
}

/* What a batch adds: to the sum of terms, and to that of weights. */
template <class V> struct weighted_total {
  V sum;
  double weight;
};

/* ---- sum, mean and norm2 ---- */

/* The sum of w x or w |x|^2, and that of w, which only the state of mean has. */
template <class T, class W, bool SKIP, bool SQUARED, bool COUNTED> struct weighted_sum : weighing<T, W> {
  typedef weighing<T, W> base;
  typedef typename base::point point;
  typedef typename choose<SQUARED, W, point>::type term_type;
  typedef typename choose<SQUARED, double, typename base::wide>::type sum_type;
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
  template <class V, class R> static NDR_DEVICE auto term(V v, R w) {
    if constexpr (SQUARED)
      return w * square<R>(v);
    else
      return scale(v, w);
  }
  template <int N, int>
  static NDR_DEVICE void fold(Accumulator &a, const typename base::template batch<N> &x, i64, i64, i64,
                              const ndr_params &) {
    const auto p = base::template read<SKIP>(x);
    W weights[N < 4 ? N : 4];
    term_type terms[N < 4 ? N : 4];
#pragma unroll
    for (int i = 0; i < N; i++) {
      add_term<term_type, N>(terms, i, term(p.v[i], p.w[i]));
      add_term<W, N>(weights, i, p.w[i]);
    }
    term_type sum = chains_total<N>(terms);
    W weight = chains_total<N>(weights);
    if constexpr (base::narrow) {
      if (!is_below_limit(weight) || (!is_in_range(sum) && !are_zeros(p.v))) {
        weighted_total<double> total = in_f64<N>(p);
        add_to(a, total.sum, total.weight);
        return;
      }
    }
    add_to(a, value_of<sum_type>(sum), (double)weight);
  }
  static NDR_DEVICE void add_to(Accumulator &a, sum_type sum, double weight) {
    if constexpr (COUNTED)
      a = {a.sum + sum, a.weight + weight};
    else
      a = a + sum;
  }
  template <int N> NDR_CALLED weighted_total<double> in_f64(typename base::template points<N> p) {
    weighted_total<double> total = {0, 0};
#pragma unroll 1
    for (int i = 0; i < N; i++) total.sum += term((double)p.v[i], (double)p.w[i]), total.weight += p.w[i];
    return total;
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

/* ---- var and std ---- */

/* The sum of the weights, the mean, the sum of w |x - mean|^2, and for reliabilities that of w^2. */
template <class V, bool RELIABLE> struct weighted_moments : moments<V, double> { double squares; };
template <class V> struct weighted_moments<V, false> : moments<V, double> {};

/* The same about a pivot, which is near the mean: the sums of w, w (x - pivot) and w |x - pivot|^2. Nothing is divided
 * until totals are joined. */
template <class P, class V, bool RELIABLE> struct weighted_distances {
  P pivot;
  V sum;
  double n, about, squares;
};
template <class P, class V> struct weighted_distances<P, V, false> {
  P pivot;
  V sum;
  double n, about;
};

template <class T, class W, bool SKIP, bool ROOT, bool RELIABLE> struct weighted_var : weighing<T, W> {
  typedef weighing<T, W> base;
  typedef typename base::point point;
  typedef typename base::wide wide;
  typedef weighted_distances<point, wide, RELIABLE> Accumulator;
  typedef weighted_moments<wide, RELIABLE> State;
  static const int points = wording<wide>::words, words = points + 2 + RELIABLE;
  static NDR_DEVICE Accumulator identity() {
    Accumulator a;
    a.pivot = unit<point>(0), a.sum = unit<wide>(0);
    a.n = a.about = 0;
    if constexpr (RELIABLE) a.squares = 0;
    return a;
  }
  static NDR_DEVICE State state_identity() {
    State s;
    s.n = s.m2 = 0, s.mean = unit<wide>(0);
    if constexpr (RELIABLE) s.squares = 0;
    return s;
  }
  static NDR_DEVICE float product(float a, float b) { return a * b; }
  static NDR_DEVICE double product(double a, double b) { return a * b; }
  static NDR_DEVICE double product(c128 a, c128 b) { return a.re * b.re + a.im * b.im; }

  /* What a batch adds to an accumulator, and the pivot that it is then about. */
  struct change {
    wide sum;
    double about, n;
    point pivot;
  };
  template <int N, int>
  static NDR_DEVICE void fold(Accumulator &a, const typename base::template batch<N> &x, i64, i64, i64,
                              const ndr_params &) {
    const auto p = base::template read<SKIP>(x);
    point d[N], sums[N < 4 ? N : 4];
    W squares[N < 4 ? N : 4], weights[N < 4 ? N : 4];
    if (a.n == 0) a.pivot = first_pivot<N>(p);
#pragma unroll
    for (int i = 0; i < N; i++) {
      d[i] = p.v[i] - a.pivot;
      point term = scale(d[i], p.w[i]);
      add_term<point, N>(sums, i, term);
      add_term<W, N>(squares, i, product(term, d[i]));
      add_term<W, N>(weights, i, p.w[i]);
      if constexpr (RELIABLE) a.squares += (double)p.w[i] * (double)p.w[i];
    }
    point sum = chains_total<N>(sums);
    W about = chains_total<N>(squares), weight = chains_total<N>(weights);
    change by = {value_of<wide>(sum), about, weight, a.pivot};
    if constexpr (base::narrow) {
      bool fine = is_below_limit(weight) & is_in_range(about) & (sum * sum <= 0.9f * about * weight);
      if (!fine && (!is_below_limit(weight) || (!is_in_range(about) && !are_zeros(d)) || is_far(a, sum, about, weight)))
        by = change_in_f64<N>(a, p);
    }
    a.sum = a.sum + by.sum, a.about += by.about, a.n += by.n, a.pivot = by.pivot;
  }
  /* Whether a batch is more than three standard deviations from the pivot, by its own and by what came before. The
   * square of that distance is how much larger errors become. */
  static NDR_DEVICE bool is_far(const Accumulator &a, float sum, float about, float weight) {
    return sum * sum > 0.9f * about * weight && (double)sum * sum * a.n > 9 * a.about * ((double)weight * weight);
  }
  /* The mean of a batch, or an element where weights add up to nothing or are out of range. */
  template <int N> static NDR_DEVICE point first_pivot(const typename base::template points<N> &p) {
    point sums[N < 4 ? N : 4];
    W weights[N < 4 ? N : 4];
#pragma unroll
    for (int i = 0; i < N; i++) {
      add_term<point, N>(sums, i, scale(p.v[i], p.w[i]));
      add_term<W, N>(weights, i, p.w[i]);
    }
    point mean = scale(chains_total<N>(sums), fraction((W)1, chains_total<N>(weights)));
    return product(mean, mean) < (W)1e30 ? mean : p.v[0];
  }
  /* As in fold, in f64. Points that do not count have weight 0. The mean becomes the pivot if it is far away. */
  template <int N> NDR_CALLED change change_in_f64(Accumulator a, typename base::template points<N> p) {
    change by = {0, 0, 0, a.pivot};
#pragma unroll 1
    for (int i = 0; i < N; i++) {
      double d = (double)p.v[i] - a.pivot, term = d * p.w[i];
      by.sum += term, by.about += term * d, by.n += p.w[i];
    }
    double sum = a.sum + by.sum, about = a.about + by.about, n = a.n + by.n;
    if (sum * sum > 0.9 * about * n && n != 0) {
      by.pivot = (float)(a.pivot + sum / n);
      double moved = (double)by.pivot - a.pivot;
      by.about += moved * (n * moved - 2 * sum);
      by.sum -= n * moved;
    }
    return by;
  }

  /* What has weights that add up to 0 counts if an element is NaN or infinite: its m2 is then NaN (core/state.h). */
  NDR_CALLED State widen(Accumulator a) {
    State s;
    wide delta = scale(a.sum, a.n == 0 ? 0 : 1 / a.n);
    double m2 = a.about - product(a.sum, delta);
    s.n = a.n;
    s.mean = value_of<wide>(a.pivot) + delta;
    s.m2 = m2 < 0 && a.about >= 0 ? 0 : m2;
    if constexpr (RELIABLE) s.squares = a.squares;
    return s;
  }
  NDR_CALLED State joined(State a, State b) {
    if constexpr (RELIABLE) a.squares += b.squares;
    if (b.n == 0 && b.m2 == 0) return a;
    if (a.n == 0) {
      a.n = b.n, a.mean = b.mean, a.m2 += b.m2;
      return a;
    }
    double total = a.n + b.n, share = b.n / total;
    wide delta = b.mean - a.mean;
    a.mean = a.mean + scale(delta, share);
    a.m2 += b.m2 + square<double>(delta) * (a.n * share);
    a.n = total;
    return a;
  }
  /* About the pivot of the one with more weight: what the other adds by its distance is then no more than twice what it
   * adds to m2. */
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    bool other = b.n > a.n;
    point pivot = other ? b.pivot : a.pivot;
    wide by = value_of<wide>(other ? a.pivot : b.pivot) - value_of<wide>(pivot), sum = other ? a.sum : b.sum;
    double n = other ? a.n : b.n;
    a.about += b.about + 2 * product(by, sum) + n * product(by, by);
    a.sum = a.sum + b.sum + scale(by, n);
    a.n += b.n;
    a.pivot = pivot;
    if constexpr (RELIABLE) a.squares += b.squares;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a = joined(a, b);
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    w[0] = to_word(a.n);
    wording<wide>::save(a.mean, w + 1);
    w[points + 1] = to_word(a.m2);
    if constexpr (RELIABLE) w[points + 2] = to_word(a.squares);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    State a;
    a.n = from_word<double>(w[0]);
    a.mean = wording<wide>::load(w + 1);
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
