/* Family bands: up to 256 lines that lie side by side and fill their rows. The array is read twice, in three launches.
 */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/scan/scan.h"

enum {
  MOST_COLUMNS = NDR_SCAN_BLOCK,
  FEW_COLUMNS = 32,  /* up to so many, threads of one warp have different units */
  FEW_ELEMENTS = 17, /* of a thread then: an odd number, so that units lie in different banks */
  ELEMENTS = 16,
  LEAST_ELEMENTS = 4,
  RESIDENTS = 3 /* four were as fast, on an H200 */
};

/* Bytes of shared memory of a block: scan_shared and `carried`, and the rooms of tiles. */
static int64_t static_bytes(const ndr_scan_problem *problem, const ndr_scan_launch *launch) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int states = launch->block + launch->block / 4 + 2 * launch->columns;
  return (int64_t)states * ndr_state_size(&state) * (int64_t)sizeof(double);
}
static int64_t rooms(const ndr_scan_problem *problem, const ndr_scan_launch *launch) {
  const int64_t elements = (int64_t)launch->units * launch->elements * launch->columns;
  const int64_t room = NDR_SCAN_BAND_ROOM(elements * ndr_scan_bytes(problem, 0)),
                results = elements * ndr_scan_result_bytes(problem);
  return ndr_scan_bytes(problem, 0) == ndr_scan_result_bytes(problem) ? 2 * room : 2 * room + results;
}
static bool fits(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_launch *launch) {
  return static_bytes(problem, launch) + rooms(problem, launch) <= device->shared_bytes_per_block;
}

/* Cuts tiles so that they begin on boundaries of vectors if the first does, and fit shared memory. */
static void cut_tiles(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  const int64_t bytes = ndr_scan_bytes(problem, 0), result = ndr_scan_result_bytes(problem);
  const int step = (int)(16 / (bytes < result ? bytes : result));
  launch->columns = (int)problem->kept[0].size;
  launch->units = NDR_SCAN_BLOCK / launch->columns;
  const bool few = launch->columns <= FEW_COLUMNS && launch->units >= step;
  if (few) launch->units -= launch->units % step;
  launch->block = (int)(ndr_ceil_div((int64_t)launch->units * launch->columns, NDR_WARP_THREADS) * NDR_WARP_THREADS);
  launch->elements = few ? FEW_ELEMENTS : ELEMENTS;
  while (launch->elements / 2 >= LEAST_ELEMENTS && !fits(problem, device, launch))
    launch->elements = launch->elements / 2 + launch->elements % 2;
}

/* Chunks of whole tiles, as many as blocks run at a time: one more would take as long as all of these. */
static void cut_chunks(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  const int64_t rows = (int64_t)launch->units * launch->elements,
                at_a_time = (int64_t)launch->residents * device->units;
  const int64_t chunks = at_a_time > launch->lines ? at_a_time / launch->lines : 1;
  const int64_t tile = ndr_ceil_div(ndr_ceil_div(problem->length, chunks), rows) * rows, most = INT32_MAX / rows * rows;
  launch->tile = (int)(tile < most ? tile : most);
  launch->tiles = ndr_ceil_div(problem->length, launch->tile);
  launch->items = launch->tiles * launch->lines;
}

/* The family's launch but for what a plan's device and workspace have to do with it. */
static ndr_scan_launch launch_of(const ndr_scan_problem *problem, const ndr_device *device) {
  ndr_scan_launch launch = {
      .beside = 1, .tile_lines = 1, .lines = problem->lines / problem->kept[0].size, .column_tiles = 1};
  cut_tiles(problem, device, &launch);
  const int64_t dynamic = rooms(problem, &launch);
  const int64_t block = dynamic + static_bytes(problem, &launch) + NDR_SCAN_RESERVED_SHARED;
  const int64_t fit = device->shared_bytes_per_unit / block;
  launch.residents = fit < 1 ? 1 : fit < RESIDENTS ? (int)fit : RESIDENTS;
  launch.shared_bytes = (unsigned)dynamic;
  launch.threads = launch.block;
  cut_chunks(problem, device, &launch);
  launch.grid = (unsigned)launch.items;
  return launch;
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  const ndr_scan_axis *kept = &problem->kept[0], *scan = &problem->scan[0];
  const char *why = ndr_scan_stretch_reject(problem, device);
  (void)text;
  if (why) return why;
  if (ndr_scan_might_decrease(problem)) return "sums in f64 might decrease where a chunk begins";
  if (problem->kept_count == 0 || problem->scan_count != 1 || kept->size < 2 || kept->size > MOST_COLUMNS)
    return "there are not 2 to 256 lines side by side";
  if (kept->stride != 1 || kept->result != 1 || scan->stride != kept->size || scan->result != kept->size)
    return "lines do not fill their rows";
  const ndr_scan_launch launch = launch_of(problem, device);
  if (!fits(problem, device, &launch)) return "its tiles need more shared memory";
  return launch.items > NDR_SCAN_MOST_ITEMS ? "there are too many tiles" : NULL;
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  ndr_scan_launch launch = launch_of(problem, &plan->device);
  ndr_state state = ndr_scan_gpu_state(problem);
  ndr_scan_know(problem, &launch, problem->kept_count - 1);
  if (launch.tiles > 1) {
    const int64_t words = launch.items * launch.columns * ndr_state_size(&state);
    plan->workspace = (size_t)words * sizeof(uint64_t);
  }
  memcpy(plan->config, &launch, sizeof launch);
}

/* The array is read twice and written once, at 0.9 of the memory's rate, unless there are so many lines that each is a
 * chunk. What a tile has room for beyond a line is idle, and so are multiprocessors while the last blocks run. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  const ndr_scan_launch launch = launch_of(problem, device);
  const double rows = launch.units * launch.elements, length = (double)problem->length, items = (double)launch.items;
  const double at_a_time = (double)launch.residents * device->units;
  const double waste = ceil(length / rows) * rows / length,
               waves = items > at_a_time ? ceil(items / at_a_time) * at_a_time / items : 1;
  const double array = (double)ndr_scan_bytes(problem, 0), result = (double)ndr_scan_result_bytes(problem);
  const double again = launch.tiles > 1 ? (2 * array + result) / (array + result) : 1;
  return (launch.tiles > 1 ? 12e-6 : 4e-6) +
         1.1 * again * waste * waves * ndr_scan_seconds(problem, device, &problem->kept[0]);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "scan_bands, %lld chunks of %d rows a line, in tiles of %d, %d a thread",
                  (long long)launch->tiles, launch->tile, launch->units * launch->elements, launch->elements);
  return length;
}

const ndr_scan_family ndr_scan_family_bands = {"bands", reject, cost, configure, describe};
