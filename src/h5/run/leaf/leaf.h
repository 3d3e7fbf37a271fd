/* A leaf of a slab, and what belongs to it of the arrays beside the dataset, unpacked to compact arrays. So how a leaf
 * is reduced or scanned, and the last bits of that, do not depend on the slab that it was read in. */
#ifndef NDR_H5_RUN_LEAF_H
#define NDR_H5_RUN_LEAF_H

#include "h5/run/job/job.h"

/* A slab as it was read. */
typedef struct ndr_leaf_slab {
  const ndr_slab *slab;
  char *data;
} ndr_leaf_slab;

/* Of one thread: a leaf, what belongs to it beside the dataset, and its mask. NULL until it is needed. */
typedef struct ndr_leaf_buffers {
  void *leaf, *beside[NDR_MOST_BESIDES], *mask;
} ndr_leaf_buffers;

void ndr_leaf_buffers_free(ndr_leaf_buffers *buffers);

/* A column of the slab: leaves of the same outputs. */
ndr_slab ndr_leaf_column(const ndr_slabs *slabs, const ndr_slab *slab, int64_t column);

/* The leaf of that number, along the reduced dims, of a column of the slab. */
ndr_slab ndr_leaf_find(const ndr_job *job, const ndr_slab *slab, int64_t column, int64_t number);

/* Finds the elements of a leaf: in the slab, if they lie there compact and are as large as when they are reduced, else
 * in the buffers. To be called once for a leaf: it may be unpacked in place. */
ndr_status ndr_leaf_unpack(const ndr_job *job, const ndr_leaf_slab *from, const ndr_slab *leaf,
                           ndr_leaf_buffers *buffers, void **elements);

/* Finds the operands of the job that belong to the leaf x. */
ndr_status ndr_leaf_operands(const ndr_job *job, const ndr_leaf_slab *from, ndr_slab *leaf, const DLTensor *x,
                             ndr_leaf_buffers *buffers, ndr_beside_tensors *given);

/* Adds a leaf to the states of its outputs. */
ndr_status ndr_leaf_add(const ndr_job *job, const ndr_leaf_slab *from, ndr_slab *leaf, ndr_leaf_buffers *buffers,
                        ndr_accumulator *to);

/* Allocates a buffer of host memory unless it is there already. */
ndr_status ndr_leaf_need(void **buffer, int64_t bytes);

#endif
