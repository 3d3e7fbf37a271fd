/* The operators. An Accumulator is what a thread reduces into; a State is what blocks exchange, the words of
 * src/core/state.h.
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

#include "algebra.cuh"
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

/* ---- argmin, argmax ---- */

template <class V> struct place {
  V value;
  i64 index;
};

template <class T, bool WIDE, bool SKIP, int SIGN> struct op_arg {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef place<value> Accumulator;
  typedef place<typename kind<T>::state_value> State;
  typedef i64 result;
  static const bool indexed = true, packed = false, sums_bytes = false, single = true, rooted = false, counting = false;
  static const bool absent = SKIP && is_float<value>::yes; /* NaN stands for nothing seen */
  static const int words = 2;
  template <class V> static NDR_DEVICE place<V> none() {
    return {extreme<SIGN, SKIP>::template identity<V>(), absent ? (i64)-1 : limits<i64>::most()};
  }
  static NDR_DEVICE Accumulator identity() { return none<value>(); }
  static NDR_DEVICE State state_identity() { return none<typename kind<T>::state_value>(); }
  /* A NaN beats everything but a NaN; under SKIP, where NaN means that nothing was seen, everything but a NaN beats it.
   * Comparisons with a NaN are false, so that one comparison and one test for NaN suffice. */
  template <class V> static NDR_DEVICE bool beats(V b, V a) {
    if (SKIP) return !(SIGN < 0 ? a <= b : a >= b) && !is_nan(b);
    return !(SIGN < 0 ? b >= a : b <= a) && !is_nan(a);
  }
  template <class V> static NDR_DEVICE bool same(V b, V a) { return b == a || (is_nan(b) && is_nan(a)); }
  template <class V> static NDR_DEVICE void offer(place<V> &a, V b, i64 index) {
    if (beats(b, a.value) || (index < a.index && same(b, a.value))) a = {b, index};
  }
  template <int N>
  static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64 index, i64 step, const ndr_params &p) {
    fold_vectors<N, N>(a, x, index, 0, step, p);
  }
  /* Of N elements, `step` indices apart, the number of the one with the lowest index for which `holds` is true. */
  template <int N, class TEST> static NDR_DEVICE int place_of(const value (&x)[N], i64 step, TEST holds) {
    int at = 0;
    if (step >= 0) {
#pragma unroll
      for (int i = N - 1; i >= 0; i--) at = holds(x[i]) ? i : at;
    } else {
#pragma unroll
      for (int i = 0; i < N; i++) at = holds(x[i]) ? i : at;
    }
    return at;
  }
  /* Folds N elements. Those of a vector, PER of them, are `step` indices apart; vectors start `between` indices apart.
   * Finds the extreme first and then the element of lowest index that has it. */
  template <int N, int PER>
  static NDR_DEVICE void fold_vectors(Accumulator &a, const value (&x)[N], i64 index, i64 between, i64 step,
                                      const ndr_params &) {
    value best = tree<extreme<SIGN, SKIP>, N>::join(x);
    int at = is_nan(best) ? place_of(x, step, [](value v) { return is_nan(v); })
                          : place_of(x, step, [best](value v) { return v == best; });
    offer(a, best, index + at / PER * between + at % PER * step);
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    offer(a, b.value, b.index);
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    offer(a, b.value, b.index);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    /* The identity of a narrow integer becomes the state's identity, so that it loses to every element. */
    if (a.index == limits<i64>::most()) return state_identity();
    return {(typename kind<T>::state_value)widened(a.value), a.index};
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    w[0] = to_word(a.value), w[1] = (ndr_word)a.index;
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    return {from_word<typename kind<T>::state_value>(w[0]), (i64)w[1]};
  }
  static NDR_DEVICE i64 finish(const State &a, double) {
    return a.index == limits<i64>::most() ? -1 : a.index;
  }
};

/* The same of 8- and 16-bit integers. An accumulator is one word, and the largest word is the answer: its upper bits
 * say how good the element is, the others are the complement of the index. It is 0 where nothing was seen. Indices are
 * below 2^48. */
template <class T, int SIGN> struct op_narrow_arg {
  typedef op_arg<T, false, false, SIGN> base;
  typedef T element;
  typedef typename base::value value;
  typedef u64 Accumulator;
  typedef typename base::State State;
  typedef i64 result;
  static const bool indexed = true, packed = false, sums_bytes = false, single = true, rooted = false, counting = false;
  static const int words = base::words, LOG = 4, last = (1 << LOG) - 1; /* a batch has at most last + 1 elements */
  static const int span = same<T, boolean>::yes ? 1 : (1 << 8 * sizeof(T)) - 1;
  static const int least = same<value, int>::yes ? -(span / 2) - 1 : 0;
  static const u64 indices = (1ull << 48) - 1;
  static NDR_DEVICE Accumulator identity() { return 0; }
  static NDR_DEVICE State state_identity() { return base::state_identity(); }
  template <int N>
  static NDR_DEVICE void fold(Accumulator &a, const value (&x)[N], i64 index, i64 step, const ndr_params &p) {
    fold_vectors<N, N>(a, x, index, 0, step, p);
  }
  /* The best element, with its number in the batch behind it, or where numbers fall, how far that is from the last. */
  template <int N, bool FALL> static NDR_DEVICE int find(const value (&x)[N]) {
    int numbered[N];
#pragma unroll
    for (int i = 0; i < N; i++) numbered[i] = (int)x[i] * (last + 1) + (FALL ? last - i : i);
    return tree<extreme<SIGN, false>, N>::join(numbered);
  }
  /* As base::fold_vectors. Numbers rise or fall so that of equal elements the one of lowest index wins. */
  template <int N, int PER>
  static NDR_DEVICE void fold_vectors(Accumulator &a, const value (&x)[N], i64 index, i64 between, i64 step,
                                      const ndr_params &) {
    static_assert(N <= last + 1, "numbers in a batch need more bits");
    bool fall = (step < 0) == (SIGN < 0);
    int best = fall ? find<N, true>(x) : find<N, false>(x), number = best & last, at = fall ? last - number : number;
    offer(a, best >> LOG, index + at / PER * between + at % PER * step);
  }
  static NDR_DEVICE void offer(Accumulator &a, int x, i64 index) {
    u64 good = SIGN < 0 ? (u64)(least + span - x) : (u64)(x - least);
    join(a, good << 48 | (indices - (u64)index));
  }
  static NDR_DEVICE void join(Accumulator &a, const Accumulator &b) {
    a = b > a ? b : a;
  }
  static NDR_DEVICE void join_states(State &a, const State &b) {
    base::join_states(a, b);
  }
  static NDR_DEVICE State widen(const Accumulator &a) {
    typedef typename kind<T>::state_value state_value;
    if (a == 0) return state_identity();
    int good = (int)(a >> 48);
    return {(state_value)(SIGN < 0 ? least + span - good : least + good), (i64)(indices - (a & indices))};
  }
  static NDR_DEVICE void save(const State &a, ndr_word *w) {
    base::save(a, w);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    return base::load(w);
  }
  static NDR_DEVICE i64 finish(const State &a, double ddof) {
    return base::finish(a, ddof);
  }
};

template <class T, bool W, bool S, int SIGN> struct arg_of { typedef op_arg<T, W, S, SIGN> type; };
template <bool W, bool S, int SIGN> struct arg_of<i8, W, S, SIGN> { typedef op_narrow_arg<i8, SIGN> type; };
template <bool W, bool S, int SIGN> struct arg_of<u8, W, S, SIGN> { typedef op_narrow_arg<u8, SIGN> type; };
template <bool W, bool S, int SIGN> struct arg_of<i16, W, S, SIGN> { typedef op_narrow_arg<i16, SIGN> type; };
template <bool W, bool S, int SIGN> struct arg_of<u16, W, S, SIGN> { typedef op_narrow_arg<u16, SIGN> type; };
template <bool W, bool S, int SIGN> struct arg_of<boolean, W, S, SIGN> { typedef op_narrow_arg<boolean, SIGN> type; };
template <class T, bool W, bool S> using op_argmin = typename arg_of<T, W, S, -1>::type;
template <class T, bool W, bool S> using op_argmax = typename arg_of<T, W, S, 1>::type;

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
  template <class B> static NDR_DEVICE exact_moments<S, Q> of(const B &a) { return {(S)a.sum, (Q)a.squares, a.n}; }
};
template <class A, class B> NDR_DEVICE A unnarrowed(const B &a) {
  if constexpr (same<A, B>::yes)
    return a;
  else
    return widening<A>::of(a);
}

#endif
