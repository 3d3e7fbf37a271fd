#include "h5/carry.h"

#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "h5/gather.h"

static bool is_host(const ndr_carrier *carrier) {
  return carrier->device.device_type == kDLCPU;
}

static ndr_status open_lanes(ndr_carrier *carrier, int64_t slab_bytes, int64_t stored_bytes) {
  NDR_TRY(ndr_stream_create(carrier->device, &carrier->stream));
  for (int i = 0; i < carrier->lane_count; i++) {
    NDR_TRY(ndr_stream_create(carrier->device, &carrier->lanes[i].stream));
    NDR_TRY(ndr_memory_allocate(carrier->device, (size_t)slab_bytes, &carrier->lanes[i].memory));
    if (stored_bytes) NDR_TRY(ndr_memory_allocate(carrier->device, (size_t)stored_bytes, &carrier->lanes[i].stored));
  }
  return NDR_OK;
}

ndr_status ndr_carrier_open(ndr_carrier *carrier, DLDevice device, int64_t slab_bytes, int64_t stored_bytes,
                            int lanes) {
  *carrier = (ndr_carrier){.device = device, .lane_count = 1};
  if (is_host(carrier)) return NDR_OK;
  carrier->lane_count = lanes;
  return open_lanes(carrier, slab_bytes, stored_bytes);
}

/* Memory may be freed only when nothing on any stream uses it any more; what these waits fail with was said before. */
void ndr_carrier_close(ndr_carrier *carrier) {
  if (is_host(carrier)) return;
  for (int i = 0; i < NDR_LANES; i++)
    if (carrier->lanes[i].stream) (void)ndr_stream_wait(carrier->device, carrier->lanes[i].stream);
  if (carrier->stream) (void)ndr_stream_wait(carrier->device, carrier->stream);
  for (int i = 0; i < NDR_LANES; i++) {
    ndr_memory_free(carrier->device, carrier->lanes[i].memory);
    ndr_memory_free(carrier->device, carrier->lanes[i].stored);
    ndr_stream_destroy(carrier->device, carrier->lanes[i].stream);
  }
  ndr_stream_destroy(carrier->device, carrier->stream);
}

ndr_status ndr_carrier_bring(ndr_carrier *carrier, const void *data, int64_t bytes, const ndr_stored *stored,
                             const void **there) {
  int lane = (int)(carrier->sent % carrier->lane_count);
  *there = data;
  if (is_host(carrier)) return NDR_OK;
  void *stream = carrier->lanes[lane].stream, *memory = carrier->lanes[lane].memory;
  void *first = stored ? carrier->lanes[lane].stored : memory;
  NDR_TRY(ndr_copy(carrier->device, first, data, (size_t)bytes, stream));
  if (stored) NDR_TRY(ndr_convert_stored(carrier->device, stored, first, memory, stream));
  *there = memory;
  return ndr_stream_follow(carrier->device, carrier->stream, stream);
}

ndr_status ndr_carrier_send(ndr_carrier *carrier) {
  int lane = (int)(carrier->sent++ % carrier->lane_count);
  return is_host(carrier) ? NDR_OK : ndr_stream_follow(carrier->device, carrier->lanes[lane].stream, carrier->stream);
}

ndr_status ndr_carrier_settle(ndr_carrier *carrier) {
  int lane = (int)(carrier->settled++ % carrier->lane_count);
  return is_host(carrier) ? NDR_OK : ndr_stream_wait(carrier->device, carrier->lanes[lane].stream);
}

ndr_status ndr_carrier_wait(const ndr_carrier *carrier) {
  return is_host(carrier) ? NDR_OK : ndr_stream_wait(carrier->device, carrier->stream);
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

static ndr_status fetch(const ndr_carrier *carrier, const ndr_accumulator *accumulator, DLTensor *const *results,
                        DLTensor *there, int count, void *here, size_t bytes) {
  DLTensor *pointers[NDR_MAX_OPS];
  for (int i = 0; i < count; i++) pointers[i] = &there[i];
  NDR_TRY(ndr_accumulator_finish(accumulator, pointers));
  NDR_TRY(ndr_copy(carrier->device, here, there[0].data, bytes, carrier->stream));
  NDR_TRY(ndr_stream_wait(carrier->device, carrier->stream));
  for (int i = 0; i < count; i++) spread((const char *)here + (int64_t)there[i].byte_offset, results[i]);
  return NDR_OK;
}

ndr_status ndr_carrier_finish(const ndr_carrier *carrier, const ndr_accumulator *accumulator, int count,
                              DLTensor *const *results) {
  DLTensor there[NDR_MAX_OPS];
  DLDevice pinned = {kDLCUDAHost, carrier->device.device_id};
  void *memory = NULL, *here = NULL;
  size_t bytes = 0;
  if (is_host(carrier) || count < 1) return ndr_accumulator_finish(accumulator, results);
  for (int i = 0; i < count; i++) {
    there[i] = *results[i];
    there[i].device = carrier->device;
    there[i].strides = NULL;
    there[i].byte_offset = bytes;
    bytes += (bytes_of(results[i]) + 255) / 256 * 256;
  }
  NDR_TRY(ndr_memory_allocate(carrier->device, bytes, &memory));
  for (int i = 0; i < count; i++) there[i].data = memory;
  ndr_status status = ndr_memory_allocate(pinned, bytes, &here);
  if (status == NDR_OK) status = fetch(carrier, accumulator, results, there, count, here, bytes);
  if (status != NDR_OK) (void)ndr_stream_wait(carrier->device, carrier->stream);
  ndr_memory_free(pinned, here);
  ndr_memory_free(carrier->device, memory);
  return status;
}
