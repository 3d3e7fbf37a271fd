/* Chunks of several arrays: where they lie and how they are loaded. See operands.cuh. */
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
  static NDR_DEVICE constexpr int alignment(int k) {
    const int alignments[] = {(int)alignof(T)...};
    return alignments[k];
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

/* Loads an element that lies on a multiple of PART bytes. */
template <class T, bool AGAIN, int PART = part_of<T>::bytes> NDR_DEVICE void load_one(chunk<T, 1> &to, const char *at) {
#pragma unroll
  for (int b = 0; b < (int)sizeof(T); b += PART) machine::load_bytes<PART, AGAIN>(to.word + b / 4, at + b);
}

/* A bit of WAY: elements lie on multiples of their size, not only of their parts'. */
enum { HELD_WHOLE = 1 << NDR_WAY_BITS };

/* What a thread holds of V neighbours of an array; `along` is the bytes from one to the next. */
template <class T, int V, int WAY, int KIND = WAY & 3> struct held;
template <class T, int V, int WAY> struct held<T, V, WAY, NDR_WAY_ELEMENTS> {
  static const int part = WAY & HELD_WHOLE ? (int)sizeof(T) : part_of<T>::bytes;
  chunk<T, 1> each[V];
  NDR_DEVICE void load(const char *at, i64 along) {
#pragma unroll
    for (int i = 0; i < V; i++) load_one<T, (V > 1 || WAY & NDR_WAY_AGAIN), part>(each[i], at + i * along);
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

/* A chunk of each array of a list that is fixed (NDR_WAY_FIXED), or of each that is not. K counts arrays. Chunks
 * are V neighbours, or V elements that lie DISTANCE elements from each other. */
template <class Arrays, class List, int V, u32 WAYS, bool FIXED, int K, int DISTANCE = 1> struct row {
  template <class Spot> NDR_DEVICE void load(const ndr_program_params &, int, const Spot &) {}
  template <class Spot> NDR_DEVICE void load_last(const ndr_program_params &, int, const Spot &) {}
  NDR_DEVICE void settle() {}
  template <class Value> NDR_DEVICE void set(Value &, int) const {}
};
template <class Arrays, class T, class... Rest, int V, u32 WAYS, bool FIXED, int K, int DISTANCE>
struct row<Arrays, array_list<T, Rest...>, V, WAYS, FIXED, K, DISTANCE> {
  static const int planned = NDR_WAY_OF(WAYS, K), kind = planned & 3;
  static const bool dense = kind == NDR_WAY_VECTOR || kind == NDR_WAY_SHIFTED;
  /* Elements that are read one by one though vectors of them were planned are loaded whole. */
  static const int whole = kind == NDR_WAY_VECTOR ? HELD_WHOLE : 0;
  static const int way = DISTANCE > 1 && dense ? (planned & ~3) | NDR_WAY_ELEMENTS | whole : planned;
  static const bool here = FIXED == ((way & NDR_WAY_FIXED) != 0);
  typename choose<here, held<T, V, way>, held_nothing>::type own;
  row<Arrays, array_list<Rest...>, V, WAYS, FIXED, K + 1, DISTANCE> rest;

  /* Bytes from an element of a chunk along `axis` to the next. */
  static NDR_DEVICE i64 step(const ndr_program_params &q, int axis) {
    return DISTANCE * (dense ? 1 : array_stride(q, K, axis)) * (int)sizeof(T);
  }
  /* Loads the chunk along `axis` at a place. */
  template <class Spot> NDR_DEVICE void load(const ndr_program_params &q, int axis, const Spot &s) {
    if constexpr (here) own.load(s.at[K], step(q, axis));
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
      own.load(s.at[K], step(q, axis));
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

#endif
