/* Groups inside the library: labels, and the pieces that strided arrays can hold. */
#ifndef NDR_CORE_GROUPS_H
#define NDR_CORE_GROUPS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/status.h"
#include "ndreduce/groups.h"

/* Immutable. The labels of the last dim follow each other. */
struct ndr_groups {
  _Atomic int holders; /* whoever made it is one, until it is destroyed */
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int64_t count;  /* of groups */
  int64_t length; /* of labels */
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

/* Sorts `count` labels from number `first` on by group: those of group g are, counted from there, order[ends[g - 1]] to
 * order[ends[g] - 1]. `ends` has room for all groups. */
void ndr_groups_sort(const ndr_groups *groups, int64_t first, int64_t count, int64_t *ends, int32_t *order);

#endif
