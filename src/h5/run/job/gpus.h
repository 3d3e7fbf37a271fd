/* The GPUs of a job while a stage runs: slabs are copied to them in turn, each reduced where it is, and added to
 * outputs on the first one. */
#ifndef NDR_H5_RUN_GPUS_H
#define NDR_H5_RUN_GPUS_H

#include "h5/run/leaf/block.h"

typedef struct ndr_gpus {
  ndr_job *job;                                /* whose uploaders, one for each GPU, are open */
  int count;                                   /* of GPUs; 0 on the CPU */
  int64_t queued, completed;                   /* slabs */
  void *once[NDR_MOST_GPUS][NDR_MOST_BESIDES]; /* the arrays that are read once */
} ndr_gpus;

/* Opens the job's uploaders, and copies the arrays that are read once. Does nothing on the CPU. Close it even if that
 * fails. */
ndr_status ndr_gpus_open(ndr_gpus *gpus, ndr_job *job);

/* Queues the addition of a slab, as it was read, to outputs on the first GPU; then gives slots that are done with back
 * to the feed, so that a GPU has a buffer for the next slab. */
ndr_status ndr_gpus_add(ndr_gpus *gpus, ndr_feed *feed, ndr_block *to, ndr_slab *slab, void *data);

/* Waits until no slab is under way, so that the memory that they are copied from can be freed. */
void ndr_gpus_drain(ndr_gpus *gpus);

void ndr_gpus_close(ndr_gpus *gpus);

#endif
