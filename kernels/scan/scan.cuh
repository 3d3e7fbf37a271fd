/* Scans: the operator over the elements of a line up to each place. Compiled at run time only.
 *
 *   scan_lines    scan_lines.cuh, family lines: a tile is a stretch of a line, or several whole lines
 *   scan_columns  scan_columns.cuh, family columns: lines that lie side by side
 *   scan_shifted  scan_shifted.cuh, family columns: such lines, where rows do not begin on sectors
 *   scan_bands    scan_bands.cuh, family bands: few such lines, whose rows follow each other
 *   scan_streams  scan_streams.cuh, family streams: a long line, or very few such lines; rows follow each other
 *
 * This file has what they share.
 *
 * Each element is read and written once, of scan_bands read twice. Where there are enough columns, a block has some of
 * them whole and waits for no other: it carries their values from tile to tile. Otherwise, what stands before a
 * thread's elements is combined by warps, blocks and tiles; the thread begins with it, and combines its elements one
 * after the other. The association follows from a place's number and the plan, whichever block comes first; with
 * NDR_SCAN_LEADS also from where the line begins in a sector.
 *
 * Sums that are stored as f64 or c128 are chained instead: to each value the totals of whole groups of eight, groups of
 * groups, and so on, are added, the nearest first: far + (... + (near + own)). So sums of elements that are not
 * negative never decrease: the last value of a group is what the next group's are added to. There is time for these
 * additions while 8 bytes an element are moved.
 *
 * The operator OP (scan_operator) and its states are those of program.cuh; the element of a place is a state, too. */
#ifndef NDR_SCAN_CUH
#define NDR_SCAN_CUH

#include "scan_params.h"

#include "join.cuh"
#include "program.cuh"
#include "row.cuh"
#include "scan_totals.cuh"

NDR_DEVICE const double *parameters_of(const ndr_scan_params &p) {
  return p.parameters;
}
NDR_DEVICE const float *narrow_parameters_of(const ndr_scan_params &p) {
  return p.numbers.narrow;
}

/* ---- operators ---- */

/* The state of one value. To fold it into the identity would lose the sign of -0, and take an exp for logsumexp. */
template <class Part> struct lone;
template <class T, bool W, bool S, class BATCH, class ACCUMULATOR, class STATE, class RESULT, class MAP, class JOIN,
          class END>
struct lone<simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END>> {
  typedef simple<T, W, S, BATCH, ACCUMULATOR, STATE, RESULT, MAP, JOIN, END> Op;
  /* Of sums of floats the order counts: see `chained`. */
  static const bool rounds = same<JOIN, add>::yes && !same<STATE, i64>::yes && !same<STATE, u64>::yes;
  static NDR_DEVICE STATE of(const typename Op::value &x, const ndr_scan_params &) {
    if (S && is_nan(x)) return Op::state_identity();
    if constexpr (same<MAP, nonzero>::yes)
      return (STATE)is_nonzero(x);
    else
      return Op::widen(value_of<ACCUMULATOR>(x));
  }
};
template <class T, bool W, bool S> struct lone<op_logsumexp<T, W, S>> {
  typedef op_logsumexp<T, W, S> Op;
  static const bool rounds = false;
  static NDR_DEVICE typename Op::State of(const typename Op::value &x, const ndr_scan_params &) {
    double value = value_of<double>(x);
    if (S && is_nan(value)) return Op::state_identity();
    return {value, value == limits<double>::least() ? 0 : value == value ? 1 : value};
  }
};

/* The same of all parts. */
template <class Part> struct single;
template <class Op> struct single<part<Op>> {
  static const bool rounds = lone<Op>::rounds;
  template <class BATCH> static NDR_DEVICE typename Op::State of(const BATCH &b, const ndr_scan_params &p) {
    return lone<Op>::of(b.values[0], p);
  }
};
template <class Op> struct single<masked<Op>> {
  static const bool rounds = lone<Op>::rounds;
  template <class BATCH> static NDR_DEVICE typename Op::State of(const BATCH &b, const ndr_scan_params &p) {
    return b.mask[0] ? lone<Op>::of(b.values[0], p) : Op::state_identity();
  }
};
template <class A, class B> struct single<parts<A, B>> {
  static const bool rounds = single<A>::rounds || single<B>::rounds;
  template <class BATCH> static NDR_DEVICE auto of(const BATCH &b, const ndr_scan_params &p) {
    return typename parts<A, B>::State{single<A>::of(b.a, p), single<B>::of(b.b, p)};
  }
};

template <class NODES> struct scan_operator {
  typedef typename NODES::all all;
  typedef typename NODES::value value;
  typedef typename NODES::result result;
  typedef typename all::State State;
  static const int words = all::words, places = value::places;
  /* Whether what stands before is added group by group to each value, nearest first, so that sums never decrease.
   * Otherwise it is combined first, which is less to do. */
  static const bool chained = single<all>::rounds && (same<result, f64>::yes || same<result, c128>::yes);
  static NDR_DEVICE State of(const value &x, const ndr_scan_params &p) {
    typename all::template batch<1> b;
    const value one[1] = {x};
    NODES::template compute<1>(b, one, p);
    return single<all>::of(b, p);
  }
  static NDR_DEVICE State joined(const State &a, const State &b) {
    State s = a;
    all::join_states(s, b);
    return s;
  }
  static NDR_DEVICE State identity() { return all::state_identity(); }
  static NDR_DEVICE void store(result *to, const State &s, const ndr_scan_params &p) {
    store_value(to, NODES::finish(s, 0, p.parameters));
  }
  static NDR_DEVICE void save(const State &s, ndr_word *w) { all::save(s, w); }
  static NDR_DEVICE State load(const ndr_word *w) { return all::load(w); }
};

/* The value of one element. */
template <class OP, class T> NDR_DEVICE typename OP::State scan_value(const ndr_scan_params &p, const T &element) {
  typename OP::value x;
  x.template set<0>(element);
  return OP::of(x, p);
}

/* The unit that elements are copied in which are aligned to BYTES bytes. */
template <int BYTES> struct scan_unit;
template <> struct scan_unit<1> { typedef u8 type; };
template <> struct scan_unit<2> { typedef u16 type; };
template <> struct scan_unit<4> { typedef u32 type; };
template <> struct scan_unit<8> { typedef u64 type; };
template <> struct scan_unit<16> { typedef ndr_vector type; };

/* ---- addresses ---- */

/* Which stride of an axis: the K-th array's, the result's, or the K-th place index's. */
template <int K> struct of_array {
  static NDR_DEVICE i64 stride(const ndr_scan_param_axis &axis) { return axis.stride[K]; }
};
struct of_result {
  static NDR_DEVICE i64 stride(const ndr_scan_param_axis &axis) { return axis.result; }
};
template <int K> struct of_place {
  static NDR_DEVICE i64 stride(const ndr_scan_param_axis &axis) { return axis.place[K]; }
};

/* The offset of number n in a walk over `count` axes from `first` on; `one`: count is known to be at most 1. */
template <class WHICH> NDR_DEVICE i64 scan_walk(const ndr_scan_params &p, int first, int count, bool one, i64 n) {
  i64 at = 0;
  if (one) return count ? n * WHICH::stride(p.axes[first]) : 0;
#pragma unroll 1
  for (int a = first; a < first + count; a++) {
    i64 whole = a + 1 < first + count ? scan_divide_far(p.axes[a].size, n) : 0;
    at += (n - whole * p.axes[a].size.size) * WHICH::stride(p.axes[a]);
    n = whole;
  }
  return at;
}

/* The offset of a line's element, in elements from where the walk starts. */
template <u32 KNOWN, class WHICH> NDR_DEVICE i64 scan_place(const ndr_scan_params &p, i64 line, i64 element) {
  return scan_walk<WHICH>(p, 0, p.kept_count, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line) +
         scan_walk<WHICH>(p, p.kept_count, p.scan_count, (KNOWN & NDR_SCAN_ONE_AXIS) != 0, element);
}

/* ---- moving elements ---- */

template <class UNIT> NDR_DEVICE void scan_copy_unit(UNIT *shared, const UNIT *from) {
  if constexpr (sizeof(UNIT) == 16)
    machine::copy_vector(shared, from);
  else if constexpr (sizeof(UNIT) < 4)
    *shared = machine::load_element(from);
  else
    machine::copy_element(shared, from);
}

/* An element as units of BYTES bytes. */
template <class T, int BYTES> union scan_as_units {
  typedef typename scan_unit<BYTES>::type unit;
  static const int count = (int)sizeof(T) / BYTES;
  T value;
  unit units[count];
  static NDR_DEVICE void fetch(T *shared, const T *from) {
#pragma unroll
    for (int u = 0; u < count; u++) scan_copy_unit((unit *)shared + u, (const unit *)from + u);
  }
  NDR_DEVICE void load(const T *from) {
#pragma unroll
    for (int u = 0; u < count; u++) units[u] = ((const unit *)from)[u];
  }
  NDR_DEVICE void store(T *to) const {
#pragma unroll
    for (int u = 0; u < count; u++) ((unit *)to)[u] = units[u];
  }
};

/* The bytes of the widest unit that an element moves in, if its address is a multiple of that. */
template <class T> NDR_DEVICE constexpr int scan_widest_unit() {
  return sizeof(T) % 16 == 0 ? 16 : (sizeof(T) & (sizeof(T) - 1)) == 0 ? (int)sizeof(T) : (int)alignof(T);
}
template <class T> NDR_DEVICE bool scan_moves_widest(const void *address) {
  return scan_widest_unit<T>() == (int)alignof(T) || (u64)address % scan_widest_unit<T>() == 0;
}

/* ---- neighbours as one element ---- */

/* C elements that lie side by side, of C lines: an element of a line of such elements. */
template <class T, int C> struct scan_pack { T part[C]; };
template <class Arrays, int C> struct scan_packs;
template <class... T, int C> struct scan_packs<array_list<T...>, C> { typedef array_list<scan_pack<T, C>...> type; };

template <class OP, int C> struct scan_beside {
  struct value {
    typename OP::value part[C];
    template <int K, class T> NDR_DEVICE void set(const scan_pack<T, C> &e) {
#pragma unroll
      for (int c = 0; c < C; c++) part[c].template set<K>(e.part[c]);
    }
  };
  struct State {
    typename OP::State part[C];
  };
  typedef scan_pack<typename OP::result, C> result;
  static const int words = C * OP::words, places = 0;
  static const bool chained = OP::chained;
  static NDR_DEVICE State of(const value &x, const ndr_scan_params &p) {
    State s;
#pragma unroll
    for (int c = 0; c < C; c++) s.part[c] = OP::of(x.part[c], p);
    return s;
  }
  static NDR_DEVICE State joined(const State &a, const State &b) {
    State s;
#pragma unroll
    for (int c = 0; c < C; c++) s.part[c] = OP::joined(a.part[c], b.part[c]);
    return s;
  }
  static NDR_DEVICE State identity() {
    State s;
#pragma unroll
    for (int c = 0; c < C; c++) s.part[c] = OP::identity();
    return s;
  }
  static NDR_DEVICE void store(result *to, const State &s, const ndr_scan_params &p) {
#pragma unroll
    for (int c = 0; c < C; c++) OP::store(&to->part[c], s.part[c], p);
  }
  static NDR_DEVICE void save(const State &s, ndr_word *w) {
#pragma unroll
    for (int c = 0; c < C; c++) OP::save(s.part[c], w + c * OP::words);
  }
  static NDR_DEVICE State load(const ndr_word *w) {
    State s;
#pragma unroll
    for (int c = 0; c < C; c++) s.part[c] = OP::load(w + c * OP::words);
    return s;
  }
};

/* ---- items ---- */

/* A block scans items one after the other. Where items wait for others and there are more of them than blocks, a block
 * takes the smallest item that is left, ahead of time: so whoever has the smallest unfinished item waits for nobody,
 * however many blocks run at a time. Thread 0 takes the number and publishes it in shared memory; the others read it
 * behind a barrier. */
NDR_DEVICE int scan_take(const ndr_scan_params &p) {
  if (!p.taken || machine::thread() != 0) return p.items;
  const i64 number = machine::take_number(p.taken);
  return number < p.items ? (int)number : p.items;
}
NDR_DEVICE int scan_first(const ndr_scan_params &p) {
  return p.taken ? scan_take(p) : (int)machine::block();
}
NDR_DEVICE void scan_publish(int number, int &shared) {
  if (machine::thread() == 0) shared = number;
}
/* One barrier for the BLOCK threads that scan and the last warp, which reaches it at another place of the text. */
template <int BLOCK> NDR_DEVICE void scan_meet() {
  machine::barrier_of<2>(BLOCK + NDR_WARP);
}

/* The tiles that a block has in hand, where they wait for others. A tile is `ahead` in its first turn, in which its
 * total is posted, and by the last tile of a group in scan_lines the next prefix too; `next` in the second, in which
 * the last warp finds what stands before it; `item` in the third, in which it is written. All threads of the block meet
 * once a turn, after the totals: then they know the number of the tile behind `ahead`, which comes in meanwhile. */
struct scan_turn {
  int item, next, ahead;
  int room;   /* of `ahead`, one of NDR_SCAN_TURNS */
  int parity; /* of the turn */
  NDR_DEVICE scan_turn(const ndr_scan_params &p, int (&numbers)[2])
      : item(p.items), next(p.items), ahead(p.taken ? numbers[1] : (int)machine::block()), room(0), parity(0) {}
  NDR_DEVICE bool any(const ndr_scan_params &p) const { return item < p.items || next < p.items || ahead < p.items; }
  NDR_DEVICE int room_of_item() const { return (room + 2) % NDR_SCAN_TURNS; }
  NDR_DEVICE int room_of_next() const { return (room + 3) % NDR_SCAN_TURNS; }
  NDR_DEVICE int room_behind() const { return (room + 1) % NDR_SCAN_TURNS; }
  NDR_DEVICE int behind(const ndr_scan_params &p, const int (&numbers)[2]) const {
    return p.taken ? numbers[parity] : p.items;
  }
  NDR_DEVICE void go_on(int behind) {
    item = next, next = ahead, ahead = behind;
    room = room_behind();
    parity = 1 - parity;
  }
};

/* ---- prefixes within a block ---- */

/* The BLOCK threads of a block that scan have UNITS units of COLUMNS, those that are left over none: thread u * COLUMNS
 * + c has column c of unit u. Levels: how often units, and then groups of them, are put together in groups of
 * NDR_SCAN_GROUP. */
template <int UNITS> struct scan_depth {
  static const int levels = 1 + scan_depth<(UNITS + NDR_SCAN_GROUP - 1) / NDR_SCAN_GROUP>::levels;
};
template <> struct scan_depth<1> { static const int levels = 0; };

template <class State, int BLOCK = NDR_SCAN_BLOCK> struct scan_shared { State totals[BLOCK + BLOCK / 4]; };

/* Shared memory for scan_before::find, in blocks that have whole lines. With two buffers, which tiles take in turn, one
 * barrier a tile is enough. Where states are large there is one buffer, and finish_tile() is a second barrier. */
template <class State, int BLOCK = NDR_SCAN_BLOCK> struct scan_exchange {
  static const int buffers = NDR_SCAN_BUFFERS((int)sizeof(State));
  scan_shared<State, BLOCK> shared[buffers];
  NDR_DEVICE scan_shared<State, BLOCK> &buffer(int turn) { return shared[turn % buffers]; }
  static NDR_DEVICE void finish_tile() {
    if constexpr (buffers == 1) machine::barrier();
  }
};

/* The states that stand before a thread's first element: what[0] of the units before it in its group, what[1] of the
 * groups before that, and so on, or unless OP is chained what[0] of all; has[l]: there is such a state. */
template <class OP, int UNITS, int COLUMNS> struct scan_before {
  typedef typename OP::State State;
  static const int depth = scan_depth<UNITS>::levels, levels = OP::chained || depth == 0 ? depth : 1;
  State what[levels ? levels : 1];
  bool has[levels ? levels : 1];

  /* `own` is the total of the thread's elements, of those in its last line if it has several. `from` is the unit in
   * which the line of its first element begins; `begins`: the line of its last element begins in this unit. Returns the
   * total of that line up to this unit's end. All scanning threads of the block call this. */
  template <int BLOCK>
  NDR_DEVICE State find(scan_shared<State, BLOCK> &shared, State own, int unit, int column, int from, bool begins) {
    if constexpr (!OP::chained && COLUMNS == 1) return find_by_warps(shared, own, unit, from, begins);
    State *row = shared.totals;
    State run = own;
#pragma unroll
    for (int l = 0; l < depth; l++) {
      const int log = 3 * l, mine = unit >> log, last = (1 << log) - 1;
      if ((unit & last) == last) row[mine * COLUMNS + column] = run;
      machine::barrier_of<1>(BLOCK);
      const int group = mine & ~(NDR_SCAN_GROUP - 1), first = from >> log > group ? from >> log : group;
      State level = OP::identity();
#pragma unroll
      for (int i = 0; i < NDR_SCAN_GROUP - 1; i++) {
        const int at = group + i;
        if (at < first || at >= mine) continue;
        const State more = row[at * COLUMNS + column];
        level = at == first ? more : OP::joined(level, more);
      }
      if (first < mine && !begins) run = OP::joined(level, run);
      keep(l, level, first < mine);
      row += (UNITS >> log) * COLUMNS;
    }
    return run;
  }
  /* The same, of one column, by exchanges within warps: less to do, but no groups that follow each other. */
  template <int BLOCK>
  NDR_DEVICE State find_by_warps(scan_shared<State, BLOCK> &shared, State own, int unit, int from, bool begins) {
    const int lane = unit % NDR_WARP, warp = unit / NDR_WARP, head = unit - lane, from_warp = from / NDR_WARP;
    const int first = begins ? unit : from > head ? from : head;
    State run = own;
#pragma unroll
    for (int step = 1; step < NDR_WARP; step *= 2) {
      const State before = state_of_lane(run, lane - step);
      if (unit - step >= first) run = OP::joined(before, run);
    }
    const State near = state_of_lane(run, lane - 1);
    if (lane == NDR_WARP - 1) shared.totals[warp] = run;
    machine::barrier_of<1>(BLOCK);
    what[0] = near;
    has[0] = from < unit;
    if (from >= head) return run;
    State far = OP::identity();
#pragma unroll
    for (int i = 0; i < UNITS / NDR_WARP - 1; i++) {
      if (i < from_warp || i >= warp) continue;
      const State more = shared.totals[i];
      far = i == from_warp ? more : OP::joined(far, more);
    }
    what[0] = lane > 0 ? OP::joined(far, near) : far;
    return begins ? run : OP::joined(far, run);
  }
  /* Stores level l, or unless OP is chained joins it to the nearer ones. */
  NDR_DEVICE void keep(int l, const State &level, bool any) {
    if (OP::chained || l == 0)
      what[l] = level, has[l] = any;
    else if (any)
      what[0] = has[0] ? OP::joined(level, what[0]) : level, has[0] = true;
  }
};

/* What a block keeps of scan_before in shared memory from one turn to another: all but what[0], which the threads keep.
 */
template <class State, int UNITS, int COLUMNS> struct scan_upper {
  State what[UNITS / NDR_SCAN_GROUP * COLUMNS + UNITS / NDR_SCAN_GROUP / NDR_SCAN_GROUP * COLUMNS + 1];
};
template <class Before, class State, int UNITS, int COLUMNS>
NDR_DEVICE void scan_keep(const Before &before, scan_upper<State, UNITS, COLUMNS> &upper, int unit, int column) {
  State *row = upper.what;
#pragma unroll
  for (int l = 1; l < Before::levels; l++) {
    const int log = 3 * l;
    if ((unit & ((1 << log) - 1)) == 0) row[(unit >> log) * COLUMNS + column] = before.what[l];
    row += (UNITS >> log) * COLUMNS;
  }
}
template <class Before, class State, int UNITS, int COLUMNS>
NDR_DEVICE Before scan_kept(const State &first, const scan_upper<State, UNITS, COLUMNS> &upper, int unit, int column) {
  Before before;
  const State *row = upper.what;
  before.what[0] = first;
#pragma unroll
  for (int l = 0; l < Before::levels; l++) {
    const int log = 3 * l;
    before.has[l] = Before::levels < Before::depth ? unit > 0 : (unit >> log & (NDR_SCAN_GROUP - 1)) > 0;
    if (l == 0) continue;
    before.what[l] = row[(unit >> log) * COLUMNS + column];
    row += (UNITS >> log) * COLUMNS;
  }
  return before;
}

/* ---- values ---- */

/* What stands before a thread's first element; apply() adds it to the first `count` values of the thread. */
template <class OP, int UNITS, int COLUMNS> struct scan_prefix {
  typedef typename OP::State State;
  typedef scan_before<OP, UNITS, COLUMNS> before_type;
  State all; /* the value of the place before the thread's first */
  bool any;  /* there is one */

  NDR_DEVICE void put(const State &more) {
    all = any ? OP::joined(more, all) : more;
    any = true;
  }
  template <class TILES> NDR_DEVICE void collect(const before_type &before, const TILES *tiles, int column) {
    any = false;
    all = OP::identity();
#pragma unroll
    for (int l = 0; l < before_type::levels; l++)
      if (before.has[l]) put(before.what[l]);
    if (!tiles || tiles->count == 0) return;
    put(tiles->levels[0][column]);
#pragma unroll 1
    for (int l = 1; OP::chained && l < tiles->count; l++) put(tiles->levels[l][column]);
  }
  template <int E, class TILES>
  NDR_DEVICE void apply(const before_type &before, const TILES *tiles, int column, int count, State (&s)[E]) const {
    if (!any) return;
    if (!OP::chained) {
#pragma unroll
      for (int e = 0; e < E; e++)
        if (e < count) s[e] = OP::joined(all, s[e]);
      return;
    }
#pragma unroll
    for (int l = 0; l < before_type::levels; l++) {
      if (!before.has[l]) continue;
#pragma unroll
      for (int e = 0; e < E; e++)
        if (e < count) s[e] = OP::joined(before.what[l], s[e]);
    }
    if (!tiles) return;
#pragma unroll 1
    for (int l = 0; l < tiles->count; l++) {
      const State more = tiles->levels[l][column];
#pragma unroll
      for (int e = 0; e < E; e++)
        if (e < count) s[e] = OP::joined(more, s[e]);
    }
  }
};

/* Stores the result at a thread's element e, one of N whose values are s. `last` is the value before the first of them;
 * `fresh`: element e begins a line. */
template <class OP, u32 KNOWN, int N>
NDR_DEVICE void scan_store(const ndr_scan_params &p, typename OP::result *to, const typename OP::State (&s)[N], int e,
                           const typename OP::State &last, bool fresh) {
  if (KNOWN & NDR_SCAN_EXCLUSIVE)
    OP::store(to, fresh ? OP::identity() : e ? s[e ? e - 1 : 0] : last, p);
  else
    OP::store(to, s[e], p);
}

/* The value of no elements, before each line. */
template <class OP, u32 KNOWN> NDR_DEVICE void scan_put_none(const ndr_scan_params &p, i64 line) {
  typedef typename OP::result R;
  OP::store((R *)p.result + scan_place<KNOWN, of_result>(p, line, 0) - p.result_step, OP::identity(), p);
}

#endif
