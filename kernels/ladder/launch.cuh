/* How the ladder's kernels are launched. LAUNCH is called as launch(blocks, threads, shared bytes, kernel,
 * arguments...): on a GPU it queues, under emulation it runs and counts. It is false once a launch has failed. */
#ifndef LADDER_LAUNCH_CUH
#define LADDER_LAUNCH_CUH

#include "axes.cuh"
#include "job.h"
#include "ladder.cuh"
#include "launch_arrays.cuh"

namespace ladder {

inline int log2_of(long long n) {
  int log = 1;
  while (log < 62 && 1LL << log < n) log++;
  return log;
}

/* Blocks for O(log n) elements a thread. */
inline long long cascade(long long n, int block) {
  return ceil_div(n, (long long)block * log2_of(n));
}

template <int N> struct number { static constexpr int value = N; };

/* Calls use(number<block>()) for the block sizes that kernels are compiled for. */
template <class USE> void with_block(int block, USE &&use) {
  switch (block) {
  case 64: use(number<64>()); break;
  case 128: use(number<128>()); break;
  case 256: use(number<256>()); break;
  case 512: use(number<512>()); break;
  case 1024: use(number<1024>()); break;
  default: break;
  }
}

/* Rung 14, the first way. Levels take turns in the two halves of the scratch memory. */
template <class OP, class LAUNCH> void launch_levels(LAUNCH &launch, const ladder_job &job) {
  using T = typename OP::type;
  const T *from = (const T *)job.data;
  T *to = (T *)((char *)job.scratch + LADDER_COUNTER_BYTES);
  T *other = to + (cascade(job.columns, job.block) + 3) / 4 * 4; // at a multiple of 16 bytes, as `to` is
  const size_t bytes = WARP * sizeof(T);
  long long n = job.columns, blocks = cascade(n, job.block);
  launch(blocks, job.block, bytes, partials<OP>, (const vector<T> *)from, from, n, blocks == 1 ? (T *)job.results : to);
  while (blocks > 1) {
    n = blocks;
    from = to;
    to = other;
    other = (T *)from;
    blocks = cascade(n, job.block);
    launch(blocks, job.block, bytes, partials<mapped<OP>>, (const vector<T> *)from, from, n,
           blocks == 1 ? (T *)job.results : to);
  }
}

/* The rungs that end in one atomic a block. */
template <class OP, class LAUNCH> bool launch_atomics(LAUNCH &launch, ladder_kernel kernel, const ladder_job &job) {
  using T = typename OP::type;
  const T *x = (const T *)job.data;
  T *out = (T *)job.results;
  const long long n = job.columns;
  const int block = job.block, overlap = job.overlap;
  const long long one = ceil_div(n, block), many = ceil_div(n, (long long)block * overlap),
                  cascaded_ = cascade(n, block);
  const size_t bytes = block * sizeof(T), few = WARP * sizeof(T);
  if (kernel > LADDER_VECTOR) return false;
  launch(1, WARP, 0, set_identity<OP>, out);
  switch (kernel) {
  case LADDER_ATOMIC_EACH: launch(one, block, 0, atomic_each<OP>, x, n, out); break;
  case LADDER_ATOMIC_SHARED: launch(one, block, sizeof(T), atomic_shared<OP>, x, n, out); break;
  case LADDER_ONE_ADDS: launch(one, block, bytes, one_adds<OP>, x, n, out); break;
  case LADDER_TREE_MODULO: launch(one, block, bytes, tree_modulo<OP>, x, n, out); break;
  case LADDER_TREE_STRIDED: launch(one, block, bytes, tree_strided<OP>, x, n, out); break;
  case LADDER_TREE_SEQUENTIAL: launch(one, block, bytes, tree_sequential<OP>, x, n, out); break;
  case LADDER_TWO_ON_LOAD: launch(ceil_div(n, 2LL * block), block, bytes, two_on_load<OP>, x, n, out); break;
  case LADDER_OVERLAP: launch(many, block, bytes, overlapped<OP>, x, n, out, overlap); break;
  case LADDER_LAST_WARP: launch(many, block, bytes, last_warp<OP>, x, n, out, overlap); break;
  case LADDER_UNROLLED:
    with_block(block, [&](auto size) { launch(many, block, bytes, unrolled<OP, size.value>, x, n, out, overlap); });
    break;
  case LADDER_CASCADE:
    with_block(block, [&](auto size) { launch(cascaded_, block, bytes, cascaded<OP, size.value>, x, n, out); });
    break;
  case LADDER_SHUFFLE: launch(cascaded_, block, few, shuffled<OP>, x, n, out); break;
  case LADDER_VECTOR: launch(cascaded_, block, few, vectored<OP>, (const vector<T> *)x, x, n, out); break;
  default: return false;
  }
  return true;
}

/* False: the kernel is not of this ladder. */
template <class OP, class LAUNCH> bool launch_reduce(LAUNCH &launch, ladder_kernel kernel, const ladder_job &job) {
  using T = typename OP::type;
  const T *x = (const T *)job.data;
  if (kernel == LADDER_RELAUNCH) {
    launch_levels<OP>(launch, job);
    return true;
  }
  if (kernel == LADDER_LAST_BLOCK) {
    launch(cascade(job.columns, job.block), job.block, (WARP + 1) * sizeof(T), last_block<OP>, (const vector<T> *)x, x,
           job.columns, (T *)((char *)job.scratch + LADDER_COUNTER_BYTES), (unsigned *)job.scratch, (T *)job.results);
    return true;
  }
  return launch_atomics<OP>(launch, kernel, job);
}

/* One result a row, or a column. */
template <class OP, class LAUNCH> bool launch_axes(LAUNCH &launch, ladder_kernel kernel, const ladder_job &job) {
  using T = typename OP::type;
  const T *x = (const T *)job.data;
  T *out = (T *)job.results;
  const long long rows = job.rows, columns = job.columns, pitch = job.pitch;
  const int block = job.block;
  const long long tiles = ceil_div(rows, WARP), most = 0x7fffffff;
  switch (kernel) {
  case LADDER_THREAD_ROWS:
    launch(ceil_div(rows, block), block, 0, thread_a_row<OP>, x, rows, columns, pitch, out);
    break;
  case LADDER_THREAD_COLUMNS:
    launch(ceil_div(columns, block), block, 0, thread_a_column<OP>, x, rows, columns, pitch, out);
    break;
  case LADDER_BLOCK_ROWS:
  case LADDER_BLOCK_PITCHED:
    launch(rows < most ? rows : most, block, WARP * sizeof(T), block_a_row<OP>, x, rows, columns, pitch, out);
    break;
  case LADDER_TILE:
    launch(tiles, TILE_THREADS, tile_bytes<T, 32, 0>(), tile<OP, 32, 0>, x, rows, columns, pitch, out);
    break;
  case LADDER_TILE_PADDED:
    launch(tiles, TILE_THREADS, tile_bytes<T, 32, 1>(), tile<OP, 32, 1>, x, rows, columns, pitch, out);
    break;
  case LADDER_TILE_WIDE:
    launch(tiles, TILE_THREADS, tile_bytes<T, 128, 1>(), tile<OP, 128, 1>, x, rows, columns, pitch, out);
    break;
  default: return false;
  }
  return true;
}

/* Launches one of the ladder's own kernels; false: it is none of them. */
template <class OP, class LAUNCH> bool launch_own(LAUNCH &launch, ladder_kernel kernel, const ladder_job &job) {
  return launch_reduce<OP>(launch, kernel, job) || launch_axes<OP>(launch, kernel, job) ||
         launch_scan<OP>(launch, kernel, job) || launch_select<typename OP::type>(launch, kernel, job);
}

template <class T, class USE> bool with_op(ladder_op op, USE &&use) {
  switch (op) {
  case LADDER_SUM: return use(sum<T>());
  case LADDER_PROD: return use(product<T>());
  case LADDER_MIN: return use(smallest<T>());
  case LADDER_MAX: return use(largest<T>());
  case LADDER_POLYNOMIAL: return use(polynomial<T>());
  }
  return false;
}

/* Calls use(OP()) for the job's operator over its dtype. */
template <class USE> bool with_operator(const ladder_job &job, USE &&use) {
  switch (job.dtype) {
  case LADDER_I32: return with_op<int>(job.op, use);
  case LADDER_F32: return with_op<float>(job.op, use);
  case LADDER_F64: return with_op<double>(job.op, use);
  }
  return false;
}

} // namespace ladder
#endif
