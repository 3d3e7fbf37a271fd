/* Runs the code of a problem's programs over tiles of the nest. */
#ifndef NDR_CPU_MACHINE_H
#define NDR_CPU_MACHINE_H

#include "cpu/engine.h"
#include "cpu/program/code.h"

/* How a nest walks one of the problem's arrays, in elements, or counts a place index. */
typedef struct ndr_walked {
  const char *data;  /* of arrays: the element where the walk starts */
  int64_t bytes;     /* of an element */
  int64_t origin;    /* of places: the index where the walk starts */
  int64_t lane, row; /* steps between neighbours; of lanes: between groups of `period` */
  int64_t period;    /* between lanes of a group */
  int64_t kept[NDR_MAX_DIMS + 1], reduced[NDR_MAX_DIMS + 1]; /* the nest's axes */
} ndr_walked;

struct ndr_machine {
  int array_count, walked_count; /* places follow arrays */
  ndr_walked walked[NDR_MOST_ARRAYS + NDR_MOST_PLACES];
  int64_t buffer_bytes[NDR_MOST_ARRAYS]; /* of each array, into which a block is gathered */
  int code_count;
  ndr_code *codes[NDR_MAX_OPS];
  int64_t block[NDR_MAX_OPS]; /* words of the nest's block of states before those of a code's program */
  int64_t rows[NDR_MAX_OPS];  /* the most rows of a code's block */
};

/* Lanes of the rows into which runs in a cache are cut, at most. */
enum { NDR_MOST_RUN_LANES = 64 };

/* at: where the arrays and place indices of a tile start; next: the same of the tile after it, which becomes `at`. */
typedef struct ndr_tile_place {
  int64_t at[NDR_MOST_ARRAYS + NDR_MOST_PLACES], next[NDR_MOST_ARRAYS + NDR_MOST_PLACES];
} ndr_tile_place;

/* Whether a problem has programs. */
bool ndr_machine_there(const ndr_canonical *problem);

/* Why they cannot be compiled; NULL if they can. */
const char *ndr_machine_reject(const ndr_canonical *problem);

/* The step between neighbouring lanes of a tile; false where there is no single one. */
static inline bool ndr_walked_lane_step(const ndr_walked *walk, ndr_nest_form form, int64_t period, int64_t lanes,
                                        int64_t *step) {
  bool grouped = form != NDR_NEST_ROWS && period > 1;
  *step = grouped ? walk->period : walk->lane;
  return !grouped || lanes == period || walk->lane == walk->period * period;
}

/* Whether elements whose lanes lie `step` apart are read where they are, because lanes lie side by side, and rows
 * follow each other or are long. Otherwise blocks of them are gathered. */
static inline bool ndr_walked_is_direct(const ndr_walked *walk, int64_t step, int64_t lanes, int64_t rows) {
  enum { DIRECT_LANES = 64 }; /* from so many on, rows are read where they are */
  return step == 1 && (rows == 1 || walk->row == lanes || lanes >= DIRECT_LANES);
}

/* Whether array a, whose lanes are `step` apart, has one element for each row that only kernels read that take it so.
 */
static inline bool ndr_walked_is_row_factor(const ndr_code *code, int a, bool single, int64_t step) {
  return single && step == 0 && (code->row_factor_arrays >> a & 1);
}

/* Whether a problem is one program whose kernels can read the nest's tiles row by row (ndr_tile.in_order), and is large
 * enough to gain from that. */
bool ndr_machine_reads_in_order(const ndr_canonical *problem, const ndr_nest *nest);

/* Sets the nest's shared_bytes and program_bytes. */
void ndr_machine_size(const ndr_canonical *problem, ndr_nest *nest);

/* Makes the code in shared memory. data are the arrays, as a backend gets them. */
struct ndr_machine *ndr_machine_make(const ndr_canonical *problem, const ndr_nest *nest, const ndr_isa *isa,
                                     const void *const *data, char *memory);

/* Computes what does not depend on elements, once for each thread. */
void ndr_machine_begin(const ndr_engine *engine, char *memory);

/* Finds where the arrays and places of a tile start: at[w] of each that is walked. */
void ndr_machine_find(const struct ndr_machine *machine, const ndr_cursor *kept, const ndr_cursor *reduced,
                      int64_t *at);

/* Computes the values of a tile and folds them into the states. */
void ndr_machine_fold(const ndr_engine *engine, char *memory, const ndr_tile_place *place, const ndr_tile *tile,
                      uint64_t *states);

#endif
