/* The ladder of prefix sums: out[i] = x[0] + ... + x[i], inclusive, for any operator of ops.cuh and any n; out may be
 * x. Block-local rungs (s1 to s5) scan a tile a block and leave the tile's total in sums; launch.cuh scans these by the
 * same rung, and add_before adds them. Operators are associative and commutative.
 *
 * After W. D. Hillis and G. L. Steele, "Data Parallel Algorithms" (1986), G. E. Blelloch, "Prefix Sums and Their
 * Applications" (1990), and D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back"
 * (2016). */
#ifndef LADDER_SCAN_CUH
#define LADDER_SCAN_CUH

#include "ladder.cuh"

namespace ladder {

/* Rung s1, Hillis and Steele. log2(block) steps: each adds what lies 1, 2, 4 ... before. Two buffers, since a neighbour
 * may still read what a thread would write over. Still wrong: block * log2(block) additions, where one thread alone
 * makes block - 1, and a barrier after each step. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL hillis_steele(global<const T> x, long long n, global<T> out, global<T> sums) {
  shared<T> s = shared_memory<T>();
  int t = thread(), from = 0, to = threads();
  long long i = block() * threads() + t;
  s[t] = element<OP, T>(x, i, n);
  barrier();
  for (int step = 1; step < threads(); step *= 2) {
    T value = s[from + t];
    if (branch(t >= step)) value = OP::combine(s[from + t - step], value);
    s[to + t] = value;
    barrier();
    from = to;
    to = threads() - to;
  }
  if (i < n) out[i] = s[from + t];
  if (branch(t == threads() - 1)) sums[block()] = s[from + t];
}

/* Where element i of a tile lies in shared memory. A row is 128 bytes of elements. Padded: one element is left free
 * after each row, and one more after as many rows as a row has elements, so that elements a power of two apart fall
 * into different banks. */
template <class T, bool PADDED> LADDER_BOTH int padded(int i) {
  const unsigned row = 128 / sizeof(T), at = (unsigned)i; /* unsigned: its divisions are shifts */
  return (int)(PADDED ? at + at / row + at / (row * row) : at);
}

/* Rungs s2 (not padded) and s3 (padded), Blelloch. Mends: about 2 additions an element. Up the tree of pairs to the
 * total, as in a reduction; then down it again: each node hands what lies before it to its left child, and that with
 * the left child's sum to its right one. What arrives is exclusive, so each thread adds its own elements, which it has
 * kept. Still wrong: twice as many steps. And without padding, threads touch words 2, 4, 8 ... apart, so that 2, 4,
 * 8 ... of them wait for the same bank, on the way up and on the way down; s3 has no conflicts, at the price of one
 * word in 32.
 */
template <class OP, bool PADDED, class T = typename OP::type>
LADDER_KERNEL sweeps(global<const T> x, long long n, global<T> out, global<T> sums) {
  shared<T> s = shared_memory<T>();
  const int t = thread(), size = 2 * threads(), last = padded<T, PADDED>(size - 1);
  const long long i = block() * size + t, j = i + threads();
  const T a = element<OP, T>(x, i, n), b = element<OP, T>(x, j, n);
  s[padded<T, PADDED>(t)] = a;
  s[padded<T, PADDED>(t + threads())] = b;
  for (int stride = 1; stride < size; stride *= 2) {
    int node = stride * (2 * t + 2) - 1, right = padded<T, PADDED>(node), left = padded<T, PADDED>(node - stride);
    barrier();
    if (branch(node < size)) s[right] = OP::combine(s[left], s[right]);
  }
  if (branch(t == 0)) { /* which made the last sum itself */
    sums[block()] = s[last];
    s[last] = OP::identity();
  }
  for (int stride = threads(); stride > 0; stride /= 2) {
    int node = stride * (2 * t + 2) - 1, right = padded<T, PADDED>(node), left = padded<T, PADDED>(node - stride);
    barrier();
    if (branch(node < size)) {
      T before = s[right], child = s[left];
      s[left] = before;
      s[right] = OP::combine(before, child);
    }
  }
  barrier();
  if (i < n) out[i] = OP::combine(s[padded<T, PADDED>(t)], a);
  if (j < n) out[j] = OP::combine(s[padded<T, PADDED>(t + threads())], b);
}

/* Hillis and Steele's scan over a warp, in registers. */
template <class OP, class T> LADDER_DEVICE T scan_warp(T value) {
  LADDER_UNROLL
  for (int step = 1; step < WARP; step *= 2) {
    T before = shuffle_up(value, step);
    if (thread() % WARP >= step) value = OP::combine(before, value);
  }
  return value;
}

/* Returns what the values of the threads before this one combine to; `total` is that of the whole block. Each warp
 * scans its own values, and the first warp scans the warps' totals. s holds WARP values; a barrier must come before the
 * next use of it. */
template <class OP, class T> LADDER_DEVICE T scan_block(shared<T> s, T value, T &total) {
  const int lane = thread() % WARP, warp = thread() / WARP, warps = threads() / WARP;
  T inclusive = scan_warp<OP>(value);
  if (branch(lane == WARP - 1)) s[warp] = inclusive;
  barrier();
  if (branch(warp == 0)) {
    T scanned = scan_warp<OP>(lane < warps ? (T)s[lane] : OP::identity());
    if (lane < warps) s[lane] = scanned;
  }
  barrier();
  T before = shuffle_up(inclusive, 1);
  total = s[warps - 1];
  return OP::combine(warp > 0 ? (T)s[warp - 1] : OP::identity(), lane > 0 ? before : OP::identity());
}

/* Rung s4. Mends: two barriers a block in place of one a step, and no conflicts, as five of the steps are in
 * registers. (s1's many additions are back, but a lane that has nothing to add would wait for the others anyway.)
 * Still wrong: one element a thread, so all of this is paid for each element. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL scan_shuffled(global<const T> x, long long n, global<T> out, global<T> sums) {
  long long i = block() * threads() + thread();
  T value = element<OP, T>(x, i, n), total;
  T before = scan_block<OP>(shared_memory<T>(), value, total);
  if (i < n) out[i] = OP::combine(before, value);
  if (branch(thread() == 0)) sums[block()] = total;
}

/* ---- tiles of ITEMS elements, 64 bytes, a thread. They pass through shared memory, so that warps read and write
 * global memory in whole lines though the elements of a thread are neighbours. The first 256 bytes of shared memory are
 * scan_block's. ---- */

template <class T> struct of_tile {
  static constexpr int ITEMS = 64 / (int)sizeof(T), HEAD = 256 / (int)sizeof(T);
  /* One free word after 128 bytes is enough, as the elements of neighbouring threads are 64 bytes apart. */
  static LADDER_BOTH int shared_index(int i) { return HEAD + i + (int)((unsigned)i / (128 / sizeof(T))); }
};

/* Elements from the first of a tile to the end of the array, as far as an int goes. */
LADDER_DEVICE int elements_left(long long n, long long first) {
  return n - first < 0x7fffffff ? (int)(n - first) : 0x7fffffff;
}

template <class OP, class T>
LADDER_DEVICE void load_tile(global<const T> x, long long n, long long first, shared<T> s, T *items) {
  const int left = elements_left(n, first);
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) {
    int i = e * threads() + thread();
    items[e] = i < left ? OP::map(x[first + i]) : OP::identity();
  }
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) s[of_tile<T>::shared_index(e * threads() + thread())] = items[e];
  barrier();
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) items[e] = s[of_tile<T>::shared_index(thread() * of_tile<T>::ITEMS + e)];
}

template <class T>
LADDER_DEVICE void store_tile(global<T> out, long long n, long long first, shared<T> s, const T *items) {
  const int left = elements_left(n, first);
  barrier();
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) s[of_tile<T>::shared_index(thread() * of_tile<T>::ITEMS + e)] = items[e];
  barrier();
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) {
    int i = e * threads() + thread();
    if (i < left) out[first + i] = s[of_tile<T>::shared_index(i)];
  }
}

/* Adds up a thread's elements one after the other: items[e] becomes the sum of the items up to e. Returns the last. */
template <class OP, class T> LADDER_DEVICE T scan_items(T *items) {
  LADDER_UNROLL
  for (int e = 1; e < of_tile<T>::ITEMS; e++) items[e] = OP::combine(items[e - 1], items[e]);
  return items[of_tile<T>::ITEMS - 1];
}

template <class OP, class T> LADDER_DEVICE void add_to_items(T before, T *items) {
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) items[e] = OP::combine(before, items[e]);
}

/* Rung s5. Mends: scan_block is paid once for ITEMS elements a thread, which the thread adds one after the other: two
 * additions an element. Still wrong: out is written, then read and written again to add what is before the tile: four
 * passes over memory where two would do. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL scan_serial(global<const T> x, long long n, global<T> out, global<T> sums) {
  shared<T> s = shared_memory<T>();
  T items[of_tile<T>::ITEMS], total;
  const long long first = block() * threads() * of_tile<T>::ITEMS;
  load_tile<OP>(x, n, first, s, items);
  T before = scan_block<OP>(s, scan_items<OP>(items), total);
  add_to_items<OP>(before, items);
  store_tile(out, n, first, s, items);
  if (branch(thread() == 0)) sums[block()] = total;
}

/* The last step of s1 to s5: a block adds what is before a tile to each of its `size` elements. The first tile has no
 * block, as nothing is before it. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL add_before(global<T> out, long long n, global<const T> sums, int size) {
  const long long tile = block() + 1;
  const T before = sums[tile - 1];
  LADDER_UNROLL_BY(4)
  for (int e = thread(); e < size; e += threads()) {
    long long i = tile * size + e;
    if (i < n) out[i] = OP::combine(before, out[i]);
  }
}

/* Rung s6, the first of three phases: the total of each tile, as a reduction. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL reduce_tiles(global<const T> x, long long n, global<T> sums) {
  const long long first = block() * threads() * of_tile<T>::ITEMS + thread();
  T total = OP::identity();
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) total = OP::combine(total, element<OP, T>(x, first + e * threads(), n));
  total = fold_block<OP>(shared_memory<T>(), total);
  if (branch(thread() == 0)) sums[block()] = total;
}

/* Rung s6, the second phase: one block walks over the tiles' totals and makes of each what is before its tile. */
template <class OP, class T = typename OP::type> LADDER_KERNEL scan_sums(global<T> sums, long long tiles) {
  T carry = OP::identity(), total;
  for (long long first = 0; first < tiles; first += threads()) {
    long long i = first + thread();
    T before = scan_block<OP>(shared_memory<T>(), i < tiles ? (T)sums[i] : OP::identity(), total);
    if (i < tiles) sums[i] = OP::combine(carry, before);
    carry = OP::combine(carry, total);
    barrier();
  }
}

/* Rung s6, the third phase. Mends: three passes over memory, two that read and one that writes, since what is before a
 * tile is known when it is scanned. Still wrong: three launches, and in the second one block works alone; x is read
 * twice. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL scan_tiles(global<const T> x, long long n, global<T> out, global<const T> sums) {
  shared<T> s = shared_memory<T>();
  T items[of_tile<T>::ITEMS], total;
  const long long first = block() * threads() * of_tile<T>::ITEMS;
  load_tile<OP>(x, n, first, s, items);
  T before = scan_block<OP>(s, scan_items<OP>(items), total);
  add_to_items<OP>(OP::combine((T)sums[block()], before), items);
  store_tile(out, n, first, s, items);
}

/* ---- one pass: blocks learn from each other what is before them, while all of them run. A block waits only for tiles
 * before its own. Those are in work already, because a counter gives out tiles in the order in which blocks begin.
 * Block numbers would not do, as blocks may begin in any order. ---- */

/* What blocks leave for each other. flags[i] says what of tile i is there: its total, or its prefix, the sum of all
 * elements up to its end. */
enum { NOTHING_YET, HAS_TOTAL, HAS_PREFIX };
template <class T> struct notices {
  global<T> totals, prefixes;
  global<int> flags, counter;
};

/* Launched first, so that no tile is given out yet and no flag is set. */
template <class T> LADDER_KERNEL clear(global<T> words, long long n) {
  long long i = block() * threads() + thread();
  if (i < n) words[i] = 0;
}

/* The tile that this block gets; s is one word that all threads read it from. */
LADDER_DEVICE long long take_tile(global<int> counter, shared<int> s) {
  if (branch(thread() == 0)) s[0] = fetch_add(counter, 0, 1);
  barrier();
  long long tile = s[0];
  barrier();
  return tile;
}

/* What is before the tile, by the first warp, whose lane l looks at number l of the 32 tiles before. It waits until
 * one of them has its prefix and all after that their totals. Whichever that is, the totals are added to it from left
 * to right, as it was formed itself: so the additions, and with them the bits, are those of one thread that adds total
 * after total, whatever the order in which blocks ran. */
template <class OP, class T> LADDER_DEVICE T look_back(notices<T> left, long long tile) {
  const long long looked_at = tile - WARP + thread();
  int flag, nearest;
  for (;;) {
    flag = looked_at < 0 ? HAS_PREFIX : flag_of(left.flags, looked_at);
    unsigned prefixes = ballot(flag == HAS_PREFIX), missing = ballot(flag == NOTHING_YET);
    nearest = prefixes ? last_bit(prefixes) : -1;
    if (branch(prefixes && !(missing >> nearest))) break;
    pause();
  }
  T value = OP::identity(), before = OP::identity();
  if (looked_at >= 0)
    value = flag == HAS_PREFIX ? fresh<T>(left.prefixes, looked_at) : fresh<T>(left.totals, looked_at);
  LADDER_UNROLL
  for (int l = 0; l < WARP; l++) {
    T next = shuffle_from(value, l);
    before = l <= nearest ? next : OP::combine(before, next);
  }
  return before;
}

/* Rung s7, decoupled look-back. Mends: one pass, each element read once and written once: the least there can be. Still
 * wrong: a block looks back 32 tiles at most. So at most 32 tiles are finished in the time that a prefix takes from one
 * block to another, however fast memory is. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL scan_looking_back(global<const T> x, long long n, global<T> out, notices<T> left) {
  shared<T> s = shared_memory<T>();
  T items[of_tile<T>::ITEMS], total;
  const long long tile = take_tile(left.counter, shared_memory<int>());
  const long long first = tile * threads() * of_tile<T>::ITEMS;
  load_tile<OP>(x, n, first, s, items);
  T before = scan_block<OP>(s, scan_items<OP>(items), total);
  barrier();
  if (branch(thread() < WARP)) {
    if (thread() == 0) publish<T>(left.totals, left.flags, tile, total, HAS_TOTAL);
    T tiles = look_back<OP>(left, tile);
    if (thread() == 0) publish<T>(left.prefixes, left.flags, tile, OP::combine(tiles, total), HAS_PREFIX);
    if (thread() == 0) s[0] = tiles;
  }
  barrier();
  add_to_items<OP>(OP::combine((T)s[0], before), items);
  store_tile(out, n, first, s, items);
}

/* What is before the tile, by the first warp, from a tree: 32 tiles have a parent, 32 of those another, and the last of
 * 32 siblings leaves their parent's total. At each level a block waits for its siblings before, all of them together,
 * and adds these; nobody waits for a prefix. The tree, and so the order of additions, follows from the number of tiles
 * alone. */
template <class OP, class T> LADDER_DEVICE T look_up(notices<T> left, long long tile, T total) {
  long long base = 0, nodes = blocks(), node = tile; /* of the level */
  bool complete = true;                              /* total is the node's */
  T before = OP::identity();
  for (;;) {
    const int siblings = (int)(node % WARP);
    const long long sibling = base + node - siblings + thread();
    const bool looks = thread() < siblings;
    if (thread() == 0 && complete) publish<T>(left.totals, left.flags, base + node, total, HAS_TOTAL);
    while (branch(looks && flag_of(left.flags, sibling) == NOTHING_YET)) pause();
    T within = fold_warp<OP>(looks ? fresh<T>(left.totals, sibling) : OP::identity());
    before = OP::combine(within, before);
    if (nodes <= WARP) return before;
    complete = complete && siblings == WARP - 1;
    total = OP::combine(within, total);
    base += nodes;
    nodes = (nodes + WARP - 1) / WARP;
    node /= WARP;
  }
}

/* Rung s8. Mends: no chain from tile to tile: a total travels up a tree of 32, three levels for 2^26 elements, and the
 * blocks wait for it side by side. Still wrong: a block keeps its registers and its shared memory while it waits, and
 * reads nothing meanwhile. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL scan_looking_up(global<const T> x, long long n, global<T> out, notices<T> left) {
  shared<T> s = shared_memory<T>();
  T items[of_tile<T>::ITEMS], total;
  const long long tile = take_tile(left.counter, shared_memory<int>());
  const long long first = tile * threads() * of_tile<T>::ITEMS;
  load_tile<OP>(x, n, first, s, items);
  T before = scan_block<OP>(s, scan_items<OP>(items), total);
  barrier();
  if (branch(thread() < WARP)) {
    T tiles = look_up<OP>(left, tile, total);
    if (thread() == 0) s[0] = tiles;
  }
  barrier();
  add_to_items<OP>(OP::combine((T)s[0], before), items);
  store_tile(out, n, first, s, items);
}

} // namespace ladder
#endif
