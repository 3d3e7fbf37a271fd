/* See fold.h. A column is what the leaves have in common that come to the same outputs; it has a block of its own, so
 * that columns are reduced at the same time. Each leaf is unpacked into a compact array of its own first: how it is
 * reduced, and so its last bits, does not depend on the slab that it was read in. */
#include "h5/run/fold.h"

#include <stdlib.h>
#include <string.h>

#include "h5/read/gather.h"
#include "ndreduce/device.h"

/* Of one thread: a leaf, and what belongs to it beside the dataset, unpacked; and its mask. NULL until it is needed. */
typedef struct {
  void *leaf, *beside[NDR_MOST_BESIDES], *mask;
} buffers;

struct ndr_fold {
  const ndr_job *job;
  ndr_feed *feed;
  int64_t column_count, depth; /* the latter leaves of a column that the slab has */
  ndr_block *columns, *pieces; /* pieces: the leaves of a slab that are added apart */
  buffers *buffers;            /* for each thread */
  const ndr_slab *slab;        /* the slab at hand */
  char *data;
};

ndr_status ndr_fold_create(ndr_fold **created, const ndr_job *job, ndr_feed *feed) {
  ndr_fold *fold = *created = calloc(1, sizeof *fold);
  if (!fold) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  fold->job = job;
  fold->feed = feed;
  fold->buffers = calloc((size_t)job->feed.threads, sizeof *fold->buffers);
  return fold->buffers ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

static void close_blocks(ndr_block **blocks, int64_t count) {
  for (int64_t i = 0; *blocks && i < count; i++) ndr_block_close(&(*blocks)[i]);
  free(*blocks);
  *blocks = NULL;
}

static ndr_status make_blocks(ndr_block **blocks, int64_t count) {
  *blocks = calloc((size_t)count + 1, sizeof **blocks);
  return *blocks ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for partial results");
}

static void drop_block(ndr_fold *fold) {
  close_blocks(&fold->columns, fold->column_count);
  fold->column_count = 0;
}

static const DLDevice host = {kDLCPU, 0};

static void free_buffers(buffers *b) {
  ndr_memory_free(host, b->leaf);
  ndr_memory_free(host, b->mask);
  for (int i = 0; i < NDR_MOST_BESIDES; i++) ndr_memory_free(host, b->beside[i]);
}

void ndr_fold_destroy(ndr_fold *fold) {
  if (!fold) return;
  drop_block(fold);
  for (int i = 0; fold->buffers && i < fold->job->feed.threads; i++) free_buffers(&fold->buffers[i]);
  free(fold->buffers);
  free(fold);
}

ndr_status ndr_fold_start(ndr_fold *fold, const ndr_slab *slab) {
  const ndr_job *job = fold->job;
  const ndr_slabs *slabs = &job->slabs[slab->part];
  drop_block(fold);
  int64_t count = ndr_slabs_leaves(slabs, slab->begin, slab->size, false);
  NDR_TRY(make_blocks(&fold->columns, count));
  fold->column_count = count;
  for (int64_t i = 0; i < count; i++) {
    ndr_slab column = *slab;
    ndr_slabs_leaf(slabs, slab->begin, slab->size, false, i, column.begin, column.size);
    for (int d = 0; d < slabs->ndim; d++) column.whole[d] += column.begin[d] - slab->begin[d];
    NDR_TRY(ndr_block_open(&fold->columns[i], job, &job->uploaders[0], &column));
  }
  return NDR_OK;
}

ndr_status ndr_fold_finish(ndr_fold *fold, DLTensor *const *results) {
  for (int64_t i = 0; i < fold->column_count; i++) {
    NDR_TRY(ndr_block_finish(&fold->columns[i], fold->job, results));
    ndr_block_close(&fold->columns[i]);
  }
  drop_block(fold);
  return NDR_OK;
}

/* ---- A leaf ----------------------------------------------------------------------------------------------------- */

static ndr_slab find_leaf(const ndr_fold *fold, int64_t column, int64_t number) {
  const ndr_slab *slab = fold->slab;
  const ndr_slabs *slabs = &fold->job->slabs[slab->part];
  ndr_slab leaf = *slab;
  ndr_slabs_leaf(slabs, slab->begin, slab->size, false, column, leaf.begin, leaf.size);
  ndr_slabs_leaf(slabs, slab->begin, slab->size, true, number, leaf.begin, leaf.size);
  for (int d = 0; d < slabs->ndim; d++) leaf.whole[d] += leaf.begin[d] - slab->begin[d];
  return leaf;
}

static ndr_status need(void **buffer, int64_t bytes) {
  return *buffer ? NDR_OK : ndr_memory_allocate(host, (size_t)bytes, buffer);
}

static ndr_status unpack(const ndr_fold *fold, const ndr_slab *leaf, int worker, void **elements) {
  const ndr_job *job = fold->job;
  const ndr_unpack *deferred = &job->readers[leaf->part].deferred;
  int64_t from_step = (int64_t)ndr_dtype_bytes(deferred->from), to_step = (int64_t)ndr_dtype_bytes(deferred->to);
  int64_t from[NDR_MAX_DIMS], to[NDR_MAX_DIMS], offset = 0;
  ndr_gather gather = {0};
  for (int d = job->dataset->info.ndim - 1; d >= 0; d--) {
    from[d] = from_step;
    to[d] = to_step;
    offset += (leaf->begin[d] - fold->slab->begin[d]) * from_step;
    from_step *= fold->slab->size[d];
    to_step *= leaf->size[d];
  }
  for (int d = 0; d < job->dataset->info.ndim; d++) ndr_gather_add(&gather, leaf->size[d], from[d], to[d]);
  int64_t bytes = (int64_t)ndr_dtype_bytes(deferred->to);
  *elements = fold->data + offset;
  if (ndr_unpack_copies(deferred) && ndr_gather_is_run(&gather, bytes, bytes)) return NDR_OK;
  void **leaf_buffer = &fold->buffers[worker].leaf;
  NDR_TRY(need(leaf_buffer, job->leaf_bytes));
  ndr_gather_run(&gather, deferred, fold->data + offset, *leaf_buffer);
  *elements = *leaf_buffer;
  return NDR_OK;
}

/* The box of array i that belongs to the leaf. Several threads may look at the same weights, so those in which missing
 * ones become 0 are copied first. */
static ndr_status unpack_beside(const ndr_fold *fold, int i, const ndr_slab *leaf, int worker, void **elements) {
  ndr_besides *operands = fold->job->operands;
  const ndr_beside *array = &operands->arrays[i];
  void **buffer = &fold->buffers[worker].beside[i];
  int64_t bytes = fold->job->operand_bytes[i];
  bool weighs = i == operands->weights && !array->once;
  if (!ndr_beside_gather(array, fold->slab, leaf, fold->data, NULL, elements)) {
    NDR_TRY(need(buffer, bytes));
    ndr_beside_gather(array, fold->slab, leaf, fold->data, *buffer, elements);
  }
  if (!weighs) return NDR_OK;
  if (*elements != *buffer) {
    ndr_beside_box box = ndr_beside_find(array, leaf);
    NDR_TRY(need(buffer, bytes));
    memcpy(*buffer, *elements, (size_t)ndr_beside_elements(array, &box) * sizeof(double));
    *elements = *buffer;
  }
  return ndr_besides_weigh(operands, leaf, *elements);
}

static ndr_status add_with_operands(const ndr_fold *fold, ndr_accumulator *to, ndr_slab *leaf, const DLTensor *x,
                                    const int64_t *offset, int worker) {
  const ndr_job *job = fold->job;
  ndr_beside_place at = {.slab = leaf, .x = x, .threads = job->fold_threads};
  ndr_beside_tensors given;
  for (int i = 0; i < job->operands->array_count; i++) NDR_TRY(unpack_beside(fold, i, leaf, worker, &at.elements[i]));
  if (job->mask_bytes) NDR_TRY(need(&fold->buffers[worker].mask, job->mask_bytes));
  at.mask = fold->buffers[worker].mask;
  NDR_TRY(ndr_besides_give(job->operands, &at, &given));
  return ndr_accumulator_add_operands(to, x, given.pointers, offset);
}

static ndr_status add_leaf(const ndr_fold *fold, ndr_block *to, ndr_slab *leaf, int worker) {
  const ndr_job *job = fold->job;
  int64_t offset[NDR_MAX_DIMS];
  int ndim = job->dataset->info.ndim;
  void *elements;
  NDR_TRY(unpack(fold, leaf, worker, &elements));
  for (int d = 0; d < ndim; d++) offset[d] = job->reduced[d] ? leaf->whole[d] : 0;
  DLTensor tensor = {.data = elements, .device = job->device, .ndim = ndim, .shape = leaf->size};
  tensor.dtype = ndr_dtype_to_dlpack(job->problem.dtype);
  return job->operands && job->operands->count ? add_with_operands(fold, to->sums, leaf, &tensor, offset, worker)
                                               : ndr_accumulator_add(to->sums, &tensor, offset);
}

/* ---- A slab ----------------------------------------------------------------------------------------------------- */

static ndr_status do_leaf(void *user, int64_t index, int worker) {
  ndr_fold *fold = user;
  ndr_slab leaf = find_leaf(fold, index / fold->depth, index % fold->depth);
  ndr_block *piece = &fold->pieces[index];
  NDR_TRY(ndr_block_open(piece, fold->job, &fold->job->uploaders[0], &fold->columns[index / fold->depth].slab));
  return add_leaf(fold, piece, &leaf, worker);
}

static ndr_status do_column(void *user, int64_t index, int worker) {
  ndr_fold *fold = user;
  for (int64_t i = 0; i < fold->depth; i++) {
    ndr_slab leaf = find_leaf(fold, index, i);
    NDR_TRY(add_leaf(fold, &fold->columns[index], &leaf, worker));
  }
  return NDR_OK;
}

static ndr_status add_apart(ndr_fold *fold) {
  int64_t count = fold->column_count * fold->depth;
  NDR_TRY(make_blocks(&fold->pieces, count));
  ndr_status status = ndr_feed_share(fold->feed, do_leaf, fold, count);
  for (int64_t i = 0; status == NDR_OK && i < count; i++)
    status = ndr_block_merge(&fold->columns[i / fold->depth], &fold->pieces[i]);
  close_blocks(&fold->pieces, count);
  return status;
}

ndr_status ndr_fold_add(ndr_fold *fold, const ndr_slab *slab, void *data) {
  const ndr_slabs *slabs = &fold->job->slabs[slab->part];
  fold->slab = slab;
  fold->data = data;
  fold->depth = ndr_slabs_leaves(slabs, slab->begin, slab->size, true);
  if (fold->depth == 0 || fold->column_count == 0) return NDR_OK;
  return ndr_slabs_adds_apart(slabs) ? add_apart(fold)
                                     : ndr_feed_share(fold->feed, do_column, fold, fold->column_count);
}
