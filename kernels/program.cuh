/* Operators that are programs (core/program.h): values computed from elements, folded by operators of ops.cuh, and a
 * result computed from their totals. src/cuda/generate.c writes what is particular to a program, its `nodes`:
 *
 *   element, value                           as of every operator; `value` has what the program reads at a place
 *   parts                                    its parts, see below
 *   compute<N>(parts::batch<N> &, const value (&)[N], p)
 *                                            computes for each of N places what each part folds
 *   result, finish(State, ddof, length, parameters)
 *                                            the result of a state, not rounded
 *   heavy                                    whether computing takes many registers
 *
 * A part has a batch<N>: the values of N places, and where it leaves some out or weights them, `live` and `weight`. */
#ifndef NDR_PROGRAM_CUH
#define NDR_PROGRAM_CUH

#include "fused.cuh"
#include "states.cuh"

/* Kernels hand on ndr_params, which begin what a program's kernel takes. */
NDR_DEVICE const double *parameters_of(const ndr_params &p) {
  return ((const ndr_program_params &)p).parameters;
}

/* ---- nodes ---- */

/* Integers of a dtype are computed without a sign in 64 bits and cut, so that they wrap. */
template <class V> struct number {
  static NDR_DEVICE V sum(V a, V b) { return (V)((u64)a + (u64)b); }
  static NDR_DEVICE V difference(V a, V b) { return (V)((u64)a - (u64)b); }
  static NDR_DEVICE V product(V a, V b) { return (V)((u64)a * (u64)b); }
  static NDR_DEVICE V least(V a, V b) { return b < a ? b : a; }
  static NDR_DEVICE V most(V a, V b) { return b > a ? b : a; }
  static NDR_DEVICE V negative(V a) { return (V)(0 - (u64)a); }
  static NDR_DEVICE V size(V a) { return a < 0 ? negative(a) : a; }
};
/* Products are rounded: the compiler may not fuse them with a sum that follows. */
template <class V> struct real_number {
  static NDR_DEVICE V sum(V a, V b) { return a + b; }
  static NDR_DEVICE V difference(V a, V b) { return a - b; }
  static NDR_DEVICE V product(V a, V b) { return machine::rounded_product(a, b); }
  static NDR_DEVICE V quotient(V a, V b) { return a / b; }
  static NDR_DEVICE V least(V a, V b) { return machine::minimum(a, b); }
  static NDR_DEVICE V most(V a, V b) { return machine::maximum(a, b); }
  static NDR_DEVICE V negative(V a) { return -a; }
};
/* Long functions are called: in a line with each of 16 elements they would take seconds to compile. */
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

/* ---- parts ---- */

/* min and max of integers: an accumulator that saw nothing becomes the state that saw nothing, which is beyond the
 * dtype's limits. The result is then the limit. */
template <class T, class V, class STATE, int SIGN, bool SKIP> struct limited {
  typedef extreme<SIGN, SKIP> rule;
  static NDR_DEVICE STATE widen(V a) {
    return a == rule::template identity<V>() ? rule::template identity<STATE>() : (STATE)widened(a);
  }
  static NDR_DEVICE STATE finish(STATE a) {
    if constexpr (is_float<STATE>::yes) {
      return a;
    } else {
      const bool is_signed = same<STATE, i64>::yes;
      const int bits = same<T, boolean>::yes ? 1 : 8 * (int)sizeof(T);
      const STATE most = (STATE)(~0ull >> (64 - bits + is_signed)), least = is_signed ? -most - 1 : 0;
      return a > most ? most : a < least ? least : a;
    }
  }
};
template <class Op> struct ends {
  static NDR_DEVICE typename Op::State widen(const typename Op::Accumulator &a) { return Op::widen(a); }
  static NDR_DEVICE auto finish(const typename Op::State &a, double ddof) { return Op::finish(a, ddof); }
};
template <class T, bool W, bool S, class V, class STATE, class RESULT, int SIGN>
struct ends<simple<T, W, S, V, V, STATE, RESULT, keep, extreme<SIGN, S>, plain>> : limited<T, V, STATE, SIGN, S> {
  static NDR_DEVICE STATE finish(const STATE &a, double) { return limited<T, V, STATE, SIGN, S>::finish(a); }
};

/* A part of which every place counts. */
template <class Op> struct part {
  typedef typename Op::Accumulator Accumulator;
  typedef typename Op::State State;
  typedef typename Op::value value;
  typedef Op op;
  static const bool indexed = Op::indexed;
  static const int words = Op::words;
  template <int N> struct batch { value values[N]; };
  static NDR_DEVICE Accumulator identity() { return Op::identity(); }
  static NDR_DEVICE State state_identity() { return Op::state_identity(); }
  template <int N, int PER>
  static NDR_DEVICE void fold(Accumulator &a, const batch<N> &b, i64 index, i64 between, i64 step,
                              const ndr_params &p) {
    if constexpr (Op::indexed)
      Op::template fold_vectors<N, PER>(a, b.values, index, between, step, p);
    else
      Op::template fold<N>(a, b.values, index, step, p);
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) { Op::join(a, b); }
  static NDR_DEVICE void join_states(State &a, const State &b) { Op::join_states(a, b); }
  static NDR_DEVICE State widen(const Accumulator &a) { return Op::widen(a); }
  static NDR_DEVICE void save(const State &a, ndr_word *w) { Op::save(a, w); }
  static NDR_DEVICE State load(const ndr_word *w) { return Op::load(w); }
  static NDR_DEVICE auto finish(const State &a, double ddof) { return ends<Op>::finish(a, ddof); }
};

/* A part that leaves places out. An output may then have no place that counts. */
template <class Op> struct masked : part<Op> {
  template <int N> struct batch {
    typename Op::value values[N];
    bool live[N];
  };
};

template <class T, bool W, bool S, class BATCH, class ACCUMULATOR, class STATE, class RESULT, class MAP, class JOIN,
          class END>
struct masked<simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END>>
    : part<simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END>> {
  typedef simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END> Op;
  template <int N> struct batch {
    typename Op::value values[N];
    bool live[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(ACCUMULATOR &a, const batch<N> &x, i64, i64, i64, const ndr_params &p) {
    BATCH b[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      b[i] = x.live[i] && !(S && is_nan(x.values[i])) ? MAP::template of<BATCH>(x.values[i], p)
                                                      : JOIN::template identity<BATCH>();
    a = JOIN::join(a, (ACCUMULATOR)tree<JOIN, N>::join(b));
  }
  static NDR_DEVICE STATE widen(const ACCUMULATOR &a) {
    return ends<Op>::widen(a);
  }
};

template <class T, bool W, bool S> struct masked<op_ptp<T, W, S>> : part<op_ptp<T, W, S>> {
  typedef op_ptp<T, W, S> Op;
  typedef typename Op::value value;
  typedef typename Op::state_value state_value;
  template <int N> struct batch {
    value values[N];
    bool live[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &) {
    typename Op::Accumulator none = Op::identity();
    value least[N], most[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      least[i] = x.live[i] ? x.values[i] : none.least;
      most[i] = x.live[i] ? x.values[i] : none.most;
    }
    Op::join(a, {tree<typename Op::smaller, N>::join(least), tree<typename Op::larger, N>::join(most)});
  }
  static NDR_DEVICE typename Op::State widen(const typename Op::Accumulator &a) {
    return {limited<T, value, state_value, -1, S>::widen(a.least), limited<T, value, state_value, 1, S>::widen(a.most)};
  }
};

template <class T, bool W, bool S, bool NARROW>
struct masked<op_mean<T, W, S, NARROW>> : part<op_mean<T, W, S, NARROW>> {
  typedef op_mean<T, W, S, NARROW> Op;
  typedef typename Op::sum_batch sum_batch;
  template <int N> struct batch {
    typename Op::value values[N];
    bool live[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &) {
    sum_batch b[N];
    u32 n = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool live = x.live[i] && !(S && is_nan(x.values[i]));
      b[i] = live ? value_of<sum_batch>(x.values[i]) : unit<sum_batch>(0);
      n += live;
    }
    a.sum = a.sum + (typename Op::sum_type)tree<add, N>::join(b);
    a.n += n;
  }
};

template <class T, bool W, bool S, bool ROOT>
struct masked<op_moments<T, W, S, ROOT>> : part<op_moments<T, W, S, ROOT>> {
  typedef op_moments<T, W, S, ROOT> Op;
  typedef typename Op::point point;
  typedef typename Op::real real;
  template <int N> struct batch {
    typename Op::value values[N];
    bool live[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &) {
    point b[N];
    real d[N], n = 0;
    bool live[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      live[i] = x.live[i] && !(S && is_nan(x.values[i]));
      b[i] = live[i] ? value_of<point>(x.values[i]) : unit<point>(0);
      n += live[i];
    }
    if (n == 0) return;
    point mean = scale(tree<add, N>::join(b), (real)1 / n);
#pragma unroll
    for (int i = 0; i < N; i++) d[i] = live[i] ? square<real>(b[i] - mean) : (real)0;
    join_moments(a, typename Op::Accumulator{n, mean, tree<add, N>::join(d)});
  }
};

template <class T, bool ROOT, bool NARROW>
struct masked<op_exact_moments<T, ROOT, NARROW>> : part<op_exact_moments<T, ROOT, NARROW>> {
  typedef op_exact_moments<T, ROOT, NARROW> Op;
  typedef typename Op::value value;
  template <int N> struct batch {
    value values[N];
    bool live[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &p) {
    value b[N];
    u32 n = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      b[i] = x.live[i] ? x.values[i] : (value)0;
      n += x.live[i];
    }
    Op::template fold<N>(a, b, 0, 0, p);
    a.n -= N - n;
  }
};

template <class T, bool W, bool S> struct masked<op_logsumexp<T, W, S>> : part<op_logsumexp<T, W, S>> {
  typedef op_logsumexp<T, W, S> Op;
  typedef typename Op::real real;
  typedef op_logsumexp<typename choose<same<real, float>::yes, f32, f64>::type, false, S> of_reals;
  template <int N> struct batch {
    typename Op::value values[N];
    bool live[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &p) {
    real b[N];
#pragma unroll
    for (int i = 0; i < N; i++) b[i] = x.live[i] ? value_of<real>(x.values[i]) : limits<real>::least();
    of_reals::template fold<N>(a, b, 0, 0, p);
  }
};

template <class T, bool W, bool S, int SIGN> struct masked<op_arg<T, W, S, SIGN>> : part<op_arg<T, W, S, SIGN>> {
  typedef op_arg<T, W, S, SIGN> Op;
  typedef typename Op::value value;
  template <int N> struct batch {
    value values[N];
    bool live[N];
  };
  /* As Op::fold_vectors, of places that count. */
  template <int N, int PER>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64 index, i64 between, i64 step,
                              const ndr_params &) {
    value b[N];
    int places[N]; /* where nothing counts no test holds */
    bool any = false;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool live = x.live[i] && !(S && is_nan(x.values[i]));
      b[i] = live ? x.values[i] : extreme<SIGN, S>::template identity<value>();
      places[i] = live;
      any = any || live;
    }
    if (!any) return;
    value best = tree<extreme<SIGN, S>, N>::join(b);
    int at = -1;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool holds = places[i] && (is_nan(best) ? is_nan(b[i]) : b[i] == best);
      if (holds && (at < 0 || step < 0)) at = i;
    }
    Op::offer(a, best, index + at / PER * between + at % PER * step);
  }
};

/* ---- weights ---- */

/* What weighted parts have in common: values and weights, in f64. */
template <class T> struct weighing {
  typedef typename kind<T>::state_value given; /* integers come as f64 */
  typedef typename choose<sizeof(given) == 16, c128, double>::type point;
  typedef typename traits<T>::value value;
  template <int N> struct batch {
    value values[N];
    bool live[N];
    double weight[N];
  };
  static const bool indexed = false;
  template <bool SKIP, int N> static NDR_DEVICE void read(const batch<N> &x, point (&v)[N], double (&w)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool live = x.live[i] && !(SKIP && is_nan(x.values[i]));
      v[i] = live ? value_of<point>(x.values[i]) : unit<point>(0);
      w[i] = live ? x.weight[i] : 0;
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
  /* Weights may add up to 0 though elements were seen: one that is NaN or infinite then counts, by its distance. */
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

/* ---- programs ---- */

/* Several parts: the first, and the others. */
template <class A, class B> struct parts {
  typedef pair_of<typename A::Accumulator, typename B::Accumulator> Accumulator;
  typedef pair_of<typename A::State, typename B::State> State;
  typedef A first;
  typedef B others;
  static const bool indexed = A::indexed || B::indexed;
  static const int words = A::words + B::words;
  template <int N> struct batch {
    typename A::template batch<N> a;
    typename B::template batch<N> b;
  };
  static NDR_DEVICE Accumulator identity() { return {A::identity(), B::identity()}; }
  static NDR_DEVICE State state_identity() { return {A::state_identity(), B::state_identity()}; }
  template <int N, int PER>
  static NDR_DEVICE void fold(Accumulator &s, const batch<N> &x, i64 index, i64 between, i64 step,
                              const ndr_params &p) {
    A::template fold<N, PER>(s.a, x.a, index, between, step, p);
    B::template fold<N, PER>(s.b, x.b, index, between, step, p);
  }
  static NDR_DEVICE void join(Accumulator &s, const Accumulator &t) { A::join(s.a, t.a), B::join(s.b, t.b); }
  static NDR_DEVICE void join_states(State &s, const State &t) { A::join_states(s.a, t.a), B::join_states(s.b, t.b); }
  static NDR_DEVICE State widen(const Accumulator &s) { return {A::widen(s.a), B::widen(s.b)}; }
  static NDR_DEVICE void save(const State &s, ndr_word *w) { A::save(s.a, w), B::save(s.b, w + A::words); }
  static NDR_DEVICE State load(const ndr_word *w) { return {A::load(w), B::load(w + A::words)}; }
};

/* The operator, as ops.cuh describes them; only finish() takes more. */
template <class NODES> struct program : NODES::all {
  typedef typename NODES::all all;
  typedef typename NODES::element element;
  typedef typename NODES::value value;
  typedef typename NODES::result result;
  typedef typename all::Accumulator Accumulator;
  typedef typename all::State State;
  static const bool packed = false, sums_bytes = false, single = true, rooted = false, counting = false;
  template <int N>
  static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64 index, i64 step, const ndr_params &p) {
    fold_vectors<N, N>(a, x, index, 0, step, p);
  }
  template <int N, int PER>
  static NDR_DEVICE void fold_vectors(Accumulator &a, const value (&x)[N], i64 index, i64 between, i64 step,
                                      const ndr_params &p) {
    typename all::template batch<N> b;
    NODES::template compute<N>(b, x, p);
    all::template fold<N, PER>(a, b, index, between, step, p);
  }
  static NDR_DEVICE auto finish(const State &a, double ddof, i64 length, const double *parameters) {
    return NODES::finish(a, ddof, length, parameters);
  }
};

template <class NODES> struct finishing<program<NODES>> {
  static NDR_DEVICE auto of(const ndr_params &p, const typename program<NODES>::State &state) {
    return NODES::finish(state, p.ddof, p.length, parameters_of(p));
  }
};

/* As of several operators: accumulators and computed values take registers. */
template <ndr_kernel KERNEL, class NODES> struct compiled_residency<KERNEL, program<NODES>> {
  static constexpr int blocks(int light) {
    const int bound = residency<KERNEL, program<NODES>>::blocks(light),
              bytes = sizeof(typename NODES::all::Accumulator);
    const int most = NODES::heavy || bytes > 24 ? 2 : bytes > 8 ? 3 : light;
    return bound < most ? bound : most;
  }
};

/* Finishes an array of a program's states. */
template <class NODES> NDR_DEVICE void finish_states(const ndr_program_states_params &q) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 k = machine::block() * machine::threads() + machine::thread(); k < q.base.count; k += stride) {
    state_spot at(q.base, k);
    store_value((typename NODES::result *)q.base.to + at.to,
                NODES::finish(load_state<typename NODES::all>(q.base, at.from), q.base.ddof, q.length, q.parameters));
  }
}

#endif
