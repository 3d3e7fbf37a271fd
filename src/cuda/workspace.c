#include "cuda/workspace.h"

#include <pthread.h>

#include "cuda/device.h"
#include "family/launch.h"

enum { STREAMS = 32, COUNTER_BYTES = 1 << 20, PARTIAL_BYTES = 4 << 20 };

/* Counters lie below `base + counters`, partial states above: a plan whose counters take c bytes gets base + counters -
 * c. */
typedef struct kept_workspace {
  int device;
  unsigned long long stream_id;
  void *stream;
  char *base;
  size_t counters, partials;
} kept_workspace;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept_workspace kept[STREAMS];
static unsigned next_victim;

ndr_status ndr_cuda_allocate(int id, size_t bytes, void *stream, void **memory) {
  int before;
  *memory = NULL;
  NDR_TRY(ndr_cuda_enter(id, &before));
  cudaError_t error = cudaMallocAsync(memory, bytes ? bytes : 1, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaMallocAsync");
}

void ndr_cuda_release(int id, void *memory, void *stream) {
  int before;
  if (!memory || ndr_cuda_enter(id, &before) != NDR_OK) return;
  (void)cudaFreeAsync(memory, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
}

static bool capturing(void *stream) {
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing((cudaStream_t)stream, &capture) == cudaSuccess && capture != cudaStreamCaptureStatusNone;
}

static ndr_status grow(kept_workspace *w, size_t counters, size_t partials) {
  if (w->base) ndr_cuda_release(w->device, w->base, w->stream);
  w->base = NULL;
  w->counters = counters > COUNTER_BYTES ? counters : COUNTER_BYTES;
  w->partials = partials > PARTIAL_BYTES ? partials : PARTIAL_BYTES;
  void *memory;
  NDR_TRY(ndr_cuda_allocate(w->device, w->counters + w->partials, w->stream, &memory));
  cudaError_t error = cudaMemsetAsync(memory, 0, w->counters, (cudaStream_t)w->stream);
  if (error != cudaSuccess) {
    ndr_cuda_release(w->device, memory, w->stream);
    return ndr_cuda_fail(error, "cudaMemsetAsync");
  }
  w->base = memory;
  return NDR_OK;
}

static kept_workspace *find(int device, void *stream, unsigned long long stream_id) {
  for (int i = 0; i < STREAMS; i++)
    if (kept[i].base && kept[i].device == device && kept[i].stream_id == stream_id) return &kept[i];
  kept_workspace *w = &kept[next_victim++ % STREAMS];
  for (int i = 0; i < STREAMS; i++)
    if (!kept[i].base) w = &kept[i];
  /* cudaFree waits for whatever still uses a workspace whose stream may be gone. */
  if (w->base) (void)cudaFree(w->base);
  *w = (kept_workspace){device, stream_id, stream, NULL, 0, 0};
  return w;
}

ndr_status ndr_cuda_borrow_workspace(const ndr_plan *plan, void *stream, void **memory) {
  size_t counters = ndr_plan_counter_bytes(plan), partials = plan->workspace - counters;
  unsigned long long stream_id;
  int before, id = plan->device.id;
  NDR_TRY(ndr_cuda_enter(id, &before));
  if (capturing(stream)) {
    /* A graph may be replayed beside other work on this stream: it gets memory nodes of its own. */
    ndr_status status = ndr_cuda_allocate(id, plan->workspace, stream, memory);
    if (status == NDR_OK && cudaMemsetAsync(*memory, 0, counters, (cudaStream_t)stream) != cudaSuccess)
      status = ndr_cuda_fail(cudaErrorUnknown, "cudaMemsetAsync in a capture");
    ndr_cuda_leave(id, before);
    return status;
  }
  cudaError_t error = cudaStreamGetId((cudaStream_t)stream, &stream_id);
  ndr_status status = error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaStreamGetId");
  pthread_mutex_lock(&lock);
  if (status == NDR_OK) {
    kept_workspace *w = find(id, stream, stream_id);
    if (!w->base || w->counters < counters || w->partials < partials) status = grow(w, counters, partials);
    if (status == NDR_OK) *memory = w->base + w->counters - counters;
  }
  pthread_mutex_unlock(&lock);
  ndr_cuda_leave(id, before);
  return status;
}

void ndr_cuda_return_workspace(const ndr_plan *plan, void *memory, void *stream) {
  if (capturing(stream)) ndr_cuda_release(plan->device.id, memory, stream);
}
