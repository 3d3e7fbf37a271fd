/* Scans of lines one after the other: see scan.cuh. Tiles pass through shared memory, of which each warp has its own
 * part: so warps read and write neighbours, while a thread has E elements that follow each other. */
#ifndef NDR_SCAN_LINES_CUH
#define NDR_SCAN_LINES_CUH

#include "scan.cuh"

/* Where a byte of a warp's part is: 16 bytes are moved among 128, so that lanes whose elements are a power of 2 apart
 * use different banks. */
NDR_DEVICE int scan_moved(int byte) {
  return byte ^ (byte >> 3 & 0x70);
}
/* scan_moved(ahead + byte), where `ahead` is known when the kernel is compiled and is a multiple of the bytes of a
 * warp's elements or vectors, and `byte` is less than that. */
NDR_DEVICE int scan_moved(int ahead, int byte) {
  return (ahead & ~127) + (scan_moved((ahead & 127) + byte) ^ (ahead >> 3 & 0x70));
}

/* N elements that follow each other, of E that a lane has, to and from shared memory: as vectors, or else as units,
 * none of which lies across a boundary of 16 bytes. */
template <class T, int E, int N = E> union scan_chunk {
  typedef typename scan_unit<alignof(T)>::type unit;
  static const int units = N * (int)sizeof(T) / (int)sizeof(unit), packs = N * (int)sizeof(T) / 16;
  static const bool packed = N * sizeof(T) % 16 == 0;
  T elements[N];
  unit single[units];
  ndr_vector vectors[packed ? packs : 1];

  /* Where vector i behind element `first` is. Where a lane has a power of 2 of bytes, the number of its first byte and
   * the offset behind that have no bit in common. */
  static NDR_DEVICE int vector_place(int lane, int first, int i) {
    const int bytes = E * (int)sizeof(T), ahead = first * (int)sizeof(T) + i * 16;
    return (bytes & (bytes - 1)) == 0 && bytes <= 128 ? scan_moved(lane * bytes) ^ ahead
                                                      : scan_moved(lane * bytes + ahead);
  }
  NDR_DEVICE void load(const unsigned char *room, int lane, int first, int shift) {
    const int byte = (lane * E + first) * (int)sizeof(T) + shift;
    if (packed && shift == 0) {
#pragma unroll
      for (int i = 0; i < packs; i++) vectors[i] = *(const ndr_vector *)(room + vector_place(lane, first, i));
    } else {
#pragma unroll
      for (int i = 0; i < units; i++) single[i] = *(const unit *)(room + scan_moved(byte + i * (int)sizeof(unit)));
    }
  }
  NDR_DEVICE void store(unsigned char *room, int lane, int first) const {
    const int byte = (lane * E + first) * (int)sizeof(T);
    if constexpr (packed) {
#pragma unroll
      for (int i = 0; i < packs; i++) *(ndr_vector *)(room + vector_place(lane, first, i)) = vectors[i];
    } else {
#pragma unroll
      for (int i = 0; i < units; i++) *(unit *)(room + scan_moved(byte + i * (int)sizeof(unit))) = single[i];
    }
  }
};

template <class OP, class Arrays, int E, u32 KNOWN> struct scan_tile {
  typedef typename OP::value value;
  typedef typename OP::result result;
  static const bool whole = (KNOWN & NDR_SCAN_WHOLE) != 0;
  static const int warp_elements = NDR_WARP * E;
  i64 tile;  /* number in its line */
  i64 line;  /* the tile's first line */
  i64 first; /* the first element of that line in the tile */
  int count; /* elements; 0: there is no such tile */

  NDR_DEVICE scan_tile(const ndr_scan_params &p, i64 item) {
    tile = whole ? 0 : p.lines == 1 ? item : item / p.lines;
    line = whole ? item * p.tile_lines : item - tile * p.lines;
    first = tile * p.tile;
    i64 left = item >= p.items ? 0 : whole ? (p.lines - line) * p.length.size : p.length.size - first;
    count = (int)(left < p.tile ? left : p.tile);
  }

  /* ---- shared memory: each warp has a part of its own: rooms for the elements of all arrays, which are filled in
   * turn, and one for results, unless each takes the place of its element ---- */

  static const int turns = whole || (KNOWN & NDR_SCAN_ALONE) ? NDR_SCAN_TURNS_ALONE : NDR_SCAN_TURNS;
  static NDR_DEVICE constexpr int rooms(int count) {
    int bytes = 0;
    for (int k = 0; k < count; k++) bytes += NDR_SCAN_ROOM(warp_elements * Arrays::bytes(k), Arrays::alignment(k));
    return bytes;
  }
  static const bool in_place = Arrays::bytes(0) == (int)sizeof(result) && alignof(result) >= 4;
  static const int elements_room = rooms(Arrays::count), results_room = warp_elements * (int)sizeof(result);
  static NDR_DEVICE unsigned char *room(int turn) {
    const int part = turns * elements_room + (in_place ? 0 : results_room);
    return machine::shared_bytes() + machine::thread() / NDR_WARP * part + turn * elements_room;
  }
  static NDR_DEVICE unsigned char *room_for_results(int turn) { return room(in_place ? turn : turns); }

  /* ---- places ---- */

  /* Of element n of the tile. `start` is that of its first. */
  template <class WHICH> NDR_DEVICE i64 start(const ndr_scan_params &p) const {
    return scan_place<KNOWN, WHICH>(p, line, first);
  }
  template <class WHICH, bool FLAT> NDR_DEVICE i64 place(const ndr_scan_params &p, i64 start, int n) const {
    const bool one_kept = (KNOWN & NDR_SCAN_ONE_KEPT) != 0, one_axis = (KNOWN & NDR_SCAN_ONE_AXIS) != 0;
    if (FLAT) return start + n;
    if (!whole) {
      if (one_axis) return start + scan_walk<WHICH>(p, p.kept_count, p.scan_count, true, n);
      return scan_place<KNOWN, WHICH>(p, line, first + n);
    }
    int lines = scan_divide(p.length, n), rest = n - lines * (int)p.length.size;
    if (one_kept && one_axis)
      return start + scan_walk<WHICH>(p, 0, p.kept_count, true, lines) +
             scan_walk<WHICH>(p, p.kept_count, p.scan_count, true, rest);
    return scan_place<KNOWN, WHICH>(p, line + lines, rest);
  }

  /* ---- elements ---- */

  template <int K> static NDR_DEVICE constexpr bool flat() { return (KNOWN >> K & 1) != 0; }

  /* Bytes from a boundary of vectors to the tile in array K. Other than 0 only for elements of less than 4 bytes, which
   * cannot be copied one by one. */
  template <int K, class T> NDR_DEVICE int shift(const ndr_scan_params &p) const {
    if (!flat<K>() || alignof(T) >= 4) return 0;
    return (int)((u64)((const T *)p.data[K] + start<of_array<K>>(p)) % 16);
  }

  template <class UNIT> static NDR_DEVICE void copy_unit(UNIT *room, const UNIT *from) {
    if constexpr (sizeof(UNIT) < 4)
      *room = machine::load_element(from);
    else
      machine::copy_element(room, from);
  }

  /* Where the warp's elements begin in the tile, and how many of them the tile has: none where that is not positive. */
  static NDR_DEVICE int warp_begin() { return machine::thread() / NDR_WARP * warp_elements; }
  NDR_DEVICE int warp_count() const {
    return count - warp_begin() < warp_elements ? count - warp_begin() : warp_elements;
  }

  /* Starts to bring in the warp's elements, which lie side by side from first_byte on; `here` of them are the tile's.
   */
  template <class T> static NDR_DEVICE void fetch_flat(const unsigned char *first_byte, int here, unsigned char *to) {
    typedef typename scan_chunk<T, E>::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1);
    const int before = (int)((u64)first_byte % 16), bytes = here > 0 ? here * (int)sizeof(T) : 0;
    const int vectors = warp_elements * (int)sizeof(T) / 16 + (alignof(T) < 4);
    if (alignof(T) >= 4 && before == 0 && here == warp_elements) {
#pragma unroll
      for (int i = 0; i < vectors / NDR_WARP; i++)
        machine::copy_vector(to + scan_moved(i * NDR_WARP * 16, lane * 16), first_byte + lane * 16 + i * NDR_WARP * 16);
      if (vectors % NDR_WARP != 0 && lane < vectors % NDR_WARP)
        machine::copy_vector(to + scan_moved(vectors / NDR_WARP * NDR_WARP * 16, lane * 16),
                             first_byte + lane * 16 + vectors / NDR_WARP * NDR_WARP * 16);
    } else if (alignof(T) < 4 || before == 0) {
      const unsigned char *boundary = first_byte - before;
      const int end = before + bytes, whole_end = end & ~15,
                rest = (whole_end < before ? before : whole_end) + lane * (int)sizeof(unit);
#pragma unroll
      for (int i = 0; i < (vectors + NDR_WARP - 1) / NDR_WARP; i++) {
        int byte = (i * NDR_WARP + lane) * 16;
        if (bytes > 0 && byte < whole_end) machine::copy_vector(to + scan_moved(byte), boundary + byte);
      }
      if (bytes > 0 && rest < end) copy_unit((unit *)(to + scan_moved(rest)), (const unit *)(boundary + rest));
    } else if constexpr (alignof(T) >= 4) {
#pragma unroll
      for (int i = 0; i < scan_chunk<T, E>::units; i++) {
        const int ahead = i * NDR_WARP * (int)sizeof(unit), byte = lane * (int)sizeof(unit);
        if (ahead + byte < bytes)
          machine::copy_element((unit *)(to + scan_moved(ahead, byte)),
                                (const unit *)(first_byte + byte) + i * NDR_WARP);
      }
    }
  }
  /* Starts to bring in the warp's elements. Behind the tile's end there may be anything: no place depends on it. */
  template <int K, class T> NDR_DEVICE void fetch(const ndr_scan_params &p, unsigned char *to) const {
    typedef typename scan_chunk<T, E>::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1), begin = warp_begin(), here = warp_count();
    const T *from = (const T *)p.data[K];
    const i64 at = start<of_array<K>>(p);
    if constexpr (flat<K>()) {
      fetch_flat<T>((const unsigned char *)(from + at + begin), here, to);
      return;
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      int n = e * NDR_WARP + lane;
      if (n >= here) continue;
      const unit *element = (const unit *)(from + place<of_array<K>, flat<K>()>(p, at, begin + n));
#pragma unroll
      for (int u = 0; u < (int)(sizeof(T) / sizeof(unit)); u++) {
        copy_unit((unit *)(to + scan_moved(n * (int)sizeof(T) + u * (int)sizeof(unit))), element + u);
      }
    }
  }
  template <int K, class T, class... Rest>
  NDR_DEVICE void fetch_all(const ndr_scan_params &p, int turn, array_list<T, Rest...>) const {
    fetch<K, T>(p, room(turn) + rooms(K));
    if constexpr (sizeof...(Rest) > 0)
      fetch_all<K + 1>(p, turn, array_list<Rest...>{});
    else
      machine::group_copies();
  }
  NDR_DEVICE void fetch_all(const ndr_scan_params &p, int turn) const {
    fetch_all<0>(p, turn, Arrays{});
  }

  /* The thread's elements, once they are there. */
  template <int K, int N, class T, class... Rest>
  NDR_DEVICE void take_all(const ndr_scan_params &p, int turn, int from, value (&x)[N], array_list<T, Rest...>) const {
    scan_chunk<T, E, N> own;
    own.load(room(turn) + rooms(K), machine::thread() & (NDR_WARP - 1), from, shift<K, T>(p));
#pragma unroll
    for (int e = 0; e < N; e++) x[e].template set<K>(own.elements[e]);
    if constexpr (sizeof...(Rest) > 0) take_all<K + 1>(p, turn, from, x, array_list<Rest...>{});
  }
  template <int K, int N> NDR_DEVICE void set_places(const ndr_scan_params &p, int from, value (&x)[N]) const {
    if constexpr (K < OP::places) {
      i64 at = start<of_place<K>>(p);
#pragma unroll
      for (int e = 0; e < N; e++)
        x[e].template set_place<K>(p.place_start[K] +
                                   place<of_place<K>, false>(p, at, machine::thread() * E + from + e));
      set_places<K + 1>(p, from, x);
    }
  }
  /* N of them, from number `from` on. */
  template <int N> NDR_DEVICE void take_all(const ndr_scan_params &p, int turn, int from, value (&x)[N]) const {
    take_all<0>(p, turn, from, x, Arrays{});
    set_places<0>(p, from, x);
  }

  /* ---- results ---- */

  /* N results of the thread, from number `from` on. */
  template <int N> static NDR_DEVICE void put(int turn, int from, const scan_chunk<result, E, N> &results) {
    results.store(room_for_results(turn), machine::thread() & (NDR_WARP - 1), from);
  }
  /* Writes what the lanes of the warp have put to results that lie side by side from first_byte on. */
  static NDR_DEVICE void write_flat(unsigned char *first_byte, int here, const unsigned char *own) {
    typedef scan_chunk<result, E> chunk;
    typedef typename chunk::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1);
    if (chunk::packed && (u64)first_byte % 16 == 0 && here == warp_elements) {
#pragma unroll
      for (int i = 0; i < chunk::packs; i++) {
        const int ahead = i * NDR_WARP * 16;
        *(ndr_vector *)(first_byte + lane * 16 + ahead) = *(const ndr_vector *)(own + scan_moved(ahead, lane * 16));
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < chunk::units; i++) {
      const int ahead = i * NDR_WARP * (int)sizeof(unit), byte = lane * (int)sizeof(unit);
      if (ahead + byte < here * (int)sizeof(result))
        *((unit *)(first_byte + byte) + i * NDR_WARP) = *(const unit *)(own + scan_moved(ahead, byte));
    }
  }
  /* Writes what the lanes of the warp have put. */
  NDR_DEVICE void write(const ndr_scan_params &p, int turn) const {
    typedef typename scan_chunk<result, E>::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1), begin = warp_begin(), here = warp_count();
    const unsigned char *own = room_for_results(turn);
    result *to = (result *)p.result;
    i64 at = start<of_result>(p);
    machine::warp_barrier();
    if constexpr ((KNOWN & NDR_SCAN_FLAT_RESULT) != 0) {
      write_flat((unsigned char *)(to + at + begin), here, own);
      return;
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      int n = e * NDR_WARP + lane;
      if (n >= here) continue;
      unit *element = (unit *)(to + place<of_result, false>(p, at, begin + n));
#pragma unroll
      for (int u = 0; u < (int)(sizeof(result) / sizeof(unit)); u++)
        element[u] = *(const unit *)(own + scan_moved(n * (int)sizeof(result) + u * (int)sizeof(unit)));
    }
  }
};

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
