/* Family tile where all that an output group reads is short, and the groups lie densely one after the other: rows of a
 * few elements (period 1), or a few rows of `period` columns. A warp copies a tile of whole groups to shared memory
 * with wide loads, gives each output to p.lanes of its threads, and meanwhile loads the next tile. */
#ifndef NDR_NARROW_CUH
#define NDR_NARROW_CUH

#include "tile.cuh"

template <class Op> struct narrow {
  typedef typename Op::element T;
  static const int elements = 16 / sizeof(T), BATCH = 4;
  T *room; /* the warp's shared memory */
  int lane;
  i64 along, across; /* of the result: from group to group, from column to column */
  int first_kept;    /* kept axes before it lie in the tile */

  /* One stretch of a tile, and what of it this thread has loaded. */
  struct shape {
    int outputs;
    i64 result, index;
  };
  struct load : shape {
    int head, packets, count;
    ndr_packet packet[BATCH];
    T edge;
  };

  NDR_DEVICE narrow(const ndr_params &p) {
    int warp = machine::thread() / NDR_WARP;
    room = (T *)(machine::shared_bytes() + warp * p.room);
    lane = machine::thread() % NDR_WARP;
    first_kept = p.period > 1 ? 2 : 1;
    along = p.axes[first_kept - 1].aux;
    across = p.axes[0].aux;
  }

  /* Run number `run` of tile number `tile`. */
  NDR_DEVICE void begin(const ndr_params &p, load &l, i64 tile, i64 run) const {
    i64 rest = p.kept_count == first_kept ? 0 : tile / p.tiles;
    i64 group = (tile - rest * p.tiles) * p.tile_groups, groups = p.axes[first_kept - 1].size - group;
    spot kept = locate(p, first_kept, p.kept_count - first_kept, rest);
    spot outer = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
    if (groups > p.tile_groups) groups = p.tile_groups;
    const T *first = (const T *)p.data + kept.offset + outer.offset + group * p.axes[first_kept - 1].stride;
    l.outputs = (int)groups * p.period;
    l.result = kept.aux + group * along;
    l.index = p.index_origin + outer.aux;
    stretch<T> s(first, l.outputs * p.run_units);
    edges<T> around(s);
    l.head = s.head;
    l.packets = (int)s.packets;
    l.count = around.count;
    if (lane < l.count) l.edge = machine::load_element(first + around.at(lane));
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int k = lane + u * NDR_WARP;
      if (k < l.packets) l.packet[u] = machine::load_packet(first + l.head + k * elements);
    }
  }

  /* The tile in shared memory, which keeps its misalignment, so that packets are aligned on both sides. */
  NDR_DEVICE const T *store(const load &l) const {
    T *tile = room + (l.head ? elements - l.head : 0);
    int skipped = l.packets * elements;
    if (lane < l.count) tile[lane < l.head ? lane : lane + skipped] = l.edge;
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int k = lane + u * NDR_WARP;
      if (k < l.packets) *(ndr_packet *)(tile + l.head + k * elements) = l.packet[u];
    }
    return tile;
  }

  /* Elements begin .. end of an output's, every p.lanes-th of them. */
  static NDR_DEVICE void fold(const ndr_params &p, typename Op::Near &a, const T *from, int begin, int end, i64 index) {
    const int UNROLL = 4;
    int step = p.lanes * p.period;
    i64 apart = p.axes[p.kept_count].aux;
    int e = begin;
    for (from += e * p.period; e + (UNROLL - 1) * p.lanes < end; e += UNROLL * p.lanes) {
      typename Op::value x[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++, from += step) x[u] = value_of<typename Op::value>(*from);
      Op::template fold<UNROLL>(a, x, index + e * apart, p.lanes * apart, p);
    }
    for (; e < end; e += p.lanes, from += step) fold_one<Op>(p, a, *from, index + e * apart);
  }

  /* Outputs of the tile that fall to this thread. Where neighbouring ones start a multiple of a few banks apart, each
   * starts a little later in its own elements. */
  NDR_DEVICE void reduce(const ndr_params &p, const shape &l, const T *tile, typename Op::Near &a, i64 run) const {
    int length = (int)p.run_units, part = lane & (p.lanes - 1),
        shift = p.lanes == 1 ? lane / p.period * p.period * p.skew / NDR_WARP : 0;
    for (int base = 0; base < l.outputs; base += NDR_WARP >> p.lane_log) {
      int output = base + (lane >> p.lane_log),
          group = p.period == 1 ? output : (int)divide(p, p.axes[0], output).whole;
      int column = output - group * p.period;
      const T *from = tile + group * (int)p.run_units * p.period + column;
      if (run == 0) a = Op::near();
      if (output < l.outputs) {
        fold(p, a, from, shift + part, length, l.index);
        if (shift > 0) fold(p, a, from, 0, shift, l.index);
      }
      if (run + 1 < p.runs) return;
      join_lanes<Op>(a, p.lanes);
      if (part == 0 && output < l.outputs) emit<Op>(p, l.result + group * along + column * across, Op::widen(a));
    }
  }
};

/* An item is p.team tiles a warp, one after the other; each is read run by run. */
template <class Op> NDR_DEVICE void tile_narrow(const ndr_params &p) {
  typedef narrow<Op> N;
  const int warps = NDR_BLOCK / NDR_WARP;
  N n(p);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 tile = (item * warps + machine::thread() / NDR_WARP) * p.team, end = tile + p.team, run = 0;
    if (end > p.all_tiles) end = p.all_tiles;
    if (tile >= end) continue;
    typename N::load next;
    typename Op::Near a = Op::near();
    n.begin(p, next, tile, 0);
    while (tile < end) {
      const typename Op::element *room = n.store(next);
      typename N::shape now = next;
      i64 of = run;
      if (++run == p.runs) run = 0, tile++;
      if (tile < end) n.begin(p, next, tile, run);
      machine::warp_barrier();
      n.reduce(p, now, room, a, of);
      machine::warp_barrier();
    }
  }
}

#endif
