/* Family tile where a group of outputs reads few elements and the groups lie densely one after the other. A group is
 * one output that reads a short row, or the columns of a few short rows. A warp copies a run of a tile of whole groups
 * to shared memory with vector loads. It starts to load the next run, and meanwhile some of its threads reduce each
 * output. Where groups have many runs, see runs.cuh. */
#ifndef NDR_SHORT_GROUPS_CUH
#define NDR_SHORT_GROUPS_CUH

#include "tile.cuh"

/* Groups of outputs that lie side by side, and tiles of them. */
struct groups {
  const ndr_param_groups &g;
  int first_axis; /* the first axis that counts groups */
  i64 along;      /* elements of the result from group to group */
  i64 across;     /* elements of the result from column to column */

  /* The outputs of a tile. */
  struct place {
    int outputs;
    i64 result; /* if one axis counts groups, the first output's element of the result; else the first group's number */
  };
  struct where {
    place to;
    i64 offset;
  };

  NDR_DEVICE groups(const ndr_params &p, const ndr_param_groups &own) : g(own) {
    first_axis = g.outputs > 1;
    along = p.axes[first_axis].result_stride;
    across = p.axes[0].result_stride;
  }

  NDR_DEVICE where find(const ndr_params &p, i64 tile) const {
    int inside = first_axis + g.side_axes;
    i64 rest = p.kept_count == inside ? 0 : tile / g.side_tiles;
    i64 group = (tile - rest * g.side_tiles) * g.tile_groups, left = g.side - group;
    output_spot kept = locate_kept(p, inside, rest);
    if (left > g.tile_groups) left = g.tile_groups;
    i64 result = g.side_axes == 1 ? kept.result + group * along : rest * g.side + group;
    return {{(int)left * g.outputs, result}, kept.offset + group * p.axes[first_axis].stride};
  }

  NDR_DEVICE int group_of(const ndr_params &p, int output) const {
    return g.outputs == 1 ? output : (int)divide(p, p.axes[0], output).whole;
  }

  NDR_DEVICE i64 element_of(const ndr_params &p, const place &to, int group, int output) const {
    i64 column = (output - group * g.outputs) * across;
    if (g.side_axes == 1) return to.result + group * along + column;
    return locate_kept(p, first_axis, to.result + group).result + column;
  }
};

template <class Op> struct short_groups : groups {
  typedef typename Op::element T;
  static const int elements = 16 / sizeof(T), BATCH = NDR_LOADS_TILE_SHORT_GROUPS;
  T *buffer; /* the warp's shared memory */
  int lane, shift;

  /* What this thread has loaded of a run. */
  struct load {
    int head, vectors, count;
    ndr_vector vector[BATCH];
    T edge;
  };

  NDR_DEVICE short_groups(const ndr_params &p) : groups(p, p.tile_short_groups.groups) {
    const ndr_param_tile_short_groups &own = p.tile_short_groups;
    int warp = machine::thread() / NDR_WARP, log = own.lanes.log;
    buffer = (T *)(machine::shared_bytes() + warp * own.smem_bytes);
    lane = machine::thread() % NDR_WARP;
    /* Where a warp's outputs would start in the same banks, threads start at different elements of their outputs. */
    shift = (lane >> log) / g.outputs * g.outputs * own.starts / (NDR_WARP >> log) * own.start_step;
  }

  /* Starts to load `count` elements of a tile. */
  NDR_DEVICE void begin(load &l, const T *first, int count) const {
    stretch<T> s(first, count);
    edges<T> around(s);
    l.head = s.head;
    l.vectors = (int)s.vectors;
    l.count = around.count;
    if (lane < l.count) l.edge = machine::load_element(first + around.at(lane));
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int k = lane + u * NDR_WARP;
      if (k < l.vectors) l.vector[u] = machine::load_vector(first + l.head + k * elements);
    }
  }

  /* Stores what was loaded and returns the tile's first element. The tile keeps its misalignment in shared memory, so
   * that vectors are aligned there too. */
  NDR_DEVICE const T *store(const load &l) const {
    T *tile = buffer + (l.head ? elements - l.head : 0);
    int skipped = l.vectors * elements;
    if (lane < l.count) tile[lane < l.head ? lane : lane + skipped] = l.edge;
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      int k = lane + u * NDR_WARP;
      if (k < l.vectors) *(ndr_vector *)(tile + l.head + k * elements) = l.vector[u];
    }
    return tile;
  }

  /* Folds every lanes-th element from `begin` to `end`. Neighbours are `step` elements and `apart` indices apart. */
  static NDR_DEVICE void fold(const ndr_params &p, typename Op::Accumulator &a, const T *from, int step, i64 index,
                              i64 apart, int begin, int end, int lanes) {
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

  /* The first element of an output in a tile. */
  NDR_DEVICE const T *row_of(const T *tile, int group, int output) const {
    return tile + group * (g.run_length - 1) * g.outputs + output;
  }

  /* Reduces this thread's outputs of a run. Where a tile has several runs, a thread has one output and accumulates them
   * one after the other in `a`. */
  NDR_DEVICE void reduce(const ndr_params &p, const T *tile, const place &to, i64 index, typename Op::Accumulator &a,
                         i64 run) const {
    const ndr_param_threads &lanes = p.tile_short_groups.lanes;
    int length = g.run_length, member = lane & (lanes.count - 1);
    for (int base = 0; base < to.outputs; base += NDR_WARP >> lanes.log) {
      int output = base + (lane >> lanes.log), group = group_of(p, output);
      const T *from = row_of(tile, group, output);
      if (run == 0) a = Op::identity();
      if (output < to.outputs) {
        i64 apart = walked_axis(p).index_step;
        fold(p, a, from, g.outputs, index, apart, shift + member, length, lanes.count);
        if (shift > 0) fold(p, a, from, g.outputs, index, apart, member, shift, lanes.count);
      }
      if (run + 1 < p.tile_short_groups.runs) return;
      join_lanes<Op>(a, lanes.count);
      if (member == 0 && output < to.outputs) emit<Op>(p, element_of(p, to, group, output), Op::widen(a));
    }
  }
};

/* A warp reads its tiles one after the other, and each tile run by run. */
template <class Op> NDR_DEVICE void tile_short_groups(const ndr_params &p) {
  typedef short_groups<Op> reader;
  const ndr_param_tile_short_groups &own = p.tile_short_groups;
  const int warps = NDR_BLOCK / NDR_WARP;
  reader warp(p);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 tile = (item * warps + machine::thread() / NDR_WARP) * own.warp_tiles, end = tile + own.warp_tiles, run = 0;
    if (end > own.tiles) end = own.tiles;
    if (tile >= end) continue;
    typename reader::load next;
    typename reader::place next_place;
    i64 next_index;
    auto begin = [&] {
      typename reader::where at = warp.find(p, tile);
      element_spot outer = locate_reduced(p, 1, run);
      next_place = at.to;
      next_index = p.index_origin + outer.index;
      warp.begin(next, (const typename Op::element *)p.data + at.offset + outer.offset,
                 next_place.outputs * own.groups.run_length);
    };
    typename Op::Accumulator a = Op::identity();
    begin();
    while (tile < end) {
      const typename Op::element *stored = warp.store(next);
      typename reader::place to = next_place;
      i64 index = next_index, stored_run = run;
      if (++run == own.runs) run = 0, tile++;
      if (tile < end) begin();
      machine::warp_barrier();
      warp.reduce(p, stored, to, index, a, stored_run);
      machine::warp_barrier();
    }
  }
}

#endif
