/* Family tile where the kept fastest axis has 3 elements (colours, coordinates), so that the compiler knows every
 * phase. A team, which is a warp or the whole block, reads a group of three outputs. The warps of a block's team read
 * different rows of each stretch and are joined at the end. */
#ifndef NDR_COLUMNS3_CUH
#define NDR_COLUMNS3_CUH

#include "tile.cuh"

template <class Op> struct residency<NDR_KERNEL_TILE_COLUMNS3, Op> : residency<NDR_KERNEL_TILE_COLUMNS, Op> {};

/* A lane's vector u lies u * AWAY elements behind its first vector, so that element j of it belongs to phase
 * (u * AWAY + j) % 3, counted from the lane's first element. The compiler knows that number: three accumulators
 * suffice, each in registers of its own. */
template <class Op> struct columns3 {
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  static const int elements = 16 / sizeof(T),
                   UNROLL = elements > 4 ? NDR_LOADS_TILE_COLUMNS3 / 2 : NDR_LOADS_TILE_COLUMNS3,
                   AWAY = NDR_WARP * elements;

  static NDR_DEVICE void fold_whole(const ndr_params &p, Accumulator *a,
                                    const typename Op::value (&x)[UNROLL][elements]) {
#pragma unroll
    for (int phase = 0; phase < 3; phase++) {
      typename Op::value y[UNROLL * elements / 3];
#pragma unroll
      for (int u = 0, count = 0; u < UNROLL; u++)
#pragma unroll
        for (int j = 0; j < elements; j++)
          if ((u * AWAY + j) % 3 == phase) y[count++] = x[u][j];
      Op::template fold<UNROLL * elements / 3>(a[phase], y, 0, 0, p);
    }
  }

  static NDR_DEVICE void accumulate(const ndr_params &p, Accumulator *a, const stretch<T> &s, i64 index, int lane) {
    i64 first = s.head + lane * elements;
    for (int left = (int)s.vectors - lane; left > 0; left -= UNROLL * NDR_WARP, first += UNROLL * AWAY) {
      ndr_vector vector[UNROLL];
      typename Op::value x[UNROLL][elements];
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (left > u * NDR_WARP) vector[u] = machine::load_vector(s.start + first + u * AWAY);
#pragma unroll
      for (int u = 0; u < UNROLL; u++) unpack<Op>(vector[u], x[u]);
      if (left > (UNROLL - 1) * NDR_WARP && !Op::indexed) {
        fold_whole(p, a, x);
        continue;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        if (left <= u * NDR_WARP) break;
#pragma unroll
        for (int j = 0; j < elements; j++)
          fold_value<Op>(p, a[(u * AWAY + j) % 3], x[u][j],
                         Op::indexed ? index_at(p, index, first + u * AWAY + j, 3) : 0);
      }
    }
  }

  /* Folds a warp's rows of a stretch into its lanes' totals of the three outputs. */
  static NDR_DEVICE void fold(const ndr_params &p, Accumulator *total, const stretch<T> &s, i64 index, int lane) {
    static_assert(edges<T>::most <= NDR_WARP, "a lane has one element of the edges at most");
    edges<T> around(s);
    i64 at = around.at(lane);
    T element = T();
    if (lane < around.count) element = machine::load_element(s.start + at);
    Accumulator a[3] = {Op::identity(), Op::identity(), Op::identity()};
    accumulate(p, a, s, index, lane);
    /* Joins each phase to the output that it belongs to in this lane. */
    int phase = (s.head + lane * elements) % 3, column = (int)(at % 3);
    Op::join(total[0], phase == 0 ? a[0] : phase == 1 ? a[2] : a[1]);
    Op::join(total[1], phase == 0 ? a[1] : phase == 1 ? a[0] : a[2]);
    Op::join(total[2], phase == 0 ? a[2] : phase == 1 ? a[1] : a[0]);
#pragma unroll
    for (int k = 0; k < 3; k++)
      if (lane < around.count && column == k) fold_one<Op>(p, total[k], element, index_at(p, index, at, 3));
  }
};

template <class Op> NDR_DEVICE void tile_columns3(const ndr_params &p) {
  typedef typename Op::element T;
  const int warps = NDR_BLOCK / NDR_WARP;
  NDR_SHARED typename Op::Accumulator states[warps][3];
  int thread = machine::thread(), lane = thread % NDR_WARP, warp = thread / NDR_WARP;
  bool alone = p.tile_columns3.team.count == NDR_WARP;
  tile_split whose = split_of(p, machine::block());
  i64 group = alone ? whose.tile * warps + warp : whose.tile;
  range units = units_of(p, whose.split);
  typename Op::Accumulator total[3] = {Op::identity(), Op::identity(), Op::identity()};
  bool inside = group * 3 < p.outputs;
  output_spot kept = locate_kept(p, 1, inside ? group : 0);
  for (i64 row = units.begin; inside && row < units.end;) {
    row_stretch<T> all(p, p.tile_columns3.rows, kept.offset, row, units.end);
    i64 begin = alone ? 0 : all.rows * warp / warps, end = alone ? all.rows : all.rows * (warp + 1) / warps;
    stretch<T> s(all.first + begin * 3, (end - begin) * 3);
    columns3<Op>::fold(p, total, s, all.index + begin * walked_axis(p).index_step, lane);
    row += all.rows;
  }
#pragma unroll
  for (int k = 0; k < 3; k++) {
    join_lanes<Op>(total[k], NDR_WARP);
    if (alone && inside && lane == k) emit<Op>(p, kept.result + k * p.axes[0].result_stride, Op::widen(total[k]));
    if (lane == 0) states[warp][k] = total[k];
  }
  if (alone) return;
  machine::barrier();
  typename Op::Accumulator mine = Op::identity();
  for (int w = 0; thread < 3 && w < warps; w++) Op::join(mine, states[w][thread]);
  finish_columns<Op>(p, p.tile_columns3.rows.columns, whose, kept.result, mine);
}

#endif
