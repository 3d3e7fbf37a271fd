/* The loop nest that the fast families share. They differ in the axes that the tile takes.
 *
 *   for each task            a chunk of the kept positions times a split of the reduction; threads take tasks
 *     for each step            of the reduced axes, smallest strides first
 *       for each position        of the chunk
 *         fold a tile              of lanes x rows (see fold/fold.h), which is gathered and converted first if need be
 *
 * Where positions lie farther apart than steps, the loop over positions is outside that over steps (by_position).
 *
 * A tile that is gathered may have layers: neighbours along the fastest axis, so that it uses whole cache lines both of
 * the array and of results that lie along another axis, as a transposed copy's do. It is folded as if all layers' lanes
 * were one row.
 *
 * Steps are accumulated blockwise: the lowest level of states accumulates NDR_FAN steps, every other level NDR_FAN
 * times the level below it. Splits are joined in a tree. All of this follows from the problem's axes and dtype, so that
 * results depend neither on the number of threads nor on the other operators of the call. */
#ifndef NDR_CPU_NEST_H
#define NDR_CPU_NEST_H

#include <stdatomic.h>

#include "core/plan.h"

/* Bytes of a tile, before and after conversion: it stays in the first-level cache while several ops, or the two passes
 * of logsumexp, read it. */
#define NDR_TILE_BYTES 32768
/* A plan that needs no more workspace than this takes it from the stack. */
#define NDR_SMALL_WORKSPACE 16384
#define NDR_FAN 16
#define NDR_MAX_LEVELS 16 /* enough for 2^63 steps */

/* An axis of the loops outside the tile. */
typedef struct ndr_nest_axis {
  int64_t size, stride, index;
  int axis;      /* the problem's kept or reduced axis that it walks */
  int64_t share; /* elements of that axis in one step */
} ndr_nest_axis;

typedef enum ndr_nest_form {
  NDR_NEST_ROWS, /* lanes along a kept axis, rows along a reduced one */
  NDR_NEST_GRID, /* lanes and rows along two reduced axes; lane l belongs to output l % period */
  NDR_NEST_RUN   /* a run along a reduced axis, cut into rows; element e belongs to output e % period */
} ndr_nest_form;

typedef struct ndr_nest {
  ndr_nest_form form;
  int output_axis; /* the kept axis along which the outputs of one tile lie, or -1 where a tile has one output */
  int lanes_along; /* GRID, RUN: the problem's reduced axis of the lanes */
  int rows_along;  /* ROWS, GRID: that of the rows; -1: there is none */
  int64_t period;  /* outputs of a full tile, times `gap` */
  bool turned;     /* ROWS: results lie closer together along kept[0] than along the lanes */
  int64_t layers;  /* ROWS: neighbours along the fastest axis, which is kept, that a tile gathers together; else 1 */
  /* ROWS: lanes from one output to the next. Where it is not 1, the lanes are the memory between outputs, too, because
   * reading that is faster than gathering. */
  int64_t gap;
  int64_t lanes, lane_stride, lane_index;
  int64_t rows, row_stride, row_index;
  /* Rows that are gathered at a time, or at most given to programs: fewer than a tile has only if its lanes have
   * contiguous elements, which kernels of `across` and `along` (fold/fold.h) read as they lie. */
  int64_t gather_rows;
  int64_t row_gap; /* ROWS: from one row to the next in what is gathered; 1 unless that is memory between rows, too */
  int64_t extent; /* ROWS: all lanes along the axis, those between outputs, too. RUN: all groups of `period` elements */
  int64_t layer_extent; /* all outputs along the layers */
  int64_t row_extent;   /* ROWS, GRID: all rows */

  /* The axes of the loops outside the tile, innermost first. kept[lane_axis] steps through the lanes of ROWS,
   * kept[layer_axis] through the layers, and reduced[row_axis] through the rows; -1 where no axis does. */
  int kept_count, reduced_count, lane_axis, layer_axis, row_axis;
  /* ROWS, GRID: rows lie along the scattered axis. The axis of the loops that walks it, which steps by 0: the table
   * says where its elements are; -1: none does. */
  bool rows_scattered;
  int scattered_axis;
  ndr_nest_axis kept[NDR_MAX_DIMS + 1], reduced[NDR_MAX_DIMS + 1];
  int64_t positions, steps;
  int64_t rows_ahead; /* rows from one to that which is prefetched with it; 0: none is */
  int64_t ahead;      /* elements to the tile where that goes on; 0: to the next one, which nest_execute.c finds */
  int64_t chunk, chunks, splits;
  bool in_order;    /* ROWS: tiles are read row by row, by kernels that can (ndr_tile.in_order) */
  bool by_position; /* all steps of a position come before the next position; there are no splits */

  int levels;
  int64_t pitch; /* states of an op for a chunk: words from one word of a state to the next */
  int64_t block; /* words of a chunk's states of all ops */
  int64_t gather_bytes, convert_bytes, scratch_bytes;
  int64_t shared_bytes, program_bytes; /* for the code of programs, set by ndr_nest_install: all threads', and each's */
  int threads;
  int64_t nanoseconds; /* that all ops would take one thread, as estimated */
} ndr_nest;

/* A thread's share of an execute's tasks, at the beginning of the workspace. */
typedef struct ndr_task_share {
  _Alignas(64) _Atomic int64_t next;
  int64_t end;
} ndr_task_share;

/* Why there is nothing for a nest to do, or NULL. */
const char *ndr_nest_reject(const ndr_canonical *problem);

/* The elements of a full row of a tile. */
static inline int64_t ndr_nest_width(const ndr_nest *nest) {
  return nest->lanes * nest->layers;
}

/* Whether each lane of a tile is an output with contiguous elements. */
static inline bool ndr_nest_lanes_are_runs(const ndr_nest *nest) {
  return nest->form == NDR_NEST_ROWS && nest->row_stride == 1 && nest->lane_stride != 1 && nest->layers == 1 &&
         !nest->rows_scattered;
}

/* Whether the fastest axis is kept. */
bool ndr_nest_keeps_fastest(const ndr_canonical *problem);

/* Make the nest for a choice of axes, which are indices into problem->kept or problem->reduced; -1: none. */
void ndr_nest_rows(ndr_nest *nest, const ndr_canonical *problem, int kept_lanes, int reduced_rows);
/* The same with layers and all rows in a tile. Returns false where there can be none. */
bool ndr_nest_layers(ndr_nest *nest, const ndr_canonical *problem, int kept_lanes, int reduced_rows);
/* The same with the memory between outputs along the fastest axis as lanes. */
bool ndr_nest_gaps(ndr_nest *nest, const ndr_canonical *problem, int reduced_rows);
void ndr_nest_grid(ndr_nest *nest, const ndr_canonical *problem, int reduced_lanes, int reduced_rows, int kept_period);
void ndr_nest_run(ndr_nest *nest, const ndr_canonical *problem, int reduced_lanes, int kept_period);

/* Joins tiles that lie side by side in memory to tiles of at most `most` lanes. The rows of a tile, steps and splits
 * stay, and with them the bits of results. */
void ndr_nest_widen(ndr_nest *nest, const ndr_canonical *problem, int64_t most);

/* Predicted seconds on the device of what takes one thread `work` seconds. */
double ndr_nest_seconds(double work, const ndr_canonical *problem, const ndr_device *device);

/* Predicted seconds of one op. The number of ops does not change the choice of a nest. */
double ndr_nest_cost(const ndr_nest *nest, const ndr_canonical *problem, const ndr_device *device);

/* A search for the fastest nest. */
typedef struct ndr_search {
  const ndr_canonical *problem;
  const ndr_device *device;
  ndr_nest *best;
  double seconds; /* of the best nest; negative: there is none yet */
} ndr_search;

/* Keeps `nest` if it is faster than the best one so far. */
void ndr_nest_consider(ndr_search *search, const ndr_nest *nest);

/* Makes the nest the plan's configuration and sets the workspace. */
void ndr_nest_install(const ndr_nest *nest, ndr_plan *plan);
size_t ndr_nest_describe(const ndr_plan *plan, char *text, size_t capacity);

/* Runs a plan that a nest was installed in. */
void ndr_nest_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace);

/* The same, of a problem with a scattered axis (ndr_backend.execute_rows). */
void ndr_nest_execute_rows(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                           void *workspace);

#endif
