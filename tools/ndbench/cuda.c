/* Timing on a GPU: events around calls on the default stream, the caches emptied before each. */
#include "ndbench/cuda.h"

#include <cuda_runtime_api.h>
#include <string.h>
#include <time.h>

#include "ndbench/ndbench.h"
#include "ndreduce/device.h"

/* Empties the second-level cache: by reading, as lines that were written would have to go back to memory first, while
 * the clock runs. */
typedef struct gpu {
  struct cudaDeviceProp properties;
  void *other_data;
  size_t other_bytes;
  void *sink;
  cudaEvent_t start, stop;
} gpu;

static gpu it;

static const char *open_cuda(const bench_options *options) {
  static char reason[200];
  int count;
  (void)options;
  if (it.stop) return NULL;
  if (ndr_device_count(kDLCUDA, &count) != NDR_OK) return ndr_last_error();
  int least = 64 << 20;
  cudaError_t error = cudaGetDeviceProperties(&it.properties, 0);
  it.other_bytes = (size_t)it.properties.l2CacheSize * 4;
  if (it.other_bytes < (size_t)least) it.other_bytes = (size_t)least;
  if (error == cudaSuccess) error = cudaMalloc(&it.other_data, it.other_bytes);
  if (error == cudaSuccess) error = cudaMemset(it.other_data, 0, it.other_bytes);
  if (error == cudaSuccess) error = cudaMalloc(&it.sink, 4);
  if (error == cudaSuccess) error = cudaEventCreate(&it.start);
  if (error == cudaSuccess) error = cudaEventCreate(&it.stop);
  if (error == cudaSuccess) return NULL;
  snprintf(reason, sizeof reason, "the GPU cannot be used: %s", cudaGetErrorString(error));
  return reason;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...": the first word of digits and dots. */
static void driver_text(char *text, size_t capacity) {
  char line[256] = "";
  int version = 0;
  FILE *facts = fopen("/proc/driver/nvidia/version", "r");
  if (facts && !fgets(line, sizeof line, facts)) line[0] = 0;
  if (facts) fclose(facts);
  for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n")) {
    if (!strchr(word, '.') || word[strspn(word, "0123456789.")]) continue;
    snprintf(text, capacity, "%s", word);
    return;
  }
  (void)cudaDriverGetVersion(&version);
  snprintf(text, capacity, "for CUDA %d.%d", version / 1000, version % 1000 / 10);
}

static bool fact(int i, const char **name, char *text, size_t capacity) {
  int version = 0;
  switch (i) {
  case 0:
    *name = "gpu";
    snprintf(text, capacity, "%s", it.properties.name);
    return true;
  case 1:
    *name = "driver";
    driver_text(text, capacity);
    return true;
  case 2:
    *name = "cuda";
    (void)cudaRuntimeGetVersion(&version);
    snprintf(text, capacity, "%d.%d", version / 1000, version % 1000 / 10);
    return true;
  default: return false;
  }
}

static void *place_data(void *host, size_t bytes) {
  void *placed = NULL;
  if (cudaMalloc(&placed, bytes ? bytes : 1) != cudaSuccess) {
    (void)cudaGetLastError();
    return NULL;
  }
  if (cudaMemcpy(placed, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess) return placed;
  (void)cudaFree(placed);
  return NULL;
}

static void drop_data(void *placed, void *host) {
  (void)host;
  (void)cudaFree(placed);
}

static void fetch(void *host, const void *placed, size_t bytes) {
  (void)cudaMemcpy(host, placed, bytes, cudaMemcpyDeviceToHost);
}

/* The call is queued while the GPU still reads other data: what the host needs for it does not show. */
static double sample(bool (*call)(void *context), void *context, int64_t batch) {
  float milliseconds = 0;
  bool fine = ndbench_read(5, it.other_data, it.other_bytes, it.sink, NULL) == cudaSuccess &&
              cudaEventRecord(it.start, NULL) == cudaSuccess;
  for (int64_t i = 0; fine && i < batch; i++) fine = call(context);
  fine = fine && cudaEventRecord(it.stop, NULL) == cudaSuccess && cudaEventSynchronize(it.stop) == cudaSuccess &&
         cudaEventElapsedTime(&milliseconds, it.start, it.stop) == cudaSuccess;
  return fine ? 1e-3 * (double)milliseconds / (double)batch : -1;
}

typedef struct reading {
  const void *placed;
  size_t bytes;
  int loop;
} reading;

static bool read_call(void *context) {
  const reading *r = context;
  return ndbench_read(r->loop, r->placed, r->bytes, it.sink, NULL) == cudaSuccess;
}

static double read_once(const bench_options *options, const void *placed, size_t bytes, int loop) {
  reading r = {placed, bytes / 16 * 16, loop};
  (void)options;
  return bytes < 16 ? -1 : sample(read_call, &r, 1);
}

static bool alternate_call(void *context) {
  const reading *r = context;
  return ndbench_read_alternate(r->placed, r->bytes, it.sink, NULL) == cudaSuccess;
}

static double read_alternate(const void *placed, size_t bytes) {
  reading r = {placed, bytes, 0};
  return sample(alternate_call, &r, 1);
}

typedef struct copying {
  void *to;
  const void *from;
  size_t bytes;
} copying;

static bool copy_call(void *context) {
  const copying *c = context;
  return cudaMemcpyAsync(c->to, c->from, c->bytes, cudaMemcpyDeviceToDevice, NULL) == cudaSuccess;
}

static double copy_once(const bench_options *options, void *to, const void *from, size_t bytes, int loop) {
  copying c = {to, from, bytes};
  (void)options;
  return loop > 0 ? -1 : sample(copy_call, &c, 1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double back_to_back(bool (*call)(void *context), void *context) {
  enum { WARM = 20, CALLS = 1000 };
  for (int i = 0; i < WARM; i++)
    if (!call(context)) return -1;
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  double start = now();
  for (int i = 0; i < CALLS; i++)
    if (!call(context)) return -1;
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  return (now() - start) / CALLS;
}

/* ---- CUB ---- */

static struct {
  const bench_job *job;
  int64_t segments, length;
  void *workspace;
  size_t workspace_bytes;
} cub;

/* The kept dims in front, the reduced ones behind. */
static bool is_segmented(const ndr_problem *reduction) {
  bool reduced[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < reduction->dim_count; i++)
    reduced[reduction->dims[i] < 0 ? reduction->dims[i] + reduction->ndim : reduction->dims[i]] = true;
  for (int d = 1; d < reduction->ndim; d++)
    if (reduced[d - 1] && !reduced[d] && reduction->shape[d] != 1 && reduction->shape[d - 1] != 1) return false;
  return true;
}

static bool cub_call(void *context) {
  (void)context;
  return ndbench_cub(cub.job->reduction->ops[0], cub.job->reduction->dtype, cub.job->data, cub.job->result,
                     cub.segments, cub.length, cub.workspace, &cub.workspace_bytes, NULL) == cudaSuccess;
}

static bool cub_take(const bench_job *job) {
  int64_t elements = 1;
  if (!is_segmented(job->reduction)) return false;
  for (int d = 0; d < job->reduction->ndim; d++) elements *= job->reduction->shape[d];
  cub.job = job;
  cub.segments = job->outputs;
  cub.length = elements / job->outputs;
  cub.workspace = NULL;
  cub.workspace_bytes = 0;
  return cub_call(NULL) && cudaMalloc(&cub.workspace, cub.workspace_bytes ? cub.workspace_bytes : 1) == cudaSuccess;
}

static void cub_leave(void) {
  (void)cudaFree(cub.workspace);
}

const bench_peer bench_cub = {"cub", cub_take, cub_call, cub_leave};

static const bench_peer *const peers[] = {&bench_cub, &bench_cublas, NULL};

const bench_device bench_cuda = {.name = "cuda",
                                 .place = {kDLCUDA, 0},
                                 .by_median = true,
                                 .most_batch = 1,
                                 .line = 32,
                                 .cold = true,
                                 .open = open_cuda,
                                 .fact = fact,
                                 .place_data = place_data,
                                 .drop_data = drop_data,
                                 .fetch = fetch,
                                 .sample = sample,
                                 .read = read_once,
                                 .read_alternate = read_alternate,
                                 .copy = copy_once,
                                 .back_to_back = back_to_back,
                                 .peers = peers};
