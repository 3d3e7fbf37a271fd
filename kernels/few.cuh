/* Family thread where rows are few and wide, and begin anywhere. The rows of one column are too few to keep memory
 * busy, so that a thread has vectors of several columns under way. They are copied to shared memory, which takes no
 * registers. A team is a block, all of whose threads read one row. What it reads of a row is cut into parts, each of
 * which has a vector of each thread. */
#ifndef NDR_FEW_CUH
#define NDR_FEW_CUH

#include "thread.cuh"

/* A warp's columns. Its place in shared memory has room for NDR_LOADS_THREAD_FEW vectors of each thread, which lie at
 * place(part, row). The last thread of a warp needs one vector more. */
template <class Op> struct few_rows {
  typedef typename Op::element T;
  static const int count = column<Op, READ_SHIFTED>::count, width = NDR_WARP + 1;
  const T *first; /* what the warp's first thread reads */
  int vectors;    /* that it needs of a row to the end of the block's columns */
  NDR_DEVICE few_rows(const ndr_params &p, const team_spot &t)
      : first((const T *)p.data + t.at.offset + warp() * NDR_WARP * count),
        vectors(((int)t.columns + count - 1) / count + 1 - warp() * NDR_WARP) {}
  static NDR_DEVICE int warp() { return machine::thread() >> NDR_WARP_LOG; }
  static NDR_DEVICE int lane() { return machine::thread() & (NDR_WARP - 1); }
  static NDR_DEVICE i64 stride(const ndr_params &p) { return walked_axis(p).stride; }
  static NDR_DEVICE ndr_vector *place(const ndr_params &p, int part, int row) {
    return (ndr_vector *)machine::shared_bytes() + (warp() * NDR_LOADS_THREAD_FEW + part * (int)p.length + row) * width;
  }

  /* Copies the vectors of all rows, those of them that exist: what the block's columns need, but nothing behind the
   * array's end. */
  NDR_DEVICE void copy(const ndr_params &p) const {
    array_end<T> end(p);
    const char *whole = end.whole();
    const T *at = first;
    for (int row = 0; row < p.length; row++, at += stride(p)) {
      const char *from = (const char *)at - phase_of(at);
      for (int part = 0; part < p.thread.parts; part++, from += NDR_BLOCK * sizeof(ndr_vector)) {
        ndr_vector *to = place(p, part, row);
        for (int k = lane(); k < (phase_of(at) ? width : NDR_WARP); k += NDR_WARP) {
          const char *vector = from + k * sizeof(ndr_vector);
          if (part * NDR_BLOCK + k >= vectors) continue;
          if (vector < whole) machine::copy_vector(to + k, vector);
          if (vector == whole) to[k] = end.load_rest();
        }
      }
    }
    machine::group_copies();
    machine::await_copies<0>();
    machine::warp_barrier();
  }

  /* This thread's elements of a row of a part. */
  NDR_DEVICE ndr_vector vector(const ndr_params &p, int part, int row) const {
    const ndr_vector *own = place(p, part, row) + lane();
    return shifted<sizeof(T)>(vector_pair{own[0], own[1], phase_of(first + row * stride(p))});
  }
};

/* What a block reads of part number `part` of an item. */
template <class Op> NDR_DEVICE team_spot locate_part(const ndr_params &p, i64 item, int part) {
  team_spot t = locate_team(p, item);
  const int each = NDR_BLOCK * few_rows<Op>::count;
  t.at.step(p.axes[0], part * each);
  t.columns = t.columns - part * each < each ? t.columns - part * each : each;
  return t;
}

/* Writes a part of an item, located again because its place would take registers while rows are folded. */
template <class Op>
NDR_DEVICE void emit_part(const ndr_params &p, i64 item, int part, const typename Op::Accumulator *a) {
  column_team team = {0, machine::thread(), 0, 1};
  emit_team<Op, READ_SHIFTED>(p, locate_part<Op>(p, machine::opaque(item), part), a, team);
}

template <class Op> NDR_DEVICE void reduce_few(const ndr_params &p, i64 item, const few_rows<Op> &few) {
  i64 step = walked_axis(p).index_step;
  few.copy(p);
#pragma unroll 1
  for (int part = 0; part < p.thread.parts; part++) {
    typename Op::Accumulator a[few_rows<Op>::count];
#pragma unroll
    for (int c = 0; c < few_rows<Op>::count; c++) a[c] = Op::identity();
#pragma unroll 1
    for (int row = 0; row < p.length; row++)
      fold_row<Op, READ_SHIFTED>(p, a, few.vector(p, part, row), p.index_origin + row * step);
    emit_part<Op>(p, item, part, a);
  }
  machine::warp_barrier();
}

template <class Op> NDR_DEVICE void thread_few(const ndr_params &p) {
  for (i64 item = machine::block(); item < p.work; item += machine::blocks()) {
    typedef typename narrowed<Op>::type narrow;
    reduce_few<narrow>(p, item, few_rows<narrow>(p, locate_team(p, item)));
  }
}

#endif
