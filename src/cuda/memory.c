/* Memory, streams and copies of GPUs. Keeps freed pinned memory for later calls. Workspaces are in workspace.c. */
#include "cuda/memory.h"

#include <pthread.h>

#include "cuda/convert.h"
#include "cuda/device.h"
#include "cuda/workspace.h"

/* ---- Pinned memory ---------------------------------------------------------------------------------------------- */

/* Pinning takes 0.1 to 0.3 s for each GiB, as long as reading that much. Blocks that are freed are kept for later
 * calls. */
enum { BLOCKS = 32 };
static const size_t most_kept = (size_t)256 << 20;

typedef struct pinned_block {
  void *memory; /* NULL: an empty place */
  size_t bytes;
  bool lent;
} pinned_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pinned_block blocks[BLOCKS];

static size_t kept_bytes(void) {
  size_t bytes = 0;
  for (int i = 0; i < BLOCKS; i++)
    if (blocks[i].memory && !blocks[i].lent) bytes += blocks[i].bytes;
  return bytes;
}

/* The smallest kept block of at least `bytes` bytes and less than twice as many; NULL if there is none. */
static pinned_block *find_kept(size_t bytes) {
  pinned_block *best = NULL;
  for (int i = 0; i < BLOCKS; i++) {
    pinned_block *b = &blocks[i];
    bool fits = b->memory && !b->lent && b->bytes >= bytes && b->bytes / 2 <= bytes;
    if (fits && (!best || b->bytes < best->bytes)) best = b;
  }
  return best;
}

static void drop(pinned_block *b) {
  (void)cudaFreeHost(b->memory);
  *b = (pinned_block){NULL, 0, false};
}

static void drop_kept(void) {
  for (int i = 0; i < BLOCKS; i++)
    if (blocks[i].memory && !blocks[i].lent) drop(&blocks[i]);
}

static pinned_block *find_place(void) {
  for (int i = 0; i < BLOCKS; i++)
    if (!blocks[i].memory) return &blocks[i];
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].lent) continue;
    drop(&blocks[i]);
    return &blocks[i];
  }
  return NULL;
}

static ndr_status pin(size_t bytes, void **memory) {
  pinned_block *b = find_kept(bytes);
  if (!b) {
    cudaError_t error = cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      drop_kept();
      error = cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
    }
    if (error != cudaSuccess) return ndr_cuda_fail(error, "cudaHostAlloc");
    b = find_place();
    if (!b) return NDR_OK; /* freed as soon as it is given back */
    *b = (pinned_block){*memory, bytes, true};
  }
  b->lent = true;
  *memory = b->memory;
  return NDR_OK;
}

static void unpin(void *memory) {
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].memory != memory) continue;
    if (kept_bytes() + blocks[i].bytes > most_kept)
      drop(&blocks[i]);
    else
      blocks[i].lent = false;
    return;
  }
  (void)cudaFreeHost(memory);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static ndr_status count_devices(int *count) {
  NDR_CUDA(cudaGetDeviceCount(count));
  return *count > 0 ? NDR_OK : ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device: this machine has none");
}

static ndr_status allocate(DLDevice device, size_t bytes, void **memory) {
  int before;
  ndr_status status;
  *memory = NULL;
  NDR_TRY(ndr_cuda_enter(device.device_id, &before));
  if (bytes == 0) bytes = 1;
  if (device.device_type == kDLCUDAHost) {
    pthread_mutex_lock(&lock);
    status = pin(bytes, memory);
    pthread_mutex_unlock(&lock);
  } else {
    cudaError_t error = cudaMalloc(memory, bytes);
    status = error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaMalloc");
  }
  ndr_cuda_leave(device.device_id, before);
  if (status != NDR_OK) *memory = NULL;
  return status;
}

static void release(DLDevice device, void *memory) {
  int before = device.device_id;
  if (!memory) return;
  (void)ndr_cuda_enter(device.device_id, &before); /* the memory is freed even if this fails */
  if (device.device_type == kDLCUDAHost) {
    pthread_mutex_lock(&lock);
    unpin(memory);
    pthread_mutex_unlock(&lock);
  } else {
    (void)cudaFree(memory);
  }
  ndr_cuda_leave(device.device_id, before);
}

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

static ndr_status create_stream(int id, void **stream) {
  cudaStream_t made = NULL;
  int before;
  *stream = NULL;
  NDR_TRY(ndr_cuda_enter(id, &before));
  cudaError_t error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
  ndr_cuda_leave(id, before);
  if (error != cudaSuccess) return ndr_cuda_fail(error, "cudaStreamCreateWithFlags");
  *stream = made;
  return NDR_OK;
}

static void destroy_stream(int id, void *stream) {
  int before = id;
  if (!stream) return;
  (void)ndr_cuda_enter(id, &before);
  ndr_cuda_drop_workspace(id, stream);
  (void)cudaStreamDestroy((cudaStream_t)stream);
  ndr_cuda_leave(id, before);
}

/* To be called with the leader's device as the current one, which it may change: NULL is the default stream of
 * whichever device is current, and an event belongs to that device. The event may be destroyed at once; the stream
 * still waits for the work that it recorded. */
static cudaError_t order(int id, cudaStream_t stream, cudaStream_t leader) {
  cudaEvent_t event;
  cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error != cudaSuccess) return error;
  error = cudaEventRecord(event, leader);
  if (error == cudaSuccess) error = cudaSetDevice(id);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, event, 0);
  (void)cudaEventDestroy(event);
  return error;
}

static ndr_status follow(int id, void *stream, int leader_id, void *leader) {
  int before;
  NDR_TRY(ndr_cuda_enter(leader_id, &before));
  cudaError_t error = order(id, (cudaStream_t)stream, (cudaStream_t)leader);
  (void)cudaSetDevice(before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "ordering two streams");
}

static ndr_status wait(int id, void *stream) {
  int before;
  NDR_TRY(ndr_cuda_enter(id, &before));
  cudaError_t error = cudaStreamSynchronize((cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaStreamSynchronize");
}

static ndr_status copy(int id, void *to, const void *from, size_t bytes, void *stream) {
  int before;
  if (bytes == 0) return NDR_OK;
  NDR_TRY(ndr_cuda_enter(id, &before));
  cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaMemcpyAsync");
}

/* Only the copy that names both devices accepts memory of their pools. */
static ndr_status copy_from(int id, void *to, int from_id, const void *from, size_t bytes, void *stream) {
  int before;
  NDR_TRY(ndr_cuda_enter(id, &before));
  ndr_cuda_show_pool(from_id, id);
  cudaError_t error = cudaMemcpyPeerAsync(to, id, from, from_id, bytes, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaMemcpyPeerAsync");
}

const ndr_device_calls ndr_cuda_calls = {
    .count = count_devices,
    .allocate = allocate,
    .free = release,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .follow = follow,
    .wait = wait,
    .copy = copy,
    .copy_from = copy_from,
    .convert = ndr_cuda_convert,
};
