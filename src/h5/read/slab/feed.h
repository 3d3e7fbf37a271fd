/* Threads that fill a ring of slots, in the order of the iterator. Slots hold slabs (slot.h), read ahead of whoever
 * reduces them; or each stands for a piece of the grid, the slabs of which the feed's user reads and reduces in these
 * threads, one after the other. How a slab is read is the matter of slot.h. */
#ifndef NDR_H5_READ_FEED_H
#define NDR_H5_READ_FEED_H

#include "h5/read/slab/slot.h"

/* What a feed is made of; it must outlive the feed. */
typedef struct ndr_feed_plan {
  ndr_slot_plan slot;
  ndr_slab_iterator iterator; /* at its beginning */
  int slots, threads;         /* threads that read, the caller of ndr_feed_take among them */
  int64_t slot_bytes;
  DLDevice place; /* of the slots' memory, which the host reaches */
} ndr_feed_plan;

/* Where the time went. Seconds are summed over the threads; bytes are as stored. */
typedef struct ndr_feed_times {
  double read_seconds, decode_seconds, unpack_seconds, reduce_seconds;
  int64_t stored_bytes;
  int64_t slabs, elements; /* that the feed's threads reduced, in reduce_seconds */
} ndr_feed_times;

/* Reads and reduces a slab of the piece that slot number `slot` stands for. Calls for one slot come one after the
 * other, and so do those of one worker, 0 .. plan->threads - 1. */
typedef ndr_status ndr_feed_reduce(void *user, int slot, ndr_slab *slab, int worker, ndr_slot_scratch *scratch);

typedef struct ndr_feed ndr_feed;

/* Starts reading. Goes on with fewer threads if the system refuses some. With `reduce` slots have no memory. */
ndr_status ndr_feed_create(ndr_feed **created, const ndr_feed_plan *plan, ndr_feed_reduce *reduce, void *user);

typedef enum ndr_feed_state {
  NDR_FEED_TAKEN,
  NDR_FEED_BUSY, /* with `reduce`: the next piece is not complete; call again */
  NDR_FEED_ENDED /* nothing is left */
} ndr_feed_state;

/* Waits for the next slot, and helps filling slots meanwhile. *data points to the slab's compact row-major elements
 * until the slot is given back; with `reduce` there are none, and *slab is the last of the piece. Fails if filling the
 * slot failed. The caller must have fewer slots than there are. */
ndr_status ndr_feed_take(ndr_feed *feed, ndr_slab *slab, void **data, ndr_feed_state *state);

/* Gives back the slot that was taken first. */
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
