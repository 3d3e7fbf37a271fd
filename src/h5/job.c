#include "h5/job.h"

#include <string.h>

#define DEFAULT_MEMORY ((int64_t)256 << 20)

/* A filter's input, its output and the room that zlib's growing buffer takes exist at once. */
#define DECODE_COPIES 3

ndr_status ndr_job_blame(const ndr_h5_dataset *dataset, ndr_status status) {
  char reason[512];
  size_t prefix = strlen(dataset->where);
  if (status == NDR_OK || strncmp(ndr_last_error(), dataset->where, prefix) == 0) return status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "%s: %s", dataset->where, reason);
}

static ndr_status read_options(ndr_job *job, const ndr_h5_options *options) {
  job->options = (ndr_h5_options)NDR_H5_OPTIONS_INIT;
  job->reduce = (ndr_options)NDR_OPTIONS_INIT;
  if (options) {
    if (options->size != sizeof *options)
      return ndr_fail(NDR_ERR_ARGUMENT, "options.size is %zu: start from NDR_H5_OPTIONS_INIT", options->size);
    if (options->memory < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.memory is %lld", (long long)options->memory);
    job->options = *options;
    if (options->reduce) job->reduce = *options->reduce;
  }
  if (job->options.memory == 0) job->options.memory = DEFAULT_MEMORY;
  if (job->dataset->unpack.masked) job->reduce.skip_nan = 1;
  job->options.reduce = &job->reduce;
  return NDR_OK;
}

/* Results are written where the data land, which is host memory: a GPU is of no use to this route. */
static ndr_status choose_device(ndr_job *job) {
  job->device = (DLDevice){kDLCPU, 0};
  if (job->options.device != NDR_H5_CUDA) return NDR_OK;
  ndr_accumulator *probe;
  DLDevice cuda = {kDLCUDA, job->options.device_id};
  ndr_status status = ndr_accumulator_create(&probe, cuda, NDR_F32, 0, NULL, NDR_ALL_DIMS, 1, &(ndr_op){NDR_SUM}, NULL);
  ndr_accumulator_destroy(probe);
  if (status == NDR_OK)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "datasets are not streamed to a GPU by this version; use the cpu");
  char reason[256];
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "device cuda:%d cannot be used: %s", cuda.device_id, reason);
}

/* Lets the core check everything that is not about files, as it would for an array in memory. */
static ndr_status check_problem(const ndr_job *job, int dim_count, const int *dims, DLTensor *const *results) {
  ndr_plan *plan;
  DLTensor tensor = ndr_h5_tensor(job->dataset);
  tensor.device = job->device;
  ndr_status status = ndr_plan_create(&plan, &tensor, dim_count, dims, job->op_count, job->ops,
                                      (const DLTensor *const *)results, &job->reduce);
  ndr_plan_destroy(plan);
  return status;
}

static void keep_dims(ndr_job *job, int dim_count, const int *dims) {
  int ndim = job->dataset->info.ndim;
  for (int i = 0; i < dim_count; i++) job->slabs.reduced[dims[i] < 0 ? dims[i] + ndim : dims[i]] = true;
  for (int d = 0; d < ndim; d++) {
    if (dim_count == -1) job->slabs.reduced[d] = true;
    if (job->slabs.reduced[d]) job->dims[job->dim_count++] = d;
  }
}

static ndr_status probe_bytes(const ndr_job *job, int64_t outputs, int64_t *bytes) {
  ndr_accumulator *probe;
  NDR_TRY(ndr_job_accumulate(job, 1, &outputs, 0, NULL, &probe));
  *bytes = (int64_t)ndr_accumulator_bytes(probe);
  ndr_accumulator_destroy(probe);
  return NDR_OK;
}

/* The states of a block and, while a slab is added, those of the slab: twice what an accumulator says it holds. That is
 * more than the witness's results take once no slab is left. */
static ndr_status probe_output_bytes(ndr_job *job) {
  int64_t one, two;
  NDR_TRY(probe_bytes(job, 1, &one));
  NDR_TRY(probe_bytes(job, 2, &two));
  job->slabs.output_bytes = 2 * (two - one);
  return NDR_OK;
}

static ndr_status plan_slabs(ndr_job *job) {
  const ndr_h5_info *info = &job->dataset->info;
  ndr_slabs *slabs = &job->slabs;
  bool chunked = slabs->chunked = info->layout == NDR_H5_CHUNKED;
  slabs->ndim = info->ndim;
  slabs->element_bytes = (int64_t)ndr_dtype_bytes(info->dtype);
  slabs->chunk_bytes = (int64_t)ndr_dtype_bytes(info->stored_dtype);
  for (int d = 0; d < info->ndim; d++) {
    slabs->shape[d] = info->shape[d];
    slabs->unit[d] = !chunked ? 1 : info->chunk[d] < info->shape[d] ? info->chunk[d] : info->shape[d];
    if (slabs->unit[d] < 1) slabs->unit[d] = 1;
    /* Edge chunks are stored at full size. */
    if (__builtin_mul_overflow(slabs->chunk_bytes, chunked ? info->chunk[d] : 1, &slabs->chunk_bytes))
      return ndr_fail(NDR_ERR_OVERFLOW, "the chunk size that it claims does not fit in 63 bits");
  }
  if (info->filters[0] == 0 || !chunked) slabs->chunk_bytes = job->dataset->source_chunk_bytes;
  if (__builtin_mul_overflow(slabs->chunk_bytes, DECODE_COPIES, &slabs->chunk_bytes))
    return ndr_fail(NDR_ERR_OVERFLOW, "the chunk size that it claims does not fit in 63 bits");
  return ndr_slabs_choose(slabs, job->options.memory);
}

static ndr_status make(ndr_job *job, int dim_count, const int *dims, DLTensor *const *results,
                       const ndr_h5_options *options) {
  NDR_TRY(read_options(job, options));
  NDR_TRY(choose_device(job));
  NDR_TRY(check_problem(job, dim_count, dims, results));
  keep_dims(job, dim_count, dims);
  job->never_written = job->dataset->info.layout != NDR_H5_COMPACT && job->dataset->info.stored_bytes == 0;
  NDR_TRY(ndr_job_watch(job));
  NDR_TRY(probe_output_bytes(job));
  return job->never_written ? NDR_OK : plan_slabs(job);
}

ndr_status ndr_job_make(ndr_job *job, ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count,
                        const ndr_op *ops, DLTensor *const *results, const ndr_h5_options *options) {
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  memset(job, 0, sizeof *job);
  job->dataset = dataset;
  job->op_count = op_count;
  job->ops = ops;
  return ndr_job_blame(dataset, make(job, dim_count, dims, results, options));
}
