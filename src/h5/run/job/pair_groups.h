/* Arrays beside a dataset that have one step for each group of the dataset's steps, as a climatology has its months. */
#ifndef NDR_H5_RUN_PAIR_GROUPS_H
#define NDR_H5_RUN_PAIR_GROUPS_H

#include "h5/group/groups.h"
#include "h5/read/beside.h"

/* Which dim of an array is that of the groups: one with the name of the dataset's dim that they lie along, or one that
 * is called as their key, as "month", and has their numbers. -1: none is. */
int ndr_pair_groups_dim(const ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_h5_groups *groups);

/* Whether dim i of an array is called as the numbers of groups, as xarray calls the dim of a climatology "month". */
bool ndr_pair_groups_named(const ndr_h5_dataset *array, int i);

/* Pairs each step of the dataset with the step of the array's dim i that is of the same group: allocates array->steps,
 * and sets what belongs to it; `groups` must outlive the array. Times of the array are put into groups as the dataset's
 * were. Several in one group are refused, and so is a group of the dataset that the array lacks. So is a step of the
 * dataset that is in no group, unless `left_out` says that such steps are not reduced; it then has any step. `what`
 * names the array in errors. Takes the lock. */
ndr_status ndr_pair_groups(ndr_beside *array, int i, const ndr_h5_groups *groups, bool left_out, const char *what);

#endif
