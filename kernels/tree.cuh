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

/* Folds `length` contiguous elements into the accumulators of `lanes` threads. Vectors are read from the first boundary
 * of a cache line or sector on. The elements before and after them are read one by one: their loads are issued before
 * those of the vectors, and awaited after. The loads of a batch are issued together, even of one that is not whole. */
template <class Op, int BATCH>
NDR_DEVICE void fold_stretch(const ndr_params &p, typename Op::Accumulator &a, const typename Op::element *start,
                             i64 length, i64 index, i64 step, int lane, int lanes) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T), ENDS = 2;
  /* Bytes of the boundary: few enough that the ends are one or two loads of a thread. Where a thread has but a vector
   * or two, 16 bytes, so that as much as possible is read in vectors. */
  int line = length * (int)sizeof(T) <= lanes * 32 ? 16 : sizeof(T) >= 4 ? 128 : 32;
  int past = (int)((unsigned long long)start & (line - 1)) / (int)sizeof(T);
  int head = past ? line / (int)sizeof(T) - past : 0;
  if (head > length) head = (int)length;
  int vectors = (int)((length - head) / elements);
  int ends = (int)(length - (i64)vectors * elements);
  T end[ENDS];
#pragma unroll
  for (int i = 0; i < ENDS; i++) {
    int e = lane + i * lanes;
    if (e < ends) end[i] = machine::load_element(start + (e < head ? e : e + (i64)vectors * elements));
  }
  const T *at = start + head + lane * elements;
  i64 at_index = index + (head + lane * elements) * step, between = lanes * elements * step;
  for (int left = vectors - lane; left > 0; left -= BATCH * lanes) {
    ndr_vector vector[BATCH];
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      if (left > u * lanes) vector[u] = machine::load_vector(at + u * lanes * elements);
    if (left > (BATCH - 1) * lanes) {
      fold_batch<Op, BATCH>(p, a, vector, at_index, between, step);
    } else {
#pragma unroll
      for (int u = 0; u < BATCH - 1; u++)
        if (left > u * lanes) fold_vector_of<Op>(p, a, vector[u], at_index + u * between, step);
    }
    at += BATCH * lanes * elements;
    at_index += BATCH * between;
  }
#pragma unroll
  for (int i = 0; i < ENDS; i++) {
    int e = lane + i * lanes;
    if (e < ends) fold_one<Op>(p, a, end[i], index + (e < head ? e : e + (i64)vectors * elements) * step);
  }
#pragma unroll 1
  for (int e = lane + ENDS * lanes; e < ends; e += lanes) {
    i64 other = e < head ? e : e + (i64)vectors * elements;
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

/* Writes the block's total of an item, which thread 0 holds, to the result, or joins it to those of other splits. */
template <class Op>
NDR_DEVICE void finish_item(const ndr_params &p, tile_split whose, const typename Op::State &total) {
  bool first = machine::thread() == 0;
  if (splits_of(p) > 1) {
    if (first) save_partial<Op>(p, whose.split, whose.tile, total);
    join_splits<Op, true>(p, whose, whose.tile, 1, [&](int) { return locate_output(p, whose.tile).result; });
  } else if (first) {
    emit<Op>(p, locate_output(p, whose.tile).result, total);
  }
}

template <class Op> NDR_DEVICE void tree_block(const ndr_params &p) {
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  for (i64 item = machine::block(); item < p.work; item = NDR_NEXT_ITEM(item)) {
    tile_split whose = split_of(p, item);
    int run = p.tree_block.runs > 1 ? whose.split / p.tree_block.run_splits : 0;
    element_spot s = locate_reduced(p, 1, run);
    range units = units_of(p, whose.split - run * p.tree_block.run_splits);
    const typename Op::element *start =
        (const typename Op::element *)p.data + locate_output(p, whose.tile).offset + s.offset + units.begin;
    typename Op::Accumulator a = Op::identity();
    i64 step = walked_axis(p).index_step, index = p.index_origin + s.index + units.begin * step;
    fold_stretch<Op, block_reads<Op>::batch>(p, a, start, units.end - units.begin, index, step, machine::thread(),
                                             NDR_BLOCK);
    finish_item<Op>(p, whose, Op::widen(join_block<Op>(a, accumulators)));
    machine::barrier();
  }
}

/* A team of threads shares an output. It is up to a warp, or the whole block; only an output of a whole block may have
 * splits. A tile is the outputs of a block's teams. */
struct team {
  int thread, size, teams;
  i64 output;
  range units;
  tile_split whose;
};

NDR_DEVICE team join_team(const ndr_params &p, const ndr_param_threads &threads, i64 item) {
  team t;
  t.whose = split_of(p, item);
  t.size = threads.count;
  t.thread = machine::thread() & (threads.count - 1);
  t.teams = NDR_BLOCK >> threads.log;
  t.output = t.whose.tile * t.teams + (machine::thread() >> threads.log);
  t.units = units_of(p, t.whose.split);
  return t;
}

template <class Op>
NDR_DEVICE void finish_team(const ndr_params &p, const team &t, typename Op::Accumulator a,
                            typename Op::Accumulator *accumulators) {
  if (t.teams == 1) {
    finish_item<Op>(p, t.whose, Op::widen(join_block<Op>(a, accumulators)));
    machine::barrier();
    return;
  }
  join_lanes<Op>(a, t.size);
  if (t.thread == 0 && t.output < p.outputs) emit_total<Op>(p, locate_output(p, t.output).result, a);
}

template <class Op> NDR_DEVICE void tree_runs(const ndr_params &p) {
  const ndr_param_threads &lanes = p.tree_runs.lanes;
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  for (i64 item = machine::block(); item < p.work; item = NDR_NEXT_ITEM(item)) {
    team t = join_team(p, p.tree_runs.team, item);
    typename Op::Accumulator a = Op::identity();
    if (t.output < p.outputs) {
      const typename Op::element *base = (const typename Op::element *)p.data + locate_output(p, t.output).offset;
      int lane = t.thread & (lanes.count - 1);
      for (i64 run = t.units.begin + (t.thread >> lanes.log); run < t.units.end; run += t.size >> lanes.log) {
        element_spot s = locate_reduced(p, 1, run);
        fold_stretch<Op, NDR_LOADS_TREE_RUNS>(p, a, base + s.offset, walked_axis(p).size, p.index_origin + s.index,
                                              walked_axis(p).index_step, lane, lanes.count);
      }
    }
    finish_team<Op>(p, t, a, accumulators);
  }
}

/* A thread has BATCH elements in flight. */
template <class Op, int BATCH> NDR_DEVICE void fold_strided(const ndr_params &p) {
  NDR_SHARED typename Op::Accumulator accumulators[NDR_BLOCK / NDR_WARP];
  for (i64 item = machine::block(); item < p.work; item = NDR_NEXT_ITEM(item)) {
    team t = join_team(p, p.tree_strided.team, item);
    typename Op::Accumulator a = Op::identity();
    i64 end = t.output < p.outputs ? t.units.end : t.units.begin;
    const typename Op::element *base =
        (const typename Op::element *)p.data + (t.output < p.outputs ? locate_output(p, t.output).offset : 0);
    for (i64 n = t.units.begin + t.thread; n < end; n += BATCH * t.size) {
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
  for (i64 item = machine::block(); item < p.work; item = NDR_NEXT_ITEM(item)) {
    i64 first = item * p.tile_outputs, end = first + p.tile_outputs;
    if (shift >= 0 && end <= p.outputs) {
      for (int o = group; o < p.tile_outputs; o += (NDR_LOADS_TREE_LANES >> shift) * groups)
        fold_tile<Op>(p, first + o, lane, groups);
      continue;
    }
    for (i64 output = first + group; output - group < end; output += groups) {
      typename Op::Accumulator a = Op::identity();
      output_spot s = {0, 0};
      if (output < p.outputs) {
        s = locate_output(p, output);
        fold_stretch<Op, NDR_LOADS_TREE_LANES>(p, a, (const typename Op::element *)p.data + s.offset,
                                               walked_axis(p).size, p.index_origin, walked_axis(p).index_step, lane,
                                               lanes.count);
      }
      join_lanes<Op>(a, lanes.count);
      if (lane == 0 && output < p.outputs) emit_total<Op>(p, s.result, a);
    }
  }
}

#endif
