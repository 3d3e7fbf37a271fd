/* Tiles whose rows lie along a scattered axis: a table says where each is. */
#include "cpu/engine.h"

static bool is_even(const int32_t *rows, int64_t count) {
  for (int64_t r = 2; r < count; r++)
    if (rows[r] - rows[r - 1] != rows[1] - rows[0]) return false;
  return true;
}

/* Operators with an index, whose kernels may walk the rows backwards, have no scattered axis. */
void ndr_engine_find_rows(const ndr_engine *engine, const ndr_scratch *scratch, int64_t first, ndr_tile *tile) {
  const ndr_nest *nest = engine->nest;
  const int32_t *rows = engine->rows + first;
  const char *from = tile->data;
  int64_t step = engine->problem->row_stride * engine->bytes, bytes = tile->lanes * engine->bytes;
  if (is_even(rows, tile->rows)) {
    tile->data = from + rows[0] * step;
    tile->row_stride = tile->rows > 1 ? (rows[1] - rows[0]) * engine->problem->row_stride : tile->lanes;
    return;
  }
  if (nest->lane_stride == 1) {
    tile->row_stride = engine->problem->row_stride;
    tile->rows_at = rows;
    return;
  }
  for (int64_t r = 0; r < tile->rows; r++)
    engine->isa->gather[log2_of(engine->bytes)](from + rows[r] * step, tile->lanes, nest->lane_stride,
                                                scratch->gathered + r * bytes, 1, tile->lanes, 0);
  tile->data = scratch->gathered;
  tile->row_stride = tile->lanes;
  tile->cached = true;
}
