/* Family columns: lines that lie side by side, neighbouring threads on neighbouring lines. */
#include <stdlib.h>

#include "core/text.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/scan/scan.h"

enum {
  MOST_WORDS = 3,       /* of a state: shared memory has room for those of all columns */
  MOST_PACKED = 4,      /* words of the states of several columns that are one element */
  PACK_BYTES = 16,      /* of such an element */
  LEAST_PART = 4,       /* bytes of each of its parts: narrower ones take longer to compute than to move */
  MOST_OFF_SECTORS = 8, /* elements of a thread where rows do not begin on sectors: more in flight are slower */

  /* Tiles of several blocks. */
  SPLIT_COLUMNS = 32, /* of a tile */
  LEAST_COLUMNS = 4,  /* of a tile, where there are no more */

  /* Strips. */
  LEAST_STRIP = 256,     /* bytes of a row that a block reads */
  LEAST_OFF_STRIP = 512, /* where rows do not begin on sectors, so that strips share some */
  MOST_STRIP = 1 << 10,  /* twice as many there */
  FAR_ROWS = 1 << 20,    /* bytes from row to row, on pages of their own: then a strip may have any width */
  STRIP_STEP = 8,        /* widths differ by so many elements, as each is another kernel */
  RESIDENTS = 2,         /* blocks of a multiprocessor */
  MOST_RESIDENTS = 4     /* where tiles are small, so that as much is on its way */
};

/* Whether the rows of a line in the arrays and in the result begin on sectors if the first does. */
static bool is_on_sectors(const ndr_scan_problem *problem) {
  const ndr_scan_axis *axis = &problem->scan[0];
  int64_t bytes = axis->result * (int64_t)ndr_dtype_bytes(problem->result_dtype);
  for (int k = 0; k <= problem->operand_count; k++) bytes |= ndr_scan_stride(axis, k) * ndr_scan_bytes(problem, k);
  return bytes % NDR_SCAN_SECTOR == 0;
}

/* Elements of a thread, each of `beside` neighbours: no more than columns have. */
static int elements_of(const ndr_scan_problem *problem, const ndr_device *device, int beside) {
  int elements = ndr_scan_elements(problem, device, SPLIT_COLUMNS, 1) / beside;
  if (beside == 1 && elements > MOST_OFF_SECTORS && !is_on_sectors(problem)) elements = MOST_OFF_SECTORS;
  while (elements > 1 && elements / 2 >= problem->length) elements /= 2;
  return elements > 0 ? elements : 1;
}

/* Neighbours are one element of PACK_BYTES of the widest of arrays and result where they lie so that their addresses
 * can be multiples of that. */
static int beside_of(const ndr_scan_problem *problem) {
  ndr_state state = ndr_scan_gpu_state(problem);
  const int64_t beside = PACK_BYTES / ndr_scan_widest(problem);
  bool wide = (int64_t)ndr_dtype_bytes(problem->result_dtype) >= LEAST_PART;
  for (int k = 0; k <= problem->operand_count; k++) wide = wide && ndr_scan_bytes(problem, k) >= LEAST_PART;
  if (!wide || beside * ndr_state_size(&state) > MOST_PACKED || problem->kept[0].size <= beside) return 1;
  return ndr_scan_can_pack(problem, beside, 0) ? (int)beside : 1;
}

/* What the width of strips depends on. `launch` has elements and residents. */
typedef struct strip_rules {
  const ndr_device *device;
  const ndr_scan_launch *launch;
  int64_t least, most; /* columns of a strip */
  int64_t shared;      /* columns of the sectors that it moves besides */
} strip_rules;

/* Time of the busiest multiprocessor, in columns. A block that has one alone takes longer than its share; idle threads
 * have nothing on its way. (Weighed against widths that were timed on an H200.) */
static double strips_time(const strip_rules *rules, int64_t strips, int64_t width) {
  const int64_t residents = rules->launch->residents, slots = residents * rules->device->units;
  const int64_t rest = strips % slots, rounds = strips / slots;
  const double last = rest ? (double)ndr_ceil_div(rest, rules->device->units) + 0.5 : 0;
  const double blocks = (double)(rounds * residents) + (last < (double)residents ? last : (double)residents);
  return blocks * (double)(width + rules->shared) * (8 + (double)(NDR_SCAN_BLOCK % width) / NDR_SCAN_BLOCK);
}

/* Columns of a strip, which a block has from the first row to the last; 0: there are too few columns, and more rows
 * than two tiles have. A tile has no more groups of threads below each other than it takes for all rows. */
static int strip_of(const ndr_scan_problem *packed, const strip_rules *rules) {
  const int64_t across = packed->kept[0].size, lines = packed->lines / across;
  const int64_t least_strips = (int64_t)RESIDENTS * rules->device->units * 7 / 8;
  const int64_t groups = ndr_ceil_div(packed->length, rules->launch->elements);
  const int64_t for_all_rows = groups < NDR_SCAN_BLOCK ? NDR_SCAN_BLOCK / groups : 1;
  const int64_t narrowest = ndr_ceil_div(for_all_rows, STRIP_STEP) * STRIP_STEP;
  int64_t least = rules->least < NDR_SCAN_BLOCK ? rules->least : NDR_SCAN_BLOCK, most = rules->most, width = 0;
  double best = 0;
  if (across <= for_all_rows) return (int)across;
  if (lines * across < least * least_strips) {
    if (2 * (NDR_SCAN_BLOCK / narrowest) * rules->launch->elements < packed->length) return 0;
    least = narrowest;
  }
  least = ndr_ceil_div(least > narrowest ? least : narrowest, STRIP_STEP) * STRIP_STEP;
  if (most < least) most = least;
  if (most > NDR_SCAN_BLOCK) most = NDR_SCAN_BLOCK;
  for (int64_t w = least; w <= most; w += STRIP_STEP) {
    const int64_t strips = lines * ndr_ceil_div(across, w);
    const double time = strips_time(rules, strips, w);
    if (!width || (time <= best && strips >= least_strips)) best = time, width = w;
  }
  return (int)(width < across ? width : across);
}

/* Each block has whole columns, if there are enough of them. */
static bool cut_strips(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  launch->beside = beside_of(problem);
  launch->elements = elements_of(problem, device, launch->beside);
  const bool on_sectors = is_on_sectors(problem);
  const ndr_scan_problem packed = ndr_scan_pack(problem, launch->beside);
  const int64_t bytes = launch->beside * ndr_scan_widest(problem),
                fill = NDR_SCAN_INCOMING / (bytes * launch->elements * NDR_SCAN_BLOCK);
  int64_t dynamic;
  launch->residents = fill < RESIDENTS ? RESIDENTS : fill < MOST_RESIDENTS ? (int)fill : MOST_RESIDENTS;
  strip_rules rules = {device, launch, (on_sectors ? LEAST_STRIP : LEAST_OFF_STRIP) / bytes,
                       (on_sectors ? MOST_STRIP : 2 * MOST_STRIP) / bytes,
                       (on_sectors ? 1 : 3) * NDR_SCAN_SECTOR / bytes};
  if (llabs(problem->scan[0].stride) * ndr_scan_bytes(problem, 0) >= FAR_ROWS) rules.most = NDR_SCAN_BLOCK;
  launch->columns = strip_of(&packed, &rules);
  if (launch->columns == 0) return false;
  launch->known |= NDR_SCAN_ALONE;
  launch->column_tiles = ndr_ceil_div(packed.kept[0].size, launch->columns);
  return ndr_scan_shared(problem, launch, &dynamic) <= device->shared_bytes_per_block;
}

/* Columns are cut into tiles, which wait for those before them. */
static void cut_tiles(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  const int64_t across = problem->kept[0].size;
  launch->known &= ~NDR_SCAN_ALONE;
  launch->beside = 1;
  launch->elements = elements_of(problem, device, 1);
  launch->columns = SPLIT_COLUMNS;
  while (launch->columns > LEAST_COLUMNS && launch->columns / 2 >= across) launch->columns /= 2;
  launch->column_tiles = ndr_ceil_div(across, launch->columns);
}

/* Strips that end on sectors, if rows do not begin there and neighbours are elements of their own; or strips of any
 * kind; or tiles. */
static void cut(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  launch->lines = problem->lines / problem->kept[0].size;
  const bool shifts = !is_on_sectors(problem) && beside_of(problem) == 1;
  if (!shifts || !ndr_scan_cut_shifted(problem, device, launch)) {
    if (!cut_strips(problem, device, launch)) cut_tiles(problem, device, launch);
    launch->tile = NDR_SCAN_BLOCK / launch->columns * launch->elements;
  }
  ndr_scan_cut(problem, launch, launch->lines * launch->column_tiles);
}

static const char *reject(const ndr_scan_problem *problem, const ndr_device *device, char *text) {
  ndr_state state = ndr_scan_gpu_state(problem);
  ndr_scan_launch launch = {0};
  const char *why = ndr_scan_gpu_reject(problem, device);
  (void)text;
  if (why) return why;
  if (problem->length < 2) return "there is nothing to scan";
  if (problem->kept_count == 0) return "no lines lie side by side";
  if (ndr_state_size(&state) > MOST_WORDS) return "states have too many words";
  cut(problem, device, &launch);
  return launch.items > NDR_SCAN_MOST_ITEMS || launch.tiles > NDR_SCAN_MOST_ITEMS ? "there are too many tiles" : NULL;
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
  ndr_scan_launch_end(plan, &launch, problem->kept_count - 1);
}

/* Tiles of few columns wait for each other, which takes twice as long, or 1.3 times with 128 columns and more whose
 * rows are whole sectors. That counts where family bands is the other choice: what `lines` would lose is not known. */
static double cost(const ndr_scan_problem *problem, const ndr_device *device) {
  char why[160];
  ndr_scan_launch launch = {.beside = 1};
  cut(problem, device, &launch);
  const double columns = (double)problem->kept[0].size, tile = launch.columns * launch.beside;
  const double idle = (double)launch.column_tiles * tile / columns;
  const bool few = !(launch.known & NDR_SCAN_ALONE) && launch.lines * launch.column_tiles < NDR_SCAN_CHAINED_LINES &&
                   !ndr_scan_family_bands.reject(problem, device, why);
  const double waiting = !few ? 1 : columns >= 4 * SPLIT_COLUMNS && is_on_sectors(problem) ? 1.3 : 2;
  return 4e-6 + ndr_scan_seconds(problem, device, &problem->kept[0]) * waiting * (1 + 0.2 * idle);
}

static size_t describe(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  const bool strips = (launch->known & NDR_SCAN_ALONE) != 0;
  size_t length = 0;
  if (launch->beside > 1) ndr_text_append(text, capacity, &length, "%d neighbours as one element, ", launch->beside);
  ndr_text_append(text, capacity, &length, "scan_columns, %s of %d columns, %lld %s of %d elements, %d a thread",
                  launch->known & NDR_SCAN_SHIFTED ? "shifted strips"
                  : strips                         ? "strips"
                                                   : "tiles",
                  launch->columns, (long long)launch->tiles,
                  !strips              ? "a line"
                  : launch->tiles == 1 ? "tile"
                                       : "tiles",
                  launch->tile, launch->elements);
  return length;
}

const ndr_scan_family ndr_scan_family_columns = {"columns", reject, cost, configure, describe};
