/* Family thread: the axis of smallest stride is kept and wide. Neighbouring threads own neighbouring columns of it, a
 * packet of 16 bytes each (or, where columns or rows are not aligned, one element), and walk the reduced axes.
 *
 * A block is `lanes` threads along the columns by threads() / lanes along the rows; a tile of outputs is `lanes`
 * packets of columns of one combination of the other kept axes. Units are rows: combinations of the reduced axes. */
#ifndef NDR_THREAD_CUH
#define NDR_THREAD_CUH

#include "walk.cuh"

/* What a thread reads of a row. */
template <class Op, bool UNIT> struct column {
  typedef typename Op::element T;
  typedef typename Op::value V;
  static const int count = UNIT ? (int)(16 / sizeof(T)) : 1;
  static const int rows = sizeof(T) == 4 || !UNIT ? 8 : 4; /* in flight: as many as registers hold */
  typedef typename choose<UNIT, ndr_packet, T>::type loaded;
  static NDR_DEVICE ndr_packet load(const T *at, ndr_packet) { return machine::load_packet(at); }
  static NDR_DEVICE T load(const T *at, T) { return machine::load_element(at); }
  static NDR_DEVICE void open(const ndr_packet &packet, V *x) { unpack<Op>(packet, x); }
  static NDR_DEVICE void open(const T &element, V *x) { x[0] = value_of<V>(element); }
};

/* Up to UNROLL rows, `stride` elements and `step` indices apart: all from memory at once, then in column by column. */
template <class Op, bool UNIT, int UNROLL>
NDR_DEVICE void fold_rows(const ndr_params &p, typename Op::Near *a, const typename Op::element *at, i64 stride,
                          i64 index, i64 step, int count) {
  typedef column<Op, UNIT> C;
  typename C::loaded loaded[UNROLL];
  typename Op::value x[UNROLL][C::count];
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (u < count) loaded[u] = C::load(at + u * stride, typename C::loaded());
#pragma unroll
  for (int u = 0; u < UNROLL; u++) C::open(loaded[u], x[u]);
  if (count >= UNROLL) {
#pragma unroll
    for (int c = 0; c < C::count; c++) {
      typename Op::value y[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) y[u] = x[u][c];
      Op::template fold<UNROLL>(a[c], y, index, step, p);
    }
    return;
  }
#pragma unroll
  for (int u = 0; u < UNROLL - 1; u++) {
    if (u >= count) return;
#pragma unroll
    for (int c = 0; c < C::count; c++) fold_value<Op>(p, a[c], x[u][c], index + u * step);
  }
}

/* The rows of a piece that fall to this thread. Rows are counted over axes[kept_count] first: each stretch of them is
 * walked by stride, and only its start is decoded. */
template <class Op, bool UNIT>
NDR_DEVICE void fold_columns(const ndr_params &p, typename Op::Near *a, const typename Op::element *base, range piece,
                             int row, int rows) {
  const int UNROLL = column<Op, UNIT>::rows;
  const ndr_param_axis &axis = p.axes[p.kept_count];
  i64 size = p.reduced_count ? axis.size : 1, stride = rows * axis.stride, step = rows * axis.aux;
  for (i64 first = piece.begin; first < piece.end;) {
    i64 run = p.reduced_count > 1 ? divide(p, axis, first).whole : 0, from = first - run * size;
    i64 end = from + (piece.end - first) < size ? from + (piece.end - first) : size;
    spot s = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
    const typename Op::element *at = base + s.offset + (from + row) * axis.stride;
    i64 index = p.index_origin + s.aux + (from + row) * axis.aux;
    for (i64 left = end - from - row; left > 0; left -= UNROLL * rows) {
      fold_rows<Op, UNIT, UNROLL>(p, a, at, stride, index, step,
                                  left > (UNROLL - 1) * rows ? UNROLL : (int)(left + rows - 1) >> p.row_log);
      at += UNROLL * stride;
      index += UNROLL * step;
    }
    first += end - from;
  }
}

/* Output c of this thread's columns, and where its result goes. */
struct tile_spot {
  i64 output, column;
  spot at;
};

template <class Op, bool UNIT> NDR_DEVICE tile_spot locate_tile(const ndr_params &p, i64 tile, int lane) {
  const int count = column<Op, UNIT>::count;
  tile_spot t;
  i64 rest = p.kept_count > 1 ? tile / p.tiles : 0;
  t.column = ((tile - rest * p.tiles) * p.lanes + lane) * count;
  t.at = locate(p, 1, p.kept_count - 1, rest);
  t.at.offset += t.column * p.axes[0].stride;
  t.at.aux += t.column * p.axes[0].aux;
  t.output = tile * p.tile_outputs + lane * count;
  return t;
}

/* The pieces of a tile, joined by whichever block comes last; every thread of row 0 ends with its columns' totals. */
template <class Op, bool UNIT>
NDR_DEVICE bool join_pieces(const ndr_params &p, typename Op::Far *total, part whose, i64 output, bool owner) {
  const int count = column<Op, UNIT>::count;
  NDR_SHARED unsigned ticket;
  unsigned *counters = p.counters + whose.tile * (p.groups + 1);
  int group = whose.split / p.group;
  i64 first = (i64)group * p.group;
  int members = (int)(p.splits - first < p.group ? p.splits - first : p.group);
  for (int c = 0; owner && c < count; c++) save_partial<Op>(p, whose.split, output + c, total[c]);
  if (!arrive_last(&counters[group], (unsigned)members, &ticket)) return false;
  for (int c = 0; owner && c < count; c++) total[c] = join_slots<Op>(p, first, members, output + c);
  if (p.groups == 1) return true;
  for (int c = 0; owner && c < count; c++) save_partial<Op>(p, p.splits + group, output + c, total[c]);
  if (!arrive_last(&counters[p.groups], (unsigned)p.groups, &ticket)) return false;
  for (int c = 0; owner && c < count; c++) total[c] = join_slots<Op>(p, p.splits, p.groups, output + c);
  return true;
}

template <class Op, bool UNIT> NDR_DEVICE void thread_columns(const ndr_params &p) {
  const int count = column<Op, UNIT>::count;
  NDR_SHARED typename Op::Near room[NDR_BLOCK];
  int lane = machine::thread() & (p.lanes - 1), row = machine::thread() >> p.lane_log, rows = NDR_BLOCK >> p.lane_log;
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    part whose = part_of(p, item);
    tile_spot t = locate_tile<Op, UNIT>(p, whose.tile, lane);
    bool inside = t.column < p.axes[0].size;
    const typename Op::element *base = (const typename Op::element *)p.data + t.at.offset;
    range piece = piece_of(p, whose.split);
    typename Op::Near a[count];
    typename Op::Far total[count];
#pragma unroll
    for (int c = 0; c < count; c++) a[c] = Op::near();
    if (inside) fold_columns<Op, UNIT>(p, a, base, piece, row, rows);
      /* Columns are joined over the block's rows one at a time, so that shared memory holds one state a thread. */
#pragma unroll
    for (int c = 0; rows > 1 && c < count; c++) {
      room[machine::thread()] = a[c];
      machine::barrier();
      for (int other = 1; row == 0 && other < rows; other++) Op::join(a[c], room[other * p.lanes + lane]);
      machine::barrier();
    }
#pragma unroll
    for (int c = 0; c < count; c++) total[c] = Op::widen(a[c]);
    bool owner = inside && row == 0;
    if (p.splits > 1 && !join_pieces<Op, UNIT>(p, total, whose, t.output, owner)) continue;
    if (owner) emit_row<Op, count>(p, t.at.aux, p.axes[0].aux, total);
  }
}

#endif
