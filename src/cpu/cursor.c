/* Moves cursors. */
#include "cpu/cursor.h"

void ndr_cursor_seek(ndr_cursor *cursor, const ndr_nest_axis *axes, int count, int64_t flat) {
  cursor->axes = axes;
  cursor->count = count;
  cursor->offset = cursor->index = 0;
  for (int a = 0; a < count; a++) {
    cursor->at[a] = flat % axes[a].size;
    cursor->offset += cursor->at[a] * axes[a].stride;
    cursor->index += cursor->at[a] * axes[a].index;
    flat /= axes[a].size;
  }
}

void ndr_cursor_advance(ndr_cursor *cursor) {
  for (int a = 0; a < cursor->count; a++) {
    const ndr_nest_axis *axis = &cursor->axes[a];
    cursor->offset += axis->stride;
    cursor->index += axis->index;
    if (++cursor->at[a] < axis->size) return;
    cursor->offset -= axis->size * axis->stride;
    cursor->index -= axis->size * axis->index;
    cursor->at[a] = 0;
  }
}

int64_t ndr_cursor_next(const ndr_cursor *cursor) {
  int64_t offset = cursor->offset;
  for (int a = 0; a < cursor->count; a++) {
    const ndr_nest_axis *axis = &cursor->axes[a];
    offset += axis->stride;
    if (cursor->at[a] + 1 < axis->size) break;
    offset -= axis->size * axis->stride;
  }
  return offset;
}
