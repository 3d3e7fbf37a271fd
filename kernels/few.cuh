/* Family thread where rows are few and begin anywhere. A thread loads up to NDR_FEW_LOADS rows of its columns at once:
 * those of one vector of columns, or where all of these are too few to keep memory busy, of several, its parts. There
 * is code for each number of rows, because outputs of few elements leave only few instructions to each. */
#ifndef NDR_FEW_CUH
#define NDR_FEW_CUH

#include "thread.cuh"

template <class Op> struct few_rows {
  typedef typename Op::element T;
  typedef typename Op::Accumulator Accumulator;
  typedef column<Op, READ_SHIFTED> C;
  /* Rows that are loaded at once, and parts that are accumulated at once: as many as there are registers for. */
  static const int most = NDR_FEW_LOADS(sizeof(T)), bytes = C::count * (int)sizeof(Accumulator);
  static const int most_parts = bytes <= 32 ? NDR_FEW_PARTS(2, sizeof(T)) : bytes <= 64 ? 2 : 1;
  Accumulator a[most_parts][C::count];

  /* Folds ROWS rows from number `first` on, which is at `at`. Parts are `pitch` columns apart. */
  template <int ROWS, int PARTS> NDR_DEVICE void fold_batch(const ndr_params &p, const T *at, int pitch, int first) {
    const ndr_param_axis &rows = walked_axis(p);
    vector_pair pair[PARTS][ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; row++, at += rows.stride) {
#pragma unroll
      for (int part = 0; part < PARTS; part++) pair[part][row] = C::load(at + part * pitch);
    }
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
      ndr_vector vector[ROWS];
#pragma unroll
      for (int row = 0; row < ROWS; row++) vector[row] = shifted<sizeof(T)>(pair[part][row]);
      fold_batch_of<Op, READ_SHIFTED, ROWS>(p, a[part], vector, p.index_origin + first * rows.index_step,
                                            rows.index_step);
    }
  }

  NDR_DEVICE void clear() {
#pragma unroll
    for (int part = 0; part < most_parts; part++) {
#pragma unroll
      for (int c = 0; c < C::count; c++) a[part][c] = Op::identity();
    }
  }

  /* Makes part 1 part 0, and so on. */
  NDR_DEVICE void next_part() {
#pragma unroll
    for (int part = 0; part + 1 < most_parts; part++) {
#pragma unroll
      for (int c = 0; c < C::count; c++) a[part][c] = a[part + 1][c];
    }
  }

  /* Folds the last `rows` rows, 1 to ROWS. ALL: they are all that there are, and several parts are folded at once. */
  template <int ROWS, bool ALL>
  NDR_DEVICE void fold_rows(const ndr_params &p, const T *at, int pitch, int first, int rows) {
    if constexpr (ROWS > 1) {
      if (rows < ROWS) {
        fold_rows<ROWS - 1, ALL>(p, at, pitch, first, rows);
        return;
      }
    }
    const int PARTS = ALL ? NDR_FEW_PARTS(ROWS, sizeof(T)) : 1;
    fold_batch<ROWS, (PARTS < most_parts ? PARTS : most_parts)>(p, at, pitch, first);
  }

  NDR_DEVICE void fold(const ndr_params &p, const T *at, int pitch) {
    int rows = few_rows_of(p), first = 0;
    if (rows <= most) {
      fold_rows<most, true>(p, at, pitch, 0, rows);
      return;
    }
#pragma unroll 1
    for (; rows - first > most; first += most, at += most * walked_axis(p).stride)
      fold_batch<most, 1>(p, at, pitch, first);
    fold_rows<most, false>(p, at, pitch, first, rows - first);
  }

  /* Folds row by row, and nothing behind the array's end. The last part comes to lie at most_parts - 1. */
  NDR_DEVICE void fold_carefully(const ndr_params &p, const T *first, int pitch, int left) {
#pragma unroll 1
    for (int part = 0; part < most_parts; part++, first += pitch, left -= pitch) {
      Accumulator total[C::count];
      const T *at = first;
      i64 index = p.index_origin;
#pragma unroll
      for (int c = 0; c < C::count; c++) total[c] = Op::identity();
#pragma unroll 1
      for (int row = 0; row < p.length && left > 0; row++, at += walked_axis(p).stride) {
        fold_row<Op, READ_SHIFTED>(p, total, C::within(p, at) ? C::load(at) : C::load_last(p, at), index);
        index += walked_axis(p).index_step;
      }
      next_part();
#pragma unroll
      for (int c = 0; c < C::count; c++) a[most_parts - 1][c] = total[c];
    }
  }
};

/* The planner gives mapped columns to other kernels. Here code for them would cost time though it is never run: outputs
 * have few instructions each. */
template <class Op> NDR_DEVICE void reduce_few(const ndr_params &p) {
  machine::assume(!is_mapped(p));
  typedef few_rows<Op> few;
  column_team team(p);
  team_spot t = spot_of(p, machine::block(), team.number);
  int pitch = p.thread.lanes.count * few::C::count;
  int at_once = p.thread.parts < few::most_parts ? p.thread.parts : few::most_parts;
#pragma unroll 1
  for (int done = 0; done < p.thread.parts; done += at_once) {
    few rows;
    const typename Op::element *at = (const typename Op::element *)p.data + t.at.offset + team.lane * few::C::count;
    int left = (int)t.columns - team.lane * few::C::count;
    rows.clear();
    if (left > 0) {
      const typename Op::element *last = at + (at_once - 1) * pitch + (p.length - 1) * walked_axis(p).stride;
      if (few::C::within(p, last))
        rows.fold(p, at, pitch);
      else
        rows.fold_carefully(p, at, pitch, left);
    }
#pragma unroll 1
    for (int part = 0; part < at_once; part++) {
      emit_team<Op, READ_SHIFTED>(p, t, rows.a[0], team);
      rows.next_part();
      t.at.step(p.axes[0], pitch);
      t.columns -= pitch;
    }
  }
}

template <class Op> NDR_DEVICE void thread_few(const ndr_params &p) {
  reduce_few<typename narrowed<Op>::type>(p);
}

#endif
