/* Slabs reduced by the CPU, leaf by leaf, by all threads of the feed; or each as a whole by GPUs. Stretches that
 * threads of the feed have reduced by themselves (leafwise.h) are added to those before them. */
#ifndef NDR_H5_RUN_FOLD_H
#define NDR_H5_RUN_FOLD_H

#include "h5/ranks/state_file.h"
#include "h5/run/job/gpus.h"

typedef struct ndr_fold ndr_fold;

/* The job's GPUs are open, if it is for any. */
ndr_status ndr_fold_create(ndr_fold **created, const ndr_job *job, ndr_feed *feed, ndr_gpus *gpus);

/* Starts the block whose first slab this is. */
ndr_status ndr_fold_start(ndr_fold *fold, const ndr_slab *slab);

/* Adds a slab of the block as it was read; may change data. Then gives a slot back to the feed: the slab's own, or on a
 * GPU that of an earlier one. */
ndr_status ndr_fold_add(ndr_fold *fold, ndr_slab *slab, void *data);

/* Takes the partial states of one column of a piece. */
typedef ndr_status ndr_state_taker(void *user, ndr_state_key key, const ndr_accumulator *sums);

/* The states of a stretch. */
typedef struct ndr_columns {
  ndr_block *blocks; /* one for each column */
  int64_t count;
} ndr_columns;

/* Gives the taker the states of the piece that ends with this slab, column by column. */
ndr_status ndr_columns_save(const ndr_columns *columns, const ndr_job *job, const ndr_slab *slab,
                            ndr_state_taker *taker, void *user);

/* Adds a stretch that threads of the feed have reduced, and that ends with this slab, to those before it, and writes
 * the results of the block if it is the last. May keep the blocks, and leave others or none. */
ndr_status ndr_fold_add_stretch(ndr_fold *fold, ndr_columns *columns, DLTensor *const *results, const ndr_slab *slab);

/* The states of the stretch at hand; they stay the fold's. */
ndr_columns ndr_fold_columns(const ndr_fold *fold);

/* Adds the states of all files to the piece, which must be empty. */
ndr_status ndr_fold_load(ndr_fold *fold, const ndr_slab *slab, ndr_state_set *set);

/* Adds the stretch that ends with this slab to those before it. */
ndr_status ndr_fold_end_stretch(ndr_fold *fold, const ndr_slab *slab);

/* Writes the results of the block whose last slab this is. */
ndr_status ndr_fold_finish(ndr_fold *fold, DLTensor *const *results, const ndr_slab *slab);

/* NULL is allowed. */
void ndr_fold_destroy(ndr_fold *fold);

#endif
