/* Scans of lines that lie side by side: see scan.cuh. */
#ifndef NDR_SCAN_COLUMNS_CUH
#define NDR_SCAN_COLUMNS_CUH

#include "scan.cuh"

/* Rows of a column that follow each other, E of which a thread has; behind the column's end they are 0. Neighbouring
 * threads have neighbouring columns. */
template <class OP, class Arrays, int E, u32 KNOWN> struct scan_strip {
  typedef typename OP::value value;
  i64 line, column, first; /* of the other kept axes; along the first; the thread's first row */
  int count;               /* rows that the thread has */

  template <class WHICH> NDR_DEVICE i64 start(const ndr_scan_params &p, i64 row) const {
    return column * WHICH::stride(p.axes[0]) +
           scan_walk<WHICH>(p, 1, p.kept_count - 1, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line) +
           scan_walk<WHICH>(p, p.kept_count, p.scan_count, (KNOWN & NDR_SCAN_ONE_AXIS) != 0, row);
  }
  /* Of the thread's row number e. */
  template <class WHICH> NDR_DEVICE i64 place(const ndr_scan_params &p, i64 start_at, int e) const {
    if (KNOWN & NDR_SCAN_ONE_AXIS) return start_at + scan_walk<WHICH>(p, p.kept_count, p.scan_count, true, e);
    return start<WHICH>(p, first + e);
  }
  template <int K, class T, class... Rest>
  NDR_DEVICE void load_all(const ndr_scan_params &p, value (&x)[E], array_list<T, Rest...>) const {
    const T *from = (const T *)p.data[K];
    i64 at = start<of_array<K>>(p, first);
    T v[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
      v[e] = T{};
      if (e < count) v[e] = machine::load_element(from + place<of_array<K>>(p, at, e));
    }
#pragma unroll
    for (int e = 0; e < E; e++) x[e].template set<K>(v[e]);
    if constexpr (sizeof...(Rest) > 0) load_all<K + 1>(p, x, array_list<Rest...>{});
  }
  template <int K> NDR_DEVICE void set_places(const ndr_scan_params &p, value (&x)[E]) const {
    if constexpr (K < OP::places) {
      i64 at = start<of_place<K>>(p, first);
#pragma unroll
      for (int e = 0; e < E; e++) x[e].template set_place<K>(p.place_start[K] + place<of_place<K>>(p, at, e));
      set_places<K + 1>(p, x);
    }
  }
};

/* The totals of up to 32 siblings, by column. */
template <class State, int COLUMNS> struct scan_siblings { State totals[NDR_SCAN_SIBLINGS * COLUMNS]; };

/* As scan_tiles_before, of COLUMNS columns: UNITS threads of each look at its siblings, those that are there at once.
 * `here`: there is such a column. `total` is read where the unit is 0. */
template <class OP, int UNITS, int COLUMNS>
NDR_DEVICE void
scan_columns_before(const ndr_scan_params &p, const scan_slots &slots, i64 tile, typename OP::State total, bool here,
                    scan_siblings<typename OP::State, COLUMNS> &left, scan_tiles<typename OP::State, COLUMNS> &tiles) {
  typedef typename OP::State State;
  const int ROUNDS = UNITS < NDR_SCAN_SIBLINGS ? NDR_SCAN_SIBLINGS / UNITS : 1;
  const int thread = machine::thread(), unit = thread / COLUMNS, column = thread % COLUMNS;
  const bool holds = unit == 0 && here;
  scan_node up(p.tiles, tile);
  bool last = true;
  int count = 0;
  if (holds) up.post<OP>(slots, total);
#pragma unroll 1
  for (;; up.rise()) {
    const int siblings = up.siblings();
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      int sibling = r * UNITS + unit;
      if (here && sibling < siblings)
        left.totals[sibling * COLUMNS + column] = scan_await<OP>(slots, up.first() + sibling);
    }
    machine::barrier();
    last = last && up.is_last();
    if (siblings > 0) {
      if (holds) {
        State within = left.totals[column];
#pragma unroll 4
        for (int u = 1; u < siblings; u++) within = OP::joined(within, left.totals[u * COLUMNS + column]);
        tiles.levels[count][column] = within;
        total = OP::joined(within, total);
      }
      count++;
    }
    if (up.is_top()) break;
    scan_node parent = up;
    parent.rise();
    if (holds && last) parent.post<OP>(slots, total);
    machine::barrier();
  }
  if (thread == 0) tiles.count = count;
  machine::barrier();
}

/* A tile has COLUMNS columns and `tile` rows, E for each of a column's threads. */
template <class OP, class Arrays, int E, int COLUMNS, u32 KNOWN>
NDR_DEVICE void scan_columns(const ndr_scan_params &p) {
  typedef typename OP::State State;
  typedef typename OP::result R;
  const int UNITS = NDR_SCAN_BLOCK / COLUMNS;
  typedef scan_before<OP, UNITS, COLUMNS> before_type;
  const bool alone = (KNOWN & NDR_SCAN_ALONE) != 0, exclusive = (KNOWN & NDR_SCAN_EXCLUSIVE) != 0;
  NDR_SHARED scan_shared<State> shared;
  NDR_SHARED scan_tiles<State, alone ? 1 : COLUMNS> tiles;
  const int thread = machine::thread(), unit = thread / COLUMNS, lane = thread % COLUMNS;
#pragma unroll 1
  for (i64 item = machine::block(); item < p.items; item += machine::blocks()) {
    scan_strip<OP, Arrays, E, KNOWN> t;
    i64 side = p.lines * p.column_tiles, tile = alone ? 0 : item / side, beside = item - tile * side;
    t.line = p.lines == 1 ? 0 : beside / p.column_tiles;
    t.column = (beside - t.line * p.column_tiles) * COLUMNS + lane;
    t.first = tile * p.tile + unit * E;
    bool here = t.column < p.axes[0].size.size;
    i64 rows = p.length.size - t.first;
    t.count = !here || rows < 0 ? 0 : rows < E ? (int)rows : E;
    typename OP::value x[E];
    t.template load_all<0>(p, x, Arrays{});
    t.template set_places<0>(p, x);
    State s[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
      s[e] = OP::of(x[e], p);
      if (e > 0) s[e] = OP::joined(s[e > 0 ? e - 1 : 0], s[e]);
    }
    before_type before;
    State total = before.find(shared, s[E - 1], unit, lane, 0, false);
    if constexpr (!alone) {
      NDR_SHARED State whole_tile[COLUMNS];
      NDR_SHARED scan_siblings<State, COLUMNS> left;
      if (unit == UNITS - 1) whole_tile[lane] = total;
      machine::barrier();
      i64 columns = p.axes[0].size.size;
      scan_slots slots = {p.posted + t.line * p.nodes * OP::words * columns + t.column, columns};
      scan_columns_before<OP, UNITS, COLUMNS>(p, slots, tile, whole_tile[lane], here, left, tiles);
    }
    scan_prefix<OP, UNITS, COLUMNS> prefix;
    prefix.collect(before, alone ? nullptr : &tiles, lane);
    prefix.apply(before, alone ? nullptr : &tiles, lane, E, s);
    i64 at = t.template start<of_result>(p, t.first);
#pragma unroll
    for (int e = 0; e < E; e++) {
      if (e >= t.count) continue;
      R *to = (R *)p.result + t.template place<of_result>(p, at, e);
      bool fresh = e == 0 && !prefix.any;
      if (exclusive)
        OP::store(to, fresh ? OP::identity() : e ? s[e ? e - 1 : 0] : prefix.all, p);
      else
        OP::store(to, s[e], p);
      if ((KNOWN & NDR_SCAN_LONGER) && fresh) OP::store(to - p.result_step, OP::identity(), p);
    }
    machine::barrier();
  }
}

#endif
