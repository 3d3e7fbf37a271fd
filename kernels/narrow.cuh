/* Family tile where all that an output group reads is short, and the groups lie densely one after the other: rows of a
 * few elements (period 1), or a few rows of `period` columns. A warp copies a run of a tile of whole groups to shared
 * memory with wide loads, gives each output to p.lanes of its threads, and meanwhile loads the next. Where groups have
 * many runs, see runs.cuh. */
#ifndef NDR_NARROW_CUH
#define NDR_NARROW_CUH

#include "tile.cuh"

/* Groups of outputs that lie side by side, and tiles of them. */
struct groups {
  int first_axis;    /* that counts groups */
  i64 along, across; /* of the result: from group to group, from column to column */

  /* The outputs of a tile: how many, and where they go: from which element on, if groups are counted over one axis; the
   * number of the first group, if over several. */
  struct place {
    int outputs;
    i64 result;
  };
  struct where {
    place to;
    i64 offset;
  };

  NDR_DEVICE groups(const ndr_params &p) {
    first_axis = p.period > 1;
    along = p.axes[first_axis].aux;
    across = p.axes[0].aux;
  }

  NDR_DEVICE where find(const ndr_params &p, i64 tile) const {
    int inside = first_axis + p.group_axes;
    i64 rest = p.kept_count == inside ? 0 : tile / p.tiles;
    i64 group = (tile - rest * p.tiles) * p.tile_groups, left = p.side_groups - group;
    spot kept = locate(p, inside, p.kept_count - inside, rest);
    if (left > p.tile_groups) left = p.tile_groups;
    i64 result = p.group_axes == 1 ? kept.aux + group * along : rest * p.side_groups + group;
    return {{(int)left * p.period, result}, kept.offset + group * p.axes[first_axis].stride};
  }

  NDR_DEVICE int group_of(const ndr_params &p, int output) const {
    return p.period == 1 ? output : (int)divide(p, p.axes[0], output).whole;
  }

  NDR_DEVICE i64 element_of(const ndr_params &p, const place &to, int group, int output) const {
    i64 column = (output - group * p.period) * across;
    if (p.group_axes == 1) return to.result + group * along + column;
    return locate(p, first_axis, p.kept_count - first_axis, to.result + group).aux + column;
  }
};

template <class Op> struct narrow : groups {
  typedef typename Op::element T;
  static const int elements = 16 / sizeof(T), BATCH = NDR_LOADS_TILE_NARROW;
  T *room; /* the warp's shared memory */
  int lane, shift;

  /* What this thread has loaded. */
  struct load {
    int head, packets, count;
    ndr_packet packet[BATCH];
    T edge;
  };

  NDR_DEVICE narrow(const ndr_params &p) : groups(p) {
    int warp = machine::thread() / NDR_WARP;
    room = (T *)(machine::shared_bytes() + warp * p.room);
    lane = machine::thread() % NDR_WARP;
    /* Where outputs start so many banks apart that a warp's meet in the same ones, their threads start later in them,
     * by one of p.skew multiples. */
    shift = (lane >> p.lane_log) / p.period * p.period * p.skew / (NDR_WARP >> p.lane_log) * p.skew_unit;
  }

  /* `count` elements of a tile. */
  NDR_DEVICE void begin(load &l, const T *first, int count) const {
    stretch<T> s(first, count);
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

  /* Elements begin .. end of those that are `step` elements and `apart` indices from each other, every lanes-th. */
  static NDR_DEVICE void fold(const ndr_params &p, typename Op::Near &a, const T *from, int step, i64 index, i64 apart,
                              int begin, int end, int lanes) {
    const int UNROLL = 4;
    int e = begin;
    for (from += e * step, step *= lanes; e + (UNROLL - 1) * lanes < end; e += UNROLL * lanes) {
      typename Op::value x[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++, from += step) x[u] = value_of<typename Op::value>(*from);
      Op::template fold<UNROLL>(a, x, index + e * apart, lanes * apart, p);
    }
    for (; e < end; e += lanes, from += step) fold_one<Op>(p, a, *from, index + e * apart);
  }

  /* Where the elements of an output begin in a tile. */
  NDR_DEVICE const T *row_of(const ndr_params &p, const T *tile, int group, int output) const {
    return tile + group * ((int)p.run_units - 1) * p.period + output;
  }

  /* The outputs of a run of a tile that fall to this thread. Several runs are accumulated one after the other: outputs
   * are then so few that a thread has one. */
  NDR_DEVICE void reduce(const ndr_params &p, const T *tile, const place &to, i64 index, typename Op::Near &a,
                         i64 run) const {
    int length = (int)p.run_units, part = lane & (p.lanes - 1);
    for (int base = 0; base < to.outputs; base += NDR_WARP >> p.lane_log) {
      int output = base + (lane >> p.lane_log), group = group_of(p, output);
      const T *from = row_of(p, tile, group, output);
      if (run == 0) a = Op::near();
      if (output < to.outputs) {
        i64 apart = p.axes[p.kept_count].aux;
        fold(p, a, from, p.period, index, apart, shift + part, length, p.lanes);
        if (shift > 0) fold(p, a, from, p.period, index, apart, part, shift, p.lanes);
      }
      if (run + 1 < p.runs) return;
      join_lanes<Op>(a, p.lanes);
      if (part == 0 && output < to.outputs) emit<Op>(p, element_of(p, to, group, output), Op::widen(a));
    }
  }
};

/* A warp reads p.warp_tiles tiles, one after the other, each run by run. */
template <class Op> NDR_DEVICE void tile_narrow(const ndr_params &p) {
  typedef narrow<Op> N;
  const int warps = NDR_BLOCK / NDR_WARP;
  N n(p);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 tile = (item * warps + machine::thread() / NDR_WARP) * p.warp_tiles, end = tile + p.warp_tiles, run = 0;
    if (end > p.all_tiles) end = p.all_tiles;
    if (tile >= end) continue;
    typename N::load next;
    typename N::place coming;
    i64 coming_index;
    auto begin = [&] {
      typename N::where at = n.find(p, tile);
      spot outer = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
      coming = at.to;
      coming_index = p.index_origin + outer.aux;
      n.begin(next, (const typename Op::element *)p.data + at.offset + outer.offset, coming.outputs * (int)p.run_units);
    };
    typename Op::Near a = Op::near();
    begin();
    while (tile < end) {
      const typename Op::element *room = n.store(next);
      typename N::place to = coming;
      i64 index = coming_index, of = run;
      if (++run == p.runs) run = 0, tile++;
      if (tile < end) begin();
      machine::warp_barrier();
      n.reduce(p, room, to, index, a, of);
      machine::warp_barrier();
    }
  }
}

#endif
