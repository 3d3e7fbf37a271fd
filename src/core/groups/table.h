/* Tables: the labels of a row in the order of their groups. Kernels gather rows of the array through them. */
#ifndef NDR_CORE_TABLE_H
#define NDR_CORE_TABLE_H

#include "core/groups/groups.h"

/* Immutable, once `memory` is set. */
typedef struct ndr_table {
  int64_t groups;
  int64_t filled; /* groups that have a label */
  int64_t count;  /* labels that belong to a group */
  int64_t *ends;  /* those of group g are order[ends[g - 1]] to order[ends[g] - 1] */
  int32_t *order; /* counted from the row's first label; rising in each group */
  void *memory;   /* what the backend made of it for a plan (ndr_backend.make_table) */
} ndr_table;

/* The table of `count` labels from number `first` on. Free with ndr_table_free. */
ndr_status ndr_table_make(ndr_table **table, const ndr_groups *groups, int64_t first, int64_t count);

/* Frees all but what `memory` points to; NULL is allowed. */
void ndr_table_free(ndr_table *table);

#endif
