/* Reductions that read several arrays: a first one, masks, weights, second arrays, each with strides of its own. They
 * are compiled at run time, for one operator, one list of arrays and one way of reading each of them (NDR_WAY_... in
 * params.h). A chunk is ELEMENTS neighbours along the fastest axis: those of an array come with one load where they lie
 * side by side and are aligned.
 *
 *   operands_columns  family thread: the fastest axis is kept, and a thread owns the outputs of a chunk, or of STEPS
 *                     single elements, a warp apart: where rows begin anywhere, a warp reads these side by side. The
 *                     threads of a column share the rows of each run along the walked axis, or each has runs of its own
 *                     (NDR_WAYS_OWN_RUNS)
 *   operands_runs     family tree: `lanes` threads read neighbouring chunks of a piece of a run
 *   operands_short    family tree: a thread reads chunks of several short runs of its output at a time
 *   operands_rows     family tree: an output is one short run, and a thread reads those of several outputs at a time
 *
 * The operator is as ops.cuh says, but it folds values that know an element of each array:
 *   value::set<K>(element)    takes over the element of array K
 *   value::set_place<K>(i64)  takes over place index K
 *   value::places             how many place indices it has; may be missing, if it has none
 * All kernels have the template arguments <operator, array_list<types>, ELEMENTS, STEPS, WAYS>. */
#ifndef NDR_OPERANDS_CUH
#define NDR_OPERANDS_CUH

#include "chunks.cuh"
#include "thread.cuh"
#include "tree.cuh"

/* ---- operands_runs ---- */

/* Folds a piece of `length` elements, which begins at `spot`, into the accumulators of `lanes` threads. Chunks begin on
 * the first boundary of the array that decides; the elements before and after them are read one by one, first: the loop
 * over chunks then has the registers of what is needed for that. */
template <class Kit>
NDR_DEVICE void fold_piece(const ndr_program_params &q, typename Kit::Accumulator &a, const typename Kit::spot &spot,
                           i64 length, int lane, int lanes) {
  const int V = Kit::elements;
  const int axis = kept_count(q.base);
  typename Kit::fixed_row fixed;
  int head = Kit::before_boundary(spot);
  if (head > length) head = (int)length;
  int chunks = (int)((length - head) / V), ends = (int)(length - (i64)chunks * V);
#pragma unroll 1
  for (int e = lane; V > 1 && e < ends; e += lanes)
    Kit::fold_element(q, a, axis, spot, e < head ? e : e + (i64)chunks * V);
  fixed.load(q, axis, spot);
  typename Kit::spot at = spot;
  at.template step<true>(q, axis, head + lane * V);
  typename Kit::stride by = Kit::stride::template along<true, true>(q, axis, lanes * V);
  Kit::template fold_each<typename Kit::loose_row, Kit::batch()>(
      q, axis, at, by, chunks - lane, lanes, [&](const auto &rows, const typename Kit::spot &from) {
        Kit::fold_chunks(q, a, rows, fixed, axis, from, lanes * V);
      });
}

template <class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS>
NDR_DEVICE void operands_runs(const ndr_program_params &q) {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  const ndr_params &p = q.base;
  const ndr_param_operand_runs &own = p.operand_runs;
  const ndr_param_threads &lanes = NDR_LANES(own.lanes);
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  team t = join_team(p, NDR_TEAM(own.team), machine::block());
  typename Op::Accumulator a = Op::identity();
  if (t.has_output()) {
    typename Kit::spot output = Kit::spot::start(q);
    output.template walk<true>(q, 0, kept_count(p), t.output);
    int lane = t.thread & (lanes.count - 1);
    i64 size = walked_axis(p).size;
    for (i64 unit = t.units.begin + (t.thread >> lanes.log); unit < t.units.end;
         unit = NDR_NEXT_UNIT(unit + (t.size >> lanes.log))) {
      quotient run = own.pieces.size > 1 ? divide(p, own.pieces, unit) : quotient{unit, 0};
      typename Kit::spot s = output;
      i64 from = run.rest * own.piece;
      s.template walk<false>(q, kept_count(p) + 1, reduced_count(p) - 1, run.whole);
      s.template step<true>(q, kept_count(p), from);
      fold_piece<Kit>(q, a, s, size - from < own.piece ? size - from : own.piece, lane, lanes.count);
    }
  }
  finish_team<Op>(p, join_team(p, NDR_TEAM(own.team), machine::opaque(machine::block())), a, accumulators);
}

/* ---- operands_short and operands_rows ---- */

/* A lane's part of a short run: its chunk s is number s * lanes + lane of the run. All lanes have the first `sure`
 * chunks, as the planner sees to; the others may lie behind the run's end. */
template <class Kit, int STEPS> struct run_part {
  static const int sure = Kit::whole ? STEPS : NDR_SURE_CHUNKS(STEPS);
  /* Whether chunks that are the same for all outputs stay in registers. Others are loaded for each run, from the
   * first-level cache, just before they are folded. */
  static const bool keeps = STEPS * Kit::elements <= NDR_KEPT_ELEMENTS;
  typedef typename Kit::fixed_row fixed_rows[STEPS];
  typename Kit::loose_row row[STEPS];
  typename Kit::spot spot;

  NDR_DEVICE static bool holds(const ndr_program_params &q, int s, int lane, int lanes) {
    return s < sure || (i64)(s * lanes + lane) * Kit::elements < walked_axis(q.base).size;
  }
  /* Loads chunks FIRST to END - 1 of what begins at a place for this lane. */
  template <int FIRST, int END, class Row>
  NDR_DEVICE static void load_to(Row (&to)[STEPS], const ndr_program_params &q, typename Kit::spot at, int lane,
                                 int lanes) {
    typename Kit::stride by = Kit::stride::template along<true, false>(q, kept_count(q.base), lanes * Kit::elements);
#pragma unroll
    for (int s = 0; s < END; s++, at.step_arrays(by))
      if (s >= FIRST && holds(q, s, lane, lanes)) to[s].load(q, kept_count(q.base), at);
  }
  NDR_DEVICE void load(const ndr_program_params &q, int lane, int lanes) {
    spot.template step<true>(q, kept_count(q.base), lane * Kit::elements);
    load_to<0, STEPS>(row, q, spot, lane, lanes);
  }
  /* Folds chunks FIRST to STEPS - 1, with those of `fixed`, which it loads unless they are kept there. */
  template <int FIRST = 0>
  NDR_DEVICE void fold(const ndr_program_params &q, typename Kit::Accumulator &a, fixed_rows &fixed, int lane,
                       int lanes) const {
    const int count = FIRST < sure ? Kit::template group_size<(sure > 0 ? sure : 1)>() : 1;
    if constexpr (FIRST < STEPS) {
      if (holds(q, FIRST, lane, lanes)) {
        if constexpr (!keeps) load_to<FIRST, FIRST + count>(fixed, q, spot, lane, lanes);
        Kit::template fold_group<count, true>(q, a, row, fixed, kept_count(q.base), spot, FIRST, lanes * Kit::elements);
      }
      fold<FIRST + count>(q, a, fixed, lane, lanes);
    }
  }
};

template <class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS>
NDR_DEVICE void operands_short(const ndr_program_params &q) {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  typedef run_part<Kit, STEPS> part;
  const int SPOTS = Kit::template spots<STEPS>();
  const ndr_params &p = q.base;
  const ndr_param_threads &lanes = p.operand_short.lanes;
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  team t = join_team(p, p.operand_short.team, machine::block());
  typename Op::Accumulator a = Op::identity();
  typename Kit::spot output = Kit::spot::start(q);
  if (t.has_output()) output.template walk<true>(q, 0, kept_count(p), t.output);
  int lane = t.thread & (lanes.count - 1), apart = t.size >> lanes.log;
  i64 end = t.has_output() ? t.units.end : t.units.begin;
  for (i64 run = t.units.begin + (t.thread >> lanes.log); run < end; run += SPOTS * apart) {
    part runs[SPOTS];
    typename part::fixed_rows fixed; /* empty: no array is fixed here */
#pragma unroll
    for (int u = 0; u < SPOTS; u++) {
      if (run + u * apart >= end) continue;
      runs[u].spot = output;
      runs[u].spot.template walk<false>(q, kept_count(p) + 1, reduced_count(p) - 1, run + u * apart);
      runs[u].load(q, lane, lanes.count);
    }
#pragma unroll
    for (int u = 0; u < SPOTS; u++)
      if (run + u * apart < end) runs[u].fold(q, a, fixed, lane, lanes.count);
  }
  finish_team<Op>(p, join_team(p, p.operand_short.team, machine::opaque(machine::block())), a, accumulators);
}

/* The totals of a warp's outputs, which follow each other: each of `lanes` neighbours joins those of one, and a lane of
 * its own finishes it, so that dividing and taking roots is done for up to a warp's lanes at a time. */
template <class Op> struct row_totals {
  i64 unwritten, end; /* the warp's first output that is not written, and where they end */
  typename Op::Accumulator total;

  /* Takes what each lane has of the outputs from number `at` on, one for each group of lanes. */
  NDR_DEVICE void take(const ndr_params &p, i64 at, typename Op::Accumulator a, const ndr_param_threads &lanes) {
    const int groups = NDR_WARP >> lanes.log, lane = machine::thread() & (NDR_WARP - 1);
    if (lanes.count > 1) join_lanes<Op>(a, lanes.count);
    if (groups < NDR_WARP && groups > 1) a = state_of_lane(a, (lane & (groups - 1)) << lanes.log);
    if (groups == NDR_WARP || at - unwritten == (lane & -groups)) total = a;
    if (groups < NDR_WARP && at + groups - unwritten < NDR_WARP && at + groups < end) return;
    if (unwritten + lane < end) emit_total<Op>(p, locate_output(p, unwritten + lane).result, total);
    unwritten += NDR_WARP;
  }
};

/* Each warp of a block has as many outputs, and `lanes` lanes read the run of each. */
template <class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS>
NDR_DEVICE void operands_rows(const ndr_program_params &q) {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  typedef run_part<Kit, STEPS> part;
  const int SPOTS = Kit::template own_spots<STEPS>();
  const ndr_params &p = q.base;
  const ndr_param_threads lanes = row_lanes_of(p);
  const int groups = NDR_WARP >> lanes.log, tile = (int)p.tile_outputs / (NDR_BLOCK / NDR_WARP);
  const int lane = machine::thread() & (lanes.count - 1), group = (machine::thread() & (NDR_WARP - 1)) >> lanes.log;
  i64 unread = machine::block() * p.tile_outputs + machine::thread() / NDR_WARP * tile;
  const i64 end = unread + tile < p.outputs ? unread + tile : p.outputs;
  typename part::fixed_rows fixed;
  if (part::keeps && unread < end) {
    typename Kit::spot at = Kit::spot::start(q);
    at.template step<true>(q, kept_count(p), lane * Kit::elements);
    part::template load_to<0, STEPS>(fixed, q, at, lane, lanes.count);
  }
  part runs[SPOTS];
  auto load = [&] {
#pragma unroll
    for (int u = 0; u < SPOTS; u++) {
      i64 output = unread + u * groups + group;
      if (output >= end) continue;
      runs[u].spot = Kit::spot::start(q);
      runs[u].spot.template walk<true>(q, 0, kept_count(p), output);
      runs[u].load(q, lane, lanes.count);
    }
  };
  load();
  row_totals<Op> totals = {unread, end, Op::identity()};
  while (unread < end) {
    typename Op::Accumulator a[SPOTS];
#pragma unroll
    for (int u = 0; u < SPOTS; u++) {
      a[u] = Op::identity();
      if (unread + u * groups + group < end) runs[u].fold(q, a[u], fixed, lane, lanes.count);
    }
    const i64 folded = unread;
    unread += SPOTS * groups;
    load(); /* before what waits for other lanes */
#pragma unroll
    for (int u = 0; u < SPOTS; u++)
      if (folded + u * groups < end) totals.take(p, folded + u * groups, a[u], lanes);
  }
}

/* ---- operands_columns ---- */

/* What a team reads: `columns` columns, the first of which lies at `at`. As locate_team, with all arrays' places, and
 * with the columns that it repeats. */
template <class Kit, int STEPS> struct operand_team {
  i64 columns;
  typename Kit::spot at;
  NDR_DEVICE operand_team(const ndr_program_params &q, i64 tile, int team) {
    const ndr_params &p = q.base;
    const ndr_param_thread &own = p.thread;
    i64 number = (tile << (NDR_BLOCK_LOG - NDR_TEAM(own.team).log)) + team, other = 0;
    if (kept_count(p) > 1) other = is_small(p) ? divide(own.teams, (u32)number) : number / own.axis_teams;
    i64 first = (number - other * own.axis_teams) * own.team_columns;
    columns = other < own.others ? p.axes[0].size - first : 0;
    const int repeated = repeated_columns<STEPS>(columns, own.team_columns);
    columns += repeated;
    if (columns > own.team_columns) columns = own.team_columns;
    at = Kit::spot::start(q);
    at.template walk<true>(q, 1, kept_count(p) - 1, other);
    at.step_kept(q, 0, first - repeated);
  }
};

/* Folds this thread's rows of a split of a tile: of every run along the walked axis, row number team.row and every
 * team.rows-th after it; or, with OWN_RUNS, all rows of run number team.row and of every team.rows-th run after it. The
 * thread's column is located again for each run: kept, it would take registers that loads need. */
template <class Kit, int STEPS, bool OWN_RUNS>
NDR_DEVICE void fold_operand_rows(const ndr_program_params &q, typename Kit::Accumulator *a, i64 tile, range split,
                                  const column_team &team) {
  typedef typename Kit::template spread_row<false, STEPS> loose_row;
  typedef typename Kit::template spread_row<true, STEPS> fixed_row;
  const ndr_params &p = q.base;
  const int axis = kept_count(p), column = Kit::template first_column<STEPS>(team.lane);
  const int first_row = OWN_RUNS ? 0 : team.row, row_step = OWN_RUNS ? 1 : team.rows;
  i64 size = reduced_count(p) ? walked_axis(p).size : 1;
  i64 next_run = reduced_count(p) > 1 ? divide(p, walked_axis(p), split.begin).whole : 0;
  if (OWN_RUNS) next_run += team.row;
  for (i64 begin = next_run * size; begin < split.end; begin = NDR_NEXT_RUN(next_run * size)) {
    const i64 run = next_run, from = begin < split.begin ? split.begin - begin : 0, rest = split.end - begin;
    const int left = (int)((rest < size ? rest : size) - from) - first_row;
    next_run += OWN_RUNS ? team.rows : 1;
    operand_team<Kit, STEPS> t(q, machine::opaque(tile), team.number);
    if (left <= 0 || column >= t.columns) continue;
    typename Kit::spot at = t.at;
    at.step_kept(q, 0, column);
    at.template walk<false>(q, axis + 1, reduced_count(p) - 1, run);
    if (reduced_count(p)) at.step(q, axis, from + first_row);
    typename Kit::stride by = Kit::stride::template along<false, true>(q, axis, row_step);
    fixed_row fixed;
    fixed.load_last(q, 0, at);
    fixed.settle();
    Kit::template fold_each<loose_row, Kit::batch(STEPS)>(
        q, 0, at, by, left, row_step, [&](const auto &loaded, const typename Kit::spot &from_row) {
          Kit::template fold_columns<STEPS>(q, a, loaded, fixed, from_row, axis, row_step);
        });
  }
}

/* Joins the rows of each team of a block, after each warp has joined its own: the threads of a team's first row get the
 * totals. Halves of the rows are joined at a time, some columns of a thread together. */
template <class Op, int COUNT>
NDR_DEVICE void join_team_rows(const ndr_params &p, const column_team &team, typename Op::Accumulator *a) {
  typedef typename Op::Accumulator Accumulator;
  const int most = 2 * NDR_JOIN_BYTES / (NDR_BLOCK * (int)sizeof(Accumulator)), width = most >= COUNT ? COUNT
                                                                                        : most >= 4   ? 4
                                                                                        : most >= 2   ? 2
                                                                                                      : 1;
  NDR_SHARED Accumulator shared[width][NDR_BLOCK / 2];
  int lanes = NDR_LANES(p.thread.lanes).count, warp_rows = lanes < NDR_WARP ? NDR_WARP / lanes : 1;
#pragma unroll
  for (int first = 0; first < COUNT; first += width) {
#pragma unroll 1
    for (int half = team.rows / 2; half >= warp_rows; half /= 2) {
      int slot = team.number * (NDR_TEAM(p.thread.team).count / 2) + (team.row & (half - 1)) * lanes + team.lane;
#pragma unroll
      for (int c = 0; c < width; c++)
        if (team.row >= half && team.row < 2 * half) shared[c][slot] = a[first + c];
      machine::barrier();
#pragma unroll
      for (int c = 0; c < width; c++)
        if (team.row < half) Op::join(a[first + c], shared[c][slot]);
      machine::barrier();
    }
  }
}

/* Puts a chunk of V totals, from a team's column number `first` on, where they go: to the results, or to the states of
 * a split. */
template <class Op, int V>
NDR_DEVICE void put_columns(const ndr_params &p, int split, const team_spot &out, int first,
                            const typename Op::Accumulator *a) {
  i64 stride = p.axes[0].result_stride, at = out.at.result + first * stride;
  int some = NDR_ROW_END(first, out.columns, V);
  if (splits_of(p) == 1) {
    if (some == V) emit_row<Op, V>(p, at, stride, a);
    if (!knows(NDR_FACT_WHOLE_CHUNKS) && some < V) emit_some<Op, V>(p, at, stride, a, some);
    return;
  }
#pragma unroll
  for (int c = 0; c < V; c++)
    if (c < some) save_partial<Op>(p, split, out.output + first + c, Op::widen(a[c]));
}

template <class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS>
NDR_DEVICE void operands_columns(const ndr_program_params &q) {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  const int V = ELEMENTS, COLUMNS = STEPS * V;
  const ndr_params &p = q.base;
  const int threads = NDR_TEAM(p.thread.team).count;
  column_team team(p);
  typename Op::Accumulator a[COLUMNS];
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) a[k] = Op::identity();
  tile_split whose = split_of(p, machine::block());
  fold_operand_rows<Kit, STEPS, (WAYS & NDR_WAYS_OWN_RUNS) != 0>(q, a, whose.tile, units_of(p, whose.split), team);
  for (int mask = (threads < NDR_WARP ? threads : NDR_WARP) >> 1; mask >= NDR_LANES(p.thread.lanes).count; mask >>= 1) {
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) Op::join(a[k], shuffle_state(a[k], mask));
  }
  join_team_rows<Op, COLUMNS>(p, team, a);
  whose = split_of(p, machine::opaque(machine::block()));
  team_spot out = spot_of(p, whose.tile, team.number);
  /* The numbers of repeated columns are negative. */
  int column =
      Kit::template first_column<STEPS>(team.lane) - repeated_columns<STEPS>(out.columns, p.thread.team_columns);
#pragma unroll
  for (int s = 0; s < STEPS; s++) {
    int first = column + Kit::template column_of<STEPS>(s * V);
    if (team.row == 0 && (STEPS == 1 || first >= 0)) put_columns<Op, V>(p, whose.split, out, first, a + s * V);
  }
  if (splits_of(p) == 1) return;
  join_splits<Op, false, 2>(p, whose, out.output, (int)out.columns,
                            [&](int k) { return out.at.result + k * p.axes[0].result_stride; });
}

#endif
