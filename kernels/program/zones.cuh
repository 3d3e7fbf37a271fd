/* Groups whose labels lie along the fastest axis: a block copies tiles of labels to shared memory, and has the states
 * of all groups there (ndr_param_tiles in params.h). Compiled at run time, as operands.cuh is, for any operators and
 * arrays.
 *
 * The labels of a tile are sorted by group, and groups by their number of labels, so that the lanes of a warp have
 * about as many each: a lane adds up a group, or, where that is large, a piece of it. */
#ifndef NDR_ZONES_CUH
#define NDR_ZONES_CUH

#include "table.cuh"

/* ---- states in shared memory ---- */

/* `count` states, word-major. */
template <class Op> struct shared_states {
  ndr_word *words;
  int count;
  NDR_DEVICE typename Op::State get(int i) const {
    ndr_word w[Op::words];
#pragma unroll
    for (int k = 0; k < Op::words; k++) w[k] = words[k * count + i];
    return Op::load(w);
  }
  NDR_DEVICE void put(int i, const typename Op::State &state) const {
    ndr_word w[Op::words];
    Op::save(state, w);
#pragma unroll
    for (int k = 0; k < Op::words; k++) words[k * count + i] = w[k];
  }
  NDR_DEVICE void join(int i, const typename Op::State &state) const {
    typename Op::State total = get(i);
    Op::join_states(total, state);
    put(i, total);
  }
};

/* ---- tiles ---- */

enum { NDR_TILE_ROWS = 64, NDR_NOWHERE = -2147483647 - 1 };

/* A tile of all arrays of a list, from number K on: `rows` rows of each array, one array after the other. */
template <class List, int K> struct tile_arrays {
  template <class Spot>
  NDR_DEVICE void copy(const ndr_program_params &, const Spot &, int, int, int, int, unsigned char *, u8 *) const {}
  NDR_DEVICE void find(const ndr_params &, const unsigned char *, const u8 *, int, const unsigned char **) const {}
  template <class Value> NDR_DEVICE void set(Value &, const unsigned char *const *, int) const {}
};
template <class T, class... Rest, int K> struct tile_arrays<array_list<T, Rest...>, K> {
  tile_arrays<array_list<Rest...>, K + 1> rest;

  /* Bytes of a row, which may begin anywhere in its first vector. */
  static NDR_DEVICE int pitch(const ndr_params &p) { return (p.table.tiles.width * (int)sizeof(T) + 31) & ~15; }

  /* Starts to copy row r: `length` elements along the labels' axis from a place on, with every `threads`-th thread from
   * `thread` on. Notes where in its first vector the row begins. */
  template <class Spot>
  NDR_DEVICE void copy(const ndr_program_params &q, const Spot &at, int r, int length, int thread, int threads,
                       unsigned char *shared, u8 *phases) const {
    const int axis = kept_count(q.base), bytes = length * (int)sizeof(T), row_bytes = pitch(q.base);
    const char *from = at.at[K];
    unsigned char *to = shared + r * row_bytes;
    i64 stride = array_stride(q, K, axis);
    int phase = stride == 1 ? (int)((unsigned long long)from & 15) : 0;
    if (phase % part_of<T>::bytes == 0 && stride == 1) {
      const char *first = from - phase;
      int whole = (phase + bytes) >> 4;
#pragma unroll 4
      for (int v = thread; v < whole; v += threads) machine::copy_vector(to + 16 * v, first + 16 * v);
      copy_rest(to + phase, from, 16 * whole - phase, bytes, thread, threads);
    } else {
      copy_elements(to, from, stride, length, thread, threads);
    }
    if (thread == 0) phases[K * NDR_TILE_ROWS + r] = (u8)phase;
    rest.copy(q, at, r, length, thread, threads, shared + q.base.table.tiles.rows * row_bytes, phases);
  }
  static NDR_DEVICE void copy_elements(unsigned char *to, const char *from, i64 stride, int length, int thread,
                                       int threads) {
#pragma unroll 1
    for (int i = thread; i < length; i += threads) {
      chunk<T, 1> one;
      load_one<T, true>(one, from + i * stride * (int)sizeof(T));
      *(T *)(to + i * (int)sizeof(T)) = one.element[0];
    }
  }
  /* Copies the bytes behind the last whole vector, or all where there is none. */
  static NDR_DEVICE void copy_rest(unsigned char *to, const char *from, int first, int bytes, int thread, int threads) {
    const int at_once = part_of<T>::bytes;
    typedef
        typename choose<at_once == 8, u64,
                        typename choose<at_once == 4, u32, typename choose<at_once == 2, u16, u8>::type>::type>::type
            copied;
#pragma unroll 1
    for (int i = (first < 0 ? 0 : first) + at_once * thread; i < bytes; i += at_once * threads) {
      union {
        u32 word[2];
        copied whole;
      } view;
      machine::load_bytes<at_once, true>(view.word, from + i);
      *(copied *)(to + i) = view.whole;
    }
  }

  /* Where row r of each array begins. */
  NDR_DEVICE void find(const ndr_params &p, const unsigned char *shared, const u8 *phases, int r,
                       const unsigned char **begins) const {
    const int row_bytes = pitch(p);
    begins[K] = shared + r * row_bytes + phases[K * NDR_TILE_ROWS + r];
    rest.find(p, shared + p.table.tiles.rows * row_bytes, phases, r, begins);
  }

  /* Hands element i of a row to a value. */
  template <class Value> NDR_DEVICE void set(Value &x, const unsigned char *const *begins, int i) const {
    x.template set<K>(*(const T *)(begins[K] + i * (int)sizeof(T)));
    rest.set(x, begins, i);
  }
};

/* ---- what a block works on ---- */

template <class Op, class Kit, class Arrays> struct tile_block {
  typedef typename Kit::spot spot;
  typedef typename Kit::value value;
  typedef typename Op::Accumulator Accumulator;
  static const bool single = Op::indexed || Kit::places > 0; /* as in gatherer */

  const ndr_program_params &q;
  const ndr_params &p;
  const ndr_param_tiles &own;
  shared_states<Op> totals, pieces; /* by row and group; by row and piece */
  unsigned char *data;
  u8 *phases;
  i64 first_row;
  int rows;
  tile_arrays<Arrays, 0> arrays;

  NDR_DEVICE tile_block(const ndr_program_params &q_, u8 *phases_)
      : q(q_), p(q_.base), own(q_.base.table.tiles), phases(phases_), first_row(0), rows(0) {
    ndr_word *words = (ndr_word *)machine::shared_bytes();
    totals = {words, own.rows * own.groups};
    words += Op::words * totals.count;
    pieces = {words, own.rows * own.pieces};
    words += Op::words * pieces.count;
    data = (unsigned char *)words + ((unsigned long long)words & 8);
  }

  NDR_DEVICE void begin(i64 row_block) {
    i64 outputs = p.padded;
    first_row = row_block * own.rows;
    rows = outputs - first_row < own.rows ? (int)(outputs - first_row) : own.rows;
    for (int i = machine::thread(); i < totals.count; i += NDR_BLOCK) totals.put(i, Op::state_identity());
  }

  /* Where row r of a tile begins, for one combination of the other reduced axes. */
  NDR_DEVICE spot find(int r, i64 unit, i64 tile) const {
    const int axis = kept_count(p);
    spot at = spot::start(q);
    at.template walk<true>(q, 0, axis, first_row + r);
    at.template walk<false>(q, axis + 1, reduced_count(p) - 1, unit);
    at.step(q, axis, tile * own.width);
    return at;
  }

  NDR_DEVICE void copy(i64 unit, i64 tile) {
    i64 left = p.axes[kept_count(p)].size - tile * own.width;
    int threads = 1 << own.row_threads_log, r = machine::thread() >> own.row_threads_log;
    if (r < rows)
      arrays.copy(q, find(r, unit, tile), r, (int)(left < own.width ? left : own.width),
                  machine::thread() & (threads - 1), threads, data, phases);
    machine::group_copies();
  }

  /* ---- adding up ---- */

  /* A row of the tile: where it begins in each array, and in the problem. */
  struct tile_row {
    const unsigned char *begins[Arrays::count];
    spot at; /* used where an operator asks for places */
  };
  NDR_DEVICE tile_row row_of(int r, i64 unit, i64 tile) const {
    tile_row row = {{}, spot::start(q)};
    arrays.find(p, data, phases, r, row.begins);
    if constexpr (single) row.at = find(r, unit, tile);
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

  static NDR_DEVICE void unpack_labels(const u32 *word, int *label) {
#pragma unroll
    for (int i = 0; i < 4; i++) label[i] = (int)(word[i / 2] >> 16 * (i & 1) & 0xffff);
  }

  /* Adds up a lane's labels, which come four at a time: eight are loaded while the eight before are folded. */
  NDR_DEVICE Accumulator add_up(const tile_row &row, const int *entries, int left) const {
    Accumulator a = Op::identity();
    u32 next[4] = {0, 0, 0, 0};
    if (left >= 8) load_eight(next, entries);
#pragma unroll 1
    while (left >= 8) {
      int label[8];
      unpack_labels(next, label);
      unpack_labels(next + 2, label + 4);
      left -= 8, entries += 4 * NDR_WARP;
      if (left >= 8) load_eight(next, entries);
      fold<8>(a, row, label);
    }
#pragma unroll 1
    for (; left > 0; left -= 4, entries += 2 * NDR_WARP) {
      u32 word[2];
      int label[4];
      machine::load_bytes<8, true>(word, entries);
      unpack_labels(word, label);
      if (left >= 4) {
        fold<4>(a, row, label);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 3; i++) {
        int one[1] = {label[i]};
        if (i < left) fold<1>(a, row, one);
      }
    }
    return a;
  }
  static NDR_DEVICE void load_eight(u32 (&word)[4], const int *entries) {
    u32 second[2];
    machine::load_bytes<8, true>(word, entries);
    machine::load_bytes<8, true>(second, entries + 2 * NDR_WARP);
    word[2] = second[0], word[3] = second[1];
  }

  /* What a lane does in a task. */
  struct lane_work {
    int row, count;
    int to;   /* group, or piece -1 - to, or NDR_NOWHERE */
    i64 from; /* its first entry, in units of 8 bytes */
  };
  /* n: the number of the task among those of all rows, which have `tasks` each, from task `begin` on. */
  NDR_DEVICE lane_work work_of(int n, int begin, int tasks) const {
    int row = n / tasks, task = begin + n - row * tasks, lane = machine::thread() & (NDR_WARP - 1);
    u32 word[2];
    machine::load_bytes<8, true>(word, p.table.table + table_int(p, 1) + 2 * (i64)(task * NDR_WARP + lane));
    return {row, (int)word[0], (int)word[1], (i64)table_int(p, table_int(p, 0) + task) + lane};
  }

  /* The tasks of a tile, and what a lane does first. Read while the tile is copied. */
  struct task_list {
    int begin, count;
    lane_work first;
  };
  NDR_DEVICE task_list tasks_of(i64 tile) const {
    task_list t = {table_int(p, 8 + 4 * tile), table_int(p, 9 + 4 * tile), {0, 0, NDR_NOWHERE, 0}};
    t.count -= t.begin;
    int n = machine::thread() >> NDR_WARP_LOG;
    if (n < t.count * rows) t.first = work_of(n, t.begin, t.count);
    return t;
  }

  /* Runs the tasks of all rows: a warp takes one after the other, and reads the next one while this one runs. */
  NDR_DEVICE void run(const task_list &t, i64 unit, i64 tile) const {
    const int *entries = p.table.table + table_int(p, 3);
    const int warps = NDR_BLOCK / NDR_WARP, all = t.count * rows;
    lane_work next = t.first;
    for (int n = machine::thread() >> NDR_WARP_LOG; n < all; n += warps) {
      lane_work now = next;
      if (n + warps < all) next = work_of(n + warps, t.begin, t.count);
      if (now.to == NDR_NOWHERE) continue;
      typename Op::State state = Op::widen(add_up(row_of(now.row, unit, tile), entries + 2 * now.from, now.count));
      if (now.to >= 0)
        totals.join(now.row * own.groups + now.to, state);
      else
        pieces.put(now.row * own.pieces - 1 - now.to, state);
    }
  }

  /* Joins the pieces of groups that have several. A group gets 2^log lanes of a warp: the most with which the block
   * takes all groups at once, or one. */
  NDR_DEVICE void join(i64 tile) const {
    int begin = table_int(p, 10 + 4 * tile), count = table_int(p, 11 + 4 * tile) - begin, all = count * rows, log = 0;
    while (log < NDR_WARP_LOG && all << (log + 1) <= NDR_BLOCK) log++;
    int lanes = 1 << log, lane = machine::thread() & (lanes - 1), joins_at = table_int(p, 2);
    for (int first = 0; first < all; first += NDR_BLOCK >> log) {
      int n = first + (machine::thread() >> log), r = 0, group = 0;
      typename Op::State total = Op::state_identity();
      if (n < all) {
        r = n / count;
        i64 at = joins_at + 4 * (i64)(begin + n - r * count);
        group = table_int(p, at);
        int end = table_int(p, at + 2);
        for (int i = table_int(p, at + 1) + lane; i < end; i += lanes)
          Op::join_states(total, pieces.get(r * own.pieces + i));
      }
      join_lane_states<Op>(total, lanes);
      if (lane == 0 && n < all) totals.join(r * own.groups + group, total);
    }
  }

  /* ---- results ---- */

  /* Writes the totals, or puts them in the slots of a part. */
  NDR_DEVICE void put(int part) const {
    for (int i = machine::thread(); i < rows * own.groups; i += NDR_BLOCK) {
      int r = i / own.groups, group = i - r * own.groups;
      typename Op::State state = totals.get(i);
      if (p.table.parts == 1) {
        emit<Op>(p, locate_kept(p, 0, first_row + r).result + group * p.table.group_step, state);
        continue;
      }
      ndr_word w[Op::words],
          *slot = (ndr_word *)p.partials + ((first_row + r) * p.table.parts + part) * own.groups + group;
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
  tile_block<Op, Kit, Arrays> block(q, phases);
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 part = item / p.table.tiles.row_blocks;
    range tiles = units_of(p, part); /* of all combinations */
    block.begin(item - part * p.table.tiles.row_blocks);
    for (i64 number = tiles.begin; number < tiles.end; number++) {
      i64 unit = number / p.table.tiles.tiles, tile = number - unit * p.table.tiles.tiles;
      block.copy(unit, tile);
      auto tasks = block.tasks_of(tile);
      machine::await_copies<0>();
      machine::barrier();
      block.run(tasks, unit, tile);
      machine::barrier();
      block.join(tile);
    }
    machine::barrier();
    block.put((int)part);
    machine::barrier();
  }
}

#endif
