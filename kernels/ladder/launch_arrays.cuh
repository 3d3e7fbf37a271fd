/* How the kernels that make arrays are launched: prefix sums, selections, quicksort. LAUNCH is as in launch.cuh. */
#ifndef LADDER_LAUNCH_ARRAYS_CUH
#define LADDER_LAUNCH_ARRAYS_CUH

#include "job.h"
#include "select.cuh"

namespace ladder {

/* n / each rounded up, but at least 1: a grid has a block even if there is nothing to do. */
inline long long ceil_div(long long n, long long each) {
  return n > each ? (n + each - 1) / each : 1;
}

/* A job's scratch memory: first the counters, then what is taken of it, at multiples of 16 bytes. */
struct scratch_memory {
  int *counters;
  char *next;
};

inline scratch_memory scratch_of(const ladder_job &job) {
  return {(int *)job.scratch, (char *)job.scratch + LADDER_COUNTER_BYTES};
}

template <class T> T *take(scratch_memory &scratch, long long count) {
  T *taken = (T *)scratch.next;
  scratch.next += (count * (long long)sizeof(T) + 15) / 16 * 16;
  return taken;
}

enum { COUNTERS = LADDER_COUNTER_BYTES / 4 };

template <class LAUNCH> void launch_clear(LAUNCH &launch, int *words, long long n) {
  launch(ceil_div(n, 256), 256, 0, clear<int>, words, n);
}

/* Bytes of shared memory for a tile of a block. */
template <class T> size_t bytes_of_tile(int block) {
  return (of_tile<T>::shared_index(block * of_tile<T>::ITEMS - 1) + 1) * sizeof(T);
}

/* Rungs s1 to s5: scans each tile; then the tiles' totals, by the same kernel for ABOVE, which maps nothing; then adds
 * to each tile what is before it. */
template <class OP, class ABOVE, class LAUNCH>
void launch_tiles(LAUNCH &launch, ladder_kernel kernel, int block, const typename OP::type *x, long long n,
                  typename OP::type *out, scratch_memory &scratch) {
  using T = typename OP::type;
  const int size = kernel == LADDER_SCAN_SERIAL                                ? block * of_tile<T>::ITEMS
                   : kernel == LADDER_SWEEPS || kernel == LADDER_SWEEPS_PADDED ? 2 * block
                                                                               : block;
  const long long tiles = ceil_div(n, size);
  const size_t two = 2 * block * sizeof(T), spread = (padded<T, true>(2 * block - 1) + 1) * sizeof(T);
  T *sums = take<T>(scratch, tiles);
  switch (kernel) {
  case LADDER_HILLIS_STEELE: launch(tiles, block, two, hillis_steele<OP>, x, n, out, sums); break;
  case LADDER_SWEEPS: launch(tiles, block, two, sweeps<OP, false>, x, n, out, sums); break;
  case LADDER_SWEEPS_PADDED: launch(tiles, block, spread, sweeps<OP, true>, x, n, out, sums); break;
  case LADDER_SCAN_SHUFFLE: launch(tiles, block, WARP * sizeof(T), scan_shuffled<OP>, x, n, out, sums); break;
  default: launch(tiles, block, bytes_of_tile<T>(block), scan_serial<OP>, x, n, out, sums); break;
  }
  if (tiles == 1) return;
  launch_tiles<ABOVE, ABOVE>(launch, kernel, block, sums, tiles, sums, scratch);
  launch(tiles - 1, block, 0, add_before<OP>, out, n, sums, size);
}

/* Rung s6. */
template <class OP, class LAUNCH>
void launch_phases(LAUNCH &launch, int block, const typename OP::type *x, long long n, typename OP::type *out,
                   scratch_memory &scratch) {
  using T = typename OP::type;
  const long long tiles = ceil_div(n, (long long)block * of_tile<T>::ITEMS);
  T *sums = take<T>(scratch, tiles);
  launch(tiles, block, WARP * sizeof(T), reduce_tiles<OP>, x, n, sums);
  launch(1, 1024, WARP * sizeof(T), scan_sums<OP>, sums, tiles);
  launch(tiles, block, bytes_of_tile<T>(block), scan_tiles<OP>, x, n, out, sums);
}

/* Empty notices: of `tiles` tiles, or for a tree of the nodes of all its levels. Counter 0 counts what was selected,
 * counter 1 gives out tiles. */
template <class T, class LAUNCH>
notices<T> launch_notices(LAUNCH &launch, long long tiles, bool tree, scratch_memory &scratch) {
  long long count = tiles;
  for (long long nodes = tiles; tree && nodes > WARP; count += nodes) nodes = ceil_div(nodes, WARP);
  int *flags = take<int>(scratch, count); /* behind the counters, and cleared with them */
  launch_clear(launch, scratch.counters, COUNTERS + count);
  T *totals = take<T>(scratch, count), *prefixes = tree ? nullptr : take<T>(scratch, tiles);
  return {totals, prefixes, flags, scratch.counters + 1};
}

/* False: the kernel is not of this ladder. */
template <class OP, class LAUNCH> bool launch_scan(LAUNCH &launch, ladder_kernel kernel, const ladder_job &job) {
  using T = typename OP::type;
  if (kernel < LADDER_HILLIS_STEELE || kernel > LADDER_LOOK_UP) return false;
  const T *x = (const T *)job.data;
  T *out = (T *)job.results;
  const long long n = job.columns, tiles = ceil_div(n, (long long)job.block * of_tile<T>::ITEMS);
  const size_t bytes = bytes_of_tile<T>(job.block);
  scratch_memory scratch = scratch_of(job);
  if (kernel < LADDER_SCAN_PHASES) {
    launch_tiles<OP, mapped<OP>>(launch, kernel, job.block, x, n, out, scratch);
  } else if (kernel == LADDER_SCAN_PHASES) {
    launch_phases<OP>(launch, job.block, x, n, out, scratch);
  } else {
    notices<T> left = launch_notices<T>(launch, tiles, kernel == LADDER_LOOK_UP, scratch);
    launch(tiles, job.block, bytes, kernel == LADDER_LOOK_UP ? scan_looking_up<OP> : scan_looking_back<OP>, x, n, out,
           left);
  }
  return true;
}

template <class T, class LAUNCH> void launch_quicksort(LAUNCH &launch, const ladder_job &job) {
  enum { MOST_BLOCKS = 1024 }; /* more than run at the same time */
  const T *x = (const T *)job.data;
  T *out = (T *)job.results;
  const int n = (int)job.columns, block = job.block, small = block * ITEMS_SORTED, capacity = n / small + 1;
  scratch_memory scratch = scratch_of(job);
  int *flags = take<int>(scratch, capacity);
  segments queue = {take<int>(scratch, capacity), take<int>(scratch, capacity), flags, scratch.counters};
  T *spare = take<T>(scratch, n);
  launch_clear(launch, scratch.counters, COUNTERS + capacity);
  launch(ceil_div(n, block), block, 0, start_sort<T>, x, n, out, queue);
  launch(capacity < MOST_BLOCKS ? capacity : MOST_BLOCKS, block, (of_tile<T>::HEAD + small) * sizeof(T), quicksort<T>,
         out, n, spare, queue, capacity);
}

/* Rung c2: mark, scan the marks as s6 does, scatter. */
template <class T, class LAUNCH> void launch_scatter(LAUNCH &launch, const ladder_job &job) {
  const T *x = (const T *)job.data, limit = (T)job.limit;
  const long long n = job.columns, blocks = ceil_div(n, job.block);
  scratch_memory scratch = scratch_of(job);
  int *marks = take<int>(scratch, n);
  launch(blocks, job.block, 0, mark<T>, x, n, limit, marks);
  launch_phases<sum<int>>(launch, job.block, marks, n, marks, scratch);
  launch(blocks, job.block, 0, scatter<T>, x, n, limit, marks, (T *)job.results, scratch.counters);
}

/* False: the kernel is not of this ladder. */
template <class T, class LAUNCH> bool launch_select(LAUNCH &launch, ladder_kernel kernel, const ladder_job &job) {
  if (kernel < LADDER_SELECT_ATOMIC || kernel > LADDER_QUICKSORT) return false;
  const T *x = (const T *)job.data, limit = (T)job.limit;
  T *out = (T *)job.results;
  const long long n = job.columns, blocks = ceil_div(n, job.block),
                  tiles = ceil_div(n, (long long)job.block * of_tile<T>::ITEMS);
  scratch_memory scratch = scratch_of(job);
  int *count = scratch.counters;
  switch (kernel) {
  case LADDER_SELECT_ATOMIC:
    launch_clear(launch, count, 1);
    launch(blocks, job.block, 0, select_atomic<T>, x, n, limit, out, count);
    break;
  case LADDER_SELECT_SCATTER: launch_scatter<T>(launch, job); break;
  case LADDER_SELECT_WARP:
    launch_clear(launch, count, 1);
    launch(blocks, job.block, 0, select_warp<T>, x, n, limit, out, count);
    break;
  case LADDER_QUICKSORT: launch_quicksort<T>(launch, job); break;
  default: {
    notices<int> left = launch_notices<int>(launch, tiles, true, scratch);
    launch(tiles, job.block, bytes_of_tile<T>(job.block), select_looking_up<T>, x, n, limit, out, count, left);
    break;
  }
  }
  return true;
}

} // namespace ladder
#endif
