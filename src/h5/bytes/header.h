/* Reads attributes of objects that may be malformed. All attributes of inputs are read through these functions. An
 * attribute that HDF5 cannot decode hides those behind it, and none can be listed; some make HDF5 1.10 read beyond its
 * memory, or loop for ever. If an object has one, names are taken from the bytes of its header. */
#ifndef NDR_H5_BYTES_HEADER_H
#define NDR_H5_BYTES_HEADER_H

#include "h5/file/hdf.h"

/* As H5Aexists, but malformed attributes beside it do no harm. The attribute may be unreadable itself. The answer is 0
 * if it can only be among those whose names are not known. Negative only if the file cannot be read. */
htri_t ndr_header_has_attribute(hid_t object, const char *name);

/* As H5Aopen, but fails where any attribute of the object does not fit into its message. ndr_hdf_is_malformed() then
 * holds, and HDF5's error says what is wrong. */
hid_t ndr_header_open(hid_t object, const char *name);

/* As H5Aread, but fails in the same way if elements of variable length lie in a damaged heap. Attributes that are
 * stored outside the header, where HDF5 puts them if an object has many, are not checked. */
herr_t ndr_header_read(hid_t attribute, hid_t type, void *elements);

/* As H5Aiterate2 in the order of names. If an attribute cannot be decoded, visits only those that can, in another
 * order. */
herr_t ndr_header_iterate(hid_t object, H5A_operator2_t visit, void *user);

enum { NDR_HEADER_NAMES = 512 };

/* The value of `names` if not all names are known. */
#define NDR_HEADER_UNKNOWN "s"

/* Whether HDF5 can decode every attribute; negative if the file cannot be read. If it cannot, `reason` is HDF5's, and
 * `names` is what follows "attribute" in a sentence on those that it does not find: " A" or "s A, B", as far as there
 * is room; "s, 1 of 12," for attributes outside the header, which are looked for one by one and have no names then; or
 * NDR_HEADER_UNKNOWN. */
htri_t ndr_header_is_sound(hid_t object, char names[NDR_HEADER_NAMES], char reason[NDR_HDF_REASON]);

#endif
