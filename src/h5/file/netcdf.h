/* How netCDF-4 writes what HDF5 has no word for: dims without coordinates, variables that share a dim's name, and the
 * dims of coordinate variables of several dims. */
#ifndef NDR_H5_FILE_NETCDF_H
#define NDR_H5_FILE_NETCDF_H

#include "h5/file/hdf.h"

/* The beginning of the attribute NAME of a scale that is a dimension but no variable; a period and the length follow.
 * If a tool has written elements of such a scale, they are fill values, not coordinates. */
#define NDR_BARE_SCALE "This is a netCDF dimension but not a netCDF variable"

/* The prefix that netCDF-4 gives a variable's name if a dim has the same name and is not the variable's only one. */
#define NDR_HIDDEN_VARIABLE "_nc4_non_coord_"

/* The last part of a path. */
const char *ndr_hdf_leaf(const char *path);

/* The path by which users know a dataset: without NDR_HIDDEN_VARIABLE. To be freed; NULL where there is no memory. */
char *ndr_netcdf_shown(const char *path);

/* The path in the file of what users call `path`: with NDR_HIDDEN_VARIABLE if there is such a variable. To be freed;
 * NULL if memory is short. */
char *ndr_netcdf_stored(hid_t file, const char *path, hid_t access);

/* Whether a scale is a dimension and no variable; negative where that cannot be read. */
htri_t ndr_netcdf_is_bare(hid_t scale);

/* Finds the dims of a coordinate variable, which is a scale itself and so can have none attached, by its attribute
 * _Netcdf4Coordinates. paths[d], to be freed, is the path of the scale whose _Netcdf4Dimid is that of dim d, in the
 * variable's group or those above it; NULL if there is none. Datasets are opened with `access`. False if something
 * cannot be read or memory is short. */
bool ndr_netcdf_find_dims(hid_t dataset, hid_t access, int ndim, char **paths);

#endif
