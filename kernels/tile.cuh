/* Family tile: the axis of smallest stride is short, so that one contiguous stretch of memory spans several outputs.
 *
 * tile_columns: the short axis is kept (its size is `period`) and the next reduced axis lies densely around it. A
 * thread's packets are p.lanes packets apart, p.lanes * elements a multiple of period, so element j of its packets
 * always belongs to the same output: it is reduced in registers, and only the ends meet in shared memory. For its other
 * kernels see triples.cuh, narrow.cuh and runs.cuh. */
#ifndef NDR_TILE_CUH
#define NDR_TILE_CUH

#include "walk.cuh"

/* A dense stretch of elements, cut at 16-byte boundaries. */
template <class T> struct stretch {
  const T *start;
  i64 length, packets;
  int head;
  NDR_DEVICE stretch(const T *first, i64 count) {
    const int elements = 16 / sizeof(T);
    int past = (int)((unsigned long long)first % 16 / sizeof(T));
    start = first;
    length = count;
    head = past ? elements - past : 0;
    if (head > length) head = (int)length;
    packets = (length - head) / elements;
  }
};

/* Where element `at` of a stretch of whole rows stands among the reduced elements. A piece is much less than 2^31. */
NDR_DEVICE i64 index_at(const ndr_params &p, i64 index, i64 at, int period) {
  return index + (u32)at / (u32)period * p.axes[p.kept_count].aux;
}

/* The head and tail of a stretch, less than a packet each: read by a thread an element, before the packets, and folded
 * after them by the owners of the outputs, from shared memory. */
template <class T> struct edges {
  static const int most = 2 * (16 / (int)sizeof(T));
  int head, count;
  i64 skipped;
  NDR_DEVICE edges(const stretch<T> &s) {
    skipped = s.packets * (16 / (int)sizeof(T));
    head = s.head;
    count = (int)(s.length - skipped);
  }
  NDR_DEVICE i64 at(int e) const { return e < head ? e : e + skipped; }
};

template <class Op>
NDR_DEVICE void fold_edges(const ndr_params &p, typename Op::Near &a, const edges<typename Op::element> &e,
                           const typename Op::element *edge, i64 index, int column) {
  for (int k = column; k < e.head; k += p.period) fold_one<Op>(p, a, edge[k], index_at(p, index, k, p.period));
  /* The first tail element that belongs to the column. */
  int k = e.head + (int)((column + p.period - e.at(e.head) % p.period) % p.period);
  for (; k < e.count; k += p.period) fold_one<Op>(p, a, edge[k], index_at(p, index, e.at(k), p.period));
}

/* The packets of a stretch that fall to this thread, into its phase accumulators. */
template <class Op>
NDR_DEVICE void fold_phases(const ndr_params &p, typename Op::Near *a, const stretch<typename Op::element> &s,
                            i64 index) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T), UNROLL = NDR_LOADS_TILE_COLUMNS;
  const T *at = s.start + s.head + machine::thread() * elements;
  int left = (int)s.packets - machine::thread(), stride = p.lanes * elements;
  i64 first = s.head + machine::thread() * elements;
  for (; left > 0; left -= UNROLL * p.lanes) {
    ndr_packet packet[UNROLL];
    typename Op::value x[UNROLL][elements];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (left > u * p.lanes) packet[u] = machine::load_packet(at + u * stride);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) unpack<Op>(packet[u], x[u]);
    if (left > (UNROLL - 1) * p.lanes && !Op::indexed) {
#pragma unroll
      for (int j = 0; j < elements; j++) {
        typename Op::value y[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) y[u] = x[u][j];
        Op::template fold<UNROLL>(a[j], y, 0, 0, p);
      }
    } else {
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        if (left <= u * p.lanes) break;
#pragma unroll
        for (int j = 0; j < elements; j++)
          fold_value<Op>(p, a[j], x[u][j], Op::indexed ? index_at(p, index, first + u * stride + j, p.period) : 0);
      }
    }
    at += UNROLL * stride;
    first += UNROLL * stride;
  }
}

/* Joins `total` states of a block, state k belonging to phase k % period, into the first `period` ones. */
template <class Op> NDR_DEVICE void join_phases(const ndr_params &p, typename Op::Near *room, int total) {
  int thread = machine::thread(), width = machine::threads() / p.period * p.period;
  if (width < total) {
    typename Op::Near a = Op::near();
    for (int k = thread; thread < width && k < total; k += width) Op::join(a, room[k]);
    machine::barrier();
    if (thread < width) room[thread] = a;
    machine::barrier();
    total = width;
  }
  int groups = total / p.period, warps = machine::threads() / NDR_WARP;
  if (groups <= 8) {
    for (int g = 1; thread < p.period && g < groups; g++) Op::join(room[thread], room[g * p.period + thread]);
    machine::barrier();
    return;
  }
  /* Each phase is read by one warp alone, so that its sum may replace its first state. */
  for (int phase = thread / NDR_WARP; phase < p.period; phase += warps) {
    typename Op::Near a = Op::near();
#pragma unroll 1
    for (int g = thread % NDR_WARP; g < groups; g += NDR_WARP) Op::join(a, room[g * p.period + phase]);
    join_lanes<Op>(a, NDR_WARP);
    if (thread % NDR_WARP == 0) room[phase] = a;
  }
  machine::barrier();
}

/* The phase accumulators of all threads, joined: the total of phase `phase` into `mine` of the thread that owns it.
 * They meet in shared memory, as many at a time as it holds. */
template <class Op>
NDR_DEVICE void join_accumulators(const ndr_params &p, typename Op::Near &mine, const typename Op::Near *a, int phase) {
  const int elements = 16 / sizeof(typename Op::element);
  typename Op::Near *room = (typename Op::Near *)machine::shared_bytes();
  int thread = machine::thread(), total = p.lanes * elements;
  int most = p.room / (int)sizeof(typename Op::Near) / p.period * p.period;
  for (int base = 0; base < total; base += most) {
    int count = total - base < most ? total - base : most;
#pragma unroll
    for (int j = 0; j < elements; j++) {
      int k = thread * elements + j - base;
      if (thread < p.lanes && k >= 0 && k < count) room[k] = a[j];
    }
    machine::barrier();
    join_phases<Op>(p, room, count);
    if (thread < p.period) Op::join(mine, room[phase]);
    machine::barrier();
  }
}

/* The packets of a stretch, reduced into the owners of its outputs: each thread accumulates by phase, then all join. */
template <class Op>
NDR_DEVICE void fold_packets(const ndr_params &p, typename Op::Near &mine, const stretch<typename Op::element> &s,
                             i64 index, int column) {
  const int elements = 16 / sizeof(typename Op::element);
  typename Op::Near a[elements];
#pragma unroll
  for (int j = 0; j < elements; j++) a[j] = Op::near();
  if (machine::thread() < p.lanes) fold_phases<Op>(p, a, s, index);
  join_accumulators<Op>(p, mine, a, (column + p.period - s.head % p.period) % p.period);
}

/* The rows of an item that lie side by side: p.runs stretches an output group, each of p.run_units rows; a piece is a
 * range of rows of one stretch, or of whole stretches. Units are rows. */
template <class T> struct row_stretch {
  const T *first;
  i64 rows, index;
  NDR_DEVICE row_stretch(const ndr_params &p, i64 base, i64 row, i64 end) {
    i64 run = p.runs == 1 ? 0 : row / p.run_units, in_run = row - run * p.run_units;
    spot outer = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
    rows = p.run_units - in_run < end - row ? p.run_units - in_run : end - row;
    first = (const T *)p.data + base + outer.offset + in_run * p.period;
    index = p.index_origin + outer.aux + in_run * p.axes[p.kept_count].aux;
  }
};

/* Hands an item's totals on, of which thread t < period holds that of column t: to the result, or through the partial
 * states. */
template <class Op>
NDR_DEVICE void finish_columns(const ndr_params &p, part whose, i64 result, const typename Op::Near &mine) {
  int thread = machine::thread();
  bool owner = thread < p.period;
  if (p.splits == 1) {
    if (owner) emit<Op>(p, result + thread * p.axes[0].aux, Op::widen(mine));
    return;
  }
  i64 output = whose.tile * p.period;
  if (owner) save_partial<Op>(p, whose.split, output + thread, Op::widen(mine));
  join_pieces<Op, false>(p, whose, output, p.period, [&](int k) { return result + k * p.axes[0].aux; });
}

template <class Op> NDR_DEVICE void tile_columns(const ndr_params &p) {
  typedef typename Op::element T;
  NDR_SHARED T edge[edges<T>::most];
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    part whose = part_of(p, item);
    spot kept = locate(p, 1, p.kept_count - 1, whose.tile);
    range piece = piece_of(p, whose.split);
    int thread = machine::thread(), column = thread < p.period ? thread : 0;
    typename Op::Near mine = Op::near();
    for (i64 row = piece.begin; row < piece.end;) {
      row_stretch<T> rows(p, kept.offset, row, piece.end);
      stretch<T> s(rows.first, rows.rows * p.period);
      edges<T> around(s);
      T element = T();
      if (thread < around.count) element = machine::load_element(rows.first + around.at(thread));
      fold_packets<Op>(p, mine, s, rows.index, column);
      if (thread < around.count) edge[thread] = element;
      machine::barrier();
      if (thread < p.period) fold_edges<Op>(p, mine, around, edge, rows.index, column);
      machine::barrier();
      row += rows.rows;
    }
    finish_columns<Op>(p, whose, kept.aux, mine);
  }
}

#endif
