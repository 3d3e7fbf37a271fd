/* The path of a dimension scale that a reference leads to. */
#ifndef NDR_H5_FIND_SCALE_PATH_H
#define NDR_H5_FIND_SCALE_PATH_H

#include "h5/file/hdf.h"

/* Writes the path, in its file, of the scale of a dim of `dataset`, which lies in the same file and was opened by its
 * path, with `access`. *path is to be freed, and NULL if the scale has no path. False if it cannot be read or memory is
 * short. To be called inside the lock.
 *
 * HDF5 searches all of a file for the path of an object that was opened by a reference, so one that was found before is
 * tried first, then the scale's own name in the dataset's group and those above. */
bool ndr_scale_path(hid_t dataset, hid_t access, hid_t scale, char **path);

#endif
