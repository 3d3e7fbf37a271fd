/* Family tile: the fastest axis is short, so that one contiguous stretch of memory spans several outputs.
 *
 * tile_columns: the short axis is kept and the next reduced axis lies densely around it: rows of a few columns. The
 * vectors that the active threads read at a time hold a multiple of the columns. Element j of a thread's vectors
 * therefore always belongs to the same output, and is reduced in registers; the accumulators are joined in shared
 * memory at the end. Other kernels of the family are in columns3.cuh, staged.cuh, runs.cuh, vectors.cuh. */
#ifndef NDR_TILE_CUH
#define NDR_TILE_CUH

#include "join.cuh"

/* Each thread has an accumulator for each element of a vector: with one block less, large ones stay in registers. */
template <class Op> struct residency<NDR_KERNEL_TILE_COLUMNS, Op> {
  static constexpr int blocks(int most) { return sizeof(typename Op::Accumulator) <= 8 ? most : most - 1; }
};

/* A dense stretch of elements, cut at 16-byte boundaries. */
template <class T> struct stretch {
  const T *start;
  i64 length, vectors;
  int head;
  NDR_DEVICE stretch(const T *first, i64 count) {
    const int elements = 16 / sizeof(T);
    int past = (int)((unsigned long long)first % 16 / sizeof(T));
    start = first;
    length = count;
    head = past ? elements - past : 0;
    if (head > length) head = (int)length;
    vectors = (length - head) / elements;
  }
};

/* The flattened index of element `at` of a stretch of whole rows. A split is much less than 2^31 elements. */
NDR_DEVICE i64 index_at(const ndr_params &p, i64 index, i64 at, int columns) {
  return index + (u32)at / (u32)columns * walked_axis(p).index_step;
}

/* The head and tail of a stretch, each less than a vector. A thread reads each element before the vectors are read.
 * After the vectors, the owners of the outputs fold these elements from shared memory. */
template <class T> struct edges {
  static const int most = 2 * (16 / (int)sizeof(T));
  int head, count;
  i64 skipped;
  NDR_DEVICE edges(const stretch<T> &s) {
    skipped = s.vectors * (16 / (int)sizeof(T));
    head = s.head;
    count = (int)(s.length - skipped);
  }
  NDR_DEVICE i64 at(int e) const { return e < head ? e : e + skipped; }
};

template <class Op>
NDR_DEVICE void fold_edges(const ndr_params &p, typename Op::Accumulator &a, const edges<typename Op::element> &e,
                           const typename Op::element *edge, i64 index, int column) {
  int columns = p.tile_columns.rows.columns;
  for (int k = column; k < e.head; k += columns) fold_one<Op>(p, a, edge[k], index_at(p, index, k, columns));
  /* The first tail element that belongs to the column. */
  int k = e.head + (int)((column + columns - e.at(e.head) % columns) % columns);
  for (; k < e.count; k += columns) fold_one<Op>(p, a, edge[k], index_at(p, index, e.at(k), columns));
}

/* Folds this thread's vectors of a stretch into its accumulators, one for each element of a vector: its phases. */
template <class Op>
NDR_DEVICE void fold_phases(const ndr_params &p, typename Op::Accumulator *a, const stretch<typename Op::element> &s,
                            i64 index) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T), UNROLL = NDR_LOADS_TILE_COLUMNS;
  const T *at = s.start + s.head + machine::thread() * elements;
  int left = (int)s.vectors - machine::thread(), threads = p.tile_columns.active_threads, stride = threads * elements;
  i64 first = s.head + machine::thread() * elements;
  for (; left > 0; left -= UNROLL * threads) {
    ndr_vector vector[UNROLL];
    typename Op::value x[UNROLL][elements];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (left > u * threads) vector[u] = machine::load_vector(at + u * stride);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) unpack<Op>(vector[u], x[u]);
    if (left > (UNROLL - 1) * threads && !Op::indexed) {
#pragma unroll
      for (int j = 0; j < elements; j++) {
        typename Op::value y[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) y[u] = x[u][j];
        Op::template fold<UNROLL>(a[j], y, 0, 0, p);
      }
    } else {
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        if (left <= u * threads) break;
#pragma unroll
        for (int j = 0; j < elements; j++)
          fold_value<Op>(p, a[j], x[u][j],
                         Op::indexed ? index_at(p, index, first + u * stride + j, p.tile_columns.rows.columns) : 0);
      }
    }
    at += UNROLL * stride;
    first += UNROLL * stride;
  }
}

/* Joins `total` accumulators of a block into the first `columns` of them. Number k belongs to phase k % columns. */
template <class Op> NDR_DEVICE void join_phases(typename Op::Accumulator *accumulators, int total, int columns) {
  int thread = machine::thread(), width = machine::threads() / columns * columns;
  if (width < total) {
    typename Op::Accumulator a = Op::identity();
    for (int k = thread; thread < width && k < total; k += width) Op::join(a, accumulators[k]);
    machine::barrier();
    if (thread < width) accumulators[thread] = a;
    machine::barrier();
    total = width;
  }
  int groups = total / columns, warps = machine::threads() / NDR_WARP;
  if (groups <= 8) {
    for (int g = 1; thread < columns && g < groups; g++)
      Op::join(accumulators[thread], accumulators[g * columns + thread]);
    machine::barrier();
    return;
  }
  /* One warp alone reads each phase, so that the sum may replace the phase's first accumulator. */
  for (int phase = thread / NDR_WARP; phase < columns; phase += warps) {
    typename Op::Accumulator a = Op::identity();
#pragma unroll 1
    for (int g = thread % NDR_WARP; g < groups; g += NDR_WARP) Op::join(a, accumulators[g * columns + phase]);
    join_lanes<Op>(a, NDR_WARP);
    if (thread % NDR_WARP == 0) accumulators[phase] = a;
  }
  machine::barrier();
}

/* Joins the accumulators of all threads in shared memory, as many at a time as it holds. A thread that owns a column
 * joins the total of its phase `phase` to `mine`. */
template <class Op>
NDR_DEVICE void join_accumulators(const ndr_params &p, typename Op::Accumulator &mine,
                                  const typename Op::Accumulator *a, int phase) {
  const int elements = 16 / sizeof(typename Op::element);
  typename Op::Accumulator *accumulators = (typename Op::Accumulator *)machine::shared_bytes();
  int thread = machine::thread(), threads = p.tile_columns.active_threads, total = threads * elements;
  int columns = p.tile_columns.rows.columns;
  int most = p.tile_columns.smem_bytes / (int)sizeof(typename Op::Accumulator) / columns * columns;
  for (int base = 0; base < total; base += most) {
    int count = total - base < most ? total - base : most;
#pragma unroll
    for (int j = 0; j < elements; j++) {
      int k = thread * elements + j - base;
      if (thread < threads && k >= 0 && k < count) accumulators[k] = a[j];
    }
    machine::barrier();
    join_phases<Op>(accumulators, count, columns);
    if (thread < columns) Op::join(mine, accumulators[phase]);
    machine::barrier();
  }
}

/* Reduces the vectors of a stretch into `mine` of the threads that own its outputs. */
template <class Op>
NDR_DEVICE void fold_vectors(const ndr_params &p, typename Op::Accumulator &mine,
                             const stretch<typename Op::element> &s, i64 index, int column) {
  const int elements = 16 / sizeof(typename Op::element);
  typename Op::Accumulator a[elements];
#pragma unroll
  for (int j = 0; j < elements; j++) a[j] = Op::identity();
  int columns = p.tile_columns.rows.columns;
  if (machine::thread() < p.tile_columns.active_threads) fold_phases<Op>(p, a, s, index);
  join_accumulators<Op>(p, mine, a, (column + columns - s.head % columns) % columns);
}

/* The rows from number `row` to `end` that lie side by side: those of one run. */
template <class T> struct row_stretch {
  const T *first;
  i64 rows, index;
  NDR_DEVICE row_stretch(const ndr_params &p, const ndr_param_rows &all, i64 base, i64 row, i64 end) {
    i64 run = all.runs == 1 ? 0 : row / all.run_rows, in_run = row - run * all.run_rows;
    element_spot outer = locate_reduced(p, 1, run);
    rows = all.run_rows - in_run < end - row ? all.run_rows - in_run : end - row;
    first = (const T *)p.data + base + outer.offset + in_run * all.columns;
    index = p.index_origin + outer.index + in_run * walked_axis(p).index_step;
  }
};

/* Writes an item's totals to the result, or joins them to those of the other splits. Thread t < columns holds the total
 * of column t. */
template <class Op>
NDR_DEVICE void finish_columns(const ndr_params &p, int columns, tile_split whose, i64 result,
                               const typename Op::Accumulator &mine) {
  int thread = machine::thread();
  bool owner = thread < columns;
  if (splits_of(p) == 1) {
    if (owner) emit<Op>(p, result + thread * p.axes[0].result_stride, Op::widen(mine));
    return;
  }
  i64 output = whose.tile * columns;
  if (owner) save_partial<Op>(p, whose.split, output + thread, Op::widen(mine));
  join_splits<Op, false>(p, whose, output, columns, [&](int k) { return result + k * p.axes[0].result_stride; });
}

template <class Op> NDR_DEVICE void tile_columns(const ndr_params &p) {
  typedef typename Op::element T;
  const int columns = p.tile_columns.rows.columns;
  NDR_SHARED T edge[edges<T>::most];
  tile_split whose = split_of(p, machine::block());
  output_spot kept = locate_kept(p, 1, whose.tile);
  range units = units_of(p, whose.split);
  int thread = machine::thread(), column = thread < columns ? thread : 0;
  typename Op::Accumulator mine = Op::identity();
  for (i64 row = units.begin; row < units.end;) {
    row_stretch<T> rows(p, p.tile_columns.rows, kept.offset, row, units.end);
    stretch<T> s(rows.first, rows.rows * columns);
    edges<T> around(s);
    T element = T();
    if (thread < around.count) element = machine::load_element(rows.first + around.at(thread));
    fold_vectors<Op>(p, mine, s, rows.index, column);
    if (thread < around.count) edge[thread] = element;
    machine::barrier();
    if (thread < columns) fold_edges<Op>(p, mine, around, edge, rows.index, column);
    machine::barrier();
    row += rows.rows;
  }
  finish_columns<Op>(p, columns, whose, kept.result, mine);
}

#endif
