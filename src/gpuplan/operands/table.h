/* Launches of kernels/program/table.cuh, which gathers the rows of groups through a table. Family thread runs them for
 * problems that have one, and family tile those of zones.h. They are compiled at run time. */
#ifndef NDR_GPUPLAN_TABLE_H
#define NDR_GPUPLAN_TABLE_H

#include "gpuplan/launch.h"

#define NDR_HAS_TABLE "labels are scattered: family thread gathers rows"

/* Why such a problem cannot be run; NULL if it can. */
const char *ndr_table_reject(const ndr_canonical *problem, const ndr_device *device);

ndr_launch_configure ndr_table_configure;

/* Predicted seconds. */
double ndr_table_cost(const ndr_canonical *problem, const ndr_device *device);

/* Bytes of the states of segments, for operators with `words` words in all. */
size_t ndr_table_workspace(const ndr_launch *launch, int words);

/* The table that a plan's kernels read (ndr_param_table), which the caller frees. All launches of a plan read the same.
 */
ndr_status ndr_table_write(const ndr_canonical *problem, const ndr_launch *launch, int32_t **ints, size_t *bytes);

/* Blocks of the launch that joins segments; 0: there is none. */
unsigned ndr_table_join_grid(const ndr_launch *launch);

/* The scattered axis, which the labels lie along, by its number among the reduced axes. */
static inline int ndr_table_axis(const ndr_canonical *problem) {
  int found = 0;
  for (int a = 0; a < problem->reduced_count; a++)
    if (problem->reduced[a].scattered) found = a;
  return found;
}

/* What both kernels' launches have in common: that axis is put first of the reduced ones in params.axes; and how a
 * launch is completed, behind ndr_launch_end, with slots for so many states of segments. */
void ndr_table_order(const ndr_canonical *problem, ndr_launch *launch);
void ndr_table_end(const ndr_canonical *problem, ndr_launch *launch, int64_t slots);

#endif
