/* Tells whether the axes that groups lie along are those of another dataset, too. */
#ifndef NDR_H5_GROUP_GROUP_AXES_H
#define NDR_H5_GROUP_GROUP_AXES_H

#include "h5/file/dataset.h"

/* A text about dims dim .. dim + ndim - 1 of a dataset, which the caller frees. Two datasets have the same text only if
 * these dims have the same names, sizes and selection, and the same coordinates of the same files. NULL where there is
 * no memory. Reads no elements. */
char *ndr_group_axes(const ndr_h5_dataset *dataset, int dim, int ndim);

#endif
