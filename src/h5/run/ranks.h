/* A reduction of a dataset that the ranks of a comm do together: what each of them has of it, and what they send each
 * other. Rank 0 gets the results. deal.h says how pieces are dealt. */
#ifndef NDR_H5_RUN_RANKS_H
#define NDR_H5_RUN_RANKS_H

#include "h5/run/fold.h"

typedef struct ndr_ranks ndr_ranks;

/* Begins the call that ndr_ranks_close ends; *ranks is NULL where the options have no comm, or one of one rank. Results
 * of other ranks than 0 go to that one, in place of the job's own output. */
ndr_status ndr_ranks_open(ndr_ranks **ranks, const ndr_h5_options *options, ndr_job_output *output);

/* The job is made. Tells rank 0 what this one is going to reduce. */
ndr_status ndr_ranks_start(ndr_ranks *ranks, const ndr_job *job, DLTensor *const *results);

/* Deals the stage at hand; then gives this rank's ranges of pieces, one after the other, until *done. */
ndr_status ndr_ranks_deal(ndr_ranks *ranks);
ndr_status ndr_ranks_next(ndr_ranks *ranks, int64_t *from, int64_t *to, bool *done);

/* Whether other ranks have pieces of the outputs of this slab. Then its states, when a piece is done, go to the owner.
 */
bool ndr_ranks_splits(const ndr_ranks *ranks, const ndr_slab *slab);
ndr_state_taker ndr_ranks_send_states;

/* Handles what other ranks have sent. *progress is this rank's; on rank 0 that of all is added. */
ndr_status ndr_ranks_look(ndr_ranks *ranks, const ndr_h5_progress *mine, ndr_h5_progress *all);

/* Puts together the outputs of the stage that this rank owns. */
ndr_status ndr_ranks_join(ndr_ranks *ranks);

/* All stages are done. *weighed, whether a weight was not 0, becomes that of all on rank 0, which waits for the others.
 */
ndr_status ndr_ranks_finish(ndr_ranks *ranks, const ndr_h5_progress *mine, ndr_h5_progress *all, bool *weighed);

/* Ends the call on all ranks with the status that they agree on. NULL: returns `mine`. */
ndr_status ndr_ranks_close(ndr_ranks *ranks, ndr_status mine);

#endif
