/* Rungs under emulation: what they would make a GPU do, counted. */
#include <stdlib.h>
#include <string.h>

#include "ladder/ladder.h"

#ifdef NDBENCH_WITH_SIMT
#include "simt/ladder.h"

/* A copy of the matrix with padded rows; NULL when memory is short. */
static void *padded_copy(const ladder_data *data) {
  size_t row = (size_t)data->shape[1] * ladder_bytes(data->dtype), padded = ladder_padded_row(data);
  char *copy = bench_allocate((size_t)data->shape[0] * padded);
  for (int64_t r = 0; copy && r < data->shape[0]; r++)
    memcpy(copy + (size_t)r * padded, (const char *)data->placed + (size_t)r * row, row);
  return copy;
}

static const char *run(ladder_data *data, ladder_job *job, ladder_record *record) {
  ladder_kernel kernel = record->rung->kernel;
  int64_t outputs = ladder_outputs(data, ladder_goal(data, record->rung));
  int selected;
  if (!job->data || !job->results || !job->scratch) return "out of memory";
  memset(job->results, 0xa5, (size_t)outputs * ladder_bytes(job->dtype));
  memset(job->scratch, 0, (size_t)ladder_scratch_bytes(kernel, job));
  const char *failure = simt_ladder(kernel, job, 0, &record->counts);
  if (failure) return failure;
  memcpy(&selected, job->scratch, sizeof selected);
  record->correct =
      ladder_check(data, record->rung, job->results, selected, record->complaint, sizeof record->complaint);
  return NULL;
}

bool ladder_count(const ladder_options *options, ladder_data *data, ladder_record *record) {
  const ladder_rung *rung = record->rung;
  int64_t outputs = ladder_outputs(data, ladder_goal(data, rung));
  ladder_job job = ladder_job_of(options, data);
  void *copy = NULL;
  record->left_out = rung->way != LADDER_BY_KERNEL || rung->kernel >= LADDER_THRUST;
  if (record->left_out) {
    snprintf(record->complaint, sizeof record->complaint, "not emulated");
    return true;
  }
  if (rung->kernel == LADDER_BLOCK_PITCHED) {
    job.data = copy = padded_copy(data);
    job.pitch = (long long)(ladder_padded_row(data) / ladder_bytes(data->dtype));
  }
  job.results = bench_allocate((size_t)outputs * ladder_bytes(data->dtype));
  job.scratch = bench_allocate((size_t)ladder_scratch_bytes(rung->kernel, &job));
  const char *failure = run(data, &job, record);
  if (failure) snprintf(record->complaint, sizeof record->complaint, "%s", failure);
  free(copy);
  free(job.results);
  free(job.scratch);
  return record->correct;
}
#else
bool ladder_count(const ladder_options *options, ladder_data *data, ladder_record *record) {
  (void)options;
  (void)data;
  snprintf(record->complaint, sizeof record->complaint, "this build has no emulation");
  return false;
}
#endif
