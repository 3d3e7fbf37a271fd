/* The coordinates of a dataset's dims: what the scale attached to a dim holds. */
#ifndef NDR_H5_CF_COORDINATES_H
#define NDR_H5_CF_COORDINATES_H

#include "h5/file/dataset.h"

/* Opens the scale of dim d if it is of use: one number for each index, written, and where it may be read; under `texts`
 * one text for each index, too. Negative where it is not; close with H5Dclose. Not of a series. */
ndr_status ndr_hdf_open_scale(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale);

/* The same of any dataset: along the dim of a series, the scale of the file whose units its axis has, and no texts. */
ndr_status ndr_hdf_open_coordinates(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale);

/* Whether the coordinates are those of several files that are not stored alike, so that only their values are an axis:
 * f64 in the units of the scale that ndr_hdf_open_coordinates opens. */
bool ndr_hdf_is_converted(const ndr_h5_dataset *dataset, int d);

/* Reads what the indices of dim d have as coordinates, shape[d] elements of a type as stored, where there are some and
 * they are not converted; texts of variable length are to be reclaimed, even after a failure. */
bool ndr_hdf_read_coordinates(const ndr_h5_dataset *dataset, int d, hid_t type, void *data);

/* Reads what they mean, where there are some: unpacked, or under `raw` as stored, and converted. */
ndr_status ndr_hdf_coordinate_values(const ndr_h5_dataset *dataset, int d, bool raw, double *values);

#endif
