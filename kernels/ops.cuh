/* The operators; var and std are in moments.cuh, argmin and argmax in arg.cuh. An Accumulator is what a thread reduces
 * into; a State is what blocks exchange, the words of src/core/state.h.
 *
 *   identity(), state_identity()             the accumulator and the state of no elements
 *   fold<N>(Accumulator &, const value (&)[N], index, step, p)
 *                                            folds N elements; element i has flattened index index + i * step
 *   fold_vector(Accumulator &, vector)       only where `packed`: folds 16 bytes without unpacking them
 *   fold_sum(Accumulator &, sum, n)          only where `sums_bytes`: adds n elements, given their sum
 *   join(Accumulator &, Accumulator), join_states(State &, State)
 *   widen(Accumulator)                       the state of an accumulator
 *   save(State, words), load(words)          a state is `words` words
 *   finish(State, ddof)                      the value that store_value rounds to `result`
 *   rooted, counting                         whether its totals also finalize to std; to any, all and valid
 *
 * fold() first combines a batch pairwise and then joins it to the accumulator. Chains of dependent operations are then
 * shorter, and rounding errors grow with the depth of the tree. */
#ifndef NDR_OPS_CUH
#define NDR_OPS_CUH

#include "arg.cuh"
#include "moments.cuh"

/* ---- one accumulator: sums, products, extremes, norms, any, all, count, valid ---- */

template <class T, bool WIDE, bool SKIP, class BATCH, class ACCUMULATOR, class STATE, class RESULT, class MAP,
          class JOIN, class END>
struct simple {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef ACCUMULATOR Accumulator;
  typedef STATE State;
  typedef RESULT result;
  static const bool indexed = false, single = true, rooted = false;
  static const bool counting = same<MAP, beyond>::yes;
  static const bool packed = packing<T, MAP, JOIN>::yes;
  static const bool sums_bytes = same<MAP, keep>::yes && same<JOIN, add>::yes && unsigned_bytes<T>::yes;
  static const int words = wording<STATE>::words;
  static NDR_DEVICE Accumulator identity() { return JOIN::template identity<Accumulator>(); }
  static NDR_DEVICE State state_identity() { return JOIN::template identity<State>(); }
  template <int N> static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64, i64, const ndr_params &p) {
    BATCH b[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      b[i] = SKIP && is_nan(x[i]) ? JOIN::template identity<BATCH>() : MAP::template of<BATCH>(x[i], p);
    a = JOIN::join(a, (Accumulator)tree<JOIN, N>::join(b));
  }
  static NDR_DEVICE void fold_vector(Accumulator &a, const ndr_vector &p) {
    a = JOIN::join(a, packing<T, MAP, JOIN>::template of<Accumulator>(p));
  }
  static NDR_DEVICE void fold_sum(Accumulator &a, int sum, int) {
    a = JOIN::join(a, (Accumulator)sum);
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    a = JOIN::join(a, b);
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a = JOIN::join(a, b);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return (State)widened(a);
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    wording<STATE>::save(a, w);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    return wording<STATE>::load(w);
  }
  static NDR_DEVICE auto finish(const State &a, double) {
    return END::of(a);
  }
};

template <class T, bool W, bool S>
using op_sum = simple<T, W, S, typename totals<T, W>::batch, typename totals<T, W>::running,
                      typename kind<T>::state_value, typename kind<T>::total, keep, add, plain>;
template <class T, bool W, bool S>
using op_prod = simple<T, W, S, typename totals<T, W>::running, typename totals<T, W>::running,
                       typename kind<T>::state_value, typename kind<T>::total, keep, multiply, plain>;
template <class T, bool W, bool S>
using op_min =
    simple<T, W, S, value_t<T, W>, value_t<T, W>, typename kind<T>::state_value, T, keep, extreme<-1, S>, plain>;
template <class T, bool W, bool S>
using op_max =
    simple<T, W, S, value_t<T, W>, value_t<T, W>, typename kind<T>::state_value, T, keep, extreme<1, S>, plain>;
template <class T, bool W, bool S>
using op_norm1 = simple<T, W, S, real_t<T, W>, real_t<T, W>, double, typename kind<T>::real, absolute, add, plain>;
/* Squares of 8- and 16-bit integers add up as integers, and exactly: to convert each would take most of the time. */
template <class T, bool W, bool S>
using op_norm2 = simple<T, W, S, typename squares<T, W>::batch, typename squares<T, W>::running, double,
                        typename kind<T>::real, squared, add, root>;
template <class T, bool W, bool S>
using op_norminf =
    simple<T, W, S, real_t<T, W>, real_t<T, W>, double, typename kind<T>::real, absolute, largest<S>, plain>;
template <class T, bool W, bool S> using op_any = simple<T, W, S, u32, u32, u64, boolean, nonzero, either, plain>;
template <class T, bool W, bool S> using op_all = simple<T, W, S, u32, u32, u64, boolean, nonzero, both, plain>;
template <class T, bool W, bool S> using op_count = simple<T, W, S, u32, u64, u64, i64, beyond, add, plain>;
template <class T, bool W, bool S> using op_valid = simple<T, W, S, u32, u64, u64, i64, present, add, plain>;

/* ---- ptp: the smallest and the largest element ---- */

template <class V> struct range_of { V least, most; };

template <class T, bool WIDE, bool SKIP> struct op_ptp {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef typename kind<T>::state_value state_value;
  typedef range_of<value> Accumulator;
  typedef range_of<state_value> State;
  typedef T result;
  typedef extreme<-1, SKIP> smaller;
  typedef extreme<1, SKIP> larger;
  static const bool indexed = false, packed = false, sums_bytes = false, single = true, rooted = false,
                    counting = false;
  static const int words = 2;
  static NDR_DEVICE Accumulator identity() {
    return {smaller::template identity<value>(), larger::template identity<value>()};
  }
  static NDR_DEVICE State state_identity() {
    return {smaller::template identity<state_value>(), larger::template identity<state_value>()};
  }
  template <int N> static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64, i64, const ndr_params &) {
    join(a, Accumulator{tree<smaller, N>::join(x), tree<larger, N>::join(x)});
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    a = {smaller::join(a.least, b.least), larger::join(a.most, b.most)};
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a = {smaller::join(a.least, b.least), larger::join(a.most, b.most)};
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return {(state_value)widened(a.least), (state_value)widened(a.most)};
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) { w[0] = to_word(a.least), w[1] = to_word(a.most); }
  static NDR_DEVICE State load(const ndr_word *w) {
    return {from_word<state_value>(w[0]), from_word<state_value>(w[1])};
  }
  /* The smallest is above the largest where no element was seen: the result is then NaN, or 0 for integers. */
  static NDR_DEVICE state_value finish(const State &a, double) {
    return a.least <= a.most ? difference(a.most, a.least) : none(a.least);
  }
  static NDR_DEVICE double difference(double most, double least) { return most - least; }
  static NDR_DEVICE i64 difference(i64 most, i64 least) { return (i64)((u64)most - (u64)least); }
  static NDR_DEVICE u64 difference(u64 most, u64 least) { return most - least; }
  static NDR_DEVICE double none(double) { return NDR_NAN; }
  static NDR_DEVICE i64 none(i64) { return 0; }
  static NDR_DEVICE u64 none(u64) { return 0; }
};

/* ---- mean: a sum that counts ---- */

template <class S> struct counted_state {
  S sum;
  double n;
};
template <class S> struct counted_sum {
  S sum;
  u32 n;
};

template <class T, bool WIDE, bool SKIP, bool NARROW = false> struct op_mean {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef typename totals<T, WIDE>::batch batch;
  typedef typename choose<NARROW, batch, typename totals<T, WIDE>::running>::type running;
  /* Sums of 8-, 16- and 32-bit integers are exact in 64 bits. Those of 64-bit integers could overflow, and are f64. */
  typedef typename choose<sizeof(T) == 8 && !is_float<value>::yes && sizeof(value) == 8, double, running>::type exact;
  typedef typename choose<sizeof(value) == 2 * sizeof(real_t<T, WIDE>), value, exact>::type sum_type;
  typedef
      typename choose<sizeof(T) == 8 && !is_float<value>::yes && sizeof(value) == 8, double, batch>::type sum_batch_;
  typedef typename choose<sizeof(value) == 2 * sizeof(real_t<T, WIDE>), value, sum_batch_>::type sum_batch;
  typedef typename choose<sizeof(value) == 2 * sizeof(real_t<T, WIDE>), c128, double>::type state_sum;
  typedef counted_sum<sum_type> Accumulator;
  typedef counted_state<state_sum> State;
  typedef typename kind<T>::mean result;
  static const bool indexed = false, single = true, rooted = false, counting = false;
  static const bool packed = packing<T, keep, add>::yes, sums_bytes = unsigned_bytes<T>::yes;
  static const int words = wording<state_sum>::words + 1;
  static NDR_DEVICE Accumulator identity() { return {unit<sum_type>(0), 0}; }
  static NDR_DEVICE State state_identity() { return {unit<state_sum>(0), 0}; }
  template <int N> static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64, i64, const ndr_params &) {
    sum_batch b[N];
    u32 n = N;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool skip = SKIP && is_nan(x[i]);
      b[i] = skip ? unit<sum_batch>(0) : value_of<sum_batch>(x[i]);
      if (skip) n--;
    }
    a.sum = a.sum + (sum_type)tree<add, N>::join(b);
    a.n += n;
  }
  static NDR_DEVICE void fold_vector(Accumulator &a, const ndr_vector &p) {
    a.sum = a.sum + packing<T, keep, add>::template of<sum_type>(p);
    a.n += 16;
  }
  static NDR_DEVICE void fold_sum(Accumulator &a, int sum, int n) {
    a.sum = a.sum + (sum_type)sum, a.n += (u32)n;
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    a.sum = a.sum + b.sum, a.n += b.n;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a.sum = a.sum + b.sum, a.n += b.n;
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return {value_of<state_sum>(a.sum), (double)a.n};
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    wording<state_sum>::save(a.sum, w);
    w[words - 1] = to_word(a.n);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    return {wording<state_sum>::load(w), from_word<double>(w[words - 1])};
  }
  NDR_CALLED state_sum finish(State a, double) {
    return divided(a.sum, a.n);
  }
  static NDR_DEVICE double divided(double sum, double n) {
    return sum / n;
  }
  static NDR_DEVICE c128 divided(c128 sum, double n) {
    return {sum.re / n, sum.im / n};
  }
};

/* ---- logsumexp: running maximum and the sum of exponentials relative to it ---- */

template <class R> struct exponentials { R max, sum; };

NDR_DEVICE float exponential(float x) {
  return machine::exp2_fast(x * 1.44269504f);
}
NDR_CALLED double exponential(double x) {
  return exp(x);
}

template <class R> NDR_DEVICE void join_exponentials(exponentials<R> &a, const exponentials<R> &b) {
  R top = extreme<1, false>::join(a.max, b.max);
  R left = a.max == top ? a.sum : a.sum * exponential(a.max - top);
  R right = b.max == top ? b.sum : b.sum * exponential(b.max - top);
  a = {top, left + right};
}

template <class T, bool WIDE, bool SKIP> struct op_logsumexp {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef real_t<T, WIDE> real;
  typedef exponentials<real> Accumulator;
  typedef exponentials<double> State;
  typedef typename kind<T>::mean result;
  static const bool indexed = false, packed = false, sums_bytes = false, single = true, rooted = false,
                    counting = false;
  static const int words = 2;
  static NDR_DEVICE Accumulator identity() { return {limits<real>::least(), 0}; }
  static NDR_DEVICE State state_identity() { return {limits<double>::least(), 0}; }
  template <int N> static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64, i64, const ndr_params &) {
    real b[N], e[N];
#pragma unroll
    for (int i = 0; i < N; i++) b[i] = SKIP && is_nan(x[i]) ? limits<real>::least() : value_of<real>(x[i]);
    real top = tree<extreme<1, false>, N>::join(b);
    /* An infinite maximum is the result, whatever the sum. */
#pragma unroll
    for (int i = 0; i < N; i++) e[i] = exponential(b[i] - top);
    join_exponentials(a, Accumulator{top, top == limits<real>::least() ? (real)0 : tree<add, N>::join(e)});
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    join_exponentials(a, b);
  }
  NDR_CALLED State joined(State a, State b) {
    join_exponentials(a, b);
    return a;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    a = joined(a, b);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    return {(double)a.max, (double)a.sum};
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    w[0] = to_word(a.max), w[1] = to_word(a.sum);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    return {from_word<double>(w[0]), from_word<double>(w[1])};
  }
  NDR_CALLED double finish(State a, double) {
    return a.max == limits<double>::least() || a.max == limits<double>::most() ? a.max : a.max + log(a.sum);
  }
};

/* ---- narrow totals ---- */

/* The same operator with totals of 8- and 16-bit integers, and counts, in 32 bits: for NDR_NARROW_ROWS elements at
 * most. Accumulators then take half the registers. */
template <class Op> struct narrowed { typedef Op type; };
template <class T, bool W, bool S, class STATE, class RESULT, class MAP, class END>
struct narrowed<simple<T, W, S, int, i64, STATE, RESULT, MAP, add, END>> {
  typedef simple<T, W, S, int, int, STATE, RESULT, MAP, add, END> type;
};
template <class T, bool W, bool S, class STATE, class RESULT, class MAP, class END>
struct narrowed<simple<T, W, S, u32, u64, STATE, RESULT, MAP, add, END>> {
  typedef simple<T, W, S, u32, u32, STATE, RESULT, MAP, add, END> type;
};
template <class T, bool W, bool S> struct narrowed<op_mean<T, W, S>> {
  static const bool differs = !same<typename totals<T, W>::batch, typename totals<T, W>::running>::yes;
  typedef op_mean<T, W, S, differs> type;
};
template <class T, bool ROOT> struct narrowed<op_exact_moments<T, ROOT>> {
  typedef op_exact_moments<T, ROOT, true> type;
};

/* An accumulator of an operator, of one of the same operator with narrow totals. */
template <class A> struct widening {
  template <class B> static NDR_DEVICE A of(B a) { return (A)a; }
};
template <class S> struct widening<counted_sum<S>> {
  template <class B> static NDR_DEVICE counted_sum<S> of(const B &a) { return {(S)a.sum, a.n}; }
};
template <class S, class Q> struct widening<exact_moments<S, Q>> {
  template <class B> static NDR_DEVICE exact_moments<S, Q> of(const B &a) { return {(Q)a.squares, (S)a.sum, a.n}; }
};
template <class A, class B> NDR_DEVICE A unnarrowed(const B &a) {
  if constexpr (same<A, B>::yes)
    return a;
  else
    return widening<A>::of(a);
}

#endif
