/* Along which dims of a dataset the dims of an array beside it lie. */
#ifndef NDR_H5_RUN_PAIR_H
#define NDR_H5_RUN_PAIR_H

#include "h5/read/beside.h"

enum { NDR_PAIR_TEXT = 512 };

/* Sets the array's dims: those given (NULL: none are), else by their names, else by NumPy's rule, which aligns the last
 * ones. In the first two cases an array of a whole dim of the file is cut as the dataset is, and longitudes go on
 * around its end where they begin elsewhere. If the array has the dataset's coordinates in reverse along a dim, turns
 * it. Fails if they differ otherwise. `what` names the array in errors. */
ndr_status ndr_pair(ndr_beside *array, const ndr_h5_dataset *dataset, const int *given, const char *what);

#endif
