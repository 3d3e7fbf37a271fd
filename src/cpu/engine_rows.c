/* Tiles whose rows lie along a scattered axis: a table says where each is. */
#include <string.h>

#include "cpu/engine.h"

/* Rows between the one that is copied and the one that is prefetched, behind the last those of the next tile, which
 * lies beside this one: a row has too few lines for the processor to see a stream. */
#define ROWS_AHEAD 4

static bool is_even(const int32_t *rows, int64_t count) {
  for (int64_t r = 2; r < count; r++)
    if (rows[r] - rows[r - 1] != rows[1] - rows[0]) return false;
  return true;
}

static void prefetch(const char *row, int64_t bytes) {
  for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(row + line);
}

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
  for (int64_t r = 0; r < tile->rows; r++) {
    const char *row = from + rows[r] * step;
    char *to = scratch->gathered + r * bytes;
    if (nest->lane_stride != 1) {
      engine->isa->gather[log2_of(engine->bytes)](row, tile->lanes, nest->lane_stride, to, 1, tile->lanes, 0);
      continue;
    }
    int64_t ahead = r + ROWS_AHEAD, later = ahead >= tile->rows;
    prefetch(from + rows[later ? ahead % tile->rows : ahead] * step + (later ? bytes : 0), bytes);
    memcpy(to, row, (size_t)bytes);
  }
  tile->data = scratch->gathered;
  tile->row_stride = tile->lanes;
  tile->cached = true;
}
