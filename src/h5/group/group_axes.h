/* What tells the axes that groups lie along from those of other datasets. */
#ifndef NDR_H5_GROUP_GROUP_AXES_H
#define NDR_H5_GROUP_GROUP_AXES_H

#include "h5/file/dataset.h"

/* A text that is the same for datasets whose dims dim .. dim + ndim - 1 have the same names, the same coordinates of
 * the same files, and the same part of them; to be freed. NULL where there is no memory. Reads no elements. */
char *ndr_group_axes(const ndr_h5_dataset *dataset, int dim, int ndim);

#endif
