/* Family thread where rows begin anywhere and are many. A vector load needs a 16-byte boundary, and a row's phase is
 * how many elements its first column lies behind one. Phases recur every few rows. A thread reads rows of one phase
 * only, and so aligned vectors: its columns begin `phase` elements before those of a thread whose rows have phase 0.
 * What the vectors hold beside the tile's columns is accumulated, too, and dropped when rows are joined. */
#ifndef NDR_PHASED_CUH
#define NDR_PHASED_CUH

#include "thread.cuh"

template <class Op> struct column<Op, READ_PHASED> : column<Op, READ_VECTOR> {
  static const int count = column<Op, READ_VECTOR>::count, bytes = count * (int)sizeof(typename Op::Accumulator);
  /* The values of single bytes take many registers, except where words are summed whole. */
  static const bool crowded = count > 8 && bytes <= 64 && !Op::sums_bytes;
  static const int rows = crowded ? NDR_LOADS_THREAD_PHASED / 2 : NDR_LOADS_THREAD_PHASED;
  static constexpr int blocks(int most) { return bytes <= 32 || (count > 8 && bytes <= 64) ? most : most - 1; }
  static NDR_DEVICE ndr_vector load(const typename Op::element *at) { return machine::load_vector<true>(at); }
};
template <class Op> struct residency<NDR_KERNEL_THREAD_PHASED, Op> : narrow_column<Op, READ_PHASED> {};

/* A thread's place in a tile. */
template <class Op> struct phased {
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  typedef column<Op, READ_PHASED> C;
  static const int count = C::count;
  const ndr_param_thread &own;
  int lane, row;

  NDR_DEVICE phased(const ndr_params &p) : own(p.thread) {
    u32 thread = (u32)machine::opaque(machine::thread());
    row = (int)divide(own.lane_count, thread);
    lane = (int)thread - row * own.lanes.count;
  }

  static NDR_DEVICE int phase(const T *at) { return (int)(phase_of(at) / sizeof(T)); }

  /* This thread's first row from `start` on, which is a row of the tile: as far from a boundary as row `row` of those
   * that begin at `base`. */
  NDR_DEVICE int first_row(const T *base, const T *start) const {
    int behind = (phase(base) - phase(start)) & (count - 1);
    int turned = (behind >> own.phase_step_log) * own.phase_inverse;
    return (row & ~(own.phases - 1)) | ((row + turned) & (own.phases - 1));
  }

  /* Folds the rows of a split. `base` is the first of the tile's `columns` columns in the first row. */
  NDR_DEVICE void fold(const ndr_params &p, Accumulator *a, const T *base, int columns, range split) const {
    const int UNROLL = C::rows;
    const ndr_param_axis &axis = walked_axis(p);
    int first_column = lane * count - phase(base + row * axis.stride), rows = own.rows;
    if (row >= rows || first_column >= columns) return;
    i64 size = axis.size, stride = rows * axis.stride, step = rows * axis.index_step;
    for (i64 first = split.begin; first < split.end;) {
      i64 run = reduced_count(p) > 1 ? divide(p, axis, first).whole : 0, from = first - run * size;
      i64 end = from + (split.end - first) < size ? from + (split.end - first) : size;
      element_spot s = locate_reduced(p, 1, run);
      const T *start = base + s.offset + from * axis.stride;
      int mine = first_row(base, start), left = (int)(end - from) - mine;
      i64 index = p.index_origin + s.index + from * axis.index_step;
      const T *last = start + (end - from - 1) * axis.stride + first_column;
      if (left > 0 && last + count > array_end<T>(p).end && (left - 1) % rows == 0) {
        left--;
        fold_row<Op, READ_PHASED>(p, a, array_end<T>(p).load_rest(), index + (end - from - 1) * axis.index_step);
      }
      const T *at = start + mine * axis.stride + first_column;
      for (index += mine * axis.index_step; left > 0; left -= UNROLL * rows) {
        fold_rows<Op, READ_PHASED, UNROLL>(p, a, at, stride, index, step, left, rows);
        at += UNROLL * stride;
        index += UNROLL * step;
      }
      first += end - from;
    }
  }

  /* Joins the rows of the block in shared memory, some of each thread's columns at a time. Neighbouring threads, the
   * joiners of a column, each take some of its rows; all of them get the total. */
  NDR_DEVICE Accumulator join(const ndr_params &p, const Accumulator *a, const T *base, int columns) const {
    const int width = join_width<Accumulator, count>();
    NDR_SHARED Accumulator accumulators[width][NDR_BLOCK + (width > 1 ? 32 / width : 0)];
    int thread = machine::thread(), column = thread >> own.joiners.log, member = thread & (own.joiners.count - 1);
    u32 start = (u32)phase(base), stride = (u32)walked_axis(p).stride;
    Accumulator total = Op::identity();
#pragma unroll
    for (int first = 0; first < count; first += width) {
#pragma unroll
      for (int c = 0; c < width; c++) accumulators[c][thread] = a[first + c];
      machine::barrier();
      for (int r = member; r < own.rows && column < columns; r += own.joiners.count) {
        int place = column + (int)((start + (u32)r * stride) & (count - 1)), c = (place & (count - 1)) - first;
        if (c >= 0 && c < width) Op::join(total, accumulators[c][r * own.lanes.count + place / count]);
      }
      machine::barrier();
    }
    join_lanes<Op>(total, own.joiners.count);
    return total;
  }
};

template <class Op> NDR_DEVICE void reduce_phased(const ndr_params &p) {
  typedef phased<Op> block;
  const int count = block::count;
  typename Op::Accumulator a[count];
#pragma unroll
  for (int c = 0; c < count; c++) a[c] = Op::identity();
  {
    tile_split whose = split_of(p, machine::block());
    team_spot t = locate_team(p, whose.tile);
    const typename Op::element *base = (const typename Op::element *)p.data + t.at.offset;
    block(p).fold(p, a, base, (int)t.columns, units_of(p, whose.split));
  }
  tile_split whose = split_of(p, machine::opaque(machine::block())); /* located again: kept, it would take registers */
  team_spot t = locate_team(p, whose.tile);
  block again(p);
  typename Op::Accumulator total = again.join(p, a, (const typename Op::element *)p.data + t.at.offset, (int)t.columns);
  int column = machine::thread() >> p.thread.joiners.log;
  auto place = [&](int k) { return place_of_column(p, t, k); };
  if (column < t.columns && (machine::thread() & (p.thread.joiners.count - 1)) == 0) {
    if (splits_of(p) == 1)
      emit_total<Op>(p, place(column), total);
    else
      save_partial<Op>(p, whose.split, t.output + column, Op::widen(total));
  }
  if (splits_of(p) > 1) join_splits<Op, false>(p, whose, t.output, (int)t.columns, place);
}

template <class Op> NDR_DEVICE void thread_phased(const ndr_params &p) {
  reduce_phased<typename narrowed<Op>::type>(p);
}

#endif
