/* An operator, its arrays and how they are read: how many chunks a thread has in flight, and how it walks and folds
 * them. See operands.cuh. */
#ifndef NDR_CHUNKS_CUH
#define NDR_CHUNKS_CUH

#include "row.cuh"

/* By how many columns a team's strip, of which `columns` are left in its row, begins earlier so that it has `width` of
 * them. Strips are whole where threads have several chunks: what it repeats, the strip before writes. */
template <int STEPS> NDR_DEVICE int repeated_columns(i64 columns, int width) {
  return STEPS > 1 && columns > 0 && columns < width ? width - (int)columns : 0;
}

template <class Op, class Arrays, int ELEMENTS, u32 WAYS> struct operand_kit {
  typedef typename Op::Accumulator Accumulator;
  typedef typename Op::value value;
  static const bool whole = (WAYS & NDR_WAYS_WHOLE) != 0;
  static const int elements = ELEMENTS, V = ELEMENTS, arrays = Arrays::count, places = places_of<value>::count;
  typedef array_spot<Arrays, places, WAYS> spot;
  typedef typename spot::stride stride;
  typedef row<Arrays, Arrays, V, WAYS, false, 0> loose_row;
  typedef row<Arrays, Arrays, V, WAYS, true, 0> fixed_row;

  /* ---- columns of a thread ---- */

  /* What a thread that owns columns reads of a row: STEPS chunks, which lie a warp's chunks apart. */
  template <bool FIXED, int STEPS>
  using spread_row = row<Arrays, Arrays, STEPS * V, WAYS, FIXED, 0, STEPS == 1 ? 1 : NDR_WARP>;
  /* How far column number k of a thread lies behind its first, and the first of a lane. */
  template <int STEPS> static NDR_DEVICE constexpr int column_of(int k) {
    static_assert(STEPS == 1 || V == 1, "chunks that lie apart are single elements");
    return STEPS == 1 ? k : k * NDR_WARP;
  }
  template <int STEPS> static NDR_DEVICE int first_column(int lane) {
    return V * ((lane & ~(NDR_WARP - 1)) * STEPS + (lane & (NDR_WARP - 1)));
  }

  /* ---- how many loads a thread has in flight ---- */

  enum { MOST = 16, FEW = 4, ACCUMULATOR_BYTES = 64 };

  /* Of `steps` chunks of all arrays: bytes that come from memory, and registers that they take on their way. */
  static NDR_DEVICE constexpr int chunk_bytes(int steps) {
    int bytes = 0;
    for (int k = 0; k < arrays; k++) {
      int way = NDR_WAY_OF(WAYS, k);
      if (!(way & (NDR_WAY_FIXED | NDR_WAY_AGAIN)))
        bytes += ((way & 3) == NDR_WAY_SAME ? 1 : steps * V) * Arrays::bytes(k);
    }
    return bytes;
  }
  static NDR_DEVICE constexpr int chunk_registers(int steps) {
    int registers = 0;
    for (int k = 0; k < arrays; k++) {
      int way = NDR_WAY_OF(WAYS, k), kind = way & 3, size = Arrays::bytes(k), words = (size + 3) / 4;
      if (way & NDR_WAY_FIXED) continue;
      int loads = kind == NDR_WAY_SHIFTED ? 2 : 1;
      registers += kind == NDR_WAY_SAME       ? words
                   : kind == NDR_WAY_ELEMENTS ? steps * V * words
                                              : steps * loads * ((V * size + 3) / 4);
    }
    return registers;
  }
  /* Chunks in flight, or rows of `steps` chunks: of NDR_FLIGHT_BYTES of all arrays or more, unless they take too many
   * registers. The planner counts the same (ndr_count_batch). */
  static NDR_DEVICE constexpr int batch(int steps = 1) { return batch_of(NDR_FLIGHT_BYTES(WAYS, steps), steps); }
  static NDR_DEVICE constexpr int batch_of(int bytes, int steps) {
    int rows = 1;
    while (rows < MOST && rows * chunk_bytes(steps) < bytes &&
           2 * rows * chunk_registers(steps) <= NDR_FLIGHT_REGISTERS)
      rows *= 2;
    return rows;
  }
  /* Runs, or outputs, that a thread reads at a time, STEPS chunks of each. */
  template <int STEPS> static NDR_DEVICE constexpr int spots() { return batch() > STEPS ? batch() / STEPS : 1; }
  template <int STEPS> static NDR_DEVICE constexpr int own_spots() {
    int outputs = 8;
    while (outputs > 1 && (outputs > spots<STEPS>() || outputs * (int)sizeof(Accumulator) > ACCUMULATOR_BYTES))
      outputs /= 2;
    return outputs;
  }

  /* ---- boundaries ---- */

  /* The first array whose neighbours come with one load, or -1. */
  static NDR_DEVICE constexpr int decider() {
    for (int k = 0; k < arrays; k++)
      if ((NDR_WAY_OF(WAYS, k) & 3) == NDR_WAY_VECTOR) return k;
    return -1;
  }
  /* Elements from a place to the next one at which a load of a whole chunk may begin. */
  static NDR_DEVICE int before_boundary(const spot &s) {
    if constexpr (V == 1 || decider() < 0)
      return 0;
    else
      return (int)(-((i64)s.at[decider()] / Arrays::bytes(decider())) & (V - 1));
  }

  /* ---- arrays' ends ---- */

  static NDR_DEVICE constexpr bool is_shifted(int k) { return (NDR_WAY_OF(WAYS, k) & 3) == NDR_WAY_SHIFTED; }
  static NDR_DEVICE constexpr bool shifts() {
    for (int k = 0; k < arrays; k++)
      if (is_shifted(k) && !(NDR_WAY_OF(WAYS, k) & NDR_WAY_FIXED)) return true;
    return false;
  }
  /* Whether the chunks here and up to `last` steps further can be loaded as a whole. */
  static NDR_DEVICE bool within(const ndr_program_params &q, const spot &s, const stride &by, int last) {
    bool all = true;
#pragma unroll
    for (int k = 0; k < arrays; k++) {
      if (!is_shifted(k) || NDR_WAY_OF(WAYS, k) & NDR_WAY_FIXED) continue;
      const char *further = s.at[k] + last * by.bytes[k], *most = by.bytes[k] > 0 ? further : s.at[k];
      all = all && most + (2 * V * Arrays::bytes(k) - 1) <= array_end_of<Arrays>(q, k);
    }
    return all;
  }

  /* ---- walking ---- */

  /* Loads and folds the chunks at `at` and every `apart`-th after it, `by` a chunk; `left` follow. Calls
   * fold(rows, spot), where rows is an array of Row, a loose_row or a spread_row, that begins at the spot. BATCH of
   * them are in flight, and what is left over comes in smaller batches: loads under conditions keep their registers for
   * the whole loop. */
  template <class Row, int BATCH, class Fold>
  static NDR_DEVICE void fold_each(const ndr_program_params &q, int axis, spot &at, const stride &by, int left,
                                   int apart, const Fold &fold) {
#pragma unroll 1
    for (; left > (BATCH - 1) * apart && within(q, at, by, BATCH - 1); left -= BATCH * apart) {
      Row rows[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++, at.step_arrays(by)) rows[u].load(q, axis, at);
#pragma unroll
      for (int u = 0; u < BATCH; u++) rows[u].settle();
      fold(rows, at);
      at.step_indices(by, BATCH);
    }
    if constexpr (BATCH > FEW)
      fold_each<Row, BATCH / 2>(q, axis, at, by, left, apart, fold);
    else if constexpr (shifts())
      fold_ends<Row>(q, axis, at, by, left, apart, fold);
    else if constexpr (BATCH > 1)
      fold_last<Row, BATCH - 1>(q, axis, at, by, left, apart, fold);
  }
  /* The same, one chunk after the other: a chunk may reach an array's end. */
  template <class Row, class Fold>
  static NDR_DEVICE void fold_ends(const ndr_program_params &q, int axis, spot &at, const stride &by, int left,
                                   int apart, const Fold &fold) {
#pragma unroll 1
    for (; left > 0; left -= apart) {
      Row rows[1];
      rows[0].load_last(q, axis, at);
      rows[0].settle();
      fold(rows, at);
      at.step_arrays(by);
      at.step_indices(by, 1);
    }
  }
  template <class Row, int MOST_LEFT, class Fold>
  static NDR_DEVICE void fold_last(const ndr_program_params &q, int axis, spot &at, const stride &by, int left,
                                   int apart, const Fold &fold) {
    Row rows[MOST_LEFT][1];
#pragma unroll
    for (int u = 0; u < MOST_LEFT; u++, at.step_arrays(by))
      if (left > u * apart) rows[u][0].load(q, axis, at);
#pragma unroll
    for (int u = 0; u < MOST_LEFT; u++, at.step_indices(by, 1))
      if (left > u * apart) fold(rows[u], at);
  }

  /* ---- folding ---- */

  static NDR_DEVICE void set_places(const ndr_program_params &q, value &x, const spot &s, int axis, i64 n) {
    set_places_from<0>(q, x, s, axis, n);
  }
  template <int K>
  static NDR_DEVICE void set_places_from(const ndr_program_params &q, value &x, const spot &s, int axis, i64 n) {
    if constexpr (K < places) {
      x.template set_place<K>(s.place[K] + n * q.places[K].step[axis]);
      set_places_from<K + 1>(q, x, s, axis, n);
    }
  }

  /* Folds a chunk of one output, which begins n elements behind a place along `axis`. */
  static NDR_DEVICE void fold_chunk(const ndr_program_params &q, Accumulator &a, const loose_row &loose,
                                    const fixed_row &fixed, int axis, const spot &s, i64 n) {
    value x[V];
    i64 step = q.base.axes[axis].index_step;
#pragma unroll
    for (int i = 0; i < V; i++) {
      loose.set(x[i], i);
      fixed.set(x[i], i);
      set_places(q, x[i], s, axis, n + i);
    }
    Op::template fold<V>(a, x, s.index + n * step, step, q.base);
  }

  /* How many of N chunks of one output are folded together: a divisor of N, at most 16 elements; 1 if the operator
   * needs indices. */
  template <int N> static NDR_DEVICE constexpr int group_size() {
    int most = Op::indexed ? 1 : 16 / V, count = N < most ? N : most;
    while (N % count) count--;
    return count;
  }
  /* Folds COUNT chunks of one output together, numbers `first`, first + 1, ...; they lie `apart` elements apart. EACH:
   * each has a chunk of what is fixed, too; otherwise all have the same. */
  template <int COUNT, bool EACH>
  static NDR_DEVICE void fold_group(const ndr_program_params &q, Accumulator &a, const loose_row *loose,
                                    const fixed_row *fixed, int axis, const spot &s, int first, i64 apart) {
    if constexpr (COUNT == 1) {
      fold_chunk(q, a, loose[first], fixed[EACH ? first : 0], axis, s, first * apart);
    } else {
      value x[COUNT * V];
#pragma unroll
      for (int u = 0; u < COUNT; u++) {
#pragma unroll
        for (int i = 0; i < V; i++) {
          loose[first + u].set(x[u * V + i], i);
          fixed[EACH ? first + u : 0].set(x[u * V + i], i);
          set_places(q, x[u * V + i], s, axis, (first + u) * apart + i);
        }
      }
      Op::template fold<COUNT * V>(a, x, 0, 0, q.base);
    }
  }
  /* Folds N chunks of one output, `apart` elements apart. */
  template <int N>
  static NDR_DEVICE void fold_chunks(const ndr_program_params &q, Accumulator &a, const loose_row (&loose)[N],
                                     const fixed_row &fixed, int axis, const spot &s, i64 apart) {
    const int size = group_size<N>();
#pragma unroll
    for (int first = 0; first < N; first += size) fold_group<size, false>(q, a, loose, &fixed, axis, s, first, apart);
  }

  /* Loads and folds one element, n behind a place along `axis`. */
  static NDR_DEVICE void fold_element(const ndr_program_params &q, Accumulator &a, int axis, spot s, i64 n) {
    const u32 single = WAYS & 0x88888u; /* ELEMENTS, and not fixed */
    row<Arrays, Arrays, 1, single, false, 0> one;
    value x[1];
    s.template step<true>(q, axis, n);
    one.load(q, axis, s);
    one.set(x[0], 0);
    set_places(q, x[0], s, axis, 0);
    Op::template fold<1>(a, x, s.index, q.base.axes[axis].index_step, q.base);
  }

  /* Folds N rows, each of STEPS chunks of V outputs, `rows` apart along the walked axis. */
  template <int STEPS, int N>
  static NDR_DEVICE void fold_columns(const ndr_program_params &q, Accumulator *a,
                                      const spread_row<false, STEPS> (&loose)[N], const spread_row<true, STEPS> &fixed,
                                      const spot &s, int axis, i64 rows) {
    i64 step = rows * q.base.axes[axis].index_step;
#pragma unroll
    for (int k = 0; k < STEPS * V; k++) {
      value x[N];
#pragma unroll
      for (int u = 0; u < N; u++) {
        loose[u].set(x[u], k);
        fixed.set(x[u], k);
        set_column_places<0>(q, x[u], s, axis, u * rows, column_of<STEPS>(k));
      }
      Op::template fold<N>(a[k], x, s.index, step, q.base);
    }
  }
  /* Place indices of column c of the row n behind a place along `axis`. */
  template <int K>
  static NDR_DEVICE void set_column_places(const ndr_program_params &q, value &x, const spot &s, int axis, i64 n,
                                           int c) {
    if constexpr (K < places) {
      x.template set_place<K>(s.place[K] + n * q.places[K].step[axis] + c * q.places[K].step[0]);
      set_column_places<K + 1>(q, x, s, axis, n, c);
    }
  }
};

#endif
