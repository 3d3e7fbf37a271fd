/* A tile of scan_lines in shared memory. Each warp has a part of it: so warps read and write neighbours, while a thread
 * has E elements that follow each other. */
#ifndef NDR_SCAN_TILE_CUH
#define NDR_SCAN_TILE_CUH

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
  static const bool whole = (KNOWN & NDR_SCAN_WHOLE) != 0, one_start = (KNOWN & NDR_SCAN_ONE_START) != 0;
  static const int warp_elements = NDR_WARP * E;
  int tile;  /* number in its line */
  i64 line;  /* the tile's first line */
  int lead;  /* elements at the tile's beginning that are not its own: see lead_of */
  i64 first; /* its first own element, in that line */
  int count; /* elements, those that lead with them; 0: there is no such tile */

  NDR_DEVICE scan_tile(const ndr_scan_params &p, int item) {
    tile = whole ? 0 : scan_divide(p.lines, item);
    line = whole ? (i64)item * p.tile_lines : item - tile * (int)p.lines.size;
    const int before = item < p.items ? lead_of(p) : 0;
    lead = tile == 0 ? before : 0;
    first = (i64)tile * p.tile - before + lead;
    const i64 left = item >= p.items ? 0 : whole ? (p.lines.size - line) * p.length.size : p.length.size - first;
    const int most = whole ? p.tile : p.tile - lead;
    count = left > 0 ? (int)(left < most ? left : most) + lead : 0;
  }

  /* How many elements a tile of whole lines, or the first of a longer one, leads with: its address is rounded down to a
   * sector, so that elements and results move as vectors. These are scanned, and not stored, as nothing depends on
   * them. 0 where the address is no multiple of an element's size, or where there is no room. */
  NDR_DEVICE int lead_of(const ndr_scan_params &p) const {
    if constexpr ((KNOWN & NDR_SCAN_LEADS) == 0) {
      return 0;
    } else {
      const int bytes = Arrays::bytes(0);
      const u64 from = (u64)p.data[0] + (u64)(scan_place<KNOWN, of_array<0>>(p, line, 0) * bytes);
      const int past = (int)(from % NDR_SCAN_SECTOR) / bytes;
      const i64 capacity = whole ? machine::threads() * E : (i64)p.tile * p.tiles;
      return from % bytes == 0 && (whole ? p.tile : p.length.size) + past <= capacity ? past : 0;
    }
  }

  /* ---- shared memory: each warp has a part of its own: rooms for the elements of all arrays, which are filled in
   * turn, and one for results, unless each takes the place of its element ---- */

  static const int turns = whole ? NDR_SCAN_TURNS_ALONE : NDR_SCAN_TURNS;
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
    return (int)((u64)((const T *)p.data[K] + start<of_array<K>>(p) - lead) % 16);
  }

  /* Where the warp's elements begin in the tile, and how many of them the tile has: none where that is not positive. */
  static NDR_DEVICE int warp_begin() { return machine::thread() / NDR_WARP * warp_elements; }
  NDR_DEVICE int warp_count() const {
    return count - warp_begin() < warp_elements ? count - warp_begin() : warp_elements;
  }

  /* Calls f(ahead, byte) for the lane's units of `here` elements that the warp has in a row, lanes side by side: it is
   * at ahead + byte, of which `ahead` is known when the kernel is compiled. */
  template <class UNIT, int UNITS, class F> static NDR_DEVICE void each_unit(int here, int bytes, const F &f) {
    const int byte = (machine::thread() & (NDR_WARP - 1)) * (int)sizeof(UNIT);
    if (here == warp_elements) {
#pragma unroll
      for (int i = 0; i < UNITS; i++) f(i * NDR_WARP * (int)sizeof(UNIT), byte);
      return;
    }
#pragma unroll
    for (int i = 0; i < UNITS; i++)
      if (i * NDR_WARP * (int)sizeof(UNIT) + byte < bytes) f(i * NDR_WARP * (int)sizeof(UNIT), byte);
  }

  /* Starts to bring in the warp's elements, which lie side by side from first_byte on; `here` of them are the tile's.
   * The first `skipped` bytes may lie before the array: vectors that have none of the others are not read. */
  template <class T>
  static NDR_DEVICE void fetch_flat(const unsigned char *first_byte, int skipped, int here, unsigned char *to) {
    typedef typename scan_chunk<T, E>::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1);
    const int before = (int)((u64)first_byte % 16), bytes = here > 0 ? here * (int)sizeof(T) : 0;
    const int vectors = warp_elements * (int)sizeof(T) / 16 + (alignof(T) < 4);
    if (alignof(T) >= 4 && before == 0 && skipped < 16 && here == warp_elements) {
#pragma unroll
      for (int i = 0; i < vectors / NDR_WARP; i++)
        machine::copy_vector(to + scan_moved(i * NDR_WARP * 16, lane * 16), first_byte + lane * 16 + i * NDR_WARP * 16);
      if (vectors % NDR_WARP != 0 && lane < vectors % NDR_WARP)
        machine::copy_vector(to + scan_moved(vectors / NDR_WARP * NDR_WARP * 16, lane * 16),
                             first_byte + lane * 16 + vectors / NDR_WARP * NDR_WARP * 16);
    } else if (alignof(T) < 4 || before == 0) {
      const unsigned char *boundary = first_byte - before;
      const int begin = before > skipped ? before : skipped, end = before + bytes, whole_end = end & ~15,
                rest = (whole_end < begin ? begin : whole_end) + lane * (int)sizeof(unit);
#pragma unroll
      for (int i = 0; i < (vectors + NDR_WARP - 1) / NDR_WARP; i++) {
        int byte = (i * NDR_WARP + lane) * 16;
        if (bytes > 0 && byte + 16 > begin && byte < whole_end)
          machine::copy_vector(to + scan_moved(byte), boundary + byte);
      }
      if (bytes > 0 && rest < end) scan_copy_unit((unit *)(to + scan_moved(rest)), (const unit *)(boundary + rest));
    } else if constexpr (alignof(T) >= 4) {
      each_unit<unit, scan_chunk<T, E>::units>(here, bytes, [=](int ahead, int byte) {
        machine::copy_element((unit *)(to + scan_moved(ahead, byte)), (const unit *)(first_byte + byte + ahead));
      });
    }
  }
  /* Starts to bring in the warp's elements. Behind the tile's end there may be anything: no place depends on it. */
  template <int K, class T> NDR_DEVICE void fetch(const ndr_scan_params &p, unsigned char *to) const {
    typedef typename scan_chunk<T, E>::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1), begin = warp_begin(), here = warp_count();
    const T *from = (const T *)p.data[K];
    const i64 at = start<of_array<K>>(p);
    if constexpr (flat<K>()) {
      const int skipped = begin == 0 ? lead * (int)sizeof(T) : 0;
      fetch_flat<T>((const unsigned char *)(from + at - lead + begin), skipped, here, to);
      return;
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      int n = e * NDR_WARP + lane;
      if (n >= here) continue;
      const unit *element = (const unit *)(from + place<of_array<K>, flat<K>()>(p, at, begin + n));
#pragma unroll
      for (int u = 0; u < (int)(sizeof(T) / sizeof(unit)); u++) {
        scan_copy_unit((unit *)(to + scan_moved(n * (int)sizeof(T) + u * (int)sizeof(unit))), element + u);
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
  /* Writes what the lanes of the warp have put to results that lie side by side from first_byte on, but for the first
   * `before`. */
  static NDR_DEVICE void write_flat(unsigned char *first_byte, int before, int here, const unsigned char *own) {
    typedef scan_chunk<result, E> chunk;
    typedef typename chunk::unit unit;
    const int lane = machine::thread() & (NDR_WARP - 1);
    const bool vectors = chunk::packed && (u64)first_byte % 16 == 0;
    if (vectors && before == 0 && here == warp_elements) {
#pragma unroll
      for (int i = 0; i < chunk::packs; i++) {
        const int ahead = i * NDR_WARP * 16;
        *(ndr_vector *)(first_byte + lane * 16 + ahead) = *(const ndr_vector *)(own + scan_moved(ahead, lane * 16));
      }
      return;
    }
    const int end = here * (int)sizeof(result);
    if ((KNOWN & NDR_SCAN_LEADS) != 0 && vectors) {
      const int begin = before * (int)sizeof(result);
#pragma unroll
      for (int i = 0; i < chunk::packs; i++) {
        const int at = (i * NDR_WARP + lane) * 16;
        if (at >= begin && at + 16 <= end) {
          *(ndr_vector *)(first_byte + at) = *(const ndr_vector *)(own + scan_moved(at));
        } else {
#pragma unroll
          for (int b = 0; b < 16; b += (int)sizeof(unit))
            if (at + b >= begin && at + b < end)
              *(unit *)(first_byte + at + b) = *(const unit *)(own + scan_moved(at + b));
        }
      }
      return;
    }
    each_unit<unit, chunk::units>(before > 0 ? 0 : here, end, /* 0: so that it checks each */
                                  [=](int ahead, int byte) {
                                    if (ahead + byte >= before * (int)sizeof(result))
                                      *(unit *)(first_byte + byte + ahead) =
                                          *(const unit *)(own + scan_moved(ahead, byte));
                                  });
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
      write_flat((unsigned char *)(to + at - lead + begin), begin == 0 ? lead : 0, here, own);
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

#endif
