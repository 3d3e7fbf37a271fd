/* See uploader.h. Knows nothing of files: slabs are bytes, and results are tensors. */
#include "h5/read/uploader.h"

#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "h5/read/route/gather.h"

static bool is_host(const ndr_uploader *uploader) {
  return uploader->device.device_type == kDLCPU;
}

static ndr_status open_buffers(ndr_uploader *uploader, int64_t slab_bytes, int64_t stored_bytes, int64_t beside_bytes) {
  NDR_TRY(ndr_stream_create(uploader->device, &uploader->stream));
  for (int i = 0; i < uploader->buffer_count; i++) {
    NDR_TRY(ndr_stream_create(uploader->device, &uploader->buffers[i].stream));
    NDR_TRY(ndr_memory_allocate(uploader->device, (size_t)slab_bytes, &uploader->buffers[i].memory));
    if (stored_bytes)
      NDR_TRY(ndr_memory_allocate(uploader->device, (size_t)stored_bytes, &uploader->buffers[i].stored));
    if (beside_bytes)
      NDR_TRY(ndr_memory_allocate(uploader->device, (size_t)beside_bytes, &uploader->buffers[i].beside));
  }
  return NDR_OK;
}

ndr_status ndr_uploader_open(ndr_uploader *uploader, DLDevice device, int64_t slab_bytes, int64_t stored_bytes,
                             int64_t beside_bytes, int buffers) {
  *uploader = (ndr_uploader){.device = device, .buffer_count = 1};
  if (is_host(uploader)) return NDR_OK;
  uploader->buffer_count = buffers;
  return open_buffers(uploader, slab_bytes, stored_bytes, beside_bytes);
}

/* Memory may be freed only once no stream uses it. If one of these waits fails, an earlier call has already reported
 * it. */
void ndr_uploader_close(ndr_uploader *uploader) {
  if (is_host(uploader)) return;
  for (int i = 0; i < NDR_UPLOAD_BUFFERS; i++)
    if (uploader->buffers[i].stream) (void)ndr_stream_wait(uploader->device, uploader->buffers[i].stream);
  if (uploader->stream) (void)ndr_stream_wait(uploader->device, uploader->stream);
  for (int i = 0; i < NDR_UPLOAD_BUFFERS; i++) {
    ndr_memory_free(uploader->device, uploader->buffers[i].memory);
    ndr_memory_free(uploader->device, uploader->buffers[i].stored);
    ndr_memory_free(uploader->device, uploader->buffers[i].beside);
    ndr_stream_destroy(uploader->device, uploader->buffers[i].stream);
  }
  ndr_stream_destroy(uploader->device, uploader->stream);
}

ndr_status ndr_uploader_copy_beside(ndr_uploader *uploader, int64_t place, const void *data, int64_t bytes,
                                    void **there) {
  int buffer = (int)(uploader->queued % uploader->buffer_count);
  char *room = uploader->buffers[buffer].beside;
  *there = room ? room + place : NULL;
  if (bytes == 0) return NDR_OK;
  return ndr_copy(uploader->device, *there, data, (size_t)bytes, uploader->buffers[buffer].stream);
}

ndr_status ndr_uploader_copy(ndr_uploader *uploader, const void *data, int64_t bytes, const ndr_stored *stored,
                             const void **there) {
  int buffer = (int)(uploader->queued % uploader->buffer_count);
  *there = data;
  if (is_host(uploader)) return NDR_OK;
  void *stream = uploader->buffers[buffer].stream, *memory = uploader->buffers[buffer].memory;
  void *first = stored ? uploader->buffers[buffer].stored : memory;
  NDR_TRY(ndr_copy(uploader->device, first, data, (size_t)bytes, stream));
  if (stored) NDR_TRY(ndr_convert_stored(uploader->device, stored, first, memory, stream));
  *there = memory;
  return ndr_stream_follow(uploader->device, uploader->stream, stream);
}

ndr_status ndr_uploader_release(ndr_uploader *uploader) {
  int buffer = (int)(uploader->queued++ % uploader->buffer_count);
  return is_host(uploader) ? NDR_OK
                           : ndr_stream_follow(uploader->device, uploader->buffers[buffer].stream, uploader->stream);
}

ndr_status ndr_uploader_wait_oldest(ndr_uploader *uploader) {
  int buffer = (int)(uploader->completed++ % uploader->buffer_count);
  return is_host(uploader) ? NDR_OK : ndr_stream_wait(uploader->device, uploader->buffers[buffer].stream);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const DLTensor *tensor) {
  size_t bytes = tensor->dtype.bits / 8;
  for (int d = 0; d < tensor->ndim; d++) bytes *= (size_t)tensor->shape[d];
  return bytes;
}

/* Compact elements to where a result's strides say. */
static void spread(const void *compact, const DLTensor *result) {
  ndr_gather gather = {0};
  ndr_dtype dtype;
  int64_t element = result->dtype.bits / 8, from = element, froms[NDR_MAX_DIMS], tos[NDR_MAX_DIMS];
  if (bytes_of(result) == 0 || ndr_dtype_from_dlpack(result->dtype, &dtype) != NDR_OK) return;
  for (int d = result->ndim - 1; d >= 0; d--) {
    froms[d] = from;
    tos[d] = result->strides ? result->strides[d] * element : from;
    from *= result->shape[d];
  }
  for (int d = 0; d < result->ndim; d++) ndr_gather_add(&gather, result->shape[d], froms[d], tos[d]);
  const ndr_unpack as_it_is = NDR_UNPACK_INIT(dtype);
  ndr_gather_run(&gather, &as_it_is, compact, (char *)result->data + (int64_t)result->byte_offset);
}

/* A copy each: nothing writes what lies between them. */
static ndr_status fetch(const ndr_uploader *uploader, const ndr_accumulator *accumulator, DLTensor *const *results,
                        DLTensor *there, int count, void *here) {
  DLTensor *pointers[NDR_MAX_OPS];
  for (int i = 0; i < count; i++) pointers[i] = &there[i];
  NDR_TRY(ndr_accumulator_finish(accumulator, pointers));
  for (int i = 0; i < count; i++)
    NDR_TRY(ndr_copy(uploader->device, (char *)here + there[i].byte_offset,
                     (const char *)there[i].data + there[i].byte_offset, bytes_of(results[i]), uploader->stream));
  NDR_TRY(ndr_stream_wait(uploader->device, uploader->stream));
  for (int i = 0; i < count; i++) spread((const char *)here + (int64_t)there[i].byte_offset, results[i]);
  return NDR_OK;
}

ndr_status ndr_uploader_finish(const ndr_uploader *uploader, const ndr_accumulator *accumulator, int count,
                               DLTensor *const *results) {
  DLTensor there[NDR_MAX_OPS];
  DLDevice pinned = {kDLCUDAHost, uploader->device.device_id};
  void *memory = NULL, *here = NULL;
  size_t bytes = 0;
  if (is_host(uploader) || count < 1) return ndr_accumulator_finish(accumulator, results);
  for (int i = 0; i < count; i++) {
    there[i] = *results[i];
    there[i].device = uploader->device;
    there[i].strides = NULL;
    there[i].byte_offset = bytes;
    bytes += (bytes_of(results[i]) + 255) / 256 * 256;
  }
  NDR_TRY(ndr_memory_allocate(uploader->device, bytes, &memory));
  for (int i = 0; i < count; i++) there[i].data = memory;
  ndr_status status = ndr_memory_allocate(pinned, bytes, &here);
  if (status == NDR_OK) status = fetch(uploader, accumulator, results, there, count, here);
  if (status != NDR_OK) (void)ndr_stream_wait(uploader->device, uploader->stream);
  ndr_memory_free(pinned, here);
  ndr_memory_free(uploader->device, memory);
  return status;
}
