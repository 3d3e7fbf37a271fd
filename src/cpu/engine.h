/* What is fixed while a nest is executed, and the memory of a thread. */
#ifndef NDR_CPU_ENGINE_H
#define NDR_CPU_ENGINE_H

#include "cpu/cursor.h"
#include "cpu/fold/fold.h"

struct ndr_tile_place; /* cpu/program/machine.h */

/* What one op does with a tile. */
typedef struct ndr_engine_op {
  int number; /* its index in the problem */
  ndr_state state;
  ndr_dtype view; /* the dtype that its kernel folds */
  ndr_fold *fold;
  ndr_fold *across;        /* NULL: tiles are gathered */
  ndr_fold_lists *listed;  /* of tiles whose rows are labels; NULL: there is none */
  ndr_fold_turned *turned; /* the same for labels that are contiguous in memory */
  ndr_join *join;
  int words;
  int64_t block; /* words of a block before its states */
} ndr_engine_op;

typedef struct ndr_engine {
  const ndr_nest *nest;
  const ndr_canonical *problem;
  const ndr_isa *isa;
  const char *data;    /* the element where the walk starts */
  int64_t to_end;      /* ndr_elements_to_end */
  const int32_t *rows; /* where the elements of the scattered axis are; NULL: there is none */
  int64_t bytes;       /* of an element */
  void *const *results;
  ndr_engine_op *outputs;            /* one for each operator of the problem, in any order */
  int fold_count;                    /* built-in operators, and parts that are folded as they are */
  ndr_engine_op *ops;                /* sorted by the dtype that they fold; without programs, the same as outputs */
  const struct ndr_machine *machine; /* the other parts; NULL: no operator is a program */
} ndr_engine;

/* A thread's memory. */
typedef struct ndr_scratch {
  uint64_t *levels; /* blocks of states */
  char *gathered, *converted, *machine;
} ndr_scratch;

/* What lanes of a tile are: SHORT_RUNS: each is an output with contiguous elements, for kernels of ndr_isa.across;
 * LONG_RUNS: for those of ndr_isa.along, or of `across` where there is none. */
typedef enum ndr_lane_runs { NDR_NO_RUNS, NDR_SHORT_RUNS, NDR_LONG_RUNS } ndr_lane_runs;

/* What op `number` of a problem, or a part of it, with this state does. Its block is the caller's to set. */
ndr_engine_op ndr_engine_describe(const ndr_isa *isa, const ndr_canonical *problem, int number, ndr_state state,
                                  ndr_lane_runs runs);

/* The number of elements in memory from the one where a walk starts to the array's last, inclusive. */
int64_t ndr_elements_to_end(const ndr_canonical *problem);

/* What a tile has to spare in the array, which ends `to_end` elements after the tile's first: elements behind its last
 * row in memory. 0 where lanes lie apart. */
static inline int64_t ndr_spare_behind(const ndr_tile *tile, int64_t to_end) {
  int64_t last_row = tile->row_stride > 0 ? (tile->rows - 1) * tile->row_stride : 0;
  return tile->lane_stride == 1 ? to_end - last_row - tile->lanes : 0;
}

/* Folds the tile at the cursors `kept` and `reduced` into a block of states, for every op. `place`: where it is in the
 * arrays of programs, if there are any; changed. `position` is the tile's number in its chunk. `ahead`:
 * elements to the tile where prefetching goes on (ndr_tile.ahead). */
void ndr_engine_fold(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_cursor *kept,
                     const ndr_cursor *reduced, struct ndr_tile_place *place, uint64_t *block, int64_t position,
                     int64_t ahead, bool fresh);

/* Moves a tile to its rows along the scattered axis, the first of which is number `first`. Gathers them into
 * scratch where lanes lie apart. */
void ndr_engine_find_rows(const ndr_engine *engine, const ndr_scratch *scratch, int64_t first, ndr_tile *tile);

/* Joins `count` states of an op of the outputs, of all its parts, to others; both lie one after the other. */
void ndr_engine_join(const ndr_engine *engine, const ndr_engine_op *output, uint64_t *into, int64_t into_pitch,
                     const uint64_t *from, int64_t from_pitch, int64_t count);

/* Writes the results, or partial states, of positions first .. first + count - 1 from the block of their chunk. */
void ndr_engine_store(const ndr_engine *engine, const uint64_t *block, int64_t first, int64_t count);

/* The part of an axis of `extent` elements that the tile at a place has, where kept[axis] steps by `share` elements. */
static inline int64_t ndr_part_at(const ndr_cursor *kept, int axis, int64_t extent, int64_t share) {
  int64_t left = extent - (axis < 0 ? 0 : kept->at[axis] * share);
  return left < share ? left : share;
}

static inline int64_t ndr_lanes_at(const ndr_nest *nest, const ndr_cursor *kept) {
  return ndr_part_at(kept, nest->lane_axis, nest->extent, nest->lanes);
}

static inline int64_t ndr_layers_at(const ndr_nest *nest, const ndr_cursor *kept) {
  return nest->layers == 1 ? 1 : ndr_part_at(kept, nest->layer_axis, nest->layer_extent, nest->layers);
}

static inline int log2_of(int64_t bytes) {
  int log = 0;
  while (bytes > 1 << log) log++;
  return log;
}

#endif
