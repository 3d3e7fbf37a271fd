/* Scans of a band, which is up to 256 lines that lie side by side and fill their rows: see scan.cuh. Lines are cut into
 * chunks of p.tile rows, a block for each, and the kernel is started three times: p.pass 0 finds the total of each
 * chunk, 1 what stands before each, and 2 reads the chunks again and writes. So the array is read twice, but no tile
 * waits for another: in one pass, a tile of few columns has few bytes for each total that others wait for.
 *
 * A tile has UNITS * E rows, which are one stretch of memory, whatever the columns' number. Thread u * COLUMNS + c has
 * E rows of column c, those of unit u. */
#ifndef NDR_SCAN_BANDS_CUH
#define NDR_SCAN_BANDS_CUH

#include "scan.cuh"

template <class OP, class T, int E, int COLUMNS, int UNITS, u32 KNOWN> struct scan_band {
  typedef typename OP::State State;
  typedef typename OP::result result;
  static const int block = (UNITS * COLUMNS + NDR_WARP - 1) / NDR_WARP * NDR_WARP;
  static const int rows = UNITS * E, bytes = rows * COLUMNS * (int)sizeof(T);
  static const bool in_place = sizeof(T) == sizeof(result);

  struct states { /* in static shared memory: of all passes, as a kernel has the sum of what its functions declare */
    scan_shared<State, block> totals;
    State carried[2][COLUMNS]; /* the values of the row before a tile, in turn */
  };

  /* Dynamic shared memory has rooms for two tiles, and one for results unless each takes the place of its element. */
  static NDR_DEVICE unsigned char *room(int turn) { return machine::shared_bytes() + turn * NDR_SCAN_BAND_ROOM(bytes); }
  static NDR_DEVICE unsigned char *results(int turn) { return room(in_place ? turn : 2); }

  /* Where the row of a chunk of a line begins in an array. */
  template <class WHICH> static NDR_DEVICE i64 start(const ndr_scan_params &p, int line, i64 row) {
    return scan_walk<WHICH>(p, 1, p.kept_count - 1, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line) + row * COLUMNS;
  }

  /* Starts to bring in `count` rows from `from` on. */
  static NDR_DEVICE void fetch(const T *from, int count, int turn) {
    typedef typename scan_unit<alignof(T)>::type unit;
    const int size = (count < rows ? count : rows) * COLUMNS * (int)sizeof(T), thread = machine::thread();
    const int vectors = (u64)from % 16 == 0 ? size / 16 : 0;
    unsigned char *to = room(turn);
    const unsigned char *first = (const unsigned char *)from;
#pragma unroll 4
    for (int v = thread; v < vectors; v += block) machine::copy_vector(to + v * 16, first + v * 16);
#pragma unroll 4
    for (int at = vectors * 16 + thread * (int)sizeof(unit); at < size; at += block * (int)sizeof(unit)) {
      if constexpr (sizeof(unit) < 4)
        *(unit *)(to + at) = machine::load_element((const unit *)(first + at));
      else
        machine::copy_element((unit *)(to + at), (const unit *)(first + at));
    }
    machine::group_copies();
  }
  /* Writes the results of `count` rows. */
  static NDR_DEVICE void write(result *to, int count, int turn) {
    typedef typename scan_unit<alignof(result)>::type unit;
    const int size = (count < rows ? count : rows) * COLUMNS * (int)sizeof(result), thread = machine::thread();
    const int vectors = (u64)to % 16 == 0 ? size / 16 : 0;
    const unsigned char *from = results(turn);
    unsigned char *first = (unsigned char *)to;
#pragma unroll 4
    for (int v = thread; v < vectors; v += block)
      *(ndr_vector *)(first + v * 16) = *(const ndr_vector *)(from + v * 16);
#pragma unroll 4
    for (int at = vectors * 16 + thread * (int)sizeof(unit); at < size; at += block * (int)sizeof(unit))
      *(unit *)(first + at) = *(const unit *)(from + at);
  }
  /* The thread's element e of a tile. What lies behind the line's end is scanned, too, as no place depends on it. */
  static NDR_DEVICE State take(const ndr_scan_params &p, int turn, int unit, int column, int e) {
    return scan_value<OP>(p, ((const T *)room(turn))[(unit * E + e) * COLUMNS + column]);
  }

  /* Where word w of a chunk's total is, and after the second pass of what stands before the chunk. */
  static NDR_DEVICE ndr_word *total_of(const ndr_scan_params &p, i64 chunk, int column) {
    return p.totals + chunk * (OP::words * COLUMNS) + column;
  }
  static NDR_DEVICE void save(ndr_word *to, const State &state) {
    ndr_word w[OP::words];
    OP::save(state, w);
#pragma unroll
    for (int i = 0; i < OP::words; i++) to[i * COLUMNS] = w[i];
  }
  static NDR_DEVICE State load(const ndr_word *from) {
    ndr_word w[OP::words];
#pragma unroll
    for (int i = 0; i < OP::words; i++) w[i] = from[i * COLUMNS];
    return OP::load(w);
  }
};

/* The first pass, and if it WRITES the last one. */
template <bool WRITES, class OP, class T, int E, int COLUMNS, int UNITS, u32 KNOWN>
NDR_DEVICE void scan_band_chunk(const ndr_scan_params &p,
                                typename scan_band<OP, T, E, COLUMNS, UNITS, KNOWN>::states &states) {
  typedef scan_band<OP, T, E, COLUMNS, UNITS, KNOWN> band;
  typedef typename OP::State State;
  typedef typename OP::result result;
  const int item = (int)machine::block(), line = item / p.tiles, chunk = item - line * p.tiles;
  const int unit = machine::thread() / COLUMNS, column = machine::thread() % COLUMNS;
  const i64 first = (i64)chunk * p.tile, left = p.length.size - first;
  const int count = left < p.tile ? (int)left : p.tile;
  const T *const from = (const T *)p.data[0] + band::template start<of_array<0>>(p, line, first);
  result *const to = (result *)p.result + band::template start<of_result>(p, line, first);
  State run = OP::identity();                  /* of the last unit: the total so far */
  if (!WRITES && chunk == p.tiles - 1) return; /* nothing stands behind it */
  int turn = 0;
  if (WRITES && chunk > 0 && unit == 0) states.carried[0][column] = band::load(band::total_of(p, item, column));
  band::fetch(from, count, turn);
#pragma unroll 1
  for (int row = 0; row < count; row += band::rows, turn = 1 - turn) {
    machine::await_copies<0>();
    machine::barrier();
    if (row + band::rows < count)
      band::fetch(from + (i64)(row + band::rows) * COLUMNS, count - row - band::rows, 1 - turn);
    State total = OP::identity();
    if (unit < UNITS) {
      total = band::take(p, turn, unit, column, 0);
#pragma unroll
      for (int e = 1; e < E; e++) total = OP::joined(total, band::take(p, turn, unit, column, e));
    }
    scan_before<OP, UNITS, COLUMNS> before;
    total = before.find(states.totals, total, unit, column, 0, false);
    if (!WRITES) {
      run = row == 0 ? total : OP::joined(run, total);
      continue;
    }
    if (unit < UNITS) {
      State s[E], start = UNITS > 1 ? before.what[0] : OP::identity();
      bool any = UNITS > 1 && unit > 0;
      if (chunk > 0 || row > 0) {
        const State more = states.carried[turn][column];
        start = any ? OP::joined(more, start) : more;
        any = true;
      }
      result *const results = (result *)band::results(turn) + unit * E * COLUMNS + column;
#pragma unroll
      for (int e = 0; e < E; e++) {
        s[e] = band::take(p, turn, unit, column, e);
        if (e > 0 || any) s[e] = OP::joined(e > 0 ? s[e > 0 ? e - 1 : 0] : start, s[e]);
        scan_store<OP, KNOWN>(p, results + e * COLUMNS, s, e, start, e == 0 && !any);
      }
      if (unit == UNITS - 1) states.carried[1 - turn][column] = s[E - 1];
    }
    machine::barrier();
    band::write(to + (i64)row * COLUMNS, count - row, turn);
  }
  if (!WRITES && unit == UNITS - 1) band::save(band::total_of(p, item, column), run);
}

/* The second pass: what stands before each chunk takes the place of its total. A block has eight columns, whose chunks
 * its threads share in SPLITS parts. */
template <class OP, class T, int E, int COLUMNS, int UNITS, u32 KNOWN>
NDR_DEVICE void scan_band_totals(const ndr_scan_params &p,
                                 typename scan_band<OP, T, E, COLUMNS, UNITS, KNOWN>::states &states) {
  typedef scan_band<OP, T, E, COLUMNS, UNITS, KNOWN> band;
  typedef typename OP::State State;
  const int WIDTH = NDR_SCAN_BAND_TOTALS, SPLITS = band::block / WIDTH, across = (COLUMNS + WIDTH - 1) / WIDTH;
  const int split = machine::thread() / WIDTH, beside = machine::thread() % WIDTH;
  const int line = (int)machine::block() / across, column = ((int)machine::block() - line * across) * WIDTH + beside;
  const int own = (p.tiles + SPLITS - 1) / SPLITS, first = split * own;
  const int end = column >= COLUMNS || first >= p.tiles ? first : first + own < p.tiles ? first + own : p.tiles;
  const i64 chunks = (i64)line * p.tiles;
  State total = OP::identity();
#pragma unroll 4
  for (int c = first; c < end; c++) {
    const State more = band::load(band::total_of(p, chunks + c, column));
    total = c > first ? OP::joined(total, more) : more;
  }
  scan_before<OP, SPLITS, WIDTH> before;
  before.find(states.totals, total, split, beside, 0, false);
  State run = before.what[0];
#pragma unroll 4
  for (int c = first; c < end; c++) {
    ndr_word *const at = band::total_of(p, chunks + c, column);
    const State more = band::load(at);
    if (c > 0) band::save(at, run);
    run = c > 0 ? OP::joined(run, more) : more;
  }
}

template <class OP, int E, int COLUMNS, int UNITS, u32 KNOWN, class T>
NDR_DEVICE void scan_bands_of(const ndr_scan_params &p, array_list<T>) {
  NDR_SHARED typename scan_band<OP, T, E, COLUMNS, UNITS, KNOWN>::states states;
  if (p.pass == 0)
    scan_band_chunk<false, OP, T, E, COLUMNS, UNITS, KNOWN>(p, states);
  else if (p.pass == 1)
    scan_band_totals<OP, T, E, COLUMNS, UNITS, KNOWN>(p, states);
  else
    scan_band_chunk<true, OP, T, E, COLUMNS, UNITS, KNOWN>(p, states);
}
template <class OP, class Arrays, int E, int COLUMNS, int UNITS, u32 KNOWN>
NDR_DEVICE void scan_bands(const ndr_scan_params &p) {
  scan_bands_of<OP, E, COLUMNS, UNITS, KNOWN>(p, Arrays{});
}

#endif
