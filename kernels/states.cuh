/* Arrays of states in device memory: joins each state into that of another array, or finishes it into a result. */
#ifndef NDR_STATES_CUH
#define NDR_STATES_CUH

#include "walk.cuh"

/* Where element k of a walk lies in both arrays. */
struct state_spot {
  i64 from, to;
  NDR_DEVICE state_spot(const ndr_states_params &p, i64 k) : from(0), to(0) {
#pragma unroll 1
    for (int a = 0; a < p.axis_count; a++) {
      i64 whole = a + 1 < p.axis_count ? k / p.axes[a].size : 0, rest = k - whole * p.axes[a].size;
      from += rest * p.axes[a].from;
      to += rest * p.axes[a].to;
      k = whole;
    }
  }
};

template <class Op> NDR_DEVICE typename Op::State load_state(const ndr_states_params &p, i64 from) {
  ndr_word w[Op::words];
  for (int i = 0; i < Op::words; i++) w[i] = p.from[i * p.from_pitch + from];
  return Op::load(w);
}

template <class Op> struct finds_extreme { static const bool yes = false; };
template <class T, bool W, bool S, class B, class A, class V, int SIGN>
struct finds_extreme<simple<T, W, S, B, A, V, T, keep, extreme<SIGN, S>, plain>> {
  static const bool yes = true;
};

/* A state without elements is a limit of 64 bits; in a narrower result it is that of the dtype. */
template <class V> NDR_DEVICE V within(V x, int) {
  return x;
}
NDR_DEVICE i64 within(i64 x, int bits) {
  i64 most = (i64)(~0ull >> (65 - bits));
  return x > most ? most : x < -most - 1 ? -most - 1 : x;
}
NDR_DEVICE u64 within(u64 x, int bits) {
  u64 most = ~0ull >> (64 - bits);
  return x > most ? most : x;
}

template <class Op>
NDR_DEVICE void store_finished(typename Op::result *to, const typename Op::State &state, double ddof) {
  if (finds_extreme<Op>::yes)
    store_value(to, within(Op::finish(state, ddof), 8 * (int)sizeof *to));
  else
    store_value(to, Op::finish(state, ddof));
}

template <class Op> NDR_DEVICE void states(const ndr_states_params &p) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 k = machine::block() * machine::threads() + machine::thread(); k < p.count; k += stride) {
    state_spot at(p, k);
    ndr_word v[Op::words];
    typename Op::State state = load_state<Op>(p, at.from);
    if (p.finish) {
      store_finished<Op>((typename Op::result *)p.to + at.to, state, p.ddof);
      continue;
    }
    ndr_word *words = (ndr_word *)p.to;
    for (int i = 0; i < Op::words; i++) v[i] = words[i * p.to_pitch + at.to];
    typename Op::State sum = Op::load(v);
    Op::join_states(sum, state);
    Op::save(sum, v);
    for (int i = 0; i < Op::words; i++) words[i * p.to_pitch + at.to] = v[i];
  }
}

#endif
