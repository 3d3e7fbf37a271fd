/* Family tree: the axis of smallest stride is reduced. A group of threads reads one output's runs, 16 bytes a thread,
 * and joins in a tree: `lanes` threads of a warp (tree_lanes), or the block (tree_block).
 *
 * An output is `runs` runs of `axes[kept_count].size` elements. A run that is not aligned to 16 bytes is read as the
 * packets that lie inside it, and its ends element by element; so every run has run_units packet slots, of which the
 * last may be empty. A piece is a range of slots; the ends belong to the piece that holds the run's first slot. */
#ifndef NDR_TREE_CUH
#define NDR_TREE_CUH

#include "walk.cuh"

/* One run, cut into an unaligned head, packets, and a tail. */
template <class T> struct run_cut {
  const T *start;
  i64 length, index;
  int head;
  i64 packets;

  NDR_DEVICE run_cut(const ndr_params &p, const T *first, i64 flattened) {
    const int elements = 16 / sizeof(T);
    start = first;
    length = p.reduced_count ? p.axes[p.kept_count].size : 1;
    index = flattened;
    if (p.aligned) {
      head = 0;
      packets = p.run_units;
      return;
    }
    int past = (int)((unsigned long long)first % 16 / sizeof(T));
    head = past ? elements - past : 0;
    if (head > length) head = (int)length;
    packets = (length - head) / elements;
  }
};

template <class T> NDR_DEVICE run_cut<T> cut_run(const ndr_params &p, const T *base, i64 run) {
  spot s = {0, 0};
  if (run) s = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
  return run_cut<T>(p, base + s.offset, p.index_origin + s.aux);
}

/* The elements around the packets of a run: at most 2 * (elements - 1), dealt to the first threads of the group. */
template <class Op> NDR_DEVICE void fold_ends(const ndr_params &p, typename Op::Near &a, const run_cut<typename Op::element> &cut, int lane, int lanes) {
  const int elements = 16 / sizeof(typename Op::element);
  i64 step = p.reduced_count ? p.axes[p.kept_count].aux : 0;
  i64 tail = cut.head + cut.packets * elements;
  int ends = cut.head + (int)(cut.length - tail);
  for (int e = lane; e < ends; e += lanes) {
    i64 at = e < cut.head ? e : tail + (e - cut.head);
    fold_one<Op>(a, machine::load_element(cut.start + at), cut.index + at * step);
  }
}

/* Folds the slots begin <= slot < end of one output into the group's accumulators; `base` is the output's element 0, run
 * the one that slots.begin lies in. A piece has less than 2^31 slots. */
template <class Op, int UNROLL>
NDR_DEVICE void fold_slots(const ndr_params &p, typename Op::Near &a, const typename Op::element *base, i64 run, range slots, int lane, int lanes) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T);
  i64 step = p.reduced_count ? p.axes[p.kept_count].aux : 0;
  for (; run * p.run_units < slots.end; run++) {
    run_cut<T> cut = cut_run(p, base, run);
    i64 first = slots.begin - run * p.run_units, last = slots.end - run * p.run_units;
    if (first <= 0) {
      first = 0;
      if (!p.aligned) fold_ends<Op>(p, a, cut, lane, lanes);
    }
    int count = (int)((last < cut.packets ? last : cut.packets) - first);
    const T *body = cut.start + cut.head + first * elements;
    i64 index = cut.index + (cut.head + first * elements) * step;
    for (int slot = lane; slot < count; slot += UNROLL * lanes) {
      ndr_packet packet[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (slot + u * lanes < count) packet[u] = machine::load_packet(body + (i64)(slot + u * lanes) * elements);
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (slot + u * lanes < count)
          fold_packet_of<Op>(a, packet[u], index + (i64)(slot + u * lanes) * elements * step, step, p.ascending);
    }
  }
}

/* A lane axis whose stride is not 1: element by element, in memory order. Slots are elements. */
template <class Op, int UNROLL>
NDR_DEVICE void fold_elements(const ndr_params &p, typename Op::Near &a, const typename Op::element *base, range slots, int lane, int lanes) {
  for (i64 slot = slots.begin + lane; slot < slots.end; slot += UNROLL * lanes) {
    typename Op::element e[UNROLL];
    i64 index[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      if (slot + u * lanes >= slots.end) continue;
      spot s = locate(p, p.kept_count, p.reduced_count, slot + u * lanes);
      e[u] = machine::load_element(base + s.offset);
      index[u] = p.index_origin + s.aux;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (slot + u * lanes < slots.end) fold_one<Op>(a, e[u], index[u]);
  }
}

/* Hands the block's total of an item on: to the result, or through the split's partial states. */
template <class Op> NDR_DEVICE void finish_item(const ndr_params &p, i64 output, i64 split, typename Op::Far total) {
  NDR_SHARED typename Op::Far room[NDR_BLOCK / NDR_WARP];
  NDR_SHARED unsigned ticket;
  int thread = machine::thread();
  if (p.splits > 1) {
    unsigned *counters = p.counters + output * (p.groups + 1);
    int group = (int)(split / p.group);
    i64 first = (i64)group * p.group;
    int members = (int)(p.splits - first < p.group ? p.splits - first : p.group);
    if (thread == 0) save_partial<Op>(p, split, output, total);
    if (!arrive_last(&counters[group], (unsigned)members, &ticket)) return;
    for (int level = 0; level < 2; level++) {
      typename Op::Far a = Op::far();
      for (int s = thread; s < members; s += machine::threads()) Op::join_far(a, load_partial<Op>(p, first + s, output));
      total = join_block<Op>(a, room);
      if (level == 1 || p.groups == 1) break;
      if (thread == 0) save_partial<Op>(p, p.splits + group, output, total);
      if (!arrive_last(&counters[p.groups], (unsigned)p.groups, &ticket)) return;
      first = p.splits;
      members = p.groups;
    }
  }
  if (thread == 0) emit<Op>(p, locate_output(p, output).aux, total);
}

template <class Op, bool UNIT> NDR_DEVICE void tree_block(const ndr_params &p) {
  NDR_SHARED typename Op::Far room[NDR_BLOCK / NDR_WARP];
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 output = p.splits > 1 ? item / p.splits : item, split = item - output * p.splits;
    const typename Op::element *base = (const typename Op::element *)p.data + locate_output(p, output).offset;
    typename Op::Near a = Op::near();
    range piece = piece_of(p, split);
    if (UNIT) fold_slots<Op, 4>(p, a, base, split ? piece.begin / p.run_units : 0, piece, machine::thread(), machine::threads());
    else fold_elements<Op, 4>(p, a, base, piece, machine::thread(), machine::threads());
    finish_item<Op>(p, output, split, join_block<Op>(Op::widen(a), room));
    machine::barrier();
  }
}

/* p.lanes threads an output. With one slot a thread or less, BATCH outputs are read before the first is folded. */
template <class Op> NDR_DEVICE void tree_lanes(const ndr_params &p) {
  const int BATCH = 4;
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T);
  int lane = machine::thread() % p.lanes, group = machine::thread() / p.lanes, groups = machine::threads() / p.lanes;
  i64 step = p.reduced_count ? p.axes[p.kept_count].aux : 0;
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 first = item * p.tile_outputs;
    if (p.units <= p.lanes && p.runs == 1) {
      for (int o = group; o < p.tile_outputs; o += BATCH * groups) {
        ndr_packet packet[BATCH];
        typename Op::Near a[BATCH];
        i64 result[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
          i64 output = first + o + b * groups;
          a[b] = Op::near();
          if (o + b * groups >= p.tile_outputs || output >= p.outputs) continue;
          spot s = locate_output(p, output);
          result[b] = s.aux;
          run_cut<T> cut(p, (const T *)p.data + s.offset, p.index_origin);
          if (!p.aligned) fold_ends<Op>(p, a[b], cut, lane, p.lanes);
          if (lane < cut.packets) packet[b] = machine::load_packet(cut.start + cut.head + lane * elements);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
          i64 output = first + o + b * groups;
          if (o + b * groups < p.tile_outputs && output < p.outputs) {
            spot s = locate_output(p, output);
            run_cut<T> cut(p, (const T *)p.data + s.offset, p.index_origin);
            if (lane < cut.packets)
              fold_packet_of<Op>(a[b], packet[b], p.index_origin + (cut.head + lane * elements) * step, step, p.ascending);
          }
          join_lanes<Op>(a[b], p.lanes);
          if (lane == 0 && o + b * groups < p.tile_outputs && output < p.outputs) emit<Op>(p, result[b], Op::widen(a[b]));
        }
      }
    } else {
      for (int o = group; o < p.tile_outputs; o += groups) {
        typename Op::Near a = Op::near();
        spot s = {0, 0};
        if (first + o < p.outputs) {
          s = locate_output(p, first + o);
          range all = {0, p.units};
          fold_slots<Op, 4>(p, a, (const T *)p.data + s.offset, 0, all, lane, p.lanes);
        }
        join_lanes<Op>(a, p.lanes);
        if (lane == 0 && first + o < p.outputs) emit<Op>(p, s.aux, Op::widen(a));
      }
    }
  }
}

#endif
