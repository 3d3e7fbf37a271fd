/* How making groups of any kind begins and ends. */
#ifndef NDR_H5_GROUP_GROUP_MAKE_H
#define NDR_H5_GROUP_GROUP_MAKE_H

#include "h5/group/groups.h"

/* Labels are in memory as a whole, 12 bytes each. Windows have none. */
#define NDR_MOST_LABELS ((int64_t)256 << 20)

ndr_status ndr_group_fail_memory(const ndr_h5_dataset *dataset);

/* Starts groups along dims dim .. dim + ndim - 1; `what` is what they are made by. To be handed to ndr_group_finish
 * even after a failure. */
ndr_status ndr_group_begin(ndr_h5_groups **made, const ndr_h5_dataset *dataset, int dim, int ndim, ndr_grouping how,
                           const char *what);

/* Makes the core's groups of group_of and count; an error where there is no group. */
ndr_status ndr_group_settle(ndr_h5_groups *groups, const ndr_h5_dataset *dataset);

/* Hands the groups over, or frees them, which may be NULL then. */
ndr_status ndr_group_finish(ndr_h5_groups **given, ndr_h5_groups *groups, ndr_status status);

#endif
