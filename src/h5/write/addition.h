/* A result that is being added to a file: its variable is created, filled with elements, and then described. */
#ifndef NDR_H5_WRITE_ADDITION_H
#define NDR_H5_WRITE_ADDITION_H

#include "h5/write/storage/fill_value.h"
#include "h5/write/writer.h"

typedef struct ndr_addition {
  ndr_problem problem;
  ndr_label label;
  int located; /* the reduced dim whose coordinates the elements are, or -1 */
  int running; /* the dim that is scanned, which stays; or -1 */
  const char *name;
  char *hidden;           /* the same if it was chosen here */
  const DLTensor *result; /* its data is NULL where blocks of it come one by one */
  DLTensor unfolded;      /* the result with a dim for each one that windows lie along */
  int64_t shape[NDR_MAX_DIMS];
  int from[NDR_MAX_DIMS]; /* where each dim of the result comes from, as in scales.h */
  ndr_fill_value fill;
  hid_t variable, type, memory; /* in the file, its type there, and that of elements in memory */
} ndr_addition;

/* How the variable of a result is laid out that comes block by block. */
typedef struct ndr_addition_blocks {
  const int64_t *cells; /* extents of the blocks along the dims of the source */
  size_t cache_bytes;   /* for chunks of which blocks have parts */
  bool marks_nan;       /* missing elements are marked by NaN, whatever the source has */
} ndr_addition_blocks;

/* Takes over the problem and its ops[i], and checks the result; one whose data is NULL receives its shape and dtype.
 * Called outside the lock, as the next. */
ndr_status ndr_addition_prepare(ndr_h5_writer *writer, ndr_addition *a, const ndr_problem *problem, int i);

/* The rest of the preparation, for a label that has its operator, problem and dtype. */
void ndr_addition_settle(ndr_h5_writer *writer, ndr_addition *a);

/* Creates the variable; blocks is NULL where all elements are there. Called inside the lock. */
ndr_status ndr_addition_create(ndr_h5_writer *writer, ndr_addition *a, const ndr_addition_blocks *blocks);

/* Describes the variable, whose elements have been written, and attaches what belongs to it. */
ndr_status ndr_addition_finish(ndr_h5_writer *writer, ndr_addition *a);

/* Closes what is open. Called inside the lock, also after a failure. */
void ndr_addition_close(ndr_addition *a);

/* What HDF5 has said of the failed call, with the variable's name. */
ndr_status ndr_addition_fail(const ndr_h5_writer *writer, const ndr_addition *a);

#endif
