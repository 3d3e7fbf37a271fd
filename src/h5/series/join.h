/* Open datasets that follow each other along a dim, as one. */
#ifndef NDR_H5_SERIES_JOIN_H
#define NDR_H5_SERIES_JOIN_H

#include "h5/file/dataset.h"

/* Makes *series of parts[count], which must be of one dtype, of the same units and, dim apart, of one shape. It owns
 * the array and its datasets if that succeeds. It owns `name`, which is NULL if there was no memory for it, in any
 * case: series->series_name. How the axes of the parts make one is to be found out by the caller. */
ndr_status ndr_series_join(ndr_h5_dataset *series, ndr_h5_dataset **parts, int count, int dim, char *name);

#endif
