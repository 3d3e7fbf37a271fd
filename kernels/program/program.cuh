/* Operators that are programs (lang/program.h): values computed from elements, folded by operators of ops.cuh, and a
 * result computed from their totals. src/cuda/compile/generate.c writes what is particular to a program, its `nodes`:
 *
 *   element, value                           as of every operator; `value` has what the program reads at a place
 *   all                                      its parts together, of parts.cuh and weighted.cuh
 *   compute<N>(all::batch<N> &, const value (&)[N], p)
 *                                            computes for each of N places what each part folds
 *   result, finish(State, ddof, parameters)
 *                                            the result of a state, not rounded
 *   heavy                                    whether computing takes many registers */
#ifndef NDR_PROGRAM_CUH
#define NDR_PROGRAM_CUH

#include "fused.cuh"
#include "numbers.cuh"
#include "parts.cuh"
#include "states.cuh"
#include "weighted.cuh"

/* Kernels hand on ndr_params, which begin what a program's kernel takes. */
NDR_DEVICE const double *parameters_of(const ndr_params &p) {
  return ((const ndr_program_params &)p).parameters;
}

/* The same, rounded to f32. */
NDR_DEVICE const float *narrow_parameters_of(const ndr_params &p) {
  return ((const ndr_program_params &)p).numbers.narrow;
}

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
  static NDR_DEVICE auto finish(const State &a, double ddof, const double *parameters) {
    return NODES::finish(a, ddof, parameters);
  }
};

template <class NODES> struct finishing<program<NODES>> {
  static NDR_DEVICE auto of(const ndr_params &p, const typename program<NODES>::State &state) {
    return NODES::finish(state, p.ddof, parameters_of(p));
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
                NODES::finish(load_state<typename NODES::all>(q.base, at.from), q.base.ddof, q.parameters));
  }
}

#endif
