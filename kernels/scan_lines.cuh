/* Scans of lines one after the other: see scan.cuh. Tiles pass through shared memory, of which each warp has its own
 * part: so warps read and write neighbours, while a thread has E elements that follow each other. */
#ifndef NDR_SCAN_LINES_CUH
#define NDR_SCAN_LINES_CUH

#include "scan.cuh"

/* 64 bytes are followed by 16 that are not used, so that lanes whose elements are a power of 2 apart use several banks.
 */
NDR_DEVICE int scan_padded(int byte) {
  return byte + (byte / 64) * 16;
}

template <class OP, class Arrays, int E, u32 KNOWN> struct scan_tile {
  typedef typename OP::value value;
  typedef typename OP::result result;
  static const int warp_elements = NDR_WARP * E;
  i64 line, first; /* the first line of the tile, and the first of its elements that is in the tile */
  int count;       /* elements */

  static NDR_DEVICE constexpr int widest() {
    int most = (int)sizeof(result);
    for (int k = 0; k < Arrays::count; k++) most = Arrays::bytes(k) > most ? Arrays::bytes(k) : most;
    return most;
  }
  static NDR_DEVICE unsigned char *room() {
    return machine::shared_bytes() + machine::thread() / NDR_WARP * scan_padded(warp_elements * widest());
  }

  /* Of element n of the tile. `start` is that of its first. */
  template <class WHICH> NDR_DEVICE i64 start(const ndr_scan_params &p) const {
    return scan_place<KNOWN, WHICH>(p, line, first);
  }
  template <class WHICH, bool FLAT> NDR_DEVICE i64 place(const ndr_scan_params &p, i64 start, int n) const {
    const bool one_kept = (KNOWN & NDR_SCAN_ONE_KEPT) != 0, one_axis = (KNOWN & NDR_SCAN_ONE_AXIS) != 0;
    if (FLAT) return start + n;
    if (!(KNOWN & NDR_SCAN_WHOLE)) {
      if (one_axis) return start + scan_walk<WHICH>(p, p.kept_count, p.scan_count, true, n);
      return scan_place<KNOWN, WHICH>(p, line, first + n);
    }
    int whole = scan_divide(p.length, n), rest = n - whole * (int)p.length.size;
    if (one_kept && one_axis)
      return start + scan_walk<WHICH>(p, 0, p.kept_count, true, whole) +
             scan_walk<WHICH>(p, p.kept_count, p.scan_count, true, rest);
    return scan_place<KNOWN, WHICH>(p, line + whole, rest);
  }

  /* Takes over E elements of array K that follow each other; behind the tile's end they are 0. */
  template <int K, class T> NDR_DEVICE void load(const ndr_scan_params &p, value (&x)[E]) const {
    const bool flat = (KNOWN >> K & 1) != 0, packs = E * sizeof(T) % 16 == 0;
    const int lane = machine::thread() & (NDR_WARP - 1), begin = machine::thread() / NDR_WARP * warp_elements;
    const T *from = (const T *)p.data[K];
    i64 at = start<of_array<K>>(p);
    unsigned char *own = room();
    if (flat && packs && (u64)(from + at) % 16 == 0 && begin + warp_elements <= count) {
      const int vectors = E * (int)sizeof(T) / 16;
      ndr_vector v[vectors ? vectors : 1];
      const ndr_vector *first_vector = (const ndr_vector *)(from + at + begin) + lane;
#pragma unroll
      for (int i = 0; i < vectors; i++) v[i] = machine::load_vector(first_vector + i * NDR_WARP);
#pragma unroll
      for (int i = 0; i < vectors; i++) *(ndr_vector *)(own + scan_padded((i * NDR_WARP + lane) * 16)) = v[i];
    } else {
      T v[E];
#pragma unroll
      for (int e = 0; e < E; e++) {
        int n = begin + e * NDR_WARP + lane;
        v[e] = T{};
        if (n < count) v[e] = machine::load_element(from + place<of_array<K>, flat>(p, at, n));
      }
#pragma unroll
      for (int e = 0; e < E; e++) *(T *)(own + scan_padded((e * NDR_WARP + lane) * (int)sizeof(T))) = v[e];
    }
    machine::warp_barrier();
#pragma unroll
    for (int e = 0; e < E; e++) x[e].template set<K>(*(const T *)(own + scan_padded((lane * E + e) * (int)sizeof(T))));
    machine::warp_barrier();
  }
  template <int K, class T, class... Rest>
  NDR_DEVICE void load_all(const ndr_scan_params &p, value (&x)[E], array_list<T, Rest...>) const {
    load<K, T>(p, x);
    if constexpr (sizeof...(Rest) > 0) load_all<K + 1>(p, x, array_list<Rest...>{});
  }
  template <int K> NDR_DEVICE void set_places(const ndr_scan_params &p, value (&x)[E], int begin) const {
    if constexpr (K < OP::places) {
      i64 at = start<of_place<K>>(p);
#pragma unroll
      for (int e = 0; e < E; e++)
        x[e].template set_place<K>(p.place_start[K] + place<of_place<K>, false>(p, at, begin + e));
      set_places<K + 1>(p, x, begin);
    }
  }

  /* Writes what the lanes of the warp have put in its part. */
  NDR_DEVICE void store(const ndr_scan_params &p) const {
    const bool flat = (KNOWN & NDR_SCAN_FLAT_RESULT) != 0, packs = E * sizeof(result) % 16 == 0;
    const int lane = machine::thread() & (NDR_WARP - 1), begin = machine::thread() / NDR_WARP * warp_elements;
    result *to = (result *)p.result;
    i64 at = start<of_result>(p);
    const unsigned char *own = room();
    if (flat && packs && (u64)(to + at) % 16 == 0 && begin + warp_elements <= count) {
      ndr_vector *first_vector = (ndr_vector *)(to + at + begin) + lane;
#pragma unroll
      for (int i = 0; i < E * (int)sizeof(result) / 16; i++)
        first_vector[i * NDR_WARP] = *(const ndr_vector *)(own + scan_padded((i * NDR_WARP + lane) * 16));
      return;
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      int n = e * NDR_WARP + lane;
      if (begin + n < count)
        to[place<of_result, flat>(p, at, begin + n)] = *(const result *)(own + scan_padded(n * (int)sizeof(result)));
    }
  }
};

/* Lines without elements. */
template <class OP, u32 KNOWN> NDR_DEVICE void scan_nothing(const ndr_scan_params &p) {
  i64 stride = machine::blocks() * machine::threads();
  for (i64 line = machine::block() * machine::threads() + machine::thread(); line < p.lines; line += stride)
    scan_put_none<OP, KNOWN>(p, line);
}

template <class OP, class Arrays, int E, u32 KNOWN> NDR_DEVICE void scan_lines(const ndr_scan_params &p) {
  typedef typename OP::State State;
  typedef typename OP::result R;
  typedef scan_before<OP, NDR_SCAN_BLOCK, 1> before_type;
  typedef scan_tile<OP, Arrays, E, KNOWN> tile_type;
  const bool whole = (KNOWN & NDR_SCAN_WHOLE) != 0, alone = whole || (KNOWN & NDR_SCAN_ALONE) != 0,
             exclusive = (KNOWN & NDR_SCAN_EXCLUSIVE) != 0;
  NDR_SHARED scan_shared<State> shared;
  NDR_SHARED scan_tiles<State, 1> tiles;
  const int thread = machine::thread(), lane = thread & (NDR_WARP - 1), begin = thread * E;
  if ((KNOWN & NDR_SCAN_LONGER) && p.length.size == 0) {
    scan_nothing<OP, KNOWN>(p);
    return;
  }
#pragma unroll 1
  for (i64 item = machine::block(); item < p.items; item += machine::blocks()) {
    tile_type t;
    i64 tile = whole ? 0 : item / p.lines;
    t.line = whole ? item * p.tile_lines : item - tile * p.lines;
    t.first = tile * p.tile;
    i64 left = whole ? (p.lines - t.line) * p.length.size : p.length.size - t.first;
    t.count = (int)(left < p.tile ? left : p.tile);
    typename OP::value x[E];
    t.template load_all<0>(p, x, Arrays{});
    t.template set_places<0>(p, x, begin);

    /* Each thread for itself. `rest` is the place of its first element in that element's line. What lies behind the
     * tile's end is scanned, too, as no place depends on it. */
    State s[E];
    int length = (int)p.length.size, number = whole ? scan_divide(p.length, begin) : 0,
        rest = whole ? begin - number * length : 0, at = rest;
    bool begins = false;
#pragma unroll
    for (int e = 0; e < E; e++) {
      bool fresh = whole && at == 0;
      s[e] = OP::of(x[e], p);
      if (e > 0 && !fresh) s[e] = OP::joined(s[e > 0 ? e - 1 : 0], s[e]);
      begins = begins || fresh;
      if (whole && ++at == length) at = 0;
    }

    /* What stands before. */
    before_type before;
    State total = before.find(shared, s[E - 1], thread, 0, whole ? (begin - rest) / E : 0, begins);
    if constexpr (!alone) {
      NDR_SHARED State whole_tile;
      if (begin + E == p.tile) whole_tile = total;
      machine::barrier();
      scan_slots slots = {p.posted + t.line * p.nodes * OP::words, 1};
      if (thread == 0) scan_node(p.tiles, tile).post<OP>(slots, whole_tile);
      scan_tiles_before<OP>(p.tiles, slots, tile, whole_tile, shared.totals, tiles);
      machine::barrier();
    }
    scan_prefix<OP, NDR_SCAN_BLOCK, 1> prefix;
    prefix.collect(before, alone ? nullptr : &tiles, 0);
    prefix.apply(before, alone ? nullptr : &tiles, 0, whole ? length - rest : E, s);

    /* Results. */
    unsigned char *room = tile_type::room();
    at = rest;
#pragma unroll
    for (int e = 0; e < E; e++) {
      R r;
      bool fresh = whole ? at == 0 : e == 0 && !prefix.any;
      if (exclusive)
        OP::store(&r, fresh ? OP::identity() : e ? s[e ? e - 1 : 0] : prefix.all, p);
      else
        OP::store(&r, s[e], p);
      if ((KNOWN & NDR_SCAN_LONGER) && fresh && begin + e < t.count) scan_put_none<OP, KNOWN>(p, t.line + number);
      *(R *)(room + scan_padded((lane * E + e) * (int)sizeof(R))) = r;
      if (whole && ++at == length) at = 0, number++;
    }
    machine::warp_barrier();
    t.store(p);
    machine::barrier();
  }
}

#endif
