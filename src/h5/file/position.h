/* Where a dataset stands in its file. */
#ifndef NDR_H5_FILE_POSITION_H
#define NDR_H5_FILE_POSITION_H

#include "h5/file/dataset.h"

/* Makes a text by which strcmp puts the datasets of a file in the order in which netCDF lists them: those of a group,
 * then those of the groups in it; in the order of creation if the group keeps that, else by name. `path` is the path in
 * the dataset's file; what is not there goes by its name. *position is to be freed. Called inside the lock. */
ndr_status ndr_hdf_position(const ndr_h5_dataset *dataset, const char *path, char **position);

/* The same of the dataset itself, also where it is a field of a table; behind an external link, of that link. */
ndr_status ndr_hdf_own_position(const ndr_h5_dataset *dataset, char **position);

#endif
