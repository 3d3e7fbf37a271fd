/* Planner's half of kernels/runs.cuh: groups of outputs that have many runs of few elements each. */
#include <string.h>

#include "gpuplan/groups.h"
#include "gpuplan/rows.h"

enum {
  LEAST_RUNS = 16,
  MOST_BYTES = 2048,        /* of a run of a group of several outputs */
  MOST_OUTPUT_BYTES = 3072, /* of a run of a single output: 192 vectors, and a block has a thread for each */
  WIDE_BYTES = 64,          /* of a run, from which on elements of 4 bytes and more are read in vectors */
  WIDE_THREADS = 128,       /* that share a row of vectors where blocks are few: a tile has fewer outputs to join */
  WIDE_RUNS = 64            /* of an output, from which on vectors are faster than stages */
};

static int64_t count_runs(const ndr_canonical *problem, const ndr_group *g) {
  return problem->length / g->length;
}

/* Whether columns are vectors. Short runs of elements of 4 bytes or more are read as fast one by one. */
static bool columns_are_vectors(const ndr_canonical *problem, const ndr_group *g) {
  int64_t elements = ndr_vector_elements(problem->dtype);
  return g->outputs == 1 && g->bytes >= (elements > 4 ? NDR_VECTOR_BYTES : WIDE_BYTES);
}

static int64_t count_columns(const ndr_canonical *problem, const ndr_group *g) {
  int64_t elements = columns_are_vectors(problem, g) ? ndr_vector_elements(problem->dtype) : 1;
  return (g->outputs * g->length + elements - 1) / elements;
}

bool ndr_runs_can(const ndr_canonical *problem) {
  bool rows = problem->reduced_count > 0 && problem->reduced[0].stride == 1;
  if (problem->reduced_count == 0) return false;
  if (!rows && (problem->kept_count == 0 || problem->kept[0].stride != 1)) return false;
  ndr_group g = ndr_group_of(problem);
  if (g.outputs > 1 && problem->reduced[0].stride != g.outputs) return false;
  if (g.axes == 0 && problem->kept_count > 0) return false;
  return g.bytes <= (g.outputs == 1 ? MOST_OUTPUT_BYTES : MOST_BYTES) && count_runs(problem, &g) >= LEAST_RUNS;
}

bool ndr_runs_best(const ndr_canonical *problem, const ndr_device *device) {
  if (!ndr_runs_can(problem)) return false;
  ndr_group g = ndr_group_of(problem);
  bool many = columns_are_vectors(problem, &g) && count_runs(problem, &g) >= WIDE_RUNS;
  return many || !ndr_staged_suits(problem, device);
}

void ndr_runs_move_last(ndr_params *p) {
  ndr_param_axis *axes = p->axes + p->kept_count, runs = axes[0];
  memmove(axes, axes + 1, (size_t)--p->reduced_count * sizeof *axes);
  axes[p->reduced_count] = runs;
}

void ndr_runs_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  ndr_group g = ndr_group_of(problem);
  bool wide = columns_are_vectors(problem, &g);
  int64_t columns = count_columns(problem, &g), blocks = problem->outputs / g.outputs * columns / NDR_THREADS;
  bool enough = blocks >= (int64_t)device->units * NDR_BLOCKS_TILE_RUN_VECTORS;
  int64_t threads = wide && !enough ? WIDE_THREADS : NDR_THREADS;
  int64_t most = columns < threads ? threads / columns : 1;
  int64_t tiles = (g.side + most - 1) / most, groups = (g.side + tiles - 1) / tiles;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  ndr_launch_begin(launch, problem, wide ? NDR_KERNEL_TILE_RUN_VECTORS : NDR_KERNEL_TILE_RUN_ELEMENTS);
  ndr_params *p = &launch->params;
  ndr_param_tile_runs *own = &p->tile_runs;
  own->groups = ndr_group_tiles(&g, groups);
  own->column_splits = (int)((groups * columns + NDR_THREADS - 1) / NDR_THREADS);
  own->row_threads = (int)((groups * columns + own->column_splits - 1) / own->column_splits);
  int rows = NDR_THREADS / own->row_threads, joiners = 1;
  while (joiners < NDR_WARP_THREADS && joiners < columns / g.outputs) joiners *= 2;
  own->joiners = ndr_threads(joiners);
  own->shifted = !on_boundary || !ndr_vectors_aligned(problem, &problem->reduced[0]);
  ndr_runs_move_last(p);
  ndr_rows_order(p, rows, bytes);
  p->tile_outputs = (int)(groups * g.outputs);
  p->work = ndr_group_tile_count(problem, &own->groups);
  own->row_splits = ndr_rows_split(problem, device, launch, count_runs(problem, &g), (double)(groups * g.bytes), rows,
                                   wide ? NDR_LOADS_TILE_RUN_VECTORS : NDR_LOADS_TILE_RUN_ELEMENTS, own->column_splits);
  ndr_launch_end(launch);
}
