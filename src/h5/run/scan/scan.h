/* Slabs scanned by the CPU, leaf by leaf along the scanned dim, by all threads of the feed. What stands before a leaf
 * is carried from the one before. */
#ifndef NDR_H5_RUN_SCAN_H
#define NDR_H5_RUN_SCAN_H

#include "h5/run/job/job.h"

typedef struct ndr_scan_slabs ndr_scan_slabs;

ndr_status ndr_scan_slabs_create(ndr_scan_slabs **created, const ndr_job *job, ndr_feed *feed);

/* Starts the block whose first slab this is: nothing stands before it. */
ndr_status ndr_scan_slabs_start(ndr_scan_slabs *scan, const ndr_slab *slab);

/* Scans the block's next slab. Its results are kept until ndr_scan_slabs_put. */
ndr_status ndr_scan_slabs_add(ndr_scan_slabs *scan, const ndr_slab *slab, void *data);

/* Hands the slab's results to the job's sink; its data may be gone by then. */
ndr_status ndr_scan_slabs_put(ndr_scan_slabs *scan, const ndr_slab *slab);

/* NULL is allowed. */
void ndr_scan_slabs_destroy(ndr_scan_slabs *scan);

#endif
