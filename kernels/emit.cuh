/* Writes what the lanes of a warp have totalled, COUNT neighbouring outputs each, so that neighbouring lanes write
 * neighbouring bytes: the lanes exchange their results in shared memory. */
#ifndef NDR_EMIT_CUH
#define NDR_EMIT_CUH

#include "walk.cuh"

/* Whether emit_warp should write COUNT outputs a lane: their results fill several whole vectors. Where they fill one,
 * the shared memory that it takes from the first-level cache costs more: thread_shifted loads vectors twice. */
template <class Op, int COUNT, bool SINGLE = Op::single> struct warp_emission {
  static const bool possible = COUNT * sizeof(typename Op::result) > 16 &&
                               COUNT * sizeof(typename Op::result) % 16 == 0;
  static NDR_DEVICE bool here(const ndr_params &p) {
    return !is_partial(p) && !(Op::counting && p.finalize >= NDR_FINALIZE_ANY);
  }
};
template <class Op, int COUNT> struct warp_emission<Op, COUNT, false> { static const bool possible = false; };

/* What a lane hands to others, as vectors: its results, or its accumulators where these are narrower. */
template <class Op, int COUNT> struct lane_results {
  typedef typename Op::Accumulator Accumulator;
  typedef typename Op::result result;
  static const bool narrow = sizeof(Accumulator) < sizeof(result) && COUNT * sizeof(Accumulator) % 16 == 0;
  typedef typename choose<narrow, Accumulator, result>::type item;
  static const int vectors = COUNT * (int)sizeof(item) / 16, per = 16 / (int)sizeof(item),
                   per_result = 16 / (int)sizeof(result);
  /* Lanes whose items shared memory holds at a time. */
  static const int held = vectors > 2 ? 2 * NDR_WARP / vectors : NDR_WARP;
  union {
    item value[COUNT];
    ndr_vector vector[vectors];
  };
  NDR_DEVICE lane_results(const ndr_params &p, const Accumulator *a) {
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
      if constexpr (narrow)
        value[c] = a[c];
      else
        store_value(&value[c], total_of<Op>(p, a[c]));
    }
  }
  /* Where vector n of the held lanes lies: lanes that write or read at the same time start in banks of their own. */
  static NDR_DEVICE int place(int n) {
    return n ^ (n / 8 & (vectors - 1));
  }
  static NDR_DEVICE const item *item_of(const ndr_vector *room, int k) {
    return (const item *)&room[place(k / per)] + k % per;
  }
  /* Writes the result that item k becomes, and the vector of results that begins with item k. */
  static NDR_DEVICE void write(const ndr_params &p, const ndr_vector *room, int k, result *to) {
    if constexpr (narrow)
      store_value(to, total_of<Op>(p, *item_of(room, k)));
    else
      *to = *item_of(room, k);
  }
  static NDR_DEVICE void write_vector(const ndr_params &p, const ndr_vector *room, int k, ndr_vector *to) {
    if constexpr (narrow) {
      const item *from = item_of(room, k);
      union {
        result value[per_result];
        ndr_vector vector;
      } results;
#pragma unroll
      for (int i = 0; i < per_result; i++) store_value(&results.value[i], total_of<Op>(p, from[i]));
      *to = results.vector;
    } else {
      *to = room[place(k / per)];
    }
  }
};

/* Writes the outputs of the first `lanes` lanes, or the first `left` of them if they are fewer, from element `offset`
 * of the result on. All threads of the warp call this with the same arguments, except for their accumulators. */
template <class Op, int COUNT>
NDR_DEVICE void emit_warp(const ndr_params &p, i64 offset, i64 stride, int left, int lanes,
                          const typename Op::Accumulator *a) {
  typedef lane_results<Op, COUNT> results;
  NDR_SHARED ndr_vector shared[2 * NDR_BLOCK];
  ndr_vector *room = shared + 2 * (machine::thread() & ~(NDR_WARP - 1));
  int lane = machine::thread() & (NDR_WARP - 1);
  typename Op::result *out = (typename Op::result *)p.result[0] + offset;
  bool aligned = stride == 1 && (unsigned long long)out % 16 == 0;
  results mine(p, a);
#pragma unroll 1
  for (int first = 0; first < lanes && first * COUNT < left;
       first += results::held, out += results::held * COUNT * stride) {
    machine::warp_barrier();
    if (lane >= first && lane < first + results::held) {
#pragma unroll
      for (int v = 0; v < results::vectors; v++)
        room[results::place((lane - first) * results::vectors + v)] = mine.vector[v];
    }
    machine::warp_barrier();
    int most = (lanes - first < results::held ? lanes - first : results::held) * COUNT;
    int count = left - first * COUNT < most ? left - first * COUNT : most;
    int whole = aligned ? count / results::per_result : 0;
#pragma unroll 1
    for (int n = lane; n < whole; n += NDR_WARP)
      results::write_vector(p, room, n * results::per_result, (ndr_vector *)out + n);
#pragma unroll 1
    for (int k = whole * results::per_result + lane; k < count; k += NDR_WARP)
      results::write(p, room, k, out + k * stride);
  }
}

#endif
