/* Groups of a file of results. Names in the output are paths without the first "/": "tas", "ocean/tas". */
#ifndef NDR_H5_WRITE_PLACE_H
#define NDR_H5_WRITE_PLACE_H

#include "h5/file/hdf.h"

/* The group that a path lies in, with the last "/" and without the first; "" for the root. To be freed; NULL where
 * there is no memory. */
char *ndr_place_of(const char *path);

/* Whether two names are in one group. */
bool ndr_place_is_same(const char *a, const char *b);

/* How an attribute of `variable` names `target`, as CF says: without its group where that is the variable's or lies
 * around it, else by its path, which is to be written behind a "/". A part of `target`. */
const char *ndr_place_seen_from(const char *variable, const char *target);

/* Creates those of the groups around `name` that are not there yet. */
bool ndr_place_make_groups(hid_t file, const char *name);

#endif
