/* See block.h: accumulators for a part of the outputs, and the part of each result that these are. */
#include "h5/run/block.h"

ndr_status ndr_block_open(ndr_block *block, const ndr_job *job, const ndr_uploader *uploader, const ndr_slab *slab) {
  ndr_problem part = job->fold;
  *block = (ndr_block){.slab = *slab};
  for (int d = 0; d < part.ndim; d++)
    if (!job->reduced[d]) part.shape[d] = slab->size[d];
  ndr_besides_lay(job->operands, &part);
  NDR_TRY(ndr_job_accumulate(job, uploader, &part, &block->sums));
  int64_t begin[NDR_MAX_DIMS];
  for (int d = 0; d < part.ndim; d++) begin[d] = job->reduced[d] ? 0 : slab->whole[d];
  return ndr_accumulator_begin(block->sums, begin);
}

void ndr_block_close(ndr_block *block) {
  ndr_accumulator_destroy(block->sums);
  block->sums = NULL;
}

ndr_status ndr_block_merge(ndr_block *into, const ndr_block *from) {
  return ndr_accumulator_merge(into->sums, from->sums);
}

/* The part of a result that belongs to the block. shape and strides receive what the view points to. */
static DLTensor view_of(const ndr_block *block, const ndr_job *job, const DLTensor *result, int64_t *shape,
                        int64_t *strides) {
  DLTensor view = *result;
  int64_t step = 1;
  for (int d = job->dataset->info.ndim - 1, r = result->ndim - 1; d >= 0; d--) {
    bool grouped = job->problem.groups && d == job->problem.group_dim;
    bool kept = job->problem.keepdims && !ndr_h5_groups_cover(job->options.groups, d);
    if (job->reduced[d] && !grouped && !kept) continue;
    shape[r] = grouped ? ndr_groups_count(job->fold.groups) : job->reduced[d] ? 1 : block->slab.size[d];
    strides[r] = result->strides ? result->strides[r] : step;
    step *= result->shape[r];
    int64_t begin = grouped ? job->stages[job->stage].first : job->reduced[d] ? 0 : block->slab.whole[d];
    view.byte_offset += (uint64_t)(begin * strides[r] * (result->dtype.bits / 8));
    r--;
  }
  view.shape = shape;
  view.strides = strides;
  return view;
}

ndr_status ndr_block_finish(const ndr_block *block, const ndr_job *job, DLTensor *const *results) {
  DLTensor views[NDR_MAX_OPS], *pointers[NDR_MAX_OPS];
  int64_t shapes[NDR_MAX_OPS][NDR_MAX_DIMS], strides[NDR_MAX_OPS][NDR_MAX_DIMS];
  for (int i = 0; i < job->problem.op_count; i++) {
    views[i] = view_of(block, job, results[i], shapes[i], strides[i]);
    pointers[i] = &views[i];
  }
  return ndr_job_finish(job, block->sums, pointers);
}
