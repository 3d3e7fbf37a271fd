/* Scans: the operator over the elements of a line up to each place. Compiled at run time only.
 *
 *   scan_lines    scan_lines.cuh, family lines: a tile is a stretch of a line, or several whole lines
 *   scan_columns  scan_columns.cuh, family columns: lines that lie side by side
 *
 * This file has what both share.
 *
 * Each element is read and written once. A thread combines its elements one after the other, from the first on. What
 * the threads before have is added in groups of eight, groups of groups, and so on, in a block and then from tile to
 * tile: a place's value is  far + (... + (near + own)), where each is a sum from left to right of whole groups. So the
 * association follows from a place's number alone, whichever block comes first; and sums of elements that are not
 * negative never decrease, as the last value of a group is the one that the next group's are added to.
 *
 * The operator OP (scan_operator) and its states are those of program.cuh; the element of a place is a state, too. */
#ifndef NDR_SCAN_CUH
#define NDR_SCAN_CUH

#include "scan_params.h"

#include "program.cuh"
#include "row.cuh"
#include "scan_tree.cuh"

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
  /* Whether what stands before is added group by group to each value. Otherwise it is combined first, which is less to
   * do.
   */
  static const bool chained = single<all>::rounds;
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
};

/* ---- addresses ---- */

/* Which stride of an axis: K-th array's, the result's, or the K-th place's. */
template <int K> struct of_array {
  static NDR_DEVICE i64 stride(const ndr_scan_param_axis &axis) { return axis.stride[K]; }
};
struct of_result {
  static NDR_DEVICE i64 stride(const ndr_scan_param_axis &axis) { return axis.result; }
};
template <int K> struct of_place {
  static NDR_DEVICE i64 stride(const ndr_scan_param_axis &axis) { return axis.place[K]; }
};

/* Number n of a walk over `count` axes from `first` on. */
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

/* Of a line's element: elements from where the walk starts. */
template <u32 KNOWN, class WHICH> NDR_DEVICE i64 scan_place(const ndr_scan_params &p, i64 line, i64 element) {
  return scan_walk<WHICH>(p, 0, p.kept_count, (KNOWN & NDR_SCAN_ONE_KEPT) != 0, line) +
         scan_walk<WHICH>(p, p.kept_count, p.scan_count, (KNOWN & NDR_SCAN_ONE_AXIS) != 0, element);
}

/* ---- prefixes within a block ---- */

/* A block has UNITS units of COLUMNS threads, of which number u * COLUMNS + c is that of unit u and column c. */
template <int UNITS, int LEVEL = 0> struct scan_depth {
  static const int levels = 1 + scan_depth<UNITS / NDR_SCAN_GROUP, LEVEL + 1>::levels;
};
template <int LEVEL> struct scan_depth<1, LEVEL> { static const int levels = 0; };
template <int LEVEL> struct scan_depth<0, LEVEL> { static const int levels = 0; };

template <class State> struct scan_shared { State totals[NDR_SCAN_BLOCK + NDR_SCAN_BLOCK / 4]; };

/* The states that stand before a thread's first elements: what[0] of the units of its group, what[1] of the groups
 * before, and so on; has[l]: there is one. */
template <class OP, int UNITS, int COLUMNS> struct scan_before {
  typedef typename OP::State State;
  static const int levels = scan_depth<UNITS>::levels;
  State what[levels ? levels : 1];
  bool has[levels ? levels : 1];

  /* `own` is the total of the thread's last elements: those of its last line. `from` is the unit where the line of its
   * first element begins; `begins`: that of its last element begins in this unit. Returns the total of the last line up
   * to this unit's end. All threads of the block call this. */
  NDR_DEVICE State find(scan_shared<State> &shared, State own, int unit, int column, int from, bool begins) {
    State *row = shared.totals;
    State run = own;
#pragma unroll
    for (int l = 0; l < levels; l++) {
      const int log = 3 * l, mine = unit >> log, last = (1 << log) - 1;
      if ((unit & last) == last) row[mine * COLUMNS + column] = run;
      machine::barrier();
      int first = mine & ~(NDR_SCAN_GROUP - 1), at = from >> log;
      if (at < first) at = first;
      has[l] = at < mine;
      what[l] = OP::identity();
      if (has[l]) what[l] = row[at * COLUMNS + column];
#pragma unroll 1
      for (at++; at < mine; at++) what[l] = OP::joined(what[l], row[at * COLUMNS + column]);
      if (has[l] && !begins) run = OP::joined(what[l], run);
      row += (UNITS >> log) * COLUMNS;
    }
    return run;
  }
};

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
    if (!tiles) return;
#pragma unroll 1
    for (int l = 0; l < tiles->count; l++) put(tiles->levels[l][column]);
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

/* The value of no elements, before each line. */
template <class OP, u32 KNOWN> NDR_DEVICE void scan_put_none(const ndr_scan_params &p, i64 line) {
  typedef typename OP::result R;
  OP::store((R *)p.result + scan_place<KNOWN, of_result>(p, line, 0) - p.result_step, OP::identity(), p);
}

#endif
