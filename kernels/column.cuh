/* What a thread reads of a row: an element, some elements that lie a warp apart, an aligned vector, an aligned vector
 * that may begin before the array, or as many elements as a vector holds, from any of them on. The last come in two
 * aligned vectors, the second of which is the next thread's first and so in the first-level cache, and are shifted into
 * place. */
#ifndef NDR_COLUMN_CUH
#define NDR_COLUMN_CUH

#include "walk.cuh"

enum reading { READ_ELEMENT, READ_SPREAD, READ_VECTOR, READ_PHASED, READ_SHIFTED };

/* Two aligned vectors, one behind the other. What the thread wants begins `phase` bytes behind the start of the first;
 * where phase is 0 the second does not matter. */
struct vector_pair {
  ndr_vector first, second;
  u32 phase;
};

NDR_DEVICE u32 phase_of(const void *at) {
  return (u32)(unsigned long long)at & 15;
}

/* The vector within a pair. BYTES is an element's size, and so divides the phase. Selects take the place of branches:
 * phases differ from warp to warp only, but a jump costs more. */
template <int BYTES> NDR_DEVICE ndr_vector shifted(const vector_pair &pair) {
  u32 word[8];
#pragma unroll
  for (int i = 0; i < 4; i++) word[i] = pair.first.word[i], word[4 + i] = pair.second.word[i];
  if (BYTES <= 8) {
#pragma unroll
    for (int i = 0; i < 6; i++) word[i] = pair.phase & 8 ? word[i + 2] : word[i];
  }
  if (BYTES <= 4) {
#pragma unroll
    for (int i = 0; i < 5; i++) word[i] = pair.phase & 4 ? word[i + 1] : word[i];
  }
  if (BYTES <= 2) {
#pragma unroll
    for (int i = 0; i < 4; i++) word[i] = machine::funnel_shift(word[i], word[i + 1], 8 * pair.phase);
  }
  return {{word[0], word[1], word[2], word[3]}};
}

/* The end of the array, beyond which nothing may be read. Where its last bytes do not fill an aligned vector, they are
 * read element by element. */
template <class T> struct array_end {
  static const int elements = 16 / sizeof(T);
  const T *begin, *end;
  NDR_DEVICE array_end(const ndr_params &p) {
    begin = (const T *)p.data;
    end = begin + p.extent;
  }

  /* Whether both vectors of the pair at `at` lie before the end. */
  NDR_DEVICE bool behind(const T *at) const { return at + (2 * elements - 1) <= end; }

  /* The first byte that no whole aligned vector of the array holds. */
  NDR_DEVICE const char *whole() const { return (const char *)end - phase_of(end); }

  /* What the array has of the vector at whole(); other bytes are 0. */
  NDR_DEVICE ndr_vector load_rest() const {
    typedef typename choose<sizeof(T) == 1, u8, typename choose<sizeof(T) == 2, u16, u32>::type>::type part;
    const int parts = 4 / sizeof(part);
    const part *from = (const part *)whole();
    int first = from < (const part *)begin ? (int)((const part *)begin - from) : 0,
        last = (int)((const part *)end - from);
    ndr_vector rest;
#pragma unroll
    for (int w = 0; w < 4; w++) {
      rest.word[w] = 0;
#pragma unroll 1
      for (int i = w * parts; i < (w + 1) * parts; i++)
        if (i >= first && i < last)
          rest.word[w] |= (u32)machine::load_element(from + i) << i % parts * 8 * sizeof(part);
    }
    return rest;
  }
};

/* A thread's columns where the `count` that it reads at a time are neighbours. */
template <int COUNT> struct neighbours {
  static const int count = COUNT;
  /* The first column, of the team's `columns`, that the thread on a lane reads; at least `columns` if it reads none. */
  static NDR_DEVICE int first_column(int lane, int) { return lane * count; }
  /* The number, in the team, of column c of this lane; at least `columns` if another thread writes it. */
  static NDR_DEVICE int team_column(int lane, int c, int) { return lane * count + c; }
};

/* How a thread reads: `count` elements of a row come as a `loaded`. `singly`: they take a load each. within() says
 * whether load() reads nothing behind the array's end; where it would, load_last() reads element by element. */
template <class T, reading HOW> struct reader : neighbours<HOW == READ_ELEMENT ? 1 : (int)(16 / sizeof(T))> {
  static const bool singly = HOW == READ_ELEMENT;
  typedef typename choose<HOW == READ_ELEMENT, T, ndr_vector>::type loaded;
  static NDR_DEVICE bool within(const ndr_params &, const T *) { return true; }
  static NDR_DEVICE T load(const T *at, T) { return machine::load_element(at); }
  static NDR_DEVICE ndr_vector load(const T *at, ndr_vector) { return machine::load_vector(at); }
  static NDR_DEVICE loaded load(const T *at) { return load(at, loaded()); }
  static NDR_DEVICE loaded load_last(const ndr_params &, const T *at) { return load(at); }
  static NDR_DEVICE const ndr_vector &vector_of(const ndr_vector &vector) { return vector; }
};

template <class T> struct spread_elements {
  static const int count = NDR_SPREAD_COLUMNS, words = (sizeof(T) + 3) / 4;
  union {
    T element[count];
    u32 word[count * words];
  };
  NDR_DEVICE spread_elements() {}
};

/* A warp reads a strip of NDR_WARP * count columns. If a team's last warp has fewer, its strip begins earlier and ends
 * with the team's columns; another warp or team writes what it reads before its own. */
template <class T> struct reader<T, READ_SPREAD> {
  static const bool singly = true;
  static const int count = NDR_SPREAD_COLUMNS;
  typedef spread_elements<T> loaded;
  static NDR_DEVICE loaded load(const T *at) {
    loaded row;
#pragma unroll
    for (int c = 0; c < count; c++)
      machine::load_bytes<sizeof(T), true>(row.word + c * loaded::words, at + c * NDR_WARP);
    return row;
  }
  static NDR_DEVICE int strip_begin(int lane) {
    return (lane & ~(NDR_WARP - 1)) * count;
  }
  static NDR_DEVICE int first_column(int lane, int columns) {
    int most = columns - NDR_WARP * count;
    if (strip_begin(lane) >= columns) return columns;
    return (strip_begin(lane) < most ? strip_begin(lane) : most) + (lane & (NDR_WARP - 1));
  }
  static NDR_DEVICE int team_column(int lane, int c, int columns) {
    int k = first_column(lane, columns) + c * NDR_WARP;
    return k >= strip_begin(lane) ? k : columns;
  }
};

template <class T> struct reader<T, READ_SHIFTED> : neighbours<(int)(16 / sizeof(T))> {
  static const bool singly = false;
  typedef vector_pair loaded;
  static NDR_DEVICE bool within(const ndr_params &p, const T *at) { return array_end<T>(p).behind(at); }
  /* Both loads always happen: registers that a load leaves alone under a condition are taken for the whole loop. */
  static NDR_DEVICE vector_pair load(const T *at) {
    u32 phase = phase_of(at);
    const char *first = (const char *)at - phase;
    return {machine::keep_vector(first), machine::keep_vector(first + ((phase + 15) & 16)), phase};
  }
  static NDR_DEVICE vector_pair load_last(const ndr_params &p, const T *at) {
    vector_pair pair;
    array_end<T> end(p);
    pair.phase = phase_of(at);
    const char *first = (const char *)at - pair.phase, *whole = end.whole();
    pair.first = pair.second = end.load_rest();
    if (first < whole) pair.first = machine::keep_vector(first);
    if (pair.phase && first + 16 < whole) pair.second = machine::keep_vector<16>(first);
    return pair;
  }
  static NDR_DEVICE ndr_vector vector_of(const vector_pair &pair) { return shifted<sizeof(T)>(pair); }
};

/* What a thread reads of a row for an operator, and how many rows at a time. */
template <class Op, reading HOW> struct column : reader<typename Op::element, HOW> {
  typedef typename Op::element T;
  typedef typename Op::value V;
  static const int count = reader<T, HOW>::count;
  /* Where accumulators are large, a multiprocessor holds fewer blocks, and a thread whose vectors hold more than four
   * elements has half as many loads in flight. */
  static const bool light = sizeof(typename Op::Accumulator) <= 8 && sizeof(typename Op::Accumulator) * count <= 32;
  static const int few = HOW == READ_ELEMENT  ? NDR_LOADS_THREAD_ELEMENTS
                         : HOW == READ_SPREAD ? NDR_SPREAD_ROWS(sizeof(T))
                         : HOW == READ_VECTOR ? NDR_LOADS_THREAD_VECTORS
                                              : NDR_LOADS_THREAD_SHIFTED;
  static const int rows = HOW == READ_VECTOR && !light && count > 4 ? few / 2 : few;
  /* At a block less, accumulators between light and large are hardly spilled. Vectors leave room for them as it is. */
  static constexpr int blocks(int most) {
    const int bytes = sizeof(typename Op::Accumulator);
    if (HOW == READ_SPREAD) return bytes * count <= 32 ? most : bytes * count <= 64 ? most - 1 : most / 2;
    const bool middling = HOW == READ_ELEMENT ? bytes <= 16 && sizeof(T) <= 4 : bytes <= 8 && bytes * count <= 64;
    if (HOW == READ_VECTOR) return light || middling || bytes * count <= 16 ? most : most - 1;
    return light ? most : middling ? most - 1 : most / 2;
  }
  static NDR_DEVICE void open(const T &element, V *x) { x[0] = value_of<V>(element); }
  static NDR_DEVICE void open(const spread_elements<T> &row, V *x) {
#pragma unroll
    for (int c = 0; c < count; c++) x[c] = value_of<V>(row.element[c]);
  }
  static NDR_DEVICE void open(const ndr_vector &vector, V *x) {
    unpack<Op>(vector, x);
  }
  static NDR_DEVICE void open(const vector_pair &pair, V *x) {
    unpack<Op>(shifted<sizeof(T)>(pair), x);
  }
};

/* What the kernels of the thread family run. */
template <class Op, reading HOW> using narrow_column = column<typename narrowed<Op>::type, HOW>;
template <class Op> struct residency<NDR_KERNEL_THREAD_VECTORS, Op> : narrow_column<Op, READ_VECTOR> {};
template <class Op> struct residency<NDR_KERNEL_THREAD_SHIFTED, Op> : narrow_column<Op, READ_SHIFTED> {};
template <class Op> struct residency<NDR_KERNEL_THREAD_FEW, Op> : narrow_column<Op, READ_SHIFTED> {};
template <class Op> struct residency<NDR_KERNEL_THREAD_ELEMENTS, Op> : narrow_column<Op, READ_ELEMENT> {};
template <class Op> struct residency<NDR_KERNEL_THREAD_SPREAD, Op> : column<Op, READ_SPREAD> {};

#endif
