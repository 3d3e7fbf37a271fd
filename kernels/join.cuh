/* Joins accumulators and states: those of a warp's lanes, of a block's threads, and of the splits of an output. */
#ifndef NDR_JOIN_CUH
#define NDR_JOIN_CUH

#include "posted.cuh"
#include "walk.cuh"

/* ---- trees ---- */

/* A trivially copyable accumulator or state, each word of which is exchanged. */
template <class S, class Exchange> NDR_DEVICE S by_words(const S &s, const Exchange &exchange) {
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
  return by_words(s, [mask](u32 word) { return machine::shuffle_xor(word, mask); });
}
/* What a lane of the warp has. */
template <class S> NDR_DEVICE S state_of_lane(const S &s, int lane) {
  return by_words(s, [lane](u32 word) { return machine::shuffle_from(word, lane); });
}

/* The first of the calling thread's `lanes` neighbours for which `bit` is true, or if there is none the first of all:
 * its number in the warp. All lanes of the warp call this, and what follows. */
NDR_DEVICE int first_lane(bool bit, int lanes) {
  const int from = machine::thread() & (NDR_WARP - lanes);
  const u32 bits = machine::ballot(bit) >> from & ((2u << (lanes - 1)) - 1);
  return bits ? from + machine::first_bit(bits) : from;
}

/* A tree over LANES neighbouring threads, or over `lanes` where LANES is 0: a power of 2, up to a warp. Each step joins
 * what another lane has, and each lane gets the total. */
template <int LANES, class S, class Join> NDR_DEVICE void join_tree(S &s, int lanes, const Join &join) {
#pragma unroll(LANES ? LANES : 1)
  for (int mask = (LANES ? LANES : lanes) >> 1; mask > 0; mask >>= 1) join(s, shuffle_state(s, mask));
}

/* Joins accumulators or states of such neighbours. */
template <int LANES, class S, class Join> NDR_DEVICE void join_neighbours(S &s, int lanes, const Join &join) {
  join_tree<LANES>(s, lanes, join);
}

/* What is neither infinite nor NaN; otherwise 0. */
template <class R> NDR_DEVICE R finite_part(R x) {
  return x - x == 0 ? x : (R)0;
}
template <class R> NDR_DEVICE complex<R> finite_part(complex<R> x) {
  return {finite_part(x.re), finite_part(x.im)};
}

/* The same of moments: the mean first, then the squared distances from it. Joined two by two they would wait for a
 * division each time. The mean is found by distances from that of a lane with elements: of equal elements all are 0. If
 * their sum overflows, so do their squares, whatever the mean. weighted_moments, a class derived from moments, is
 * joined as other states are. */
template <int LANES, class V, class R, class Join>
NDR_DEVICE void join_neighbours(moments<V, R> &a, int lanes, const Join &) {
  struct distances {
    R n;
    V sum;
  };
  const V pivot = state_of_lane(a.mean, first_lane(a.n != 0, LANES ? LANES : lanes));
  distances all = {a.n, scale(a.mean - pivot, a.n)};
  join_tree<LANES>(all, lanes, [](distances &x, const distances &y) { x = {x.n + y.n, x.sum + y.sum}; });
  const V mean = pivot + finite_part(scale(all.sum, all.n == 0 ? (R)0 : fraction((R)1, all.n)));
  R m2 = a.n == 0 ? (R)0 : a.m2 + a.n * square<R>(a.mean - mean);
  join_tree<LANES>(m2, lanes, [](R &x, const R &y) { x += y; });
  a = {all.n, mean, m2};
}

/* The same of exponentials: the maximum first, so that a lane takes one exponential, and not one for each step. */
template <int LANES, class R, class Join> NDR_DEVICE void join_neighbours(exponentials<R> &a, int lanes, const Join &) {
  R most = a.max;
  join_tree<LANES>(most, lanes, [](R &x, const R &y) { x = extreme<1, false>::join(x, y); });
  R sum = a.max == most ? a.sum : a.sum * exponential(a.max - most);
  join_tree<LANES>(sum, lanes, [](R &x, const R &y) { x += y; });
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

/* The same of moments, by distances from a pivot, which is one of their means: nothing waits for a division. The
 * relative error of m2 is at most that of one rounding, divided by the part of all elements that the pivot stands for:
 * so where it stands for too few, it moves. */
template <class Op, class V, class R> struct running_total<Op, moments<V, R>> {
  moments<V, R> seen; /* about seen.mean, the pivot */
  V sum;              /* of distances from it */
  NDR_DEVICE running_total() : seen{0, unit<V>(0), 0}, sum(unit<V>(0)) {}
  NDR_DEVICE void add(const moments<V, R> &s) {
    if (s.n == 0) return; /* its mean of 0 may be so far that the square is infinite */
    if (s.n > 1024 * seen.n) *this = moved(*this, s.mean);
    const V distance = s.mean - seen.mean;
    seen.n += s.n;
    seen.m2 += s.m2 + s.n * square<R>(distance);
    sum = sum + scale(distance, s.n);
  }
  NDR_CALLED running_total moved(running_total t, V pivot) {
    const V by = t.seen.n == 0 ? unit<V>(0) : pivot - t.seen.mean;
    t.seen.m2 += t.seen.n * square<R>(by) - finite_part(2 * inner_product(by, t.sum));
    t.sum = t.sum - scale(by, t.seen.n);
    t.seen.mean = pivot;
    return t;
  }
  /* Squares that overflow make m2 infinite. */
  NDR_DEVICE moments<V, R> total() const {
    const V shift = finite_part(scale(sum, seen.n == 0 ? (R)0 : fraction((R)1, seen.n)));
    const R m2 = seen.m2 - finite_part(seen.n * square<R>(shift));
    return {seen.n, seen.mean + shift, m2 < 0 ? (R)0 : m2};
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
  int thread = (int)machine::opaque(machine::thread());
  int group = split_groups_of(p) == 1 ? 0 : whose.split / p.group_splits;
  i64 first = (i64)group * p.group_splits, padded = machine::opaque(p.padded);
  int count = (int)(splits_of(p) - first < p.group_splits ? splits_of(p) - first : p.group_splits);
  int log = ONE ? NDR_BLOCK_LOG : NDR_WARP_LOG;
  while (!ONE && log > 0 && outputs << log > NDR_BLOCK) log--;
  int lane = thread & ((1 << log) - 1);
  if (whose.split != first + count - 1) return;
  machine::barrier(); /* all threads have posted before one of them waits */
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
