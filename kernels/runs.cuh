/* Family tile where groups of outputs have many runs. Groups need not be dense. The elements of neighbouring groups'
 * runs are columns; a thread walks a column row by row, as in thread.cuh. At the end the block joins the rows and
 * columns of each output in shared memory. WIDE: a group is one output, and a column is a vector of its run, of which
 * the last may have fewer elements of the run. */
#ifndef NDR_RUNS_CUH
#define NDR_RUNS_CUH

#include "groups.cuh"
#include "thread.cuh"

/* Joins what the block has of each output of a tile, with `joiners` threads for each, and writes the totals.
 * part_of(output, member) is what one of them joins. All threads of the block call this. */
template <class Op, class PART_OF>
NDR_DEVICE void join_tile_outputs(const ndr_params &p, const groups &of, tile_split whose, const groups::place &to,
                                  const PART_OF &part_of) {
  const ndr_param_threads &joiners = p.tile_runs.joiners;
  int thread = machine::thread(), number = thread >> joiners.log, member = thread & (joiners.count - 1);
#pragma unroll 1
  for (int first = 0; first < to.outputs; first += NDR_BLOCK >> joiners.log) {
    int output = first + number, k = output < to.outputs ? output : 0; /* every lane of a warp takes part */
    typename Op::Accumulator total = part_of(k, member);
    join_lanes<Op>(total, joiners.count);
    if (member != 0 || output >= to.outputs) continue;
    if (splits_of(p) == 1)
      emit_total<Op>(p, of.element_of(p, to, of.group_of(p, k), k), total);
    else
      save_partial<Op>(p, whose.split, whose.tile * p.tile_outputs + k, Op::widen(total));
  }
}

/* What a thread folds of each row: a vector of a run. Neighbouring elements are `apart` indices from each other. The
 * first `count` belong to the run; there may be more of these than the vector has. */
template <class Op, reading HOW> struct run_column {
  typedef typename Op::element T;
  typedef typename Op::value V;
  typedef typename Op::Accumulator Accumulator;
  typedef reader<T, HOW> R;
  static const int elements = R::count;
  int count;
  i64 apart;

  /* Folds UNROLL rows. A vector that reaches beyond its run is folded element by element, over all rows at once. Where
   * indices matter, whole vectors are folded row by row: indices may not rise from row to row. */
  template <int UNROLL>
  NDR_DEVICE void fold_vectors(const ndr_params &p, Accumulator &a, const ndr_vector *vector, i64 index,
                               i64 step) const {
    if (count < elements) {
      V x[UNROLL][elements];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) unpack<Op>(vector[u], x[u]);
#pragma unroll
      for (int e = 0; e + 1 < elements; e++) {
        V y[UNROLL];
        if (e >= count) break;
#pragma unroll
        for (int u = 0; u < UNROLL; u++) y[u] = x[u][e];
        Op::template fold<UNROLL>(a, y, index + e * apart, step, p);
      }
    } else if constexpr (!Op::indexed) {
      fold_batch<Op, UNROLL>(p, a, vector, 0, 0, 0);
    } else {
#pragma unroll
      for (int u = 0; u < UNROLL; u++) fold_vector_of<Op>(p, a, vector[u], index + u * step, apart);
    }
  }

  template <int UNROLL>
  NDR_DEVICE void fold_batch_of(const ndr_params &p, Accumulator &a, const T *at, i64 stride, i64 index,
                                i64 step) const {
    typename R::loaded loaded[UNROLL];
    ndr_vector vector[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++, at += stride) loaded[u] = R::load(at);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) vector[u] = R::vector_of(loaded[u]);
    fold_vectors<UNROLL>(p, a, vector, index, step);
  }

  /* As fold_shifted_rows. */
  template <int UNROLL>
  NDR_DEVICE void fold(const ndr_params &p, Accumulator &a, const T *at, i64 stride, i64 index, i64 step, int left,
                       int rows) const {
    if (left > (UNROLL - 1) * rows && R::within(p, at + (UNROLL - 1) * stride)) {
      fold_batch_of<UNROLL>(p, a, at, stride, index, step);
      return;
    }
    if (left > UNROLL * rows) left = UNROLL * rows;
#pragma unroll 1
    for (; left > rows && R::within(p, at + stride); left -= 2 * rows, at += 2 * stride, index += 2 * step)
      fold_batch_of<2>(p, a, at, stride, index, step);
#pragma unroll 1
    for (; left > 0; left -= rows, at += stride, index += step) {
      ndr_vector vector = R::vector_of(R::within(p, at) ? R::load(at) : R::load_last(p, at));
      fold_vectors<1>(p, a, &vector, index, step);
    }
  }
};

template <class Op> struct residency<NDR_KERNEL_TILE_RUN_VECTORS, Op> : column<Op, READ_ELEMENT> {};
template <class Op> struct residency<NDR_KERNEL_TILE_RUN_ELEMENTS, Op> : column<Op, READ_ELEMENT> {};

/* A thread's place in its block: row_threads threads lie along the columns of a tile, times `rows` along its rows. */
template <class Op, bool WIDE> struct strip : groups {
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  static const int elements = WIDE ? (int)(16 / sizeof(T)) : 1;
  static const int few = WIDE ? NDR_LOADS_TILE_RUN_VECTORS : NDR_LOADS_TILE_RUN_ELEMENTS;
  static const int UNROLL = !WIDE || column<Op, READ_ELEMENT>::light ? few : 2 * few;
  int row, lane, rows;
  int columns; /* of a group */

  NDR_DEVICE strip(const ndr_params &p) : groups(p, p.tile_runs.groups) {
    int threads = p.tile_runs.row_threads;
    row = machine::thread() / threads;
    lane = machine::thread() - row * threads;
    rows = NDR_BLOCK / threads;
    columns = (g.run_length * g.outputs + elements - 1) / elements;
  }

  /* The first column of the tile that the item's split has. */
  static NDR_DEVICE int first_column(const ndr_params &p, tile_split whose) {
    const ndr_param_tile_runs &own = p.tile_runs;
    return own.column_splits == 1 ? 0 : whose.split / own.row_splits * own.row_threads;
  }

  /* Folds what this thread reads of an item. */
  NDR_DEVICE void fold(const ndr_params &p, Accumulator &a, tile_split whose) const {
    where at = find(p, whose.tile);
    int column = first_column(p, whose) + lane, group = column / columns,
        inside = (column - group * columns) * elements;
    if (row >= rows || group * g.outputs >= at.to.outputs) return;
    i64 apart = p.axes[kept_count(p) + reduced_count(p)].index_step,
        index = p.index_origin + inside / g.outputs * apart;
    const T *base = (const T *)p.data + at.offset + group * p.axes[first_axis].stride + inside;
    range units = units_of(p, p.tile_runs.column_splits == 1 ? whose.split : whose.split % p.tile_runs.row_splits);
    if constexpr (!WIDE)
      fold_columns<Op, READ_ELEMENT>(p, &a, base, index, units, row, rows);
    else if (knows(NDR_FACT_SHIFTED) || (!knows(NDR_FACT_ALIGNED) && p.tile_runs.shifted))
      fold_run_column<READ_SHIFTED, few>(p, a, base, index, units, {g.run_length - inside, apart});
    else
      fold_run_column<READ_VECTOR, UNROLL>(p, a, base, index, units, {g.run_length - inside, apart});
  }

  template <reading HOW, int BATCH>
  NDR_DEVICE void fold_run_column(const ndr_params &p, Accumulator &a, const T *base, i64 index, range units,
                                  const run_column<Op, HOW> &column) const {
    walk_rows<BATCH, true>(p, base, index, units, row, rows,
                           [&](const T *at, i64 stride, i64 from, i64 step, int left) {
                             column.template fold<BATCH>(p, a, at, stride, from, step, left, rows);
                           });
  }

  /* Joins every joiners-th column of an output. Accumulators are those of a row, which is all rows' total. */
  NDR_DEVICE Accumulator join_columns(const ndr_params &p, int first, int output, int member,
                                      const Accumulator *accumulators) const {
    int threads = p.tile_runs.row_threads, outputs = g.outputs;
    int group = group_of(p, output), from = group * columns + output - group * outputs - first;
    int run = WIDE ? columns : g.run_length, begin = from < 0 ? (outputs - 1 - from) / outputs : 0;
    int end = threads > from ? (threads - from + outputs - 1) / outputs : 0;
    Accumulator total = Op::identity();
    if (end > run) end = run;
    for (int n = begin + member; n < end; n += p.tile_runs.joiners.count)
      Op::join(total, accumulators[from + n * outputs]);
    return total;
  }
};

template <class Op, bool WIDE> NDR_DEVICE void reduce_strip(const ndr_params &p, const strip<Op, WIDE> &s, i64 item) {
  NDR_SHARED typename Op::Accumulator accumulators[1][NDR_BLOCK];
  typename Op::Accumulator a = Op::identity();
  s.fold(p, a, split_of(p, item));
  accumulators[0][machine::thread()] = a;
  join_halves<Op>(accumulators, p.tile_runs.row_threads, s.rows);
  /* Located again: kept, it would take registers that the loop needs for loads. */
  tile_split whose = split_of(p, machine::opaque(item));
  groups::place to = s.find(p, whose.tile).to;
  join_tile_outputs<Op>(p, s, whose, to, [&](int k, int member) {
    return s.join_columns(p, s.first_column(p, whose), k, member, accumulators[0]);
  });
  if (splits_of(p) == 1) return;
  join_splits<Op, false, WIDE ? NDR_JOIN_LOADS : 2>(p, whose, whose.tile * p.tile_outputs, to.outputs,
                                                    [&](int k) { return s.element_of(p, to, s.group_of(p, k), k); });
}

/* A block has one item, so that the loop runs once: it may not run twice, as nothing guards `accumulators`. With it the
 * compiler spills 60 bytes of argmax of bytes, and without it 500. */
template <class Op> NDR_DEVICE void tile_run_vectors(const ndr_params &p) {
  strip<Op, true> s(p);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) reduce_strip(p, s, item);
}

template <class Op> NDR_DEVICE void tile_run_elements(const ndr_params &p) {
  reduce_strip(p, strip<Op, false>(p), machine::block());
}

#endif
