/* Columns of two kept axes that merge in the array, but not in the result: neighbours are read together. */
#ifndef NDR_GPUPLAN_MAPPED_H
#define NDR_GPUPLAN_MAPPED_H

#include "gpuplan/launch.h"

/* Fills in a problem of the same array whose fastest axis has the columns of both. Returns false, and leaves it alone,
 * where the two fastest kept axes do not merge, or where there is nothing to gain. */
bool ndr_mapped_columns(const ndr_canonical *problem, ndr_canonical *columns);

/* Makes a launch that was configured for these columns one of the problem. */
void ndr_mapped_launch(const ndr_canonical *problem, ndr_launch *launch);

#endif
