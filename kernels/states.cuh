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

template <class Op> NDR_DEVICE void states(const ndr_states_params &p) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 k = machine::block() * machine::threads() + machine::thread(); k < p.count; k += stride) {
    state_spot at(p, k);
    ndr_word v[Op::words];
    typename Op::State state = load_state<Op>(p, at.from);
    if (p.finish) {
      store_value((typename Op::result *)p.to + at.to, Op::finish(state, p.ddof));
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
