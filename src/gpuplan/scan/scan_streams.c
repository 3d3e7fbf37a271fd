/* Family streams: one line, or a few that lie side by side and fill their rows. Some blocks keep what stands before
 * tiles for the others. */
#include <string.h>

#include "core/text.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/scan/scan.h"

enum {
  MOST_LINES = 24,   /* with more, a tile has too few bytes for each total that it posts */
  KEEPER_LINES = 3,  /* of a block that keeps them, a warp each: more post too late */
  LEAST_BLOCK = 256, /* threads of a block that scan */
  MOST_BLOCK = 384,
  MOST_ELEMENTS = 33, /* of a thread: the compiler unrolls a thread's loops */
  LEAST_ELEMENTS = 4,
  RESIDENTS = 2,       /* blocks of a multiprocessor */
  MOST_GRID = 16000,   /* boxes, NDR_SCAN_TURNS of a block, have numbers of 16 bits */
  NUMBERS_SHARED = 64, /* static shared memory for more than states */
  LEAST_RING = 5       /* binary logarithm: a warp's width */
};

/* Elements of a row, which lie side by side and fill it; 0: rows have gaps, or the line is in pieces. */
static int columns_of(const ndr_scan_problem *problem) {
  const ndr_scan_axis *kept = &problem->kept[0], *scan = &problem->scan[0];
  if (problem->scan_count != 1) return 0;
  if (scan->stride == 1 && scan->result == 1) return 1;
  bool fills = problem->kept_count > 0 && kept->stride == 1 && kept->result == 1 && kept->size <= MOST_LINES &&
               scan->stride == kept->size && scan->result == kept->size;
  return fills ? (int)kept->size : 0;
}

/* Bytes of shared memory of a block: scan_shared and what stands before two tiles, and the rooms. */
static int64_t static_bytes(const ndr_scan_problem *problem, const ndr_scan_launch *launch) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int states = launch->block + launch->block / 4 + 2 * launch->columns;
  return (int64_t)states * ndr_state_size(&state) * (int64_t)sizeof(double) + NUMBERS_SHARED;
}
static int64_t rooms(const ndr_scan_problem *problem, const ndr_scan_launch *launch) {
  const int64_t elements = (int64_t)launch->units * launch->elements * launch->columns;
  const bool in_place = ndr_scan_bytes(problem, 0) == ndr_scan_result_bytes(problem) &&
                        ndr_dtype_alignment(problem->dtype) >= ndr_dtype_alignment(problem->result_dtype);
  return NDR_SCAN_TURNS * NDR_SCAN_STREAM_ROOM(elements * ndr_scan_bytes(problem, 0)) +
         (in_place ? 0 : NDR_SCAN_STREAM_ROOM(elements * ndr_scan_result_bytes(problem)));
}
static bool fits(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_launch *launch) {
  return ndr_scan_fits(device, static_bytes(problem, launch) + rooms(problem, launch), RESIDENTS);
}

/* Words of one bank that a warp's lanes read at a time, at most: each makes the others wait. A lane's elements lie
 * `elements` rows behind those of the lane before it in the same column. */
static int bank_conflicts(const ndr_scan_problem *problem, const ndr_scan_launch *launch) {
  enum { BANKS = 32, WORD = 4 };
  const int bytes = (int)ndr_scan_bytes(problem, 0),
            lanes = bytes > WORD ? WORD * BANKS / bytes : BANKS; /* at a time */
  int counts[BANKS] = {0}, worst = 0, last = -1;
  for (int lane = 0; lane < lanes; lane++) {
    const int place = lane / launch->columns * launch->elements * launch->columns + lane % launch->columns;
    const int word = place * bytes / WORD, bank = word % BANKS;
    if (word != last) counts[bank]++;
    if (counts[bank] > worst) worst = counts[bank];
    last = word;
  }
  return worst;
}

/* Sets the block, its units, and the rows of each, `elements`: 0 where no tile fits. Of the largest tile of each block
 * and those up to a quarter smaller it takes one with the fewest bank conflicts. A larger block has to make the tile a
 * tenth larger, or to have fewer conflicts. */
static void cut_tile(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  ndr_scan_launch best = *launch;
  int least = 0;
  for (int block = LEAST_BLOCK; block <= MOST_BLOCK; block += NDR_WARP_THREADS) {
    ndr_scan_launch tried = *launch;
    tried.block = block;
    tried.units = block / launch->columns;
    tried.elements = MOST_ELEMENTS;
    while (tried.elements >= LEAST_ELEMENTS && !fits(problem, device, &tried)) tried.elements--;
    const int most = tried.elements;
    for (; tried.elements >= LEAST_ELEMENTS && 4 * tried.elements >= 3 * most; tried.elements--) {
      const int conflicts = bank_conflicts(problem, &tried);
      const bool larger = 10 * tried.units * tried.elements > 11 * best.units * best.elements;
      if (best.elements == 0 || conflicts < least || (conflicts == least && larger)) best = tried, least = conflicts;
      if (conflicts == 1) break; /* smaller tiles have no fewer */
    }
  }
  *launch = best;
}

/* The family's launch but for `known`. If `columns` or `elements` is 0, there is none, and nothing behind it is set. */
static ndr_scan_launch launch_of(const ndr_scan_problem *problem, const ndr_device *device) {
  const int columns = columns_of(problem);
  ndr_scan_launch launch = {.beside = 1, .tile_lines = 1, .column_tiles = 1, .residents = RESIDENTS};
  if (columns == 0) return launch;
  launch.columns = columns;
  launch.lines = problem->lines / columns;
  cut_tile(problem, device, &launch);
  if (launch.elements == 0) return launch;
  launch.shared_bytes = (unsigned)rooms(problem, &launch);
  launch.threads = launch.block + NDR_WARP_THREADS;
  launch.tile = launch.units * launch.elements;
  launch.tiles = ndr_ceil_div(problem->length, launch.tile);
  launch.items = launch.tiles * launch.lines;
  launch.keepers = (int)ndr_ceil_div(problem->lines, KEEPER_LINES);
  const int64_t at_a_time = (int64_t)RESIDENTS * device->units, blocks = launch.keepers + launch.items;
  launch.grid = (unsigned)(blocks < at_a_time ? blocks : at_a_time);
  launch.ring = LEAST_RING;
  while (INT64_C(1) << launch.ring < (int64_t)launch.grid * NDR_SCAN_TURNS + NDR_WARP_THREADS) launch.ring++;
  return launch;
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  const char *why = ndr_scan_stretch_reject(problem, device);
  (void)text;
  if (why) return why;
  if (ndr_scan_might_decrease(problem)) return "sums in f64 might decrease where a tile begins";
  _Static_assert(MOST_LINES == 24, "the reason below says so");
  if (problem->lines > MOST_LINES) return "there are more than 24 lines";
  const ndr_scan_launch launch = launch_of(problem, device);
  if (launch.columns == 0) return "rows do not follow each other";
  if (launch.elements == 0) return "its tiles need more shared memory";
  if (launch.grid <= (unsigned)launch.keepers || launch.grid > MOST_GRID)
    return "the device has too few or too many blocks";
  return launch.items > NDR_SCAN_MOST_ITEMS ? "there are too many tiles" : NULL;
}

static void configure(ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  ndr_scan_launch launch = launch_of(problem, &plan->device);
  ndr_state state = ndr_scan_gpu_state(problem);
  ndr_scan_know(problem, &launch, problem->kept_count - (launch.columns > 1));
  const size_t slots = ((size_t)1 << launch.ring) + (launch.grid - (unsigned)launch.keepers) * NDR_SCAN_TURNS;
  plan->workspace =
      NDR_SCAN_TAKEN_BYTES + (size_t)problem->lines * slots * (size_t)ndr_state_size(&state) * sizeof(ndr_posted);
  memcpy(plan->config, &launch, sizeof launch);
}

/* The array is read and written at 0.9 of the memory's rate, less with many lines, as prefixes come later then. A
 * small array takes longer than in other families, as it waits for the first ones. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  const double slower = 1.1 + 0.016 * (double)problem->lines;
  return 16e-6 + slower * ndr_scan_seconds(problem, device, NULL);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  size_t length = 0;
  ndr_text_append(
      text, capacity, &length,
      "scan_streams, %lld tiles of %d rows a line, %d a thread, %d blocks that keep what stands before tiles",
      (long long)launch->tiles, launch->tile, launch->elements, launch->keepers);
  return length;
}

const ndr_scan_family ndr_scan_family_streams = {"streams", reject, cost, configure, describe};
