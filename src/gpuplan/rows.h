/* What the launches share whose threads walk rows: combinations of the reduced axes, but for those that a row holds. */
#ifndef NDR_GPUPLAN_ROWS_H
#define NDR_GPUPLAN_ROWS_H

#include "gpuplan/launch.h"

/* Puts first the reduced axis along which a block's threads, in `rows` rows, walk. The longest makes the fewest
 * stretches, whose starts are decoded; but where rows share sectors, and a stretch is some of the block's rows long, it
 * is the densest. */
void ndr_rows_order(ndr_params *p, int rows, int64_t bytes);

/* Cuts a tile's `units` rows of row_bytes each, where there are too few tiles for all multiprocessors to be busy to the
 * end; its columns are cut already, into column_splits. A thread has every rows-th row, and asks for `batch` of them at
 * a time. Returns how many splits the rows have. */
int ndr_rows_split(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int64_t units,
                   double row_bytes, int rows, int batch, int column_splits);

#endif
