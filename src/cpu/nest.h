/* The loop nest that the fast families share; they differ in which axes they give its tile.
 *
 *   for each task            a chunk of the kept positions x a piece of the reduction; threads take tasks
 *     for each step            of the reduced axes, those next in memory first
 *       for each position        of the chunk
 *         fold a tile              of lanes x rows (see fold/fold.h), gathered and converted first where it must be
 *
 * Steps are accumulated blockwise: a level of states takes in NDR_FAN before it moves up into the next. Pieces are
 * combined as a tree. All of this follows from the problem's axes and dtype, so results depend neither on the number of
 * threads nor on what else is computed in the same call. */
#ifndef NDR_CPU_NEST_H
#define NDR_CPU_NEST_H

#include "core/plan.h"

/* Bytes of a tile, before and after conversion: it stays in the first-level cache while several ops, or the two passes
 * of logsumexp, read it. */
#define NDR_TILE_BYTES 32768
/* A plan that needs no more workspace than this takes it from the stack. */
#define NDR_SMALL_WORKSPACE 16384
#define NDR_FAN 16
#define NDR_MAX_LEVELS 16 /* NDR_FAN^16 steps are more than 63 bits count */

/* An axis of the loops outside the tile. */
typedef struct ndr_nest_axis {
  int64_t size, stride, index;
  int kept;      /* the problem's kept axis that it walks */
  int64_t share; /* in steps of so many of its elements */
} ndr_nest_axis;

typedef enum ndr_nest_form {
  NDR_NEST_ROWS, /* lanes along a kept axis, rows along a reduced one */
  NDR_NEST_GRID, /* lanes and rows along two reduced axes */
  NDR_NEST_RUN   /* a run along a reduced axis, cut into rows; `period` outputs take its elements in turn */
} ndr_nest_form;

typedef struct ndr_nest {
  ndr_nest_form form;
  int output_axis; /* the kept axis along which the outputs of one tile lie, or -1 where a tile has one output */
  int64_t period;  /* outputs of a full tile */
  int64_t lanes, lane_stride, lane_index;
  int64_t rows, row_stride, row_index;
  int64_t extent;     /* ROWS: all outputs of the fastest axis. RUN: all groups of `period` elements */
  int64_t row_extent; /* ROWS, GRID: all rows */

  /* Outside the tile, innermost first. part_axis and block_axis say which of them, if any, step through the lanes of
   * ROWS and through the rows. */
  int kept_count, reduced_count, part_axis, block_axis;
  ndr_nest_axis kept[NDR_MAX_DIMS + 1], reduced[NDR_MAX_DIMS + 1];
  int64_t positions, steps;
  int64_t chunk, chunks, pieces;

  int levels;
  int64_t pitch, block; /* words: of one word of a chunk's states; of all words of all ops */
  int64_t gather_bytes, convert_bytes, scratch_bytes;
  int threads;
} ndr_nest;

/* NULL, or why there is nothing for a nest to do. */
const char *ndr_nest_reject(const ndr_canonical *problem);

/* Whether the axis with the smallest stride is a kept one. */
bool ndr_nest_keeps_lanes(const ndr_canonical *problem);

/* The nest of a choice of axes: indices into problem->kept or problem->reduced, -1 for none. */
void ndr_nest_rows(ndr_nest *nest, const ndr_canonical *problem, int kept_lanes, int reduced_rows);
void ndr_nest_grid(ndr_nest *nest, const ndr_canonical *problem, int reduced_lanes, int reduced_rows);
void ndr_nest_run(ndr_nest *nest, const ndr_canonical *problem, int reduced_lanes, int kept_period);

/* The seconds that this work of one thread takes on the device. */
double ndr_nest_seconds(double work, const ndr_canonical *problem, const ndr_device *device);

/* Predicted seconds of one op; more ops share the choice. */
double ndr_nest_cost(const ndr_nest *nest, const ndr_canonical *problem, const ndr_device *device);

/* Makes the nest the plan's configuration and sets the workspace. */
void ndr_nest_install(const ndr_nest *nest, ndr_plan *plan);
size_t ndr_nest_describe(const ndr_plan *plan, char *text, size_t capacity);

/* Runs a plan that a nest was installed in. */
void ndr_nest_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace);

#endif
