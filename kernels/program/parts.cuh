/* Parts of programs: operators of ops.cuh over computed values. A part has a batch<N>: the values of N places, and
 * where it leaves some out, the `mask` that is false there. */
#ifndef NDR_PARTS_CUH
#define NDR_PARTS_CUH

#include "ops.cuh"

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
    bool mask[N];
  };
};

template <class T, bool W, bool S, class BATCH, class ACCUMULATOR, class STATE, class RESULT, class MAP, class JOIN,
          class END>
struct masked<simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END>>
    : part<simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END>> {
  typedef simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END> Op;
  template <int N> struct batch {
    typename Op::value values[N];
    bool mask[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(ACCUMULATOR &a, const batch<N> &x, i64, i64, i64, const ndr_params &p) {
    BATCH b[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      b[i] = x.mask[i] && !(S && is_nan(x.values[i])) ? MAP::template of<BATCH>(x.values[i], p)
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
    bool mask[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &) {
    typename Op::Accumulator none = Op::identity();
    value least[N], most[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      least[i] = x.mask[i] ? x.values[i] : none.least;
      most[i] = x.mask[i] ? x.values[i] : none.most;
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
    bool mask[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &) {
    sum_batch b[N];
    u32 n = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool counts = x.mask[i] && !(S && is_nan(x.values[i]));
      b[i] = counts ? value_of<sum_batch>(x.values[i]) : unit<sum_batch>(0);
      n += counts;
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
    bool mask[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &) {
    point b[N];
    real d[N], n = 0;
    bool counts[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      counts[i] = x.mask[i] && !(S && is_nan(x.values[i]));
      b[i] = counts[i] ? value_of<point>(x.values[i]) : unit<point>(0);
      n += counts[i];
    }
    if (n == 0) return;
    point mean = scale(tree<add, N>::join(b), (real)1 / n);
#pragma unroll
    for (int i = 0; i < N; i++) d[i] = counts[i] ? square<real>(b[i] - mean) : (real)0;
    join_moments(a, typename Op::Accumulator{n, mean, tree<add, N>::join(d)});
  }
};

template <class T, bool ROOT, bool NARROW>
struct masked<op_exact_moments<T, ROOT, NARROW>> : part<op_exact_moments<T, ROOT, NARROW>> {
  typedef op_exact_moments<T, ROOT, NARROW> Op;
  typedef typename Op::value value;
  template <int N> struct batch {
    value values[N];
    bool mask[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &p) {
    value b[N];
    u32 n = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      b[i] = x.mask[i] ? x.values[i] : (value)0;
      n += x.mask[i];
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
    bool mask[N];
  };
  template <int N, int>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64, i64, i64, const ndr_params &p) {
    real b[N];
#pragma unroll
    for (int i = 0; i < N; i++) b[i] = x.mask[i] ? value_of<real>(x.values[i]) : limits<real>::least();
    of_reals::template fold<N>(a, b, 0, 0, p);
  }
};

template <class T, bool W, bool S, int SIGN> struct masked<op_arg<T, W, S, SIGN>> : part<op_arg<T, W, S, SIGN>> {
  typedef op_arg<T, W, S, SIGN> Op;
  typedef typename Op::value value;
  template <int N> struct batch {
    value values[N];
    bool mask[N];
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
      bool counts = x.mask[i] && !(S && is_nan(x.values[i]));
      b[i] = counts ? x.values[i] : extreme<SIGN, S>::template identity<value>();
      places[i] = counts;
      any = any || counts;
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

template <class T, int SIGN> struct masked<op_narrow_arg<T, SIGN>> : part<op_narrow_arg<T, SIGN>> {
  typedef op_narrow_arg<T, SIGN> Op;
  template <int N> struct batch {
    typename Op::value values[N];
    bool mask[N];
  };
  template <int N, int PER>
  static NDR_DEVICE void fold(typename Op::Accumulator &a, const batch<N> &x, i64 index, i64 between, i64 step,
                              const ndr_params &) {
#pragma unroll
    for (int i = 0; i < N; i++)
      if (x.mask[i]) Op::offer(a, (int)x.values[i], index + i / PER * between + i % PER * step);
  }
};

#endif
