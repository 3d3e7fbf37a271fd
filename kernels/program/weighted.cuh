/* Parts of programs whose values have weights. States are f64 (core/state.h), and so are accumulators: weights may be
 * of any size. */
#ifndef NDR_WEIGHTED_CUH
#define NDR_WEIGHTED_CUH

#include "join.cuh"
#include "ops.cuh"

/* What weighted parts have in common: values and weights of a batch in f64, 0 where they do not count. */
template <class T, class W> struct weighing {
  typedef typename kind<T>::state_value given; /* integers come as f64 */
  typedef typename choose<sizeof(given) == 16, c128, double>::type point;
  typedef typename traits<T>::value value;
  template <int N> struct batch {
    value values[N];
    bool mask[N];
    W weight[N];
  };
  static const bool indexed = false;
  template <bool SKIP, int N> static NDR_DEVICE bool counts(const batch<N> &x, int i) {
    return x.mask[i] && !(SKIP && is_nan(x.values[i]));
  }
  template <bool SKIP, int N> static NDR_DEVICE point value_at(const batch<N> &x, int i) {
    return counts<SKIP, N>(x, i) ? value_of<point>(x.values[i]) : unit<point>(0);
  }
  template <bool SKIP, int N> static NDR_DEVICE W weight_at(const batch<N> &x, int i) {
    return counts<SKIP, N>(x, i) ? x.weight[i] : (W)0;
  }
};

/* The sum of terms, and that of weights. */
template <class V> struct weighted_total {
  V sum;
  double weight;
};

/* ---- sum, mean and norm2 ---- */

/* The terms of a batch of N are added in two chains: more would take registers that the next loads need. */
template <int N> constexpr int chain_count = N < 2 ? N : 2;
template <class V, int N> NDR_DEVICE void add_term(V (&chain)[chain_count<N>], int i, const V &term) {
  chain[i % 2] = i < 2 ? term : chain[i % 2] + term;
}
template <int N, class V> NDR_DEVICE V chains_total(const V (&chain)[chain_count<N>]) {
  return tree<add, chain_count<N>>::join(chain);
}

/* The sum of w x or w |x|^2, and that of w, which only the state of mean has. */
template <class T, class W, bool SKIP, bool SQUARED, bool COUNTED> struct weighted_sum : weighing<T, W> {
  typedef weighing<T, W> base;
  typedef typename base::point point;
  typedef typename choose<SQUARED, double, point>::type sum_type;
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
    double weights[chain_count<N>];
    sum_type terms[chain_count<N>];
#pragma unroll
    for (int i = 0; i < N; i++) {
      const point v = base::template value_at<SKIP, N>(x, i);
      const double w = base::template weight_at<SKIP, N>(x, i);
      if constexpr (SQUARED)
        add_term<sum_type, N>(terms, i, w * square<double>(v));
      else
        add_term<sum_type, N>(terms, i, scale(v, w));
      add_term<double, N>(weights, i, w);
    }
    if constexpr (COUNTED)
      join(a, Accumulator{chains_total<N>(terms), chains_total<N>(weights)});
    else
      join(a, chains_total<N>(terms));
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
template <class V, bool RELIABLE> struct weighted_distances {
  V pivot, sum;
  double n, about, squares;
};
template <class V> struct weighted_distances<V, false> {
  V pivot, sum;
  double n, about;
};

/* Neighbours' distances: all of them are taken about the pivot of one that has enough of the weight, and then added.
 * Two by two, each step would choose a pivot. At least one of a warp has a 64th of the weight: of m2 no more than about
 * 64 times as much is lost as that one's pivot loses. */
template <int LANES, class V, bool RELIABLE, class Join>
NDR_DEVICE void join_neighbours(weighted_distances<V, RELIABLE> &a, int lanes, const Join &) {
  struct distances {
    V sum;
    double about;
  };
  auto plus = [](double &x, const double &y) { x += y; };
  double n = a.n;
  join_tree<LANES>(n, lanes, plus);
  const V pivot = state_of_lane(a.pivot, first_lane(64 * a.n >= n, LANES ? LANES : lanes));
  const V by = a.n == 0 ? unit<V>(0) : a.pivot - pivot;
  distances all = {a.sum + scale(by, a.n), a.about + 2 * inner_product(by, a.sum) + a.n * inner_product(by, by)};
  join_tree<LANES>(all, lanes, [](distances &x, const distances &y) { x = {x.sum + y.sum, x.about + y.about}; });
  a.pivot = pivot, a.sum = all.sum, a.n = n, a.about = all.about;
  if constexpr (RELIABLE) join_tree<LANES>(a.squares, lanes, plus);
}

template <class T, class W, bool SKIP, bool ROOT, bool RELIABLE> struct weighted_var : weighing<T, W> {
  typedef weighing<T, W> base;
  typedef typename base::point point;
  typedef weighted_distances<point, RELIABLE> Accumulator;
  typedef weighted_moments<point, RELIABLE> State;
  static const int point_words = wording<point>::words, words = point_words + 2 + RELIABLE;
  static NDR_DEVICE Accumulator identity() {
    Accumulator a;
    a.pivot = a.sum = unit<point>(0);
    a.n = a.about = 0;
    if constexpr (RELIABLE) a.squares = 0;
    return a;
  }
  static NDR_DEVICE State state_identity() {
    State s;
    s.n = s.m2 = 0, s.mean = unit<point>(0);
    if constexpr (RELIABLE) s.squares = 0;
    return s;
  }

  /* Terms are added one after the other: chains, as of sums, took registers that the next loads need. The sum of
   * the weights does not depend on a.n, so that columns of a thread that have the same weights share it. */
  template <int N, int>
  static NDR_DEVICE void fold(Accumulator &a, const typename base::template batch<N> &x, i64, i64, i64,
                              const ndr_params &) {
    W most = base::template weight_at<SKIP, N>(x, 0);
#pragma unroll
    for (int i = 1; i < N; i++) most = machine::maximum_number(most, base::template weight_at<SKIP, N>(x, i));
    if (a.n <= 0x1p-10 * most) move_pivot<N>(a, x, most);
    double weights = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      const double w = base::template weight_at<SKIP, N>(x, i);
      const point d = base::template value_at<SKIP, N>(x, i) - a.pivot, term = scale(d, w);
      a.sum = a.sum + term;
      a.about += inner_product(term, d);
      weights += w;
      if constexpr (RELIABLE) a.squares += w * w;
    }
    a.n += weights;
  }
  /* Makes an element of weight `most` the pivot. Called where all elements before weigh next to nothing. */
  template <int N>
  static NDR_DEVICE void move_pivot(Accumulator &a, const typename base::template batch<N> &x, W most) {
    typename base::value heaviest = x.values[0];
#pragma unroll
    for (int i = 1; i < N; i++)
      if (base::template weight_at<SKIP, N>(x, i) == most) heaviest = x.values[i];
    const point pivot = most > 0 ? value_of<point>(heaviest) : a.pivot;
    if (a.n != 0) {
      const point by = pivot - a.pivot;
      a.about += a.n * inner_product(by, by) - 2 * inner_product(by, a.sum);
      a.sum = a.sum - scale(by, a.n);
    }
    a.pivot = pivot;
  }

  /* What has weights that add up to 0 counts if an element is NaN or infinite: its m2 is then NaN (core/state.h). */
  NDR_CALLED State widen(Accumulator a) {
    State s;
    point delta = scale(a.sum, a.n == 0 ? 0 : 1 / a.n);
    double m2 = a.about - inner_product(a.sum, delta);
    s.n = a.n;
    s.mean = a.pivot + delta;
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
    point delta = b.mean - a.mean;
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
    point by = (other ? a.pivot : b.pivot) - pivot, sum = other ? a.sum : b.sum;
    double n = other ? a.n : b.n;
    a.about += b.about + 2 * inner_product(by, sum) + n * inner_product(by, by);
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
    wording<point>::save(a.mean, w + 1);
    w[point_words + 1] = to_word(a.m2);
    if constexpr (RELIABLE) w[point_words + 2] = to_word(a.squares);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    State a;
    a.n = from_word<double>(w[0]);
    a.mean = wording<point>::load(w + 1);
    a.m2 = from_word<double>(w[point_words + 1]);
    if constexpr (RELIABLE) a.squares = from_word<double>(w[point_words + 2]);
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
