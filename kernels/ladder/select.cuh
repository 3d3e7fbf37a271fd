/* The ladder of selection (stream compaction): the elements of x that are less than `limit` go to out, one after the
 * other, and their number to count[0]; some rungs keep their order. After that quicksort, which is partition over and
 * over. Any n up to 2^30.
 *
 * c1 to c4 after M. Billeter, O. Olsson and U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
 * Architectures" (2009), and A. Adinets, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics" (2014);
 * quicksort after D. Cederman and P. Tsigas, "GPU-Quicksort" (2009). */
#ifndef LADDER_SELECT_CUH
#define LADDER_SELECT_CUH

#include "scan.cuh"

namespace ladder {

/* Rung c1. Each thread with an element to keep takes the next place by an atomic. Short, and the order is lost. Slow:
 * one atomic for each element that is kept, all on one address. */
template <class T>
LADDER_KERNEL select_atomic(global<const T> x, long long n, T limit, global<T> out, global<int> count) {
  long long i = block() * threads() + thread();
  T value = i < n ? (T)x[i] : limit;
  if (branch(value < limit)) out[fetch_add(count, 0, 1)] = value;
}

/* Rung c2, the first step: 1 for each element that is kept, else 0. The prefix sums of these (s6) are then places,
 * counted from 1. */
template <class T> LADDER_KERNEL mark(global<const T> x, long long n, T limit, global<int> marks) {
  long long i = block() * threads() + thread();
  if (i < n) marks[i] = x[i] < limit ? 1 : 0;
}

/* Rung c2, the last step. Mends: no atomics, and elements keep their order, as a place is the number of those kept
 * before. Still wrong: x is read twice, marks as large as x are read or written five times, and there are five
 * launches. */
template <class T>
LADDER_KERNEL scatter(global<const T> x, long long n, T limit, global<const int> places, global<T> out,
                      global<int> count) {
  long long i = block() * threads() + thread();
  T value = i < n ? (T)x[i] : limit;
  if (branch(value < limit)) out[places[i] - 1] = value;
  if (branch(i == n - 1)) count[0] = places[i];
}

/* Rung c3, warp-aggregated. Mends c1: one atomic a warp. Its lanes vote; the first takes as many places as there
 * are votes, and each voter has the place after the voters before it. Still wrong: the order of warps is lost, as in
 * c1, and warps queue for the counter. */
template <class T>
LADDER_KERNEL select_warp(global<const T> x, long long n, T limit, global<T> out, global<int> count) {
  const int lane = thread() % WARP;
  long long i = block() * threads() + thread();
  T value = i < n ? (T)x[i] : limit;
  const bool keep = value < limit;
  const unsigned votes = ballot(keep);
  int place = 0;
  if (branch(lane == 0 && votes)) place = fetch_add(count, 0, count_bits(votes));
  place = shuffle_from(place, 0) + count_bits(votes & ((1U << lane) - 1));
  if (branch(keep)) out[place] = value;
}

/* Rung c4, one pass. Mends c2: a tile is read once, counted and scanned within the block; what is kept before it comes
 * from the other blocks, as in s8; and the tile's elements are gathered in shared memory first, from which they are
 * written in whole lines. Still wrong: of x it reads all lines, even where a mask of bits would say that none is
 * wanted. */
template <class T>
LADDER_KERNEL select_looking_up(global<const T> x, long long n, T limit, global<T> out, global<int> count,
                                notices<int> left) {
  const int first_of_tile = of_tile<T>::HEAD;
  shared<T> s = shared_memory<T>();
  shared<int> words = shared_memory<int>(); /* the first 256 bytes of it */
  T items[of_tile<T>::ITEMS];
  int kept = 0, total;
  const long long tile = take_tile(left.counter, words), first = tile * threads() * of_tile<T>::ITEMS;
  const long long own_first = first + thread() * of_tile<T>::ITEMS;
  load_tile<mapped<sum<T>>>(x, n, first, s, items);
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++) kept += own_first + e < n && items[e] < limit;
  int place = scan_block<sum<int>>(words, kept, total);
  barrier();
  LADDER_UNROLL
  for (int e = 0; e < of_tile<T>::ITEMS; e++)
    if (own_first + e < n && items[e] < limit) s[first_of_tile + place++] = items[e];
  if (branch(thread() < WARP)) {
    int before = look_up<sum<int>>(left, tile, total);
    if (thread() == 0) words[0] = before;
    if (branch(thread() == 0 && tile == blocks() - 1)) count[0] = before + total;
  }
  barrier();
  const int before = words[0];
  for (int i = thread(); i < total; i += threads()) out[before + i] = s[first_of_tile + i];
}

/* ---- quicksort ---- */

/* Segments of x that wait to be sorted. A segment is pushed only if both it and what its block goes on with are longer
 * than what a block sorts at once. So at most n divided by that are pushed, and the whole array. */
struct segments {
  global<int> first, last, flags; /* x[first..last), where the flag is set */
  global<int> counters;           /* TAKEN, PUSHED: segments; SORTED: elements that are where they belong */
};
enum { TAKEN, PUSHED, SORTED };

/* What a block sorts at once, in shared memory: so many elements a thread. */
enum { ITEMS_SORTED = 4 };

/* By one thread, after a barrier. */
LADDER_DEVICE void push(segments queue, int first, int last) {
  int at = fetch_add(queue.counters, PUSHED, 1);
  queue.first[at] = first;
  publish<int>(queue.last, queue.flags, at, last, 1);
}

/* By one thread. The queue has `capacity` places. false: all has been sorted. */
LADDER_DEVICE bool pop(segments queue, int n, int capacity, int &first, int &last) {
  int at = fetch_add(queue.counters, TAKEN, 1);
  while (branch(at >= capacity || flag_of(queue.flags, at) == 0)) {
    if (branch(flag_of(queue.counters, SORTED) == n)) return false;
    pause();
  }
  first = fresh<int>(queue.first, at);
  last = fresh<int>(queue.last, at);
  return true;
}

/* Rung q1, the first step: copies x, which is to stay, and makes all of it the first segment. */
template <class T> LADDER_KERNEL start_sort(global<const T> x, int n, global<T> out, segments queue) {
  long long i = block() * threads() + thread();
  if (i < n) out[i] = x[i];
  if (branch(i == 0)) push(queue, 0, n);
}

/* x[first..last) in three: what is less than the pivot, the pivot's equals from x[less] on, what is greater from
 * x[greater] on. A selection to both ends of spare at once, whose two counts a scan carries in the halves of one word.
 */
template <class T>
LADDER_DEVICE void partition(global<T> x, global<T> spare, int first, int last, T pivot, int &less, int &greater) {
  enum { ITEMS = 8 };
  T items[ITEMS];
  less = first;
  greater = last;
  for (int start = first; start < last; start += threads() * ITEMS) {
    int own = 0, total;
    LADDER_UNROLL
    for (int e = 0; e < ITEMS; e++) {
      int i = start + e * threads() + thread();
      items[e] = i < last ? (T)x[i] : pivot;
      own += (items[e] < pivot ? 1 : 0) + (pivot < items[e] ? 1 << 16 : 0);
    }
    const int before = scan_block<sum<int>>(shared_memory<int>(), own, total);
    int low = less + (before & 0xffff), high = greater - (before >> 16);
    LADDER_UNROLL
    for (int e = 0; e < ITEMS; e++) {
      if (items[e] < pivot) spare[low++] = items[e];
      if (pivot < items[e]) spare[--high] = items[e];
    }
    less += total & 0xffff;
    greater -= total >> 16;
    barrier();
  }
  LADDER_UNROLL_BY(4)
  for (int i = first + thread(); i < last; i += threads()) x[i] = i < less || i >= greater ? (T)spare[i] : pivot;
  barrier();
}

/* Sorts a segment that fits into shared memory, by Batcher's bitonic network (1968): every step compares pairs at one
 * distance. What is beyond the segment's end is never smaller. */
template <class T> LADDER_DEVICE void sort_small(global<T> x, int first, int last, shared<T> s) {
  int size = 2;
  while (size < last - first) size *= 2;
  for (int i = thread(); i < size; i += threads())
    s[of_tile<T>::HEAD + i] = first + i < last ? (T)x[first + i] : most<T>::value();
  for (int run = 2; run <= size; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      barrier();
      for (int pair = thread(); pair < size / 2; pair += threads()) {
        const int low = 2 * pair - (pair & (step - 1)), at = of_tile<T>::HEAD + low;
        const bool ascending = !(low & run);
        T a = s[at], b = s[at + step];
        const bool swap = ascending ? b < a : a < b;
        s[at] = swap ? b : a;
        s[at + step] = swap ? a : b;
      }
    }
  }
  barrier();
  for (int i = first + thread(); i < last; i += threads()) x[i] = s[of_tile<T>::HEAD + i - first];
  barrier();
}

template <class T> LADDER_DEVICE T median(T a, T b, T c) {
  T low = b < a ? b : a, high = b < a ? a : b;
  return c < low ? low : high < c ? high : c;
}

/* Rung q1, quicksort. Partition, then both ends likewise. Blocks take segments from a queue. A block cuts its segment
 * in three; where both ends are too long to be sorted in shared memory, it leaves the upper one to the queue and goes
 * on with the lower one. So the queue, and not a stack of calls, says what is still to do. After log2(n / (4 *
 * threads)) cuts, one after the other, all blocks have work. Still wrong: the first cuts are made by one block, then
 * two, four ...; and each of log2(n) levels reads and writes everything twice, where a radix sort has one pass for 8
 * bits of keys. */
template <class T> LADDER_KERNEL quicksort(global<T> x, int n, global<T> spare, segments queue, int capacity) {
  shared<T> s = shared_memory<T>();
  shared<int> words = shared_memory<int>();
  const int small = threads() * ITEMS_SORTED;
  for (;;) {
    int first = 0, last = 0;
    if (branch(thread() == 0)) {
      bool any = pop(queue, n, capacity, first, last);
      words[WARP] = any ? first : -1;
      words[WARP + 1] = last;
    }
    barrier();
    first = words[WARP];
    last = words[WARP + 1];
    if (branch(first < 0)) return;
    while (branch(first < last)) {
      int less = last, greater = last;
      if (branch(last - first > small))
        partition<T>(x, spare, first, last, median<T>(x[first], x[first + (last - first) / 2], x[last - 1]), less,
                     greater);
      const bool low = less - first > small, high = last - greater > small;
      if (branch(!low)) sort_small<T>(x, first, less, s);
      if (branch(!high)) sort_small<T>(x, greater, last, s);
      if (branch(thread() == 0)) {
        if (branch(low && high)) push(queue, greater, last);
        fetch_add(queue.counters, SORTED, last - first - (low ? less - first : 0) - (high ? last - greater : 0));
      }
      first = low ? first : greater;
      last = low ? less : high ? last : first;
    }
  }
}

} // namespace ladder
#endif
