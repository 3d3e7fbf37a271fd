/* What every kernel family shares: from item numbers to addresses, from accumulators to results, and joining splits. */
#ifndef NDR_WALK_CUH
#define NDR_WALK_CUH

#include "facts.cuh"
#include "kernels.h"
#include "ops.cuh"
#include "params.h"
#include "posted.cuh"

/* Blocks of a kernel that a multiprocessor holds: the number in kernels.def, unless the operator's accumulator takes
 * more registers than that leaves. */
template <ndr_kernel KERNEL, class Op> struct residency {
  static constexpr int blocks(int light) { return light; }
};

/* ---- decoding ---- */

struct quotient {
  i64 whole, rest;
};

/* n / axis.size and the remainder. The size must be at least 2. */
NDR_DEVICE quotient divide(const ndr_params &p, const ndr_param_axis &axis, i64 n) {
  i64 whole = is_small(p) ? (i64)(machine::multiply_high((u32)n, axis.magic) >> axis.shift) : n / axis.size;
  return {whole, n - whole * axis.size};
}

NDR_DEVICE u32 divide(const ndr_param_divisor &by, u32 n) {
  return by.magic ? machine::multiply_high(n, by.magic) >> by.shift : n;
}

/* Offsets of an output in elements: in the data and in the result. */
struct output_spot {
  i64 offset, result;
  NDR_DEVICE void step(const ndr_param_axis &axis, i64 n) {
    offset += n * axis.stride;
    result += n * axis.result_stride;
  }
};

/* Offsets of a reduced element: in the data, in elements, and in the flattened index. */
struct element_spot {
  i64 offset, index;
  NDR_DEVICE void step(const ndr_param_axis &axis, i64 n) {
    offset += n * axis.stride;
    index += n * axis.index_step;
  }
};

/* Locates number n of a walk over `count` axes from axes[first] on, innermost first. */
template <class Spot> NDR_DEVICE Spot locate(const ndr_params &p, int first, int count, i64 n) {
  Spot s = {0, 0};
  if (count <= 1) {
    if (count == 1) s.step(p.axes[first], n);
    return s;
  }
#pragma unroll 1
  for (int a = first; a < first + count; a++) {
    quotient q = {0, n};
    if (a + 1 < first + count) q = divide(p, p.axes[a], n);
    s.step(p.axes[a], q.rest);
    n = q.whole;
  }
  return s;
}

/* Locates number n of a walk over the kept axes, leaving out the first `skipped`. */
NDR_DEVICE output_spot locate_kept(const ndr_params &p, int skipped, i64 n) {
  return locate<output_spot>(p, skipped, kept_count(p) - skipped, n);
}

NDR_DEVICE output_spot locate_output(const ndr_params &p, i64 output) {
  return locate_kept(p, 0, output);
}

/* Locates number n of a walk over the reduced axes, leaving out the first `skipped`. */
NDR_DEVICE element_spot locate_reduced(const ndr_params &p, int skipped, i64 n) {
  return locate<element_spot>(p, kept_count(p) + skipped, reduced_count(p) - skipped, n);
}

/* The first reduced axis, which the threads of most kernels walk. */
NDR_DEVICE const ndr_param_axis &walked_axis(const ndr_params &p) {
  return p.axes[kept_count(p)];
}

/* The tile of an item, and which of its splits the item is. */
struct tile_split {
  i64 tile;
  int split;
};

NDR_DEVICE tile_split split_of(const ndr_params &p, i64 item) {
  if (splits_of(p) == 1) return {item, 0};
  u32 split = divide(p.tiles, (u32)item);
  return {(u32)item - split * (u32)p.tile_count, (int)split};
}

/* The units of a split. */
struct range {
  i64 begin, end;
};

NDR_DEVICE range units_of(const ndr_params &p, i64 split) {
  i64 begin = split * p.split_units, end = begin + p.split_units;
  return {begin, end < p.units ? end : p.units};
}

/* ---- elements ---- */

template <class T> struct vector_traits { static const int elements = 16 / sizeof(T); };

/* Converts the elements of a vector to values. */
template <class Op> NDR_DEVICE void unpack(const ndr_vector &vector, typename Op::value *x) {
  typedef typename Op::element T;
  union {
    ndr_vector vector;
    T element[16 / sizeof(T)];
  } view;
  view.vector = vector;
#pragma unroll
  for (int i = 0; i < (int)(16 / sizeof(T)); i++) x[i] = value_of<typename Op::value>(view.element[i]);
}

template <class Op>
NDR_DEVICE void fold_value(const ndr_params &p, typename Op::Accumulator &a, typename Op::value value, i64 index) {
  typename Op::value x[1] = {value};
  Op::template fold<1>(a, x, index, 0, p);
}
template <class Op>
NDR_DEVICE void fold_one(const ndr_params &p, typename Op::Accumulator &a, typename Op::element e, i64 index) {
  fold_value<Op>(p, a, value_of<typename Op::value>(e), index);
}

/* Folds a vector whose elements all belong to one output. */
template <class Op>
NDR_DEVICE void fold_vector_of(const ndr_params &p, typename Op::Accumulator &a, const ndr_vector &vector, i64 index,
                               i64 step) {
  const int n = 16 / sizeof(typename Op::element);
  if constexpr (Op::packed) {
    Op::fold_vector(a, vector);
  } else {
    typename Op::value x[n];
    unpack<Op>(vector, x);
    Op::template fold<n>(a, x, index, step, p);
  }
}

/* Folds several vectors of one output, up to 16 elements at once. Vectors start `between` indices apart. */
template <class Op, int COUNT>
NDR_DEVICE void fold_batch(const ndr_params &p, typename Op::Accumulator &a, const ndr_vector *vector, i64 index,
                           i64 between, i64 step) {
  const int n = 16 / sizeof(typename Op::element), group = n >= 16 ? 1 : n * COUNT <= 16 ? COUNT : 16 / n;
  if constexpr (Op::packed || group == 1) {
#pragma unroll
    for (int u = 0; u < COUNT; u++) fold_vector_of<Op>(p, a, vector[u], index + u * between, step);
  } else {
#pragma unroll
    for (int first = 0; first < COUNT; first += group) {
      typename Op::value x[group * n];
#pragma unroll
      for (int u = 0; u < group; u++) unpack<Op>(vector[first + u], x + u * n);
      if constexpr (Op::indexed)
        Op::template fold_vectors<group * n, n>(a, x, index + first * between, between, step, p);
      else
        Op::template fold<group * n>(a, x, 0, 0, p);
    }
  }
}

/* ---- results ---- */

/* Finalizes a count as the launch says. */
NDR_DEVICE u64 end_count(const ndr_params &p, u64 count) {
  switch (p.finalize) {
  case NDR_FINALIZE_ANY: return count != 0;
  case NDR_FINALIZE_ALL: return count == (u64)p.length;
  case NDR_FINALIZE_VALID: return (u64)p.length - count;
  case NDR_FINALIZE_LENGTH: return (u64)p.length;
  default: return count;
  }
}

/* The value of a total. Programs (program.cuh) have a way of their own. */
template <class Op> struct finishing {
  static NDR_DEVICE auto of(const ndr_params &p, const typename Op::State &state) { return Op::finish(state, p.ddof); }
};

/* Finalizes a total as the launch says. The kernels of var also serve std; those of count also any, all and valid. */
template <class Op> NDR_DEVICE auto finish_total(const ndr_params &p, const typename Op::State &state) {
  auto x = finishing<Op>::of(p, state);
  if constexpr (Op::rooted)
    return p.finalize == NDR_FINALIZE_ROOT ? sqrt(x) : x;
  else if constexpr (Op::counting)
    return end_count(p, x);
  else
    return x;
}

/* Writes an output of an operator, or its state, to result number FIRST. `offset` counts elements of the result; for
 * states it is the row-major number of the output. */
template <class Op, int FIRST> struct emission {
  static const int results = 1;
  static NDR_DEVICE void of(const ndr_params &p, i64 offset, const typename Op::State &state) {
    if constexpr (Op::counting) {
      if (is_partial(p))
        ((ndr_word *)p.result[FIRST])[offset] = end_count(p, state);
      else if (p.finalize >= NDR_FINALIZE_ANY)
        ((u8 *)p.result[FIRST])[offset] = (u8)end_count(p, state);
      else
        ((i64 *)p.result[FIRST])[offset] = (i64)end_count(p, state);
      return;
    }
    if (is_partial(p)) {
      ndr_word w[Op::words];
      Op::save(state, w);
#pragma unroll
      for (int i = 0; i < Op::words; i++) ((ndr_word *)p.result[FIRST])[i * p.outputs + offset] = w[i];
    } else {
      store_value((typename Op::result *)p.result[FIRST] + offset, finish_total<Op>(p, state));
    }
  }
};

template <class Op> NDR_DEVICE void emit(const ndr_params &p, i64 offset, const typename Op::State &state) {
  emission<Op, 0>::of(p, offset, state);
}

/* Whether an accumulator is the total, and no more than rounds to the result: a state in f64 would round the same. */
template <class Op> struct totals_itself { static const bool yes = false; };
template <class T, bool W, bool S, class BATCH, class STATE, class RESULT, class MAP, class JOIN>
struct totals_itself<simple<T, W, S, BATCH, float, STATE, RESULT, MAP, JOIN, plain>> {
  static const bool yes = true;
};

/* The total to store, of an accumulator. */
template <class Op> NDR_DEVICE auto total_of(const ndr_params &p, const typename Op::Accumulator &a) {
  if constexpr (totals_itself<Op>::yes)
    return a;
  else
    return finish_total<Op>(p, Op::widen(a));
}

/* As emit, of an accumulator. */
template <class Op> NDR_DEVICE void emit_total(const ndr_params &p, i64 offset, const typename Op::Accumulator &a) {
  if constexpr (totals_itself<Op>::yes) {
    if (!is_partial(p)) {
      store_value((typename Op::result *)p.result[0] + offset, a);
      return;
    }
  }
  emit<Op>(p, offset, Op::widen(a));
}

/* The type with which a row of BYTES bytes is written. */
template <int BYTES> struct row_unit { typedef ndr_vector type; };
template <> struct row_unit<8> { typedef u64 type; };
template <> struct row_unit<4> { typedef u32 type; };

/* Writes COUNT neighbouring outputs with wide stores, so that a warp writes whole sectors. Returns false, and writes
 * nothing, unless they lie side by side in the result, `stride` being 1, and are aligned. */
template <class Op, int COUNT>
NDR_DEVICE bool emit_whole(const ndr_params &p, i64 offset, i64 stride, const typename Op::Accumulator *accumulators) {
  typedef typename Op::result result;
  const int bytes = sizeof(result) * COUNT;
  if constexpr (COUNT > 1 && (bytes % 16 == 0 || bytes == 8 || bytes == 4)) {
    typedef typename row_unit<bytes>::type unit;
    result *out = (result *)p.result[0] + offset;
    if (is_partial(p) || stride != 1 || (unsigned long long)out % sizeof(unit) ||
        (Op::counting && p.finalize >= NDR_FINALIZE_ANY))
      return false;
    union view {
      result value[COUNT];
      unit whole[bytes / sizeof(unit)];
      NDR_DEVICE view() {}
    } row;
#pragma unroll
    for (int c = 0; c < COUNT; c++) store_value(&row.value[c], total_of<Op>(p, accumulators[c]));
#pragma unroll
    for (int i = 0; i < (int)(bytes / sizeof(unit)); i++) ((unit *)out)[i] = row.whole[i];
    return true;
  }
  return false;
}

template <class Op, int COUNT>
NDR_DEVICE void emit_row(const ndr_params &p, i64 offset, i64 stride, const typename Op::Accumulator *accumulators) {
  if constexpr (Op::single) {
    if (emit_whole<Op, COUNT>(p, offset, stride, accumulators)) return;
  }
#pragma unroll
  for (int c = 0; c < COUNT; c++) emit_total<Op>(p, offset + c * stride, accumulators[c]);
}

/* Writes the first `some` of COUNT neighbouring outputs. */
template <class Op, int COUNT>
NDR_DEVICE void emit_some(const ndr_params &p, i64 offset, i64 stride, const typename Op::Accumulator *accumulators,
                          int some) {
#pragma unroll
  for (int c = 0; c < COUNT; c++)
    if (c < some) emit_total<Op>(p, offset + c * stride, accumulators[c]);
}

/* ---- trees ---- */

/* Exchanges a trivially copyable accumulator or state, word by word. */
template <class S, class Exchange> NDR_DEVICE S exchanged(const S &s, const Exchange &exchange) {
  const int count = (int)(sizeof(S) + 3) / 4;
  union view {
    S state;
    u32 word[count];
    NDR_DEVICE view() {}
  } from, to;
  from.state = s;
#pragma unroll
  for (int i = 0; i < count; i++) to.word[i] = exchange(from.word[i]);
  return to.state;
}
template <class S> NDR_DEVICE S shuffle_state(const S &s, int mask) {
  return exchanged(s, [mask](u32 word) { return machine::shuffle_xor(word, mask); });
}
/* What a lane of the warp has. */
template <class S> NDR_DEVICE S state_of_lane(const S &s, int lane) {
  return exchanged(s, [lane](u32 word) { return machine::shuffle_from(word, lane); });
}

/* Joins what LANES neighbouring threads have, or `lanes` where LANES is 0: a power of 2, up to a warp. Each gets the
 * total. */
template <int LANES, class S, class Join> NDR_DEVICE void join_neighbours(S &s, int lanes, const Join &join) {
#pragma unroll(LANES ? LANES : 1)
  for (int mask = (LANES ? LANES : lanes) >> 1; mask > 0; mask >>= 1) join(s, shuffle_state(s, mask));
}

/* The number of the first of the calling thread's `lanes` neighbours for which `bit` is true; if there is none, of the
 * first of all. */
NDR_DEVICE int first_lane(bool bit, int lanes) {
  const int from = machine::thread() & (NDR_WARP - lanes);
  const u32 bits = machine::ballot(bit) >> from & ((2u << (lanes - 1)) - 1);
  return bits ? from + machine::first_bit(bits) : from;
}

/* The same of moments: the mean first, then the squared distances from it. Joined two by two they would wait for a
 * division each time. Distances are from the mean of a lane that has seen something: of equal elements all are 0. */
template <int LANES, class V, class R, class Join>
NDR_DEVICE void join_neighbours(moments<V, R> &a, int lanes, const Join &) {
  struct about {
    R n;
    V sum; /* of distances from the pivot */
  };
  const int count = LANES ? LANES : lanes;
  const V pivot = state_of_lane(a.mean, first_lane(a.n != 0, count));
  about all = {a.n, scale(a.mean - pivot, a.n)};
#pragma unroll(LANES ? LANES : 1)
  for (int mask = count >> 1; mask > 0; mask >>= 1) {
    const about other = shuffle_state(all, mask);
    all = {all.n + other.n, all.sum + other.sum};
  }
  const V mean = pivot + scale(all.sum, all.n == 0 ? (R)0 : fraction((R)1, all.n));
  R m2 = a.n == 0 ? (R)0 : a.m2 + a.n * square<R>(a.mean - mean);
#pragma unroll(LANES ? LANES : 1)
  for (int mask = count >> 1; mask > 0; mask >>= 1) m2 += shuffle_state(m2, mask);
  a = {all.n, mean, m2};
}

/* The same of exponentials: the maximum first, so that a lane takes one exponential, and not one for each step. */
template <int LANES, class R, class Join> NDR_DEVICE void join_neighbours(exponentials<R> &a, int lanes, const Join &) {
  R most = a.max;
#pragma unroll(LANES ? LANES : 1)
  for (int mask = (LANES ? LANES : lanes) >> 1; mask > 0; mask >>= 1)
    most = extreme<1, false>::join(most, shuffle_state(most, mask));
  R sum = a.max == most ? a.sum : a.sum * exponential(a.max - most);
#pragma unroll(LANES ? LANES : 1)
  for (int mask = (LANES ? LANES : lanes) >> 1; mask > 0; mask >>= 1) sum += shuffle_state(sum, mask);
  a = {most, sum};
}

/* Joins the accumulators of `lanes` neighbouring threads. Each gets the total. */
template <class Op> NDR_DEVICE void join_lanes(typename Op::Accumulator &a, int lanes) {
  join_neighbours<0>(a, lanes, [](auto &x, const auto &y) { Op::join(x, y); });
}
/* The same of states. */
template <class Op> NDR_DEVICE void join_lane_states(typename Op::State &a, int lanes) {
  join_neighbours<0>(a, lanes, [](auto &x, const auto &y) { Op::join_states(x, y); });
}

/* Joins the accumulators of a block's threads; thread 0 gets the total. A shuffle tree in each warp, one barrier, and a
 * shuffle tree over the warps. `shared` has an accumulator of each warp; after the next barrier it is free. */
template <class Op>
NDR_DEVICE typename Op::Accumulator join_block(typename Op::Accumulator a, typename Op::Accumulator *shared) {
  const int warps = NDR_BLOCK / NDR_WARP;
  auto join = [](auto &x, const auto &y) { Op::join(x, y); };
  join_neighbours<NDR_WARP>(a, 0, join);
  if (machine::thread() % NDR_WARP == 0) shared[machine::thread() / NDR_WARP] = a;
  machine::barrier();
  if (machine::thread() < NDR_WARP) {
    a = machine::thread() < warps ? shared[machine::thread()] : Op::identity();
    join_neighbours<warps>(a, 0, join);
  }
  return a;
}

/* Joins `rows` rows of a block's accumulators into the first. A row is `width` neighbours of each of COUNT arrays. All
 * threads call this, before a barrier; a row has no more of them than the block. */
template <class Op, int COUNT, int PITCH>
NDR_DEVICE void join_halves(typename Op::Accumulator (&accumulators)[COUNT][PITCH], int width, int rows) {
  int thread = machine::thread();
  machine::barrier();
#pragma unroll 1
  while (rows > 1) {
    int half = (rows + 1) / 2;
    if (thread < (rows - half) * width) {
#pragma unroll
      for (int c = 0; c < COUNT; c++) Op::join(accumulators[c][thread], accumulators[c][thread + half * width]);
    }
    machine::barrier();
    rows = half;
  }
}

/* ---- split ---- */

/* Posts the state of an output in one of its slots, for the block that waits for it. */
template <class Op>
NDR_DEVICE void save_partial(const ndr_params &p, i64 slot, i64 output, const typename Op::State &state) {
  ndr_word w[Op::words];
  Op::save(state, w);
#pragma unroll
  for (int i = 0; i < Op::words; i++)
    machine::set_slot(p.partials + ((i * p.slots + slot) * p.padded + output), posted(w[i]));
}

/* The total of states that come one after the other. */
template <class Op, class State = typename Op::State> struct running_total {
  State all;
  NDR_DEVICE running_total() : all(Op::state_identity()) {}
  NDR_DEVICE void add(const State &s) { Op::join_states(all, s); }
  NDR_DEVICE State total() const { return all; }
};

/* The same of moments, about a pivot, the mean of the first that saw something: nothing waits for a division. If that
 * one has the n-th part of all elements, at most n times the rounding error of m2 remains. */
template <class Op, class V, class R> struct running_total<Op, moments<V, R>> {
  moments<V, R> about;
  V sum; /* of distances from the pivot */
  NDR_DEVICE running_total() : about{0, unit<V>(0), 0}, sum(unit<V>(0)) {}
  NDR_DEVICE void add(const moments<V, R> &s) {
    about.mean = about.n == 0 ? s.mean : about.mean;
    const V distance = s.n == 0 ? unit<V>(0) : s.mean - about.mean; /* its square may be infinite */
    about.n += s.n;
    about.m2 += s.m2 + s.n * square<R>(distance);
    sum = sum + scale(distance, s.n);
  }
  NDR_DEVICE moments<V, R> total() const {
    const V shift = scale(sum, about.n == 0 ? (R)0 : fraction((R)1, about.n));
    const R m2 = about.m2 - about.n * square<R>(shift);
    return {about.n, about.mean + shift, m2 < 0 ? (R)0 : m2};
  }
};

/* Joins the states in `left` slots of one output as soon as they are posted, and makes the slots empty again. The
 * thread's first is at `at`, and it has every lanes-th of them; slots lie `padded` apart, words of a state `between`.
 * `lanes` is a power of 2. Each thread gets the total of what its warp has read. Hardly anything else runs then: the
 * time is that of waiting for loads, and several states are loaded together. */
template <class Op, int LOADS>
NDR_DEVICE typename Op::State join_slots(ndr_posted *at, int left, int lanes, i64 padded, i64 between) {
  const int words = Op::words, AT_ONCE = words == 1 ? LOADS : 1;
  running_total<Op> sum;
  i64 apart = machine::opaque(lanes * padded);
  at = (ndr_posted *)machine::opaque((i64)at);
#pragma unroll 1
  for (; left > 0; left -= AT_ONCE * lanes) {
    ndr_posted slot[AT_ONCE][words];
    bool here;
    do {
      ndr_posted *from = at;
      int behind = left; /* stepped, not multiplied: the multiples would take registers */
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
#pragma unroll
        for (int w = 0; w < words; w++) slot[u][w] = machine::look_at(behind > 0 ? from + w * between : at);
        from = (ndr_posted *)machine::opaque((i64)(from + apart));
        behind = (int)machine::opaque(behind - lanes);
      }
      here = true;
#pragma unroll
      for (int u = 0; u < AT_ONCE * words; u++) here = here && is_posted(slot[u / words][u % words]);
    } while (!here && machine::wait());
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      if (left <= u * lanes) break;
      ndr_word w[words];
#pragma unroll
      for (int i = 0; i < words; i++) {
        w[i] = word_of(slot[u][i]);
        machine::set_slot(at + i * between, {});
      }
      sum.add(Op::load(w));
      at += apart;
    }
  }
  typename Op::State a = sum.total();
  join_lane_states<Op>(a, lanes < NDR_WARP ? lanes : NDR_WARP);
  return a;
}

/* Joins the totals of the block's warps; thread 0 gets the block's. */
template <class Op> NDR_DEVICE void join_warps(typename Op::State &total) {
  const int warps = NDR_BLOCK / NDR_WARP;
  NDR_SHARED typename Op::State states[warps];
  int thread = machine::thread();
  if (thread % NDR_WARP == 0) states[thread / NDR_WARP] = total;
  machine::barrier();
  if (thread >= NDR_WARP) return;
  total = states[thread % warps];
  join_lane_states<Op>(total, warps);
}

/* Joins the splits of a tile's `outputs` outputs, from number `output` on, and writes output k to element place(k). The
 * block has posted its own states. The block with a group's last split waits for the group's others, and joins them;
 * the one with the last group's then joins the groups. Blocks start in the order of their numbers, so that whoever is
 * waited for is running or done. ONE: there is a single output, and the whole block joins it. LOADS: states of one word
 * that a thread loads at once; where the loops before leave few registers, they would be spilled there. */
template <class Op, bool ONE, int LOADS = NDR_JOIN_LOADS, class Place>
NDR_DEVICE void join_splits(const ndr_params &p, tile_split whose, i64 output, int outputs, const Place &place) {
  int group = split_groups_of(p) == 1 ? 0 : whose.split / p.group_splits,
      thread = (int)machine::opaque(machine::thread());
  i64 first = (i64)group * p.group_splits, padded = machine::opaque(p.padded);
  int count = (int)(splits_of(p) - first < p.group_splits ? splits_of(p) - first : p.group_splits);
  int log = ONE ? NDR_BLOCK_LOG : NDR_WARP_LOG;
  while (!ONE && log > 0 && outputs << log > NDR_BLOCK) log--;
  int lane = thread & ((1 << log) - 1);
  machine::barrier(); /* the block is done with shared memory */
  if (whose.split != first + count - 1) return;
#pragma unroll 1
  for (int level = 0; level < 2; level++) {
#pragma unroll 1
    for (int k = thread >> log; k - (thread >> log) < outputs; k += NDR_BLOCK >> log) {
      int inside = k < outputs ? k : 0; /* every lane of a warp takes part */
      typename Op::State total =
          join_slots<Op, LOADS>(p.partials + (first + lane) * padded + output + inside, k < outputs ? count - lane : 0,
                                1 << log, padded, p.slots * padded);
      if constexpr (ONE) join_warps<Op>(total);
      if (lane != 0 || k >= outputs) continue;
      if (level == 1 || split_groups_of(p) == 1)
        emit<Op>(p, place(k), total);
      else
        save_partial<Op>(p, splits_of(p) + group, output + k, total);
    }
    if (group != split_groups_of(p) - 1 || split_groups_of(p) == 1) return;
    machine::barrier();
    first = splits_of(p);
    count = split_groups_of(p);
  }
}

#endif
