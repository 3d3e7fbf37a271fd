/* Slabs read ahead of whoever reduces them: threads fill a ring of slots, in the order of the iterator. A slot has the
 * slab, and behind it the boxes of the arrays beside the dataset that belong to it.
 * How a slab is read is the matter of reader.h. */
#ifndef NDR_H5_READ_FEED_H
#define NDR_H5_READ_FEED_H

#include "h5/read/beside.h"

/* What a feed is made of; it must outlive the feed. */
typedef struct ndr_feed_plan {
  const ndr_reader *readers;  /* one for each part of the series */
  ndr_slab_iterator iterator; /* at its beginning */
  int beside_count;
  const ndr_beside *besides; /* only those that are not read once come with slabs */
  int slots, threads;        /* threads that read, the caller of ndr_feed_take among them */
  int64_t slot_bytes;
  DLDevice place; /* of the slots' memory, which the host reaches */
} ndr_feed_plan;

/* Where the time went. Seconds are summed over the threads; bytes are as stored. */
typedef struct ndr_feed_times {
  double read_seconds, decode_seconds, unpack_seconds;
  int64_t stored_bytes;
} ndr_feed_times;

typedef struct ndr_feed ndr_feed;

/* Starts reading. Goes on with fewer threads if the system refuses some. */
ndr_status ndr_feed_create(ndr_feed **created, const ndr_feed_plan *plan);

/* Waits for the next slab, and helps reading meanwhile. *data points to its compact row-major elements until it is
 * given back. *done: there is no slab left. Fails if reading the slab failed. The caller must have fewer slabs than
 * there are slots. */
ndr_status ndr_feed_take(ndr_feed *feed, ndr_slab *slab, void **data, bool *done);

/* Gives back the slab that was taken first. */
void ndr_feed_give(ndr_feed *feed);

/* Does task(user, i, worker) for each i < count, on the feed's threads before they read on, and on the caller's, and
 * waits for all. Calls of one worker, 0 .. plan->threads - 1, come one after the other. Fails as the first to fail did;
 * others may then be left out. */
typedef ndr_status ndr_feed_task(void *user, int64_t index, int worker);
ndr_status ndr_feed_share(ndr_feed *feed, ndr_feed_task *task, void *user, int64_t count);

ndr_feed_times ndr_feed_spent(ndr_feed *feed);

/* Stops what is being read. NULL is allowed. */
void ndr_feed_destroy(ndr_feed *feed);

#endif
