/* argmin and argmax: accumulators and states have a value and its index; those of small integers are one word. */
#ifndef NDR_ARG_CUH
#define NDR_ARG_CUH

#include "algebra.cuh"

/* ---- of any dtype ---- */

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

/* ---- of 8- and 16-bit integers ---- */

/* An accumulator is one word, and the largest word is the answer: its upper bits
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
  /* The best element, shifted left by LOG, and in the low bits its number in the batch; where numbers fall, last minus
   * that number. */
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
  /* Folds N rows of 16 columns of bytes, two columns at a time in the halves of a word: a half's upper byte says how
   * good the element is, its lower byte is the row's number, which is the largest where the index is the lowest. */
  template <int N>
  static NDR_DEVICE void fold_byte_columns(Accumulator *a, const ndr_vector *vector, i64 index, i64 step) {
    const bool fall = step >= 0;
    const u32 each = 0x00010001u, first = fall ? (N - 1) * each : 0, more = fall ? 0u - each : each;
    const u64 from = indices - (u64)(fall ? index + (N - 1) * step : index), pace = (u64)(fall ? step : -step);
#pragma unroll
    for (int w = 0; w < 4; w++) {
      u32 even = 0, odd = 0;
#pragma unroll
      for (int u = 0; u < N; u++) {
        const u32 number = first + (u32)u * more;
        u32 four = unsigned_bytes<T>::of(vector[u].word[w]);
        if (SIGN < 0) four ^= (u32)span * 0x01010101u;
        even = machine::maximum_halves(even, machine::pick_bytes<0x2604>(four, number));
        odd = machine::maximum_halves(odd, machine::pick_bytes<0x3614>(four, number));
      }
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const u32 half = (c % 2 ? odd : even) >> 8 * (c & 2);
        join(a[4 * w + c], (u64)(half >> 8 & 0xffu) << 48 | (from + (half & 0xffu) * pace));
      }
    }
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

/* Operators with fold_byte_columns. */
template <class Op> struct folds_byte_columns { static const bool yes = false; };
template <class T, int SIGN> struct folds_byte_columns<op_narrow_arg<T, SIGN>> {
  static const bool yes = unsigned_bytes<T>::yes;
};

/* Integers of 8 and 16 bits. */
template <class T> struct is_narrow {
  static const bool yes = sizeof(T) <= 2 && !is_float<typename kind<T>::state_value>::yes;
};
template <class T, bool W, bool S, int SIGN>
using op_arg_of = typename choose<is_narrow<T>::yes, op_narrow_arg<T, SIGN>, op_arg<T, W, S, SIGN>>::type;
template <class T, bool W, bool S> using op_argmin = op_arg_of<T, W, S, -1>;
template <class T, bool W, bool S> using op_argmax = op_arg_of<T, W, S, 1>;

#endif
