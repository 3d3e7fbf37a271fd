/* Several operators from one read. A pair of operators is an operator itself, so that pairs nest to any number. */
#ifndef NDR_FUSED_CUH
#define NDR_FUSED_CUH

#include "walk.cuh"

template <class A, class B> struct pair_of {
  A a;
  B b;
};

template <class A, class B> struct fused {
  typedef typename A::element element;
  typedef typename A::value value;
  typedef pair_of<typename A::Accumulator, typename B::Accumulator> Accumulator;
  typedef pair_of<typename A::State, typename B::State> State;
  static const bool indexed = A::indexed || B::indexed, packed = false, sums_bytes = false, single = false;
  static const int words = A::words + B::words;
  static NDR_DEVICE Accumulator identity() { return {A::identity(), B::identity()}; }
  static NDR_DEVICE State state_identity() { return {A::state_identity(), B::state_identity()}; }
  template <int N>
  static NDR_DEVICE void fold(Accumulator &s, const value (&x)[N], i64 index, i64 step, const ndr_params &p) {
    A::template fold<N>(s.a, x, index, step, p);
    B::template fold<N>(s.b, x, index, step, p);
  }
  template <int N, int PER>
  static NDR_DEVICE void fold_vectors(Accumulator &s, const value (&x)[N], i64 index, i64 between, i64 step,
                                      const ndr_params &p) {
    fold_vectors_of<A, N, PER>(s.a, x, index, between, step, p);
    fold_vectors_of<B, N, PER>(s.b, x, index, between, step, p);
  }
  template <class Op, int N, int PER>
  static NDR_DEVICE void fold_vectors_of(typename Op::Accumulator &a, const value (&x)[N], i64 index, i64 between,
                                         i64 step, const ndr_params &p) {
    if constexpr (Op::indexed)
      Op::template fold_vectors<N, PER>(a, x, index, between, step, p);
    else
      Op::template fold<N>(a, x, index, step, p);
  }
  static NDR_DEVICE void join(Accumulator &s, const Accumulator &t) { A::join(s.a, t.a), B::join(s.b, t.b); }
  static NDR_DEVICE void join_states(State &s, const State &t) { A::join_states(s.a, t.a), B::join_states(s.b, t.b); }
  static NDR_DEVICE State widen(const Accumulator &s) { return {A::widen(s.a), B::widen(s.b)}; }
  static NDR_DEVICE void save(const State &s, ndr_word *w) { A::save(s.a, w), B::save(s.b, w + A::words); }
  static NDR_DEVICE State load(const ndr_word *w) { return {A::load(w), B::load(w + A::words)}; }
};

/* Blocks that a multiprocessor holds of a kernel that is compiled at run time: for one operator as in instantiate.cu.
 * Several accumulators are spilled in as many blocks as one leaves room for. Without a bound, mean and var take 88
 * registers in tree_block, so that two blocks remain: rows of 64 KiB then take a fifth longer. */
template <ndr_kernel KERNEL, class Op> struct compiled_residency : residency<KERNEL, Op> {};
template <ndr_kernel KERNEL, class A, class B> struct compiled_residency<KERNEL, fused<A, B>> {
  static constexpr int blocks(int light) {
    const int bound = residency<KERNEL, fused<A, B>>::blocks(light);
    const int most = sizeof(typename fused<A, B>::Accumulator) <= 24 ? 3 : 2;
    return bound < most ? bound : most;
  }
};

/* Results of the second operator follow those of the first. */
template <class A, class B, int FIRST> struct emission<fused<A, B>, FIRST> {
  static const int results = emission<A, FIRST>::results + emission<B, FIRST>::results;
  static NDR_DEVICE void of(const ndr_params &p, i64 offset,
                            const pair_of<typename A::State, typename B::State> &state) {
    emission<A, FIRST>::of(p, offset, state.a);
    emission<B, FIRST + emission<A, FIRST>::results>::of(p, offset, state.b);
  }
};

#endif
