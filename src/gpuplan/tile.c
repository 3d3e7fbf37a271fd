/* The tile family: the fastest axis is short, so that one contiguous stretch of memory spans several outputs. This is
 * the planner's half of kernels/tile.cuh, columns3.cuh and vectors.cuh; staged.c and runs.c are that of the
 * others. */
#include <math.h>

#include "gpuplan/groups.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/operators.h"
#include "gpuplan/operands/zones.h"

enum {
  MOST_BYTES = 1 << 20,  /* of a split */
  LEAST_BYTES = 2 << 10, /* of a split for each accumulator of a thread */
  WARP_BYTES = 64 << 10, /* up to which a warp has a group of three outputs of its own */
  MOST_SMEM_BYTES = 32 << 10,
  /* Least bytes of a run for tile_columns and tile_columns3, whose threads start anew in each; others are staged. */
  COLUMNS3_RUN_BYTES = 8 << 10,
  LINE_RUN_BYTES = 16 << 10, /* of rows of up to a cache line, of elements of 4 bytes or more */
  OTHER_RUN_BYTES = 64 << 10
};

/* Threads of a block that read: a multiple of the vectors after which the outputs repeat, so that element j of each of
 * a thread's vectors belongs to the same output. */
static int active_threads(const ndr_canonical *problem) {
  int64_t columns = problem->kept[0].size, repeat = columns / ndr_gcd(columns, ndr_vector_elements(problem->dtype));
  return repeat > NDR_THREADS ? 0 : (int)(NDR_THREADS / repeat * repeat);
}

/* Whether every vector holds whole rows of one output each: then tile_vectors runs the problem. A single element is
 * such a row too, except that of a byte: its result is so much larger that only writing it matters. */
static bool whole_rows(const ndr_canonical *problem) {
  int64_t length = problem->length, elements = ndr_vector_elements(problem->dtype);
  if (problem->kept_count != 1 || problem->kept[0].stride != length) return false;
  if (length == 1) return elements < 16;
  return problem->reduced_count == 1 && problem->reduced[0].stride == 1 && length < elements && elements % length == 0;
}

/* Whether tile_columns or tile_columns3 can run the problem. */
static bool narrow_columns(const ndr_canonical *problem) {
  return ndr_tile_keeps_fastest(problem) && problem->reduced_count > 0 &&
         problem->reduced[0].stride == problem->kept[0].size && problem->kept[0].size <= NDR_THREADS &&
         active_threads(problem) > 0;
}

static const char *reject(const ndr_canonical *problem, const ndr_device *device, char *text) {
  if (problem->table) return ndr_zones_reject(problem, device);
  if (ndr_operands_needed(problem) && !device->compiles) return NDR_NO_COMPILER;
  if (ndr_operands_needed(problem)) return "tiles hold elements of one array: families thread and tree read several";
  if (ndr_canonical_uncompiled(problem, device)) return NDR_UNCOMPILED;
  if (ndr_launch_has_program(problem) && !device->compiles) return NDR_NO_COMPILER;
  if (problem->length == 0) return "nothing is reduced";
  if (whole_rows(problem) || ndr_dense_best(problem) || ndr_runs_can(problem) || narrow_columns(problem)) return NULL;
  return ndr_staged_reject(problem, text);
}

/* Bytes of shared memory in which a block joins its accumulators, some at a time. They hold at least one accumulator of
 * each column whatever the operators are, and mostly all of 8 bytes at once. */
static int smem_bytes(int64_t columns, int64_t accumulators) {
  int64_t least = columns * NDR_MOST_STATE_BYTES, all = accumulators * 8;
  int64_t whole = all < MOST_SMEM_BYTES ? all : MOST_SMEM_BYTES;
  return (int)(least > whole ? least : whole);
}

/* Tiles of a well-filled device; long_columns and configure_columns3 want four times as many. */
static int64_t enough_tiles(const ndr_device *device) {
  return (int64_t)device->units * 8;
}

/* Rows of a split: 1 MiB of them. Where the tiles do not fill a wave of blocks, what ndr_best_splits finds, but at
 * least LEAST_BYTES for each accumulator of a thread, because a block joins all of them at the end. */
static int64_t split_rows(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch,
                          int accumulators) {
  const ndr_params *p = &launch->params;
  int64_t row_bytes = problem->kept[0].size * (int64_t)ndr_dtype_bytes(problem->dtype),
          rows = MOST_BYTES / row_bytes + 1;
  int64_t blocks = (int64_t)device->units * launch->blocks, one_step = ndr_launch_step(p->tile_outputs);
  double bytes = (double)problem->length * (double)row_bytes, most = bytes / (LEAST_BYTES * accumulators);
  if (p->work >= blocks) return rows;
  ndr_tiles tiles = {p->work, bytes, p->tile_outputs, 1, 0};
  int64_t splits = ndr_best_splits(&tiles, blocks, (int64_t)fmin(fmax(most, 1), NDR_MOST_SPLITS), one_step);
  splits = ndr_bound_splits(splits, problem->length, rows, p->work, blocks);
  return (problem->length + splits - 1) / splits;
}

static ndr_param_rows rows_of(const ndr_canonical *problem) {
  return (ndr_param_rows){.columns = (int)problem->kept[0].size,
                          .run_rows = problem->reduced[0].size,
                          .runs = problem->length / problem->reduced[0].size};
}

static void configure_columns(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_COLUMNS);
  ndr_params *p = &launch->params;
  int elements = (int)ndr_vector_elements(problem->dtype), threads = active_threads(problem);
  ndr_param_rows rows = rows_of(problem);
  p->tile_columns = (ndr_param_tile_columns){rows, threads, smem_bytes(rows.columns, threads * elements)};
  launch->shared_bytes = (unsigned)p->tile_columns.smem_bytes;
  p->tile_outputs = rows.columns;
  p->work = problem->outputs / rows.columns;
  ndr_launch_split(launch, problem->length, split_rows(problem, device, launch, elements), 1,
                   ndr_launch_step(rows.columns));
  ndr_launch_end(launch);
}

/* Where there are enough groups of three outputs and they are short, each warp reads a group of its own. */
static void configure_columns3(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_COLUMNS3);
  ndr_params *p = &launch->params;
  int64_t groups = problem->outputs / 3, group_bytes = problem->length * 3 * (int64_t)ndr_dtype_bytes(problem->dtype);
  bool warp_each = groups >= enough_tiles(device) * 4 && group_bytes <= WARP_BYTES;
  int block_groups = warp_each ? NDR_BLOCK_WARPS : 1;
  p->tile_columns3 = (ndr_param_tile_columns3){rows_of(problem), ndr_threads(NDR_THREADS / block_groups)};
  p->tile_outputs = 3 * block_groups;
  p->work = (groups + block_groups - 1) / block_groups;
  ndr_launch_split(launch, problem->length, warp_each ? problem->length : split_rows(problem, device, launch, 3), 1,
                   ndr_launch_step(3));
  ndr_launch_end(launch);
}

static void configure_vectors(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch) {
  int64_t row = problem->length * (int64_t)ndr_dtype_bytes(problem->dtype), bytes = problem->outputs * row;
  int64_t blocks = bytes / (NDR_THREADS * NDR_VECTOR_BYTES), enough = (int64_t)device->units * NDR_BLOCKS_TILE_VECTORS;
  int64_t vectors = blocks / enough; /* of a thread */
  ndr_launch_begin(launch, problem, NDR_KERNEL_TILE_VECTORS);
  ndr_params *p = &launch->params;
  if (vectors < 1) vectors = 1;
  if (vectors > NDR_LOADS_TILE_VECTORS) vectors = NDR_LOADS_TILE_VECTORS;
  p->tile_vectors.row_length = (int)problem->length;
  p->tile_vectors.item_vectors = NDR_THREADS * (int)vectors;
  p->tile_outputs = (int)(p->tile_vectors.item_vectors * NDR_VECTOR_BYTES / row);
  p->work = (problem->outputs + p->tile_outputs - 1) / p->tile_outputs;
  ndr_launch_end(launch);
}

/* Whether runs are long enough for threads that keep to their columns. */
static bool long_columns(const ndr_canonical *problem, const ndr_device *device) {
  int64_t columns = problem->kept[0].size, bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  bool busy = problem->outputs / columns >= enough_tiles(device) * 4 && !ndr_op_is_index(ndr_launch_operator(problem));
  int64_t least = OTHER_RUN_BYTES;
  if (busy && columns == 3)
    least = COLUMNS3_RUN_BYTES;
  else if (busy && bytes >= 4 && columns * bytes <= NDR_LINE_BYTES)
    least = LINE_RUN_BYTES;
  return problem->reduced[0].size * columns * bytes >= least;
}

static void configure_one(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  if (problem->table) {
    ndr_zones_configure(problem, device, launch, on_boundary);
    return;
  }
  /* Off a 16-byte boundary a vector holds whole rows only where a row is a single element. */
  if (whole_rows(problem) && (on_boundary || problem->length == 1))
    configure_vectors(problem, device, launch);
  else if (ndr_dense_best(problem))
    ndr_dense_configure(problem, device, launch, on_boundary);
  else if (ndr_runs_best(problem, device))
    ndr_runs_configure(problem, device, launch, on_boundary);
  else if (narrow_columns(problem) && (!ndr_staged_can(problem) || long_columns(problem, device)))
    (problem->kept[0].size == 3 ? configure_columns3 : configure_columns)(problem, device, launch);
  else
    ndr_staged_configure(problem, device, launch, on_boundary);
}

static double cost(const ndr_canonical *problem, const ndr_device *device) {
  return ndr_launches_cost(problem, device, configure_one);
}

static void configure(ndr_plan *plan) {
  ndr_launches_configure(plan, configure_one);
}

const ndr_family ndr_family_tile = {"tile", reject, cost, configure, ndr_launch_describe};
