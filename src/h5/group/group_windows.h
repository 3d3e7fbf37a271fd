/* What stands for windows of neighbouring steps in results: the mean of their coordinates, or of times the middle. */
#ifndef NDR_H5_GROUP_GROUP_WINDOWS_H
#define NDR_H5_GROUP_GROUP_WINDOWS_H

#include "h5/group/groups.h"

/* Fills in the coordinates of windows and their bounds: the least and the greatest bound of their steps. Steps of a dim
 * without bounds reach halfway to their neighbours if they go up or down; else windows have no bounds. A dim without
 * coordinates leaves windows without. */
ndr_status ndr_group_windows_describe(ndr_h5_groups *groups, const ndr_h5_dataset *dataset);

#endif
