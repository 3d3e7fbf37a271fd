/* Rows, for the launches whose threads walk them. A row is a combination of the indices of the reduced axes, leaving
 * out the axis that lies within a row. */
#ifndef NDR_GPUPLAN_ROWS_H
#define NDR_GPUPLAN_ROWS_H

#include "gpuplan/launch.h"

/* Puts the axis that threads walk along before the other reduced axes. A block's threads read `rows` rows at a time.
 * The longest axis makes the fewest stretches, and each start of a stretch must be decoded. The densest axis goes first
 * where its rows share sectors and it has at least 2 * rows of them. */
void ndr_rows_order(ndr_params *p, int rows, int64_t bytes);

/* Bytes of memory for a row of a team's columns (params.thread): the sectors that it touches, or what it advances by
 * where rows overlap or share sectors. */
double ndr_rows_bytes(const ndr_params *p, int64_t bytes);

/* Whether strips of `width` columns cover an axis of `size`. All are whole, so that the last one repeats columns of the
 * one before: at most a quarter as many as there are, which costs no more than it does to shift vectors into place. */
bool ndr_rows_strips_cover(int64_t size, int64_t width);

/* The words that a state counts for when rows of wide teams are split (ndr_tiles.words). Such teams have so many states
 * that these are a good part of what is read and written: each word is posted in 16 bytes, read, and made empty again.
 */
int ndr_rows_state_cost(const ndr_canonical *problem);

/* Cuts a tile's `units` rows of row_bytes each into splits, so that all multiprocessors are busy to the end. The tile's
 * columns are already cut into column_splits. A thread reads every rows-th row and has `batch` loads in flight. Returns
 * how many splits the rows have. */
int ndr_rows_split(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int64_t units,
                   double row_bytes, int rows, int batch, int column_splits);

#endif
