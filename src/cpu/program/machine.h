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
  unsigned arrays; /* bit a: some code reads array a */
  int code_count;
  ndr_code *codes[NDR_MAX_OPS];
  int64_t block[NDR_MAX_OPS]; /* words of a block before the states of a code's program */
  int64_t rows;               /* the most rows of a block */
  int64_t elements;           /* lanes times rows of it */
};

/* Where the arrays and places of a tile start, and those of the tile that is folded after it. */
typedef struct ndr_tile_place {
  int64_t at[NDR_MOST_ARRAYS + NDR_MOST_PLACES], next[NDR_MOST_ARRAYS + NDR_MOST_PLACES];
} ndr_tile_place;

/* Whether a problem has programs. */
bool ndr_machine_there(const ndr_canonical *problem);

/* Why they cannot be compiled; NULL if they can. */
const char *ndr_machine_reject(const ndr_canonical *problem);

/* Sets the rows of a block, and the bytes of memory that all threads share and of each thread, which were 0. */
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
