/* Fields of tables: the members of compound elements. Users write NAME, or NAME.NAME for a member of a compound member.
 * Names may contain dots; the longest name that exists is taken. */
#ifndef NDR_H5_FIND_FIELD_H
#define NDR_H5_FIND_FIELD_H

#include "h5/file/dataset.h"

/* The type of a field of a compound type, to be closed; negative where there is none. */
hid_t ndr_field_type(hid_t type, const char *field);

/* Visits the fields of a compound type in the file's order, those of compound members one by one, until visit returns
 * other than 0, which is returned. Negative where there is no memory or a type cannot be read. */
typedef int (*ndr_field_visitor)(void *user, const char *field);
int ndr_field_each(hid_t type, ndr_field_visitor visit, void *user);

/* The type that H5Dread must be given for the dataset's elements, or for its field if it was opened for one. Close with
 * H5Tclose. Negative on failure. */
hid_t ndr_hdf_element_type(const ndr_h5_dataset *dataset);

#endif
