/* Outputs over one range of the kept dims while they are reduced: their partial states, and at the end their place in
 * the results. */
#ifndef NDR_H5_RUN_BLOCK_H
#define NDR_H5_RUN_BLOCK_H

#include "h5/run/job/job.h"

typedef struct ndr_block {
  ndr_slab slab; /* its begin and size in the kept dims count */
  ndr_accumulator *sums;
} ndr_block;

/* Starts the outputs of a slab. Close it even if that fails. */
ndr_status ndr_block_open(ndr_block *block, const ndr_job *job, const ndr_uploader *uploader, const ndr_slab *slab);
void ndr_block_close(ndr_block *block);

/* Starts the outputs of another slab, as many along each dim, in the same memory. */
ndr_status ndr_block_restart(ndr_block *block, const ndr_job *job, const ndr_slab *slab);

/* Adds all that `from` has seen. */
ndr_status ndr_block_merge(ndr_block *into, const ndr_block *from);

/* Writes the outputs of blocks, which together are those of `all`, into their part of the results; if the job has a
 * sink, hands it their boxes. */
ndr_status ndr_blocks_finish(const ndr_block *blocks, int64_t count, const ndr_job *job, const ndr_slab *all,
                             DLTensor *const *results);

#endif
