/* How netCDF-4 writes what HDF5 has no word for: dims without coordinates, variables that share a dim's name, and the
 * dims of coordinate variables of several dims. */
#ifndef NDR_H5_FILE_NETCDF_H
#define NDR_H5_FILE_NETCDF_H

#include "h5/file/hdf.h"

/* How the NAME of a scale begins that is a dimension and no variable; a period and the length follow. Where a tool has
 * written the scale out, its elements are fill values, not coordinates. */
#define NDR_BARE_SCALE "This is a netCDF dimension but not a netCDF variable"

/* What stands before the name of a variable that is called as a dim is which it has not alone. */
#define NDR_HIDDEN_VARIABLE "_nc4_non_coord_"

/* The last part of a path. */
const char *ndr_hdf_leaf(const char *path);

/* The path by which users know a dataset: without NDR_HIDDEN_VARIABLE. To be freed; NULL where there is no memory. */
char *ndr_netcdf_shown(const char *path);

/* The path at which the file has what users call `path`: with NDR_HIDDEN_VARIABLE where there is such a variable. To
 * be freed; NULL where there is no memory. */
char *ndr_netcdf_stored(hid_t file, const char *path, hid_t access);

/* Whether a scale is a dimension and no variable; negative where that cannot be read. */
htri_t ndr_netcdf_is_bare(hid_t scale);

/* The dims of a variable that can have no scales attached, being one, by its attribute _Netcdf4Coordinates: paths[d],
 * to be freed, of the scale in its group or those above it whose _Netcdf4Dimid is that of dim d; NULL where there is
 * none. `access` is what datasets are to be opened with. False where something cannot be read, or there is no memory.
 */
bool ndr_netcdf_find_dims(hid_t dataset, hid_t access, int ndim, char **paths);

#endif
