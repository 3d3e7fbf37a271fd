/* Slabs reduced by the CPU, leaf by leaf, by all threads of the feed. */
#ifndef NDR_H5_RUN_FOLD_H
#define NDR_H5_RUN_FOLD_H

#include "h5/run/block.h"

typedef struct ndr_fold ndr_fold;

ndr_status ndr_fold_create(ndr_fold **created, const ndr_job *job, ndr_feed *feed);

/* Starts the block whose first slab this is. */
ndr_status ndr_fold_start(ndr_fold *fold, const ndr_slab *slab);

/* Adds a slab of the block as it was read; may change data. */
ndr_status ndr_fold_add(ndr_fold *fold, const ndr_slab *slab, void *data);

/* Writes the block's results. */
ndr_status ndr_fold_finish(ndr_fold *fold, DLTensor *const *results);

/* NULL is allowed. */
void ndr_fold_destroy(ndr_fold *fold);

#endif
