/* Arrays beside a part of a dataset that are of the whole: the same part of them is read. */
#ifndef NDR_H5_RUN_CUT_H
#define NDR_H5_RUN_CUT_H

#include "h5/read/beside.h"

/* Whether dim i of an array has the coordinates that dim d of a dataset has, a part that goes all around from another
 * place than its file: the array then is of the part, not of the whole, though both are of one length. *done is
 * false also where either has no coordinates. */
ndr_status ndr_cut_is_done(const ndr_h5_dataset *array, int i, const ndr_h5_dataset *dataset, int d, bool *done);

/* Whether the dataset has less of dim d than its file, or has it in another order. */
bool ndr_cut_is_part(const ndr_h5_dataset *dataset, int d);

/* Whether dim d of a dataset is the two sides of a seam. */
bool ndr_cut_is_sides(const ndr_h5_dataset *dataset, int d);

/* Along each dim that is as long as the file's dim of which the dataset is a part, takes the same part of an array
 * whose dims are known: array->dataset is then a copy that array->cut holds. The part of longitudes is the one with the
 * same coordinates; if there is none, and along other dims, it is the one with the same indices. Arrays in memory, and
 * those that are parts already, stay as they are. `what` names the array in errors. */
ndr_status ndr_beside_cut(ndr_beside *array, const ndr_h5_dataset *dataset, const char *what);

/* If dim i is cut, moves its part as far from the last step of the file's dim as it was from the first. A second call
 * undoes that. */
void ndr_beside_mirror(ndr_beside *array, int i);

#endif
