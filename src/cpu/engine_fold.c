#include "cpu/engine.h"

static int log2_of(int64_t bytes) {
  int log = 0;
  while (bytes > 1 << log) log++;
  return log;
}

/* Rows in the order of ascending index, as the kernels' rule for ties wants them. */
static void reverse(ndr_tile *tile, int64_t bytes) {
  int64_t last = tile->rows - 1;
  tile->data = (const char *)tile->data + last * tile->row_stride * bytes;
  tile->index += last * tile->index_row;
  tile->row_stride = -tile->row_stride;
  tile->index_row = -tile->index_row;
}

static const ndr_tile *view(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_tile *tile, ndr_dtype to,
                            ndr_tile *converted) {
  if (to == engine->problem->dtype) return tile;
  ndr_convert *convert = engine->isa->convert[engine->problem->dtype][to];
  int64_t bytes = (int64_t)ndr_dtype_bytes(to);
  *converted = *tile;
  converted->data = scratch->converted;
  converted->row_stride = tile->lanes;
  if (tile->row_stride == tile->lanes)
    convert(tile->data, scratch->converted, tile->rows * tile->lanes);
  else
    for (int64_t row = 0; row < tile->rows; row++)
      convert((const char *)tile->data + row * tile->row_stride * engine->bytes,
              scratch->converted + row * tile->lanes * bytes, tile->lanes);
  return converted;
}

static void fold_tile(const ndr_engine *engine, const ndr_scratch *scratch, ndr_tile *tile, uint64_t *block,
                      int64_t output) {
  const ndr_nest *nest = engine->nest;
  if (engine->indexed && tile->index_row < 0) reverse(tile, engine->bytes);
  if (nest->lane_stride != 1 && tile->lanes > 1) {
    engine->isa->gather[log2_of(engine->bytes)](tile->data, tile->row_stride, nest->lane_stride, scratch->gathered,
                                                tile->rows, tile->lanes);
    tile->data = scratch->gathered;
    tile->row_stride = tile->lanes;
  }
  ndr_tile converted;
  const ndr_tile *seen = NULL;
  ndr_dtype shown = engine->problem->dtype;
  for (int i = 0; i < engine->problem->op_count; i++) {
    const ndr_engine_op *op = &engine->ops[i];
    if (!seen || op->view != shown) seen = view(engine, scratch, tile, op->view, &converted);
    shown = op->view;
    op->fold(seen, block + op->block + output, nest->pitch);
  }
}

/* A run in whole rows, then the groups that are left as a row of their own. */
static void fold_run(const ndr_engine *engine, const ndr_scratch *scratch, ndr_tile *tile, int64_t groups,
                     uint64_t *block, int64_t output) {
  const ndr_nest *nest = engine->nest;
  int64_t row = nest->lanes / nest->period, rest = groups % row;
  ndr_tile tail = *tile;
  tile->rows = groups / row;
  if (tile->rows) {
    fold_tile(engine, scratch, tile, block, output);
    tail.fresh = false;
  }
  if (!rest) return;
  tail.data = (const char *)tail.data + (groups - rest) * (nest->row_stride / row) * engine->bytes;
  tail.index += (groups - rest) * nest->lane_index;
  tail.lanes = rest * nest->period;
  tail.rows = 1;
  fold_tile(engine, scratch, &tail, block, output);
}

void ndr_engine_fold(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_cursor *kept,
                     const ndr_cursor *reduced, uint64_t *block, int64_t position, bool fresh) {
  const ndr_nest *nest = engine->nest;
  int64_t blocks = nest->block_axis < 0 ? 0 : reduced->at[nest->block_axis];
  int64_t output = position * nest->period;
  ndr_tile tile = {.data = engine->data + (kept->offset + reduced->offset) * engine->bytes,
                   .lanes = nest->lanes,
                   .row_stride = nest->row_stride,
                   .period = nest->period,
                   .index = engine->problem->index_origin + reduced->index,
                   .index_row = nest->row_index,
                   .index_lane = nest->lane_index,
                   .fresh = fresh};
  if (nest->form == NDR_NEST_RUN) {
    int64_t full = nest->rows * (nest->lanes / nest->period), left = nest->extent - blocks * full;
    fold_run(engine, scratch, &tile, left < full ? left : full, block, output);
    return;
  }
  int64_t rows = nest->row_extent - blocks * nest->rows;
  tile.rows = rows < nest->rows ? rows : nest->rows;
  if (nest->form == NDR_NEST_ROWS) {
    int64_t lanes = nest->extent - (nest->part_axis < 0 ? 0 : kept->at[nest->part_axis] * nest->lanes);
    tile.lanes = tile.period = lanes < nest->lanes ? lanes : nest->lanes;
  }
  fold_tile(engine, scratch, &tile, block, output);
}
