/* Launches of the kernels of scans, kernels/scan/scan*.cuh, which are compiled at run time: the families lines,
 * columns, bands and streams. */
#ifndef NDR_GPUPLAN_SCAN_H
#define NDR_GPUPLAN_SCAN_H

#include "scan/plan.h"
#include "spec/scan_params.h"

typedef struct ndr_scan_launch {
  /* What the kernel is compiled for. */
  int elements;   /* that a thread has of a line */
  int columns;    /* elements side by side in a tile, of scan_shifted the WIDTH of a strip; 0: it is scan_lines */
  int units;      /* of a tile of scan_bands or scan_streams, of `elements` rows each; 0: it is another kernel */
  int keepers;    /* blocks of scan_streams that keep what stands before tiles; 0: it is another kernel */
  int beside;     /* lines whose elements lie side by side and are one element of the kernel's; at least 1 */
  int block;      /* threads of a block that scan */
  int threads;    /* of a block */
  int residents;  /* blocks that a multiprocessor is to run at a time */
  unsigned known; /* NDR_SCAN_... */
  /* The members of ndr_scan_params that have these names; `lines` of scan_columns, scan_bands and, with
   * several columns, scan_streams are combinations of the kept axes but the first. */
  int tile, tile_lines, ring;
  int64_t lines, column_tiles, items, tiles, nodes;
  unsigned grid, shared_bytes;
} ndr_scan_launch;

enum {
  NDR_SCAN_INCOMING = 32 << 10,       /* bytes of elements that a multiprocessor is to have on their way */
  NDR_SCAN_RESERVED_SHARED = 1 << 10, /* bytes that the driver takes of shared memory for each block */
  NDR_SCAN_CHAINED_LINES = 64,        /* so many that a tile's prefix is there when the tile behind it is reached */
  NDR_SCAN_LEAST_TILE = 64,           /* elements of an average tile of scan_lines, at least */
  NDR_SCAN_MOST_ITEMS = 0x7fff0000    /* kernels number items in 32 bits, and look up to a grid behind the last */
};

extern const ndr_scan_family ndr_scan_family_lines, ndr_scan_family_columns, ndr_scan_family_bands,
    ndr_scan_family_streams;

static inline const ndr_scan_launch *ndr_scan_plan_launch(const ndr_scan_plan *plan) {
  return (const ndr_scan_launch *)(const void *)plan->config;
}

/* Whether blocks look at what others post, so that the workspace has to be 0 before the launch. */
static inline bool ndr_scan_posts(const ndr_scan_launch *launch) {
  return launch->nodes > 0 || launch->keepers > 0;
}
/* Whether the kernel, which is scan_bands, is started three times. */
static inline bool ndr_scan_reads_twice(const ndr_scan_launch *launch) {
  return launch->units > 0 && launch->keepers == 0;
}

/* The state of the problem's operator. */
ndr_state ndr_scan_gpu_state(const ndr_scan_problem *problem);

/* The argument of a plan's launch, but for the operator's parameters: data[0] is the address of the array's element 0,
 * data[k] that of with[k - 1]. */
void ndr_scan_fill_params(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                          ndr_scan_params *params);

/* Blocks of the second pass of scan_bands. */
static inline unsigned ndr_scan_band_blocks(const ndr_scan_launch *launch) {
  return (unsigned)(launch->lines * ((launch->columns + NDR_SCAN_BAND_TOTALS - 1) / NDR_SCAN_BAND_TOTALS));
}

/* ---- what the families share ---- */

/* Why no family can run a problem; NULL: one may. */
const char *ndr_scan_gpu_reject(const ndr_scan_problem *problem, const ndr_device *device);

/* The same of families bands and streams, whose tiles are stretches of memory. */
const char *ndr_scan_stretch_reject(const ndr_scan_problem *problem, const ndr_device *device);

/* The most bytes that an element of the arrays or of the result has. */
int64_t ndr_scan_widest(const ndr_scan_problem *problem);

/* How many elements a thread has, each of `beside` neighbours: no more than have their states in registers. A tile of
 * scan_columns has up to `columns` columns if a column has several tiles; 0: scan_lines. */
int ndr_scan_elements(const ndr_scan_problem *problem, const ndr_device *device, int columns, int beside);

/* Whether a block of scan_lines has shared memory for the states of tiles that wait for others. */
bool ndr_scan_can_wait(const ndr_scan_problem *problem);

/* The threads that scan in a block of scan_lines where lines are longer than a tile of NDR_SCAN_BLOCK threads. */
int ndr_scan_long_block(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_launch *launch);

/* Whether `beside` neighbours along the first kept axis can be one element, so that all others lie whole elements
 * apart; and unless `step` is 0, whether those of a line follow each other `step` apart. */
bool ndr_scan_can_pack(const ndr_scan_problem *problem, int64_t beside, int64_t step);

/* The problem whose elements are `beside` neighbours each, of the lines of its first kept axis. */
ndr_scan_problem ndr_scan_pack(const ndr_scan_problem *problem, int beside);

/* Whether results have all digits of the states: f64 and c128. */
static inline bool ndr_scan_stores_f64(const ndr_scan_problem *problem) {
  return problem->result_dtype == NDR_F64 || problem->result_dtype == NDR_C128;
}

/* Whether sums of elements that are not negative might decrease where what stands before is combined first: see
 * `chained` in kernels/scan/scan.cuh. Only scan_lines and scan_columns chain. */
static inline bool ndr_scan_might_decrease(const ndr_scan_problem *problem) {
  return (problem->op == NDR_SUM || (int)problem->op >= NDR_OP_COUNT) && ndr_scan_stores_f64(problem);
}

/* Whether `residents` blocks with `bytes` of shared memory each run on a multiprocessor at a time. */
static inline bool ndr_scan_fits(const ndr_device *device, int64_t bytes, int residents) {
  return bytes <= device->shared_bytes_per_block &&
         residents * (bytes + NDR_SCAN_RESERVED_SHARED) <= device->shared_bytes_per_unit;
}

/* Nodes of a line of `tiles` tiles in groups of `group`, which are in groups of `upper`: see scan_params.h. */
int64_t ndr_scan_nodes(int64_t tiles, int64_t group, int64_t upper);

/* Cuts lines into tiles of launch->tile elements: sets tiles, items, nodes, and whether tiles are chained; blocks have
 * whole columns where `known` says so, or where these are one tile. `abreast` is how many tiles there are of each
 * number: those of all lines. */
void ndr_scan_cut(const ndr_scan_problem *problem, ndr_scan_launch *launch, int64_t abreast);

enum {
  NDR_SCAN_TAKEN_BYTES = 256 /* of the workspace, for the numbers of items that blocks have taken and that have begun */
};

/* Bytes of shared memory of a block, of which `dynamic` are set at launch. */
int64_t ndr_scan_shared(const ndr_scan_problem *problem, const ndr_scan_launch *launch, int64_t *dynamic);

/* Cuts strips of family columns for scan_shifted, where rows do not begin on sectors: all that ndr_scan_cut needs of
 * the launch but `lines`. False, and the launch is as it was: the kernel cannot run this problem, or there are too few
 * columns for it. */
bool ndr_scan_cut_shifted(const ndr_scan_problem *problem, const ndr_device *device, ndr_scan_launch *launch);

/* Sets what of `known` all families have. `kept_count` is the number of axes that lines are counted over. */
void ndr_scan_know(const ndr_scan_problem *problem, ndr_scan_launch *launch, int kept_count);

/* Completes a launch of lines or columns: what of `known` all have, the grid, and the plan's workspace. */
void ndr_scan_launch_end(ndr_scan_plan *plan, ndr_scan_launch *launch, int kept_count);

/* Bytes of an array's elements (k of ndr_scan_params.data) and of results, and the array's stride along an axis. */
int64_t ndr_scan_bytes(const ndr_scan_problem *problem, int k);
static inline int64_t ndr_scan_result_bytes(const ndr_scan_problem *problem) {
  return (int64_t)ndr_dtype_bytes(problem->result_dtype);
}
int64_t ndr_scan_stride(const ndr_scan_axis *axis, int k);

/* Seconds that it takes to read each element and write each result, where those that come one after the other lie a
 * step along `axis` apart (NULL: they are alone). */
double ndr_scan_seconds(const ndr_scan_problem *problem, const ndr_device *device, const ndr_scan_axis *axis);

#endif
