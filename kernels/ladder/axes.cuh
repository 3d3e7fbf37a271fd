/* The second ladder: a matrix of rows x columns in row-major order, `pitch` elements from a row to the next, reduced to
 * one value a row, or a column. What decides is not how the adding is done but which elements a warp reads at once. */
#ifndef LADDER_AXES_CUH
#define LADDER_AXES_CUH

#include "ladder.cuh"

namespace ladder {

/* Rung a1. One thread a row. Short, and wrong: a warp's 32 loads lie a row apart, in 32 sectors of which it wants one
 * element each; what the caches do not keep until the next column is read again. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL thread_a_row(global<const T> x, long long rows, long long columns, long long pitch, global<T> out) {
  long long row = block() * threads() + thread();
  if (!branch(row < rows)) return;
  T total = OP::identity();
  LADDER_UNROLL_BY(4)
  for (long long c = 0; c < columns; c++) total = OP::combine(total, OP::map(x[row * pitch + c]));
  out[row] = total;
}

/* Rung a2. One thread a column. The same kernel along the other axis, and right: the warp's loads are neighbours. Still
 * wrong: as many threads as columns, which may be too few to keep a GPU busy. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL thread_a_column(global<const T> x, long long rows, long long columns, long long pitch, global<T> out) {
  long long column = block() * threads() + thread();
  if (!branch(column < columns)) return;
  T total = OP::identity();
  LADDER_UNROLL_BY(4)
  for (long long r = 0; r < rows; r++) total = OP::combine(total, OP::map(x[r * pitch + column]));
  out[column] = total;
}

/* Rung a3, and a7 where rows are padded. Another way than a1: a block reads one row, in whole lines. Still wrong: with
 * rows shorter than the block threads are idle, and every row, however short, costs a tree and a barrier; rows that do
 * not begin at a multiple of 128 bytes make each warp's read straddle one line more, which a7 mends. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL block_a_row(global<const T> x, long long rows, long long columns, long long pitch, global<T> out) {
  shared<T> s = shared_memory<T>();
  for (long long row = block(); row < rows; row += blocks()) {
    T total = fold_block<OP>(s, load_strided<OP, T>(x, row * pitch, columns, thread(), threads()));
    if (branch(thread() == 0)) out[row] = total;
    barrier();
  }
}

/* ---- tiles: 32 rows a block. Eight warps fetch K columns of them in whole lines, a row at a time, into shared memory;
 * then lane r of each warp adds an eighth of row r, reading down the tile. ---- */

enum { TILE_THREADS = 256, TILE_WARPS = TILE_THREADS / WARP };

/* The tile, and after it a value a thread. */
template <class T, int K, int PADDING> constexpr size_t tile_bytes() {
  return (WARP * (K + PADDING) + TILE_THREADS) * sizeof(T);
}

template <class OP, int K, int PADDING, class T>
LADDER_DEVICE void fetch_tile(global<const T> x, long long rows, long long columns, long long pitch, long long first,
                              shared<T> s) {
  const int lane = thread() % WARP, warp = thread() / WARP, pitch_here = K + PADDING;
  T fetched[WARP / TILE_WARPS][K / WARP];
  LADDER_UNROLL
  for (int i = 0; i < WARP / TILE_WARPS; i++) {
    LADDER_UNROLL
    for (int j = 0; j < K / WARP; j++) {
      long long row = block() * WARP + warp + i * TILE_WARPS, column = first + lane + j * WARP;
      fetched[i][j] = row < rows && column < columns ? OP::map(x[row * pitch + column]) : OP::identity();
    }
  }
  LADDER_UNROLL
  for (int i = 0; i < WARP / TILE_WARPS; i++) {
    LADDER_UNROLL
    for (int j = 0; j < K / WARP; j++) s[(warp + i * TILE_WARPS) * pitch_here + lane + j * WARP] = fetched[i][j];
  }
}

/* Rungs a4 (K = 32, no padding), a5 (padding 1), a6 (K = 128). Mends a1: lines are read whole even if rows are short,
 * and one thread adds for one row, so there is no tree until the end. Without padding: rows of the tile are a multiple
 * of 32 words, so the 32 lanes that read down it all meet in one bank; a padding of one word puts each in its own. K =
 * 128 brings four loads in flight a row and a quarter of the barriers. Still wrong: 32 rows a block leave most of a GPU
 * idle when there are few rows. */
template <class OP, int K, int PADDING, class T = typename OP::type>
LADDER_KERNEL tile(global<const T> x, long long rows, long long columns, long long pitch, global<T> out) {
  shared<T> s = shared_memory<T>();
  const int lane = thread() % WARP, warp = thread() / WARP, parts = WARP * (K + PADDING);
  T total = OP::identity();
  for (long long first = 0; first < columns; first += K) {
    fetch_tile<OP, K, PADDING, T>(x, rows, columns, pitch, first, s);
    barrier();
    LADDER_UNROLL
    for (int c = 0; c < K / TILE_WARPS; c++)
      total = OP::combine(total, s[lane * (K + PADDING) + warp * (K / TILE_WARPS) + c]);
    barrier();
  }
  s[parts + thread()] = total;
  barrier();
  if (branch(warp == 0 && block() * WARP + lane < rows)) {
    for (int w = 1; w < TILE_WARPS; w++) total = OP::combine(total, s[parts + w * WARP + lane]);
    out[block() * WARP + lane] = total;
  }
}

} // namespace ladder
#endif
