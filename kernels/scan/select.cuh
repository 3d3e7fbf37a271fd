/* Selections: what a mask keeps, moved together in its order. Compiled at run time only.
 *
 *   select_count     how many places each tile keeps, and which
 *   select_sums      from that, how many are kept before each tile of a chunk, and by each chunk
 *   select_elements  elements, or slices that are as short: those that are kept go to the result, and with
 *                    NDR_SELECT_BOTH, for a partition, the others behind them
 *   select_indices   the indices of what is nonzero, in one pass
 *   select_numbers   the numbers of places that are kept, from which select_slices (select_slices.cuh) moves slices
 *
 * A block has a tile of places, a thread a word of 32 bits that says which it keeps. From the words follows a list of
 * the places that the tile keeps, in shared memory; then thread number n moves number n, n + 256, and so on of the
 * list. So neighbouring threads write neighbours, whatever the mask, and of the array only sectors with something to
 * keep are read. Indices and numbers come in one pass, in which a block waits for the totals of the tiles before.
 * Elements do not wait: to keep the words from one pass to the next costs a quarter of a byte for each place, and takes
 * less than that. */
#ifndef NDR_SELECT_CUH
#define NDR_SELECT_CUH

#include "select_params.h"

#include "scan_totals.cuh"

/* ---- addresses and elements ---- */

NDR_DEVICE i64 select_walk(const ndr_select_walk &walk, i64 n) {
  i64 at = 0;
#pragma unroll 1
  for (int a = 0; a < walk.count; a++) {
    i64 whole = a + 1 < walk.count ? scan_divide_far(walk.axes[a].size, n) : 0;
    at += (n - whole * walk.axes[a].size.size) * walk.axes[a].stride;
    n = whole;
  }
  return at;
}

/* BYTES bytes, which are moved in units of UNIT, a power of 2 up to 16 that their addresses are multiples of. */
template <int BYTES, int UNIT> struct select_element {
  static const int units = BYTES / UNIT, unit_words = UNIT < 4 ? 1 : UNIT / 4, words = units * unit_words;
  u32 word[words];
  NDR_DEVICE void load(const char *from) {
#pragma unroll
    for (int u = 0; u < units; u++) machine::load_bytes<UNIT, true>(word + u * unit_words, from + u * UNIT);
  }
  NDR_DEVICE void store(char *to) const {
#pragma unroll
    for (int u = 0; u < units; u++) {
      const u32 *w = word + u * unit_words;
      if constexpr (UNIT == 16)
        *(ndr_vector *)(to + u * UNIT) = {{w[0], w[1], w[2], w[3]}};
      else if constexpr (UNIT == 8)
        *(u64 *)(to + u * UNIT) = w[0] | (u64)w[1] << 32;
      else if constexpr (UNIT == 4)
        *(u32 *)(to + u * UNIT) = w[0];
      else if constexpr (UNIT == 2)
        *(u16 *)(to + u * UNIT) = (u16)w[0];
      else
        *(u8 *)(to + u * UNIT) = (u8)w[0];
    }
  }
};

/* ---- which places a tile keeps ---- */

/* A bit for each byte of a vector that is not 0. */
NDR_DEVICE u32 select_bits(const ndr_vector &v) {
  u32 bits = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    u32 w = v.word[i], high = (((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) & 0x80808080u;
    bits |= ((high >> 7) * 0x10204080u >> 28) << (4 * i); /* bits 0, 8, 16, 24 move to 28, 29, 30, 31 */
  }
  return bits;
}

/* The thread's word: bit b is that of place number 32 * thread + b of the tile that begins at `first`. T is the mask's
 * type; bits behind the last place are 0. */
template <class T, u32 KNOWN> NDR_DEVICE u32 select_word(const ndr_select_params &p, i64 first) {
  typedef typename traits<T>::value V;
  const bool dense = (KNOWN & NDR_SELECT_DENSE_MASK) != 0;
  const int lane = machine::thread() & (NDR_WARP - 1), LOADS = 8;
  first += machine::thread() / NDR_WARP * (NDR_WARP * 32);
  const T *from = (const T *)p.mask;
  if (dense && sizeof(T) == 1 && first + NDR_WARP * 32 <= p.places && (u64)(from + first) % 16 == 0) {
    const ndr_vector *vector = (const ndr_vector *)(from + first) + lane;
    const ndr_vector low = machine::load_vector(vector), high = machine::load_vector(vector + NDR_WARP);
    /* A word comes from two lanes: of 16 lanes from their low halves, of the others from their high ones. */
    const u32 bits = select_bits(low) | select_bits(high) << 16;
    const u32 a = machine::shuffle_from(bits, 2 * lane), b = machine::shuffle_from(bits, 2 * lane + 1);
    return lane < NDR_WARP / 2 ? (a & 0xffffu) | b << 16 : a >> 16 | (b & 0xffff0000u);
  }
  u32 word = 0;
#pragma unroll 1
  for (int i = 0; i < 32; i += LOADS) {
    T x[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      i64 n = first + (i + u) * NDR_WARP + lane;
      x[u] = T{};
      if (n < p.places) x[u] = machine::load_element(from + (dense ? n : select_walk(p.read, n)));
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      u32 bits = machine::ballot(is_nonzero(value_of<V>(x[u])));
      if (lane == i + u) word = bits;
    }
  }
  return word;
}

struct select_total {
  typedef i64 State;
  static const int words = 1;
  static const bool chained = false;
  static NDR_DEVICE void save(i64 s, ndr_word *w) { w[0] = to_word(s); }
  static NDR_DEVICE i64 load(const ndr_word *w) { return (i64)w[0]; }
  static NDR_DEVICE i64 joined(i64 a, i64 b) { return a + b; }
};

/* A thread's word, and how many places the tile keeps before it. */
struct alignas(8) select_entry {
  u32 word;
  int before;
};

struct select_shared {
  select_entry of[NDR_SCAN_BLOCK];
  int warps[NDR_SCAN_BLOCK / NDR_WARP]; /* what each warp keeps */
  u16 list[NDR_SELECT_TILE];
  scan_room<select_total> room;
  scan_tiles<i64, 1> tiles;
};

/* A block's tile. All threads of the block call each function. */
template <class T, u32 KNOWN> struct select_tile {
  i64 number, first; /* its own, and that of its first place */
  u32 word;
  int kept, before; /* places that the tile keeps, and those of them before the thread's word */

  NDR_DEVICE select_tile(u32 own) : number(machine::block()), first(number * NDR_SELECT_TILE), word(own) {}
  NDR_DEVICE select_tile(const ndr_select_params &p)
      : select_tile(select_word<T, KNOWN>(p, machine::block() * NDR_SELECT_TILE)) {}

  NDR_DEVICE int places(const ndr_select_params &p) const {
    return p.places - first < NDR_SELECT_TILE ? (int)(p.places - first) : NDR_SELECT_TILE;
  }

  NDR_DEVICE void count(select_shared &shared) {
    const int thread = machine::thread(), lane = thread & (NDR_WARP - 1), warp = thread / NDR_WARP,
              own = machine::count_bits(word);
    int run = own;
#pragma unroll
    for (int step = 1; step < NDR_WARP; step *= 2) {
      int less = (int)machine::shuffle_from((u32)run, lane - step);
      if (lane >= step) run += less;
    }
    if (lane == NDR_WARP - 1) shared.warps[warp] = run;
    machine::barrier();
    kept = 0;
    before = run - own;
#pragma unroll
    for (int w = 0; w < NDR_SCAN_BLOCK / NDR_WARP; w++) {
      if (w == warp) before += kept;
      kept += shared.warps[w];
    }
  }

  /* Lists the places that are kept, and behind them with NDR_SELECT_BOTH the others. Lanes look at one word together:
   * if each looked at its own, their entries would lie in few banks of shared memory. Where few places are kept each
   * does look at its own. */
  NDR_DEVICE void make_list(select_shared &shared) const {
    const bool both = (KNOWN & NDR_SELECT_BOTH) != 0;
    const int AT_ONCE = 4, thread = machine::thread(), lane = thread & (NDR_WARP - 1), begin = thread - lane;
    if (!both && kept < NDR_SELECT_TILE / 16) {
      int at = before;
      for (u32 left = word; left; left &= left - 1) shared.list[at++] = (u16)(thread * 32 + machine::first_bit(left));
    } else {
      shared.of[thread] = {word, before};
      machine::warp_barrier();
#pragma unroll 2
      for (int i = 0; i < NDR_WARP; i += AT_ONCE) {
        /* Loaded before the list is written: the compiler does not know that they are apart. */
        select_entry of[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) of[u] = shared.of[begin + i + u];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
          const int place = (begin + i + u) * 32 + lane,
                    at = of[u].before + machine::count_bits(of[u].word & ((1u << lane) - 1));
          if (of[u].word >> lane & 1)
            shared.list[at] = (u16)place;
          else if (both)
            shared.list[kept + place - at] = (u16)place;
        }
      }
    }
    machine::barrier();
  }

  NDR_DEVICE scan_slots slots(const ndr_select_params &p) const {
    return {p.posted, 1};
  }
  NDR_DEVICE void post(const ndr_select_params &p) const {
    if (p.tiles > 1 && machine::thread() == 0) scan_post<select_total>(slots(p), number, (i64)kept);
  }

  /* Waits for the number of places that are kept before the tile. The last tile writes how many are kept in all. */
  NDR_DEVICE i64 find_before(const ndr_select_params &p, select_shared &shared) const {
    i64 sum = 0;
    if (p.tiles > 1) {
      if (machine::thread() < NDR_WARP)
        scan_tiles_before<select_total, false>((int)p.tiles, slots(p), (int)number, true, (i64)kept, shared.room,
                                               shared.tiles);
      machine::barrier();
#pragma unroll 1
      for (int l = 0; l < shared.tiles.count; l++) sum += shared.tiles.levels[l][0];
    }
    if (number == p.tiles - 1 && machine::thread() == 0) *p.count = *p.total = sum + kept;
    return sum;
  }

  /* Makes the list, and returns how many places are kept before the tile, for which it waits. */
  NDR_DEVICE i64 find_place(const ndr_select_params &p, select_shared &shared) {
    count(shared);
    post(p);
    make_list(shared);
    return find_before(p, shared);
  }

  /* How many of the places that the tile keeps the result has room for; `earlier` are kept before the tile. */
  NDR_DEVICE int fitting(const ndr_select_params &p, i64 earlier) const {
    return earlier + kept <= p.room ? kept : earlier < p.room ? (int)(p.room - earlier) : 0;
  }
};

/* ---- elements ---- */

/* Elements that the block moves at a time, of a thread as many as have WORDS words, or one: those of the tile's list
 * from `at` to before `end`. */
template <int BYTES, int UNIT, u32 KNOWN, int WORDS> struct select_batch {
  typedef select_element<BYTES, UNIT> element;
  static const int loads = element::words > WORDS ? 1 : WORDS / element::words, size = loads * NDR_SCAN_BLOCK;
  element x[loads];

  /* Where the first batch begins so that warps write whole sectors: up to a warp's elements before the list. `to` is
   * the place of the list's first element in the result. */
  static NDR_DEVICE int begin(const ndr_select_params &p, i64 to) {
    if (!(KNOWN & NDR_SELECT_DENSE_TO) || BYTES > 16 || (BYTES & (BYTES - 1)) != 0) return 0;
    return -(int)(((u64)p.result / BYTES + (u64)to) % NDR_WARP);
  }
  static NDR_DEVICE bool is_listed(int n, int end) { return (u32)n < (u32)end; }

  static NDR_DEVICE i64 offset(const ndr_select_params &p, i64 first, int place) {
    return KNOWN & NDR_SELECT_DENSE_FROM ? (i64)(place * BYTES) : select_walk(p.from, first + place);
  }

  NDR_DEVICE void load(const ndr_select_params &p, const u16 *list, i64 first, int at, int end) {
    const char *from = (const char *)p.array;
    at += machine::thread();
    if (KNOWN & NDR_SELECT_DENSE_FROM) from += first * BYTES;
    int place[loads];
#pragma unroll
    for (int e = 0; e < loads; e++)
      place[e] = is_listed(at + e * NDR_SCAN_BLOCK, end) ? list[at + e * NDR_SCAN_BLOCK] : -1;
#pragma unroll
    for (int e = 0; e < loads; e++)
      if (place[e] >= 0) x[e].load(from + offset(p, first, place[e]));
  }

  /* The first `kept` go to the result's places from `to` on, and with NDR_SELECT_BOTH the others to those from
   * `to_others` on. */
  NDR_DEVICE void store(const ndr_select_params &p, i64 to, i64 to_others, int kept, int at, int end) const {
    char *result = (char *)p.result;
    at += machine::thread();
#pragma unroll
    for (int e = 0; e < loads; e++) {
      int n = at + e * NDR_SCAN_BLOCK;
      if (!is_listed(n, end)) continue;
      i64 place = (!(KNOWN & NDR_SELECT_BOTH) || n < kept ? to : to_others - kept) + n;
      x[e].store(result + (KNOWN & NDR_SELECT_DENSE_TO ? place * BYTES : select_walk(p.to, place)));
    }
  }
};

template <u32 KNOWN> NDR_DEVICE void select_count(const ndr_select_params &p) {
  NDR_SHARED select_shared shared;
  select_tile<boolean, KNOWN> tile(p);
  p.words[machine::block() * NDR_SCAN_BLOCK + machine::thread()] = tile.word;
  tile.count(shared);
  if (machine::thread() == 0) ((i64 *)p.list)[tile.number] = tile.kept;
}

/* A block has a chunk of the list: each number in it becomes the sum of those before it in the chunk, and the sum of
 * all goes behind the list. */
NDR_DEVICE void select_sums(const ndr_select_params &p) {
  const int EACH = NDR_SELECT_CHUNK / NDR_SCAN_BLOCK, thread = machine::thread();
  NDR_SHARED i64 sums[NDR_SCAN_BLOCK];
  const i64 first = machine::block() * NDR_SELECT_CHUNK + thread * EACH;
  i64 *list = (i64 *)p.list, kept[EACH], run = 0;
#pragma unroll
  for (int e = 0; e < EACH; e++) kept[e] = first + e < p.tiles ? list[first + e] : 0;
#pragma unroll
  for (int e = 0; e < EACH; e++) run += kept[e];
#pragma unroll 1
  for (int step = 1; step < NDR_SCAN_BLOCK; step *= 2) {
    sums[thread] = run;
    machine::barrier();
    if (thread >= step) run += sums[thread - step];
    machine::barrier();
  }
  if (thread == NDR_SCAN_BLOCK - 1) list[p.tiles + machine::block()] = run;
#pragma unroll
  for (int e = EACH - 1; e >= 0; e--) {
    run -= kept[e];
    if (first + e < p.tiles) list[first + e] = run;
  }
}

/* How many places are kept before a tile, and by all. */
struct select_place {
  i64 before, all;
  static NDR_DEVICE i64 summed(i64 x) {
#pragma unroll
    for (int mask = NDR_WARP / 2; mask > 0; mask /= 2)
      x += (i64)(machine::shuffle_xor((u32)x, mask) | (u64)machine::shuffle_xor((u32)((u64)x >> 32), mask) << 32);
    return x;
  }
  NDR_DEVICE select_place() {} /* in shared memory */
  /* All lanes of a warp call it. */
  NDR_DEVICE select_place(const ndr_select_params &p, i64 tile) : before(0), all(0) {
    const i64 *list = (const i64 *)p.list, chunks = (p.tiles + NDR_SELECT_CHUNK - 1) / NDR_SELECT_CHUNK;
#pragma unroll 1
    for (i64 c = machine::thread() & (NDR_WARP - 1); c < chunks; c += NDR_WARP) {
      i64 kept = list[p.tiles + c];
      all += kept;
      if (c < tile / NDR_SELECT_CHUNK) before += kept;
    }
    before = summed(before) + list[tile];
    all = summed(all);
    if (tile == p.tiles - 1 && machine::thread() == 0) *p.count = all;
  }
};

template <int BYTES, int UNIT, u32 KNOWN> NDR_DEVICE void select_elements(const ndr_select_params &p) {
  typedef select_batch<BYTES, UNIT, KNOWN, 16> large;
  typedef select_batch<BYTES, UNIT, KNOWN, 4> small;
  NDR_SHARED select_shared shared;
  NDR_SHARED select_place found;
  select_tile<boolean, KNOWN> tile(p.words[machine::block() * NDR_SCAN_BLOCK + machine::thread()]);
  if (machine::thread() < NDR_WARP) {
    const select_place place(p, tile.number);
    if (machine::thread() == 0) found = place;
  }
  tile.count(shared);
  tile.make_list(shared);
  const select_place place = found;
  const i64 others = place.all + (tile.first - place.before);
  const int end = KNOWN & NDR_SELECT_BOTH ? tile.places(p) : tile.fitting(p, place.before);
  int at = large::begin(p, place.before);
  /* A load that has no element costs as much as one that has: what is left over goes in small batches. */
#pragma unroll 1
  for (; end - at > 2 * small::size; at += large::size) {
    large batch;
    batch.load(p, shared.list, tile.first, at, end);
    batch.store(p, place.before, others, tile.kept, at, end);
  }
#pragma unroll 1
  for (; at < end; at += small::size) {
    small batch;
    batch.load(p, shared.list, tile.first, at, end);
    batch.store(p, place.before, others, tile.kept, at, end);
  }
}

/* ---- indices ---- */

template <class T, u32 KNOWN> NDR_DEVICE void select_indices(const ndr_select_params &p) {
  NDR_SHARED select_shared shared;
  select_tile<T, KNOWN> tile(p);
  const i64 before = tile.find_place(p, shared);
  int end = tile.fitting(p, before);
#pragma unroll 1
  for (int at = machine::thread(); at < end; at += NDR_SCAN_BLOCK) {
    i64 n = tile.first + shared.list[at];
    char *to = (char *)p.result + (before + at) * p.to_step;
#pragma unroll 1
    for (int a = 0; a < p.to.count; a++) {
      const ndr_select_param_axis &axis = p.to.axes[a];
      i64 whole = a + 1 < p.to.count ? scan_divide_far(axis.size, n) : 0;
      *(i64 *)(to + axis.stride) = n - whole * axis.size.size;
      n = whole;
    }
  }
}

/* The numbers of places that are kept, as far as the result has room; with NDR_SELECT_BOTH those of the others, too,
 * from the list's end backwards. */
template <class NUMBER, u32 KNOWN> NDR_DEVICE void select_numbers(const ndr_select_params &p) {
  const bool both = (KNOWN & NDR_SELECT_BOTH) != 0;
  NDR_SHARED select_shared shared;
  select_tile<boolean, KNOWN> tile(p);
  const i64 before = tile.find_place(p, shared);
  NUMBER *list = (NUMBER *)p.list;
  const int end = both ? tile.places(p) : tile.fitting(p, before);
#pragma unroll 1
  for (int at = machine::thread(); at < end; at += NDR_SCAN_BLOCK) {
    i64 to = before + at;
    if (both && at >= tile.kept) to = p.places - 1 - (tile.first - before + at - tile.kept);
    list[to] = (NUMBER)(tile.first + shared.list[at]);
  }
}

#endif
