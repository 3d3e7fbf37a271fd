/* Family tree where outputs are small and their elements lie in several runs, or apart. A block makes a list of where
 * an output's elements lie behind its first one, which is the same for all outputs. Lanes of its warps read several
 * outputs at once by it, element by element: nothing is decoded for each, and the loads of all are in flight. */
#ifndef NDR_LISTED_CUH
#define NDR_LISTED_CUH

#include "join.cuh"

/* Where the elements of an output lie, counted from its first. */
template <class Op> struct element_list {
  int offset[NDR_LISTED_ELEMENTS];
  int index[Op::indexed ? NDR_LISTED_ELEMENTS : 1];
};

template <class Op> struct listed {
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  /* Outputs that a thread reads at once, and elements of each. */
  static const int OUTPUTS = sizeof(T) <= 4 && sizeof(Accumulator) <= 8 ? NDR_LISTED_OUTPUTS : NDR_LISTED_OUTPUTS / 2,
                   EACH = NDR_LOADS_TREE_LISTED / (sizeof(T) <= 4 ? 1 : 2) / OUTPUTS;

  static NDR_DEVICE void make(const ndr_params &p, element_list<Op> &list) {
    for (int n = machine::thread(); n < (int)p.length; n += NDR_BLOCK) {
      element_spot s = locate_reduced(p, 0, n);
      list.offset[n] = (int)s.offset;
      if constexpr (Op::indexed) list.index[n] = (int)s.index;
    }
    machine::barrier();
  }

  /* Folds what this lane has of the outputs that begin at `base`. */
  static NDR_DEVICE void fold(const ndr_params &p, Accumulator *a, const T *const *base, const element_list<Op> &list,
                              int lane, int lanes) {
    int length = (int)p.length;
#pragma unroll 1
    for (int n = lane; n < length; n += EACH * lanes) {
      T element[OUTPUTS][EACH];
#pragma unroll
      for (int j = 0; j < EACH; j++) {
        if (n + j * lanes >= length) continue;
        int offset = list.offset[n + j * lanes];
#pragma unroll
        for (int u = 0; u < OUTPUTS; u++) element[u][j] = machine::load_element(base[u] + offset);
      }
      bool whole = !Op::indexed && n + (EACH - 1) * lanes < length;
#pragma unroll
      for (int u = 0; u < OUTPUTS; u++) {
        if (whole) {
          typename Op::value x[EACH];
#pragma unroll
          for (int j = 0; j < EACH; j++) x[j] = value_of<typename Op::value>(element[u][j]);
          Op::template fold<EACH>(a[u], x, 0, 0, p);
          continue;
        }
#pragma unroll
        for (int j = 0; j < EACH; j++) {
          int at = n + j * lanes;
          if (at < length) fold_one<Op>(p, a[u], element[u][j], Op::indexed ? p.index_origin + list.index[at] : 0);
        }
      }
    }
  }
};

template <class Op> NDR_DEVICE void tree_listed(const ndr_params &p) {
  typedef listed<Op> L;
  NDR_SHARED element_list<Op> list;
  const ndr_param_threads &lanes = p.tree_listed.lanes;
  int lane = machine::thread() & (lanes.count - 1), team = machine::thread() >> lanes.log,
      teams = NDR_BLOCK >> lanes.log;
  const range outputs = outputs_of(p, machine::block());
  const i64 first = outputs.begin, end = outputs.end;
  L::make(p, list);
#pragma unroll 1
  for (i64 output = first + team; output - team < end; output += L::OUTPUTS * teams) {
    const typename Op::element *base[L::OUTPUTS];
    i64 result[L::OUTPUTS];
    typename Op::Accumulator a[L::OUTPUTS];
#pragma unroll
    for (int u = 0; u < L::OUTPUTS; u++) { /* past the end the last is read again, and not written */
      output_spot s = locate_output(p, output + u * teams < end ? output + u * teams : end - 1);
      base[u] = (const typename Op::element *)p.data + s.offset;
      result[u] = s.result;
      a[u] = Op::identity();
    }
    L::fold(p, a, base, list, lane, lanes.count);
#pragma unroll 1
    for (int mask = lanes.count >> 1; mask > 0; mask >>= 1) {
#pragma unroll
      for (int u = 0; u < L::OUTPUTS; u++) Op::join(a[u], shuffle_state(a[u], mask));
    }
#pragma unroll
    for (int u = 0; u < L::OUTPUTS; u++)
      if (lane == 0 && output + u * teams < end) emit_total<Op>(p, result[u], a[u]);
  }
}

#endif
