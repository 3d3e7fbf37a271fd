/* Groups inside the library: labels or windows, and the pieces and boxes of them that strided arrays can hold. */
#ifndef NDR_CORE_GROUPS_H
#define NDR_CORE_GROUPS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/status.h"
#include "ndreduce/groups.h"

/* Immutable. The labels of the last dim follow each other. Windows have none. */
struct ndr_groups {
  _Atomic int holders; /* whoever made it is one, until it is destroyed */
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t first[NDR_MAX_DIMS]; /* of labels that are those of a slab: where it begins */
  int64_t count;               /* of groups */
  int64_t length;              /* of labels */
  ndr_windows *windows;        /* [ndim] of ndr_groups_boxes; else NULL */
  int32_t labels[];
};

/* Another holder; each gives it back with ndr_groups_destroy. NULL is allowed. */
const ndr_groups *ndr_groups_hold(const ndr_groups *groups);

/* Whether both have the same labels, in the same dims, and equally many groups; two NULL are equal. */
bool ndr_groups_equal(const ndr_groups *a, const ndr_groups *b);

/* Memory for groups of `length` labels, which the caller sets, with one holder. */
ndr_status ndr_groups_allocate(ndr_groups **groups, int ndim, const int64_t *shape, int64_t count);

/* Labels that one strided array can hold: label + g * label_step is the label of
 *   first + o * outer_step + g * inner + i,  o < outer, g < groups, i < inner. */
typedef struct ndr_piece {
  int64_t first, outer, outer_step, groups, inner;
  int64_t label, label_step;
} ndr_piece;

/* Finds the next piece from *at on, before `end`, and moves *at behind it; false where no group has a label left. */
bool ndr_groups_next(const ndr_groups *groups, int64_t *at, int64_t end, ndr_piece *piece);

/* Windows that one array can hold, with up to two dims for each dim of the groups: along dim d they are
 * first[d] + g * inner[d] + i, g < groups[d], i < inner[d]. */
typedef struct ndr_box {
  int64_t first[NDR_MAX_DIMS], groups[NDR_MAX_DIMS], inner[NDR_MAX_DIMS];
  int64_t window[NDR_MAX_DIMS]; /* the number along dim d of the first */
} ndr_box;

/* How many windows lie along dim d. */
int64_t ndr_groups_windows_along(const ndr_groups *groups, int d);

/* Finds box number `at` of a slab, whose elements along dim d are offset[d] to offset[d] + shape[d] - 1; box->first
 * counts from the offset. False where there are no more boxes. No two boxes have elements of the same window. */
bool ndr_groups_box(const ndr_groups *groups, const int64_t *offset, const int64_t *shape, int64_t at, ndr_box *box);

/* Makes labels for a slab that say the same as the windows. */
ndr_status ndr_groups_label_boxes(const ndr_groups *groups, const int64_t *offset, const int64_t *shape,
                                  ndr_groups **made);

/* Sorts `count` labels from number `first` on by group: those of group g are, counted from there, order[ends[g - 1]] to
 * order[ends[g] - 1]. `ends` is as long as there are groups. */
void ndr_groups_sort(const ndr_groups *groups, int64_t first, int64_t count, int64_t *ends, int32_t *order);

#endif
