/* Folds a tile into states: gathers and converts its elements if need be, and then calls the kernels of fold/fold.h. */
#include "cpu/program/machine.h"

ndr_engine_op ndr_engine_describe(const ndr_isa *isa, const ndr_canonical *problem, int number, ndr_state state,
                                  ndr_lane_runs runs) {
  bool skip = state.skip_nan && ndr_dtype_is_float(state.dtype);
  ndr_engine_op described = {.number = number,
                             .state = state,
                             .view = ndr_fold_dtype(state.op, problem->dtype, problem->accumulate_f64),
                             .words = ndr_state_size(&state)};
  described.fold = isa->fold[skip][described.view][state.op];
  if (runs == NDR_LONG_RUNS && !skip) described.across = isa->along[problem->dtype][state.op];
  if (runs && !skip && !described.across) described.across = isa->across[problem->dtype][state.op];
  if (!skip) described.listed = isa->listed[problem->dtype][state.op];
  if (!skip) described.turned = isa->turned[problem->dtype][state.op];
  described.join = isa->join(&described.state);
  return described;
}

int64_t ndr_elements_to_end(const ndr_canonical *problem) {
  int64_t last = 0; /* only a scattered axis may have a negative stride */
  for (int k = 0; k < problem->kept_count; k++) last += (problem->kept[k].size - 1) * problem->kept[k].stride;
  for (int r = 0; r < problem->reduced_count; r++) {
    const ndr_axis *axis = &problem->reduced[r];
    int64_t stride = axis->scattered ? problem->row_stride : axis->stride;
    if (stride > 0) last += (axis->size - 1) * stride;
  }
  return last + 1;
}

/* Kernels of argmin and argmax need rows in ascending order of index, because ties go to the first row. */
static void fold_op(const ndr_engine *engine, const ndr_engine_op *op, const ndr_tile *tile, uint64_t *states) {
  if (tile->index_row >= 0 || !ndr_op_is_index(op->state.op)) {
    op->fold(tile, states + op->block, engine->nest->pitch);
    return;
  }
  ndr_tile reversed = *tile;
  int64_t last = tile->rows - 1;
  reversed.data = (const char *)tile->data + last * tile->row_stride * (int64_t)ndr_dtype_bytes(op->view);
  reversed.index += last * tile->index_row;
  reversed.row_stride = -tile->row_stride;
  reversed.index_row = -tile->index_row;
  op->fold(&reversed, states + op->block, engine->nest->pitch);
}

/* Converts rows first .. first + rows - 1 of a tile. */
static void convert(const ndr_engine *engine, const ndr_tile *tile, int64_t first, int64_t rows, ndr_dtype to,
                    void *converted) {
  ndr_convert *elements = engine->isa->convert[engine->problem->dtype][to];
  const int64_t bytes = (int64_t)ndr_dtype_bytes(to), row_bytes = tile->lanes * engine->bytes;
  const bool prefetches = tile->ahead || tile->rows_ahead;
  if (tile->row_stride == tile->lanes && !tile->rows_at) {
    if (prefetches) ndr_prefetch(ndr_row_ahead(tile, first, engine->bytes), rows * row_bytes);
    elements(ndr_row_at(tile, first, engine->bytes), converted, rows * tile->lanes);
    return;
  }
  for (int64_t row = 0; row < rows; row++) {
    if (prefetches) ndr_prefetch(ndr_row_ahead(tile, first + row, engine->bytes), row_bytes);
    elements(ndr_row_at(tile, first + row, engine->bytes), (char *)converted + row * tile->lanes * bytes, tile->lanes);
  }
}

/* Folds ops first .. end - 1, whose dtype is not the array's. Converts as many rows at a time as scratch holds. */
static void fold_converted(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_tile *tile, int first,
                           int end, uint64_t *states) {
  ndr_dtype to = engine->ops[first].view;
  /* For a run, a quarter of a tile, so that the source stays in the first-level cache. For rows of outputs a whole
   * tile, so that states are merged as few times as possible. */
  int64_t room = tile->period < tile->lanes ? NDR_TILE_BYTES / 4 : NDR_TILE_BYTES;
  int64_t rows = room / (tile->lanes * (int64_t)ndr_dtype_bytes(to));
  if (rows < 1) rows = 1;
  for (int64_t row = 0; row < tile->rows; row += rows) {
    ndr_tile part = *tile;
    part.rows = tile->rows - row < rows ? tile->rows - row : rows;
    part.index += row * tile->index_row;
    part.fresh = tile->fresh && row == 0;
    convert(engine, tile, row, part.rows, to, scratch->converted);
    part.data = scratch->converted;
    part.rows_at = NULL;
    part.row_stride = part.lanes;
    part.spare = NDR_SPARE_BYTES / (int64_t)ndr_dtype_bytes(to);
    part.cached = true;
    part.rows_ahead = part.ahead = 0;
    for (int i = first; i < end; i++)
      if (!engine->ops[i].across) fold_op(engine, &engine->ops[i], &part, states);
  }
}

/* Folds the ops that take lanes as they lie in memory; returns how many others there are. */
static int fold_across(const ndr_engine *engine, const ndr_tile *tile, uint64_t *states) {
  int left = 0;
  for (int i = 0; i < engine->fold_count; i++)
    if (engine->ops[i].across)
      engine->ops[i].across(tile, states + engine->ops[i].block, engine->nest->pitch);
    else
      left++;
  return left;
}

static void read_gathered(const ndr_engine *engine, const ndr_scratch *scratch, ndr_tile *tile) {
  tile->data = scratch->gathered;
  tile->row_stride = tile->lanes;
  tile->spare = NDR_SPARE_BYTES / engine->bytes;
  tile->cached = true;
  tile->rows_ahead = tile->ahead = 0;
}

/* Gathers a tile of lanes with `layers` elements each, one right after the other, into rows that have the lanes of all
 * layers. Each row's elements are transposed; those of all rows at once, where the rows of a lane lie one after the
 * other. */
static void gather_layers(const ndr_engine *engine, const ndr_scratch *scratch, int64_t layers, ndr_tile *tile) {
  ndr_gather *gather = engine->isa->gather[log2_of(engine->bytes)];
  const int64_t width = layers * tile->lanes, together = tile->row_stride == layers ? tile->rows : 1;
  for (int64_t row = 0; row < tile->rows; row += together)
    gather(ndr_row_at(tile, row, engine->bytes), 1, tile->lane_stride, scratch->gathered + row * width * engine->bytes,
           together * layers, tile->lanes, 0);
  tile->lanes = tile->period = width;
  read_gathered(engine, scratch, tile);
}

/* Gathers a tile if need be, and folds the ops that do not take lanes as they lie. */
static void fold_gathered(const ndr_engine *engine, const ndr_scratch *scratch, ndr_tile *tile, uint64_t *states) {
  const ndr_nest *nest = engine->nest;
  if (nest->lane_stride != 1 && tile->lanes > 1 && !tile->cached) {
    engine->isa->gather[log2_of(engine->bytes)](tile->data, tile->row_stride / nest->row_gap, nest->lane_stride,
                                                scratch->gathered, (tile->rows - 1) * nest->row_gap + 1, tile->lanes,
                                                tile->ahead);
    read_gathered(engine, scratch, tile);
    tile->row_stride *= nest->row_gap;
  }
  for (int i = 0, end; i < engine->fold_count; i = end) {
    ndr_dtype view = engine->ops[i].view;
    for (end = i; end < engine->fold_count && engine->ops[end].view == view; end++)
      if (view == engine->problem->dtype && !engine->ops[end].across) fold_op(engine, &engine->ops[end], tile, states);
    if (view != engine->problem->dtype) fold_converted(engine, scratch, tile, i, end, states);
  }
}

static void fold_tile(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_tile_place *place, ndr_tile *tile,
                      uint64_t *states) {
  const int64_t step = engine->nest->gather_rows, apart = step * tile->row_stride * engine->bytes;
  if (engine->machine) ndr_machine_fold(engine, scratch->machine, place, tile, states);
  if (fold_across(engine, tile, states) == 0) return;
  while (tile->rows > step) {
    tile->rows_ahead = 0;
    ndr_tile part = *tile;
    part.rows = step;
    if (tile->ahead) part.ahead = apart;
    fold_gathered(engine, scratch, &part, states);
    tile->data = (const char *)tile->data + apart;
    tile->index += step * tile->index_row;
    tile->rows -= step;
    tile->fresh = false;
    if (tile->ahead) tile->ahead -= apart;
  }
  fold_gathered(engine, scratch, tile, states);
}

/* What a tile `offset` elements from engine->data has to spare; 0 where a table places rows. */
static int64_t spare_behind(const ndr_engine *engine, const ndr_tile *tile, int64_t offset) {
  return engine->rows ? 0 : ndr_spare_behind(tile, engine->to_end - offset);
}

/* Folds the whole rows of a run, and then the groups that are left as a row of their own. */
static void fold_run(const ndr_engine *engine, const ndr_scratch *scratch, ndr_tile_place *place, ndr_tile *tile,
                     int64_t offset, int64_t groups, uint64_t *states) {
  const ndr_nest *nest = engine->nest;
  const struct ndr_machine *machine = engine->machine;
  int64_t row = nest->lanes / nest->period, rest = groups % row;
  int64_t tail_offset = (groups - rest) * (nest->row_stride / row);
  ndr_tile tail = *tile;
  tile->rows = groups / row;
  tile->spare = spare_behind(engine, tile, offset);
  if (tile->rows) {
    fold_tile(engine, scratch, place, tile, states);
    tail.fresh = false;
  }
  if (!rest) return;
  tail.data = (const char *)tail.data + tail_offset * engine->bytes;
  tail.index += (groups - rest) * nest->lane_index;
  tail.lanes = rest * nest->period;
  tail.rows = 1;
  tail.spare = spare_behind(engine, &tail, offset + tail_offset);
  for (int w = 0; machine && w < machine->walked_count; w++) place->at[w] += (groups - rest) * machine->walked[w].lane;
  fold_tile(engine, scratch, place, &tail, states);
}

void ndr_engine_fold(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_cursor *kept,
                     const ndr_cursor *reduced, ndr_tile_place *place, uint64_t *block, int64_t position, int64_t ahead,
                     bool fresh) {
  const ndr_nest *nest = engine->nest;
  int64_t blocks = nest->row_axis < 0 ? 0 : reduced->at[nest->row_axis];
  uint64_t *states = block + position * nest->period;
  int64_t offset = kept->offset + reduced->offset;
  ndr_tile tile = {.data = engine->data + offset * engine->bytes,
                   .lanes = nest->lanes,
                   .row_stride = nest->row_stride,
                   .lane_stride = nest->lane_stride,
                   .period = nest->period,
                   .index = engine->problem->index_origin + reduced->index,
                   .index_row = nest->row_index,
                   .index_lane = nest->lane_index,
                   .ahead = ahead * engine->bytes,
                   .in_f64 = engine->problem->accumulate_f64,
                   .fresh = fresh};
  int64_t scattered = 0; /* the first element along the scattered axis */
  if (nest->scattered_axis >= 0)
    scattered = reduced->at[nest->scattered_axis] * nest->reduced[nest->scattered_axis].share;
  if (engine->rows && !nest->rows_scattered)
    tile.data = (const char *)tile.data + engine->rows[scattered] * engine->problem->row_stride * engine->bytes;
  if (nest->form == NDR_NEST_RUN) {
    int64_t row = nest->lanes / nest->period, full = nest->rows * row, left = nest->extent - blocks * full;
    fold_run(engine, scratch, place, &tile, offset, left < full + row ? left : full, states);
    return;
  }
  int64_t rows = nest->row_extent - blocks * nest->rows;
  tile.rows = rows < nest->rows ? rows : nest->rows;
  if (nest->form == NDR_NEST_ROWS) tile.lanes = tile.period = ndr_lanes_at(nest, kept);
  tile.spare = spare_behind(engine, &tile, offset);
  if (nest->layers > 1) gather_layers(engine, scratch, ndr_layers_at(nest, kept), &tile);
  if (nest->rows_scattered) ndr_engine_find_rows(engine, scratch, scattered, &tile);
  tile.rows_ahead = nest->rows_ahead < tile.rows ? nest->rows_ahead : tile.rows;
  fold_tile(engine, scratch, place, &tile, states);
}
