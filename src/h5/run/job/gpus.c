/* See gpus.h. */
#include "h5/run/job/gpus.h"

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static int64_t beside_bytes(const ndr_job *job) {
  int64_t bytes = job->mask_bytes;
  for (int i = 0; job->operands && i < job->operands->array_count; i++) bytes += job->operand_bytes[i];
  return bytes;
}

/* While slabs are under way, others are read: with several GPUs two slots at least are left for those. */
static ndr_status open_uploaders(ndr_gpus *g) {
  ndr_job *job = g->job;
  int slots = job->feed.slots, spare = slots > 3 ? slots - 2 : 1, count = job->gpu_count;
  if (count > spare) count = spare;
  int buffers = count == 1 ? slots : spare / count;
  if (buffers > NDR_UPLOAD_BUFFERS) buffers = NDR_UPLOAD_BUFFERS;
  while (g->count < count) {
    DLDevice device = {job->device.device_type, job->device.device_id + g->count};
    NDR_TRY(ndr_uploader_open(&job->uploaders[g->count++], device, job->slab_bytes, job->stored_bytes,
                              beside_bytes(job), buffers));
  }
  return NDR_OK;
}

/* Copies the arrays that are read once to the uploader's device. */
static ndr_status bring_once(const ndr_job *job, const ndr_uploader *uploader, void **once) {
  for (int i = 0; job->operands && i < job->operands->array_count; i++) {
    const ndr_beside *array = &job->operands->arrays[i];
    size_t bytes = (size_t)ndr_beside_count(array) * ndr_dtype_bytes(array->dtype);
    if (!ndr_beside_is_brought_whole(array) || bytes == 0) continue;
    NDR_TRY(ndr_memory_allocate(uploader->device, bytes, &once[i]));
    NDR_TRY(ndr_copy(uploader->device, once[i], array->memory, bytes, uploader->stream));
    NDR_TRY(ndr_stream_wait(uploader->device, uploader->stream));
  }
  return NDR_OK;
}

ndr_status ndr_gpus_open(ndr_gpus *g, ndr_job *job) {
  *g = (ndr_gpus){.job = job};
  if (job->device.device_type == kDLCPU) return NDR_OK;
  NDR_TRY(open_uploaders(g));
  for (int i = 0; i < g->count; i++) NDR_TRY(bring_once(job, &job->uploaders[i], g->once[i]));
  return NDR_OK;
}

void ndr_gpus_close(ndr_gpus *g) {
  for (int i = 0; i < g->count; i++) {
    ndr_uploader *uploader = &g->job->uploaders[i];
    ndr_uploader_close(uploader);
    for (int k = 0; k < NDR_MOST_BESIDES; k++) ndr_memory_free(uploader->device, g->once[i][k]);
  }
  *g = (ndr_gpus){.job = g->job};
}

/* ---- A slab ----------------------------------------------------------------------------------------------------- */

/* Copies the box of array i that belongs to the slab to the uploader's device. Those that are read once are there. */
static ndr_status bring(const ndr_gpus *g, ndr_uploader *uploader, int i, const ndr_slab *slab, void *data,
                        int64_t place, void **there) {
  ndr_besides *operands = g->job->operands;
  const ndr_beside *array = &operands->arrays[i];
  ndr_beside_box box = ndr_beside_find(array, slab);
  int64_t bytes = ndr_beside_elements(array, &box) * (int64_t)ndr_dtype_bytes(array->dtype);
  void *here;
  *there = g->once[uploader - g->job->uploaders][i];
  if (ndr_beside_is_brought_whole(array)) return NDR_OK;
  ndr_beside_gather(array, slab, slab, data, array->gathered ? (char *)data + array->gathered : NULL, &here);
  if (i == operands->weights) NDR_TRY(ndr_besides_weigh(operands, slab, here));
  return ndr_uploader_copy_beside(uploader, place, here, bytes, there);
}

/* Copies all that belongs to the slab beside it; the mask has its place behind that. */
static ndr_status bring_all(const ndr_gpus *g, ndr_uploader *uploader, void *data, ndr_beside_place *at) {
  const ndr_job *job = g->job;
  int64_t place = 0;
  for (int i = 0; i < job->operands->array_count; i++) {
    NDR_TRY(bring(g, uploader, i, at->slab, data, place, &at->elements[i]));
    place += job->operand_bytes[i];
  }
  return ndr_uploader_copy_beside(uploader, place, NULL, 0, &at->mask);
}

/* Copies the slab in `data` to the uploader's device and adds it to an accumulator there. */
static ndr_status add(const ndr_gpus *g, ndr_uploader *uploader, ndr_accumulator *to, ndr_slab *slab, void *data) {
  const ndr_job *job = g->job;
  bool has_operands = job->operands && job->operands->count;
  ndr_beside_place at = {.slab = slab, .whole = true, .stream = uploader->stream};
  ndr_beside_tensors given;
  const ndr_reader *reader = &job->readers[slab->part];
  const ndr_box box = {slab->begin, slab->size};
  const ndr_stored deferred = ndr_reader_deferred(reader, box);
  int64_t offset[NDR_MAX_DIMS];
  int ndim = job->dataset->info.ndim;
  const void *there;
  for (int d = 0; d < ndim; d++) offset[d] = job->reduced[d] ? slab->whole[d] : 0;
  if (has_operands) NDR_TRY(bring_all(g, uploader, data, &at));
  NDR_TRY(ndr_uploader_copy(uploader, data, ndr_reader_bytes(reader, box), ndr_reader_defers(reader) ? &deferred : NULL,
                            &there));
  DLTensor tensor = {.data = (void *)(uintptr_t)there, .device = uploader->device, .ndim = ndim, .shape = slab->size};
  tensor.dtype = ndr_dtype_to_dlpack(job->problem.dtype);
  if (!has_operands) return ndr_accumulator_add(to, &tensor, offset);
  at.x = &tensor;
  NDR_TRY(ndr_besides_give(job->operands, &at, &given));
  return ndr_accumulator_add_operands(to, &tensor, given.pointers, offset);
}

/* Reduces a slab on another GPU than the outputs' and merges the states into the outputs. They are bitwise those of
 * adding the slab on the outputs' own GPU: the first addition to an accumulator stores the slab's states as they are.
 */
static ndr_status add_elsewhere(const ndr_gpus *g, ndr_uploader *uploader, ndr_block *to, ndr_slab *slab, void *data) {
  ndr_block piece;
  ndr_status status = ndr_block_open(&piece, g->job, uploader, slab);
  if (status == NDR_OK) status = add(g, uploader, piece.sums, slab, data);
  if (status == NDR_OK) status = ndr_block_merge(to, &piece);
  ndr_block_close(&piece);
  return status;
}

static ndr_uploader *oldest(ndr_gpus *g) {
  return &g->job->uploaders[g->completed++ % g->count];
}

/* Waits until fewer slabs are under way than there are buffers. */
static ndr_status free_buffer(ndr_gpus *g, ndr_feed *feed) {
  while (g->queued - g->completed >= (int64_t)g->count * g->job->uploaders[0].buffer_count) {
    NDR_TRY(ndr_uploader_wait_oldest(oldest(g)));
    ndr_feed_give(feed);
  }
  return NDR_OK;
}

ndr_status ndr_gpus_add(ndr_gpus *g, ndr_feed *feed, ndr_block *to, ndr_slab *slab, void *data) {
  ndr_uploader *uploader = &g->job->uploaders[g->queued++ % g->count];
  NDR_TRY(uploader == g->job->uploaders ? add(g, uploader, to->sums, slab, data)
                                        : add_elsewhere(g, uploader, to, slab, data));
  NDR_TRY(ndr_uploader_release(uploader));
  return free_buffer(g, feed);
}

/* If a wait fails, an earlier call has already reported it, or the next one will. */
void ndr_gpus_drain(ndr_gpus *g) {
  while (g->completed < g->queued) (void)ndr_uploader_wait_oldest(oldest(g));
}
