/* Datasets as the members of a new dim, that of an ensemble: each has a first dim of size 1 that its file does not
 * have. */
#ifndef NDR_H5_SERIES_STACK_H
#define NDR_H5_SERIES_STACK_H

#include "h5/file/dataset.h"

/* The name in "new:NAME"; NULL for the name or number of a dim that is there. */
const char *ndr_stack_name(const char *dim);

/* Gives an open dataset the new dim. Its coordinate is the file's scalar variable `realization`, or the one that the
 * attribute `coordinates` names and whose standard_name is that. Fails on a name that could not be called later, or
 * that another dim has. */
ndr_status ndr_stack_member(ndr_h5_dataset *dataset, const char *name);

#endif
