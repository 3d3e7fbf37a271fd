/* Memory and streams: each call goes to the backend of the device; calls for the host are done here. */
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "api/backends.h"

#define ALIGNMENT 256

/* The size of a huge page, which some systems give only on request: one fault instead of 512, and fewer TLB misses. */
#define HUGE_PAGE ((size_t)2 << 20)

/* Finds the backend's calls; NULL for the host. Fails with NDR_ERR_NO_DEVICE if the build lacks the backend. */
static ndr_status find_calls(DLDevice device, const ndr_device_calls **calls) {
  const ndr_backend *backend;
  NDR_TRY(ndr_backend_find(device.device_type, &backend));
  if (!backend->calls && device.device_id != 0)
    return ndr_fail(NDR_ERR_NO_DEVICE, "there is no CPU device %d: the CPU is device 0", device.device_id);
  *calls = backend->calls;
  return NDR_OK;
}

int ndr_device_supported(DLDeviceType type) {
  const ndr_backend *backend;
  return ndr_backend_find(type, &backend) == NDR_OK;
}

ndr_status ndr_device_count(DLDeviceType type, int *count) {
  const ndr_device_calls *calls;
  int found = 1;
  if (!count) return ndr_fail(NDR_ERR_ARGUMENT, "count is a null pointer");
  NDR_TRY(find_calls((DLDevice){type, 0}, &calls));
  if (calls) NDR_TRY(calls->count(&found));
  *count = found;
  return NDR_OK;
}

/* C11 requires a size that is a multiple of the alignment. Huge pages are used where that leaves less than an eighth of
 * the last one unused; memory behind the last byte is otherwise not touched. */
static void *allocate_here(size_t bytes) {
  size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
  if (bytes > PTRDIFF_MAX - HUGE_PAGE) return NULL;
  void *memory = aligned_alloc(alignment, bytes / alignment * alignment + alignment);
#ifdef MADV_HUGEPAGE
  size_t huge = (bytes + HUGE_PAGE / 8) / HUGE_PAGE * HUGE_PAGE;
  if (memory && bytes >= HUGE_PAGE) (void)madvise(memory, huge, MADV_HUGEPAGE);
#endif
  return memory;
}

ndr_status ndr_memory_allocate(DLDevice device, size_t bytes, void **memory) {
  const ndr_device_calls *calls;
  if (!memory) return ndr_fail(NDR_ERR_ARGUMENT, "memory is a null pointer");
  *memory = NULL;
  NDR_TRY(find_calls(device, &calls));
  if (calls) return calls->allocate(device, bytes, memory);
  *memory = allocate_here(bytes);
  return *memory ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for a buffer of %zu bytes", bytes);
}

void ndr_memory_free(DLDevice device, void *memory) {
  const ndr_device_calls *calls;
  if (!memory || find_calls(device, &calls) != NDR_OK) return;
  if (calls)
    calls->free(device, memory);
  else
    free(memory);
}

ndr_status ndr_stream_create(DLDevice device, void **stream) {
  const ndr_device_calls *calls;
  if (!stream) return ndr_fail(NDR_ERR_ARGUMENT, "stream is a null pointer");
  *stream = NULL;
  NDR_TRY(find_calls(device, &calls));
  return calls ? calls->create_stream(device.device_id, stream) : NDR_OK;
}

void ndr_stream_destroy(DLDevice device, void *stream) {
  const ndr_device_calls *calls;
  if (stream && find_calls(device, &calls) == NDR_OK && calls) calls->destroy_stream(device.device_id, stream);
}

ndr_status ndr_stream_follow(DLDevice device, void *stream, void *leader) {
  const ndr_device_calls *calls;
  NDR_TRY(find_calls(device, &calls));
  return calls ? calls->follow(device.device_id, stream, device.device_id, leader) : NDR_OK;
}

ndr_status ndr_stream_wait(DLDevice device, void *stream) {
  const ndr_device_calls *calls;
  NDR_TRY(find_calls(device, &calls));
  return calls ? calls->wait(device.device_id, stream) : NDR_OK;
}

ndr_status ndr_copy(DLDevice device, void *to, const void *from, size_t bytes, void *stream) {
  const ndr_device_calls *calls;
  if (bytes > 0 && (!to || !from)) return ndr_fail(NDR_ERR_ARGUMENT, "copying needs two places");
  NDR_TRY(find_calls(device, &calls));
  if (calls) return calls->copy(device.device_id, to, from, bytes, stream);
  if (bytes > 0) memmove(to, from, bytes);
  return NDR_OK;
}
