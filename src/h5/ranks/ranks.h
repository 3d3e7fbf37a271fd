/* A reduction of a dataset that the ranks of a comm do together: which pieces a rank reduces, and what ranks send each
 * other. Rank 0 gets the results. deal.h says how pieces are dealt. */
#ifndef NDR_H5_RANKS_RANKS_H
#define NDR_H5_RANKS_RANKS_H

#include "h5/run/leaf/fold.h"

typedef struct ndr_ranks ndr_ranks;

/* Begins the call, which ndr_ranks_close ends. *ranks is NULL if the options have no comm, or one of one rank. On ranks
 * other than 0, *output becomes a sink that sends results to rank 0. */
ndr_status ndr_ranks_open(ndr_ranks **ranks, const ndr_h5_options *options, ndr_job_output *output);

/* Call when the job is made. Rank 0 compares what all ranks are going to reduce. */
ndr_status ndr_ranks_start(ndr_ranks *ranks, const ndr_job *job, DLTensor *const *results);

/* Deals the job's current stage. */
ndr_status ndr_ranks_deal(ndr_ranks *ranks);

/* The next range of pieces for this rank, *from .. *to - 1; *done: there is none. Waits for rank 0 to say which. */
ndr_status ndr_ranks_next(ndr_ranks *ranks, int64_t *from, int64_t *to, bool *done);

/* Whether the pieces of this slab's outputs are in several ranges. */
bool ndr_ranks_splits(const ndr_ranks *ranks, const ndr_slab *slab);

/* Sends the states of a piece of such outputs to their owner. */
ndr_state_taker ndr_ranks_send_states;

/* Handles what other ranks have sent, and now and then reports to rank 0. *all becomes `mine`, on rank 0 with what the
 * others have reported. */
ndr_status ndr_ranks_look(ndr_ranks *ranks, const ndr_h5_progress *mine, ndr_h5_progress *all);

/* Merges the states of the stage's outputs that this rank owns, and finishes them. Waits for states that have not come.
 */
ndr_status ndr_ranks_join(ndr_ranks *ranks);

/* Call when all stages are done. Rank 0 waits for the others. *weighed: this rank has seen a weight other than 0; on
 * rank 0 it becomes true if any rank has. */
ndr_status ndr_ranks_finish(ndr_ranks *ranks, const ndr_h5_progress *mine, ndr_h5_progress *all, bool *weighed);

/* Ends the call on all ranks with the status that they agree on. NULL: returns `mine`. */
ndr_status ndr_ranks_close(ndr_ranks *ranks, ndr_status mine);

#endif
