/* A reduction or scan of a dataset, from its arguments to its results. */
#ifndef NDR_H5_RUN_WORK_H
#define NDR_H5_RUN_WORK_H

#include "h5/run/job/job.h"

typedef struct ndr_work {
  ndr_h5_dataset *dataset;
  const ndr_problem *problem;
  ndr_job_output output;
} ndr_work;

/* The status of a sink that has to begin anew; other ranks than its own begin anew, too. No public call returns it. */
#define NDR_WORK_CLASH ((ndr_status)1)

/* After a clash, on all ranks: a failure before the next attempt begins is one rank's own, as comm.h says of `last`. */
void ndr_work_begin_anew(const ndr_h5_options *options);

/* Plans and does it. Where a GPU fails, tries less memory, or the CPU, as ndr_h5_reduce says. */
ndr_status ndr_work_run(const ndr_work *work, const ndr_h5_options *options);

/* The extents, along the dims of the dataset, of the blocks in which results come if memory does not cut them shorter;
 * 0 along a dim that has none. */
ndr_status ndr_work_cells(const ndr_work *work, const ndr_h5_options *options, int64_t *cells);

#endif
