/* Groups whose labels are scattered: rows are gathered through a table, which has them in the order of their groups
 * (ndr_param_table in params.h). Compiled at run time, as operands.cuh is, for any operators and arrays.
 *
 *   table_columns  family thread: a thread owns the outputs of STEPS chunks of neighbouring columns, and walks the rows
 *                  of a task, group by group. Chunks of a thread lie a warp's chunks apart: where rows begin anywhere,
 *                  chunks are single elements, which a warp reads side by side */
#ifndef NDR_TABLE_CUH
#define NDR_TABLE_CUH

#include "operands.cuh"

NDR_DEVICE int table_int(const ndr_params &p, i64 at) {
  u32 word[1];
  machine::load_bytes<4, true>(word, p.table.table + at);
  return (int)word[0];
}

/* A segment: where its rows end, and where its total goes. Number -1 lies before the first. */
struct table_segment {
  int end, to;
  NDR_DEVICE table_segment(const ndr_params &p, int number) {
    u32 word[2];
    machine::load_bytes<8, true>(word, p.table.table + p.table.segments_at + 2 * (i64)(number + 1));
    end = (int)word[0];
    to = (int)word[1];
  }
};

/* ---- gathering ---- */

template <class Op, class Kit, int STEPS> struct gatherer {
  typedef typename Kit::spot spot;
  typedef typename Kit::stride stride;
  typedef typename Kit::template spread_row<false, STEPS> loose_row;
  typedef typename Kit::template spread_row<true, STEPS> fixed_row;
  typedef typename Kit::value value;
  static const int COLUMNS = STEPS * Kit::elements, BATCH = Kit::batch_of(NDR_FLIGHT_BYTES(0, 2), STEPS);
  typename Op::Accumulator a[COLUMNS];

  /* Whether operators may not see several rows at once: the indices of these are not evenly spaced. */
  static const bool single = Op::indexed || Kit::places > 0;

  /* Folds N rows with these numbers, which were loaded from `at` on. */
  template <int N>
  NDR_DEVICE void fold(const ndr_program_params &q, const loose_row (&loose)[N], const fixed_row &fixed, const spot &at,
                       const int (&number)[N]) {
    const int axis = kept_count(q.base), group = single ? 1 : N;
#pragma unroll
    for (int first = 0; first < N; first += group) {
      i64 index = single ? at.index + number[first] * q.base.axes[axis].index_step : 0;
#pragma unroll
      for (int k = 0; k < COLUMNS; k++) {
        value x[group];
#pragma unroll
        for (int u = 0; u < group; u++) {
          loose[first + u].set(x[u], k);
          fixed.set(x[u], k);
          Kit::template set_column_places<0>(q, x[u], at, axis, number[first + u], Kit::template column_of<STEPS>(k));
        }
        Op::template fold<group>(a[k], x, index, 0, q.base);
      }
    }
  }

  /* Whether chunks of these rows can be loaded as a whole. The numbers rise. */
  template <int N>
  static NDR_DEVICE bool within(const ndr_program_params &q, const spot &at, const stride &by, const int (&number)[N]) {
    spot first = at;
    first.step_arrays(times(by, number[0]));
    return Kit::within(q, first, by, number[N - 1] - number[0]);
  }
  static NDR_DEVICE stride times(const stride &by, int n) {
    stride s = by;
#pragma unroll
    for (int k = 0; k < Kit::arrays; k++) s.bytes[k] = n * by.bytes[k];
    return s;
  }

  /* Loads and folds N rows, every `apart`-th from place `row` of the table on. */
  template <int N>
  NDR_DEVICE bool take(const ndr_program_params &q, const fixed_row &fixed, const spot &at, const stride &by, i64 row,
                       int apart) {
    int number[N];
    loose_row loose[N];
#pragma unroll
    for (int u = 0; u < N; u++) number[u] = table_int(q.base, row + u * apart);
    if constexpr (Kit::shifts()) {
      if (!within<N>(q, at, by, number)) return false;
    }
#pragma unroll
    for (int u = 0; u < N; u++) {
      spot here = at;
      here.step_arrays(times(by, number[u]));
      loose[u].load(q, 0, here);
    }
#pragma unroll
    for (int u = 0; u < N; u++) loose[u].settle();
    fold<N>(q, loose, fixed, at, number);
    return true;
  }

  /* Folds `left` rows from place `row` of the table on, of which this thread has every apart-th. N are in flight, and
   * what is left over comes in smaller batches. */
  template <int N>
  NDR_DEVICE void walk(const ndr_program_params &q, const fixed_row &fixed, const spot &at, const stride &by, i64 row,
                       int left, int apart) {
#pragma unroll 1
    for (; left > (N - 1) * apart; left -= N * apart, row += N * apart)
      if (!take<N>(q, fixed, at, by, row, apart)) break;
    if constexpr (N > 1)
      walk<N / 2>(q, fixed, at, by, row, left, apart);
    else if constexpr (Kit::shifts())
      walk_ends(q, fixed, at, by, row, left, apart);
  }

  /* The same, row by row: chunks may reach an array's end. */
  NDR_DEVICE void walk_ends(const ndr_program_params &q, const fixed_row &fixed, const spot &at, const stride &by,
                            i64 row, int left, int apart) {
#pragma unroll 1
    for (; left > 0; left -= apart, row += apart) {
      int number[1] = {table_int(q.base, row)};
      loose_row loose[1];
      spot here = at;
      here.step_arrays(times(by, number[0]));
      loose[0].load_last(q, 0, here);
      loose[0].settle();
      fold<1>(q, loose, fixed, at, number);
    }
  }
};

/* ---- tasks ---- */

/* Columns along the fastest kept axis. Without kept axes there is one. */
NDR_DEVICE i64 table_columns_of(const ndr_params &p) {
  return kept_count(p) ? p.axes[0].size : 1;
}

/* What a team does: a task in a strip of columns, for one part of the other reduced axes. The strip before writes its
 * first `repeated` columns. */
template <class Kit, int STEPS> struct table_work {
  i64 task, first, columns; /* first: the strip's first column, of all combinations of kept axes */
  int part, repeated;
  typename Kit::spot at;
  NDR_DEVICE table_work(const ndr_program_params &q, i64 number) {
    const ndr_params &p = q.base;
    const ndr_param_thread &own = p.table.thread;
    i64 strips = own.axis_teams * own.others, cut = number / strips, strip = number - cut * strips,
        other = kept_count(p) > 1 ? strip / own.axis_teams : 0,
        along = (strip - other * own.axis_teams) * own.team_columns;
    task = cut;
    part = 0;
    if (p.table.parts > 1) {
      task = cut / p.table.parts;
      part = (int)(cut - task * p.table.parts);
    }
    columns = task < p.table.tasks ? table_columns_of(p) - along : 0;
    repeated = repeated_columns<STEPS>(columns, own.team_columns);
    along -= repeated;
    columns += repeated;
    if (columns > own.team_columns) columns = own.team_columns;
    first = other * table_columns_of(p) + along;
    at = Kit::spot::start(q);
    at.template walk<true>(q, 1, kept_count(p) - 1, other);
    at.step_kept(q, 0, along);
  }
};

/* Puts a chunk of a segment's total where it goes. */
template <class Op, class Kit, int STEPS>
NDR_DEVICE void put_chunk(const ndr_params &p, const table_work<Kit, STEPS> &work, int column, int to,
                          const typename Op::Accumulator *a) {
  if (STEPS > 1 && column < work.repeated) return;
  const int V = Kit::elements;
  i64 stride = p.axes[0].result_stride, left = work.columns - column;
  int some = (int)(left < V ? left : V);
  if (to >= 0) {
    i64 at = work.at.result + column * stride + to * p.table.group_step;
    if (some == V)
      emit_row<Op, V>(p, at, stride, a);
    else if (some > 0)
      emit_some<Op, V>(p, at, stride, a, some);
    return;
  }
  i64 slot = (i64)(-1 - to) * p.table.parts + work.part;
#pragma unroll
  for (int c = 0; c < V; c++) {
    ndr_word w[Op::words], *state = (ndr_word *)p.partials + slot * p.padded + work.first + column + c;
    if (c >= some) continue;
    Op::save(Op::widen(a[c]), w);
#pragma unroll
    for (int i = 0; i < Op::words; i++) state[i * p.slots * p.padded] = w[i];
  }
}

/* Runs a task, segment by segment. The threads of a team with several rows meet at each segment's end. */
template <class Op, class Kit, int STEPS>
NDR_DEVICE void run_task(const ndr_program_params &q, const column_team &team, const table_work<Kit, STEPS> &work) {
  typedef gatherer<Op, Kit, STEPS> Gatherer;
  const ndr_params &p = q.base;
  const int V = Kit::elements, COLUMNS = Gatherer::COLUMNS, axis = kept_count(p), column = team.lane * V;
  typename Kit::stride by = Kit::stride::template along<false, true>(q, axis, 1);
  i64 units = p.units, part_units = p.split_units, from_unit = work.part * part_units,
      end_unit = from_unit + part_units < units ? from_unit + part_units : units;
  int segment = table_int(p, p.table.tasks_at + work.task), last = table_int(p, p.table.tasks_at + work.task + 1);
  int from = table_segment(p, segment - 1).end;
  table_segment next(p, segment); /* read while the one before is added up; there are ints behind the last one, too */
#pragma unroll 1
  for (; segment < last; segment++) {
    table_segment own = next;
    next = table_segment(p, segment + 1);
    Gatherer g;
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) g.a[k] = Op::identity();
    int left = own.end - from - team.row;
    if (left > 0 && column < work.columns) {
#pragma unroll 1
      for (i64 unit = from_unit; unit < end_unit; unit++) {
        typename Kit::spot at = work.at;
        typename Gatherer::fixed_row fixed;
        at.step_kept(q, 0, column);
        at.template walk<false>(q, axis + 1, reduced_count(p) - 1, unit);
        fixed.load_last(q, 0, at);
        fixed.settle();
        g.template walk<Gatherer::BATCH>(q, fixed, at, by, (i64)from + team.row, left, team.rows);
      }
    }
    from = own.end;
    int threads = p.thread.team.count;
    for (int mask = (threads < NDR_WARP ? threads : NDR_WARP) >> 1; mask >= p.thread.lanes.count; mask >>= 1) {
#pragma unroll
      for (int k = 0; k < COLUMNS; k++) Op::join(g.a[k], shuffle_state(g.a[k], mask));
    }
    join_team_rows<Op, COLUMNS>(p, team, g.a);
    if (team.row > 0) continue;
#pragma unroll
    for (int s = 0; s < STEPS; s++)
      put_chunk<Op, Kit>(p, work, column + Kit::template column_of<STEPS>(s * V), own.to, g.a + s * V);
  }
}

/* ---- joining ---- */

enum { NDR_TABLE_LANES = 8 /* columns that a block joins at a time, at most, unless each thread joins one */ };

/* Joins every joiners-th of an output's slots, which lie `step` words apart, and makes them 0. */
template <class Op>
NDR_DEVICE typename Op::State join_slots(const ndr_params &p, ndr_word *at, i64 step, i64 left, int joiners) {
  const int words = Op::words, AT_ONCE = words <= 2 ? 4 : 1;
  i64 apart = joiners * step, between = p.slots * p.padded;
  running_total<Op> sum;
#pragma unroll 1
  for (; left > 0; left -= AT_ONCE * joiners, at += AT_ONCE * apart) {
    ndr_word w[AT_ONCE][words];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
#pragma unroll
      for (int i = 0; i < words; i++)
        if (left > u * joiners) w[u][i] = at[u * apart + i * between];
    }
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      if (left <= u * joiners) break;
      sum.add(Op::load(w[u]));
#pragma unroll
      for (int i = 0; i < words; i++) at[u * apart + i * between] = 0;
    }
  }
  return sum.total();
}

/* The second launch: a block joins the slots of one group, for a few columns. */
template <class Op> NDR_DEVICE void join_segments(const ndr_params &p) {
  const ndr_param_table &own = p.table;
  const int warps = NDR_BLOCK / NDR_WARP;
  NDR_SHARED typename Op::State states[warps][NDR_TABLE_LANES];
  int lanes = 1 << own.join_lanes_log, thread = machine::thread(), lane = thread & (lanes - 1),
      joiner = thread >> own.join_lanes_log, joiners = NDR_BLOCK >> own.join_lanes_log;
  i64 tiles = (p.padded + lanes - 1) >> own.join_lanes_log;
  for (i64 item = machine::block(); item < own.joins * tiles; item += machine::blocks()) {
    i64 number = item / tiles, column = ((item - number * tiles) << own.join_lanes_log) + lane;
    bool listed = own.joins_at >= 0;
    int group = listed ? table_int(p, own.joins_at + 2 * number) : (int)number;
    i64 first = listed ? table_int(p, own.joins_at + 2 * number + 1) : number,
        end = listed ? table_int(p, own.joins_at + 2 * number + 3) : number + 1;
    first = first * own.parts + joiner;
    end *= own.parts;
    bool here = column < p.padded;
    typename Op::State total = join_slots<Op>(p, (ndr_word *)p.partials + first * p.padded + column, p.padded,
                                              here ? end - first : 0, joiners);
#pragma unroll 1
    for (int mask = NDR_WARP >> 1; mask >= lanes; mask >>= 1) Op::join_states(total, shuffle_state(total, mask));
    if (lanes == NDR_BLOCK) {
      if (here) emit<Op>(p, locate_kept(p, 0, column).result + group * own.group_step, total);
      continue;
    }
    if ((thread & (NDR_WARP - 1)) < lanes) states[thread >> NDR_WARP_LOG][lane] = total;
    machine::barrier();
    if (thread < lanes && here) {
#pragma unroll 1
      for (int w = 1; w < warps; w++) Op::join_states(total, states[w][lane]);
      emit<Op>(p, locate_kept(p, 0, column).result + group * own.group_step, total);
    }
    machine::barrier();
  }
}

template <class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS>
NDR_DEVICE void table_columns(const ndr_program_params &q) {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  const ndr_params &p = q.base;
  if (p.table.joining) {
    join_segments<Op>(p);
    return;
  }
  column_team team(p);
  const int log = NDR_BLOCK_LOG - p.thread.team.log; /* of a block's teams */
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    table_work<Kit, STEPS> work(q, (item << log) + team.number);
    if (work.columns > 0) run_task<Op, Kit, STEPS>(q, team, work);
  }
}

#endif
