/* The file's element types as ours, and ours as HDF5's. */
#ifndef NDR_H5_DTYPE_H
#define NDR_H5_DTYPE_H

#include "h5/hdf.h"

/* The dtype that elements of a file's type are reduced as; NULL. Else, why there is none, in static words. */
const char *ndr_hdf_dtype(hid_t type, ndr_dtype *dtype);

/* The type that H5Dread must be asked for so that elements of `type` arrive in memory as dtype; close with H5Tclose.
 * Bit fields convert to nothing but bit fields, so the class of `type` counts. Negative on failure. */
hid_t ndr_hdf_memory_type(ndr_dtype dtype, H5T_class_t from);

/* The type that results of dtype are written as: bool as h5py's FALSE/TRUE enumeration. Close with H5Tclose. */
hid_t ndr_hdf_file_type(ndr_dtype dtype);

#endif
