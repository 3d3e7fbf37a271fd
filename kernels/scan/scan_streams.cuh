/* Scans of streams: a stream is a line, or a few lines that lie side by side, whose rows follow each other in memory.
 * See scan.cuh. The array is read once. A tile is a stretch of a stream, of UNITS * E rows: thread u * COLUMNS + c has
 * E rows of column c, those of unit u.
 *
 * The first p.keepers blocks that run scan nothing. Each of their warps keeps a line: it reads the totals of the line's
 * tiles, which the other blocks post in a ring, and posts the sum of all totals before a tile in a box of the block
 * that has the tile. So a tile waits for two exchanges, however many tiles there are, and never for a block that has
 * not begun. Tiles that look at each other's totals (scan_lines) read more the more of them there are, and wait for a
 * prefix to pass from group to group.
 *
 * A block has a box for each of its rooms. Marks say which tile a slot of a ring or a box holds the word of. A ring has
 * 2^p.ring slots, at least as many as all blocks have rooms, and a warp's width more. So when tile t + 2^p.ring posts
 * its total, a tile of a later batch than tile t's has been written: the keeper needs the slot no more. */
#ifndef NDR_SCAN_STREAMS_CUH
#define NDR_SCAN_STREAMS_CUH

#include "scan.cuh"

/* What is posted of a line: the words of a state lie in rows of their own, a row of the ring or of boxes for each. */
struct scan_ring {
  ndr_posted *totals, *boxes;
  int log2_slots, box_count; /* of a row */

  /* `lines`: of all streams, each of which has COLUMNS of them. */
  NDR_DEVICE scan_ring(const ndr_scan_params &p, int words, int lines, int line)
      : log2_slots(p.ring), box_count(((int)machine::blocks() - p.keepers) * NDR_SCAN_TURNS) {
    totals = p.posted + ((i64)line * words << log2_slots);
    boxes = p.posted + ((i64)lines * words << log2_slots) + (i64)line * words * box_count;
  }
  NDR_DEVICE ndr_posted *total(int tile, int word) const {
    return totals + ((i64)word << log2_slots) + (tile & ((1 << log2_slots) - 1));
  }
  /* Blocks that scan are numbered as they begin, from 0: `worker`. */
  static NDR_DEVICE int box_of(int worker, int room) { return worker * NDR_SCAN_TURNS + room; }
  NDR_DEVICE ndr_posted *box(int number, int word) const { return boxes + (i64)word * box_count + number; }

  /* The marks of a total: the round, which counts how often tiles have filled the ring, and the round's low half with
   * the box that waits for what stands before the tile. */
  NDR_DEVICE u32 round(int tile) const { return (u32)(tile >> log2_slots) + 1; }
  static NDR_DEVICE u32 second_mark(u32 round, int box_number) { return round << 16 | (u32)box_number; }
  static NDR_DEVICE bool is_of_round(const ndr_posted &word, u32 round) {
    return mark_of(word, 0) == round && mark_of(word, 1) >> 16 == (round & 0xffffu);
  }
  static NDR_DEVICE int box_in(const ndr_posted &word) { return (int)(mark_of(word, 1) & 0xffffu); }
};

/* Posts what stands before a tile, in the box that its total named. */
template <class OP>
NDR_DEVICE void scan_answer(const scan_ring &ring, int tile, const scan_seen<OP> &total,
                            const typename OP::State &before) {
  const int number = ring.box_in(total.slot[0]);
  ndr_word words[OP::words];
  OP::save(before, words);
#pragma unroll
  for (int w = 0; w < OP::words; w++) machine::refill_slot(ring.box(number, w), posted(words[w], (u32)tile, (u32)tile));
}

/* One look at the totals of BATCHES batches: lane l of batch i has tile first + i * NDR_WARP + l. */
template <class OP, int BATCHES> struct scan_look {
  typedef typename OP::State State;
  scan_seen<OP> seen[BATCHES];
  bool here[BATCHES];  /* the total is there, or the line has no such tile */
  State upto[BATCHES]; /* the totals from the batch's first tile to the lane's, if all are here */

  NDR_DEVICE scan_look(const ndr_scan_params &p, const scan_ring &ring, int first, int lane) {
#pragma unroll
    for (int i = 0; i < BATCHES; i++)
#pragma unroll
      for (int w = 0; w < OP::words; w++)
        seen[i].slot[w] = machine::look_at(ring.total(first + i * NDR_WARP + lane, w));
#pragma unroll
    for (int i = 0; i < BATCHES; i++) {
      const int tile = first + i * NDR_WARP + lane;
      const u32 round = ring.round(tile);
      here[i] = true;
#pragma unroll
      for (int w = 0; w < OP::words; w++) here[i] = here[i] && ring.is_of_round(seen[i].slot[w], round);
      upto[i] = here[i] && tile < p.tiles ? seen[i].state() : OP::identity();
      here[i] = here[i] || tile >= p.tiles;
    }
#pragma unroll
    for (int step = 1; step < NDR_WARP; step *= 2)
#pragma unroll
      for (int i = 0; i < BATCHES; i++) {
        const State before = state_of_lane(upto[i], lane - step);
        if (lane >= step) upto[i] = OP::joined(before, upto[i]);
      }
  }
};

/* The warp that calls this keeps a line: it goes through its tiles, some batches of a warp's width at a time. A batch
 * is put together as the lanes of scan_before::find_by_warps are, and batches one after the other. */
template <class OP> NDR_DEVICE void scan_keep_line(const ndr_scan_params &p, const scan_ring &ring) {
  typedef typename OP::State State;
  const int BATCHES = OP::words > 2 ? 2 : 4, lane = machine::thread() & (NDR_WARP - 1);
  State run = OP::identity();  /* the total of the tiles before `first` */
  int first = 0, answered = 0; /* the first tile that is looked at, and lanes of its batch that have been answered */
#pragma unroll 1
  while (first < p.tiles && machine::wait()) {
    const scan_look<OP, BATCHES> look(p, ring, first, lane);
    int done = 0; /* batches */
#pragma unroll
    for (int i = 0; i < BATCHES; i++) {
      const u32 missing = ~machine::ballot(look.here[i]);
      const int tile = first + i * NDR_WARP + lane, count = missing ? machine::first_bit(missing) : NDR_WARP;
      const State near = state_of_lane(look.upto[i], lane - 1), total = state_of_lane(look.upto[i], NDR_WARP - 1);
      if (done < i) continue;
      if (lane >= answered && lane < count && tile > 0 && tile < p.tiles)
        scan_answer<OP>(ring, tile, look.seen[i], lane == 0 ? run : tile == lane ? near : OP::joined(run, near));
      if (count == NDR_WARP) {
        run = first + i == 0 ? total : OP::joined(run, total);
        done++;
        answered = 0;
      } else if (count > answered) {
        answered = count;
      }
    }
    first += done * NDR_WARP;
  }
}

/* A tile. */
template <class OP, class T, int E, int COLUMNS, int UNITS, int BLOCK, u32 KNOWN> struct scan_stream {
  typedef typename OP::State State;
  typedef typename OP::result result;
  static const int rows = UNITS * E;
  static const bool in_place = sizeof(T) == sizeof(result) && alignof(T) >= alignof(result);
  static const int room_bytes = NDR_SCAN_STREAM_ROOM(rows * COLUMNS * (int)sizeof(T));

  /* Dynamic shared memory has NDR_SCAN_TURNS rooms for tiles, and one for results unless each takes the place of its
   * element. In a room bytes lie as far behind a boundary of vectors as in memory. */
  static NDR_DEVICE unsigned char *bytes_of(int room) { return machine::shared_bytes() + room * room_bytes; }

  int line, tile; /* the stream's number, and the tile's in it */
  int count;      /* rows of the tile; 0: there is no such tile */
  const unsigned char *from;
  unsigned char *to;
  NDR_DEVICE scan_stream(const ndr_scan_params &p, int item) {
    tile = scan_divide(p.lines, item);
    line = item - tile * (int)p.lines.size;
    const i64 row = (i64)tile * rows, left = item < p.items ? p.length.size - row : 0;
    count = left < rows ? (int)left : rows;
    from = (const unsigned char *)((const T *)p.data[0] + offset<of_array<0>>(p) + row * COLUMNS);
    to = (unsigned char *)((result *)p.result + offset<of_result>(p) + row * COLUMNS);
  }
  /* Of the stream, in elements. */
  template <class WHICH> NDR_DEVICE i64 offset(const ndr_scan_params &p) const {
    const int beside = COLUMNS > 1;
    return scan_walk<WHICH>(p, beside, p.kept_count - beside, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line);
  }
  static NDR_DEVICE int phase_of(const unsigned char *address) { return (int)((u64)address % 16); }

  /* Starts to bring in the tile. The first vector may begin before the array. */
  NDR_DEVICE void fetch(int room) const {
    typedef typename scan_unit<alignof(T)>::type unit;
    const int phase = phase_of(from), end = phase + count * COLUMNS * (int)sizeof(T), whole = end & ~15;
    const unsigned char *const boundary = from - phase;
    unsigned char *const room_of_tile = bytes_of(room);
    if (count > 0) {
#pragma unroll 4
      for (int at = machine::thread() * 16; at < whole; at += BLOCK * 16)
        machine::copy_vector(room_of_tile + at, boundary + at);
      for (int at = (whole ? whole : phase) + machine::thread() * (int)sizeof(unit); at < end;
           at += BLOCK * (int)sizeof(unit))
        scan_copy_unit((unit *)(room_of_tile + at), (const unit *)(boundary + at));
    }
    machine::group_copies();
  }
  NDR_DEVICE const T *elements(int room) const {
    return (const T *)(bytes_of(room) + phase_of(from));
  }
  NDR_DEVICE unsigned char *results(int room) const {
    return in_place ? bytes_of(room) + phase_of(from) : bytes_of(NDR_SCAN_TURNS) + phase_of(to);
  }
  /* The total of a thread's rows, of which element `first` of the tile is the first. What lies behind the line's end is
   * scanned, too, as no place depends on it. */
  NDR_DEVICE State total(const ndr_scan_params &p, int room, int first) const {
    const T *const x = elements(room) + first;
    State s = scan_value<OP>(p, x[0]);
#pragma unroll
    for (int e = 1; e < E; e++) s = OP::joined(s, scan_value<OP>(p, x[e * COLUMNS]));
    return s;
  }
  /* Puts the results of a thread's rows. `run`: what stands before them, if there is `any`. */
  NDR_DEVICE void put(const ndr_scan_params &p, int room, int first, State run, bool any) const {
    const T *const x = elements(room) + first;
    result *const y = (result *)results(room) + first;
#pragma unroll
    for (int e = 0; e < E; e++) {
      State s[1] = {scan_value<OP>(p, x[e * COLUMNS])};
      const bool fresh = e == 0 && !any;
      if (!fresh) s[0] = OP::joined(run, s[0]);
      scan_store<OP, KNOWN>(p, y + e * COLUMNS, s, 0, run, fresh);
      run = s[0];
    }
  }
  /* Writes what all threads have put: as vectors, if results lie as far behind a boundary of these in shared memory as
   * in memory, and else by units. */
  NDR_DEVICE void write(int room) const {
    typedef typename scan_unit<alignof(result)>::type unit;
    const unsigned char *const own_results = results(room);
    const int phase = phase_of(to), end = phase + count * COLUMNS * (int)sizeof(result);
    const bool alike = phase_of(own_results) == phase;
    const unsigned char *const shared = own_results - phase;
    unsigned char *const boundary = to - phase;
    const int head = !alike ? end : (phase + 15) & ~15, whole = end & ~15;
#pragma unroll 4
    for (int at = head + machine::thread() * 16; at < whole; at += BLOCK * 16)
      *(ndr_vector *)(boundary + at) = *(const ndr_vector *)(shared + at);
    for (int at = phase + machine::thread() * (int)sizeof(unit); at < end && at < head; at += BLOCK * (int)sizeof(unit))
      *(unit *)(boundary + at) = *(const unit *)(shared + at);
    for (int at = (whole > head ? whole : head) + machine::thread() * (int)sizeof(unit); at < end;
         at += BLOCK * (int)sizeof(unit))
      *(unit *)(boundary + at) = *(const unit *)(shared + at);
  }
};

/* The last warp of a block that scans: in each turn it waits for what stands before tile `next`. See scan_turn. */
template <class OP, int COLUMNS, int BLOCK>
NDR_DEVICE void scan_stream_await(const ndr_scan_params &p, scan_turn turn, int worker, const int (&numbers)[2],
                                  typename OP::State (&before)[2 * COLUMNS]) {
  const int lane = machine::thread() - BLOCK;
#pragma unroll 1
  while (turn.any(p)) {
    scan_meet<BLOCK>();
    const int behind = turn.behind(p, numbers);
    const int tile = scan_divide(p.lines, turn.next), line = turn.next - tile * (int)p.lines.size;
    if (turn.next < p.items && tile > 0 && lane < COLUMNS) {
      const scan_ring ring(p, OP::words, (int)p.lines.size * COLUMNS, line * COLUMNS + lane);
      scan_seen<OP> seen;
      bool here;
      do {
        here = true;
#pragma unroll
        for (int w = 0; w < OP::words; w++) {
          seen.slot[w] = machine::look_at(ring.box(ring.box_of(worker, turn.room_of_next()), w));
          here = here && mark_of(seen.slot[w], 0) == (u32)tile && mark_of(seen.slot[w], 1) == (u32)tile;
        }
      } while (!here && machine::wait());
      before[turn.parity * COLUMNS + lane] = seen.state();
    }
    turn.go_on(behind);
    machine::warp_barrier(); /* the lanes come to the next meeting together */
  }
}

/* Posts the total of a tile of a line, and in which room of the block the tile is. */
template <class OP>
NDR_DEVICE void scan_post_total(const scan_ring &ring, int tile, const typename OP::State &total, int worker,
                                int room) {
  const u32 round = ring.round(tile);
  ndr_word words[OP::words];
  OP::save(total, words);
#pragma unroll
  for (int w = 0; w < OP::words; w++)
    machine::refill_slot(ring.total(tile, w),
                         posted(words[w], round, ring.second_mark(round, ring.box_of(worker, room))));
}

/* Which barriers stand between accesses to shared memory. A turn has a first barrier of the threads that scan (A), the
 * meeting of all (B), and where there is an `item` another barrier of those that scan (C).
 *
 *   numbers[parity]      written before B, read behind it; written again two turns later, so behind the next B
 *   before_tile[parity]  written behind B by the last warp, read behind the next B; written again behind the one after
 *   shared               written and read between A and B, with barriers of its own between
 *   a room               filled from behind B until the next A; its total is found before the next B; two turns later
 *                        each thread puts its own results before C, and all are written out behind C; filled again
 *                        behind the next B
 *   room of results      written before C, read between C and the next A */
template <class OP, int E, int COLUMNS, int UNITS, int BLOCK, u32 KNOWN, class T>
NDR_DEVICE void scan_streams_of(const ndr_scan_params &p, array_list<T>) {
  typedef typename OP::State State;
  typedef scan_stream<OP, T, E, COLUMNS, UNITS, BLOCK, KNOWN> stream;
  NDR_SHARED scan_shared<State, BLOCK> shared;
  NDR_SHARED State before_tile[2 * COLUMNS]; /* what stands before `next`, and before `item`, in turn */
  NDR_SHARED int numbers[2];                 /* first the block's, of those that have begun, and its first item */
  const int thread = machine::thread(), lines = (int)p.lines.size * COLUMNS;
  if (thread == 0) numbers[0] = (int)machine::take_number(p.taken + 1);
  machine::barrier();
  const int arrival = numbers[0], worker = arrival - p.keepers;
  if (worker < 0) {
    const int line = thread / NDR_WARP * p.keepers + arrival;
    if (line < lines) scan_keep_line<OP>(p, scan_ring(p, OP::words, lines, line));
    return;
  }
  scan_publish(scan_take(p), numbers[1]);
  machine::barrier();
  scan_turn turn(p, numbers);
  if (thread >= BLOCK) {
    scan_stream_await<OP, COLUMNS, BLOCK>(p, turn, worker, numbers, before_tile);
    return;
  }
  const int unit = thread / COLUMNS, column = thread - unit * COLUMNS, own = unit * E * COLUMNS + column;
  /* What the units before the thread's have of these tiles. */
  State of_item = OP::identity(), of_next = of_item, of_ahead = of_item;
  stream(p, turn.ahead).fetch(0);
#pragma unroll 1
  while (turn.any(p)) {
    machine::await_copies<0>();
    const int taken = scan_take(p);
    machine::barrier_of<1>(BLOCK);
    if (turn.ahead < p.items) {
      const stream t(p, turn.ahead);
      scan_before<OP, UNITS, COLUMNS> before;
      const State total =
          before.find(shared, unit < UNITS ? t.total(p, turn.room, own) : OP::identity(), unit, column, 0, false);
      of_ahead = before.what[0];
      if (unit == UNITS - 1)
        scan_post_total<OP>(scan_ring(p, OP::words, lines, t.line * COLUMNS + column), t.tile, total, worker,
                            turn.room);
    }
    scan_publish(taken, numbers[turn.parity]);
    scan_meet<BLOCK>();
    const int behind = turn.behind(p, numbers);
    stream(p, behind).fetch(turn.room_behind());
    if (turn.item < p.items) {
      const stream t(p, turn.item);
      const int room = turn.room_of_item();
      State run = of_item;
      if (t.tile > 0) {
        const State more = before_tile[(1 - turn.parity) * COLUMNS + column];
        run = unit > 0 ? OP::joined(more, run) : more;
      }
      if (unit < UNITS) t.put(p, room, own, run, t.tile > 0 || unit > 0);
      machine::barrier_of<1>(BLOCK);
      t.write(room);
    }
    of_item = of_next, of_next = of_ahead;
    turn.go_on(behind);
  }
}

template <class OP, class Arrays, int E, int COLUMNS, int UNITS, int BLOCK, u32 KNOWN>
NDR_DEVICE void scan_streams(const ndr_scan_params &p) {
  scan_streams_of<OP, E, COLUMNS, UNITS, BLOCK, KNOWN>(p, Arrays{});
}

#endif
