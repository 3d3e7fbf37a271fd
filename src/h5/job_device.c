/* Where a job is done. */
#include <string.h>

#include "h5/job.h"

/* Elements on this side of which a GPU gains less than it takes to start: its context 0.2 to 0.5 s, kernels that are
 * compiled for several operators or missing elements 0.1 s, against what memory reads faster than cores reduce. */
int64_t ndr_gpu_pays = (int64_t)4 << 30;

static int64_t total_bytes(const ndr_job *job) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(job->dtype);
  for (int d = 0; d < job->dataset->info.ndim; d++) bytes *= job->dataset->info.shape[d];
  return bytes;
}

/* Fails where a GPU is asked for that is not there. */
static ndr_status find_gpus(const ndr_job *job, int *found) {
  char reason[256];
  int count = 0, id = job->options.device == NDR_H5_ALL ? 0 : job->options.device_id;
  ndr_status status = ndr_device_count(kDLCUDA, &count);
  if (status == NDR_OK && (id < 0 || id >= count))
    status = ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device %d: this machine has %d", id, count);
  *found = count < NDR_MOST_GPUS ? count : NDR_MOST_GPUS;
  if (status == NDR_OK) return NDR_OK;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "device cuda:%d cannot be used: %s", id, reason);
}

/* Why AUTO stays on the CPU; NULL where there is a GPU for it. */
static const char *reason_to_stay(const ndr_job *job, int *found) {
  if (job->options.weights) return "weights are applied by the CPU";
  if (total_bytes(job) < ndr_gpu_pays) return "under 4 GiB, a GPU takes longer to start than it saves";
  return find_gpus(job, found) == NDR_OK ? NULL : "no GPU can be used";
}

ndr_status ndr_job_choose_device(ndr_job *job) {
  ndr_h5_device asked = job->options.device;
  int count = 0;
  job->device = (DLDevice){kDLCPU, 0};
  job->why = "asked for";
  switch (asked) {
  case NDR_H5_CPU: return NDR_OK;
  case NDR_H5_AUTO: job->why = job->never_written ? "nothing is read" : reason_to_stay(job, &count); break;
  case NDR_H5_CUDA:
  case NDR_H5_ALL:
    NDR_TRY(find_gpus(job, &count));
    job->why = job->never_written ? "nothing is read" : NULL;
    break;
  default: return ndr_fail(NDR_ERR_ARGUMENT, "unknown device number %d", (int)asked);
  }
  if (job->why) return NDR_OK;
  job->why = asked == NDR_H5_AUTO ? "there is one, and 4 GiB or more to reduce" : "asked for";
  job->device = (DLDevice){kDLCUDA, asked == NDR_H5_ALL ? 0 : job->options.device_id};
  job->gpu_count = asked == NDR_H5_ALL && !job->options.weights ? count : 1;
  return NDR_OK;
}
