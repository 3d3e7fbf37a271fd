/* Columns of two kept axes that merge in the array, but not in the result: neighbours are read together. */
#ifndef NDR_GPUPLAN_MAPPED_H
#define NDR_GPUPLAN_MAPPED_H

#include "gpuplan/launch.h"

/* Makes *columns the problem with the two fastest kept axes as one. Returns false, and leaves *columns alone, where
 * they do not merge in the array, or where there is nothing to gain. */
bool ndr_mapped_columns(const ndr_canonical *problem, ndr_canonical *columns);

/* Makes a launch that was configured for `columns` one of the problem. */
void ndr_mapped_launch(const ndr_canonical *problem, ndr_launch *launch);

#endif
