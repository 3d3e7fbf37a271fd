/* A leaf of packed integers added to the states of its outputs without unpacking its elements: see ndr_job.totals. */
#ifndef NDR_H5_RUN_LEAF_TOTALS_H
#define NDR_H5_RUN_LEAF_TOTALS_H

#include "h5/run/leaf/leaf.h"

/* The leaf is a box of the slab, which holds stored elements without gaps. `to` has the leaf's outputs, and takes
 * totals (ndr_accumulator_add_totals). */
ndr_status ndr_leaf_add_totals(const ndr_job *job, const ndr_leaf_slab *from, const ndr_slab *leaf,
                               ndr_accumulator *to);

#endif
