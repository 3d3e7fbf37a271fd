/* What netCDF's and CF's attributes of a dataset say of its elements. */
#ifndef NDR_H5_CF_UNPACK_CF_H
#define NDR_H5_CF_UNPACK_CF_H

#include "h5/file/hdf.h"
#include "h5/read/unpack.h"

/* Fills in how elements of `dataset`, which has this type, of this class, in the file and is read as `stored`
 * (ndr_hdf_dtype), are unpacked; `raw`: byte order only. Attributes that make no sense are as if they were not there.
 * Returns the name of one that is there but cannot be read, else NULL. */
const char *ndr_hdf_find_unpack(hid_t dataset, hid_t type, H5T_class_t kind, ndr_dtype stored, bool raw,
                                ndr_unpack *unpack);

#endif
