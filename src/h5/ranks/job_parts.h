/* A job that processes share: this one has one part of several, or makes the results from the partial states of all
 * parts, or is a rank (ranks.h has what ranks do). */
#ifndef NDR_H5_RANKS_JOB_PARTS_H
#define NDR_H5_RANKS_JOB_PARTS_H

#include "h5/ranks/state_file.h"
#include "h5/run/job/job.h"

/* Opens what a job writes its partial states to, or what it merges them from; the other is NULL, and so are both for a
 * job without parts. To be closed even if that fails, before the job is cleared, as *set refers to job->refused. */
ndr_status ndr_job_parts_open(ndr_job *job, ndr_state_writer **writer, ndr_state_set **set);

/* Whether processes share the job: as parts, whose states are in files, or as ranks. */
static inline bool ndr_job_is_shared(const ndr_job *job) {
  return job->options.part_count || job->options.state_count || job->options.comm;
}

/* Checks the job's options. A comm of one rank becomes NULL. For a job that is shared NDR_H5_AUTO becomes the CPU, or
 * what has reduced the parts whose states are merged. */
ndr_status ndr_job_check_parts(ndr_job *job);

/* Leaves the iterator the pieces of the job's part; none where all comes from states. */
void ndr_job_take_pieces(const ndr_job *job, ndr_slab_iterator *iterator);

#endif
