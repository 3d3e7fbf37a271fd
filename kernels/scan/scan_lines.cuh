/* Scans of lines one after the other: see scan.cuh. Tiles pass through shared memory, as scan_tile.cuh has it. */
#ifndef NDR_SCAN_LINES_CUH
#define NDR_SCAN_LINES_CUH

#include "scan_tile.cuh"

/* Lines without elements. */
template <class OP, u32 KNOWN> NDR_DEVICE void scan_nothing(const ndr_scan_params &p) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 line = machine::block() * machine::threads() + machine::thread(); line < p.lines.size; line += stride)
    scan_put_none<OP, KNOWN>(p, line);
}

/* How many of its E elements a thread works on at a time, so that their states stay in registers. */
template <class OP, int E> struct scan_part { static const int elements = OP::chained && E > 8 ? 8 : E; };

/* Goes through a thread's elements, and knows which of them begin lines. What lies before and behind the tile's own
 * elements is scanned, too, as no place depends on it. */
template <class Tile, bool FIRST> struct scan_course {
  static const bool counts = Tile::whole && !Tile::one_start;
  int length, after, at; /* of the element: its line's number in the tile, and its place in that line */
  int start;             /* unless it counts: the first of the thread's elements that begins a line */
  NDR_DEVICE scan_course(const ndr_scan_params &p, const Tile &t, int begin)
      : length((int)p.length.size), after(0), at(0), start(t.lead - begin) {
    if (!Tile::whole) return;
    const int n = begin - t.lead;
    after = n < 0 ? -1 : scan_divide(p.length, n);
    at = n - after * length;
    start = at > 0 ? length - at : 0;
  }
  /* Whether the thread's element e, at which this is, begins a line. FIRST: the tile begins a longer line, behind what
   * it leads with. */
  NDR_DEVICE bool begins(int e) const { return counts ? at == 0 : (Tile::whole || FIRST) && e == start; }
  NDR_DEVICE int line_of(int e) const { return counts ? after : after + (start > 0 && e >= start); }
  NDR_DEVICE void go_on() {
    if (counts && ++at == length) at = 0, after++;
  }
};

/* The total of a tile, or of the part of its last line that is in the tile, as scan_before::find returns it. */
template <bool FIRST, class OP, class Tile, int E, int BLOCK>
NDR_DEVICE typename OP::State scan_total(const ndr_scan_params &p, const Tile &t, int turn,
                                         scan_before<OP, BLOCK, 1> &before,
                                         scan_shared<typename OP::State, BLOCK> &shared) {
  const int N = scan_part<OP, E>::elements, begin = machine::thread() * E;
  scan_course<Tile, FIRST> course(p, t, begin);
  const int from_unit = begin > course.at ? (begin - course.at) / E : 0;
  typename OP::State total = OP::identity();
  bool begins = false;
#pragma unroll 1
  for (int from = 0; from < E; from += N) {
    typename OP::value x[N];
    t.take_all(p, turn, from, x);
#pragma unroll
    for (int e = 0; e < N; e++) {
      const typename OP::State own = OP::of(x[e], p);
      total = from + e == 0 || course.begins(from + e) ? own : OP::joined(total, own);
      begins = begins || course.begins(from + e);
      course.go_on();
    }
  }
  return before.find(shared, total, machine::thread(), 0, Tile::whole ? from_unit : 0, begins);
}

/* Writes the values of a tile that stand behind `before` and `tiles`, if there are tiles before. */
template <bool FIRST, class OP, class Tile, int E, u32 KNOWN, int BLOCK>
NDR_DEVICE void scan_finish(const ndr_scan_params &p, const Tile &t, int turn, const scan_before<OP, BLOCK, 1> &before,
                            const scan_tiles<typename OP::State, 1> *tiles) {
  typedef typename OP::State State;
  const int N = scan_part<OP, E>::elements, begin = machine::thread() * E;
  scan_prefix<OP, BLOCK, 1> prefix;
  prefix.collect(before, tiles, 0);
  scan_course<Tile, FIRST> course(p, t, begin);
  const int same_line = Tile::whole ? course.length - course.at : E; /* elements that `prefix` stands before */
  State run = prefix.all;  /* of the thread's elements of the line so far, and unless chained of those before them */
  State last = prefix.all; /* the value of the place before */
#pragma unroll 1
  for (int from = 0; from < E; from += N) {
    typename OP::value x[N];
    State s[N];
    bool fresh[N];
    t.take_all(p, turn, from, x);
#pragma unroll
    for (int e = 0; e < N; e++) {
      const bool first = from + e == 0;
      fresh[e] = first ? !prefix.any : course.begins(from + e);
      s[e] = OP::of(x[e], p);
      if (!(fresh[e] || (OP::chained && first))) s[e] = OP::joined(e > 0 ? s[e > 0 ? e - 1 : 0] : run, s[e]);
      if ((KNOWN & NDR_SCAN_LONGER) && fresh[e] && begin + from + e < t.count)
        scan_put_none<OP, KNOWN>(p, t.line + course.line_of(from + e));
      course.go_on();
    }
    run = s[N - 1];
    if (OP::chained) prefix.apply(before, tiles, 0, same_line - from, s);
    scan_chunk<typename OP::result, E, N> results;
#pragma unroll
    for (int e = 0; e < N; e++) scan_store<OP, KNOWN>(p, &results.elements[e], s, e, last, fresh[e]);
    last = s[N - 1];
    Tile::put(turn, from, results);
  }
  t.write(p, turn);
}

/* Tiles that wait for nothing: of whole lines, one or several. */
template <class OP, class Arrays, int E, int BLOCK, u32 KNOWN> NDR_DEVICE void scan_alone(const ndr_scan_params &p) {
  typedef typename OP::State State;
  typedef scan_tile<OP, Arrays, E, KNOWN> tile_type;
  typedef scan_exchange<State, BLOCK> exchange_type;
  NDR_SHARED exchange_type exchange;
  const scan_tiles<State, 1> *const none = nullptr;
  int item = (int)machine::block(), turn = 0;
  tile_type(p, item).fetch_all(p, turn);
#pragma unroll 1
  for (; item < p.items; item += (int)machine::blocks(), turn = 1 - turn) {
    const tile_type t(p, item);
    machine::warp_barrier(); /* the lanes have read the results that are in the room of the next tile */
    tile_type(p, item + (int)machine::blocks()).fetch_all(p, 1 - turn);
    machine::await_copies<1>();
    machine::warp_barrier();
    scan_before<OP, BLOCK, 1> before;
    scan_total<false, OP, tile_type, E>(p, t, turn, before, exchange.buffer(turn));
    scan_finish<false, OP, tile_type, E, KNOWN>(p, t, turn, before, none);
    exchange.finish_tile();
  }
}

/* Where the totals of a tile's line are posted. */
template <class OP> NDR_DEVICE scan_slots scan_line_slots(const ndr_scan_params &p, i64 line) {
  return {p.posted + line * p.nodes * OP::words, 1};
}

/* Tiles of long lines: see scan_turn. */
template <class OP, class Arrays, int E, int BLOCK, u32 KNOWN> NDR_DEVICE void scan_awaiting(const ndr_scan_params &p) {
  typedef typename OP::State State;
  typedef scan_before<OP, BLOCK, 1> before_type;
  typedef scan_tile<OP, Arrays, E, KNOWN> tile_type;
  typedef scan_groups<OP, (KNOWN & NDR_SCAN_CHAIN) != 0> groups;
  const bool chain = (KNOWN & NDR_SCAN_CHAIN) != 0;
  const bool early = !chain && groups::upper == 1; /* prefixes are posted in a tile's first turn, not in its second */
  NDR_SHARED scan_shared<State, BLOCK> shared;
  NDR_SHARED scan_room<OP> room;
  NDR_SHARED scan_upper<State, BLOCK, 1> upper[NDR_SCAN_TURNS];
  NDR_SHARED State wholes[NDR_SCAN_TURNS];  /* totals */
  NDR_SHARED scan_tiles<State, 1> tiles[3]; /* of `next` and `item` in turn; of `ahead`, which nobody reads */
  NDR_SHARED int numbers[2];
  const int thread = machine::thread();
  scan_publish(scan_first(p), numbers[1]);
  scan_meet<BLOCK>();
  scan_turn turn(p, numbers);
  if (thread >= BLOCK) {
#pragma unroll 1
    while (turn.any(p)) {
      scan_meet<BLOCK>();
      const int behind = turn.behind(p, numbers);
      /* Job 1 posts the prefix that `ahead` leads on to. */
#pragma unroll 1
      for (int job = 0; job < (early ? 2 : 1); job++) {
        const int item = job ? turn.ahead : turn.next;
        const tile_type t(p, item);
        if (item >= p.items || (job && !typename groups::nodes(t.tile, p.tiles).leads_on())) continue;
        scan_tiles_before<OP, chain>(p.tiles, scan_line_slots<OP>(p, t.line), t.tile, !early || job,
                                     wholes[job ? turn.room : turn.room_of_next()], room, tiles[job ? 2 : turn.parity]);
      }
      turn.go_on(behind);
    }
    return;
  }
  State first = OP::identity(), first_next = first, first_ahead = first;
  tile_type(p, turn.ahead).fetch_all(p, 0);
#pragma unroll 1
  while (turn.any(p)) {
    machine::await_copies<0>();
    machine::warp_barrier();
    const int taken = scan_take(p);
    if (turn.ahead < p.items) {
      const tile_type t(p, turn.ahead);
      before_type before;
      State total = t.lead > 0 ? scan_total<true, OP, tile_type, E>(p, t, turn.room, before, shared)
                               : scan_total<false, OP, tile_type, E>(p, t, turn.room, before, shared);
      first_ahead = before.what[0];
      scan_keep(before, upper[turn.room], thread, 0);
      if ((thread + 1) * E == p.tile) {
        wholes[turn.room] = total;
        if (!(KNOWN & NDR_SCAN_CHAIN)) scan_post<OP>(scan_line_slots<OP>(p, t.line), t.tile, total);
      }
    }
    scan_publish(taken, numbers[turn.parity]);
    scan_meet<BLOCK>();
    const int behind = turn.behind(p, numbers);
    tile_type(p, behind).fetch_all(p, turn.room_behind());
    if (turn.item < p.items) {
      const before_type before = scan_kept<before_type>(first, upper[turn.room_of_item()], thread, 0);
      const tile_type t(p, turn.item);
      const scan_tiles<State, 1> *const before_tile = &tiles[1 - turn.parity];
      if (t.lead > 0)
        scan_finish<true, OP, tile_type, E, KNOWN>(p, t, turn.room_of_item(), before, before_tile);
      else
        scan_finish<false, OP, tile_type, E, KNOWN>(p, t, turn.room_of_item(), before, before_tile);
    }
    first = first_next, first_next = first_ahead;
    turn.go_on(behind);
  }
}

template <class OP, class Arrays, int E, int BLOCK, u32 KNOWN> NDR_DEVICE void scan_lines(const ndr_scan_params &p) {
  if ((KNOWN & NDR_SCAN_LONGER) && p.length.size == 0)
    scan_nothing<OP, KNOWN>(p);
  else if constexpr ((KNOWN & NDR_SCAN_WHOLE) != 0)
    scan_alone<OP, Arrays, E, BLOCK, KNOWN>(p);
  else
    scan_awaiting<OP, Arrays, E, BLOCK, KNOWN>(p);
}

#endif
