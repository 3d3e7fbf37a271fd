/* The coordinates of a dataset's dims: what the scale attached to a dim holds. */
#ifndef NDR_H5_COORDINATES_H
#define NDR_H5_COORDINATES_H

#include "h5/dataset.h"

/* How netCDF-4 begins the NAME of a scale that is a dimension and no variable; a period and the length follow. Where a
 * tool has written the scale out, its elements are fill values, not coordinates. */
#define NDR_BARE_SCALE "This is a netCDF dimension but not a netCDF variable"

/* Opens the scale of dim d if it is of use: one number for each index, written, and where it may be read; in a series,
 * that of its first file, if those of all have the same units. Under `texts` also one text for each index, where that
 * is not along the dim of a series. Negative where it is not; close with H5Dclose. */
ndr_status ndr_hdf_open_coordinates(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale);

/* Reads what the indices of dim d have as coordinates, shape[d] elements of a type, where there are some; texts of
 * variable length are to be reclaimed, even after a failure. */
bool ndr_hdf_read_coordinates(const ndr_h5_dataset *dataset, int d, hid_t type, void *data);

#endif
