/* Family tile where tiles, as in narrow.cuh, are few and have many runs: the warps of a block share a tile and read its
 * runs in turn. Runs that lie densely one after the other, each the whole side of groups, go into shared memory several
 * at a time: a bundle. */
#ifndef NDR_RUNS_CUH
#define NDR_RUNS_CUH

#include "narrow.cuh"

/* Where a bundle is in its tile, and its index; how many runs it holds. */
struct bundle {
  spot at;
  int held;
};

NDR_DEVICE bundle find_bundle(const ndr_params &p, i64 number) {
  int next = p.kept_count + 1;
  if (p.bundle == 1) return {locate(p, next, p.reduced_count - 1, number), 1};
  i64 rest = p.reduced_count == 2 ? 0 : p.small ? (u32)number / (u32)p.bundles : number / p.bundles;
  i64 first = (number - rest * p.bundles) * p.bundle, held = p.axes[next].size - first;
  spot s = locate(p, next + 1, p.reduced_count - 2, rest);
  s.offset += first * p.axes[next].stride;
  s.aux += first * p.axes[next].aux;
  return {s, held < p.bundle ? (int)held : p.bundle};
}

/* Of the p.lanes threads that share an output, 1 << p.run_log take runs of their own; the others, elements of theirs.
 */
template <class Op> struct sharing : narrow<Op> {
  typedef narrow<Op> N;
  typedef typename Op::element T;
  int output, row, rows, element, elements;

  NDR_DEVICE sharing(const ndr_params &p) : N(p) {
    int part = N::lane & (p.lanes - 1), log = p.lane_log - p.run_log;
    output = N::lane >> p.lane_log;
    rows = 1 << p.run_log;
    row = part >> log;
    elements = 1 << log;
    element = part & (elements - 1);
    if (rows > 1) N::shift = elements == 1 && p.skew ? row * p.skew_unit % (int)p.run_units : 0;
  }

  /* What this thread has of a bundle: run by run, or where these are short, across them. */
  NDR_DEVICE void accumulate(const ndr_params &p, typename Op::Near &a, const T *tile, int outputs, int held,
                             i64 index) const {
    int length = (int)p.run_units, run = length * outputs;
    i64 apart = p.axes[p.kept_count].aux, between = p.bundle == 1 ? 0 : p.axes[p.kept_count + 1].aux;
    if (output >= outputs) return;
    const T *from = N::row_of(p, tile, N::group_of(p, output), output);
    if (p.bundle > length) {
      for (int e = element; e < length; e += elements) {
        int turned = e + N::shift < length ? e + N::shift : e + N::shift - length;
        N::fold(p, a, from + turned * p.period, run, index + turned * apart, between, row, held, rows);
      }
      return;
    }
    for (int k = row; k < held; k += rows) {
      N::fold(p, a, from + k * run, p.period, index + k * between, apart, N::shift + element, length, elements);
      if (N::shift > 0)
        N::fold(p, a, from + k * run, p.period, index + k * between, apart, element, N::shift, elements);
    }
  }

  /* What the warps have of their tile, joined and handed on. */
  NDR_DEVICE void meet(const ndr_params &p, part whose, const typename N::place &to, typename Op::Near a) const {
    typedef typename Op::Near Near;
    const int warps = NDR_BLOCK / NDR_WARP, room = 8192 / (warps * (int)sizeof(Near));
    const int width = room < 1 ? 1 : room < NDR_WARP ? room : NDR_WARP;
    NDR_SHARED Near states[warps][width];
    int thread = machine::thread();
    join_lanes<Op>(a, p.lanes);
    for (int first = 0; first < to.outputs; first += width) {
      if (row + element == 0 && output >= first && output < first + width)
        states[thread / NDR_WARP][output - first] = a;
      machine::barrier();
      int k = first + thread;
      if (thread < width && k < to.outputs) {
        Near total = states[0][thread];
#pragma unroll 1
        for (int w = 1; w < warps; w++) Op::join(total, states[w][thread]);
        if (p.splits == 1)
          emit<Op>(p, N::element_of(p, to, N::group_of(p, k), k), Op::widen(total));
        else
          save_partial<Op>(p, whose.split, whose.tile * p.tile_outputs + k, Op::widen(total));
      }
      machine::barrier();
    }
    if (p.splits == 1) return;
    join_pieces<Op, false>(p, whose, whose.tile * p.tile_outputs, to.outputs,
                           [&](int k) { return N::element_of(p, to, N::group_of(p, k), k); });
  }
};

/* An item is a piece of a tile's bundles. */
template <class Op> NDR_DEVICE void tile_runs(const ndr_params &p) {
  typedef narrow<Op> N;
  typedef typename Op::element T;
  const int warps = NDR_BLOCK / NDR_WARP;
  sharing<Op> s(p);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    part whose = part_of(p, item);
    range piece = piece_of(p, whose.split);
    typename N::where at = s.find(p, whose.tile);
    const T *base = (const T *)p.data + at.offset;
    int run = at.to.outputs * (int)p.run_units;
    typename N::load next;
    bundle coming = {{0, 0}, 0};
    typename Op::Near a = Op::near();
    i64 number = piece.begin + machine::thread() / NDR_WARP;
    auto begin = [&] {
      if (number >= piece.end) return;
      coming = find_bundle(p, number);
      s.begin(next, base + coming.at.offset, coming.held * run);
    };
    begin();
    while (number < piece.end) {
      const T *room = s.store(next);
      bundle now = coming;
      number += warps;
      begin();
      machine::warp_barrier();
      s.accumulate(p, a, room, at.to.outputs, now.held, p.index_origin + now.at.aux);
      machine::warp_barrier();
    }
    s.meet(p, whose, at.to, a);
  }
}

#endif
