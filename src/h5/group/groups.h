/* Groups along a dim of a dataset, or labels along several that lie next to each other: which group each step is of,
 * and what stands for the groups in results: a coordinate, its bounds, and a name. */
#ifndef NDR_H5_GROUP_GROUPS_H
#define NDR_H5_GROUP_GROUPS_H

#include "h5/file/dataset.h"
#include "h5/time/group_by.h"

typedef enum ndr_grouping { NDR_GROUPING_TIME, NDR_GROUPING_LABELS, NDR_GROUPING_WINDOWS } ndr_grouping;

struct ndr_h5_groups {
  ndr_grouping how;
  int dim, ndim;               /* they lie along dims dim .. dim + ndim - 1 */
  int64_t shape[NDR_MAX_DIMS]; /* the sizes of these */
  int64_t length, count;       /* of steps in all, and of groups */
  ndr_groups *labels;
  int64_t *group_of;   /* [length]: the same labels, row by row; -1 is none; NULL of windows */
  int64_t *numbers;    /* [count]: as the key says, or the label; NULL of windows */
  double *coordinates; /* [count], in the units of the dim's own; NULL where it has none, and of labels */
  double *bounds;      /* [count][2]; NULL where there are no coordinates */
  ndr_group_key key;
  ndr_time_units units;
  bool timed;  /* coordinates are times, in these units */
  int64_t gap; /* of windows: ndr_period_read_bounds */
  int64_t window;
  ndr_h5_groups *along[NDR_MAX_DIMS]; /* [ndim] of windows over several dims: those along each; else NULL */
  char *by;                           /* "time:month" */
  char *name;                         /* of the dim of groups; NULL where it has none */
  char *axes;                         /* ndr_group_axes of the dataset that they were made of */
  const ndr_h5_dataset *label_source; /* of labels: the caller's */
};

/* The range of windows along one dim: groups by windows over one dim, or groups->along[i] of others. */
ndr_windows ndr_h5_groups_range(const ndr_h5_groups *groups);

/* How the labels lie along the dim. */
typedef struct ndr_group_layout {
  int64_t runs, least, most; /* runs of neighbouring steps in one group; steps of the smallest and the largest group */
  int64_t period;            /* steps after which labels repeat, also those of steps in no group; 0: they do not */
  bool sorted;               /* no group is behind one of a greater number */
} ndr_group_layout;

/* `least` is 0 where there is no memory to count. */
ndr_group_layout ndr_h5_groups_layout(const ndr_h5_groups *groups);

/* Whether a group is over many years or days, as in CF's climatologies. */
bool ndr_h5_groups_is_climatology(const ndr_h5_groups *groups);

/* Whether groups, which may be NULL, lie along dim d. */
bool ndr_h5_groups_cover(const ndr_h5_groups *groups, int d);

/* What stands for the groups along dim d of theirs: the windows along it where they are over several dims, else the
 * groups themselves. */
const ndr_h5_groups *ndr_h5_groups_axis(const ndr_h5_groups *groups, int d);

/* Fails where the dataset's dims are not of the sizes that the groups' dims have. */
ndr_status ndr_h5_groups_check(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset);

/* Puts the groups into a problem of the dataset: their dims are reduced if they were not. NULL groups leave it as it
 * is. */
ndr_status ndr_h5_groups_lay(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset, ndr_problem *problem);

#endif
