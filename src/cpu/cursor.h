/* Places in the loops of a nest. */
#ifndef NDR_CPU_CURSOR_H
#define NDR_CPU_CURSOR_H

#include "cpu/nest.h"

/* A place in the loops outside the tile: an odometer over axes, innermost first. */
typedef struct ndr_cursor {
  const ndr_nest_axis *axes;
  int count;
  int64_t offset, index; /* of the place: elements from the first, and flattened index */
  int64_t at[NDR_MAX_DIMS + 1];
} ndr_cursor;

/* Puts the cursor at place number `flat`. */
void ndr_cursor_seek(ndr_cursor *cursor, const ndr_nest_axis *axes, int count, int64_t flat);
void ndr_cursor_advance(ndr_cursor *cursor);
/* The offset of the place that it would advance to. */
int64_t ndr_cursor_next(const ndr_cursor *cursor);

#endif
