/* The stages of a job, and what of the dataset belongs to one. */
#include <stdlib.h>
#include <string.h>

#include "h5/file/seam.h"
#include "h5/run/job/job.h"

static ndr_stage_sizes sizes_of(const ndr_job *job) {
  const ndr_h5_dataset *dataset = job->dataset;
  const ndr_h5_info *info = &dataset->info;
  int along = ndr_stage_dim(job->options.groups);
  ndr_stage_sizes sizes = {1, (int64_t)ndr_dtype_bytes(info->stored_dtype), 1, true};
  for (int d = 0; d < info->ndim; d++) {
    if (!job->reduced[d] && d > along) sizes.outputs *= info->shape[d];
    if (d != along) sizes.step_bytes *= info->shape[d];
  }
  if (info->layout == NDR_H5_CHUNKED) {
    int64_t chunk = info->chunk[along];
    sizes.aligned = dataset->step[along] == 1 && dataset->from[along] % chunk == 0 && !dataset->part_count &&
                    !ndr_has_seam(dataset, along);
    sizes.chunk = sizes.aligned ? chunk : chunk / dataset->step[along] + 1;
  }
  return sizes;
}

ndr_status ndr_job_cut_stages(ndr_job *job) {
  job->stage_count = 1;
  if (job->options.groups && (job->options.groups->ndim == 1 || job->options.groups->along[0])) {
    const ndr_stage_sizes sizes = sizes_of(job);
    return ndr_stages_cut(job->options.groups, &sizes, &job->stages, &job->stage_count);
  }
  job->stages = calloc(1, sizeof *job->stages); /* of labels of several dims all steps are one stage */
  return job->stages ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

/* Adds a file, or of its steps along the groups' dim those that the stage has; *at is where the file begins there. A
 * stage has a part at least, which may be empty. */
static void add_part(ndr_job *job, const ndr_h5_dataset *part, int64_t *at) {
  const ndr_h5_groups *groups = job->options.groups;
  const ndr_stage *stage = &job->stages[job->stage];
  ndr_h5_dataset *added = &job->parts[job->part_count];
  *added = *part;
  if (job->stage_count > 1) {
    int d = ndr_stage_dim(groups);
    int64_t size = part->info.shape[d], begin = stage->begin - *at, end = stage->end - *at;
    bool joined = job->dataset->part_count && job->dataset->series_dim == d;
    begin = begin < 0 ? 0 : begin < size ? begin : size;
    end = end < begin ? begin : end < size ? end : size;
    ndr_seam_narrow(added, d, begin, end - begin);
    if (joined) *at += size;
    if (joined && begin == end) return;
  }
  job->part_count++;
}

static ndr_status take_groups(ndr_job *job) {
  const ndr_h5_groups *groups = job->options.groups;
  if (job->stage_count == 1) return NDR_OK;
  NDR_TRY(ndr_stage_groups(groups, &job->stages[job->stage], &job->stage_groups));
  job->fold.groups = job->stage_groups;
  return NDR_OK;
}

ndr_status ndr_job_take_stage(ndr_job *job, int stage) {
  int count = job->dataset->part_count ? job->dataset->part_count : 1;
  int64_t at = 0;
  ndr_job_drop_stage(job);
  job->stage = stage;
  job->parts = calloc((size_t)count, sizeof *job->parts);
  job->readers = calloc((size_t)count, sizeof *job->readers);
  job->slabs = calloc((size_t)count, sizeof *job->slabs);
  if (!job->parts || !job->readers || !job->slabs)
    return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", job->dataset->where);
  for (int i = 0; i < count; i++) add_part(job, job->dataset->part_count ? job->dataset->parts[i] : job->dataset, &at);
  for (int i = 0; i < job->part_count; i++) job->readers[i].memory_type = H5I_INVALID_HID; /* none is open */
  return take_groups(job);
}

void ndr_job_drop_stage(ndr_job *job) {
  for (int i = 0; i < job->part_count && job->readers; i++) ndr_reader_close(&job->readers[i]);
  free(job->readers);
  free(job->slabs);
  free(job->parts);
  ndr_groups_destroy(job->stage_groups);
  job->readers = NULL;
  job->slabs = NULL;
  job->parts = NULL;
  job->stage_groups = NULL;
  job->part_count = 0;
}
