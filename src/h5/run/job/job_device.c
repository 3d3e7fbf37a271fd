/* Chooses the device of a job. What the device then does is in reduce.c. */
#include <string.h>

#include "h5/ranks/job_parts.h"
#include "ndreduce/device.h"

/* GiB of elements from which on a GPU saves more than it takes to start, by data/bench/h5-gpu.json (an H200 beside 16
 * threads; tests/check_gpu_pays.py holds these two against it). To start takes 0.33 s on a machine with one GPU and
 * 0.62 s on one with two, the CPU 0.01 s; these are for something between. Contiguous data, from the page cache, take
 * 0.063 s a GiB on the cores and 0.025 s beside a GPU, which so saves 0.038 s; deflated data 0.37 and 0.19 s, although
 * inflating takes the cores as long on either. With fewer cores reading is slower on both, and what a GPU takes off
 * them about the same: on two, whole runs take 0.035 s a GiB more than reading alone (h5.json). */
#define PLAIN_GIB 12
#define FILTERED_GIB 3

#define TEXT_OF(number) #number
#define GIB_TEXT(number) TEXT_OF(number) " GiB"

int64_t ndr_gpu_pays = -1;

static int64_t total_bytes(const ndr_job *job) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(job->problem.dtype);
  for (int d = 0; d < job->dataset->info.ndim; d++) bytes *= job->dataset->info.shape[d];
  return bytes;
}

/* Deals a machine's GPUs to its ranks: an equal share to each, or, where there are more ranks, each GPU to several. */
static void take_share(const ndr_comm *comm, int count, ndr_job *job) {
  int ranks = comm ? comm->node_ranks : 1, rank = comm ? comm->node_rank : 0;
  int first = ranks < count ? (int)((int64_t)count * rank / ranks) : rank % count;
  int end = ranks < count ? (int)((int64_t)count * (rank + 1) / ranks) : first + 1;
  job->device.device_id = first;
  job->gpu_count = end - first;
}

/* Fails where the options name a GPU that is not there. */
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

static bool is_filtered(const ndr_job *job) {
  return job->dataset->info.filters[0] != 0;
}

static bool pays(const ndr_job *job) {
  int64_t least = (int64_t)(is_filtered(job) ? FILTERED_GIB : PLAIN_GIB) << 30;
  return total_bytes(job) >= (ndr_gpu_pays < 0 ? least : ndr_gpu_pays);
}

static const char *reason_to_go(const ndr_job *job) {
  return is_filtered(job) ? "there is one, and " GIB_TEXT(FILTERED_GIB) " or more of filtered data"
                          : "there is one, and " GIB_TEXT(PLAIN_GIB) " or more to reduce";
}

/* Why AUTO stays on the CPU; NULL where there is a GPU for it. To look for one takes a while. */
static const char *reason_to_stay(ndr_job *job, int *found) {
  if (!ndr_device_supported(kDLCUDA)) return "this build has no CUDA backend";
  if (!pays(job))
    return is_filtered(job)
               ? "under " GIB_TEXT(FILTERED_GIB) " of filtered data, a GPU takes longer to start than it saves"
               : "under " GIB_TEXT(PLAIN_GIB) ", a GPU takes longer to start than it saves";
  if (find_gpus(job, found) == NDR_OK) return NULL;
  snprintf(job->reason, sizeof job->reason, "%s", ndr_last_error());
  return job->reason;
}

ndr_status ndr_job_choose_device(ndr_job *job) {
  ndr_h5_device wanted = job->options.device;
  const char *asked = job->why ? job->why : "asked for";
  int count = 0;
  job->device = (DLDevice){kDLCPU, 0};
  job->why = asked;
  if (job->running) {
    job->why = "files are scanned by the CPU";
    return NDR_OK;
  }
  switch (wanted) {
  case NDR_H5_CPU: return NDR_OK;
  case NDR_H5_AUTO: job->why = job->never_written ? "nothing is read" : reason_to_stay(job, &count); break;
  case NDR_H5_CUDA:
  case NDR_H5_ALL:
    NDR_TRY(find_gpus(job, &count));
    job->why = job->never_written ? "nothing is read" : NULL;
    break;
  default: return ndr_fail(NDR_ERR_ARGUMENT, "unknown device number %d", (int)wanted);
  }
  if (job->why) return NDR_OK;
  job->why = wanted == NDR_H5_AUTO ? reason_to_go(job) : asked;
  job->device = (DLDevice){kDLCUDA, job->options.device_id};
  job->gpu_count = 1;
  if (wanted == NDR_H5_ALL) take_share(job->options.comm, count, job);
  return NDR_OK;
}
