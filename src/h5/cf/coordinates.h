/* The coordinates of a dataset's dims: what the scale attached to a dim holds. */
#ifndef NDR_H5_CF_COORDINATES_H
#define NDR_H5_CF_COORDINATES_H

#include "h5/file/dataset.h"

/* "... the coordinates of a dim cannot be read" */
ndr_status ndr_hdf_fail_coordinates(const ndr_h5_dataset *dataset);

/* Opens the scale of dim d if it can serve as coordinates: it has one number for each index (under `texts`, or one
 * text), was written, and may be read. Otherwise *scale is negative. Close with H5Dclose. Not for a series. */
ndr_status ndr_hdf_open_scale(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale);

/* The same for any dataset. Along the dim of a series it opens the scale of the file whose units the axis has, and no
 * texts. */
ndr_status ndr_hdf_open_coordinates(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale);

/* Whether the coordinates are not as they are stored: several files store them differently, or they are turned. Then
 * only their values make an axis: f64 in the units of the scale that ndr_hdf_open_coordinates opens. */
bool ndr_hdf_is_converted(const ndr_h5_dataset *dataset, int d);

/* Reads the coordinates of dim d as they are stored, shape[d] elements of `type`. The dim must have coordinates, and
 * they must not be converted. Texts of variable length are to be reclaimed, even after a failure. */
bool ndr_hdf_read_coordinates(const ndr_h5_dataset *dataset, int d, hid_t type, void *data);

/* Reads the values of dim d's coordinates, which it must have: unpacked unless `raw`, and converted. */
ndr_status ndr_hdf_coordinate_values(const ndr_h5_dataset *dataset, int d, bool raw, double *values);

/* From now on values of dim d are kept once they are read, and not read again, until the dataset is closed. It is a
 * file of a series along that dim. */
void ndr_hdf_keep_coordinates(ndr_h5_dataset *part, int d);
void ndr_hdf_forget_coordinates(ndr_h5_dataset *part);

#endif
