/* Datasets reduced leaf by leaf: each thread of the feed reads a leaf from the file into a small buffer of its own,
 * adds it to the states of the piece that it has in hand, and reads the next into the same buffer. So elements stay in
 * the caches of one core, and no thread waits for another. For contiguous data on the CPU: see ndr_job.leafwise. */
#ifndef NDR_H5_RUN_LEAFWISE_H
#define NDR_H5_RUN_LEAFWISE_H

#include "h5/run/leaf/fold.h"

typedef struct ndr_leafwise ndr_leafwise;

/* Creates *leafwise if it is NULL; otherwise readies it, with its buffers, for another feed of the stage. Destroy it
 * after the feed, even on failure. */
ndr_status ndr_leafwise_begin(ndr_leafwise **leafwise, const ndr_job *job);

/* NULL is allowed. */
void ndr_leafwise_destroy(ndr_leafwise *leafwise);

/* The feed's task; `user` is the ndr_leafwise. */
ndr_feed_reduce ndr_leafwise_reduce;

/* The states of the oldest piece that was taken from the feed and not given back. */
ndr_columns *ndr_leafwise_columns(ndr_leafwise *leafwise);

/* Call after giving that piece back to the feed. */
void ndr_leafwise_next(ndr_leafwise *leafwise);

#endif
