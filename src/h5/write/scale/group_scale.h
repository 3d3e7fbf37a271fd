/* The coordinates of a dim of groups, as the scale of an output holds them. */
#ifndef NDR_H5_WRITE_GROUP_SCALE_H
#define NDR_H5_WRITE_GROUP_SCALE_H

#include "h5/file/attributes.h"
#include "h5/group/groups.h"
#include "h5/write/storage/elements.h"

/* Opens the dataset whose attributes the coordinates have and makes their elements: the labels that occur, as they are
 * stored, or coordinates in f64. *dataset is negative where the groups have no coordinates; else to be closed.
 * *keeps: the attributes that hold. Elements are to be freed even after a failure. */
ndr_status ndr_group_scale_read(const ndr_h5_groups *groups, const ndr_h5_dataset *source, hid_t *dataset,
                                ndr_hdf_attribute_test *keeps, ndr_elements *elements);

#endif
