/* Family tile: the axis of smallest stride is short, so that one contiguous stretch of memory spans several outputs.
 *
 * tile_columns: the short axis is kept (its size is `period`) and the next reduced axis lies densely around it. A
 * thread's packets are p.lanes packets apart, p.lanes * elements a multiple of period, so element j of its packets
 * always belongs to the same output: it is reduced in registers, and only the ends meet in shared memory. tile_triples:
 * the same for a period of 3 (colours, coordinates), where every phase is known to the compiler. tile_rows: the short
 * axis is reduced and the outputs lie densely one after the other. A block copies a tile of whole runs to shared memory
 * with wide loads and gives each output to p.lanes threads. */
#ifndef NDR_TILE_CUH
#define NDR_TILE_CUH

#include "walk.cuh"

/* A dense stretch of elements, cut at 16-byte boundaries. */
template <class T> struct stretch {
  const T *start;
  i64 length, packets;
  int head;
  NDR_DEVICE stretch(const T *first, i64 count) {
    const int elements = 16 / sizeof(T);
    int past = (int)((unsigned long long)first % 16 / sizeof(T));
    start = first;
    length = count;
    head = past ? elements - past : 0;
    if (head > length) head = (int)length;
    packets = (length - head) / elements;
  }
};

/* Where element `at` of a stretch of whole rows stands among the reduced elements. */
NDR_DEVICE i64 index_at(const ndr_params &p, i64 index, i64 at) {
  return index + at / p.period * p.axes[p.kept_count].aux;
}

/* The head and tail of a stretch, less than a packet each: read by a thread an element, before the packets, and folded
 * after them by the owners of the outputs, from shared memory. */
template <class T> struct edges {
  static const int most = 2 * (16 / (int)sizeof(T));
  int head, count;
  i64 skipped;
  NDR_DEVICE edges(const stretch<T> &s) {
    skipped = s.packets * (16 / (int)sizeof(T));
    head = s.head;
    count = (int)(s.length - skipped);
  }
  NDR_DEVICE i64 at(int e) const { return e < head ? e : e + skipped; }
};

template <class Op>
NDR_DEVICE void fold_edges(const ndr_params &p, typename Op::Near &a, const edges<typename Op::element> &e,
                           const typename Op::element *edge, i64 index, int column) {
  for (int k = column; k < e.head; k += p.period) fold_one<Op>(p, a, edge[k], index_at(p, index, k));
  /* The first tail element that belongs to the column. */
  int k = e.head + (int)((column + p.period - e.at(e.head) % p.period) % p.period);
  for (; k < e.count; k += p.period) fold_one<Op>(p, a, edge[k], index_at(p, index, e.at(k)));
}

/* The packets of a stretch that fall to this thread, into its phase accumulators. */
template <class Op>
NDR_DEVICE void fold_phases(const ndr_params &p, typename Op::Near *a, const stretch<typename Op::element> &s,
                            i64 index) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T), UNROLL = 4;
  const T *at = s.start + s.head + machine::thread() * elements;
  int left = (int)s.packets - machine::thread(), stride = p.lanes * elements;
  i64 first = s.head + machine::thread() * elements;
  for (; left > 0; left -= UNROLL * p.lanes) {
    ndr_packet packet[UNROLL];
    typename Op::value x[UNROLL][elements];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (left > u * p.lanes) packet[u] = machine::load_packet(at + u * stride);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) unpack<Op>(packet[u], x[u]);
    if (left > (UNROLL - 1) * p.lanes && !Op::indexed) {
#pragma unroll
      for (int j = 0; j < elements; j++) {
        typename Op::value y[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) y[u] = x[u][j];
        Op::template fold<UNROLL>(a[j], y, 0, 0, p);
      }
    } else {
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        if (left <= u * p.lanes) break;
#pragma unroll
        for (int j = 0; j < elements; j++)
          fold_value<Op>(p, a[j], x[u][j], Op::indexed ? index_at(p, index, first + u * stride + j) : 0);
      }
    }
    at += UNROLL * stride;
    first += UNROLL * stride;
  }
}

/* Joins `total` states of a block, state k belonging to phase k % period, into the first `period` ones. */
template <class Op> NDR_DEVICE void join_phases(const ndr_params &p, typename Op::Near *room, int total) {
  int thread = machine::thread(), width = machine::threads() / p.period * p.period;
  if (width < total) {
    typename Op::Near a = Op::near();
    for (int k = thread; thread < width && k < total; k += width) Op::join(a, room[k]);
    machine::barrier();
    if (thread < width) room[thread] = a;
    machine::barrier();
    total = width;
  }
  int groups = total / p.period, warps = machine::threads() / NDR_WARP;
  if (groups <= 8) {
    for (int g = 1; thread < p.period && g < groups; g++) Op::join(room[thread], room[g * p.period + thread]);
    machine::barrier();
    return;
  }
  /* Each phase is read by one warp alone, so that its sum may replace its first state. */
  for (int phase = thread / NDR_WARP; phase < p.period; phase += warps) {
    typename Op::Near a = Op::near();
    for (int g = thread % NDR_WARP; g < groups; g += NDR_WARP) Op::join(a, room[g * p.period + phase]);
    join_lanes<Op>(a, NDR_WARP);
    if (thread % NDR_WARP == 0) room[phase] = a;
  }
  machine::barrier();
}

/* The phase accumulators of all threads, joined: the total of phase `phase` into `mine` of the thread that owns it.
 * They meet in shared memory, as many at a time as it holds. */
template <class Op>
NDR_DEVICE void join_accumulators(const ndr_params &p, typename Op::Near &mine, const typename Op::Near *a, int phase) {
  const int elements = 16 / sizeof(typename Op::element);
  typename Op::Near *room = (typename Op::Near *)machine::shared_bytes();
  int thread = machine::thread(), total = p.lanes * elements;
  int most = p.room / (int)sizeof(typename Op::Near) / p.period * p.period;
  for (int base = 0; base < total; base += most) {
    int count = total - base < most ? total - base : most;
#pragma unroll
    for (int j = 0; j < elements; j++) {
      int k = thread * elements + j - base;
      if (thread < p.lanes && k >= 0 && k < count) room[k] = a[j];
    }
    machine::barrier();
    join_phases<Op>(p, room, count);
    if (thread < p.period) Op::join(mine, room[phase]);
    machine::barrier();
  }
}

/* How the packets of a stretch reach the owners of its outputs: each thread accumulates by phase, then all join. */
template <class Op> struct any_period {
  typedef stretch<typename Op::element> packets;
  static NDR_DEVICE void fold(const ndr_params &p, typename Op::Near &mine, const packets &s, i64 index, int column) {
    const int elements = 16 / sizeof(typename Op::element);
    typename Op::Near a[elements];
#pragma unroll
    for (int j = 0; j < elements; j++) a[j] = Op::near();
    if (machine::thread() < p.lanes) fold_phases<Op>(p, a, s, index);
    join_accumulators<Op>(p, mine, a, (column + p.period - s.head % p.period) % p.period);
  }
};

/* Period 3. Element j of a thread's packet u, u blocks of packets after its first, is of phase (u * BLOCK + j) % 3 from
 * its first element's: known here, so that three accumulators do, each in fixed registers. */
template <class Op> struct period_3 {
  typedef typename Op::element T;
  typedef typename Op::Near Near;
  typedef stretch<T> packets;
  static const int elements = 16 / sizeof(T), UNROLL = elements > 4 ? 3 : 6, BLOCK = NDR_BLOCK * elements;

  static NDR_DEVICE void fold_whole(const ndr_params &p, Near *a, const typename Op::value (&x)[UNROLL][elements]) {
#pragma unroll
    for (int phase = 0; phase < 3; phase++) {
      typename Op::value y[UNROLL * elements / 3];
#pragma unroll
      for (int u = 0, count = 0; u < UNROLL; u++)
#pragma unroll
        for (int j = 0; j < elements; j++)
          if ((u * BLOCK + j) % 3 == phase) y[count++] = x[u][j];
      Op::template fold<UNROLL * elements / 3>(a[phase], y, 0, 0, p);
    }
  }

  static NDR_DEVICE void accumulate(const ndr_params &p, Near *a, const packets &s, i64 index) {
    i64 first = s.head + machine::thread() * elements;
    int left = (int)s.packets - machine::thread();
    for (; left > 0; left -= UNROLL * NDR_BLOCK, first += UNROLL * BLOCK) {
      ndr_packet packet[UNROLL];
      typename Op::value x[UNROLL][elements];
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (left > u * NDR_BLOCK) packet[u] = machine::load_packet(s.start + first + u * BLOCK);
#pragma unroll
      for (int u = 0; u < UNROLL; u++) unpack<Op>(packet[u], x[u]);
      if (left > (UNROLL - 1) * NDR_BLOCK && !Op::indexed) {
        fold_whole(p, a, x);
        continue;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        if (left <= u * NDR_BLOCK) break;
#pragma unroll
        for (int j = 0; j < elements; j++)
          fold_value<Op>(p, a[(u * BLOCK + j) % 3], x[u][j],
                         Op::indexed ? index_at(p, index, first + u * BLOCK + j) : 0);
      }
    }
  }

  static NDR_DEVICE void fold(const ndr_params &p, Near &mine, const packets &s, i64 index, int column) {
    NDR_SHARED Near room[NDR_BLOCK / NDR_WARP][3];
    Near a[3] = {Op::near(), Op::near(), Op::near()};
    accumulate(p, a, s, index);
    /* Turned so that a[k] belongs to output k in every thread. */
    int phase = (s.head + machine::thread() * elements) % 3;
    Near turned[3] = {phase == 0   ? a[0]
                      : phase == 1 ? a[2]
                                   : a[1],
                      phase == 0   ? a[1]
                      : phase == 1 ? a[0]
                                   : a[2],
                      phase == 0   ? a[2]
                      : phase == 1 ? a[1]
                                   : a[0]};
#pragma unroll
    for (int k = 0; k < 3; k++) {
      join_lanes<Op>(turned[k], NDR_WARP);
      if (machine::thread() % NDR_WARP == 0) room[machine::thread() / NDR_WARP][k] = turned[k];
    }
    machine::barrier();
    for (int warp = 0; machine::thread() < 3 && warp < NDR_BLOCK / NDR_WARP; warp++) Op::join(mine, room[warp][column]);
  }
};

/* p.runs stretches an output group, each of p.run_units rows; a piece is a range of rows of one stretch, or of whole
 * stretches. Units are rows. */
template <class Op, template <class> class PERIOD> NDR_DEVICE void tile_columns(const ndr_params &p) {
  typedef typename Op::element T;
  NDR_SHARED unsigned ticket;
  NDR_SHARED T edge[edges<T>::most];
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    part whose = part_of(p, item);
    i64 tile = whose.tile;
    spot kept = locate(p, 1, p.kept_count - 1, tile);
    range piece = piece_of(p, whose.split);
    int thread = machine::thread(), column = thread < p.period ? thread : 0;
    typename Op::Near mine = Op::near();
    for (i64 row = piece.begin; row < piece.end;) {
      i64 run = p.runs == 1 ? 0 : row / p.run_units, in_run = row - run * p.run_units;
      i64 rows = p.run_units - in_run < piece.end - row ? p.run_units - in_run : piece.end - row;
      spot outer = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
      const T *first = (const T *)p.data + kept.offset + outer.offset + in_run * p.period;
      i64 index = p.index_origin + outer.aux + in_run * p.axes[p.kept_count].aux;
      stretch<T> s(first, rows * p.period);
      edges<T> around(s);
      T element = T();
      if (thread < around.count) element = machine::load_element(first + around.at(thread));
      PERIOD<Op>::fold(p, mine, s, index, column);
      if (thread < around.count) edge[thread] = element;
      machine::barrier();
      if (thread < p.period) fold_edges<Op>(p, mine, around, edge, index, column);
      machine::barrier();
      row += rows;
    }
    typename Op::Far far = Op::widen(mine);
    i64 output = tile * p.period + column;
    bool owner = thread < p.period;
    if (p.splits > 1) {
      unsigned *counters = p.counters + tile * (p.groups + 1);
      int group = whose.split / p.group;
      i64 slot = (i64)group * p.group;
      int members = (int)(p.splits - slot < p.group ? p.splits - slot : p.group);
      if (owner) save_partial<Op>(p, whose.split, output, far);
      if (!arrive_last(&counters[group], (unsigned)members, &ticket)) continue;
      if (owner) far = join_slots<Op>(p, slot, members, output);
      if (p.groups > 1) {
        if (owner) save_partial<Op>(p, p.splits + group, output, far);
        if (!arrive_last(&counters[p.groups], (unsigned)p.groups, &ticket)) continue;
        if (owner) far = join_slots<Op>(p, p.splits, p.groups, output);
      }
    }
    if (owner) emit<Op>(p, kept.aux + column * p.axes[0].aux, far);
  }
}

/* Elements of a tile from shared memory. Neighbouring outputs start `length` elements apart; where that maps several of
 * a warp's threads to one bank, starting each a little later in its run spreads them. */
template <class Op> NDR_DEVICE void tile_rows(const ndr_params &p) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T);
  T *room = (T *)machine::shared_bytes();
  int length = (int)p.axes[p.kept_count].size, lane = machine::thread() % p.lanes;
  int group = machine::thread() / p.lanes, groups = machine::threads() / p.lanes;
  i64 step = p.axes[p.kept_count].aux;
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    i64 first = item * p.tile_outputs;
    i64 rest = p.tiles == 1 ? item : item / p.tiles;
    first = (item - rest * p.tiles) * p.tile_outputs;
    spot kept = locate(p, 1, p.kept_count - 1, rest);
    int outputs = (int)(p.axes[0].size - first < p.tile_outputs ? p.axes[0].size - first : p.tile_outputs);
    typename Op::Near a = Op::near();
    for (i64 run = 0; run < p.runs; run++) {
      spot outer = locate(p, p.kept_count + 1, p.reduced_count - 1, run);
      const T *start = (const T *)p.data + kept.offset + outer.offset + first * length;
      stretch<T> s(start, (i64)outputs * length);
      /* The tile keeps its misalignment, so that packets are aligned on both sides. */
      T *tile = room + (s.head ? elements - s.head : 0);
      int packets = (int)s.packets, slot = machine::thread();
      for (; slot < packets; slot += 4 * machine::threads()) {
        ndr_packet packet[4];
#pragma unroll
        for (int u = 0; u < 4; u++)
          if (slot + u * machine::threads() < packets)
            packet[u] = machine::load_packet(start + s.head + (i64)(slot + u * machine::threads()) * elements);
#pragma unroll
        for (int u = 0; u < 4; u++)
          if (slot + u * machine::threads() < packets)
            *(ndr_packet *)(tile + s.head + (slot + u * machine::threads()) * elements) = packet[u];
      }
      int tail = s.head + packets * elements;
      for (int e = machine::thread(); e < s.head + (int)s.length - tail; e += machine::threads()) {
        int at = e < s.head ? e : tail + (e - s.head);
        tile[at] = machine::load_element(start + at);
      }
      machine::barrier();
      i64 index = p.index_origin + outer.aux;
      int shift = p.lanes == 1 ? (int)((group % NDR_WARP) * p.skew / NDR_WARP) : 0;
      for (int base = 0; base < outputs; base += groups) {
        int o = base + group;
        if (p.runs == 1) a = Op::near();
        for (int e = lane; o < outputs && e < length; e += p.lanes) {
          int at = e + shift < length ? e + shift : e + shift - length;
          fold_one<Op>(p, a, tile[o * length + at], index + at * step);
        }
        if (p.runs > 1) break;
        join_lanes<Op>(a, p.lanes);
        if (lane == 0 && o < outputs) emit<Op>(p, kept.aux + (first + o) * p.axes[0].aux, Op::widen(a));
      }
      machine::barrier();
    }
    if (p.runs > 1) {
      join_lanes<Op>(a, p.lanes);
      if (lane == 0 && group < outputs) emit<Op>(p, kept.aux + (first + group) * p.axes[0].aux, Op::widen(a));
    }
  }
}

#endif
