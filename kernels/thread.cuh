/* Family thread: the axis of smallest stride is kept and wide. Neighbouring threads own neighbouring columns of it, a
 * packet of 16 bytes each (or, where columns or rows are not aligned, one element), and walk the reduced axes.
 *
 * A block is `lanes` threads along the columns by threads() / lanes along the rows; a tile of outputs is `lanes` packets
 * of columns of one combination of the other kept axes. Units are rows: combinations of the reduced axes. */
#ifndef NDR_THREAD_CUH
#define NDR_THREAD_CUH

#include "walk.cuh"

/* What a thread reads of a row. */
template <class Op, bool UNIT> struct column {
  typedef typename Op::element T;
  typedef typename Op::value V;
  static const int count = UNIT ? (int)(16 / sizeof(T)) : 1;
  typedef typename choose<UNIT, ndr_packet, T>::type loaded;
  static NDR_DEVICE ndr_packet load(const T *at, ndr_packet) { return machine::load_packet(at); }
  static NDR_DEVICE T load(const T *at, T) { return machine::load_element(at); }
  static NDR_DEVICE void open(const ndr_packet &packet, V *x) { unpack<Op>(packet, x); }
  static NDR_DEVICE void open(const T &element, V *x) { x[0] = value_of<V>(element); }
};

/* UNROLL rows from memory at once, then into the accumulators column by column. */
template <class Op, bool UNIT, int UNROLL>
NDR_DEVICE void fold_rows(const ndr_params &p, typename Op::Near *a, const typename Op::element *base, i64 row, int step) {
  typedef column<Op, UNIT> C;
  typename C::loaded loaded[UNROLL];
  i64 index[UNROLL];
  typename Op::value x[UNROLL][C::count];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    spot s = locate(p, p.kept_count, p.reduced_count, row + u * step);
    loaded[u] = C::load(base + s.offset, typename C::loaded());
    index[u] = p.index_origin + s.aux;
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++) C::open(loaded[u], x[u]);
#pragma unroll
  for (int c = 0; c < C::count; c++) {
    typename Op::value y[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) y[u] = x[u][c];
    if (!Op::indexed) {
      Op::template fold<UNROLL>(a[c], y, 0, 0, true);
      continue;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) fold_value<Op>(a[c], y[u], index[u]);
  }
}

/* Output c of this thread's columns, and where its result goes. */
struct tile_spot { i64 output, column; spot at; };

template <class Op, bool UNIT> NDR_DEVICE tile_spot locate_tile(const ndr_params &p, i64 tile, int lane) {
  const int count = column<Op, UNIT>::count;
  tile_spot t;
  i64 tiles = (p.axes[0].size + p.lanes * count - 1) / (p.lanes * count);
  i64 rest = tiles == 1 ? tile : tile / tiles;
  t.column = ((tile - rest * tiles) * p.lanes + lane) * count;
  t.at = locate(p, 1, p.kept_count - 1, rest);
  t.at.offset += t.column * p.axes[0].stride;
  t.at.aux += t.column * p.axes[0].aux;
  t.output = tile * p.tile_outputs + lane * count;
  return t;
}

/* The pieces of a tile, joined by whichever block comes last; every thread of row 0 ends with its columns' totals. */
template <class Op, bool UNIT>
NDR_DEVICE bool join_pieces(const ndr_params &p, typename Op::Far *total, i64 tile, i64 split, i64 output, bool owner) {
  const int count = column<Op, UNIT>::count;
  NDR_SHARED unsigned ticket;
  unsigned *counters = p.counters + tile * (p.groups + 1);
  int group = (int)(split / p.group);
  i64 first = (i64)group * p.group;
  int members = (int)(p.splits - first < p.group ? p.splits - first : p.group);
  for (int c = 0; owner && c < count; c++) save_partial<Op>(p, split, output + c, total[c]);
  if (!arrive_last(&counters[group], (unsigned)members, &ticket)) return false;
  for (int c = 0; owner && c < count; c++) total[c] = join_slots<Op>(p, first, members, output + c);
  if (p.groups == 1) return true;
  for (int c = 0; owner && c < count; c++) save_partial<Op>(p, p.splits + group, output + c, total[c]);
  if (!arrive_last(&counters[p.groups], (unsigned)p.groups, &ticket)) return false;
  for (int c = 0; owner && c < count; c++) total[c] = join_slots<Op>(p, p.splits, p.groups, output + c);
  return true;
}

template <class Op, bool UNIT> NDR_DEVICE void thread_columns(const ndr_params &p) {
  const int count = column<Op, UNIT>::count, UNROLL = UNIT ? 4 : 8;
  NDR_SHARED typename Op::Near room[NDR_BLOCK];
  int lane = machine::thread() % p.lanes, row = machine::thread() / p.lanes, rows = machine::threads() / p.lanes;
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 tile = p.splits > 1 ? item / p.splits : item, split = item - tile * p.splits;
    tile_spot t = locate_tile<Op, UNIT>(p, tile, lane);
    bool inside = t.column < p.axes[0].size;
    const typename Op::element *base = (const typename Op::element *)p.data + t.at.offset;
    range piece = piece_of(p, split);
    typename Op::Near a[count];
    typename Op::Far total[count];
#pragma unroll
    for (int c = 0; c < count; c++) a[c] = Op::near();
    i64 r = piece.begin + row;
    for (; inside && r + (UNROLL - 1) * rows < piece.end; r += UNROLL * rows)
      fold_rows<Op, UNIT, UNROLL>(p, a, base, r, rows);
    for (; inside && r < piece.end; r += rows) fold_rows<Op, UNIT, 1>(p, a, base, r, rows);
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
    if (p.splits > 1 && !join_pieces<Op, UNIT>(p, total, tile, split, t.output, owner)) continue;
#pragma unroll
    for (int c = 0; c < count; c++)
      if (owner) emit<Op>(p, t.at.aux + c * p.axes[0].aux, total[c]);
  }
}

#endif
