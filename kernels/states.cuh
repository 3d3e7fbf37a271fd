/* Arrays of states in device memory: joins each state into that of another array, or finishes it into a result. */
#ifndef NDR_STATES_CUH
#define NDR_STATES_CUH

#include "walk.cuh"

template <class Op> NDR_DEVICE void states(const ndr_states_params &p) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 k = machine::block() * machine::threads() + machine::thread(); k < p.count; k += stride) {
    i64 n = k, from = 0, to = 0;
#pragma unroll 1
    for (int a = 0; a < p.axis_count; a++) {
      i64 whole = a + 1 < p.axis_count ? n / p.axes[a].size : 0, rest = n - whole * p.axes[a].size;
      from += rest * p.axes[a].from;
      to += rest * p.axes[a].to;
      n = whole;
    }
    ndr_word w[Op::words], v[Op::words];
    for (int i = 0; i < Op::words; i++) w[i] = p.from[i * p.from_pitch + from];
    typename Op::State state = Op::load(w);
    if (p.finish) {
      store_value((typename Op::result *)p.to + to, Op::finish(state, p.ddof));
      continue;
    }
    ndr_word *words = (ndr_word *)p.to;
    for (int i = 0; i < Op::words; i++) v[i] = words[i * p.to_pitch + to];
    typename Op::State sum = Op::load(v);
    Op::join_states(sum, state);
    Op::save(sum, v);
    for (int i = 0; i < Op::words; i++) words[i * p.to_pitch + to] = v[i];
  }
}

#endif
