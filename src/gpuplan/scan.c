/* See scan.h. */
#include "gpuplan/scan.h"

#include <stdlib.h>
#include <string.h>

#include "gpuplan/launch.h"
#include "gpuplan/operand_arrays.h"

/* Words of a state that leave room for several elements a thread: a block's states and elements take 48 KiB of shared
 * memory at most. */
enum { SECTOR = 32, MANY_WORDS = 10 };

_Static_assert(sizeof(ndr_scan_launch) <= NDR_SCAN_CONFIG_BYTES, "a plan has room for a launch");
_Static_assert(sizeof(ndr_scan_params) <= 4096, "a kernel takes its arguments in 4 KiB");
_Static_assert(NDR_SCAN_ARRAYS >= NDR_MOST_ARRAYS && NDR_PARAM_PLACES >= NDR_MOST_PLACES &&
                   NDR_PARAM_AXES >= NDR_MAX_DIMS,
               "params has room for every problem");

ndr_state ndr_scan_gpu_state(const ndr_scan_problem *problem) {
  return (ndr_state){
      .op = problem->op, .dtype = problem->dtype, .skip_nan = problem->skip_nan, .program = problem->program};
}

int64_t ndr_scan_bytes(const ndr_scan_problem *problem, int k) {
  return (int64_t)ndr_dtype_bytes(k ? problem->operand_dtypes[k - 1] : problem->dtype);
}

int64_t ndr_scan_stride(const ndr_scan_axis *axis, int k) {
  return k ? axis->operand[k - 1] : axis->stride;
}

const char *ndr_scan_gpu_reject(const ndr_scan_problem *problem, const ndr_device *device) {
  if (!device->compiles) return "scans need NVRTC (libnvrtc.so) to compile their kernels, which was not found";
  return problem->program->parameter_count > NDR_PARAM_NUMBERS ? "it has too many parameters" : NULL;
}

int64_t ndr_scan_widest(const ndr_scan_problem *problem) {
  int64_t widest = (int64_t)ndr_dtype_bytes(problem->result_dtype);
  for (int k = 0; k <= problem->operand_count; k++)
    if (ndr_scan_bytes(problem, k) > widest) widest = ndr_scan_bytes(problem, k);
  return widest;
}

int ndr_scan_elements(const ndr_scan_problem *problem) {
  ndr_state state = ndr_scan_gpu_state(problem);
  int words = ndr_state_size(&state);
  int64_t widest = ndr_scan_widest(problem);
  if (words > MANY_WORDS) return 1;
  if (widest <= 4 && words == 1 && problem->operand_count == 0) return 16;
  return widest <= 8 && words <= 2 ? 8 : 4;
}

void ndr_scan_cut(const ndr_scan_problem *problem, ndr_scan_launch *launch) {
  launch->tiles = ndr_ceil_div(problem->length, launch->tile);
  launch->nodes = launch->tiles > 1 ? launch->tiles : 0;
  for (int64_t level = launch->tiles; level > NDR_SCAN_SIBLINGS;) {
    level = ndr_ceil_div(level, NDR_SCAN_SIBLINGS);
    launch->nodes += level;
  }
  if (launch->tiles == 1) launch->known |= NDR_SCAN_ALONE;
}

void ndr_scan_launch_end(ndr_scan_plan *plan, ndr_scan_launch *launch, int kept_count) {
  const ndr_scan_problem *problem = &plan->problem;
  ndr_state state = ndr_scan_gpu_state(problem);
  int words = ndr_state_size(&state);
  if (kept_count <= 1) launch->known |= NDR_SCAN_ONE_KEPT;
  if (problem->scan_count <= 1) launch->known |= NDR_SCAN_ONE_AXIS;
  if (problem->exclusive) launch->known |= NDR_SCAN_EXCLUSIVE;
  if (problem->longer) launch->known |= NDR_SCAN_LONGER;
  launch->residents = words == 1 && problem->operand_count == 0 ? 4 : 2;
  launch->grid = (unsigned)(launch->items < INT32_MAX ? launch->items : INT32_MAX);
  plan->workspace = (size_t)problem->lines * (size_t)launch->nodes * (size_t)words * sizeof(ndr_posted);
  memcpy(plan->config, launch, sizeof *launch);
}

/* ---- arguments ---- */

static ndr_scan_divisor divisor(int64_t size) {
  ndr_param_axis axis = {.size = size};
  ndr_axis_magic(&axis);
  return (ndr_scan_divisor){size, axis.magic, axis.shift};
}

static void fill_axis(const ndr_scan_problem *problem, const ndr_scan_axis *from, ndr_scan_param_axis *to) {
  to->size = divisor(from->size);
  to->result = from->result;
  for (int k = 0; k <= problem->operand_count; k++) to->stride[k] = ndr_scan_stride(from, k);
  for (int k = 0; k < problem->place_count; k++) to->place[k] = from->place[k];
}

void ndr_scan_fill_params(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                          ndr_scan_params *params) {
  const ndr_scan_problem *problem = &plan->problem;
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  *params = (ndr_scan_params){.posted = workspace,
                              .lines = launch->lines,
                              .length = divisor(problem->length),
                              .items = launch->items,
                              .tiles = launch->tiles,
                              .nodes = launch->nodes,
                              .result_step = problem->result_step,
                              .tile_lines = launch->tile_lines,
                              .tile = launch->tile,
                              .kept_count = problem->kept_count,
                              .scan_count = problem->scan_count,
                              .column_tiles = launch->column_tiles};
  for (int k = 0; k <= problem->operand_count; k++) {
    int64_t origin = k ? problem->operand_origin[k - 1] : problem->origin;
    params->data[k] = (const char *)data[k] + origin * ndr_scan_bytes(problem, k);
  }
  params->result = (char *)result + problem->result_origin * (int64_t)ndr_dtype_bytes(problem->result_dtype);
  for (int k = 0; k < problem->place_count; k++) params->place_start[k] = problem->place_origin[k];
  for (int a = 0; a < problem->kept_count; a++) fill_axis(problem, &problem->kept[a], &params->axes[a]);
  for (int a = 0; a < problem->scan_count; a++)
    fill_axis(problem, &problem->scan[a], &params->axes[problem->kept_count + a]);
}

/* ---- cost ---- */

/* Bytes that an element takes of those that memory is read and written in. */
static double moved(int64_t bytes, int64_t stride) {
  double step = (double)bytes * (double)llabs(stride);
  return step < (double)bytes ? (double)bytes : step < SECTOR ? step : SECTOR > bytes ? SECTOR : (double)bytes;
}

double ndr_scan_seconds(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_axis *axis) {
  double bytes = moved((int64_t)ndr_dtype_bytes(problem->result_dtype), axis ? axis->result : 1);
  for (int k = 0; k <= problem->operand_count; k++) {
    int64_t stride = axis ? ndr_scan_stride(axis, k) : 1;
    if (stride) bytes += moved(ndr_scan_bytes(problem, k), stride);
  }
  return bytes * (double)problem->lines * (double)problem->length / device->bandwidth;
}
