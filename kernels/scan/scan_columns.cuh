/* Scans of lines that lie side by side: see scan.cuh. */
#ifndef NDR_SCAN_COLUMNS_CUH
#define NDR_SCAN_COLUMNS_CUH

#include "scan.cuh"

/* Where a block that has whole columns is: at tile `tile` of `item`, whose tiles it takes one after the other. */
struct scan_spot {
  int item, tile;
  NDR_DEVICE scan_spot next(const ndr_scan_params &p) const {
    if (tile + 1 < p.tiles) return {item, tile + 1};
    return {item + (int)machine::blocks(), 0};
  }
};

/* The value of a thread's column in the last row of the tile before, in the form of scan_tiles. */
template <class State> struct scan_carried {
  State levels[1][1];
  int count; /* 0: the column begins with this tile */
  NDR_DEVICE scan_carried(int tile, const State &value) : count(tile > 0) { levels[0][0] = value; }
};

/* Rows of a column that follow each other, E of which a thread has; behind the column's end they are 0. Neighbouring
 * threads have neighbouring columns. */
template <class OP, class Arrays, int E, int COLUMNS, u32 KNOWN> struct scan_strip {
  typedef typename OP::value value;
  int tile;   /* number in its columns */
  int line;   /* number along the kept axes but the first */
  i64 column; /* number along the first kept axis */
  i64 first;  /* the thread's first row */
  int count;  /* rows that the thread has */
  bool here;  /* there is such a column */

  NDR_DEVICE scan_strip(const ndr_scan_params &p, int item, int unit, int lane) {
    tile = scan_divide(p.lines, item);
    locate(p, item - tile * (int)p.lines.size, item < p.items, unit, lane);
  }
  NDR_DEVICE scan_strip(const ndr_scan_params &p, const scan_spot &spot, int unit, int lane) {
    tile = spot.tile;
    locate(p, spot.item, spot.item < p.items, unit, lane);
  }
  /* `number`: of the tile, among those of the same rows in all lines. */
  NDR_DEVICE void locate(const ndr_scan_params &p, int number, bool exists, int unit, int lane) {
    line = scan_divide(p.column_tiles, number);
    column = (i64)(number - line * (int)p.column_tiles.size) * COLUMNS + lane;
    first = (i64)tile * p.tile + unit * E;
    here = exists && unit < NDR_SCAN_BLOCK / COLUMNS && column < p.axes[0].size.size;
    i64 rows = p.length.size - first;
    count = !here || rows < 0 ? 0 : rows < E ? (int)rows : E;
  }

  template <class WHICH> NDR_DEVICE i64 start(const ndr_scan_params &p, i64 row) const {
    return column * WHICH::stride(p.axes[0]) +
           scan_walk<WHICH>(p, 1, p.kept_count - 1, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line) +
           scan_walk<WHICH>(p, p.kept_count, p.scan_count, (KNOWN & NDR_SCAN_ONE_AXIS) != 0, row);
  }
  /* Calls f(e, address) for each of the thread's rows; elements have type T. Where the rows of a thread are near each
   * other an address takes one multiplication. */
  template <class WHICH, class T, class F> NDR_DEVICE void each(const ndr_scan_params &p, T *origin, const F &f) const {
    const bool one = (KNOWN & NDR_SCAN_ONE_AXIS) != 0, near = (KNOWN & NDR_SCAN_NEAR) != 0;
    const i64 step = one && p.scan_count ? WHICH::stride(p.axes[p.kept_count]) : 0;
    T *const at = origin + start<WHICH>(p, first);
    if (near && count == E) {
#pragma unroll
      for (int e = 0; e < E; e++) f(e, at + (i64)e * (int)step);
      return;
    }
#pragma unroll
    for (int e = 0; e < E; e++)
      if (e < count) f(e, near ? at + (i64)e * (int)step : one ? at + e * step : origin + start<WHICH>(p, first + e));
  }

  /* Elements of 4 bytes and more are brought in ahead of time, to slots that only their thread uses. */
  template <class T> static NDR_DEVICE constexpr bool is_fetched() {
    return sizeof(T) >= 4;
  }
  static NDR_DEVICE constexpr int bytes_of(int count) {
    int bytes = 0;
    for (int k = 0; k < count; k++) bytes += Arrays::bytes(k) >= 4 ? Arrays::bytes(k) : 0;
    return bytes;
  }
  template <int K, class T> static NDR_DEVICE T *slots(int turn) {
    const int elements = NDR_SCAN_BLOCK * E;
    return (T *)(machine::shared_bytes() + (turn * bytes_of(Arrays::count) + bytes_of(K)) * elements) +
           machine::thread();
  }
  template <int K, class T, class... Rest>
  NDR_DEVICE void fetch_all(const ndr_scan_params &p, int turn, array_list<T, Rest...>) const {
    if constexpr (is_fetched<T>()) {
      T *to = slots<K, T>(turn);
      if (scan_moves_widest<T>(p.data[K]))
        each<of_array<K>>(p, (const T *)p.data[K], [=](int e, const T *element) {
          scan_as_units<T, scan_widest_unit<T>()>::fetch(to + e * NDR_SCAN_BLOCK, element);
        });
      else
        each<of_array<K>>(p, (const T *)p.data[K], [=](int e, const T *element) {
          scan_as_units<T, (int)alignof(T)>::fetch(to + e * NDR_SCAN_BLOCK, element);
        });
    }
    if constexpr (sizeof...(Rest) > 0)
      fetch_all<K + 1>(p, turn, array_list<Rest...>{});
    else
      machine::group_copies();
  }
  template <int K, class T, class... Rest>
  NDR_DEVICE void take_all(const ndr_scan_params &p, int turn, value (&x)[E], array_list<T, Rest...>) const {
    T v[E];
    if constexpr (is_fetched<T>()) {
      const T *from = slots<K, T>(turn);
#pragma unroll
      for (int e = 0; e < E; e++) {
        scan_as_units<T, scan_widest_unit<T>()> element;
        element.load(from + e * NDR_SCAN_BLOCK);
        v[e] = element.value;
      }
    } else {
      each<of_array<K>>(p, (const T *)p.data[K],
                        [&](int e, const T *element) { v[e] = machine::load_element(element); });
    }
#pragma unroll
    for (int e = 0; e < E; e++) x[e].template set<K>(v[e]);
    if constexpr (sizeof...(Rest) > 0) take_all<K + 1>(p, turn, x, array_list<Rest...>{});
  }
  template <int K> NDR_DEVICE void set_places(const ndr_scan_params &p, value (&x)[E]) const {
    if constexpr (K < OP::places) {
#pragma unroll
      for (int e = 0; e < E; e++) x[e].template set_place<K>(p.place_start[K] + start<of_place<K>>(p, first + e));
      set_places<K + 1>(p, x);
    }
  }
  NDR_DEVICE void fetch_all(const ndr_scan_params &p, int turn) const {
    fetch_all<0>(p, turn, Arrays{});
  }
  NDR_DEVICE void take_all(const ndr_scan_params &p, int turn, value (&x)[E]) const {
    take_all<0>(p, turn, x, Arrays{});
    set_places<0>(p, x);
  }
};

/* The total of `count` nodes from `first` on. Several are looked at at a time. */
template <class OP> NDR_DEVICE typename OP::State scan_column_sum(const scan_slots &slots, i64 first, int count) {
  const int AT_ONCE = OP::words == 1 ? 8 : 2;
  typename OP::State sum = OP::identity();
#pragma unroll 1
  for (int n = 0; n < count; n += AT_ONCE) {
    scan_seen<OP> seen[AT_ONCE];
    scan_await_all(seen, slots, first + n, count - n);
    sum = n ? OP::joined(sum, seen[0].state()) : seen[0].state();
#pragma unroll
    for (int i = 1; i < AT_ONCE; i++)
      if (n + i < count) sum = OP::joined(sum, seen[i].state());
  }
  return sum;
}

/* As scan_tiles_before, of the column that the lane has. */
template <class OP, int COLUMNS, u32 KNOWN>
NDR_DEVICE void scan_columns_before(const ndr_scan_params &p, const scan_slots &slots, int tile,
                                    const typename OP::State &total, scan_tiles<typename OP::State, COLUMNS> &tiles) {
  typedef typename OP::State State;
  const bool chain = (KNOWN & NDR_SCAN_CHAIN) != 0;
  const int GROUP = chain ? 1 : NDR_SCAN_COLUMN_GROUP, UPPER = chain ? 1 : NDR_SCAN_UPPER_GROUP;
  const int lane = machine::thread() & (NDR_WARP - 1);
  const scan_nodes<GROUP, UPPER> nodes(tile, p.tiles);
  State run = total;
  int count = 0;
  if (nodes.before_in_group() > 0) {
    State within = scan_column_sum<OP>(slots, tile - nodes.before_in_group(), nodes.before_in_group());
    count = tiles.template add<OP>(count, lane, within);
    run = OP::joined(within, run);
  }
  if (!chain && nodes.ends_group()) scan_post<OP>(slots, nodes.group_node(nodes.group()), run);
  if (nodes.groups_before() > 0) {
    State within =
        scan_column_sum<OP>(slots, nodes.group_node(nodes.group() - (u32)nodes.groups_before()), nodes.groups_before());
    count = tiles.template add<OP>(count, lane, within);
    run = OP::joined(within, run);
  }
  if (nodes.top() > 0) {
    State prefix = scan_await<OP>(slots, nodes.prefix_node(nodes.top()));
    count = tiles.template add<OP>(count, lane, prefix);
    run = OP::joined(prefix, run);
  }
  if (nodes.leads_on()) scan_post<OP>(slots, nodes.prefix_node(nodes.top() + 1), run);
  if (lane == 0) tiles.count = count;
}

/* Writes a thread's results. */
template <class OP, u32 KNOWN, class Strip, class Prefix, int E>
NDR_DEVICE void scan_put_column(const ndr_scan_params &p, const Strip &t, const Prefix &prefix,
                                const typename OP::State (&s)[E]) {
  typedef typename OP::result R;
  const bool widest = scan_moves_widest<R>(p.result);
  t.template each<of_result>(p, (R *)p.result, [&](int e, R *to) {
    bool fresh = e == 0 && !prefix.any;
    scan_as_units<R, scan_widest_unit<R>()> element;
    scan_store<OP, KNOWN>(p, &element.value, s, e, prefix.all, fresh);
    if (widest)
      element.store(to);
    else
      *to = element.value;
    if ((KNOWN & NDR_SCAN_LONGER) && fresh) OP::store(to - p.result_step, OP::identity(), p);
  });
}

/* The values of a thread's elements, each with those before it, and with `before` if there is `any`. */
template <class OP, class Strip, int E>
NDR_DEVICE void scan_take_column(const ndr_scan_params &p, const Strip &t, int turn, const typename OP::State &before,
                                 bool any, typename OP::State (&s)[E]) {
  typename OP::value x[E];
  t.take_all(p, turn, x);
#pragma unroll
  for (int e = 0; e < E; e++) {
    s[e] = OP::of(x[e], p);
    if (e > 0 || any) s[e] = OP::joined(e > 0 ? s[e > 0 ? e - 1 : 0] : before, s[e]);
  }
}

/* Blocks have whole columns. Where each thread has a column of its own nothing is exchanged, but warps still meet once
 * a tile, so that neighbours use the sectors that they share at the same time. */
template <class OP, class Arrays, int E, int COLUMNS, u32 KNOWN>
NDR_DEVICE void scan_columns_alone(const ndr_scan_params &p) {
  typedef typename OP::State State;
  const int UNITS = NDR_SCAN_BLOCK / COLUMNS;
  typedef scan_strip<OP, Arrays, E, COLUMNS, KNOWN> strip_type;
  NDR_SHARED scan_exchange<State> exchange;
  NDR_SHARED State carried[2][COLUMNS]; /* the values of the row before a tile */
  const int unit = machine::thread() / COLUMNS, lane = machine::thread() % COLUMNS;
  scan_spot spot = {(int)machine::block(), 0};
  int turn = 0;
  strip_type(p, spot, unit, lane).fetch_all(p, turn);
#pragma unroll 1
  while (spot.item < p.items) {
    const strip_type t(p, spot, unit, lane);
    spot = spot.next(p);
    strip_type(p, spot, unit, lane).fetch_all(p, 1 - turn);
    machine::await_copies<1>();
    State s[E];
    scan_take_column<OP>(p, t, turn, OP::identity(), false, s);
    scan_before<OP, UNITS, COLUMNS> before;
    before.find(exchange.buffer(turn), s[E - 1], unit, lane, 0, false);
    const scan_carried<State> before_tile(t.tile, carried[turn][lane]);
    scan_prefix<OP, UNITS, COLUMNS> prefix;
    prefix.collect(before, &before_tile, 0);
    prefix.apply(before, &before_tile, 0, E, s);
    scan_put_column<OP, KNOWN>(p, t, prefix, s);
    turn = 1 - turn;
    if (unit == UNITS - 1) carried[turn][lane] = s[E - 1];
    if (UNITS == 1)
      machine::barrier();
    else
      exchange.finish_tile();
  }
}

/* Where the totals of the columns beside a column are posted. */
template <class OP> NDR_DEVICE scan_slots scan_column_slots(const ndr_scan_params &p, i64 line, i64 column) {
  const i64 columns = p.axes[0].size.size;
  return {p.posted + line * p.nodes * OP::words * columns + column, columns};
}

/* As scan_awaiting. A tile has COLUMNS columns and `tile` rows, E for each of a column's threads. */
template <class OP, class Arrays, int E, int COLUMNS, u32 KNOWN>
NDR_DEVICE void scan_columns_awaiting(const ndr_scan_params &p) {
  typedef typename OP::State State;
  const int UNITS = NDR_SCAN_BLOCK / COLUMNS;
  typedef scan_strip<OP, Arrays, E, COLUMNS, KNOWN> strip_type;
  typedef scan_before<OP, UNITS, COLUMNS> before_type;
  NDR_SHARED scan_shared<State> shared;
  NDR_SHARED scan_upper<State, UNITS, COLUMNS> upper[NDR_SCAN_TURNS];
  NDR_SHARED State wholes[NDR_SCAN_TURNS][COLUMNS]; /* totals */
  NDR_SHARED scan_tiles<State, COLUMNS> tiles[2];   /* of the next tile, and of the one that is written, in turn */
  NDR_SHARED int numbers[2];
  const int thread = machine::thread(), unit = thread / COLUMNS, lane = thread % COLUMNS;
  scan_publish(scan_first(p), numbers[1]);
  scan_meet<NDR_SCAN_BLOCK>();
  scan_turn turn(p, numbers);
  if (thread >= NDR_SCAN_BLOCK) {
#pragma unroll 1
    while (turn.any(p)) {
      scan_meet<NDR_SCAN_BLOCK>();
      const int behind = turn.behind(p, numbers);
      if (turn.next < p.items && thread < NDR_SCAN_BLOCK + COLUMNS) {
        const strip_type t(p, turn.next, 0, lane);
        if (t.here)
          scan_columns_before<OP, COLUMNS, KNOWN>(p, scan_column_slots<OP>(p, t.line, t.column), t.tile,
                                                  wholes[turn.room_of_next()][lane], tiles[turn.parity]);
      }
      turn.go_on(behind);
      machine::warp_barrier(); /* the lanes come to the next meeting together */
    }
    return;
  }
  State first = OP::identity(), first_next = first, first_ahead = first;
  strip_type(p, turn.ahead, unit, lane).fetch_all(p, 0);
#pragma unroll 1
  while (turn.any(p)) {
    machine::await_copies<0>();
    const int taken = scan_take(p);
    if (turn.ahead < p.items) {
      const strip_type t(p, turn.ahead, unit, lane);
      typename OP::value x[E];
      t.take_all(p, turn.room, x);
      State total = OP::of(x[0], p);
#pragma unroll
      for (int e = 1; e < E; e++) total = OP::joined(total, OP::of(x[e], p));
      before_type before;
      total = before.find(shared, total, unit, lane, 0, false);
      first_ahead = before.what[0];
      scan_keep(before, upper[turn.room], unit, lane);
      if (unit == UNITS - 1) {
        wholes[turn.room][lane] = total;
        if (t.here && !(KNOWN & NDR_SCAN_CHAIN))
          scan_post<OP>(scan_column_slots<OP>(p, t.line, t.column), t.tile, total);
      }
    }
    scan_publish(taken, numbers[turn.parity]);
    scan_meet<NDR_SCAN_BLOCK>();
    const int behind = turn.behind(p, numbers);
    strip_type(p, behind, unit, lane).fetch_all(p, turn.room_behind());
    if (turn.item < p.items) {
      const strip_type t(p, turn.item, unit, lane);
      const before_type before = scan_kept<before_type>(first, upper[turn.room_of_item()], unit, lane);
      const scan_tiles<State, COLUMNS> *const before_tile = &tiles[1 - turn.parity];
      scan_prefix<OP, UNITS, COLUMNS> prefix;
      prefix.collect(before, before_tile, lane);
      State s[E];
      scan_take_column<OP>(p, t, turn.room_of_item(), prefix.all, !OP::chained && prefix.any, s);
      if (OP::chained) prefix.apply(before, before_tile, lane, E, s);
      scan_put_column<OP, KNOWN>(p, t, prefix, s);
    }
    first = first_next, first_next = first_ahead;
    turn.go_on(behind);
  }
}

template <class OP, class Arrays, int E, int COLUMNS, u32 KNOWN>
NDR_DEVICE void scan_columns(const ndr_scan_params &p) {
  if constexpr ((KNOWN & NDR_SCAN_ALONE) != 0)
    scan_columns_alone<OP, Arrays, E, COLUMNS, KNOWN>(p);
  else
    scan_columns_awaiting<OP, Arrays, E, COLUMNS, KNOWN>(p);
}

#endif
