/* Family tree: the fastest axis is reduced. Threads read neighbouring vectors of an output's runs and join their
 * accumulators in a tree.
 *
 *   tree_block    a block reads a split of one long run
 *   tree_runs     a team of threads reads many short runs of one output, `lanes` threads a run
 *   tree_lanes    `lanes` threads of a warp read the only run of an output
 *   tree_strided  for any strides: a team reads element by element, in memory order */
#ifndef NDR_TREE_CUH
#define NDR_TREE_CUH

#include "join.cuh"

/* Folds `length` contiguous elements, fewer than 2^31, into the accumulators of `lanes` threads. Vectors are read from
 * the first boundary of a cache line or sector on. The elements before and after them are read one by one: their loads
 * are issued before those of the vectors, and awaited after. The loads of a batch are issued together, even of one that
 * is not whole. Numbers that the first load waits for are unsigned and 32 bits wide, which takes fewer instructions. */
template <class Op, int BATCH>
NDR_DEVICE void fold_stretch(const ndr_params &p, typename Op::Accumulator &a, const typename Op::element *start,
                             u32 length, i64 index, i64 step, u32 lane, u32 lanes) {
  typedef typename Op::element T;
  const u32 elements = 16 / sizeof(T), ENDS = 2;
  /* Elements between boundaries: few enough that the ends are one or two loads of a thread. Where a thread has but a
   * vector or two, a vector, so that as much as possible is read in vectors. */
  const u32 apart = length <= lanes * 2 * elements ? elements : (sizeof(T) >= 4 ? 128 : 32) / (u32)sizeof(T);
  const u32 before = (0 - (u32)(unsigned long long)start / (u32)sizeof(T)) & (apart - 1);
  const u32 head = before < length ? before : length, inner = (length - head) & ~(elements - 1), ends = length - inner;
  T end[ENDS];
#pragma unroll
  for (u32 i = 0; i < ENDS; i++) {
    u32 e = lane + i * lanes;
    if (e < ends) end[i] = machine::load_element(start + (e < head ? e : e + inner));
  }
  u32 first = head + lane * elements;
  const T *at = start + first;
  i64 at_index = index + first * step, between = (i64)(lanes * elements) * step;
  for (int left = (int)(inner / elements - lane); left > 0; left -= BATCH * (int)lanes) {
    ndr_vector vector[BATCH];
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      if (left > u * (int)lanes) vector[u] = machine::load_vector(at + u * lanes * elements);
    if (left > (BATCH - 1) * (int)lanes) {
      fold_batch<Op, BATCH>(p, a, vector, at_index, between, step);
    } else {
#pragma unroll
      for (int u = 0; u < BATCH - 1; u++)
        if (left > u * (int)lanes) fold_vector_of<Op>(p, a, vector[u], at_index + u * between, step);
    }
    at += BATCH * lanes * elements;
    at_index += BATCH * between;
  }
#pragma unroll
  for (u32 i = 0; i < ENDS; i++) {
    u32 e = lane + i * lanes;
    if (e < ends) fold_one<Op>(p, a, end[i], index + (e < head ? e : e + inner) * step);
  }
#pragma unroll 1
  for (u32 e = lane + ENDS * lanes; e < ends; e += lanes) {
    u32 other = e < head ? e : e + inner;
    fold_one<Op>(p, a, machine::load_element(start + other), index + other * step);
  }
}

/* How many loads a thread of tree_block has in flight. More of them in fewer blocks are faster than the reverse, where
 * the accumulator leaves registers for them. */
template <class Op> struct block_reads {
  static const bool light = sizeof(typename Op::Accumulator) <= 8;
  static const int batch = light ? NDR_LOADS_TREE_BLOCK : NDR_LOADS_TREE_BLOCK / 2;
};
/* Accumulators of 24 bytes or more would be spilled in more blocks. */
template <class Op> struct residency<NDR_KERNEL_TREE_BLOCK, Op> {
  static constexpr int blocks(int light) {
    return block_reads<Op>::light || sizeof(typename Op::Accumulator) >= 24 ? light : light + 1;
  }
};

/* Writes the total of the block's item, which thread 0 holds, to element `place` of the result; if there are splits,
 * posts it and joins them. */
template <class Op>
NDR_DEVICE void finish_item(const ndr_params &p, tile_split whose, i64 place, const typename Op::Accumulator &total) {
  bool first = machine::thread() == 0;
  if (splits_of(p) == 1) {
    if (first) emit_total<Op>(p, place, total);
    return;
  }
  if (first) save_partial<Op>(p, whose.split, whose.tile, Op::widen(total));
  join_splits<Op, true>(p, whose, whose.tile, 1, [&](int) { return place; });
}

template <class Op> NDR_DEVICE void tree_block(const ndr_params &p) {
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  tile_split whose = split_of(p, machine::block());
  output_spot output = locate_output(p, whose.tile);
  element_spot run = {0, 0};
  u32 split = whose.split;
  if (p.tree_block.runs > 1) {
    u32 number = split / p.tree_block.run_splits;
    run = locate_reduced(p, 1, number);
    split -= number * p.tree_block.run_splits;
  }
  range units = units_of(p, split);
  const typename Op::element *start = (const typename Op::element *)p.data + output.offset + run.offset + units.begin;
  typename Op::Accumulator a = Op::identity();
  i64 step = walked_axis(p).index_step, index = p.index_origin + run.index + units.begin * step;
  fold_stretch<Op, block_reads<Op>::batch>(p, a, start, (u32)(units.end - units.begin), index, step, machine::thread(),
                                           NDR_BLOCK);
  finish_item<Op>(p, whose, output.result, join_block<Op>(a, accumulators));
}

/* A team of threads shares an output. It is up to a warp, or the whole block; only an output of a whole block may have
 * splits. A tile is the outputs of a block's teams. */
struct team {
  int thread, size, teams;
  i64 output, end; /* the team's output, if that is below `end` */
  range units;
  tile_split whose;
  NDR_DEVICE bool has_output() const { return output < end; }
};

NDR_DEVICE team join_team(const ndr_params &p, const ndr_param_threads &threads, i64 block) {
  team t;
  t.whose = split_of(p, block);
  t.size = threads.count;
  t.thread = machine::thread() & (threads.count - 1);
  t.teams = NDR_BLOCK >> threads.log;
  range outputs = outputs_of(p, t.whose.tile);
  t.output = outputs.begin + (machine::thread() >> threads.log);
  t.end = outputs.end;
  t.units = units_of(p, t.whose.split);
  return t;
}

template <class Op>
NDR_DEVICE void finish_team(const ndr_params &p, const team &t, typename Op::Accumulator a,
                            typename Op::Accumulator *accumulators) {
  if (t.teams == 1) {
    finish_item<Op>(p, t.whose, locate_output(p, t.output).result, join_block<Op>(a, accumulators));
    return;
  }
  join_lanes<Op>(a, t.size);
  if (t.thread == 0 && t.has_output()) emit_total<Op>(p, locate_output(p, t.output).result, a);
}

template <class Op> NDR_DEVICE void tree_runs(const ndr_params &p) {
  const ndr_param_threads &lanes = p.tree_runs.lanes;
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  team t = join_team(p, p.tree_runs.team, machine::block());
  typename Op::Accumulator a = Op::identity();
  if (t.has_output()) {
    const typename Op::element *base = (const typename Op::element *)p.data + locate_output(p, t.output).offset;
    int lane = t.thread & (lanes.count - 1);
    for (i64 run = t.units.begin + (t.thread >> lanes.log); run < t.units.end; run += t.size >> lanes.log) {
      element_spot s = locate_reduced(p, 1, run);
      fold_stretch<Op, NDR_LOADS_TREE_RUNS>(p, a, base + s.offset, (u32)walked_axis(p).size, p.index_origin + s.index,
                                            walked_axis(p).index_step, lane, lanes.count);
    }
  }
  finish_team<Op>(p, t, a, accumulators);
}

/* Folds every lanes-th element along one axis, from the one at `at` on. `left` elements of the axis are left with that
 * one; those of this thread lie `apart` elements and `step` indices from each other. */
template <class Op, int BATCH>
NDR_DEVICE void fold_steps(const ndr_params &p, typename Op::Accumulator &a, const typename Op::element *at, i64 apart,
                           i64 index, i64 step, i64 left, int lanes) {
  for (; left > 0; left -= BATCH * lanes, at += BATCH * apart, index += BATCH * step) {
    typename Op::element e[BATCH];
    const typename Op::element *from = at;
#pragma unroll
    for (int u = 0; u < BATCH; u++, from += apart)
      if (left > u * lanes) e[u] = machine::load_element(from);
    if (left > (BATCH - 1) * lanes) {
      typename Op::value x[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++) x[u] = value_of<typename Op::value>(e[u]);
      Op::template fold<BATCH>(a, x, index, step, p);
      continue;
    }
#pragma unroll
    for (int u = 0; u < BATCH - 1; u++)
      if (left > u * lanes) fold_one<Op>(p, a, e[u], index + u * step);
  }
}

/* A thread has BATCH elements in flight. */
template <class Op, int BATCH> NDR_DEVICE void fold_strided(const ndr_params &p) {
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  team t = join_team(p, p.tree_strided.team, machine::block());
  typename Op::Accumulator a = Op::identity();
  i64 end = t.has_output() ? t.units.end : t.units.begin;
  const typename Op::element *base =
      (const typename Op::element *)p.data + (t.has_output() ? locate_output(p, t.output).offset : 0);
  i64 n = t.units.begin + t.thread;
  if (reduced_count(p) == 1 && n < end) {
    const ndr_param_axis &axis = walked_axis(p);
    fold_steps<Op, BATCH>(p, a, base + n * axis.stride, t.size * axis.stride, p.index_origin + n * axis.index_step,
                          t.size * axis.index_step, end - n, t.size);
    n = end;
  }
  for (; n < end; n += BATCH * t.size) {
    typename Op::element e[BATCH];
    i64 index[BATCH];
#pragma unroll
    for (int u = 0; u < BATCH; u++) {
      if (n + u * t.size >= end) continue;
      element_spot s = locate_reduced(p, 0, n + u * t.size);
      e[u] = machine::load_element(base + s.offset);
      index[u] = p.index_origin + s.index;
    }
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      if (n + u * t.size < end) fold_one<Op>(p, a, e[u], index[u]);
  }
  finish_team<Op>(p, t, a, accumulators);
}

template <class Op> NDR_DEVICE void tree_strided(const ndr_params &p) {
  fold_strided<Op, NDR_LOADS_TREE_STRIDED>(p);
}

/* Reduces whole, aligned outputs along one kept axis. A thread loads NDR_LOADS_TREE_LANES vectors at once, 1 <<
 * lane_vectors_log of each output. Vector u lies `one`, `two` or both from vector 0: it is another vector of the same
 * output, or one of another output of the group. */
template <class Op> NDR_DEVICE void fold_tile(const ndr_params &p, i64 output, int lane, int groups) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T);
  int shift = p.tree_lanes.lane_vectors_log, vectors = p.tree_lanes.vectors, lanes = p.tree_lanes.lanes.count;
  i64 stride = groups * p.axes[0].stride, along = lanes * elements, step = walked_axis(p).index_step;
  i64 one = shift > 0 ? along : stride, two = shift > 1 ? 2 * along : shift > 0 ? stride : 2 * stride;
  const T *at = (const T *)p.data + output * p.axes[0].stride + lane * elements;
  const T *spots[NDR_LOADS_TREE_LANES] = {at, at + one, at + two, at + one + two};
  int slot1 = shift > 0 ? lane + lanes : lane, slot2 = shift > 1 ? lane + 2 * lanes : lane;
  int slots[NDR_LOADS_TREE_LANES] = {lane, slot1, slot2, slot1 + slot2 - lane};
  ndr_vector vector[NDR_LOADS_TREE_LANES];
  typename Op::Accumulator a[NDR_LOADS_TREE_LANES];
#pragma unroll
  for (int u = 0; u < NDR_LOADS_TREE_LANES; u++)
    if (slots[u] < vectors) vector[u] = lanes <= 2 ? machine::keep_vector(spots[u]) : machine::load_vector(spots[u]);
#pragma unroll
  for (int u = 0; u < NDR_LOADS_TREE_LANES; u++) {
    a[u] = Op::identity();
    if (slots[u] < vectors) fold_vector_of<Op>(p, a[u], vector[u], p.index_origin + slots[u] * elements * step, step);
  }
  if (shift > 0) {
    Op::join(a[0], a[1]);
    Op::join(a[2], a[3]);
  }
  if (shift > 1) Op::join(a[0], a[2]);
  for (int mask = lanes >> 1; mask > 0; mask >>= 1) {
#pragma unroll
    for (int u = 0; u < NDR_LOADS_TREE_LANES; u++) Op::join(a[u], shuffle_state(a[u], mask));
  }
  if (lane) return;
  i64 result = output * p.axes[0].result_stride, next = groups * p.axes[0].result_stride;
  emit_total<Op>(p, result, a[0]);
  if (shift == 0) emit_total<Op>(p, result + next, a[1]);
  if (shift <= 1) emit_total<Op>(p, result + (shift ? next : 2 * next), a[2]);
  if (shift == 0) emit_total<Op>(p, result + 3 * next, a[3]);
}

template <class Op> NDR_DEVICE void tree_lanes(const ndr_params &p) {
  const ndr_param_threads &lanes = p.tree_lanes.lanes;
  int lane = machine::thread() & (lanes.count - 1), group = machine::thread() >> lanes.log,
      groups = NDR_BLOCK >> lanes.log, shift = knows(NDR_FACT_LONG_RUNS) ? -1 : p.tree_lanes.lane_vectors_log;
  i64 first = machine::block() * p.tile_outputs, end = first + p.tile_outputs;
  if (shift >= 0 && end <= p.outputs) {
    for (int o = group; o < p.tile_outputs; o += (NDR_LOADS_TREE_LANES >> shift) * groups)
      fold_tile<Op>(p, first + o, lane, groups);
    return;
  }
  for (i64 output = first + group; output - group < end; output += groups) {
    typename Op::Accumulator a = Op::identity();
    output_spot s = {0, 0};
    if (output < p.outputs) {
      s = locate_output(p, output);
      fold_stretch<Op, NDR_LOADS_TREE_LANES>(p, a, (const typename Op::element *)p.data + s.offset,
                                             (u32)walked_axis(p).size, p.index_origin, walked_axis(p).index_step, lane,
                                             lanes.count);
    }
    join_lanes<Op>(a, lanes.count);
    if (lane == 0 && output < p.outputs) emit_total<Op>(p, s.result, a);
  }
}

#endif
