/* Planner's half of kernels/runs.cuh: groups of outputs that have many runs of few elements each. */
#include <string.h>

#include "gpuplan/groups.h"
#include "gpuplan/rows.h"

enum { LEAST_RUNS = 16, MOST_BYTES = 2048 };

static int64_t count_runs(const ndr_canonical *problem, const ndr_group *g) {
  return problem->length / g->length;
}

bool ndr_runs_can(const ndr_canonical *problem) {
  if (problem->kept_count == 0 || problem->reduced_count == 0) return false;
  if (problem->reduced[0].stride != 1 && problem->kept[0].stride != 1) return false;
  ndr_group g = ndr_group_of(problem);
  if (g.outputs > 1 && problem->reduced[0].stride != g.outputs) return false;
  return g.axes > 0 && g.bytes <= MOST_BYTES / (g.outputs == 1 ? 2 : 1) && count_runs(problem, &g) >= LEAST_RUNS;
}

/* Whether a column is a vector. */
static bool columns_are_vectors(const ndr_canonical *problem, const ndr_group *g, bool on_boundary) {
  return on_boundary && g->outputs == 1 && ndr_vectors_aligned(problem, &problem->reduced[0]);
}

bool ndr_runs_best(const ndr_canonical *problem, const ndr_device *device) {
  if (!ndr_runs_can(problem)) return false;
  ndr_group g = ndr_group_of(problem);
  return !ndr_staged_suits(problem, device) || columns_are_vectors(problem, &g, true);
}

/* Moves the axis of the runs behind the reduced axes that are walked. */
static void move_runs_last(ndr_params *p) {
  ndr_param_axis *axes = p->axes + p->kept_count, runs = axes[0];
  memmove(axes, axes + 1, (size_t)--p->reduced_count * sizeof *axes);
  axes[p->reduced_count] = runs;
}

void ndr_runs_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  ndr_group g = ndr_group_of(problem);
  bool wide = columns_are_vectors(problem, &g, on_boundary);
  int64_t elements = wide ? ndr_vector_elements(problem->dtype) : 1, bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  int64_t columns = g.outputs * g.length / elements, most = columns < NDR_THREADS ? NDR_THREADS / columns : 1;
  int64_t tiles = (g.side + most - 1) / most, groups = (g.side + tiles - 1) / tiles;
  ndr_launch_begin(launch, problem, wide ? NDR_KERNEL_TILE_RUN_VECTORS : NDR_KERNEL_TILE_RUN_ELEMENTS);
  ndr_params *p = &launch->params;
  ndr_param_tile_runs *own = &p->tile_runs;
  own->groups = ndr_group_tiles(&g, groups);
  own->column_splits = (int)((groups * columns + NDR_THREADS - 1) / NDR_THREADS);
  own->row_threads = (int)((groups * columns + own->column_splits - 1) / own->column_splits);
  int rows = NDR_THREADS / own->row_threads, joiners = 1;
  while (joiners < NDR_WARP_THREADS && joiners < rows * g.length / elements) joiners *= 2;
  own->joiners = ndr_threads(joiners);
  move_runs_last(p);
  ndr_rows_order(p, rows, bytes);
  p->tile_outputs = (int)(groups * g.outputs);
  p->work = ndr_group_tile_count(problem, &own->groups);
  own->row_splits =
      ndr_rows_split(problem, device, launch, count_runs(problem, &g), (double)(groups * columns * elements * bytes),
                     rows, wide ? NDR_LOADS_TILE_RUN_VECTORS : NDR_LOADS_TILE_RUN_ELEMENTS, own->column_splits);
  ndr_launch_end(launch);
}
