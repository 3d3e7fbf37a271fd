/* Attributes of an object of which one cannot be decoded. HDF5 finds none behind that one, and lists none at all, so
 * their names are taken from the bytes of the object's header then. */
#ifndef NDR_H5_HEADER_H
#define NDR_H5_HEADER_H

#include "h5/hdf.h"

/* Visits the names of the attributes in the order in which HDF5 looks at them; not 0 from visit stops. False where
 * there may be others: some lie elsewhere, or the header is damaged. */
typedef int (*ndr_header_visitor)(void *user, const char *name);
bool ndr_header_each_attribute(hid_t object, ndr_header_visitor visit, void *user);

/* As H5Aexists, whatever the other attributes are; one that is there may still be unreadable. Where others are there
 * that have no name, the answer is 0. Negative only where the file cannot be read. */
htri_t ndr_header_has_attribute(hid_t object, const char *name);

/* As H5Aiterate2 in the order of names; where that fails for an attribute that cannot be decoded, over those that can.
 */
herr_t ndr_header_iterate(hid_t object, H5A_operator2_t visit, void *user);

enum { NDR_HEADER_NAMES = 512 };

/* Whether HDF5 can decode every attribute; negative where the file cannot be read. Where the answer is no, `names`
 * lists those that it does not find, as far as there is room; "" where not all names are known. `reason` is HDF5's. */
htri_t ndr_header_is_sound(hid_t object, char names[NDR_HEADER_NAMES], char reason[NDR_HDF_REASON]);

#endif
