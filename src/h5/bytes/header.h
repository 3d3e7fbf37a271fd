/* Attributes of objects that may be malformed. One attribute that HDF5 cannot decode hides all those behind it, and
 * none is listed; some lead HDF5 1.10 beyond its memory, or round for ever. Where there is such a one, names are taken
 * from the bytes of the object's header. All attributes of inputs are read through these functions. */
#ifndef NDR_H5_BYTES_HEADER_H
#define NDR_H5_BYTES_HEADER_H

#include "h5/file/hdf.h"

/* As H5Aexists, whatever the other attributes are; one that is there may still be unreadable. Where others are there
 * that have no name, the answer is 0. Negative only where the file cannot be read. */
htri_t ndr_header_has_attribute(hid_t object, const char *name);

/* As H5Aopen, but fails where any attribute of the object does not fit into its message. ndr_hdf_is_malformed() then
 * holds, and HDF5's error says what is wrong. */
hid_t ndr_header_open(hid_t object, const char *name);

/* As H5Aread, but fails likewise where elements of variable length lead into a heap that is damaged. Attributes that
 * are stored outside the header, as those of an object that has many, are not checked before HDF5 reads them. */
herr_t ndr_header_read(hid_t attribute, hid_t type, void *elements);

/* As H5Aiterate2 in the order of names; where that fails for an attribute that cannot be decoded, over those that can,
 * in another order. */
herr_t ndr_header_iterate(hid_t object, H5A_operator2_t visit, void *user);

enum { NDR_HEADER_NAMES = 512 };

/* What `names` is where not all are known. */
#define NDR_HEADER_UNKNOWN "s"

/* Whether HDF5 can decode every attribute; negative where the file cannot be read. Where the answer is no, `names` is
 * what follows "attribute" in a sentence on those that it does not find: " A" or "s A, B", as far as there is room;
 * "s, 1 of 12," of those stored outside the header, which have no names then but are looked for each by itself; or
 * NDR_HEADER_UNKNOWN. `reason` is HDF5's. */
htri_t ndr_header_is_sound(hid_t object, char names[NDR_HEADER_NAMES], char reason[NDR_HDF_REASON]);

#endif
