/* The coordinates of a dataset's dims: what the scale attached to a dim holds. */
#ifndef NDR_H5_COORDINATES_H
#define NDR_H5_COORDINATES_H

#include "h5/dataset.h"

/* Opens the scale of dim d if it is of use: one number for each index, written, and in a file that may be read.
 * Negative where it is not; close with H5Dclose. */
hid_t ndr_hdf_open_coordinates(const ndr_h5_dataset *dataset, int d);

#endif
