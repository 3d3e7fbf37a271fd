/* What is known of a launch, for kernels that are compiled at run time. */
#include "gpuplan/launch.h"

static unsigned fact_if(bool holds, unsigned fact) {
  return holds ? fact : 0;
}

static unsigned staged_facts(const ndr_params *p) {
  const ndr_param_tile_staged *own = &p->tile_staged;
  return fact_if(own->groups.outputs == 1, NDR_FACT_ROWS) | (p->units == 1 ? NDR_FACT_ONE_UNIT : NDR_FACT_UNITS);
}

static unsigned team_facts(const ndr_params *p) {
  return fact_if(p->thread.near_others == 1, NDR_FACT_FAR_OTHERS) | fact_if(p->thread.inner == 0, NDR_FACT_UNMAPPED) |
         fact_if(p->thread.team.count == NDR_THREADS, NDR_FACT_BLOCK_TEAMS) |
         fact_if(p->thread.lanes.count == NDR_WARP_THREADS, NDR_FACT_WARP_LANES);
}

static unsigned run_facts(const ndr_params *p) {
  return fact_if(p->split_units == 1, NDR_FACT_ONE_UNIT) |
         fact_if(p->operand_runs.team.count == NDR_THREADS, NDR_FACT_BLOCK_TEAMS) |
         fact_if(p->operand_runs.lanes.count == NDR_THREADS, NDR_FACT_BLOCK_LANES);
}

unsigned ndr_launch_facts(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  unsigned facts = fact_if(p->splits == 1, NDR_FACT_WHOLE_TILES) | fact_if(p->split_groups == 1, NDR_FACT_ONE_STEP) |
                   fact_if(!p->partial, NDR_FACT_RESULTS) | fact_if(p->small, NDR_FACT_SMALL) |
                   fact_if(p->kept_count == 0, NDR_FACT_NONE_KEPT) | fact_if(p->kept_count == 1, NDR_FACT_ONE_KEPT) |
                   fact_if(p->reduced_count == 0, NDR_FACT_NONE_REDUCED) |
                   fact_if(p->reduced_count == 1, NDR_FACT_ONE_REDUCED);
  if (ndr_kernel_has_teams(launch->kernel)) facts |= team_facts(p);
  switch (launch->kernel) {
  case NDR_KERNEL_TILE_STAGED: return facts | staged_facts(p);
  case NDR_KERNEL_TILE_RUN_DENSE:
  case NDR_KERNEL_TILE_RUN_VECTORS: return facts | (p->tile_runs.shifted ? NDR_FACT_SHIFTED : NDR_FACT_ALIGNED);
  case NDR_KERNEL_OPERANDS_COLUMNS:
    return facts | fact_if(p->axes[0].size % launch->operands.elements == 0, NDR_FACT_WHOLE_CHUNKS);
  case NDR_KERNEL_OPERANDS_RUNS: return facts | run_facts(p);
  case NDR_KERNEL_OPERANDS_ROWS: return facts | NDR_FACT_ROW_LANES * (unsigned)(1 + p->operand_short.lanes.log);
  case NDR_KERNEL_TREE_LANES: return facts | fact_if(p->tree_lanes.lane_vectors_log < 0, NDR_FACT_LONG_RUNS);
  case NDR_KERNEL_THREAD_FEW: return facts | NDR_FACT_FEW_ROWS * (unsigned)p->length;
  default: return facts;
  }
}
