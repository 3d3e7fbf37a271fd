/* What blocks of zones.cuh have in shared memory: states, tiles of arrays, and the steps that they work on. */
#ifndef NDR_ZONES_TILE_CUH
#define NDR_ZONES_TILE_CUH

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
  NDR_DEVICE int copy(const ndr_program_params &, const Spot &, int, int, int, int, unsigned char *, u8 *,
                      machine::copy_barrier *) const {
    return 0;
  }
  NDR_DEVICE void find(const ndr_params &, const unsigned char *, const u8 *, int, const unsigned char **) const {}
  template <class Value> NDR_DEVICE void set(Value &, const unsigned char *const *, int) const {}
};
template <class T, class... Rest, int K> struct tile_arrays<array_list<T, Rest...>, K> {
  tile_arrays<array_list<Rest...>, K + 1> rest;

  /* Bytes of a row, which may begin anywhere in its first vector. */
  static NDR_DEVICE int pitch(const ndr_params &p) { return (p.table.tiles.width * (int)sizeof(T) + 31) & ~15; }

  /* Starts to copy row r: `length` elements along the labels' axis from a place on. This thread copies vector number
   * `thread` and every `threads`-th after it; bulks are thread 0's. Notes where in its first vector the row begins.
   * Returns the bytes of the bulks that this thread has started. */
  template <class Spot>
  NDR_DEVICE int copy(const ndr_program_params &q, const Spot &at, int r, int length, int thread, int threads,
                      unsigned char *shared, u8 *phases, machine::copy_barrier *bulks) const {
    const int axis = kept_count(q.base), bytes = length * (int)sizeof(T), row_bytes = pitch(q.base);
    const char *from = at.at[K];
    unsigned char *to = shared + r * row_bytes;
    i64 stride = array_stride(q, K, axis);
    int phase = stride == 1 ? (int)((unsigned long long)from & 15) : 0;
    int started = 0;
    if (stride == 1) {
      int whole = (phase + bytes) >> 4;
      if constexpr (machine::copies_bulks()) {
        if (thread == 0 && whole > 0) {
          started = 16 * whole;
          machine::copy_bulk(to, from - phase, started, bulks);
        }
      } else {
        copy_vectors(to, from - phase, whole, thread, threads);
      }
      copy_rest(to + phase, from, 16 * whole - phase, bytes, thread, threads);
    } else {
      copy_elements(to, from, stride, length, thread, threads);
    }
    if (thread == 0) phases[K * NDR_TILE_ROWS + r] = (u8)phase;
    return started + rest.copy(q, at, r, length, thread, threads, shared + q.base.table.tiles.step_rows * row_bytes,
                               phases, bulks);
  }
  static NDR_DEVICE void copy_vectors(unsigned char *to, const char *from, int count, int thread, int threads) {
#pragma unroll 4
    for (int v = thread; v < count; v += threads) machine::copy_vector(to + 16 * v, from + 16 * v);
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
      if constexpr (at_once >= 4)
        machine::copy_element((copied *)(to + i), (const copied *)(from + i));
      else
        *(copied *)(to + i) = *(const copied *)(from + i);
    }
  }

  /* Where row r of each array begins. */
  NDR_DEVICE void find(const ndr_params &p, const unsigned char *shared, const u8 *phases, int r,
                       const unsigned char **begins) const {
    const int row_bytes = pitch(p);
    begins[K] = shared + r * row_bytes + phases[K * NDR_TILE_ROWS + r];
    rest.find(p, shared + p.table.tiles.step_rows * row_bytes, phases, r, begins);
  }

  /* Hands element i of a row to a value. */
  template <class Value> NDR_DEVICE void set(Value &x, const unsigned char *const *begins, int i) const {
    x.template set<K>(*(const T *)(begins[K] + i * (int)sizeof(T)));
    rest.set(x, begins, i);
  }
};

/* ---- what a block works on ---- */

/* n / by and what is left over. Most launches divide by 1. */
NDR_DEVICE quotient divide_mostly_one(i64 n, i64 by) {
  i64 whole = by == 1 ? n : n / by;
  return {whole, n - whole * by};
}

/* One step of a block: one tile of a few rows of its item. The next steps are the same tile of the item's other rows,
 * whose lists the first-level cache still has, then the next tile, then the next item. One thread finds the steps, and
 * keeps them in shared memory: they would take all threads' registers. */
struct tile_step {
  i64 item, number, end; /* number counts tiles and combinations of the other reduced axes, up to the part's end */
  i64 first_row, unit, tile;
  int item_rows, row, rows, part;               /* of the item; the step's first of them, and how many it has */
  int begin_label, labels, first_group, groups; /* of the tile */
  int tasks, task_count, joins, join_count;     /* of its lists */
  int join_lanes_log; /* log2 of the lanes that join the pieces of a group: as many, of one warp, as let the block join
                         all groups of the step at once; else 0, one lane */

  NDR_DEVICE void begin(const ndr_params &p, i64 item_) {
    const ndr_param_tiles &own = p.table.tiles;
    item = item_;
    quotient of = p.table.parts == 1 ? quotient{0, item} : divide_mostly_one(item, own.row_blocks);
    range tiles = units_of(p, of.whole);
    part = (int)of.whole;
    number = tiles.begin;
    end = tiles.end;
    quotient place = divide_mostly_one(number, own.units);
    tile = place.whole;
    unit = place.rest;
    first_row = of.rest * own.rows;
    item_rows = p.padded - first_row < own.rows ? (int)(p.padded - first_row) : own.rows;
    take_rows(p, 0);
  }
  NDR_DEVICE bool is_last() const { return number + 1 == end && row + rows == item_rows; }
  NDR_DEVICE void advance(const ndr_params &p) {
    i64 before = tile;
    int rows_before = rows;
    if (is_last()) {
      item += machine::blocks();
      if (item >= p.work) return;
      begin(p, item);
    } else if (row + rows < item_rows) {
      take_rows(p, row + rows);
    } else {
      take_rows(p, 0);
      number++;
      if (++unit == p.table.tiles.units) {
        unit = 0;
        tile++;
      }
    }
    if (tile != before || rows != rows_before) find_lists(p);
  }
  NDR_DEVICE void find_lists(const ndr_params &p) {
    i64 head = 8 + 8 * tile;
    tasks = table_int(p, head);
    task_count = table_int(p, head + 1) - tasks;
    joins = table_int(p, head + 2);
    join_count = table_int(p, head + 3) - joins;
    begin_label = table_int(p, head + 4);
    labels = table_int(p, head + 5);
    first_group = table_int(p, head + 6);
    groups = table_int(p, head + 7);
    join_lanes_log = 0;
    while (join_lanes_log < NDR_WARP_LOG && join_count * rows << (join_lanes_log + 1) <= NDR_BLOCK) join_lanes_log++;
  }

private:
  NDR_DEVICE void take_rows(const ndr_params &p, int from) {
    row = from;
    rows = item_rows - row < p.table.tiles.step_rows ? item_rows - row : p.table.tiles.step_rows;
  }
};

#endif
