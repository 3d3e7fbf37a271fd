/* Tasks of kernels/program/table.cuh: what of a table one team does. */
#ifndef NDR_GPUPLAN_TABLE_CUT_H
#define NDR_GPUPLAN_TABLE_CUT_H

#include "core/groups/table.h"

/* A task has about `rows` rows: several short groups, or a piece of a long one. */
typedef struct ndr_table_cut {
  int64_t rows;
  int parts; /* of the combinations of the other reduced axes */
} ndr_table_cut;

/* The lists of tasks, segments and groups with slots (ndr_param_table); where they are NULL they are only counted.
 * Those of tasks and groups have one entry more, which is not counted. */
typedef struct ndr_table_lists {
  int32_t *tasks, *segments, *joins;
  int64_t task_count, segment_count, join_count, slots;
} ndr_table_lists;

void ndr_table_cut_up(const ndr_table *table, const ndr_table_cut *how, ndr_table_lists *lists);

#endif
