/* Family lines: a tile is a stretch of a line, or several whole lines. It runs every scan. */
#include "core/text.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/scan/scan.h"

enum { MOST_WORDS = 4 }; /* of the states of neighbours: threads have registers for no more */

/* Takes fewer lines in a tile if tiles then begin on boundaries of vectors, whatever the elements' size. */
static int aligned_lines(int lines, int64_t length) {
  int apart = 16;
  while (apart > 1 && length % 2 == 0) apart /= 2, length /= 2;
  return lines >= 4 * apart ? lines / apart * apart : lines;
}

/* Whether neighbours in a tile lie side by side in an array with stride `step` along the first scanned axis and
 * `line_step` along the first kept axis. */
static bool is_flat(const ndr_scan_problem *problem, unsigned known, int64_t step, int64_t line_step) {
  bool along = problem->length == 1 || (problem->scan_count == 1 && step == 1);
  bool lines = problem->lines == 1 || (problem->kept_count == 1 && line_step == problem->length);
  return along && (lines || !(known & NDR_SCAN_WHOLE));
}

/* Sets what of `known` depends on how elements lie, once it is known whether tiles have whole lines. */
static void know_layout(const ndr_scan_problem *problem, ndr_scan_launch *launch) {
  const ndr_scan_axis *scan = &problem->scan[0], *kept = &problem->kept[0];
  const int64_t bytes = ndr_scan_bytes(problem, 0) * launch->beside;
  for (int k = 0; k <= problem->operand_count; k++)
    if (is_flat(problem, launch->known, ndr_scan_stride(scan, k), ndr_scan_stride(kept, k))) launch->known |= 1u << k;
  if (is_flat(problem, launch->known, scan->result, kept->result)) launch->known |= NDR_SCAN_FLAT_RESULT;
  if ((launch->known & NDR_SCAN_WHOLE) && problem->length >= launch->elements) launch->known |= NDR_SCAN_ONE_START;
  const unsigned flat = NDR_SCAN_FLAT_RESULT | 1;
  /* Results in f64 would have other last bits for each place of a line in memory. */
  if (!ndr_scan_stores_f64(problem) && (launch->known & flat) == flat &&
      problem->operand_count + problem->place_count == 0 && !problem->longer && 16 % bytes == 0 &&
      NDR_SCAN_SECTOR / bytes <= launch->elements)
    launch->known |= NDR_SCAN_LEADS;
}

/* Elements to leave room for, besides those of a tile whose next begins `elements` behind it: see NDR_SCAN_LEADS. */
static int64_t lead_of(const ndr_scan_problem *problem, const ndr_scan_launch *launch, int64_t elements) {
  const int64_t bytes = ndr_scan_bytes(problem, 0) * launch->beside;
  return (launch->known & NDR_SCAN_LEADS) && elements * bytes % NDR_SCAN_SECTOR ? NDR_SCAN_SECTOR / bytes - 1 : 0;
}

static void cut_lines(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  const bool is_long = problem->length > NDR_SCAN_BLOCK * launch->elements;
  launch->block = is_long ? ndr_scan_long_block(problem, device, launch) : NDR_SCAN_BLOCK;
  const int most = launch->block * launch->elements, step = NDR_WARP_THREADS * launch->elements;
  launch->lines = problem->lines;
  launch->tile_lines = 1;
  if (problem->length <= most) launch->known |= NDR_SCAN_WHOLE;
  know_layout(problem, launch);
  if (problem->length > most) {
    const int64_t length = problem->length + lead_of(problem, launch, problem->length);
    const int64_t even = ndr_ceil_div(length, ndr_ceil_div(length, most));
    launch->tile = (int)(ndr_ceil_div(even, step) * step);
    ndr_scan_cut(problem, launch, problem->lines);
    return;
  }
  int64_t length = problem->length > 0 ? problem->length : 1;
  launch->tile_lines = problem->length > 0 ? aligned_lines((int)(most / length), length) : NDR_SCAN_BLOCK;
  const int64_t lead = lead_of(problem, launch, launch->tile_lines * length);
  if (launch->tile_lines * length + lead > most && launch->tile_lines > 1)
    launch->tile_lines = (int)((most - lead) / length);
  if (problem->lines < launch->tile_lines) launch->tile_lines = (int)problem->lines;
  launch->tile = (int)(launch->tile_lines * length);
  launch->tiles = 1;
  launch->items = ndr_ceil_div(problem->lines, launch->tile_lines);
}

/* How many lines lie beside each other so that their elements at a place are neighbours, and those at the next place
 * follow. 1 where lines do not lie so, or are too many for a thread to have their states. */
static int beside_of(const ndr_scan_problem *problem) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int64_t beside = problem->kept_count > 0 ? problem->kept[0].size : 1;
  return beside * ndr_state_size(&state) <= MOST_WORDS && ndr_scan_can_pack(problem, beside, beside) ? (int)beside : 1;
}

static void configure(ndr_scan_plan *plan) {
  const int beside = beside_of(&plan->problem);
  const ndr_scan_problem packed = ndr_scan_pack(&plan->problem, beside), *problem = &packed;
  ndr_scan_launch launch = {.elements = ndr_scan_elements(problem, &plan->device, 0, beside), .beside = beside};
  cut_lines(problem, &plan->device, &launch);
  ndr_scan_launch_end(plan, &launch, problem->kept_count);
}

/* Lines of one tile, or of several in a tile, wait for nothing. */
static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  const char *why = ndr_scan_gpu_reject(problem, device);
  bool waits = problem->length > NDR_SCAN_BLOCK * ndr_scan_elements(problem, device, 0, 1);
  int64_t elements = problem->lines * (problem->length > 0 ? problem->length : 1);
  (void)text;
  if (!why && elements / NDR_SCAN_LEAST_TILE > NDR_SCAN_MOST_ITEMS) return "there are too many tiles";
  if (why || !waits || ndr_scan_can_wait(problem)) return why;
  return "states have too many words for lines of several tiles";
}

/* Elements that follow each other in a line are neighbours; those of short lines are, too, if lines follow each other.
 * Tiles of few lines wait for each other, the longer the more neighbours are one element. That counts where family
 * streams is the other choice. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  char why[160];
  const int beside = beside_of(problem);
  const bool alone = problem->scan_count == 0 || beside > 1,
             waits = problem->length > NDR_SCAN_LONG_BLOCK * ndr_scan_elements(problem, device, 0, beside);
  const bool few = waits && !ndr_scan_family_streams.reject(problem, device, why);
  const double waiting = !few ? 1 : problem->lines > beside ? 1.16 : 1.1 + 0.15 * beside;
  return 4e-6 + waiting * ndr_scan_seconds(problem, device, alone ? NULL : &problem->scan[0]);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  size_t length = 0;
  if (launch->beside > 1) ndr_text_append(text, capacity, &length, "%d neighbours as one element, ", launch->beside);
  if (launch->known & NDR_SCAN_WHOLE)
    ndr_text_append(text, capacity, &length, "scan_lines, tiles of %d lines, %d elements a thread", launch->tile_lines,
                    launch->elements);
  else
    ndr_text_append(text, capacity, &length, "scan_lines, %lld tiles of %d elements a line, %d a thread",
                    (long long)launch->tiles, launch->tile, launch->elements);
  return length;
}

const ndr_scan_family ndr_scan_family_lines = {"lines", reject, cost, configure, describe};
