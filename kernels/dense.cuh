/* Family tile where groups of outputs lie densely and have many runs. A row is what lies side by side; it is read in
 * vectors, whichever outputs their elements belong to, and wherever it begins. Each thread owns a vector of elements of
 * the row and walks the rows, as in thread.cuh. At the end the accumulators of all elements lie in shared memory, and
 * those of each output are joined. No thread knows indices along a run, so operators that need them are not run here.
 */
#ifndef NDR_DENSE_CUH
#define NDR_DENSE_CUH

#include "runs.cuh"

/* A thread's place in its block: row_threads threads lie along the elements of a tile's row, times `rows` rows. */
template <class Op> struct dense : groups {
  typedef typename narrowed<Op>::type Narrow;
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  static const int elements = 16 / sizeof(T), bytes = elements * (int)sizeof(typename Narrow::Accumulator);
  static const bool fits = bytes * NDR_BLOCK <= 48 << 10; /* in shared memory: all but logsumexp of single bytes */
  /* By element of a vector, and by thread: neighbouring elements of a row lie in different banks, if there is room. */
  static const int padding = bytes * NDR_BLOCK < 48 << 10 ? 32 / elements : 0;
  typedef typename Narrow::Accumulator shared_accumulators[elements][NDR_BLOCK + padding];
  int threads, row, lane, rows;

  NDR_DEVICE dense(const ndr_params &p) : groups(p, p.tile_runs.groups), threads(p.tile_runs.row_threads) {
    row = machine::thread() / threads;
    lane = machine::thread() - row * threads;
    rows = NDR_BLOCK / threads;
  }

  /* The first element of a tile's row that the item's split has. */
  NDR_DEVICE int first_element(const ndr_params &p, tile_split whose) const {
    const ndr_param_tile_runs &own = p.tile_runs;
    return own.column_splits == 1 ? 0 : whose.split / own.row_splits * threads * elements;
  }

  /* Folds what this thread reads of an item. Elements of its vector that lie behind the tile's row are folded, too, but
   * no output joins them. */
  template <reading HOW>
  NDR_DEVICE void fold(const ndr_params &p, typename Narrow::Accumulator *a, tile_split whose) const {
    where at = find(p, whose.tile);
    int element = first_element(p, whose) + lane * elements;
    if (row >= rows || element >= at.to.outputs * g.run_length) return;
    const T *base = (const T *)p.data + at.offset + element;
    range units = units_of(p, p.tile_runs.column_splits == 1 ? whose.split : whose.split % p.tile_runs.row_splits);
    fold_columns<Narrow, HOW>(p, a, base, p.index_origin, units, row, rows);
  }

  /* Joins every joiners-th element of an output in a row, which is all rows' total. `first` is the split's first
   * element. */
  NDR_DEVICE Accumulator join_elements(const ndr_params &p, int first, int output, int member,
                                       const shared_accumulators &accumulators) const {
    int outputs = NDR_GROUP_OUTPUTS(g), group = group_of(p, output);
    int from = group * outputs * g.run_length + output - group * outputs - first, past = threads * elements - from;
    int begin = from < 0 ? (outputs - 1 - from) / outputs : 0, end = past > 0 ? (past + outputs - 1) / outputs : 0;
    Accumulator total = Op::identity();
    if (end > g.run_length) end = g.run_length;
    for (int n = begin + member; n < end; n += p.tile_runs.joiners.count) {
      u32 e = (u32)(from + n * outputs);
      Op::join(total, unnarrowed<Accumulator>(accumulators[e % elements][e / elements]));
    }
    return total;
  }
};

/* A thread has as many accumulators as in thread_vectors. */
template <class Op> struct residency<NDR_KERNEL_TILE_RUN_DENSE, Op> : narrow_column<Op, READ_VECTOR> {};

template <class Op> NDR_DEVICE void reduce_dense(const ndr_params &p) {
  typedef dense<Op> block;
  NDR_SHARED typename block::shared_accumulators accumulators;
  block b(p);
  typename block::Narrow::Accumulator a[block::elements];
#pragma unroll
  for (int c = 0; c < block::elements; c++) a[c] = block::Narrow::identity();
  if (knows(NDR_FACT_SHIFTED) || (!knows(NDR_FACT_ALIGNED) && p.tile_runs.shifted))
    b.template fold<READ_SHIFTED>(p, a, split_of(p, machine::block()));
  else
    b.template fold<READ_VECTOR>(p, a, split_of(p, machine::block()));
#pragma unroll
  for (int c = 0; c < block::elements; c++) accumulators[c][machine::thread()] = a[c];
  join_halves<typename block::Narrow>(accumulators, b.threads, b.rows);
  /* Located again: kept, it would take registers that the loop needs for loads. */
  tile_split whose = split_of(p, machine::opaque(machine::block()));
  groups::place to = b.find(p, whose.tile).to;
  join_tile_outputs<Op>(p, b, whose, to, [&](int k, int member) {
    return b.join_elements(p, b.first_element(p, whose), k, member, accumulators);
  });
  if (splits_of(p) == 1) return;
  join_splits<Op, false>(p, whose, whose.tile * p.tile_outputs, to.outputs,
                         [&](int k) { return b.element_of(p, to, b.group_of(p, k), k); });
}

/* Where accumulators do not fit, no plan names this kernel, and it does nothing. */
template <class Op> NDR_DEVICE void tile_run_dense(const ndr_params &p) {
  if constexpr (dense<Op>::fits) reduce_dense<Op>(p);
}

#endif
