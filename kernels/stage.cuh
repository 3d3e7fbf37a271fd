/* Contiguous memory that a block copies to shared memory, past its registers, and what a thread folds from there. */
#ifndef NDR_STAGE_CUH
#define NDR_STAGE_CUH

#include "walk.cuh"

/* Memory that is being copied. */
template <class T> struct copying {
  T *stage;  /* where its first element goes */
  T end;     /* an element that this thread copies alone, */
  int place; /* and where it belongs; -1: there is none */
};

/* Starts to copy `count` elements to `room` in shared memory. They keep their misalignment, so that vectors are aligned
 * there, too. The ends that are no whole vectors go through registers one by one. */
template <class T> NDR_DEVICE copying<T> start_copy(const T *first, int count, unsigned char *room) {
  const int elements = 16 / sizeof(T), BATCH = 4;
  int thread = machine::thread(), past = (int)((unsigned long long)first % 16 / sizeof(T));
  int head = past ? elements - past : 0;
  if (head > count) head = count;
  int vectors = (count - head) / elements, ends = count - vectors * elements;
  copying<T> c = {(T *)room + past, T(), thread < head ? thread : thread + vectors * elements};
  if (thread < ends)
    c.end = machine::load_element(first + c.place);
  else
    c.place = -1;
  const T *from = first + head + thread * elements;
  T *to = c.stage + head + thread * elements;
#pragma unroll 1
  for (int left = vectors - thread; left > 0; left -= BATCH * NDR_BLOCK) {
#pragma unroll
    for (int u = 0; u < BATCH; u++)
      if (left > u * NDR_BLOCK) machine::copy_vector(to + u * NDR_BLOCK * elements, from + u * NDR_BLOCK * elements);
    to += BATCH * NDR_BLOCK * elements;
    from += BATCH * NDR_BLOCK * elements;
  }
  machine::group_copies();
  return c;
}

/* Waits for a copy; LATER of those that were started after it may still be under way. */
template <int LATER, class T> NDR_DEVICE const T *await_copy(const copying<T> &c) {
  if (c.place >= 0) c.stage[c.place] = c.end;
  machine::await_copies<LATER>();
  machine::barrier();
  return c.stage;
}

/* Folds N elements, `step` apart, and goes on behind them. */
template <class Op, int N, class Step>
NDR_DEVICE void fold_some(const ndr_params &p, typename Op::Accumulator &a, const typename Op::element *&from,
                          Step step, i64 &index, i64 apart) {
  typename Op::value x[N];
#pragma unroll
  for (int u = 0; u < N; u++) x[u] = value_of<typename Op::value>(from[u * step]);
  Op::template fold<N>(a, x, index, apart, p);
  from += N * step;
  index += N * apart;
}

/* A step of 1 that the compiler knows. */
struct unit_step {
  NDR_DEVICE operator int() const { return 1; }
};

/* Folds `count` elements, `step` apart. */
template <class Op, class Step>
NDR_DEVICE void fold_spread(const ndr_params &p, typename Op::Accumulator &a, const typename Op::element *from,
                            int count, Step step, i64 index, i64 apart) {
  const int MOST = sizeof(typename Op::value) <= 8 ? 8 : 4;
#pragma unroll 1
  for (int left = count; left >= MOST; left -= MOST) fold_some<Op, MOST>(p, a, from, step, index, apart);
  if (MOST > 4 && count & 4) fold_some<Op, 4>(p, a, from, step, index, apart);
  if (count & 2) fold_some<Op, 2>(p, a, from, step, index, apart);
  if (count & 1) fold_some<Op, 1>(p, a, from, step, index, apart);
}

/* Folds a lane's vectors of a dense row of `length` elements, and its elements before the first and behind the last of
 * them. ALIGNED: the row begins with a vector. */
template <class Op, bool ALIGNED>
NDR_DEVICE void fold_row_vectors(const ndr_params &p, typename Op::Accumulator &a, const typename Op::element *row,
                                 i64 index, int length, int lane, int lanes) {
  typedef typename Op::element T;
  const int elements = 16 / sizeof(T);
  int past = ALIGNED ? 0 : (int)((unsigned long long)row % 16 / sizeof(T)), head = past ? elements - past : 0;
  int vectors = (length - head) / elements, whole = vectors * elements;
  i64 apart = walked_axis(p).index_step;
  const ndr_vector *vector = (const ndr_vector *)(row + head);
#pragma unroll 2
  for (int v = lane; v < vectors; v += lanes)
    fold_vector_of<Op>(p, a, vector[v], index + (head + v * elements) * apart, apart);
#pragma unroll 1
  for (int e = lane; e < length - whole; e += lanes) {
    int at = e < head ? e : e + whole;
    fold_one<Op>(p, a, row[at], index + at * apart);
  }
}

#endif
