/* Groups whose labels lie along the fastest axis: a block copies tiles of labels to shared memory, and has the states
 * of a tile's groups there (ndr_param_tiles in params.h). Compiled at run time, as operands.cuh is, for any operators
 * and arrays.
 *
 * The labels of a tile are sorted by group, and groups by their number of labels, so that the lanes of a warp have
 * about as many each: a lane adds up a group, or, where that is large, a piece of it. It does so for ROWS rows at a
 * time: to find where a label's elements lie takes as long as to add up two of them. With PAIRS, where groups have few
 * labels in a tile, each lane has some groups, and adds its labels to their states one by one. */
#ifndef NDR_ZONES_CUH
#define NDR_ZONES_CUH

#include "zones_tile.cuh"

template <class Op, class Kit, class Arrays, int ROWS, bool PAIRS> struct tile_block {
  typedef typename Kit::spot spot;
  typedef typename Kit::value value;
  typedef typename Op::Accumulator Accumulator;
  static const bool single = Op::indexed || Kit::places > 0; /* as in gatherer */
  /* Whether a lane has registers for the first labels of its next task while it adds up those of this one. */
  static const bool ahead = !PAIRS && !single && sizeof(Accumulator) <= 8 && ROWS * sizeof(Accumulator) <= 16;

  const ndr_program_params &q;
  const ndr_params &p;
  const ndr_param_tiles &own;
  shared_states<Op> totals, pieces; /* by row of the item and group; by row of the step and piece */
  unsigned char *data;              /* one tile: it is overwritten once all threads have added it up */
  u8 *phases;
  machine::copy_barrier *bulks;                 /* of the threads that start to copy a row */
  int tasks_at, lanes_at, joins_at, entries_at; /* where the table's lists begin */
  tile_arrays<Arrays, 0> arrays;

  NDR_DEVICE tile_block(const ndr_program_params &q_, u8 *phases_, machine::copy_barrier *bulks_)
      : q(q_), p(q_.base), own(q_.base.table.tiles), phases(phases_), bulks(bulks_), tasks_at(table_int(p, 0)),
        lanes_at(table_int(p, 1)), joins_at(table_int(p, 2)), entries_at(table_int(p, 3)) {
    ndr_word *words = (ndr_word *)machine::shared_bytes();
    totals = {words, own.rows * own.groups};
    words += Op::words * totals.count;
    pieces = {words, own.step_rows * own.pieces};
    words += Op::words * pieces.count;
    data = (unsigned char *)words + ((unsigned long long)words & 8);
    for (int i = machine::thread(); i < totals.count; i += NDR_BLOCK) totals.put(i, Op::state_identity());
  }

  /* Where row r of a tile begins, for one combination of the other reduced axes. */
  NDR_DEVICE spot find(int r, const tile_step &s) const {
    const int axis = kept_count(p);
    spot at = spot::start(q);
    at.template walk<true>(q, 0, axis, s.first_row + s.row + r);
    at.template walk<false>(q, axis + 1, reduced_count(p) - 1, s.unit);
    at.step(q, axis, s.begin_label);
    return at;
  }

  NDR_DEVICE void copy(const tile_step &s) {
    int threads = 1 << own.row_threads_log, r = machine::thread() >> own.row_threads_log;
    int bytes = 0, thread = machine::thread() & (threads - 1);
    if (r < s.rows) bytes = arrays.copy(q, find(r, s), r, s.labels, thread, threads, data, phases, bulks);
    if (machine::copies_bulks() && thread == 0) machine::arrive(bulks, bytes);
    machine::group_copies();
  }

  /* ---- adding up ---- */

  /* A row of the tile: where it begins in each array, and in the problem. */
  struct tile_row {
    const unsigned char *begins[Arrays::count];
    spot at; /* used where an operator asks for places */
  };
  NDR_DEVICE tile_row row_of(int r, const tile_step &s) const {
    tile_row row = {{}, spot::start(q)};
    arrays.find(p, data, phases, r, row.begins);
    if constexpr (single) row.at = find(r, s);
    return row;
  }

  /* Folds N labels of a row; one at a time where the operator asks for places. */
  template <int N> NDR_DEVICE void fold(Accumulator &a, const tile_row &row, const int (&label)[N]) const {
    const int at_once = single ? 1 : N, axis = kept_count(p);
#pragma unroll
    for (int first = 0; first < N; first += at_once) {
      value x[at_once];
      i64 index = single ? row.at.index + label[first] * p.axes[axis].index_step : 0;
#pragma unroll
      for (int u = 0; u < at_once; u++) {
        arrays.set(x[u], row.begins, label[first + u]);
        Kit::set_places(q, x[u], row.at, axis, label[first + u]);
      }
      Op::template fold<at_once>(a, x, index, 0, p);
    }
  }

  template <int N>
  NDR_DEVICE void fold_rows(Accumulator (&a)[ROWS], const tile_row (&row)[ROWS], const int (&label)[N]) const {
#pragma unroll
    for (int k = 0; k < ROWS; k++) fold<N>(a[k], row[k], label);
  }

  /* The next labels of a lane: eight, or four if fewer than eight are left; with PAIRS four with their groups, or two
   * if fewer than three are left. Places of no label are not used. */
  struct lane_labels {
    u32 word[4];
    NDR_DEVICE void load(const int *entries, int left) {
      u32 second[2];
      if (left > 0) machine::load_bytes<8, true>(word, entries);
      if (left < (PAIRS ? 3 : 8)) return;
      machine::load_bytes<8, true>(second, entries + 2 * NDR_WARP);
      word[2] = second[0], word[3] = second[1];
    }
    NDR_DEVICE void unpack(int first, int *label) const {
#pragma unroll
      for (int i = 0; i < 4; i++) label[i] = (int)(word[first + i / 2] >> 16 * (i & 1) & 0xffff);
    }
  };
  /* What a lane does in a task, for ROWS rows from `row` on. */
  struct lane_work {
    int row, count;
    int to;             /* group, or piece -1 - to, or NDR_NOWHERE; with PAIRS only whether it is NDR_NOWHERE */
    int from;           /* its first entry, in units of 8 bytes */
    lane_labels labels; /* the first ones */
  };
  NDR_DEVICE const int *entries_of(const lane_work &work) const {
    return p.table.table + entries_at + 2 * (i64)work.from;
  }
  /* A group whose pieces a thread joins. */
  struct join_work {
    int row, group, first, end;
  };
  /* What a thread does first in a tile, which is read while another tile is added up. */
  struct first_work {
    lane_work task;
    join_work join;
  };

  /* Adds up a lane's labels, which come four at a time; up to eight are loaded while those before are folded. */
  NDR_DEVICE void add_up(Accumulator (&a)[ROWS], const tile_row (&row)[ROWS], const lane_work &work) const {
#pragma unroll
    for (int k = 0; k < ROWS; k++) a[k] = Op::identity();
    int left = work.count;
    const int *entries = entries_of(work);
    lane_labels next = work.labels;
    if constexpr (!ahead) next.load(entries, left);
#pragma unroll 1
    while (left >= 8) {
      int label[8];
      next.unpack(0, label);
      next.unpack(2, label + 4);
      left -= 8, entries += 4 * NDR_WARP;
      next.load(entries, left);
      fold_rows<8>(a, row, label);
    }
#pragma unroll 1
    while (left > 0) {
      int label[4];
      next.unpack(0, label);
      if (left >= 4) {
        left -= 4, entries += 2 * NDR_WARP;
        next.load(entries, left);
        fold_rows<4>(a, row, label);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 3; i++) {
        int one[1] = {label[i]};
        if (i < left) fold_rows<1>(a, row, one);
      }
      break;
    }
  }

  /* Adds a lane's labels to the totals of their groups, one by one: pairs of a label and, 16 bits higher, a group. Up
   * to four are loaded while those before are added. */
  NDR_DEVICE void add_pairs(const tile_row (&row)[ROWS], const lane_work &work, const tile_step &s) const {
    const int *entries = entries_of(work);
    lane_labels next;
    next.load(entries, work.count);
#pragma unroll 1
    for (int left = work.count; left > 0; left -= 4) {
      const lane_labels now = next;
      entries += 4 * NDR_WARP;
      next.load(entries, left - 4);
#pragma unroll
      for (int i = 0; i < 4; i++)
        if (i < left) add_pair(row, now.word[i], work, s);
    }
  }
  /* Adds one label of ROWS rows. No other thread has labels of its group. */
  NDR_DEVICE void add_pair(const tile_row (&row)[ROWS], u32 pair, const lane_work &work, const tile_step &s) const {
    const int label[1] = {(int)(pair & 0xffff)};
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      Accumulator a = Op::identity();
      fold<1>(a, row[k], label);
      if (work.row + k < s.rows) totals.join((s.row + work.row + k) * own.groups + (int)(pair >> 16), Op::widen(a));
    }
  }

  /* How many sets of ROWS rows a step has; a lane adds up one set at a time. */
  static NDR_DEVICE int sets(const tile_step &s) {
    return (s.rows + ROWS - 1) / ROWS;
  }

  /* n: the number of the task among those of all sets of ROWS rows. */
  NDR_DEVICE lane_work task_of(const tile_step &s, int n) const {
    int set = n < s.task_count ? 0 : n / s.task_count, task = s.tasks + n - set * s.task_count,
        lane = machine::thread() & (NDR_WARP - 1);
    u32 word[2];
    machine::load_bytes<8, true>(word, p.table.table + lanes_at + 2 * (i64)(task * NDR_WARP + lane));
    return {set * ROWS, (int)word[0], (int)word[1], table_int(p, tasks_at + task) + lane, {{0, 0, 0, 0}}};
  }
  /* n: the number of the join among those of all rows. */
  NDR_DEVICE join_work join_of(const tile_step &s, int n) const {
    int row = n < s.join_count ? 0 : n / s.join_count;
    i64 at = joins_at + 4 * (i64)(s.joins + n - row * s.join_count);
    return {row, table_int(p, at), table_int(p, at + 1), table_int(p, at + 2)};
  }
  NDR_DEVICE first_work first_of(const tile_step &s) const {
    first_work f = {{0, 0, NDR_NOWHERE, 0, {{0, 0, 0, 0}}}, {0, 0, 0, 0}};
    int warp = machine::thread() >> NDR_WARP_LOG, join = machine::thread() >> s.join_lanes_log;
    if (warp < s.task_count * sets(s)) f.task = task_of(s, warp);
    if (join < s.join_count * s.rows) f.join = join_of(s, join);
    if constexpr (ahead) f.task.labels.load(entries_of(f.task), f.task.count);
    return f;
  }

  /* The task that this thread's warp takes in a turn. Tasks are sorted, longest first: who has the longest of some has
   * the shortest of the next. */
  static NDR_DEVICE int number_of(int turn) {
    const int warps = NDR_BLOCK / NDR_WARP;
    int warp = machine::thread() >> NDR_WARP_LOG;
    return turn * warps + (turn & 1 ? warps - 1 - warp : warp);
  }

  /* Runs the tasks of all rows. A warp takes one after the other: while one runs, it loads the first labels of the
   * next, and what there is to do in the one after that. */
  NDR_DEVICE void run(const lane_work &first, const tile_step &s) const {
    const int all = s.task_count * sets(s);
    lane_work next = first, later = first;
    if (ahead && number_of(1) < all) later = task_of(s, number_of(1));
#pragma unroll 1
    for (int turn = 0; number_of(turn) < all; turn++) {
      lane_work now = next;
      if constexpr (ahead) {
        next = later;
        if (number_of(turn + 1) < all) next.labels.load(entries_of(next), next.count);
        if (number_of(turn + 2) < all) later = task_of(s, number_of(turn + 2));
      } else if (number_of(turn + 1) < all) {
        next = task_of(s, number_of(turn + 1));
      }
      if (now.to == NDR_NOWHERE) continue;
      tile_row row[ROWS];
      Accumulator a[ROWS];
#pragma unroll
      for (int k = 0; k < ROWS; k++) row[k] = row_of(now.row + k < s.rows ? now.row + k : now.row, s);
      if constexpr (PAIRS) {
        add_pairs(row, now, s);
        continue;
      }
      add_up(a, row, now);
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
        if (now.row + k >= s.rows) break;
        if (now.to >= 0)
          totals.join((s.row + now.row + k) * own.groups + now.to, Op::widen(a[k]));
        else
          pieces.put((now.row + k) * own.pieces - 1 - now.to, Op::widen(a[k]));
      }
    }
  }

  /* Joins the pieces of groups that have several. */
  NDR_DEVICE void join(const join_work &first_work, const tile_step &s) const {
    const int log = s.join_lanes_log, lanes = 1 << log, lane = machine::thread() & (lanes - 1),
              all = s.join_count * s.rows;
    join_work work = first_work;
#pragma unroll 1
    for (int first = 0; first < all; first += NDR_BLOCK >> log) {
      int n = first + (machine::thread() >> log);
      typename Op::State total = Op::state_identity();
      if (n < all) {
        if (first > 0) work = join_of(s, n);
#pragma unroll 1
        for (int i = work.first + lane; i < work.end; i += lanes)
          Op::join_states(total, pieces.get(work.row * own.pieces + i));
      }
      join_lane_states<Op>(total, lanes);
      if (lane == 0 && n < all) totals.join((s.row + work.row) * own.groups + work.group, total);
    }
  }

  /* ---- results ---- */

  /* Writes the totals of the tile's groups as results or, where parts are joined, as states into the slots of this
   * part. The totals then begin anew. */
  NDR_DEVICE void put(const tile_step &s) const {
    const int rows_apart = NDR_BLOCK / s.groups, groups_apart = NDR_BLOCK - rows_apart * s.groups;
    int r = machine::thread() / s.groups, group = machine::thread() - r * s.groups;
#pragma unroll 1
    for (; r < s.item_rows; r += rows_apart, group += groups_apart) {
      if (group >= s.groups) {
        group -= s.groups;
        if (++r == s.item_rows) break;
      }
      int i = r * own.groups + group;
      typename Op::State state = totals.get(i);
      totals.put(i, Op::state_identity());
      if (p.table.joins == 0) {
        emit<Op>(p, locate_kept(p, 0, s.first_row + r).result + (s.first_group + group) * p.table.group_step, state);
        continue;
      }
      ndr_word w[Op::words],
          *slot = (ndr_word *)p.partials + ((s.first_row + r) * p.table.parts + s.part) * own.groups + group;
      Op::save(state, w);
#pragma unroll
      for (int k = 0; k < Op::words; k++) slot[k * p.slots * p.padded] = w[k];
    }
  }
};

/* The second launch: a few lanes of a warp, or a whole block, join the parts of one group of one row. */
template <class Op> NDR_DEVICE void join_parts(const ndr_params &p) {
  const int log = p.table.join_lanes_log, lanes = 1 << log, lane = machine::thread() & (lanes - 1);
  const int groups = p.table.tiles.groups, parts = p.table.parts, warps = NDR_BLOCK / NDR_WARP;
  NDR_SHARED typename Op::State states[warps];
  i64 totals = p.padded * groups, at_once = NDR_BLOCK >> log;
  for (i64 first = machine::block() * at_once; first < totals; first += machine::blocks() * at_once) {
    i64 number = first + (machine::thread() >> log), row = number / groups, group = number - row * groups;
    bool here = number < totals;
    typename Op::State total = join_slots<Op>(p, (ndr_word *)p.partials + (row * parts + lane) * groups + group, groups,
                                              here ? parts - lane : 0, lanes);
    join_lane_states<Op>(total, lanes < NDR_WARP ? lanes : NDR_WARP);
    if (lanes > NDR_WARP) {
      if ((lane & (NDR_WARP - 1)) == 0) states[lane >> NDR_WARP_LOG] = total;
      machine::barrier();
#pragma unroll 1
      for (int w = 1; w < warps && lane == 0; w++) Op::join_states(total, states[w]);
      machine::barrier();
    }
    if (here && lane == 0) emit<Op>(p, locate_kept(p, 0, row).result + group * p.table.group_step, total);
  }
}

template <class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS>
NDR_DEVICE void table_tiles(const ndr_program_params &q) {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  const ndr_params &p = q.base;
  NDR_SHARED u8 phases[Arrays::count * NDR_TILE_ROWS];
  if (p.table.joining) {
    join_parts<Op>(p);
    return;
  }
  NDR_SHARED tile_step steps[3]; /* the one at hand and the next two */
  NDR_SHARED machine::copy_barrier bulks;
  tile_block<Op, Kit, Arrays, STEPS, (WAYS & NDR_WAYS_PAIRS) != 0> block(q, phases, &bulks);
  bool finds = machine::thread() == NDR_BLOCK - 1;
  if (finds) {
    steps[0].begin(p, machine::block());
    steps[0].find_lists(p);
    steps[1] = steps[0];
    steps[1].advance(p);
    machine::begin_copy_barrier(&bulks, NDR_BLOCK >> p.table.tiles.row_threads_log);
  }
  machine::barrier();
  block.copy(steps[0]);
  auto first = block.first_of(steps[0]);
#pragma unroll 1
  for (int at = 0, round = 0;; at = at == 2 ? 0 : at + 1, round++) {
    const tile_step &now = steps[at], &next = steps[at == 2 ? 0 : at + 1];
    bool more = next.item < p.work;
    auto next_first = first;
    machine::await_copies<0>();
    machine::await_copy_barrier(&bulks, round);
    machine::barrier();
    if (finds && more) {
      tile_step later = next;
      later.advance(p);
      steps[at == 0 ? 2 : at - 1] = later;
    }
    block.run(first.task, now);
    machine::fence_bulks();
    machine::barrier();
    if (more) {
      block.copy(next);
      if (next.tile != now.tile || next.rows != now.rows) next_first = block.first_of(next);
    }
    block.join(first.join, now);
    if (now.is_last()) {
      machine::barrier();
      block.put(now);
    }
    if (!more) return;
    first = next_first;
  }
}

#endif
