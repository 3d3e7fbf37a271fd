/* The file's element types as ours, and ours as HDF5's. */
#ifndef NDR_H5_FILE_DTYPE_H
#define NDR_H5_FILE_DTYPE_H

#include "h5/file/hdf.h"

/* The reason that ndr_hdf_dtype gives for compounds that are no complex numbers; their members may have dtypes. */
#define NDR_TABLE_ELEMENTS "compound elements"
#define NDR_UNKNOWN_ELEMENTS "elements of a type that is not known"

/* Sets the dtype that elements of a file's type are reduced as, and returns NULL; or returns why there is none (static
 * storage). */
const char *ndr_hdf_dtype(hid_t type, ndr_dtype *dtype);

/* The type that H5Dread must be given so that elements of the file's type `from` arrive in memory as dtype; close with
 * H5Tclose. Bit fields convert to nothing but bit fields, and members of complex numbers by their names; of a negative
 * `from`, complex ones are called as h5py has them. Negative on failure. */
hid_t ndr_hdf_memory_type(ndr_dtype dtype, hid_t from);

/* The type of a file's elements of dtype: bool as h5py's FALSE/TRUE enumeration. Close with H5Tclose. */
hid_t ndr_hdf_file_type(ndr_dtype dtype);

/* A type of the input as the output has it: itself, but for floats other than IEEE's of 4 and 8 bytes, which crash
 * readers of netCDF. These become one of those that holds them. Close with H5Tclose. */
hid_t ndr_hdf_netcdf_type(hid_t stored);

#endif
