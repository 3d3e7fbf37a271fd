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
static ndr_status find_gpu(const ndr_job *job) {
  char reason[256];
  int count, id = job->options.device_id;
  ndr_status status = ndr_device_count(kDLCUDA, &count);
  if (status == NDR_OK && (id < 0 || id >= count))
    status = ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device %d: this machine has %d", id, count);
  if (status == NDR_OK) return NDR_OK;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "device cuda:%d cannot be used: %s", id, reason);
}

ndr_status ndr_job_choose_device(ndr_job *job) {
  ndr_h5_device asked = job->options.device;
  job->device = (DLDevice){kDLCPU, 0};
  job->why = "asked for";
  if (asked != NDR_H5_AUTO && asked != NDR_H5_CPU && asked != NDR_H5_CUDA)
    return ndr_fail(NDR_ERR_ARGUMENT, "unknown device number %d", (int)asked);
  if (asked == NDR_H5_CPU) return NDR_OK;
  if (asked == NDR_H5_CUDA) NDR_TRY(find_gpu(job));
  if (job->never_written) return job->why = "nothing is read", NDR_OK;
  if (asked == NDR_H5_AUTO && job->options.weights) return job->why = "weights are applied by the CPU", NDR_OK;
  if (asked == NDR_H5_AUTO && total_bytes(job) < ndr_gpu_pays)
    return job->why = "under 4 GiB, a GPU takes longer to start than it saves", NDR_OK;
  if (asked == NDR_H5_AUTO && find_gpu(job) != NDR_OK) return job->why = "no GPU can be used", NDR_OK;
  if (asked == NDR_H5_AUTO) job->why = "there is one, and 4 GiB or more to read";
  job->device = (DLDevice){kDLCUDA, job->options.device_id};
  return NDR_OK;
}
