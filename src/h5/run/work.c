/* See work.h; and ndr_h5_reduce. Tries again with less memory, or on the CPU, where a GPU fails. */
#include "h5/run/work.h"

#include <stdio.h>
#include <string.h>

#include "h5/run/reduce.h"

/* The smallest budget that is tried on a GPU whose memory runs out. */
#define LEAST_MEMORY ((int64_t)8 << 20)

/* Makes the job and runs it. *on_gpu: the job was for a GPU, whether it succeeded or not. */
static ndr_status make_and_run(const ndr_work *w, const ndr_job_output *output, const ndr_h5_options *options,
                               const char *warning, ndr_ranks *ranks, bool *on_gpu) {
  ndr_job job;
  DLTensor *const *results = output->results;
  ndr_status status = ndr_job_make(&job, w->dataset, w->problem, output, options);
  *on_gpu = job.device.device_type == kDLCUDA;
  if (status == NDR_OK)
    status = job.never_written ? ndr_job_fill(&job, results) : ndr_job_reduce(&job, results, warning, ranks);
  if (w->dataset && job.refused.why == NDR_H5_REFUSED_NONE) status = ndr_job_blame(w->dataset, status);
  if (job.options.refused && job.refused.why != NDR_H5_REFUSED_NONE) *job.options.refused = job.refused;
  ndr_job_clear(&job);
  return status;
}

static ndr_status attempt(const ndr_work *w, const ndr_h5_options *options, const char *warning, bool *on_gpu) {
  ndr_h5_options read;
  ndr_job_output output = w->output;
  ndr_ranks *ranks;
  *on_gpu = false;
  NDR_TRY(ndr_job_options(&read, options));
  if (read.refused) *read.refused = (ndr_h5_refused){NDR_H5_REFUSED_NONE, -1};
  ndr_status status = ndr_ranks_open(&ranks, &read, &output);
  if (status == NDR_OK) status = make_and_run(w, &output, options, warning, ranks, on_gpu);
  return ndr_ranks_close(ranks, status);
}

/* A GPU that fails for another reason than memory may have failed for good: its partial results are thrown away.
 * Kernels of operands must be compiled, which not every machine can. */
static bool is_lost(ndr_status status) {
  return status == NDR_ERR_DEVICE || status == NDR_ERR_NO_DEVICE || status == NDR_ERR_UNSUPPORTED;
}

/* All ranks would have to try again, and a part would be reduced otherwise than the others. */
static bool is_shared(const ndr_h5_options *options) {
  return options->part_count || options->state_count || (options->comm && options->comm->ranks > 1);
}

ndr_status ndr_work_run(const ndr_work *work, const ndr_h5_options *options) {
  ndr_h5_options smaller;
  char reason[512];
  bool on_gpu;
  ndr_status status = attempt(work, options, NULL, &on_gpu);
  if (status == NDR_OK || !on_gpu || (status != NDR_ERR_MEMORY && !is_lost(status))) return status;
  ndr_status first = status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  NDR_TRY(ndr_job_options(&smaller, options));
  if (is_shared(&smaller)) return ndr_fail(first, "%s", reason);
  int64_t most = smaller.memory;
  if (smaller.memory == 0) smaller.memory = ndr_default_memory(1);
  for (int64_t memory = smaller.memory / 4; status == NDR_ERR_MEMORY && memory >= LEAST_MEMORY; memory /= 4) {
    smaller.memory = memory;
    status = attempt(work, &smaller, NULL, &on_gpu);
  }
  if (status != NDR_ERR_MEMORY && !is_lost(status)) return status;
  if (smaller.device != NDR_H5_AUTO) return ndr_fail(first, "%s", reason);
  smaller.device = NDR_H5_CPU;
  smaller.memory = most;
  return attempt(work, &smaller, reason, &on_gpu);
}

void ndr_work_begin_anew(const ndr_h5_options *options) {
  if (options->comm && options->comm->size >= sizeof *options->comm) options->comm->last = NDR_OK;
}

ndr_status ndr_work_cells(const ndr_work *work, const ndr_h5_options *options, int64_t *cells) {
  ndr_job job;
  memset(cells, 0, NDR_MAX_DIMS * sizeof *cells);
  for (int d = 0; d < work->dataset->info.ndim; d++)
    if (work->dataset->info.shape[d] == 0) return NDR_OK;
  ndr_status status = ndr_job_make(&job, work->dataset, work->problem, &work->output, options);
  for (int i = 0; status == NDR_OK && i < job.part_count; i++)
    for (int d = 0; d < job.slabs[i].ndim; d++)
      if (job.slabs[i].cell[d] > cells[d]) cells[d] = job.slabs[i].cell[d];
  status = ndr_job_blame(work->dataset, status);
  ndr_job_clear(&job);
  return status;
}

ndr_status ndr_h5_reduce(ndr_h5_dataset *dataset, const ndr_problem *problem, DLTensor *const *results,
                         const ndr_h5_options *options) {
  const ndr_work work = {dataset, problem, {.results = results}};
  ndr_h5_options read;
  NDR_TRY(ndr_job_options(&read, options));
  bool elsewhere = read.part_count || (read.comm && read.comm->rank > 0);
  if (!results && !elsewhere) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  ndr_status status = ndr_work_run(&work, options);
  while (elsewhere && status == NDR_WORK_CLASH) {
    ndr_work_begin_anew(&read);
    status = ndr_work_run(&work, options);
  }
  return status;
}
