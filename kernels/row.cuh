/* Chunks of several arrays: where they lie, how they are loaded, and how they are folded. See operands.cuh. */
#ifndef NDR_ROW_CUH
#define NDR_ROW_CUH

#include "walk.cuh"

/* The storage types of a problem's arrays, in their order. */
template <class... T> struct array_list {
  static const int count = sizeof...(T);
  static NDR_DEVICE constexpr int bytes(int k) {
    const int sizes[] = {(int)sizeof(T)...};
    return sizes[k];
  }
};

template <class... T> struct voided { typedef void type; };
/* How many place indices an operator's values have. */
template <class Value, class = void> struct places_of { static const int count = 0; };
template <class Value> struct places_of<Value, typename voided<decltype(Value::places)>::type> {
  static const int count = Value::places;
};

NDR_DEVICE const void *array_data(const ndr_program_params &q, int k) {
  return k == 0 ? q.base.data : q.operands[k > 0 ? k - 1 : 0].data;
}
NDR_DEVICE i64 array_stride(const ndr_program_params &q, int k, int axis) {
  return k == 0 ? q.base.axes[axis].stride : q.operands[k > 0 ? k - 1 : 0].stride[axis];
}

/* What a step along an axis adds to a place: bytes by array, to the place indices, and to the flattened index. */
template <class Arrays, int PLACES, u32 WAYS> struct array_step {
  i64 bytes[Arrays::count], place[PLACES ? PLACES : 1], index;
  /* n steps along an axis. FASTEST: the ways say what strides are 1 or 0; WALKED: which are 0. */
  template <bool FASTEST, bool WALKED>
  static NDR_DEVICE array_step along(const ndr_program_params &q, int axis, i64 n) {
    array_step s;
#pragma unroll
    for (int k = 0; k < Arrays::count; k++) {
      const int way = NDR_WAY_OF(WAYS, k), kind = way & 3;
      bool dense = FASTEST && (kind == NDR_WAY_VECTOR || kind == NDR_WAY_SHIFTED);
      bool still = (FASTEST && kind == NDR_WAY_SAME) || (WALKED && (way & NDR_WAY_FIXED));
      s.bytes[k] = still ? 0 : dense ? n * Arrays::bytes(k) : n * array_stride(q, k, axis) * Arrays::bytes(k);
    }
#pragma unroll
    for (int k = 0; k < PLACES; k++) s.place[k] = n * q.places[k].step[axis];
    s.index = n * q.base.axes[axis].index_step;
    return s;
  }
};

/* The end of array k, beyond which nothing may be read. */
template <class Arrays> NDR_DEVICE const char *array_end_of(const ndr_program_params &q, int k) {
  i64 extent = k == 0 ? q.base.extent : q.operands[k > 0 ? k - 1 : 0].extent;
  return (const char *)array_data(q, k) + extent * Arrays::bytes(k);
}

/* A place of the walk: where its element of each array lies, its place indices, its flattened index and result. */
template <class Arrays, int PLACES, u32 WAYS> struct array_spot {
  typedef array_step<Arrays, PLACES, WAYS> stride;
  const char *at[Arrays::count];
  i64 place[PLACES ? PLACES : 1];
  i64 index, result;
  static NDR_DEVICE array_spot start(const ndr_program_params &q) {
    array_spot s;
#pragma unroll
    for (int k = 0; k < Arrays::count; k++) s.at[k] = (const char *)array_data(q, k);
#pragma unroll
    for (int k = 0; k < PLACES; k++) s.place[k] = q.places[k].start;
    s.index = q.base.index_origin;
    s.result = 0;
    return s;
  }
  /* Only where elements lie. */
  NDR_DEVICE void step_arrays(const stride &by) {
#pragma unroll
    for (int k = 0; k < Arrays::count; k++) at[k] += by.bytes[k];
  }
  /* Only the indices, `times` steps at once. */
  NDR_DEVICE void step_indices(const stride &by, int times) {
#pragma unroll
    for (int k = 0; k < PLACES; k++) place[k] += times * by.place[k];
    index += times * by.index;
  }
  template <bool FASTEST = false> NDR_DEVICE void step(const ndr_program_params &q, int axis, i64 n) {
    stride by = stride::template along<FASTEST, false>(q, axis, n);
    step_arrays(by);
    step_indices(by, 1);
  }
  NDR_DEVICE void step_kept(const ndr_program_params &q, int axis, i64 n) {
    i64 before = index;
    step(q, axis, n);
    index = before;
    result += n * q.base.axes[axis].result_stride;
  }
  /* Steps to number n of a walk over `count` axes from number `first` on, innermost first. */
  template <bool KEPT> NDR_DEVICE void walk(const ndr_program_params &q, int first, int count, i64 n) {
    if (count <= 0) return;
    if (count == 1) {
      step_one<KEPT>(q, first, n);
      return;
    }
#pragma unroll 1
    for (int a = first; a < first + count; a++) {
      quotient d = {0, n};
      if (a + 1 < first + count) d = divide(q.base, q.base.axes[a], n);
      step_one<KEPT>(q, a, d.rest);
      n = d.whole;
    }
  }

private:
  template <bool KEPT> NDR_DEVICE void step_one(const ndr_program_params &q, int axis, i64 n) {
    if constexpr (KEPT)
      step_kept(q, axis, n);
    else
      step(q, axis, n);
  }
};

/* ---- loads ---- */

/* COUNT elements side by side. */
template <class T, int COUNT> struct chunk {
  static const int bytes = COUNT * (int)sizeof(T);
  union {
    T element[COUNT];
    u32 word[(bytes + 3) / 4];
  };
  NDR_DEVICE chunk() {}
};

/* The part of an element that its address is a multiple of. */
template <class T> struct part_of { static const int bytes = sizeof(T); };
template <class R> struct part_of<complex<R>> { static const int bytes = sizeof(R); };

template <class T, bool AGAIN> NDR_DEVICE void load_one(chunk<T, 1> &to, const char *at) {
  const int bytes = part_of<T>::bytes;
#pragma unroll
  for (int b = 0; b < (int)sizeof(T); b += bytes) machine::load_bytes<bytes, AGAIN>(to.word + b / 4, at + b);
}

/* What a thread holds of V neighbours of an array; `along` is the bytes from one to the next. */
template <class T, int V, int WAY, int KIND = WAY & 3> struct held;
template <class T, int V, int WAY> struct held<T, V, WAY, NDR_WAY_ELEMENTS> {
  chunk<T, 1> each[V];
  NDR_DEVICE void load(const char *at, i64 along) {
#pragma unroll
    for (int i = 0; i < V; i++) load_one<T, (V > 1 || WAY & NDR_WAY_AGAIN)>(each[i], at + i * along);
  }
  NDR_DEVICE const T &of(int i) const {
    return each[i].element[0];
  }
};
template <class T, int V, int WAY> struct held<T, V, WAY, NDR_WAY_VECTOR> {
  chunk<T, V> all;
  NDR_DEVICE void load(const char *at, i64) {
    const int bytes = chunk<T, V>::bytes, unit = bytes < 16 ? bytes : 16;
#pragma unroll
    for (int b = 0; b < bytes; b += unit)
      machine::load_bytes<unit, (WAY & NDR_WAY_AGAIN) != 0>(all.word + b / 4, at + b);
  }
  NDR_DEVICE const T &of(int i) const {
    return all.element[i];
  }
};
template <class T, int V, int WAY> struct held<T, V, WAY, NDR_WAY_SAME> {
  chunk<T, 1> one;
  NDR_DEVICE void load(const char *at, i64) { load_one<T, true>(one, at); }
  NDR_DEVICE const T &of(int) const { return one.element[0]; }
};
/* Moves BYTES, which begin `phase` bytes behind the start of words of twice as many bytes, to their start. Phases are
 * multiples of an element's size. Selects take the place of branches, as in column.cuh. */
template <int ELEMENT, int BYTES, int WORDS> NDR_DEVICE void shift_words(u32 (&word)[WORDS], u32 phase) {
  if constexpr (BYTES == 16 && ELEMENT <= 8) {
#pragma unroll
    for (int i = 0; i < 6; i++) word[i] = phase & 8 ? word[i + 2] : word[i];
  }
  if constexpr (BYTES >= 8 && ELEMENT <= 4) {
#pragma unroll
    for (int i = 0; i < BYTES / 4 + 1; i++) word[i] = phase & 4 ? word[i + 1] : word[i];
  }
  if constexpr (BYTES >= 4 && ELEMENT <= 2) {
#pragma unroll
    for (int i = 0; i < BYTES / 4; i++) word[i] = machine::funnel_shift(word[i], word[i + 1], 8 * phase);
  }
  if constexpr (BYTES == 2) word[0] = (word[0] | word[1] << 16) >> 8 * phase;
}

/* Neighbours that begin anywhere: two aligned loads, the second of which is mostly another thread's first. */
template <class T, int V, int WAY> struct held<T, V, WAY, NDR_WAY_SHIFTED> {
  static const int bytes = V * (int)sizeof(T), words = (bytes + 3) / 4;
  static_assert(bytes <= 16 && V > 1, "a chunk is one vector at most");
  union {
    T element[V];
    u32 word[2 * words];
  };
  u32 phase;
  NDR_DEVICE held() {}
  /* Whether a load here stays before the array's end. */
  static NDR_DEVICE bool within(const char *at, const char *end) { return at + (2 * bytes - 1) <= end; }
  NDR_DEVICE void load(const char *at, i64) {
    phase = (u32)(unsigned long long)at & (bytes - 1);
    const char *first = at - phase;
    machine::load_bytes<bytes, true, true>(word, first);
    machine::load_bytes<bytes, true, true>(word + words, phase ? first + bytes : first);
  }
  /* The elements that lie before the array's end, one by one. */
  NDR_DEVICE void load_last(const char *at, const char *end) {
    phase = 0;
#pragma unroll
    for (int i = 0; i < V; i++) {
      chunk<T, 1> one;
      one.word[0] = 0;
      if (at + (i + 1) * (int)sizeof(T) <= end) load_one<T, true>(one, at + i * (int)sizeof(T));
      element[i] = one.element[0];
    }
  }
  NDR_DEVICE void settle() {
    shift_words<part_of<T>::bytes, bytes>(word, phase);
  }
  NDR_DEVICE const T &of(int i) const {
    return element[i];
  }
};
struct held_nothing {
  NDR_DEVICE void load(const char *, i64) {}
};

/* A chunk of each array of a list that is fixed along the walked axis, or of each that is not. K counts arrays. */
template <class Arrays, class List, int V, u32 WAYS, bool FIXED, int K> struct row {
  template <class Spot> NDR_DEVICE void load(const ndr_program_params &, int, const Spot &) {}
  template <class Spot> NDR_DEVICE void load_last(const ndr_program_params &, int, const Spot &) {}
  NDR_DEVICE void settle() {}
  template <class Value> NDR_DEVICE void set(Value &, int) const {}
};
template <class Arrays, class T, class... Rest, int V, u32 WAYS, bool FIXED, int K>
struct row<Arrays, array_list<T, Rest...>, V, WAYS, FIXED, K> {
  static const int way = NDR_WAY_OF(WAYS, K);
  static const bool here = FIXED == ((way & NDR_WAY_FIXED) != 0);
  typename choose<here, held<T, V, way>, held_nothing>::type own;
  row<Arrays, array_list<Rest...>, V, WAYS, FIXED, K + 1> rest;

  /* Loads the chunk along `axis` at a place. */
  template <class Spot> NDR_DEVICE void load(const ndr_program_params &q, int axis, const Spot &s) {
    if constexpr (here) own.load(s.at[K], array_stride(q, K, axis) * (int)sizeof(T));
    rest.load(q, axis, s);
  }
  /* The same where some array's load might reach beyond its end. */
  template <class Spot> NDR_DEVICE void load_last(const ndr_program_params &q, int axis, const Spot &s) {
    if constexpr (here && (way & 3) == NDR_WAY_SHIFTED) {
      const char *end = array_end_of<Arrays>(q, K);
      if (own.within(s.at[K], end))
        own.load(s.at[K], 0);
      else
        own.load_last(s.at[K], end);
    } else {
      own.load(s.at[K], array_stride(q, K, axis) * (int)sizeof(T));
    }
    rest.load_last(q, axis, s);
  }
  /* Makes elements of what was loaded. */
  NDR_DEVICE void settle() {
    if constexpr (here && (way & 3) == NDR_WAY_SHIFTED) own.settle();
    rest.settle();
  }
  /* Hands element i of each array to a value. */
  template <class Value> NDR_DEVICE void set(Value &x, int i) const {
    if constexpr (here) x.template set<K>(own.of(i));
    rest.set(x, i);
  }
};

/* ---- an operator, its arrays, and how they are read ---- */

template <class Op, class Arrays, int ELEMENTS, u32 WAYS> struct operand_kit {
  typedef typename Op::Accumulator Accumulator;
  typedef typename Op::value value;
  static const int elements = ELEMENTS, V = ELEMENTS, arrays = Arrays::count, places = places_of<value>::count;
  typedef array_spot<Arrays, places, WAYS> spot;
  typedef typename spot::stride stride;
  typedef row<Arrays, Arrays, V, WAYS, false, 0> loose_row;
  typedef row<Arrays, Arrays, V, WAYS, true, 0> fixed_row;

  /* ---- how many loads a thread has in flight ---- */

  enum { FLIGHT_BYTES = 64, FLIGHT_REGISTERS = 40, MOST = 16, FEW = 4, ACCUMULATOR_BYTES = 64 };

  /* Bytes of a chunk of all arrays that are not fixed, and the registers that it takes on its way. */
  static NDR_DEVICE constexpr int chunk_bytes() {
    int bytes = 0;
    for (int k = 0; k < arrays; k++) {
      int way = NDR_WAY_OF(WAYS, k);
      if (!(way & NDR_WAY_FIXED)) bytes += ((way & 3) == NDR_WAY_SAME ? 1 : V) * Arrays::bytes(k);
    }
    return bytes;
  }
  static NDR_DEVICE constexpr int chunk_registers() {
    int registers = 0;
    for (int k = 0; k < arrays; k++) {
      int way = NDR_WAY_OF(WAYS, k), kind = way & 3, size = Arrays::bytes(k), words = (size + 3) / 4;
      if (way & NDR_WAY_FIXED) continue;
      int loads = kind == NDR_WAY_SHIFTED ? 2 : 1;
      registers += kind == NDR_WAY_SAME ? words : kind == NDR_WAY_ELEMENTS ? V * words : loads * ((V * size + 3) / 4);
    }
    return registers;
  }
  /* Chunks in flight: FLIGHT_BYTES of all arrays or more, unless they take too many registers. */
  static NDR_DEVICE constexpr int batch() {
    int chunks = 1;
    while (chunks < MOST && chunks * chunk_bytes() < FLIGHT_BYTES && 2 * chunks * chunk_registers() <= FLIGHT_REGISTERS)
      chunks *= 2;
    return chunks;
  }
  /* Runs, or outputs, that a thread reads at a time, STEPS chunks of each. */
  template <int STEPS> static NDR_DEVICE constexpr int spots() { return batch() > STEPS ? batch() / STEPS : 1; }
  template <int STEPS> static NDR_DEVICE constexpr int own_spots() {
    const int most = ACCUMULATOR_BYTES / (int)sizeof(Accumulator);
    return most < 1 ? 1 : spots<STEPS>() < most ? spots<STEPS>() : most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : 1;
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
   * fold(rows, spot), where rows is an array of loose_row that begins at the spot. BATCH of them are in flight, and
   * what is left over comes in smaller batches: loads under conditions keep their registers for the whole loop. */
  template <int BATCH, class Fold>
  static NDR_DEVICE void fold_each(const ndr_program_params &q, int axis, spot &at, const stride &by, int left,
                                   int apart, const Fold &fold) {
    for (; left > (BATCH - 1) * apart && within(q, at, by, BATCH - 1); left -= BATCH * apart) {
      loose_row rows[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++, at.step_arrays(by)) rows[u].load(q, axis, at);
#pragma unroll
      for (int u = 0; u < BATCH; u++) rows[u].settle();
      fold(rows, at);
      at.step_indices(by, BATCH);
    }
    if constexpr (BATCH > FEW)
      fold_each<BATCH / 2>(q, axis, at, by, left, apart, fold);
    else if constexpr (shifts())
      fold_ends(q, axis, at, by, left, apart, fold);
    else if constexpr (BATCH > 1)
      fold_last<BATCH - 1>(q, axis, at, by, left, apart, fold);
  }
  /* One chunk after the other, of which some may reach an array's end. */
  template <class Fold>
  static NDR_DEVICE void fold_ends(const ndr_program_params &q, int axis, spot &at, const stride &by, int left,
                                   int apart, const Fold &fold) {
#pragma unroll 1
    for (; left > 0; left -= apart) {
      loose_row rows[1];
      rows[0].load_last(q, axis, at);
      rows[0].settle();
      fold(rows, at);
      at.step_arrays(by);
      at.step_indices(by, 1);
    }
  }
  template <int MOST_LEFT, class Fold>
  static NDR_DEVICE void fold_last(const ndr_program_params &q, int axis, spot &at, const stride &by, int left,
                                   int apart, const Fold &fold) {
    loose_row rows[MOST_LEFT][1];
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

  /* Folds N chunks of one output, `apart` elements apart. Operators that know no index get up to 16 elements at once.
   */
  template <int N>
  static NDR_DEVICE void fold_chunks(const ndr_program_params &q, Accumulator &a, const loose_row (&loose)[N],
                                     const fixed_row &fixed, int axis, const spot &s, i64 apart) {
    const int group = Op::indexed || V >= 16 ? 1 : V * N <= 16 ? N : 16 / V;
    if constexpr (group == 1) {
#pragma unroll
      for (int u = 0; u < N; u++) fold_chunk(q, a, loose[u], fixed, axis, s, u * apart);
    } else {
#pragma unroll
      for (int first = 0; first < N; first += group) {
        value x[group * V];
#pragma unroll
        for (int u = 0; u < group; u++) {
#pragma unroll
          for (int i = 0; i < V; i++) {
            loose[first + u].set(x[u * V + i], i);
            fixed.set(x[u * V + i], i);
            set_places(q, x[u * V + i], s, axis, (first + u) * apart + i);
          }
        }
        Op::template fold<group * V>(a, x, 0, 0, q.base);
      }
    }
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

  /* Folds N rows, each a chunk of V outputs, `rows` apart along the walked axis. */
  template <int N>
  static NDR_DEVICE void fold_columns(const ndr_program_params &q, Accumulator *a, const loose_row (&loose)[N],
                                      const fixed_row &fixed, const spot &s, int axis, i64 rows) {
    i64 step = rows * q.base.axes[axis].index_step;
#pragma unroll
    for (int c = 0; c < V; c++) {
      value x[N];
#pragma unroll
      for (int u = 0; u < N; u++) {
        loose[u].set(x[u], c);
        fixed.set(x[u], c);
        set_column_places<0>(q, x[u], s, axis, u * rows, c);
      }
      Op::template fold<N>(a[c], x, s.index, step, q.base);
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

/* Blocks of a kernel that a multiprocessor holds: fewer where accumulators, or the elements in flight, take more
 * registers than that leaves. */
template <ndr_kernel KERNEL, class Op, class Arrays, int ELEMENTS, int STEPS, u32 WAYS> struct operand_residency {
  typedef operand_kit<Op, Arrays, ELEMENTS, WAYS> Kit;
  static constexpr int blocks(int light) {
    const int held = KERNEL == NDR_KERNEL_OPERANDS_COLUMNS ? ELEMENTS
                     : KERNEL == NDR_KERNEL_OPERANDS_ROWS  ? Kit::template own_spots<STEPS>()
                                                           : 1;
    const int bytes = held * (int)sizeof(typename Op::Accumulator) + 4 * Kit::batch() * Kit::chunk_registers() +
                      16 * (Arrays::count + Kit::places);
    return bytes <= 136 ? light : bytes <= 216 ? light - 1 : 2;
  }
};

#endif
