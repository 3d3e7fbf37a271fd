/* Attributes that results are written with. Each call returns whether HDF5 did it. */
#ifndef NDR_H5_ATTRIBUTES_H
#define NDR_H5_ATTRIBUTES_H

#include "h5/hdf.h"

/* Copies the attributes of `from` that are numbers or texts and that mean the same elsewhere: not those by which HDF5
 * and netCDF tie objects of one file together. */
bool ndr_hdf_copy_attributes(hid_t from, hid_t to);

/* A text of fixed length, as dimension scales want it. */
bool ndr_hdf_put_text(hid_t object, const char *name, const char *text);

/* A list of `count` elements of a type; count 0 means a scalar. */
bool ndr_hdf_put(hid_t object, const char *name, hid_t type, hsize_t count, const void *data);

#endif
