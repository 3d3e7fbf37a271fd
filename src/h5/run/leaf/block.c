/* See block.h: accumulators for a part of the outputs, and the part of each result that these are. */
#include "h5/run/leaf/block.h"

#include <stdlib.h>

static ndr_status begin_sums(const ndr_block *block, const ndr_job *job) {
  int64_t begin[NDR_MAX_DIMS];
  for (int d = 0; d < job->fold.ndim; d++) begin[d] = job->reduced[d] ? 0 : block->slab.whole[d];
  return ndr_accumulator_begin(block->sums, begin);
}

ndr_status ndr_block_open(ndr_block *block, const ndr_job *job, const ndr_uploader *uploader, const ndr_slab *slab) {
  ndr_problem part = job->fold;
  *block = (ndr_block){.slab = *slab};
  for (int d = 0; d < part.ndim; d++)
    if (!job->reduced[d]) part.shape[d] = slab->size[d];
  ndr_besides_lay(job->operands, &part);
  NDR_TRY(ndr_job_accumulate(job, uploader, &part, &block->sums));
  return begin_sums(block, job);
}

ndr_status ndr_block_restart(ndr_block *block, const ndr_job *job, const ndr_slab *slab) {
  block->slab = *slab;
  NDR_TRY(ndr_accumulator_reset(block->sums));
  return begin_sums(block, job);
}

void ndr_block_close(ndr_block *block) {
  ndr_accumulator_destroy(block->sums);
  block->sums = NULL;
}

ndr_status ndr_block_merge(ndr_block *into, const ndr_block *from) {
  return ndr_accumulator_merge(into->sums, from->sums);
}

static bool is_grouped(const ndr_job *job, int d) {
  return job->problem.groups && d == job->problem.group_dim;
}

/* Where the outputs of a slab's block begin along dim d of the dataset, and how many there are. */
static int64_t begin_of(const ndr_job *job, const ndr_slab *slab, int d) {
  if (is_grouped(job, d)) return job->stages[job->stage].first;
  return job->reduced[d] ? 0 : slab->whole[d];
}

static int64_t size_of(const ndr_job *job, const ndr_slab *slab, int d) {
  if (is_grouped(job, d)) return ndr_groups_count(job->fold.groups);
  return job->reduced[d] ? 1 : slab->size[d];
}

/* Whether results have dim d of the dataset. */
static bool is_left(const ndr_job *job, int d) {
  bool kept = job->problem.keepdims && !ndr_h5_groups_cover(job->options.groups, d);
  return !job->reduced[d] || is_grouped(job, d) || kept;
}

/* The part of a result that belongs to the block; the result begins where those of `origin` do, or, where that is NULL,
 * is all there is. shape and strides receive what the view points to. */
static DLTensor view_of(const ndr_block *block, const ndr_job *job, const ndr_slab *origin, const DLTensor *result,
                        int64_t *shape, int64_t *strides) {
  DLTensor view = *result;
  int64_t step = 1;
  for (int d = job->dataset->info.ndim - 1, r = result->ndim - 1; d >= 0; d--) {
    if (!is_left(job, d)) continue;
    shape[r] = size_of(job, &block->slab, d);
    strides[r] = result->strides ? result->strides[r] : step;
    step *= result->shape[r];
    int64_t begin = begin_of(job, &block->slab, d) - (origin ? begin_of(job, origin, d) : 0);
    view.byte_offset += (uint64_t)(begin * strides[r] * (result->dtype.bits / 8));
    r--;
  }
  view.shape = shape;
  view.strides = strides;
  return view;
}

static ndr_status finish(const ndr_block *block, const ndr_job *job, const ndr_slab *origin, DLTensor *const *results) {
  DLTensor views[NDR_MAX_OPS], *pointers[NDR_MAX_OPS];
  int64_t shapes[NDR_MAX_OPS][NDR_MAX_DIMS], strides[NDR_MAX_OPS][NDR_MAX_DIMS];
  for (int i = 0; i < job->problem.op_count; i++) {
    views[i] = view_of(block, job, origin, results[i], shapes[i], strides[i]);
    pointers[i] = &views[i];
  }
  return ndr_job_finish(job, block->sums, pointers);
}

static ndr_status finish_all(const ndr_block *blocks, int64_t count, const ndr_job *job, const ndr_slab *origin,
                             DLTensor *const *results) {
  for (int64_t i = 0; i < count; i++) NDR_TRY(finish(&blocks[i], job, origin, results));
  return NDR_OK;
}

/* ---- To a sink --------------------------------------------------------------------------------------------------- */

/* The results of all blocks of a slab, compact. */
typedef struct {
  DLTensor tensors[NDR_MAX_OPS], *pointers[NDR_MAX_OPS];
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS], whole[NDR_MAX_DIMS];
} box;

static ndr_status open_box(box *b, const ndr_job *job, const ndr_slab *all) {
  int ndim = 0;
  *b = (box){.pointers = {NULL}};
  for (int d = 0; d < job->dataset->info.ndim; d++) {
    if (!is_left(job, d)) continue;
    b->begin[ndim] = begin_of(job, all, d);
    b->size[ndim++] = size_of(job, all, d);
  }
  for (int i = 0; i < job->problem.op_count; i++) {
    DLTensor *result = b->pointers[i] = &b->tensors[i];
    result->shape = b->whole;
    NDR_TRY(ndr_problem_result(&job->problem, i, result));
    result->shape = b->size;
    size_t bytes = result->dtype.bits / 8;
    for (int d = 0; d < ndim; d++) bytes *= (size_t)b->size[d];
    result->data = malloc(bytes + 1);
    if (!result->data) return ndr_fail(NDR_ERR_MEMORY, "out of memory for results");
  }
  return NDR_OK;
}

ndr_status ndr_blocks_finish(const ndr_block *blocks, int64_t count, const ndr_job *job, const ndr_slab *all,
                             DLTensor *const *results) {
  box b;
  if (!job->sink) return finish_all(blocks, count, job, NULL, results);
  ndr_status status = open_box(&b, job, all);
  if (status == NDR_OK) status = finish_all(blocks, count, job, all, b.pointers);
  for (int i = 0; status == NDR_OK && i < job->problem.op_count; i++)
    status = job->sink->put(job->sink->user, i, b.begin, b.size, b.tensors[i].data);
  for (int i = 0; i < job->problem.op_count; i++) free(b.tensors[i].data);
  return status;
}
