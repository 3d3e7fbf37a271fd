/* Family columns: lines that lie side by side, neighbouring threads on neighbouring lines. */
#include <stdlib.h>

#include "core/text.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/scan/scan.h"

enum {
  MOST_WORDS = 3, /* of a state: shared memory has room for those of all columns */
  LEAST_COLUMNS = 4,
  MOST_SPLIT = 32,     /* columns of a tile where a column has several tiles */
  MOST_OFF_SECTORS = 8 /* elements of a thread where rows do not begin on sectors */
};

static int columns_of(const ndr_scan_problem *problem, int elements) {
  int64_t threads = ndr_ceil_div(problem->length, elements), beside = problem->kept[0].size;
  int columns = NDR_SCAN_BLOCK;
  while (columns > MOST_SPLIT && NDR_SCAN_BLOCK / columns < threads) columns /= 2;
  while (columns > LEAST_COLUMNS && columns / 2 >= beside) columns /= 2;
  return columns;
}

/* Whether the rows of the arrays and of the result begin on sectors if the first does. */
static bool is_on_sectors(const ndr_scan_problem *problem) {
  const ndr_scan_axis *axis = &problem->scan[0];
  int64_t bytes = axis->result * (int64_t)ndr_dtype_bytes(problem->result_dtype);
  for (int k = 0; k <= problem->operand_count; k++) bytes |= ndr_scan_stride(axis, k) * ndr_scan_bytes(problem, k);
  return bytes % NDR_SCAN_SECTOR == 0;
}

/* A thread has fewer elements than it could have where columns are shorter, and where rows share sectors: fewer bytes
 * in flight are then faster. */
static int elements_of(const ndr_scan_problem *problem, const ndr_device *device) {
  int elements = ndr_scan_elements(problem, device, MOST_SPLIT, 1);
  if (elements > MOST_OFF_SECTORS && !is_on_sectors(problem)) elements = MOST_OFF_SECTORS;
  while (elements > 4 && elements / 2 >= problem->length) elements /= 2;
  return elements;
}

static void cut(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  launch->elements = elements_of(problem, device);
  launch->columns = columns_of(problem, launch->elements);
  launch->tile = NDR_SCAN_BLOCK / launch->columns * launch->elements;
  launch->lines = problem->lines / problem->kept[0].size;
  launch->column_tiles = ndr_ceil_div(problem->kept[0].size, launch->columns);
  launch->items = ndr_ceil_div(problem->length, launch->tile) * launch->lines * launch->column_tiles;
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  ndr_state state = ndr_scan_gpu_state(problem);
  ndr_scan_launch launch;
  const char *why = ndr_scan_gpu_reject(problem, device);
  (void)text;
  if (why) return why;
  if (problem->length < 2) return "there is nothing to scan";
  if (problem->kept_count == 0) return "no lines lie side by side";
  if (ndr_state_size(&state) > MOST_WORDS) return "states have too many words";
  cut(problem, device, &launch);
  return launch.items > NDR_SCAN_MOST_ITEMS ? "there are too many tiles" : NULL;
}

/* Whether steps along the scanned axis are numbers of 32 bits, also in bytes. */
static bool is_near(const ndr_scan_problem *problem) {
  const ndr_scan_axis *axis = &problem->scan[0];
  if (problem->scan_count != 1) return false;
  bool near = llabs(axis->result) * (int64_t)ndr_dtype_bytes(problem->result_dtype) <= INT32_MAX;
  for (int k = 0; near && k <= problem->operand_count; k++)
    near = llabs(ndr_scan_stride(axis, k)) * ndr_scan_bytes(problem, k) <= INT32_MAX;
  return near;
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  ndr_scan_launch launch = {.block = NDR_SCAN_BLOCK, .beside = 1, .tile_lines = 1};
  cut(problem, &plan->device, &launch);
  if (is_near(problem)) launch.known |= NDR_SCAN_NEAR;
  ndr_scan_cut(problem, &launch, launch.lines * launch.column_tiles);
  ndr_scan_launch_end(plan, &launch, problem->kept_count - 1);
}

/* Tiles of few columns wait for each other, which takes twice as long, or 1.3 times with 128 columns and more whose
 * rows are whole sectors. That counts where family bands is the other choice: what `lines` would lose is not known. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  char why[160];
  ndr_scan_launch launch = {.beside = 1};
  cut(problem, device, &launch);
  const double columns = (double)problem->kept[0].size, tile = launch.columns;
  const double idle = (double)launch.column_tiles * tile / columns;
  const bool few = problem->length > launch.tile && launch.lines * launch.column_tiles < NDR_SCAN_MANY_LINES &&
                   !ndr_scan_family_bands.reject(problem, device, why);
  const double waiting = !few ? 1 : columns >= 4 * MOST_SPLIT && is_on_sectors(problem) ? 1.3 : 2;
  return 4e-6 + ndr_scan_seconds(problem, device, &problem->kept[0]) * waiting * (1 + 0.2 * idle);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "scan_columns, tiles of %d columns, %lld a line of %d elements, %d a thread",
                  launch->columns, (long long)launch->tiles, launch->tile, launch->elements);
  return length;
}

const ndr_scan_family ndr_scan_family_columns = {"columns", reject, cost, configure, describe};
