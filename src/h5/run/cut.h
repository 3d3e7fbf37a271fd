/* Arrays beside a part of a dataset that are of the whole: the same part of them is read. */
#ifndef NDR_H5_RUN_CUT_H
#define NDR_H5_RUN_CUT_H

#include "h5/read/beside.h"

/* Along each dim that is as long as the file's dim of which the dataset is a part, takes the same part of an array
 * whose dims are known: array->dataset is then a copy that array->cut holds. Arrays in memory, and those that are parts
 * already, stay as they are. `what` names the array in errors. */
ndr_status ndr_beside_cut(ndr_beside *array, const ndr_h5_dataset *dataset, const char *what);

#endif
