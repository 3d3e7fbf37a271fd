/* Planner's half of kernels/dense.cuh: groups of outputs that lie densely, side by side, and have many runs. */
#include "gpuplan/groups.h"
#include "gpuplan/operands/operators.h"
#include "gpuplan/rows.h"

enum {
  LEAST_RUNS = 4, /* of a group, as the join at the end takes time */
  LEAST_ROW_BYTES = 64,
  LONG_RUN_BYTES = 128, /* of a run of one output: from there on tile_run_vectors is faster, as a vector of a run has
                           one accumulator */
  FEW_THREADS = 64      /* that share a row where blocks are few: a tile has fewer outputs to join */
};

static int64_t group_elements(const ndr_group *g) {
  return g->outputs * g->length;
}

/* Whether tile_run_dense can run the problem: groups lie densely, and there is one operator, which needs no indices and
 * whose accumulators fit in shared memory (dense<Op>::fits in kernels/dense.cuh). */
static bool can_run(const ndr_canonical *problem, ndr_group *g) {
  bool rows = problem->reduced_count > 0 && problem->reduced[0].stride == 1, keeps = ndr_tile_keeps_fastest(problem);
  if (problem->table || problem->reduced_count < 2 || !(rows || keeps) || problem->kept_count <= keeps) return false;
  if (problem->op_count != 1 || ndr_launch_has_program(problem) || ndr_op_is_index(ndr_launch_operator(problem)))
    return false;
  if (ndr_vector_elements(problem->dtype) == 1) return false;
  if (ndr_launch_operator(problem) == NDR_LOGSUMEXP && ndr_dtype_bytes(problem->dtype) == 1) return false;
  *g = ndr_group_of(problem);
  if (g->outputs > 1 && problem->reduced[0].stride != g->outputs) return false;
  if (problem->kept[keeps].stride != group_elements(g)) return false;
  return problem->length / g->length >= LEAST_RUNS && g->side * g->bytes >= LEAST_ROW_BYTES &&
         group_elements(g) < INT32_MAX / 2;
}

bool ndr_dense_best(const ndr_canonical *problem) {
  ndr_group g;
  if (!can_run(problem, &g)) return false;
  if (g.outputs > 1) return ndr_vector_elements(problem->dtype) > 2 && g.bytes < NDR_THREADS * NDR_VECTOR_BYTES;
  return g.bytes < LONG_RUN_BYTES;
}

/* Whether each vector of a tile's row begins with one of memory, and no row ends within one. */
static bool rows_aligned(const ndr_canonical *problem, const ndr_group *g, int64_t tile_groups) {
  int64_t elements = ndr_vector_elements(problem->dtype);
  if (g->side * group_elements(g) % elements || tile_groups * group_elements(g) % elements) return false;
  for (int a = ndr_tile_keeps_fastest(problem) + g->axes; a < problem->kept_count; a++)
    if (problem->kept[a].stride % elements) return false;
  for (int a = 1; a < problem->reduced_count; a++)
    if (problem->reduced[a].stride % elements) return false;
  return true;
}

void ndr_dense_configure(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, bool on_boundary) {
  ndr_group g = ndr_group_of(problem);
  int64_t elements = ndr_vector_elements(problem->dtype), size = group_elements(&g);
  int64_t blocks = problem->outputs / g.outputs * size / (elements * NDR_THREADS);
  int64_t threads = blocks >= (int64_t)device->units * NDR_BLOCKS_TILE_RUN_DENSE ? NDR_THREADS : FEW_THREADS;
  int64_t most = threads * elements / size > 1 ? threads * elements / size : 1;
  int64_t tiles = (g.side + most - 1) / most, groups = (g.side + tiles - 1) / tiles;
  int64_t vectors = (groups * size + elements - 1) / elements;
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_RUN_DENSE);
  ndr_params *p = &launch->params;
  ndr_param_tile_runs *own = &p->tile_runs;
  own->groups = ndr_group_tiles(&g, groups);
  own->column_splits = (int)((vectors + NDR_THREADS - 1) / NDR_THREADS);
  own->row_threads = (int)((vectors + own->column_splits - 1) / own->column_splits);
  own->shifted = !on_boundary || !rows_aligned(problem, &g, groups);
  int rows = NDR_THREADS / own->row_threads, joiners = 1;
  p->tile_outputs = (int)(groups * g.outputs);
  while (joiners < NDR_WARP_THREADS && 2 * joiners * p->tile_outputs <= NDR_THREADS && joiners < g.length) joiners *= 2;
  own->joiners = ndr_threads(joiners);
  ndr_runs_move_last(p);
  ndr_rows_order(p, rows, (int64_t)ndr_dtype_bytes(problem->dtype));
  p->work = ndr_group_tile_count(problem, &own->groups);
  own->row_splits = ndr_rows_split(problem, device, launch, problem->length / g.length, (double)(groups * g.bytes),
                                   rows, NDR_LOADS_TILE_RUN_DENSE, own->column_splits);
  ndr_launch_end(launch);
}
