/* See scan.h. */
#include "gpuplan/scan/scan.h"

#include <stdlib.h>
#include <string.h>

#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"

enum {
  STRETCH_WORDS = 3, /* of a state, as a block of bands or streams has those of all its threads in shared memory */
  MANY_WORDS = 10,   /* a thread has several elements if their states are of no more words */
  MOST_VALUES = 24,  /* that a thread has: elements times neighbours */
  MOST_SHARED = 100 << 10, /* dynamic shared memory of a block, as several blocks are to run at a time */
  MANY_LINES = 512,        /* from here on larger blocks do not help */
  MOST_STATIC = 48 << 10,  /* static shared memory that a kernel can have on any GPU */
  NUMBERS_SHARED = 64      /* static shared memory for more than states */
};

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

static int64_t alignment_of(const ndr_scan_problem *problem, int k) {
  return (int64_t)ndr_dtype_alignment(k ? problem->operand_dtypes[k - 1] : problem->dtype);
}

int64_t ndr_scan_stride(const ndr_scan_axis *axis, int k) {
  return k ? axis->operand[k - 1] : axis->stride;
}

const char *ndr_scan_gpu_reject(const ndr_scan_problem *problem, const ndr_device *device) {
  if (!device->compiles) return "scans need NVRTC (libnvrtc.so) to compile their kernels, which was not found";
  return problem->program->parameter_count > NDR_PARAM_NUMBERS ? "it has too many parameters" : NULL;
}

const char *ndr_scan_stretch_reject(const ndr_scan_problem *problem, const ndr_device *device) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const char *why = ndr_scan_gpu_reject(problem, device);
  if (why) return why;
  if (problem->length < 2 || ndr_scan_is_empty(problem)) return "there is nothing to scan";
  if (problem->operand_count > 0 || problem->place_count > 0) return "it reads more than one array";
  if (problem->longer) return "results have a row more";
  return ndr_state_size(&state) > STRETCH_WORDS ? "states have too many words" : NULL;
}

int64_t ndr_scan_widest(const ndr_scan_problem *problem) {
  int64_t widest = (int64_t)ndr_dtype_bytes(problem->result_dtype);
  for (int k = 0; k <= problem->operand_count; k++)
    if (ndr_scan_bytes(problem, k) > widest) widest = ndr_scan_bytes(problem, k);
  return widest;
}

static bool waits(unsigned known) {
  return !(known & (NDR_SCAN_WHOLE | NDR_SCAN_ALONE));
}

/* Static shared memory of a block: scan_shared, and where tiles wait for others scan_upper and the totals of the tiles
 * in hand, scan_tiles, and of scan_lines scan_room. Where they do not, scan_exchange, and of scan_columns the values
 * carried from tile to tile. */
static int64_t static_bytes(const ndr_scan_problem *problem, int columns, int beside, int block, bool waiting) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int across = columns ? columns : 1, groups = block / across / NDR_SCAN_GROUP;
  const int upper = (groups + groups / NDR_SCAN_GROUP) * across + 1;
  const int room = columns ? 0 : NDR_WARP_THREADS + NDR_WARP_THREADS / NDR_SCAN_GROUP, tiles = columns ? 2 : 3;
  const int states = block + block / 4;
  const int more = NDR_SCAN_TURNS * (upper + across) + tiles * NDR_SCAN_LEVELS * across + room;
  const int64_t bytes = (int64_t)ndr_state_size(&state) * beside * (int64_t)sizeof(double);
  return (waiting ? states + more : NDR_SCAN_BUFFERS(bytes) * states + 2 * columns) * bytes + NUMBERS_SHARED;
}

bool ndr_scan_can_wait(const ndr_scan_problem *problem) {
  return static_bytes(problem, 0, 1, NDR_SCAN_BLOCK, true) <= MOST_STATIC;
}

/* Dynamic shared memory of a block of scan_lines, and of scan_columns, that has room for `turns` tiles. */
static int64_t lines_room(const ndr_scan_problem *problem, int turns, int64_t elements, int block) {
  const int64_t warp = NDR_WARP_THREADS * elements, result = (int64_t)ndr_dtype_bytes(problem->result_dtype);
  const bool in_place = ndr_scan_bytes(problem, 0) == result && result >= 4; /* as scan_tile has it */
  int64_t rooms = 0;
  for (int k = 0; k <= problem->operand_count; k++)
    rooms += NDR_SCAN_ROOM(warp * ndr_scan_bytes(problem, k), alignment_of(problem, k));
  return block / NDR_WARP_THREADS * (turns * rooms + (in_place ? 0 : warp * result));
}

static int64_t columns_room(const ndr_scan_problem *problem, int turns, const ndr_scan_launch *launch) {
  int64_t all = 0;
  for (int k = 0; k <= problem->operand_count; k++) {
    const int64_t bytes = ndr_scan_bytes(problem, k) * launch->beside;
    if (bytes >= 4) all += bytes; /* as scan_strip::is_fetched has it */
  }
  return turns * all * launch->elements * NDR_SCAN_BLOCK;
}

static int elements_for(const ndr_scan_problem *problem) {
  ndr_state state = ndr_scan_gpu_state(problem);
  int words = ndr_state_size(&state);
  int64_t widest = ndr_scan_widest(problem);
  if (words > MANY_WORDS) return 1;
  if (widest <= 4 && words == 1 && problem->operand_count == 0) return 16;
  return widest <= 8 && words <= 2 ? 8 : 4;
}

/* Bytes of dynamic shared memory that a block may have beside the states of tiles that wait. */
static int64_t most_shared(const ndr_scan_problem *problem, const ndr_device *device, int columns, int beside,
                           int block) {
  const int64_t most = device->shared_bytes_per_block - static_bytes(problem, columns, beside, block, true);
  return most < MOST_SHARED ? most : MOST_SHARED;
}

int ndr_scan_elements(const ndr_scan_problem *problem, const ndr_device *device, int columns, int beside) {
  const int64_t most = most_shared(problem, device, columns, beside, NDR_SCAN_BLOCK);
  int elements = elements_for(problem);
  while (elements > 1 && elements * beside > MOST_VALUES) elements /= 2;
  while (elements > 1 && lines_room(problem, NDR_SCAN_TURNS, elements * beside, NDR_SCAN_BLOCK) > most) elements /= 2;
  return elements;
}

int ndr_scan_long_block(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_launch *launch) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int block = NDR_SCAN_LONG_BLOCK, words = ndr_state_size(&state) * launch->beside;
  const int64_t room = lines_room(problem, NDR_SCAN_TURNS, (int64_t)launch->elements * launch->beside, block);
  const int64_t whole = room + static_bytes(problem, 0, launch->beside, block, true) + NDR_SCAN_RESERVED_SHARED;
  if (problem->lines >= MANY_LINES || problem->operand_count > 0 || words > 2) return NDR_SCAN_BLOCK;
  bool fits =
      room <= most_shared(problem, device, 0, launch->beside, block) && 2 * whole <= device->shared_bytes_per_unit;
  return fits ? block : NDR_SCAN_BLOCK;
}

static void pack_axis(const ndr_scan_problem *problem, ndr_scan_axis *axis, int beside) {
  axis->stride /= beside;
  axis->result /= beside;
  for (int k = 0; k < problem->operand_count; k++) axis->operand[k] /= beside;
}

ndr_scan_problem ndr_scan_pack(const ndr_scan_problem *problem, int beside) {
  ndr_scan_problem packed = *problem;
  if (beside == 1) return packed;
  packed.lines /= beside;
  packed.result_step /= beside;
  packed.kept[0].size /= beside;
  for (int a = 1; a < packed.kept_count; a++) pack_axis(problem, &packed.kept[a], beside);
  for (int a = 0; a < packed.scan_count; a++) pack_axis(problem, &packed.scan[a], beside);
  if (packed.kept[0].size > 1) return packed;
  packed.kept_count--;
  memmove(packed.kept, packed.kept + 1, (size_t)packed.kept_count * sizeof *packed.kept);
  return packed;
}

/* Whether an axis has stride `step` in all arrays and the result; or, where step is 0, multiples of `beside`. */
static bool steps_by(const ndr_scan_problem *problem, const ndr_scan_axis *axis, int64_t step, int64_t beside) {
  bool fits = step ? axis->result == step : axis->result % beside == 0;
  for (int k = 0; fits && k <= problem->operand_count; k++)
    fits = step ? ndr_scan_stride(axis, k) == step : ndr_scan_stride(axis, k) % beside == 0;
  return fits;
}

bool ndr_scan_can_pack(const ndr_scan_problem *problem, int64_t beside, int64_t step) {
  if (problem->kept_count == 0 || problem->scan_count != 1 || problem->place_count > 0) return false;
  if (problem->kept[0].size % beside != 0 || problem->result_step % beside != 0) return false;
  bool fits = steps_by(problem, &problem->kept[0], 1, 0) && steps_by(problem, &problem->scan[0], step, beside);
  for (int a = 1; fits && a < problem->kept_count; a++) fits = steps_by(problem, &problem->kept[a], 0, beside);
  return fits;
}

int64_t ndr_scan_nodes(int64_t tiles, int64_t group, int64_t upper) {
  return (group > 1 ? tiles : 0) + (upper > 1 ? ndr_ceil_div(tiles, group) : 0) + ndr_ceil_div(tiles, group * upper);
}

static int64_t nodes_of(const ndr_scan_problem *problem, const ndr_scan_launch *launch) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int words = ndr_state_size(&state) * launch->beside;
  if (!waits(launch->known)) return 0;
  if (launch->known & NDR_SCAN_CHAIN) return launch->tiles;
  if (launch->columns) return ndr_scan_nodes(launch->tiles, NDR_SCAN_COLUMN_GROUP, NDR_SCAN_UPPER_GROUP);
  return ndr_scan_nodes(launch->tiles, NDR_SCAN_LINE_GROUP(words),
                        words > NDR_SCAN_FEW_WORDS ? NDR_SCAN_UPPER_GROUP : 1);
}

void ndr_scan_cut(const ndr_scan_problem *problem, ndr_scan_launch *launch, int64_t abreast) {
  launch->tiles = ndr_ceil_div(problem->length, launch->tile);
  if (launch->columns && launch->tiles == 1) launch->known |= NDR_SCAN_ALONE;
  launch->items = waits(launch->known) ? abreast * launch->tiles : abreast;
  if (waits(launch->known) && abreast >= NDR_SCAN_CHAINED_LINES) launch->known |= NDR_SCAN_CHAIN;
  launch->nodes = nodes_of(problem, launch);
}

/* Blocks that a multiprocessor is to run at a time, if it has room. Where they wait for nothing, more than keep memory
 * busy are in each other's way. Strips have been cut for launch->residents. */
static int most_residents(const ndr_scan_problem *problem, const ndr_scan_launch *launch, int words) {
  const int most = problem->operand_count > 0 || words > 2 || launch->block > NDR_SCAN_BLOCK ? 2 : 3;
  if (waits(launch->known)) return most;
  if (launch->columns) return launch->residents;
  const int64_t blocks = ndr_ceil_div(NDR_SCAN_INCOMING, ndr_scan_bytes(problem, 0) * launch->tile * launch->beside),
                many = words == 1 && most > 2 ? 4 : most;
  return blocks < 2 ? 2 : (int)(blocks < many ? blocks : many);
}

/* The same of scan_shifted: rooms for tiles, and the totals of units, in turn. */
static int64_t shifted_shared(const ndr_scan_problem *problem, const ndr_scan_launch *launch, int64_t *dynamic) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int64_t bytes = ndr_scan_result_bytes(problem), columns = NDR_SCAN_SHIFT_COLUMNS(launch->columns, bytes),
                units = launch->block / columns, states = units > 1 ? 2 * units * columns : 2;
  *dynamic = (int64_t)NDR_SCAN_TURNS_ALONE * launch->tile * 16 * NDR_SCAN_SHIFT_VECTORS(columns * bytes);
  return *dynamic + states * ndr_state_size(&state) * (int64_t)sizeof(double);
}

int64_t ndr_scan_shared(const ndr_scan_problem *problem, const ndr_scan_launch *launch, int64_t *dynamic) {
  const int turns = waits(launch->known) ? NDR_SCAN_TURNS : NDR_SCAN_TURNS_ALONE;
  if (launch->known & NDR_SCAN_SHIFTED) return shifted_shared(problem, launch, dynamic);
  *dynamic = launch->columns ? columns_room(problem, turns, launch)
                             : lines_room(problem, turns, (int64_t)launch->elements * launch->beside, launch->block);
  return *dynamic + static_bytes(problem, launch->columns, launch->beside, launch->block, waits(launch->known));
}

/* Sets shared memory, and how many blocks a multiprocessor runs at a time. */
static void set_room(const ndr_scan_plan *plan, ndr_scan_launch *launch, int words) {
  int64_t dynamic, block = ndr_scan_shared(&plan->problem, launch, &dynamic) + NDR_SCAN_RESERVED_SHARED;
  const int64_t fit = plan->device.shared_bytes_per_unit / block;
  const int most = most_residents(&plan->problem, launch, words * launch->beside);
  launch->shared_bytes = (unsigned)dynamic;
  launch->residents = fit < 1 ? 1 : fit < most ? (int)fit : most;
}

void ndr_scan_know(const ndr_scan_problem *problem, ndr_scan_launch *launch, int kept_count) {
  if (kept_count <= 1) launch->known |= NDR_SCAN_ONE_KEPT;
  if (problem->scan_count <= 1) launch->known |= NDR_SCAN_ONE_AXIS;
  if (problem->exclusive) launch->known |= NDR_SCAN_EXCLUSIVE;
  if (problem->longer) launch->known |= NDR_SCAN_LONGER;
}

void ndr_scan_launch_end(ndr_scan_plan *plan, ndr_scan_launch *launch, int kept_count) {
  const ndr_scan_problem *problem = &plan->problem;
  ndr_state state = ndr_scan_gpu_state(problem);
  int words = ndr_state_size(&state);
  ndr_scan_know(problem, launch, kept_count);
  launch->threads = waits(launch->known) ? launch->block + NDR_WARP_THREADS : launch->block;
  set_room(plan, launch, words);
  int64_t at_a_time = (int64_t)launch->residents * plan->device.units;
  launch->grid = (unsigned)(launch->items < at_a_time ? launch->items : at_a_time);
  if (launch->nodes)
    plan->workspace =
        NDR_SCAN_TAKEN_BYTES + (size_t)problem->lines * (size_t)launch->nodes * (size_t)words * sizeof(ndr_posted);
  memcpy(plan->config, launch, sizeof *launch);
}

/* ---- arguments ---- */

static ndr_scan_divisor divisor(int64_t size) {
  ndr_param_divisor found = ndr_divisor(size);
  return (ndr_scan_divisor){size, found.magic, found.shift};
}

static void fill_axis(const ndr_scan_problem *problem, const ndr_scan_axis *from, ndr_scan_param_axis *to) {
  to->size = divisor(from->size);
  to->result = from->result;
  for (int k = 0; k <= problem->operand_count; k++) to->stride[k] = ndr_scan_stride(from, k);
  for (int k = 0; k < problem->place_count; k++) to->place[k] = from->place[k];
}

void ndr_scan_fill_params(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                          ndr_scan_params *params) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  const ndr_scan_problem packed = ndr_scan_pack(&plan->problem, launch->beside), *problem = &packed;
  bool posts = ndr_scan_posts(launch);
  *params = (ndr_scan_params){.posted = posts ? (ndr_posted *)((char *)workspace + NDR_SCAN_TAKEN_BYTES) : NULL,
                              .totals = ndr_scan_reads_twice(launch) ? workspace : NULL,
                              .taken = posts && (launch->keepers || launch->items > launch->grid) ? workspace : NULL,
                              .lines = divisor(launch->lines * (launch->columns ? launch->column_tiles : 1)),
                              .length = divisor(problem->length),
                              .column_tiles = divisor(launch->column_tiles),
                              .items = (int)launch->items,
                              .tiles = (int)launch->tiles,
                              .nodes = launch->nodes,
                              .result_step = problem->result_step,
                              .tile_lines = launch->tile_lines,
                              .tile = launch->tile,
                              .keepers = launch->keepers,
                              .ring = launch->ring,
                              .kept_count = problem->kept_count,
                              .scan_count = problem->scan_count};
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
  return step < (double)bytes      ? (double)bytes
         : step < NDR_SCAN_SECTOR  ? step
         : NDR_SCAN_SECTOR > bytes ? NDR_SCAN_SECTOR
                                   : (double)bytes;
}

double ndr_scan_seconds(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_axis *axis) {
  double bytes = moved((int64_t)ndr_dtype_bytes(problem->result_dtype), axis ? axis->result : 1);
  for (int k = 0; k <= problem->operand_count; k++) {
    int64_t stride = axis ? ndr_scan_stride(axis, k) : 1;
    if (stride) bytes += moved(ndr_scan_bytes(problem, k), stride);
  }
  return bytes * (double)problem->lines * (double)problem->length / device->bandwidth;
}
