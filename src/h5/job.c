#include "h5/job.h"

#include "h5/weigh.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#else
#include <unistd.h>
#endif

#define DEFAULT_MEMORY ((int64_t)256 << 20)

/* A core reduces elements from its cache several times as fast as it copies them out of the page cache or inflates
 * them. A team of threads with nothing to do would spin meanwhile, and keep those that read from the cores. */
#define READERS_PER_REDUCER 4

/* One slab is reduced while others are read: enough of them that each thread finds pieces to read, of which a slab has
 * four or more, while the slowest piece of another is waited for. */
static int slots_for(int threads) {
  return threads < 2 ? 1 : threads < 6 ? 3 : threads / 2;
}

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
  if (job->dataset->info.masked) job->reduce.skip_nan = 1;
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
  tensor.dtype = ndr_dtype_to_dlpack(job->dtype);
  ndr_status status = ndr_plan_create(&plan, &tensor, dim_count, dims, job->op_count, job->ops,
                                      (const DLTensor *const *)results, &job->reduce);
  ndr_plan_destroy(plan);
  return status;
}

static void keep_dims(ndr_job *job, int dim_count, const int *dims) {
  int ndim = job->dataset->info.ndim;
  for (int d = 0; d < ndim; d++) job->reduced[d] = dim_count == -1;
  for (int i = 0; i < dim_count; i++) job->reduced[dims[i] < 0 ? dims[i] + ndim : dims[i]] = true;
  for (int d = 0; d < ndim; d++)
    if (job->reduced[d]) job->dims[job->dim_count++] = d;
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
static ndr_status probe_output_bytes(const ndr_job *job, int64_t *bytes) {
  int64_t one, two;
  NDR_TRY(probe_bytes(job, 1, &one));
  NDR_TRY(probe_bytes(job, 2, &two));
  *bytes = 2 * (two - one);
  return NDR_OK;
}

/* ---- How the data are cut and read ------------------------------------------------------------------------------- */

static const ndr_h5_dataset *part_of(const ndr_job *job, int i) {
  return job->dataset->part_count ? job->dataset->parts[i] : job->dataset;
}

/* As many as the reduction uses. */
static int thread_count(const ndr_job *job) {
  if (job->reduce.threads > 0) return job->reduce.threads;
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > 64 ? 64 : (int)count;
#endif
}

static ndr_status open_readers(ndr_job *job) {
  int count = job->dataset->part_count ? job->dataset->part_count : 1;
  job->readers = calloc((size_t)count, sizeof *job->readers);
  job->slabs = calloc((size_t)count, sizeof *job->slabs);
  if (!job->readers || !job->slabs) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  while (job->part_count < count) {
    int i = job->part_count++;
    NDR_TRY(ndr_reader_open(&job->readers[i], part_of(job, i), job->options.weights != NULL, job->options.memory));
  }
  return NDR_OK;
}

/* A unit is the chunk as the selection sees it; where a step does not divide the chunk, a unit is only about one, and
 * some chunks are read for two slabs. */
static void describe_dim(const ndr_h5_dataset *dataset, int d, ndr_slabs *slabs) {
  int64_t chunk = dataset->info.layout == NDR_H5_CHUNKED ? dataset->info.chunk[d] : 1, step = dataset->step[d];
  slabs->shape[d] = dataset->info.shape[d];
  slabs->unit[d] = chunk > step ? chunk / step : 1;
  slabs->lead[d] = dataset->from[d] % chunk / step % slabs->unit[d];
  if (slabs->unit[d] <= slabs->shape[d]) return;
  slabs->unit[d] = slabs->shape[d] > 0 ? slabs->shape[d] : 1;
  slabs->lead[d] = 0;
}

static ndr_status describe_slabs(const ndr_job *job, int part, ndr_slabs *slabs) {
  const ndr_h5_dataset *dataset = part_of(job, part);
  slabs->ndim = dataset->info.ndim;
  slabs->chunked = dataset->info.layout == NDR_H5_CHUNKED;
  slabs->element_bytes = (int64_t)ndr_dtype_bytes(job->dtype);
  memcpy(slabs->reduced, job->reduced, sizeof slabs->reduced);
  for (int d = 0; d < slabs->ndim; d++) describe_dim(dataset, d, slabs);
  return probe_output_bytes(job, &slabs->output_bytes);
}

static ndr_status cut(ndr_job *job, int threads, int slots) {
  int64_t scratch = 0, largest = 0;
  bool follow = job->reduced[job->dataset->series_dim];
  for (int i = 0; i < job->part_count; i++) {
    int64_t bytes = ndr_reader_scratch(&job->readers[i], threads);
    if (bytes > scratch) scratch = bytes;
  }
  for (int i = 0; i < job->part_count; i++) {
    ndr_slabs *slabs = &job->slabs[i];
    slabs->slots = slots;
    slabs->scratch_bytes = scratch;
    NDR_TRY(i && follow ? ndr_slabs_follow(slabs, &job->slabs[0], job->options.memory)
                        : ndr_slabs_choose(slabs, job->options.memory));
    int64_t bytes = ndr_slabs_elements(slabs) * slabs->element_bytes;
    if (bytes > largest) largest = bytes;
  }
  ndr_course course = {.part_count = job->part_count, .dim = job->dataset->series_dim, .parts = job->slabs};
  job->feed = (ndr_feed_plan){job->readers, course, slots, threads, largest};
  job->reduce.threads = threads < 2 * READERS_PER_REDUCER ? 1 : threads / READERS_PER_REDUCER;
  return NDR_OK;
}

/* As many threads as there are, each with a chunk of its own; fewer, and less ahead, where that takes too much. */
static ndr_status plan_feed(ndr_job *job) {
  NDR_TRY(open_readers(job));
  for (int i = 0; i < job->part_count; i++) NDR_TRY(describe_slabs(job, i, &job->slabs[i]));
  ndr_status status = NDR_ERR_MEMORY;
  for (int threads = thread_count(job); status == NDR_ERR_MEMORY && threads > 0; threads /= 2)
    for (int slots = slots_for(threads); status == NDR_ERR_MEMORY && slots > 0; slots--)
      status = cut(job, threads, slots);
  return status;
}

static ndr_status make(ndr_job *job, int dim_count, const int *dims, DLTensor *const *results,
                       const ndr_h5_options *options) {
  NDR_TRY(read_options(job, options));
  NDR_TRY(choose_device(job));
  if (job->options.weights) NDR_TRY(ndr_weigh_check(job));
  job->dtype = job->options.weights ? NDR_F64 : job->dataset->info.dtype;
  NDR_TRY(check_problem(job, dim_count, dims, results));
  keep_dims(job, dim_count, dims);
  job->never_written = !job->dataset->part_count && !job->options.weights &&
                       job->dataset->info.layout != NDR_H5_COMPACT && job->dataset->info.stored_bytes == 0;
  NDR_TRY(ndr_job_watch(job));
  return job->never_written ? NDR_OK : plan_feed(job);
}

ndr_status ndr_job_make(ndr_job *job, ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count,
                        const ndr_op *ops, DLTensor *const *results, const ndr_h5_options *options) {
  memset(job, 0, sizeof *job);
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  job->dataset = dataset;
  job->op_count = op_count;
  job->ops = ops;
  return make(job, dim_count, dims, results, options);
}

void ndr_job_clear(ndr_job *job) {
  for (int i = 0; i < job->part_count; i++) ndr_reader_close(&job->readers[i]);
  free(job->readers);
  free(job->slabs);
  job->part_count = 0;
}
