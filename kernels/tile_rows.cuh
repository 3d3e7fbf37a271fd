/* Family tile where outputs are dense rows of one axis, a pitch apart. A block copies whole rows to shared memory, and
 * lanes of its warps fold them from there. No row has to begin on a 16-byte boundary, and a sector is read once. Rows
 * are short, so that the work for each beside folding sets the speed. */
#ifndef NDR_TILE_ROWS_CUH
#define NDR_TILE_ROWS_CUH

#include "stage.cuh"
#include "tile.cuh"

template <class Op> struct residency<NDR_KERNEL_TILE_ROWS, Op> : residency<NDR_KERNEL_TILE_COLUMNS, Op> {};

/* Folds the rows of a stage. The first is output number `first`. */
template <class Op, ndr_row_reading HOW>
NDR_DEVICE void fold_stage(const ndr_params &p, const typename Op::element *stage, i64 first, int rows) {
  const ndr_param_tile_rows &own = p.tile_rows;
  const bool whole = HOW == NDR_ROWS_WHOLE;
  int lanes = whole ? 1 : own.lanes.count, log = whole ? 0 : own.lanes.log;
  int lane = machine::thread() & (lanes - 1), team = machine::thread() >> log, teams = NDR_BLOCK >> log;
  const typename Op::element *row = stage + team * own.pitch;
  i64 along = p.axes[0].result_stride, result = (first + team) * along, apart = walked_axis(p).index_step;
#pragma unroll 1
  for (int left = rows - team; left + (whole ? 0 : team) > 0; left -= teams) { /* all lanes of a warp join */
    typename Op::Accumulator a = Op::identity();
    if (left > 0) {
      if constexpr (whole)
        fold_spread<Op>(p, a, row, own.length, unit_step(), p.index_origin, apart);
      else if constexpr (HOW == NDR_ROWS_BY_ELEMENT)
        fold_spread<Op>(p, a, row + lane, (own.length - lane + lanes - 1) >> log, lanes, p.index_origin + lane * apart,
                        lanes * apart);
      else
        fold_row_vectors<Op, HOW == NDR_ROWS_ALIGNED>(p, a, row, p.index_origin, own.length, lane, lanes);
    }
    if constexpr (!whole) join_lanes<Op>(a, lanes);
    if (lane == 0 && left > 0) emit_total<Op>(p, result, a);
    row += teams * own.pitch;
    result += teams * along;
  }
}

template <class Op> NDR_DEVICE void tile_rows(const ndr_params &p) {
  typedef typename Op::element T;
  const ndr_param_tile_rows &own = p.tile_rows;
  i64 first = machine::block() * own.rows;
  int rows = p.outputs - first < own.rows ? (int)(p.outputs - first) : own.rows;
  const T *stage = await_copy<0>(
      start_copy((const T *)p.data + first * own.pitch, (rows - 1) * own.pitch + own.length, machine::shared_bytes()));
  if (own.reading == NDR_ROWS_WHOLE)
    fold_stage<Op, NDR_ROWS_WHOLE>(p, stage, first, rows);
  else if (own.reading == NDR_ROWS_BY_ELEMENT)
    fold_stage<Op, NDR_ROWS_BY_ELEMENT>(p, stage, first, rows);
  else if (own.reading == NDR_ROWS_ALIGNED)
    fold_stage<Op, NDR_ROWS_ALIGNED>(p, stage, first, rows);
  else
    fold_stage<Op, NDR_ROWS_BY_VECTOR>(p, stage, first, rows);
}

#endif
