/* Arrays beside a part of a dataset that are of the whole: the same part of them is read. So are longitudes that begin
 * elsewhere in the array's file. */
#ifndef NDR_H5_RUN_CUT_H
#define NDR_H5_RUN_CUT_H

#include "h5/read/beside.h"

/* Whether dim i of an array has the coordinates that dim d of a dataset has, a part that goes all around from another
 * place than its file: the array then is of the part, not of the whole, though both are of one length. *done is
 * false also where either has no coordinates. */
ndr_status ndr_cut_is_done(const ndr_h5_dataset *array, int i, const ndr_h5_dataset *dataset, int d, bool *done);

/* Along each dim that is as long as the dim of the dataset's file, takes the part of an array whose dims are known that
 * the dataset is: array->dataset is then a copy that array->cut holds. Of longitudes it is the part with the same
 * coordinates, in reverse if the array's file has them so; if there is none, and along other dims, it is the one with
 * the same indices. Arrays in memory, and those that are parts already, stay as they are. `what` names the array in
 * errors. */
ndr_status ndr_beside_cut(ndr_beside *array, const ndr_h5_dataset *dataset, const char *what);

/* If dim i is cut, moves its part as far from the last step of the file's dim as it was from the first. A second call
 * undoes that. */
void ndr_beside_mirror(ndr_beside *array, int i);

#endif
