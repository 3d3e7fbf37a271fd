/* Launches of family thread for problems that read several arrays: operands_columns, whose threads walk rows. */
#include "gpuplan/operand_arrays.h"
#include "gpuplan/operands.h"
#include "gpuplan/rows.h"

enum { COLUMN_WORDS = 16 /* of the states of a thread's columns, at most: their accumulators stay in registers */ };

const char *ndr_operands_reject_columns(const ndr_canonical *problem, const ndr_device *device) {
  if (!device->compiles) return NDR_NO_COMPILER;
  return problem->kept_count == 0 ? "no axis is kept: there are no neighbouring outputs" : NULL;
}

/* Whether chunks may reach beyond the last column: all arrays are then read by vectors, of which the last ones are
 * taken apart, or repeat one element. */
static bool all_are_dense(const ndr_canonical *problem, const ndr_axis *along) {
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if (ndr_stride_of(along, k) != 0 && ndr_stride_of(along, k) != 1) return false;
  return true;
}

/* Makes the longest reduced axis the one that threads walk, or the densest if it is long enough for `rows` rows. */
static void order_rows(const ndr_canonical *problem, ndr_launch *launch, int rows) {
  ndr_param_axis *axes = launch->params.axes + launch->params.kept_count, axis;
  int walked = 0;
  if (launch->params.reduced_count == 0) return;
  for (int a = 1; axes[0].size < 2 * (int64_t)rows * NDR_LOADS_OPERANDS_COLUMNS && a < problem->reduced_count; a++)
    if (axes[a].size > axes[walked].size) walked = a;
  axis = axes[walked];
  axes[walked] = axes[0];
  axes[0] = axis;
  launch->operands.walked = walked;
}

/* Words of the states of all the problem's operators. A part of a program is taken to have two. */
static int count_words(const ndr_canonical *problem) {
  int words = 0;
  for (int i = 0; i < problem->op_count; i++) words += problem->programs[i] ? 2 * problem->programs[i]->part_count : 2;
  return words > 0 ? words : 2;
}

int ndr_count_columns(const ndr_canonical *problem, bool on_boundary) {
  const ndr_axis *along = &problem->kept[0];
  int decider = ndr_find_decider(problem, along), elements = on_boundary ? ndr_aligned_elements(problem, along) : 1;
  int most = decider < 0 ? 1 : (int)(NDR_VECTOR_BYTES / ndr_array_bytes(problem, decider));
  if (on_boundary && 2 * elements < most && along->size >= 2 * most && all_are_dense(problem, along)) elements = most;
  while (elements > 1 && elements * count_words(problem) > COLUMN_WORDS) elements /= 2;
  return elements;
}

/* Cuts a block's threads into teams. Outputs that are split have a block each; others have as few rows at a time as
 * leave a thread two batches of them. */
static void cut_teams(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch, int lanes,
                      int batch) {
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int64_t enough = 2 * ndr_count_blocks(device, launch->kernel);
  int rows = NDR_THREADS / lanes;
  while (rows > 1 && problem->length < 2 * (int64_t)rows * batch &&
         own->axis_teams * own->others * rows * lanes >= enough * NDR_THREADS)
    rows /= 2;
  while (rows > 1 && problem->length <= rows / 2) rows /= 2;
  int teams = NDR_THREADS / (lanes * rows);
  own->team = ndr_threads(lanes * rows);
  p->tile_outputs = own->team_columns * teams;
  p->work = ndr_ceil_div(own->axis_teams * own->others, teams);
}

void ndr_operands_columns(const ndr_canonical *problem, const ndr_device *device, ndr_launch *launch,
                          bool on_boundary) {
  const ndr_axis *along = &problem->kept[0];
  ndr_launch_begin(launch, problem, NDR_KERNEL_OPERANDS_COLUMNS);
  ndr_params *p = &launch->params;
  ndr_param_thread *own = &p->thread;
  int elements = ndr_count_columns(problem, on_boundary), batch = ndr_count_batch(problem, along, elements);
  int64_t chunks = ndr_ceil_div(along->size, elements);
  own->others = problem->outputs / along->size;
  int lanes = ndr_power_from(chunks, problem->length < 16 ? NDR_THREADS : NDR_WARP_THREADS);
  while (lanes > NDR_WARP_THREADS && chunks * own->others < (int64_t)device->units * lanes) lanes /= 2;
  own->lanes = ndr_threads(lanes);
  own->team_columns = lanes * elements;
  own->axis_teams = ndr_ceil_div(along->size, own->team_columns);
  own->near_others = own->parts = 1;
  order_rows(problem, launch, NDR_THREADS / lanes);
  const ndr_axis *walked = problem->reduced_count ? &problem->reduced[launch->operands.walked] : NULL;
  launch->operands.elements = elements;
  launch->operands.steps = 1;
  launch->operands.ways = ndr_ways_along(problem, along, walked, elements, false);
  cut_teams(problem, device, launch, lanes, batch);
  int64_t columns = along->size < own->team_columns ? along->size : own->team_columns;
  if (own->team.count == NDR_THREADS)
    ndr_rows_split(problem, device, launch, problem->length, (double)ndr_chunk_bytes(problem, along, columns),
                   NDR_THREADS / lanes, batch, 1);
  else
    ndr_launch_split(launch, problem->length, problem->length, 1, 1);
  ndr_launch_end(launch);
}
