/* A nest being executed. */
#ifndef NDR_CPU_ENGINE_H
#define NDR_CPU_ENGINE_H

#include "cpu/cursor.h"
#include "cpu/fold/fold.h"

/* What one op does with a tile. */
typedef struct ndr_engine_op {
  int number; /* in the problem */
  ndr_state state;
  ndr_dtype view; /* the dtype it folds */
  ndr_fold *fold;
  ndr_join *join;
  int words;
  int64_t block; /* where its states are in a block, in words */
} ndr_engine_op;

typedef struct ndr_engine {
  const ndr_nest *nest;
  const ndr_canonical *problem;
  const ndr_isa *isa;
  const char *data; /* the element where the walk starts */
  int64_t bytes;    /* of an element */
  void *const *results;
  bool indexed;                   /* an op wants flattened indices */
  ndr_engine_op ops[NDR_MAX_OPS]; /* those that fold the same dtype side by side */
} ndr_engine;

/* A thread's memory. */
typedef struct ndr_scratch {
  uint64_t *levels; /* blocks of states */
  char *gathered, *converted;
} ndr_scratch;

/* Folds the tiles at a place into a block of states, for every op. The tile is number `position` of the chunk. */
void ndr_engine_fold(const ndr_engine *engine, const ndr_scratch *scratch, const ndr_cursor *kept,
                     const ndr_cursor *reduced, uint64_t *block, int64_t position, bool fresh);

/* Writes the results, or the partial states, of positions first .. first + count - 1 from their block. */
void ndr_engine_store(const ndr_engine *engine, const uint64_t *block, int64_t first, int64_t count);

#endif
