/* Runs the code of programs over the blocks of a tile, a strip at a time, and folds what it computes. */
#include <string.h>

#include "cpu/cuts.h"
#include "cpu/program/machine.h"

/* Bytes of an array between what is read and what is prefetched with it. */
#define BLOCK_AHEAD 8192

/* The elements of a block in one array. */
typedef struct source {
  const char *data;
  int64_t row_stride; /* in elements */
  const char *next;   /* where the block after it begins; NULL: the elements are gathered */
  bool row_factors;   /* as of a tile */
} source;

typedef struct block {
  const ndr_engine *engine;
  const struct ndr_machine *machine;
  const ndr_tile *tile; /* rows are the block's */
  ndr_tile_place place; /* next: of the block after it */
  source sources[NDR_MOST_ARRAYS];
} block;

static int64_t rounded(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static ndr_code_memory memory_of(const ndr_code *code, char **memory) {
  ndr_code_memory of = {.registers = *memory, .tiles = *memory + rounded(code->register_bytes)};
  *memory = of.tiles + rounded(code->tile_bytes);
  return of;
}

/* ---- arrays ---- */

/* Gathers a row whose lanes come in groups of `period` neighbours. */
static void gather_groups(const ndr_walked *walk, const ndr_tile *tile, const char *from, char *to, int64_t row) {
  const int64_t bytes = walk->bytes, period = tile->period;
  from += row * walk->row * bytes;
  to += row * tile->lanes * bytes;
  for (int64_t l = 0; l < tile->lanes; l += period, from += walk->lane * bytes, to += period * bytes) {
    if (walk->period == 0)
      ndr_code_fill(from, bytes, period, to);
    else
      for (int64_t p = 0; p < period; p++) memcpy(to + p * bytes, from + p * walk->period * bytes, (size_t)bytes);
  }
}

static bool lane_step(const block *b, const ndr_walked *walk, int64_t *step) {
  return ndr_walked_lane_step(walk, b->engine->nest->form, b->tile->period, b->tile->lanes, step);
}

static source take(const block *b, const ndr_code *code, int a, char *buffer) {
  const ndr_walked *walk = &b->machine->walked[a];
  const ndr_tile *tile = b->tile;
  const int64_t lanes = tile->lanes, bytes = walk->bytes;
  const char *from = walk->data + b->place.at[a] * bytes;
  int64_t step;
  bool single = lane_step(b, walk, &step);
  if (single && ndr_walked_is_direct(walk, step, lanes, tile->rows))
    return (source){
        .data = from, .row_stride = tile->rows == 1 ? lanes : walk->row, .next = walk->data + b->place.next[a] * bytes};
  if (ndr_walked_is_row_factor(code, a, single, step))
    return (source){.data = from, .row_stride = walk->row, .row_factors = true};
  source gathered = {.data = buffer, .row_stride = lanes};
  if (single && step != 0) {
    b->engine->isa->gather[log2_of(bytes)](from, walk->row, step, buffer, tile->rows, lanes, 0);
    return gathered;
  }
  for (int64_t row = 0; row < tile->rows; row++) {
    if (single)
      ndr_code_fill(from + row * walk->row * bytes, bytes, lanes, buffer + row * lanes * bytes);
    else
      gather_groups(walk, tile, from, buffer, row);
  }
  return gathered;
}

/* ---- strips ---- */

static void fill_places(const block *b, int place, const ndr_strip *s, int64_t *to) {
  const ndr_walked *walk = &b->machine->walked[b->machine->array_count + place];
  const ndr_tile *tile = b->tile;
  int64_t row = s->at / tile->lanes, lane = s->at % tile->lanes, step;
  int64_t start = b->place.at[b->machine->array_count + place];
  bool single = lane_step(b, walk, &step);
  for (int64_t i = 0; i < s->count; row++, lane = 0) {
    int64_t end = s->count - i < tile->lanes - lane ? i + s->count - i : i + tile->lanes - lane;
    int64_t first = start + row * walk->row;
    for (; single && i < end; i++, lane++) to[i] = first + lane * step;
    for (; i < end; i++, lane++) to[i] = first + lane / tile->period * walk->lane + lane % tile->period * walk->period;
  }
}

static void run_strip(const block *b, const ndr_code *code, const ndr_code_memory *memory, const ndr_strip *s) {
  for (int i = 0; b->machine->walked_count > b->machine->array_count && i < code->value_count; i++) {
    const ndr_value *value = &code->values[i];
    if (value->used && value->kind == NDR_VALUE_INDEX)
      fill_places(b, value->number, s, (int64_t *)(void *)ndr_code_where(value, memory, s));
  }
  ndr_code_run(b->engine->isa, code, memory, s);
}

/* Points a strip at its elements, which start in a row at a lane. */
static void aim(const block *b, const ndr_code *code, int64_t row, int64_t lane, ndr_strip *s) {
  for (int a = 0; a < b->machine->array_count; a++) {
    const source *from = &b->sources[a];
    int64_t bytes = b->machine->walked[a].bytes;
    if (!(code->arrays >> a & 1)) continue;
    s->elements[a] = from->data + (row * from->row_stride + lane) * bytes;
  }
}

/* Prefetches what lies BLOCK_AHEAD bytes after a strip in the order in which an array is read, in whole rows where they
 * lie apart, and over the end of the block in the next one. */
static inline __attribute__((always_inline)) void look_ahead(const block *b, const ndr_code *code, const ndr_strip *s) {
  const int64_t lanes = b->tile->lanes, total = lanes * b->tile->rows;
  for (int a = 0; a < b->machine->array_count; a++) {
    const source *from = &b->sources[a];
    int64_t bytes = b->machine->walked[a].bytes, at = s->at + BLOCK_AHEAD / bytes;
    if (!(code->arrays >> a & 1) || !from->next) continue;
    const bool dense = from->row_stride == lanes;
    if (!dense) at = s->at + ndr_cuts(BLOCK_AHEAD, lanes * bytes) * lanes;
    const char *start = at < total ? from->data : from->next;
    if (at >= total) at -= total;
    ndr_prefetch(start + (dense ? at : at / lanes * from->row_stride + at % lanes) * bytes, s->count * bytes);
  }
}

static bool follow_each_other(const block *b, const ndr_code *code) {
  for (int a = 0; a < b->machine->array_count; a++)
    if ((code->arrays & ~code->row_factor_arrays) >> a & 1 && b->sources[a].row_stride != b->tile->lanes) return false;
  return true;
}

static void run_code(const block *b, const ndr_code *code, const ndr_code_memory *memory) {
  int64_t lanes = b->tile->lanes, total = lanes * b->tile->rows;
  bool dense = follow_each_other(b, code);
  for (ndr_strip s = {.at = 0}; code->runs_strips && s.at < total; s.at += s.count) {
    const int64_t row = dense ? 0 : s.at / lanes, lane = s.at - row * lanes, left = (dense ? total : lanes) - lane;
    s.count = left < NDR_STRIP ? left : NDR_STRIP;
    aim(b, code, row, lane, &s);
    look_ahead(b, code, &s);
    run_strip(b, code, memory, &s);
  }
}

void ndr_machine_begin(const ndr_engine *engine, char *memory) {
  const struct ndr_machine *machine = engine->machine;
  for (int a = 0; a < machine->array_count; a++) memory += machine->buffer_bytes[a];
  for (int c = 0; c < machine->code_count; c++) {
    const ndr_code *code = machine->codes[c];
    ndr_code_memory of = memory_of(code, &memory);
    ndr_code_begin(engine->isa, code, &of);
  }
}

/* ---- folding ---- */

/* Kernels of argmin and argmax need rows in ascending order of index. */
static void turn_rows(ndr_tile *tile, int64_t bytes) {
  int64_t last = tile->rows - 1;
  tile->data = (const char *)tile->data + last * tile->row_stride * bytes;
  tile->row_stride = -tile->row_stride;
  if (tile->factors) tile->factors = (const uint8_t *)tile->factors + last * tile->factors_stride;
  tile->factors_stride = -tile->factors_stride;
  tile->index += last * tile->index_row;
  tile->index_row = -tile->index_row;
}

/* Where a value of a block is. */
static source folded(const block *b, const ndr_value *value, const ndr_code_memory *memory) {
  if (value->place == NDR_IN_TILE) return (source){.data = memory->tiles + value->offset, .row_stride = b->tile->lanes};
  return b->sources[value->number];
}

/* 0: the source is in a cache. */
static int64_t bytes_to_next_block(const source *from) {
  return from->next ? from->next - from->data : 0;
}

/* A tile of one output whose rows follow each other may be cut into rows of any length. Those of 32 elements have
 * kernels of their own. */
static void fold_run(const ndr_code_fold *f, const ndr_tile *tile, int64_t bytes, int64_t factors_bytes,
                     uint64_t *states, int64_t pitch) {
  int64_t total = tile->rows * tile->lanes, lanes = bytes == 1 ? NDR_MOST_RUN_LANES : 32;
  ndr_tile part = *tile;
  part.lanes = part.row_stride = lanes;
  if (tile->factors_stride) part.factors_stride = lanes;
  for (int64_t done = 0; total - done >= lanes; done += part.rows * lanes, part.fresh = false) {
    part.rows = (total - done) / lanes < NDR_ROWS ? (total - done) / lanes : NDR_ROWS;
    part.data = (const char *)tile->data + done * bytes;
    if (tile->factors_stride) part.factors = (const char *)tile->factors + done * factors_bytes;
    f->fold(&part, states, pitch);
  }
  int64_t rest = total % lanes;
  if (rest == 0) return;
  part.data = (const char *)tile->data + (total - rest) * bytes;
  if (tile->factors_stride) part.factors = (const char *)tile->factors + (total - rest) * factors_bytes;
  part.lanes = part.row_stride = rest;
  part.rows = 1;
  f->fold(&part, states, pitch);
}

/* Folds a tile, by parts where it has more lanes than the kernel takes: constants, where other folds of the same block
 * take wide tiles. */
static void fold_lanes(const ndr_code_fold *f, const ndr_tile *tile, uint64_t *states, int64_t pitch) {
  int64_t most = tile->in_order ? NDR_WIDE_LANES : NDR_LANES;
  if (tile->lanes <= most) {
    f->fold(tile, states, pitch);
    return;
  }
  ndr_tile part = *tile;
  for (int64_t done = 0; done < tile->lanes; done += part.lanes) {
    part.lanes = part.period = ndr_least(tile->lanes - done, most);
    f->fold(&part, states + done, pitch);
  }
}

/* Several kernels of two arrays may read a block. Then only the last reader of an array prefetches its next block: if
 * each did, the first would wait for memory, and memory would be idle during the others. */
static void share_ahead(const ndr_code *code, const ndr_code_fold *f, ndr_tile *tile) {
  if (!code->shares || f->factors < 0) return;
  tile->reread = true;
  if (!f->last_reader) tile->ahead = 0;
  if (!f->last_factors_reader) tile->factors_ahead = 0;
}

static void fold_one(const block *b, const ndr_code *code, const ndr_code_fold *f, const ndr_code_memory *memory,
                     uint64_t *states) {
  const ndr_value *value = &code->values[f->value];
  const ndr_value *factors = f->factors < 0 ? value : &code->values[f->factors];
  int64_t bytes = (int64_t)ndr_dtype_bytes((ndr_dtype)value->dtype), pitch = b->engine->nest->pitch;
  int64_t factors_bytes = (int64_t)ndr_dtype_bytes((ndr_dtype)factors->dtype);
  const source elements = folded(b, value, memory), beside = folded(b, factors, memory);
  ndr_tile tile = *b->tile;
  tile.lane_stride = 1;
  tile.spare = 0; /* what lies behind operands and values is not known */
  tile.data = elements.data;
  tile.row_stride = elements.row_stride;
  tile.ahead = bytes_to_next_block(&elements);
  tile.cached = elements.next == NULL;
  tile.rows_ahead = tile.cached ? 0 : ndr_least(ndr_cuts(BLOCK_AHEAD, tile.lanes * bytes), tile.rows);
  tile.factors = f->factors < 0 ? NULL : beside.data;
  tile.factors_stride = f->factors < 0 || factors->constant ? 0 : beside.row_stride;
  tile.factors_ahead = bytes_to_next_block(&beside);
  tile.row_factors = f->factors >= 0 && beside.row_factors;
  share_ahead(code, f, &tile);
  states += f->words_before * pitch;
  bool dense =
      tile.row_stride == tile.lanes && (f->factors < 0 || beside.row_stride == tile.lanes) && !tile.row_factors;
  if (tile.period == 1 && dense && tile.cached && !f->indexed) {
    fold_run(f, &tile, bytes, factors_bytes, states, pitch);
    return;
  }
  if (f->indexed && tile.index_row < 0) turn_rows(&tile, bytes);
  tile.in_order = b->engine->nest->in_order && f->in_order && !tile.cached;
  if (tile.in_order && factors->constant) tile.row_factors = true;
  fold_lanes(f, &tile, states, pitch);
}

/* Takes the arrays of a code's block, computes its values and folds them. `buffers` is a thread's memory. */
static void fold_block(block *b, const ndr_code *code, const ndr_code_memory *memory, char *buffers, uint64_t *states) {
  for (int a = 0; a < b->machine->array_count; a++) {
    if (code->arrays >> a & 1) b->sources[a] = take(b, code, a, buffers);
    buffers += b->machine->buffer_bytes[a];
  }
  run_code(b, code, memory);
  for (int f = 0; f < code->fold_count; f++) fold_one(b, code, &code->folds[f], memory, states);
}

/* Runs one code over all blocks of a tile. */
static void fold_code(const ndr_engine *engine, int number, const ndr_code_memory *memory, char *buffers,
                      const ndr_tile_place *place, const ndr_tile *tile, uint64_t *states) {
  const struct ndr_machine *machine = engine->machine;
  ndr_tile part = *tile;
  block b = {.engine = engine, .machine = machine, .tile = &part, .place = *place};
  for (int64_t row = 0; row < tile->rows; row += part.rows) {
    part.rows = ndr_least(tile->rows - row, machine->rows[number]);
    part.index = tile->index + row * tile->index_row;
    part.fresh = tile->fresh && row == 0;
    bool last = row + part.rows == tile->rows;
    for (int a = 0; a < machine->array_count; a++)
      b.place.next[a] = last ? place->next[a] : b.place.at[a] + part.rows * machine->walked[a].row;
    fold_block(&b, machine->codes[number], memory, buffers, states + machine->block[number]);
    for (int w = 0; w < machine->walked_count; w++) b.place.at[w] += part.rows * machine->walked[w].row;
  }
}

void ndr_machine_fold(const ndr_engine *engine, char *memory, const ndr_tile_place *place, const ndr_tile *tile,
                      uint64_t *states) {
  const struct ndr_machine *machine = engine->machine;
  char *buffers = memory;
  for (int a = 0; a < machine->array_count; a++) memory += machine->buffer_bytes[a];
  for (int c = 0; c < machine->code_count; c++) {
    ndr_code_memory of = memory_of(machine->codes[c], &memory);
    fold_code(engine, c, &of, buffers, place, tile, states);
  }
}
