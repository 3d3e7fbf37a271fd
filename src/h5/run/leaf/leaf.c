/* See leaf.h. */
#include "h5/run/leaf/leaf.h"

#include <string.h>

#include "h5/read/route/gather.h"
#include "h5/run/leaf/leaf_totals.h"
#include "ndreduce/device.h"

static const DLDevice host = {kDLCPU, 0};

void ndr_leaf_buffers_free(ndr_leaf_buffers *b) {
  ndr_memory_free(host, b->leaf);
  ndr_memory_free(host, b->mask);
  for (int i = 0; i < NDR_MOST_BESIDES; i++) ndr_memory_free(host, b->beside[i]);
}

ndr_status ndr_leaf_need(void **buffer, int64_t bytes) {
  return *buffer ? NDR_OK : ndr_memory_allocate(host, (size_t)bytes, buffer);
}

/* Says where in the whole array a part of a slab begins. */
static void place(const ndr_slabs *slabs, const ndr_slab *slab, ndr_slab *part) {
  for (int d = 0; d < slabs->ndim; d++) part->whole[d] = slab->whole[d] + part->begin[d] - slab->begin[d];
}

ndr_slab ndr_leaf_column(const ndr_slabs *slabs, const ndr_slab *slab, int64_t column) {
  ndr_slab found = *slab;
  ndr_slabs_leaf(slabs, slab->begin, slab->size, false, column, found.begin, found.size);
  place(slabs, slab, &found);
  return found;
}

ndr_slab ndr_leaf_find(const ndr_job *job, const ndr_slab *slab, int64_t column, int64_t number) {
  const ndr_slabs *slabs = &job->slabs[slab->part];
  ndr_slab leaf = *slab;
  ndr_slabs_leaf(slabs, slab->begin, slab->size, false, column, leaf.begin, leaf.size);
  ndr_slabs_leaf(slabs, slab->begin, slab->size, true, number, leaf.begin, leaf.size);
  place(slabs, slab, &leaf);
  return leaf;
}

ndr_status ndr_leaf_unpack(const ndr_job *job, const ndr_leaf_slab *from, const ndr_slab *leaf,
                           ndr_leaf_buffers *buffers, void **elements) {
  const ndr_unpack *deferred = &job->readers[leaf->part].deferred;
  int64_t from_step = (int64_t)ndr_dtype_bytes(deferred->from), to_step = (int64_t)ndr_dtype_bytes(deferred->to);
  int64_t froms[NDR_MAX_DIMS], tos[NDR_MAX_DIMS], offset = 0;
  ndr_gather gather = {0};
  for (int d = job->dataset->info.ndim - 1; d >= 0; d--) {
    froms[d] = from_step;
    tos[d] = to_step;
    offset += (leaf->begin[d] - from->slab->begin[d]) * from_step;
    from_step *= from->slab->size[d];
    to_step *= leaf->size[d];
  }
  for (int d = 0; d < job->dataset->info.ndim; d++) ndr_gather_add(&gather, leaf->size[d], froms[d], tos[d]);
  int64_t bytes = (int64_t)ndr_dtype_bytes(deferred->to);
  *elements = from->data + offset;
  if (bytes == (int64_t)ndr_dtype_bytes(deferred->from) && ndr_gather_is_run(&gather, bytes, bytes)) {
    if (!ndr_unpack_copies(deferred)) ndr_unpack_run(deferred, *elements, 1, *elements, ndr_gather_elements(&gather));
    return NDR_OK;
  }
  NDR_TRY(ndr_leaf_need(&buffers->leaf, job->leaf_bytes));
  ndr_gather_run(&gather, deferred, from->data + offset, buffers->leaf);
  *elements = buffers->leaf;
  return NDR_OK;
}

/* The box of array i that belongs to the leaf. Several threads may look at the same weights, so those in which missing
 * ones become 0 are copied first. */
static ndr_status unpack_beside(const ndr_job *job, const ndr_leaf_slab *from, int i, const ndr_slab *leaf,
                                ndr_leaf_buffers *buffers, void **elements) {
  ndr_besides *operands = job->operands;
  const ndr_beside *array = &operands->arrays[i];
  void **buffer = &buffers->beside[i];
  int64_t bytes = job->operand_bytes[i];
  bool weighs = i == operands->weights && !array->once;
  if (!ndr_beside_gather(array, from->slab, leaf, from->data, NULL, elements)) {
    NDR_TRY(ndr_leaf_need(buffer, bytes));
    ndr_beside_gather(array, from->slab, leaf, from->data, *buffer, elements);
  }
  if (!weighs) return NDR_OK;
  if (*elements != *buffer) {
    ndr_beside_box box = ndr_beside_find(array, leaf);
    NDR_TRY(ndr_leaf_need(buffer, bytes));
    memcpy(*buffer, *elements, (size_t)ndr_beside_elements(array, &box) * sizeof(double));
    *elements = *buffer;
  }
  return ndr_besides_weigh(operands, leaf, *elements);
}

ndr_status ndr_leaf_operands(const ndr_job *job, const ndr_leaf_slab *from, ndr_slab *leaf, const DLTensor *x,
                             ndr_leaf_buffers *buffers, ndr_beside_tensors *given) {
  ndr_beside_place at = {.slab = leaf, .x = x, .threads = job->fold_threads};
  for (int i = 0; i < job->operands->array_count; i++)
    NDR_TRY(unpack_beside(job, from, i, leaf, buffers, &at.elements[i]));
  if (job->mask_bytes) NDR_TRY(ndr_leaf_need(&buffers->mask, job->mask_bytes));
  at.mask = buffers->mask;
  return ndr_besides_give(job->operands, &at, given);
}

ndr_status ndr_leaf_add(const ndr_job *job, const ndr_leaf_slab *from, ndr_slab *leaf, ndr_leaf_buffers *buffers,
                        ndr_accumulator *to) {
  int64_t offset[NDR_MAX_DIMS];
  int ndim = job->dataset->info.ndim;
  void *elements;
  if (job->totals) NDR_TRY(ndr_leaf_add_totals(job, from, leaf, to));
  if (job->totals && !job->beside_totals) return NDR_OK;
  NDR_TRY(ndr_leaf_unpack(job, from, leaf, buffers, &elements));
  for (int d = 0; d < ndim; d++) offset[d] = job->reduced[d] ? leaf->whole[d] : 0;
  DLTensor tensor = {.data = elements, .device = job->device, .ndim = ndim, .shape = leaf->size};
  tensor.dtype = ndr_dtype_to_dlpack(job->problem.dtype);
  if (job->totals) return ndr_accumulator_add_beside_totals(to, &tensor, offset);
  if (!job->operands || !job->operands->count) return ndr_accumulator_add(to, &tensor, offset);
  ndr_beside_tensors given;
  NDR_TRY(ndr_leaf_operands(job, from, leaf, &tensor, buffers, &given));
  return ndr_accumulator_add_operands(to, &tensor, given.pointers, offset);
}
