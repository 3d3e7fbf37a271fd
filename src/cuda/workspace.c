/* Device memory, and workspaces that are kept for streams. A stream that is being captured gets memory of its own. */
#include "cuda/workspace.h"

#include <pthread.h>

#include "cuda/device.h"
#include "gpuplan/launch.h"

enum { STREAMS = 32, LEAST_BYTES = 8 << 20 };

/* All bytes are 0 before and after each launch. */
typedef struct kept_workspace {
  int device;
  unsigned long long stream_id;
  void *stream;
  char *base;
  size_t bytes;
  int holders; /* executes that borrowed it and may not be queued yet; while there are any, it must not be freed */
  bool dirty;  /* an execute of which only some was queued has left bytes that are not 0: nobody else may have it */
} kept_workspace;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept_workspace kept[STREAMS];
static unsigned next_victim;

/* ---- A pool ----------------------------------------------------------------------------------------------------- */

enum { MOST_DEVICES = 64 };

/* What each device keeps of freed memory for later calls. A device's default pool, which belongs to the program, keeps
 * nothing beyond the next wait, and to map memory anew takes as long as reading some hundred MB. */
static const uint64_t kept_in_pool = (uint64_t)64 << 20;

static cudaMemPool_t pools[MOST_DEVICES];
static bool shown[MOST_DEVICES][MOST_DEVICES]; /* [device][reader] */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t make_pool(int id, cudaMemPool_t *pool) {
  uint64_t threshold = kept_in_pool;
  const struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                              .location = {.type = cudaMemLocationTypeDevice, .id = id}};
  *pool = NULL;
  cudaError_t error = cudaMemPoolCreate(pool, &properties);
  if (error != cudaSuccess) return error;
  error = cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  if (error == cudaSuccess) return cudaSuccess;
  (void)cudaMemPoolDestroy(*pool);
  *pool = NULL;
  return error;
}

static cudaError_t find_pool(int id, cudaMemPool_t *pool) {
  cudaError_t error = cudaSuccess;
  pthread_mutex_lock(&making);
  if (!pools[id]) error = make_pool(id, &pools[id]);
  *pool = pools[id];
  pthread_mutex_unlock(&making);
  return error;
}

/* Where a device cannot read another's memory, copies go by the host: nothing has failed. */
static void show_pool(int id, int reader) {
  const struct cudaMemAccessDesc access = {.location = {.type = cudaMemLocationTypeDevice, .id = reader},
                                           .flags = cudaMemAccessFlagsProtReadWrite};
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, reader, id) != cudaSuccess ||
      (can && cudaMemPoolSetAccess(pools[id], &access, 1) != cudaSuccess))
    (void)cudaGetLastError();
}

void ndr_cuda_show_pool(int id, int reader) {
  if (id == reader || id < 0 || id >= MOST_DEVICES || reader < 0 || reader >= MOST_DEVICES) return;
  pthread_mutex_lock(&making);
  if (pools[id] && !shown[id][reader]) {
    show_pool(id, reader);
    shown[id][reader] = true;
  }
  pthread_mutex_unlock(&making);
}

static cudaError_t allocate_from_pool(int id, size_t bytes, void *stream, void **memory) {
  cudaMemPool_t pool;
  if (id < 0 || id >= MOST_DEVICES) return cudaErrorInvalidDevice;
  cudaError_t error = find_pool(id, &pool);
  return error == cudaSuccess ? cudaMallocFromPoolAsync(memory, bytes ? bytes : 1, pool, (cudaStream_t)stream) : error;
}

ndr_status ndr_cuda_allocate(int id, size_t bytes, void *stream, void **memory) {
  int before;
  *memory = NULL;
  NDR_TRY(ndr_cuda_enter(id, &before));
  cudaError_t error = allocate_from_pool(id, bytes, stream, memory);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "allocating device memory");
}

void ndr_cuda_release(int id, void *memory, void *stream) {
  int before = id;
  if (!memory) return;
  (void)ndr_cuda_enter(id, &before); /* the memory is freed even if this fails */
  (void)cudaFreeAsync(memory, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
}

/* ---- Workspaces ------------------------------------------------------------------------------------------------- */

static bool capturing(void *stream) {
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing((cudaStream_t)stream, &capture) == cudaSuccess && capture != cudaStreamCaptureStatusNone;
}

static ndr_status grow(kept_workspace *w, size_t bytes) {
  if (w->base) ndr_cuda_release(w->device, w->base, w->stream);
  w->base = NULL;
  w->bytes = bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
  void *memory;
  NDR_TRY(ndr_cuda_allocate(w->device, w->bytes, w->stream, &memory));
  cudaError_t error = cudaMemsetAsync(memory, 0, w->bytes, (cudaStream_t)w->stream);
  if (error != cudaSuccess) {
    ndr_cuda_release(w->device, memory, w->stream);
    return ndr_cuda_fail(error, "cudaMemsetAsync");
  }
  w->base = memory;
  return NDR_OK;
}

/* The stream may be gone, so that nothing can be queued behind its last use of the workspace; and cudaFree does not
 * wait for the users of memory of a pool. */
static void evict(const kept_workspace *w) {
  int before = w->device;
  (void)ndr_cuda_enter(w->device, &before);
  (void)cudaDeviceSynchronize();
  (void)cudaFree(w->base);
  ndr_cuda_leave(w->device, before);
}

/* The workspace of the stream, or an entry that it may have; NULL if all entries are held. */
static kept_workspace *find(int device, void *stream, unsigned long long stream_id) {
  kept_workspace *w = NULL;
  for (int i = 0; i < STREAMS; i++)
    if (kept[i].base && kept[i].device == device && kept[i].stream_id == stream_id) return &kept[i];
  for (int i = 0; i < STREAMS && !w; i++)
    if (!kept[i].base) w = &kept[i];
  for (int i = 0; i < STREAMS && !w; i++)
    if (!kept[next_victim++ % STREAMS].holders) w = &kept[(next_victim - 1) % STREAMS];
  if (!w) return NULL;
  if (w->base) evict(w);
  *w = (kept_workspace){.device = device, .stream_id = stream_id, .stream = stream};
  return w;
}

ndr_status ndr_cuda_clear_workspace(const ndr_plan *plan, void *memory, void *stream) {
  int before;
  if (plan->workspace == 0) return NDR_OK;
  NDR_TRY(ndr_cuda_enter(plan->device.id, &before));
  cudaError_t error = cudaMemsetAsync(memory, 0, plan->workspace, (cudaStream_t)stream);
  ndr_cuda_leave(plan->device.id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaMemsetAsync");
}

/* Allocates memory for one execute. A captured graph gets nodes for that: it may be replayed beside other work on the
 * stream. */
static ndr_status lend_new(int id, size_t bytes, void *stream, void **memory) {
  NDR_TRY(ndr_cuda_allocate(id, bytes, stream, memory));
  cudaError_t error = cudaMemsetAsync(*memory, 0, bytes, (cudaStream_t)stream);
  if (error == cudaSuccess) return NDR_OK;
  ndr_cuda_release(id, *memory, stream);
  *memory = NULL;
  return ndr_cuda_fail(error, "cudaMemsetAsync");
}

static ndr_status lend_kept(int id, size_t bytes, void *stream, void **memory) {
  unsigned long long stream_id;
  NDR_CUDA(cudaStreamGetId((cudaStream_t)stream, &stream_id));
  pthread_mutex_lock(&lock);
  kept_workspace *w = find(id, stream, stream_id);
  bool fits = w && w->base && !w->dirty && w->bytes >= bytes;
  ndr_status status = NDR_OK;
  if (w && !fits && !w->holders) {
    status = grow(w, bytes);
    fits = status == NDR_OK;
  }
  if (fits) {
    w->holders++;
    *memory = w->base;
  }
  pthread_mutex_unlock(&lock);
  return fits || status != NDR_OK ? status : lend_new(id, bytes, stream, memory);
}

ndr_status ndr_cuda_lend(int id, size_t bytes, void *stream, void **memory) {
  int before;
  *memory = NULL;
  NDR_TRY(ndr_cuda_enter(id, &before));
  ndr_status status = capturing(stream) ? lend_new(id, bytes, stream, memory) : lend_kept(id, bytes, stream, memory);
  ndr_cuda_leave(id, before);
  return status;
}

void ndr_cuda_take_back(int id, void *memory, bool clean, void *stream) {
  const char *start = memory;
  bool is_kept = false;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS; i++) {
    if (!kept[i].base || start != kept[i].base) continue;
    kept[i].dirty = kept[i].dirty || !clean;
    is_kept = --kept[i].holders > 0 || !kept[i].dirty;
    if (!is_kept) kept[i] = (kept_workspace){.base = NULL};
    break;
  }
  pthread_mutex_unlock(&lock);
  if (!is_kept) ndr_cuda_release(id, memory, stream);
}

ndr_status ndr_cuda_borrow_workspace(const ndr_plan *plan, void *stream, void **memory) {
  return ndr_cuda_lend(plan->device.id, plan->workspace, stream, memory);
}

void ndr_cuda_return_workspace(const ndr_plan *plan, void *memory, bool clean, void *stream) {
  ndr_cuda_take_back(plan->device.id, memory, clean, stream);
}

void ndr_cuda_drop_workspace(int id, void *stream) {
  unsigned long long stream_id;
  if (cudaStreamGetId((cudaStream_t)stream, &stream_id) != cudaSuccess) return;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS; i++) {
    kept_workspace *w = &kept[i];
    if (!w->base || w->device != id || w->stream_id != stream_id || w->holders) continue;
    ndr_cuda_release(id, w->base, stream);
    *w = (kept_workspace){.base = NULL};
  }
  pthread_mutex_unlock(&lock);
}
