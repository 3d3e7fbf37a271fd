/* Scans of lines one after the other: see scan.cuh. Tiles pass through shared memory, as scan_tile.cuh has it. */
#ifndef NDR_SCAN_LINES_CUH
#define NDR_SCAN_LINES_CUH

#include "scan_tile.cuh"

/* Lines without elements. */
template <class OP, u32 KNOWN> NDR_DEVICE void scan_nothing(const ndr_scan_params &p) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 line = machine::block() * machine::threads() + machine::thread(); line < p.lines; line += stride)
    scan_put_none<OP, KNOWN>(p, line);
}

/* Tiles that wait for nothing: of whole lines, one or several. */
template <class OP, class Arrays, int E, u32 KNOWN> NDR_DEVICE void scan_alone(const ndr_scan_params &p) {
  typedef typename OP::State State;
  typedef typename OP::result R;
  typedef scan_before<OP, NDR_SCAN_BLOCK, 1> before_type;
  typedef scan_tile<OP, Arrays, E, KNOWN> tile_type;
  const bool whole = tile_type::whole;
  NDR_SHARED scan_shared<State> shared;
  const int thread = machine::thread(), begin = thread * E;
  i64 item = machine::block();
  int turn = 0;
  tile_type(p, item).fetch_all(p, turn);
#pragma unroll 1
  for (; item < p.items; item += machine::blocks(), turn = 1 - turn) {
    const tile_type t(p, item);
    machine::await_copies<0>();
    machine::warp_barrier();
    tile_type(p, item + machine::blocks()).fetch_all(p, 1 - turn);
    typename OP::value x[E];
    t.take_all(p, turn, 0, x);

    /* Each thread for itself. `rest` is the place of its first element in that element's line. What lies behind the
     * tile's end is scanned, too, as no place depends on it. */
    State s[E];
    int length = (int)p.length.size, after = whole ? scan_divide(p.length, begin) : 0,
        rest = whole ? begin - after * length : 0, at = rest;
    bool begins = false;
#pragma unroll
    for (int e = 0; e < E; e++) {
      bool fresh = whole && at == 0;
      s[e] = OP::of(x[e], p);
      if (e > 0 && !fresh) s[e] = OP::joined(s[e > 0 ? e - 1 : 0], s[e]);
      begins = begins || fresh;
      if (whole && ++at == length) at = 0;
    }

    before_type before;
    before.find(shared, s[E - 1], thread, 0, whole ? (begin - rest) / E : 0, begins);
    scan_prefix<OP, NDR_SCAN_BLOCK, 1> prefix;
    prefix.collect(before, (const scan_tiles<State, 1> *)nullptr, 0);
    prefix.apply(before, (const scan_tiles<State, 1> *)nullptr, 0, whole ? length - rest : E, s);

    scan_chunk<R, E> results;
    at = rest;
#pragma unroll
    for (int e = 0; e < E; e++) {
      bool fresh = whole ? at == 0 : e == 0 && !prefix.any;
      scan_store<OP, KNOWN>(p, &results.elements[e], s, e, prefix.all, fresh);
      if ((KNOWN & NDR_SCAN_LONGER) && fresh && begin + e < t.count) scan_put_none<OP, KNOWN>(p, t.line + after);
      if (whole && ++at == length) at = 0, after++;
    }
    tile_type::put(turn, 0, results);
    t.write(p, turn);
    machine::barrier();
  }
}

/* How many of its E elements a thread works on at a time, so that their states stay in registers. */
template <int E> struct scan_part { static const int elements = E > 8 ? 8 : E; };

/* The total of a tile, as scan_before::find returns it. */
template <class OP, class Tile, int E, class Before>
NDR_DEVICE typename OP::State scan_total(const ndr_scan_params &p, const Tile &t, int turn, Before &before,
                                         scan_shared<typename OP::State> &shared) {
  const int N = scan_part<E>::elements;
  typename OP::State total = OP::identity();
#pragma unroll
  for (int from = 0; from < E; from += N) {
    typename OP::value x[N];
    t.take_all(p, turn, from, x);
#pragma unroll
    for (int e = 0; e < N; e++) total = from + e ? OP::joined(total, OP::of(x[e], p)) : OP::of(x[e], p);
  }
  return before.find(shared, total, machine::thread(), 0, 0, false);
}

/* Writes the values of a tile that stand behind `before` and `tiles`. */
template <class OP, class Tile, int E, u32 KNOWN, class Before>
NDR_DEVICE void scan_finish(const ndr_scan_params &p, const Tile &t, int turn, const Before &before,
                            const scan_tiles<typename OP::State, 1> &tiles) {
  typedef typename OP::State State;
  const int N = scan_part<E>::elements;
  scan_prefix<OP, NDR_SCAN_BLOCK, 1> prefix;
  prefix.collect(before, &tiles, 0);
  State run = OP::identity(); /* of the thread's elements so far */
  State last = prefix.all;    /* the same with what stands before them */
#pragma unroll 1
  for (int from = 0; from < E; from += N) {
    typename OP::value x[N];
    State s[N];
    t.take_all(p, turn, from, x);
#pragma unroll
    for (int e = 0; e < N; e++) {
      s[e] = OP::of(x[e], p);
      if (e > 0)
        s[e] = OP::joined(s[e > 0 ? e - 1 : 0], s[e]);
      else if (from > 0)
        s[e] = OP::joined(run, s[e]);
    }
    run = s[N - 1];
    prefix.apply(before, &tiles, 0, N, s);
    scan_chunk<typename OP::result, E, N> results;
#pragma unroll
    for (int e = 0; e < N; e++) {
      bool fresh = from + e == 0 && !prefix.any;
      scan_store<OP, KNOWN>(p, &results.elements[e], s, e, last, fresh);
      if ((KNOWN & NDR_SCAN_LONGER) && fresh && t.count > 0) scan_put_none<OP, KNOWN>(p, t.line);
    }
    last = s[N - 1];
    Tile::put(turn, from, results);
  }
  t.write(p, turn);
}

/* Where the totals of a tile's line are posted. */
template <class OP> NDR_DEVICE scan_slots scan_line_slots(const ndr_scan_params &p, i64 line) {
  return {p.posted + line * p.nodes * OP::words, 1};
}

/* Tiles of long lines: see scan_turn. */
template <class OP, class Arrays, int E, u32 KNOWN> NDR_DEVICE void scan_awaiting(const ndr_scan_params &p) {
  typedef typename OP::State State;
  typedef scan_before<OP, NDR_SCAN_BLOCK, 1> before_type;
  typedef scan_tile<OP, Arrays, E, KNOWN> tile_type;
  NDR_SHARED scan_shared<State> shared;
  NDR_SHARED scan_room<OP> room;
  NDR_SHARED scan_upper<State, NDR_SCAN_BLOCK, 1> upper[NDR_SCAN_TURNS];
  NDR_SHARED State wholes[NDR_SCAN_TURNS];  /* totals */
  NDR_SHARED scan_tiles<State, 1> tiles[2]; /* of the next tile, and of the one that is written, in turn */
  NDR_SHARED i64 numbers[2];
  const int thread = machine::thread();
  scan_publish(scan_first(p), numbers[1]);
  scan_meet();
  scan_turn turn(p, numbers);
  if (thread >= NDR_SCAN_BLOCK) {
#pragma unroll 1
    for (; turn.any(p); turn.go_on(turn.behind(p, numbers))) {
      scan_meet();
      if (turn.next >= p.items) continue;
      const tile_type t(p, turn.next);
      scan_tiles_before<OP, (KNOWN & NDR_SCAN_CHAIN) != 0>(p.tiles, scan_line_slots<OP>(p, t.line), t.tile,
                                                           wholes[turn.room_of_next()], room, tiles[turn.parity]);
    }
    return;
  }
  State first = OP::identity(), first_next = first, first_ahead = first;
  tile_type(p, turn.ahead).fetch_all(p, 0);
#pragma unroll 1
  while (turn.any(p)) {
    machine::await_copies<0>();
    machine::warp_barrier();
    const i64 taken = scan_take(p);
    if (turn.ahead < p.items) {
      const tile_type t(p, turn.ahead);
      before_type before;
      State total = scan_total<OP, tile_type, E>(p, t, turn.room, before, shared);
      first_ahead = before.what[0];
      scan_keep(before, upper[turn.room], thread, 0);
      if ((thread + 1) * E == p.tile) {
        wholes[turn.room] = total;
        if (!(KNOWN & NDR_SCAN_CHAIN)) scan_post<OP>(scan_line_slots<OP>(p, t.line), t.tile, total);
      }
    }
    scan_publish(taken, numbers[turn.parity]);
    scan_meet();
    const i64 behind = turn.behind(p, numbers);
    tile_type(p, behind).fetch_all(p, turn.room_behind());
    if (turn.item < p.items) {
      const before_type before = scan_kept<before_type>(first, upper[turn.room_of_item()], thread, 0);
      scan_finish<OP, tile_type, E, KNOWN>(p, tile_type(p, turn.item), turn.room_of_item(), before,
                                           tiles[1 - turn.parity]);
    }
    first = first_next, first_next = first_ahead;
    turn.go_on(behind);
  }
}

template <class OP, class Arrays, int E, u32 KNOWN> NDR_DEVICE void scan_lines(const ndr_scan_params &p) {
  if ((KNOWN & NDR_SCAN_LONGER) && p.length.size == 0)
    scan_nothing<OP, KNOWN>(p);
  else if constexpr ((KNOWN & (NDR_SCAN_WHOLE | NDR_SCAN_ALONE)) != 0)
    scan_alone<OP, Arrays, E, KNOWN>(p);
  else
    scan_awaiting<OP, Arrays, E, KNOWN>(p);
}

#endif
