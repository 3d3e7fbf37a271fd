/* Runs a planned job slab by slab, on the CPU or on GPUs, as a whole, as a part, or as one of several ranks. */
#ifndef NDR_H5_RUN_REDUCE_H
#define NDR_H5_RUN_REDUCE_H

#include "h5/ranks/ranks.h"

/* warning: what ndr_h5_progress says; NULL: nothing is amiss. ranks: that do it together; NULL: this process alone. */
ndr_status ndr_job_reduce(ndr_job *job, DLTensor *const *results, const char *warning, ndr_ranks *ranks);

#endif
