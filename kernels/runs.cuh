/* Family tile where groups of outputs, as in narrow.cuh but not always dense, have many runs: the elements of
 * neighbouring groups' runs are columns, each of which a thread walks row by row, as in thread.cuh. An output's
 * columns, and the block's rows of them, meet in shared memory at the end. WIDE: a column is a packet, all of one
 * output. */
#ifndef NDR_RUNS_CUH
#define NDR_RUNS_CUH

#include "narrow.cuh"
#include "thread.cuh"

/* The first UNROLL of the `left` rows that follow, of packets whose elements are `apart` indices from each other. */
template <class Op, int UNROLL>
NDR_DEVICE void fold_packets(const ndr_params &p, typename Op::Near &a, const typename Op::element *at, i64 stride,
                             i64 index, i64 step, i64 apart, int left, int rows) {
  ndr_packet packet[UNROLL];
  if (left > (UNROLL - 1) * rows) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++, at += stride) packet[u] = machine::load_packet(at);
    if constexpr (!Op::indexed) {
      fold_batch<Op, UNROLL>(p, a, packet, 0, 0, 0);
    } else { /* row by row: elements of several may be in another order than their indices */
#pragma unroll
      for (int u = 0; u < UNROLL; u++) fold_packet_of<Op>(p, a, packet[u], index + u * step, apart);
    }
    return;
  }
#pragma unroll
  for (int u = 0; u < UNROLL - 1; u++, at += stride)
    if (left > u * rows) packet[u] = machine::load_packet(at);
#pragma unroll
  for (int u = 0; u < UNROLL - 1; u++)
    if (left > u * rows) fold_packet_of<Op>(p, a, packet[u], index + u * step, apart);
}

template <class Op> struct residency<NDR_KERNEL_TILE_RUN_PACKETS, Op> : column<Op, false> {};
template <class Op> struct residency<NDR_KERNEL_TILE_RUN_ELEMENTS, Op> : column<Op, false> {};

/* A block's threads: p.lanes along the columns of its tile, the rest along the rows. The axis of the runs themselves
 * comes after those that are walked. */
template <class Op, bool WIDE> struct strip : groups {
  typedef typename Op::element T;
  typedef typename Op::Near Near;
  static const int elements = WIDE ? (int)(16 / sizeof(T)) : 1;
  static const int few = WIDE ? NDR_LOADS_TILE_RUN_PACKETS : NDR_LOADS_TILE_RUN_ELEMENTS;
  static const int UNROLL = !WIDE || column<Op, false>::light ? few : 2 * few;
  int row, lane, rows;
  int columns; /* of a group */

  NDR_DEVICE strip(const ndr_params &p) : groups(p) {
    row = machine::thread() / p.lanes;
    lane = machine::thread() - row * p.lanes;
    rows = NDR_BLOCK / p.lanes;
    columns = (int)p.run_units * p.period / elements;
  }

  /* The first column of a tile that an item has. */
  static NDR_DEVICE int first_column(const ndr_params &p, part whose) {
    return p.runs == 1 ? 0 : whose.split / p.segments * p.lanes;
  }

  /* What this thread reads of an item. */
  NDR_DEVICE void fold(const ndr_params &p, Near &a, part whose) const {
    where at = find(p, whose.tile);
    int column = first_column(p, whose) + lane, group = column / columns,
        inside = (column - group * columns) * elements;
    if (row >= rows || group * p.period >= at.to.outputs) return;
    i64 apart = p.axes[p.kept_count + p.reduced_count].aux, index = p.index_origin + inside / p.period * apart;
    const T *base = (const T *)p.data + at.offset + group * p.axes[first_axis].stride + inside;
    range piece = piece_of(p, p.runs == 1 ? whose.split : whose.split % p.segments);
    if constexpr (WIDE)
      walk_rows<UNROLL>(p, base, index, piece, row, rows, [&](const T *here, i64 stride, i64 from, i64 step, int left) {
        fold_packets<Op, UNROLL>(p, a, here, stride, from, step, apart, left, rows);
      });
    else
      fold_columns<Op, false>(p, &a, base, index, piece, row, rows);
  }

  /* What the block has of an output, every p.team-th of its states. */
  NDR_DEVICE Near join_columns(const ndr_params &p, int first, int output, int member, const Near *states) const {
    int group = group_of(p, output), from = group * columns + output - group * p.period - first;
    int run = (int)p.run_units / elements, begin = from < 0 ? (p.period - 1 - from) / p.period : 0;
    int end = p.lanes > from ? (p.lanes - from + p.period - 1) / p.period : 0;
    int held = (end < run ? end : run) - begin; /* columns */
    Near total = Op::near();
    for (int n = member; n < rows * held; n += p.team) {
      int above = n / held;
      Op::join(total, states[above * p.lanes + from + (begin + n - above * held) * p.period]);
    }
    return total;
  }

  /* The states of the block's threads, joined by p.team threads an output, and handed on. */
  NDR_DEVICE void meet(const ndr_params &p, part whose, const place &to, const Near *states) const {
    int thread = machine::thread(), number = thread >> p.team_log, member = thread & (p.team - 1);
    for (int first = 0; first < to.outputs; first += NDR_BLOCK >> p.team_log) {
      int output = first + number, k = output < to.outputs ? output : 0; /* every lane of a warp takes part */
      Near total = join_columns(p, first_column(p, whose), k, member, states);
      join_lanes<Op>(total, p.team);
      if (member != 0 || output >= to.outputs) continue;
      if (p.splits == 1)
        emit<Op>(p, element_of(p, to, group_of(p, k), k), Op::widen(total));
      else
        save_partial<Op>(p, whose.split, whose.tile * p.tile_outputs + k, Op::widen(total));
    }
  }
};

template <class Op, bool WIDE> NDR_DEVICE void tile_runs(const ndr_params &p) {
  typedef typename Op::Near Near;
  NDR_SHARED Near states[NDR_BLOCK];
  strip<Op, WIDE> s(p);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    Near a = Op::near();
    s.fold(p, a, part_of(p, item));
    states[machine::thread()] = a;
    machine::barrier();
    /* Found again: the loop needs the registers for loads. */
    part whose = part_of(p, machine::opaque(item));
    groups::place to = s.find(p, whose.tile).to;
    s.meet(p, whose, to, states);
    machine::barrier();
    if (p.splits == 1) continue;
    join_pieces<Op, false>(p, whose, whose.tile * p.tile_outputs, to.outputs,
                           [&](int k) { return s.element_of(p, to, s.group_of(p, k), k); });
  }
}

template <class Op> NDR_DEVICE void tile_run_packets(const ndr_params &p) {
  tile_runs<Op, true>(p);
}

template <class Op> NDR_DEVICE void tile_run_elements(const ndr_params &p) {
  tile_runs<Op, false>(p);
}

#endif
