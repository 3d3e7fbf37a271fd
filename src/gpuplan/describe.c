/* Describes launches in words. */
#include "gpuplan/operands/operands.h"

/* Threads that read an output, or a row, together. */
static int lanes_of(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  if (ndr_kernel_has_teams(launch->kernel)) return p->thread.lanes.count;
  switch (launch->kernel) {
  case NDR_KERNEL_TREE_RUNS: return p->tree_runs.lanes.count;
  case NDR_KERNEL_TREE_LANES: return p->tree_lanes.lanes.count;
  case NDR_KERNEL_TREE_LISTED: return p->tree_listed.lanes.count;
  case NDR_KERNEL_TILE_COLUMNS: return p->tile_columns.active_threads;
  case NDR_KERNEL_TILE_COLUMNS3: return NDR_THREADS;
  case NDR_KERNEL_TILE_ROWS: return p->tile_rows.lanes.count;
  case NDR_KERNEL_TILE_STAGED: return p->tile_staged.members.count;
  case NDR_KERNEL_TILE_RUN_DENSE:
  case NDR_KERNEL_TILE_RUN_VECTORS:
  case NDR_KERNEL_TILE_RUN_ELEMENTS: return p->tile_runs.row_threads;
  default: return 1;
  }
}

/* Bytes of one load of a thread. */
static int load_bytes(const ndr_launch *launch, ndr_dtype dtype) {
  return ndr_kernel_loads_vectors(launch->kernel) ? NDR_VECTOR_BYTES : (int)ndr_dtype_bytes(dtype);
}

size_t ndr_launch_describe(const ndr_plan *plan, char *text, size_t capacity) {
  const ndr_launch *launch = &((const ndr_launches *)(const void *)plan->config)->aligned;
  const ndr_params *p = &launch->params;
  size_t length = 0;
  if (ndr_kernel_has_operands(launch->kernel)) return ndr_operands_describe(&plan->problem, launch, text, capacity);
  ndr_text_append(text, capacity, &length, "%s, %d-byte loads", ndr_kernel_name(launch->kernel),
                  load_bytes(launch, plan->problem.dtype));
  ndr_text_append(text, capacity, &length, ", grid %u x %u threads, %d lanes, split %d", launch->grid, launch->threads,
                  lanes_of(launch), p->splits);
  if (p->split_groups > 1) ndr_text_append(text, capacity, &length, " in %d groups", p->split_groups);
  return length;
}
