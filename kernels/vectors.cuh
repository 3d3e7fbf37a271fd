/* Family tile where a vector holds whole rows: outputs are dense rows whose length is a small power of 2, such as
 * pairs, four bytes, or single elements that are only converted. A thread turns each vector into its outputs on its
 * own. Such launches write about as much as they read. */
#ifndef NDR_VECTORS_CUH
#define NDR_VECTORS_CUH

#include "walk.cuh"

/* Reduces this thread's vectors, up to NDR_LOADS_TILE_VECTORS of those from `first` to `end`. Vector 0 begins with the
 * row of output `head`. */
template <class Op, int LENGTH>
NDR_DEVICE void reduce_vectors(const ndr_params &p, const typename Op::element *start, i64 first, i64 end, int head) {
  const int BATCH = NDR_LOADS_TILE_VECTORS, elements = vector_traits<typename Op::element>::elements,
            outputs = elements / LENGTH;
  i64 along = p.axes[0].result_stride, step = reduced_count(p) ? p.axes[1].index_step : 0,
      number = first + machine::thread();
  ndr_vector vector[BATCH];
#pragma unroll
  for (int u = 0; u < BATCH; u++) {
    if (number + u * NDR_BLOCK < end) vector[u] = machine::keep_vector(start + (number + u * NDR_BLOCK) * elements);
  }
  /* Not unrolled, because the code of one vector is long: vector[0] is reduced, and the others move up. */
#pragma unroll 1
  for (; number < end; number += NDR_BLOCK) {
    typename Op::value x[elements];
    typename Op::Accumulator a[outputs];
    unpack<Op>(vector[0], x);
#pragma unroll
    for (int o = 0; o < outputs; o++) {
      typename Op::value row[LENGTH];
#pragma unroll
      for (int i = 0; i < LENGTH; i++) row[i] = x[o * LENGTH + i];
      a[o] = Op::identity();
      Op::template fold<LENGTH>(a[o], row, p.index_origin, step, p);
    }
    emit_row<Op, outputs>(p, (head + number * outputs) * along, along, a);
#pragma unroll
    for (int u = 0; u < BATCH - 1; u++) vector[u] = vector[u + 1];
  }
}

/* Reduces one output, element by element. */
template <class Op> NDR_DEVICE void reduce_row(const ndr_params &p, i64 output) {
  const typename Op::element *at = (const typename Op::element *)p.data + output * p.tile_vectors.row_length;
  i64 step = reduced_count(p) ? p.axes[1].index_step : 0;
  typename Op::Accumulator a = Op::identity();
  for (int i = 0; i < p.tile_vectors.row_length; i++)
    fold_one<Op>(p, a, machine::load_element(at + i), p.index_origin + i * step);
  emit_total<Op>(p, output * p.axes[0].result_stride, a);
}

/* The first block also reduces the rows before the first 16-byte boundary and after the last. */
template <class Op> NDR_DEVICE void tile_vectors(const ndr_params &p) {
  typedef typename Op::element T;
  const int elements = vector_traits<T>::elements;
  int past = (int)((unsigned long long)p.data % 16 / sizeof(T)), length = p.tile_vectors.row_length;
  int head = past ? (elements - past) / length : 0;
  if (head > p.outputs) head = (int)p.outputs;
  const T *start = (const T *)p.data + head * length;
  i64 vectors = (p.outputs - head) * length / elements, whole = head + vectors * elements / length;
  int rest = head + (int)(p.outputs - whole), thread = machine::thread();
  if (machine::block() == 0 && thread < rest) reduce_row<Op>(p, thread < head ? thread : whole + thread - head);
  i64 each = p.tile_vectors.item_vectors, first = machine::block() * each,
      end = first + each < vectors ? first + each : vectors;
  if constexpr (elements < 16)
    if (length == 1) reduce_vectors<Op, 1>(p, start, first, end, head);
  if constexpr (elements > 2)
    if (length == 2) reduce_vectors<Op, 2>(p, start, first, end, head);
  if constexpr (elements > 4)
    if (length == 4) reduce_vectors<Op, 4>(p, start, first, end, head);
  if constexpr (elements > 8)
    if (length == 8) reduce_vectors<Op, 8>(p, start, first, end, head);
}

#endif
