/* Scans of lines that lie side by side, whose rows do not begin on sectors: see scan.cuh. A block has a strip of WIDTH
 * columns from the first row to the last, as in scan_columns_alone. In each row a strip ends, and the next one begins,
 * on the first sector of results behind its last column: so blocks write whole sectors, except where a row begins or
 * ends. For that a block also sums the columns that the next strip may leave to it, up to a sector of them. Where the
 * result is the array itself, a strip has its WIDTH columns in all rows.
 *
 * Elements and results have the same size. A tile is UNITS * E rows of a strip. Rows come in by whole vectors, and lie
 * in shared memory as far behind a boundary of these as in memory. Thread u * COLUMNS + c has E rows of column c, those
 * of unit u. */
#ifndef NDR_SCAN_SHIFTED_CUH
#define NDR_SCAN_SHIFTED_CUH

#include "scan.cuh"

template <class OP, class T, int E, int WIDTH, int BLOCK, u32 KNOWN> struct scan_shift {
  typedef typename OP::State State;
  typedef typename OP::result result;
  static const int COLUMNS = NDR_SCAN_SHIFT_COLUMNS(WIDTH, (int)sizeof(result)), UNITS = BLOCK / COLUMNS;
  static const int rows = UNITS * E;
  static const int vectors = NDR_SCAN_SHIFT_VECTORS(COLUMNS * (int)sizeof(T)), slot = vectors * 16;

  bool first, last;        /* it is the first, the last strip of its rows */
  int columns;             /* that it sums: COLUMNS, or fewer at the end of rows */
  bool ragged;             /* whole vectors might reach behind the end of a row, and so behind the array */
  bool over_array;         /* results go where elements are, so columns of the next strip may be results by now */
  u64 from, to;            /* the addresses of its first element and result */
  i64 pitch, result_pitch; /* bytes from row to row */

  NDR_DEVICE scan_shift(const ndr_scan_params &p, int item) {
    const int line = scan_divide(p.column_tiles, item), strip = item - line * (int)p.column_tiles.size;
    const i64 column = (i64)strip * WIDTH, left = p.axes[0].size.size - column;
    first = strip == 0;
    last = left <= WIDTH;
    ragged = left <= COLUMNS + 16 / (int)sizeof(T);
    columns = left < COLUMNS ? (int)left : COLUMNS;
    from = (u64)((const T *)p.data[0] + offset<of_array<0>>(p, line) + column);
    to = (u64)((result *)p.result + offset<of_result>(p, line) + column);
    over_array = from == to;
    const ndr_scan_param_axis &axis = p.axes[p.kept_count];
    pitch = of_array<0>::stride(axis) * (i64)sizeof(T);
    result_pitch = of_result::stride(axis) * (i64)sizeof(result);
  }
  /* Of lines that lie side by side, in elements. */
  template <class WHICH> static NDR_DEVICE i64 offset(const ndr_scan_params &p, int line) {
    return scan_walk<WHICH>(p, 1, p.kept_count - 1, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line);
  }

  /* Dynamic shared memory has two rooms for tiles; each result takes the place of its element. */
  static NDR_DEVICE unsigned char *bytes_of(int room) { return machine::shared_bytes() + room * rows * slot; }

  /* Calls f(row, vector, address) for each vector that the thread moves of the first `count` rows: the vector's number
   * in its row, and the address of the row's first column. That of row 0 is `top`, those of the next are `pitch` apart.
   */
  template <class F> static NDR_DEVICE void each_vector(u64 top, i64 pitch, int count, const F &f) {
    const int ABREAST = BLOCK / vectors, thread = machine::thread(), first_row = thread / vectors;
    const u64 step = (u64)(ABREAST * pitch);
    u64 address = top + (u64)(first_row * pitch);
    if (first_row >= ABREAST) return;
#pragma unroll
    for (int row = 0; row < rows; row += ABREAST, address += step)
      if (first_row + row < count) f(first_row + row, thread - first_row * vectors, address);
  }
  /* Calls f(row, address) for each row that the thread has of these: for what vectors leave at the ends of rows. */
  template <class F> static NDR_DEVICE void each_row(u64 top, i64 pitch, int count, const F &f) {
#pragma unroll 1
    for (int row = machine::thread(); row < count; row += BLOCK) f(row, top + (u64)(row * pitch));
  }

  /* Starts to bring in `count` rows, the first of which is at `top`. The first vector of a row may begin before the
   * array. */
  NDR_DEVICE void fetch(u64 top, int count, int room) const {
    typedef typename scan_unit<alignof(T)>::type unit;
    const int bytes = columns * (int)sizeof(T), whole = ragged ? bytes - 15 : bytes;
    unsigned char *const to_room = bytes_of(room);
    each_vector(top, pitch, count, [=](int row, int vector, u64 address) {
      if (vector * 16 < (int)(address & 15) + whole)
        machine::copy_vector(to_room + row * slot + vector * 16,
                             (const unsigned char *)(address & ~(u64)15) + vector * 16);
    });
    if (ragged)
      each_row(top, pitch, count, [=](int row, u64 address) {
        const int phase = (int)(address & 15), end = phase + bytes;
        for (int at = end >= 16 ? end & ~15 : phase; at < end; at += (int)sizeof(unit))
          scan_copy_unit((unit *)(to_room + row * slot + at), (const unit *)(address - (u64)phase + (u64)at));
      });
    machine::group_copies();
  }

  /* Bytes from an address to the next sector. */
  static NDR_DEVICE int sector_behind(u32 address) {
    return -(int)address & (NDR_SCAN_SECTOR - 1);
  }
  /* Which results of a row the block writes, in bytes behind the strip's first column. */
  NDR_DEVICE int begin_of(u64 address) const {
    return first || over_array ? 0 : sector_behind((u32)address);
  }
  NDR_DEVICE int end_of(u64 address) const {
    const int width = WIDTH * (int)sizeof(result), bytes = columns * (int)sizeof(result),
              end = width + sector_behind((u32)address + (u32)width);
    if (over_array) return width < bytes ? width : bytes;
    return last || end > bytes ? bytes : end;
  }

  /* Writes `count` rows of results, each from a sector to a sector, the first to `top`. Their elements came from
   * `from_top` on. */
  NDR_DEVICE void write(u64 top, u64 from_top, int count, int room) const {
    typedef typename scan_unit<alignof(result)>::type unit;
    const unsigned char *const from_room = bytes_of(room);
    const bool alike = top % 16 == from_top % 16 && (pitch - result_pitch) % 16 == 0;
    if (alike)
      each_vector(top, result_pitch, count, [=](int row, int vector, u64 address) {
        const int place = vector * 16 - (int)(address & 15);
        if (place >= begin_of(address) && place + 16 <= end_of(address))
          *(ndr_vector *)(address + (u64)place) = *(const ndr_vector *)(from_room + row * slot + vector * 16);
      });
    if (alike && !first && !ragged && !over_array) return;
    each_row(top, result_pitch, count, [=](int row, u64 address) {
      const u64 came_from = alike ? address : from_top + (u64)(row * pitch); /* or as far behind a boundary */
      const unsigned char *const source = from_room + row * slot + (came_from & 15);
      const int begin = begin_of(address), end = end_of(address), past = (int)(address & 15);
      const int head = ((begin + past + 15) & ~15) - past,
                tail = ((end + past) & ~15) - past; /* vectors between them */
      for (int at = begin; at < end; at += (int)sizeof(unit)) {
        if (alike && at == head && tail > head) at = tail;
        if (at < end) *(unit *)(address + (u64)at) = *(const unit *)(source + at);
      }
    });
  }

  /* The phases of a thread's rows, one after the other: how far behind a boundary of vectors they begin. */
  struct phases {
    u32 address, step;
    NDR_DEVICE phases(u64 top, i64 pitch, int row) : address((u32)top + (u32)row * (u32)pitch), step((u32)pitch) {}
    NDR_DEVICE int at(int e) const { return (int)((address + (u32)e * step) & 15); }
  };

  /* The total of a thread's rows in one column. `own`: where the first lies, but for its phase. */
  static NDR_DEVICE State total(const ndr_scan_params &p, const unsigned char *own, const phases &phase) {
    State s = scan_value<OP>(p, *(const T *)(own + phase.at(0)));
#pragma unroll
    for (int e = 1; e < E; e++) s = OP::joined(s, scan_value<OP>(p, *(const T *)(own + e * slot + phase.at(e))));
    return s;
  }
  /* Puts the results of these rows. `run`: what stands before them, if there is `any`. Returns the last value. */
  static NDR_DEVICE State put(const ndr_scan_params &p, unsigned char *own, const phases &phase, State run, bool any) {
#pragma unroll
    for (int e = 0; e < E; e++) {
      unsigned char *const place = own + e * slot + phase.at(e);
      State s[1] = {scan_value<OP>(p, *(const T *)place)};
      const bool fresh = e == 0 && !any;
      if (!fresh) s[0] = OP::joined(run, s[0]);
      scan_store<OP, KNOWN>(p, (result *)place, s, 0, run, fresh);
      run = s[0];
    }
    return run;
  }
};

template <class OP, int E, int WIDTH, int BLOCK, u32 KNOWN, class T>
NDR_DEVICE void scan_shifted_of(const ndr_scan_params &p, array_list<T>) {
  typedef typename OP::State State;
  typedef scan_shift<OP, T, E, WIDTH, BLOCK, KNOWN> strip_type;
  const int UNITS = strip_type::UNITS, COLUMNS = strip_type::COLUMNS, rows = strip_type::rows;
  NDR_SHARED State totals[2][UNITS > 1 ? UNITS * COLUMNS : 1]; /* of units, of tiles in turn */
  const int unit = machine::thread() / COLUMNS, column = machine::thread() - unit * COLUMNS;
#pragma unroll 1
  for (int item = (int)machine::block(); item < p.items; item += (int)machine::blocks()) {
    const strip_type t(p, item);
    const bool here = unit < UNITS && column < t.columns;
    State run = OP::identity(); /* the value of the row before a tile */
    u64 from = t.from, to = t.to;
    i64 left = p.length.size; /* rows */
    t.fetch(from, left < rows ? (int)left : rows, 0);
#pragma unroll 1
    for (int tile = 0; tile < p.tiles; tile++) {
      const int room = tile & 1, count = left < rows ? (int)left : rows;
      const u64 next_from = from + (u64)(rows * t.pitch);
      left -= count;
      machine::await_copies<0>();
      machine::barrier();
      t.fetch(next_from, left < rows ? (int)left : rows, 1 - room);
      const typename strip_type::phases phases(from, t.pitch, unit * E);
      unsigned char *const own = t.bytes_of(room) + unit * E * strip_type::slot + column * (int)sizeof(T);
      State before = run; /* the thread's rows */
      bool any = tile > 0;
      if constexpr (UNITS > 1) {
        if (here) totals[room][unit * COLUMNS + column] = t.total(p, own, phases);
        machine::barrier();
        if (here) {
#pragma unroll
          for (int u = 0; u < UNITS; u++) {
            if (u == unit) before = run, any = tile > 0 || u > 0;
            const State more = totals[room][u * COLUMNS + column];
            run = tile > 0 || u > 0 ? OP::joined(run, more) : more;
          }
        }
      }
      if (here) {
        const State value = t.put(p, own, phases, before, any);
        if (UNITS == 1) run = value;
      }
      machine::barrier();
      t.write(to, from, count, room);
      from = next_from;
      to += (u64)(rows * t.result_pitch);
    }
    machine::barrier(); /* the next strip's first tile comes in where the last ones are written from */
  }
}

template <class OP, class Arrays, int E, int WIDTH, int BLOCK, u32 KNOWN>
NDR_DEVICE void scan_shifted(const ndr_scan_params &p) {
  scan_shifted_of<OP, E, WIDTH, BLOCK, KNOWN>(p, Arrays{});
}

#endif
