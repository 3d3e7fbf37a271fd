/* Strips of family columns whose ends move with the sectors: kernels/scan/scan_shifted.cuh. The numbers were tuned on
 * an H200. */
#include "gpuplan/launch.h"
#include "gpuplan/scan/scan.h"

enum {
  MOST_WORDS = 2,   /* of a state */
  LEAST_ROWS = 64,  /* fewer do not fill tiles */
  BLOCK = 384,      /* threads, where several share a column; in wider strips each has one */
  MOST_BLOCK = 512, /* threads */
  ROWS = 16,        /* of a thread */
  FEW_UNITS = 2,    /* with no more units than these a thread has MORE_ROWS */
  MORE_ROWS = 24,
  LEAST_ROWS_OF_THREAD = 6,
  LEAST_WIDTH = 192, /* bytes of a row of results that a strip has */
  MOST_WIDTH = 2048,
  STEP = 8,     /* widths differ by so many columns, as each is another kernel */
  BESIDES = 8,  /* columns that take as long as what a strip takes besides its columns */
  RESIDENTS = 2 /* blocks of a multiprocessor */
};

static bool is_one_number(ndr_dtype dtype) {
  return ndr_dtype_alignment(dtype) == ndr_dtype_bytes(dtype);
}

/* Whether the kernel can run the problem. */
static bool can_run(const ndr_scan_problem *problem) {
  ndr_state state = ndr_scan_gpu_state(problem);
  return problem->operand_count + problem->place_count == 0 && !problem->longer && problem->scan_count == 1 &&
         problem->kept[0].stride == 1 && problem->kept[0].result == 1 && is_one_number(problem->dtype) &&
         is_one_number(problem->result_dtype) && ndr_scan_result_bytes(problem) == ndr_scan_bytes(problem, 0) &&
         !ndr_scan_might_decrease(problem) && ndr_state_size(&state) <= MOST_WORDS && problem->length >= LEAST_ROWS;
}

static int columns_of(const ndr_scan_problem *problem, int width) {
  return NDR_SCAN_SHIFT_COLUMNS(width, (int)ndr_scan_result_bytes(problem));
}

/* The width for which the busiest multiprocessor sums the fewest columns; 0: strips of the least width are fewer than
 * three quarters of the blocks that run at a time. */
static int width_of(const ndr_scan_problem *problem, const ndr_device *device) {
  const int64_t across = problem->kept[0].size, lines = problem->lines / across, bytes = ndr_scan_result_bytes(problem),
                slots = (int64_t)RESIDENTS * device->units, least = ndr_ceil_div(LEAST_WIDTH / bytes, STEP) * STEP;
  int64_t width = 0, best = 0;
  if (lines * (across / least) < slots * 3 / 4) return 0;
  for (int64_t w = least; w * bytes <= MOST_WIDTH && columns_of(problem, (int)w) <= MOST_BLOCK; w += STEP) {
    const int64_t strips = lines * ndr_ceil_div(across, w);
    const int64_t time = ndr_ceil_div(strips, slots) * (columns_of(problem, (int)w) + BESIDES);
    if (!width || time < best) width = w, best = time;
  }
  return (int)width;
}

bool ndr_scan_cut_shifted(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch) {
  const int width = can_run(problem) ? width_of(problem, device) : 0;
  if (width == 0) return false;
  const int columns = columns_of(problem, width), units = columns < BLOCK ? BLOCK / columns : 1;
  int64_t dynamic;
  ndr_scan_launch made = *launch;
  made.known |= NDR_SCAN_ALONE | NDR_SCAN_SHIFTED;
  made.columns = width;
  made.beside = 1;
  made.block = (int)ndr_ceil_div((int64_t)units * columns, NDR_WARP_THREADS) * NDR_WARP_THREADS;
  made.elements = units <= FEW_UNITS ? MORE_ROWS : ROWS;
  made.column_tiles = ndr_ceil_div(problem->kept[0].size, width);
  made.residents = RESIDENTS;
  for (; made.elements >= LEAST_ROWS_OF_THREAD; made.elements /= 2) {
    made.tile = units * made.elements;
    if (!ndr_scan_fits(device, ndr_scan_shared(problem, &made, &dynamic), RESIDENTS)) continue;
    *launch = made;
    return true;
  }
  return false;
}
