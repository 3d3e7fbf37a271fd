/* How a job's data are cut into slabs, and how many threads and slots read them. */
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#else
#include <unistd.h>
#endif

#include "h5/job.h"

/* A core reduces elements from its cache several times as fast as it copies them out of the page cache or inflates
 * them. A team of threads with nothing to do would spin meanwhile, and keep those that read from the cores. */
#define READERS_PER_REDUCER 4

#define MOST_THREADS 128

/* What a GPU takes apart at once; ndr_convert_stored says so. */
#define MOST_HELD INT32_MAX

bool ndr_gpu_converts = true;

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static bool is_far(const ndr_job *job) {
  return job->device.device_type != kDLCPU;
}

/* One slab is reduced while others are read: enough of them that each thread finds pieces to read, of which a slab has
 * four or more, while the slowest piece of another is waited for. A GPU's slabs are larger, and as many are under way
 * as it has lanes. */
static int slots_for(const ndr_job *job, int threads) {
  if (is_far(job)) return threads < 6 ? 2 + NDR_LANES : 6 + NDR_LANES;
  return threads < 2 ? 1 : threads < 6 ? 3 : threads / 2;
}

static ndr_status probe_bytes(const ndr_job *job, int64_t outputs, int64_t *bytes) {
  ndr_accumulator *probe;
  NDR_TRY(ndr_job_accumulate(job, &job->carriers[0], 1, &outputs, 0, NULL, &probe));
  *bytes = (int64_t)ndr_accumulator_bytes(probe);
  ndr_accumulator_destroy(probe);
  return NDR_OK;
}

/* The states of a block and, while a slab is added, those of the slab: twice what an accumulator says it holds. That is
 * more than the witness's results take once no slab is left. Weights have a sum of their own, of as many bytes at most.
 */
static ndr_status probe_output_bytes(const ndr_job *job, int64_t *bytes) {
  int64_t one, two;
  NDR_TRY(probe_bytes(job, 1, &one));
  NDR_TRY(probe_bytes(job, 2, &two));
  *bytes = (job->options.weights ? 4 : 2) * (two - one);
  return NDR_OK;
}

static const ndr_h5_dataset *part_of(const ndr_job *job, int i) {
  return job->dataset->part_count ? job->dataset->parts[i] : job->dataset;
}

/* As many as the reduction uses, as far as they can be of use. */
static int thread_count(const ndr_job *job) {
#ifdef _OPENMP
  long count = job->reduce.threads > 0 ? job->reduce.threads : omp_get_max_threads();
#else
  long count = job->reduce.threads > 0 ? job->reduce.threads : sysconf(_SC_NPROCESSORS_ONLN);
#endif
  return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (int)count;
}

static ndr_status open_readers(ndr_job *job) {
  int count = job->dataset->part_count ? job->dataset->part_count : 1;
  job->readers = calloc((size_t)count, sizeof *job->readers);
  job->slabs = calloc((size_t)count, sizeof *job->slabs);
  if (!job->readers || !job->slabs) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  while (job->part_count < count) {
    int i = job->part_count++;
    bool weighted = job->options.weights != NULL; /* by the host, which needs elements as they are reduced */
    NDR_TRY(ndr_reader_open(&job->readers[i], part_of(job, i), weighted, is_far(job) && ndr_gpu_converts && !weighted,
                            job->options.memory));
  }
  return NDR_OK;
}

/* A unit is the chunk as the selection sees it; where a step does not divide the chunk, a unit is only about one, and
 * some chunks are read for two slabs. */
static void describe_dim(const ndr_h5_dataset *dataset, int d, ndr_slabs *slabs) {
  int64_t chunk = dataset->info.layout == NDR_H5_CHUNKED ? dataset->info.chunk[d] : 1, step = dataset->step[d];
  slabs->shape[d] = dataset->info.shape[d];
  slabs->chunk[d] = chunk;
  slabs->from[d] = dataset->from[d];
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
  slabs->far = is_far(job);
  slabs->element_bytes = (int64_t)ndr_dtype_bytes(job->readers[part].unpack.to);
  slabs->reduced_bytes = (int64_t)ndr_dtype_bytes(job->dtype);
  memcpy(slabs->reduced, job->reduced, sizeof slabs->reduced);
  for (int d = 0; d < slabs->ndim; d++) describe_dim(dataset, d, slabs);
  return probe_output_bytes(job, &slabs->output_bytes);
}

static ndr_status choose(const ndr_job *job, int part) {
  bool follow = part > 0 && job->reduced[job->dataset->series_dim];
  return follow ? ndr_slabs_follow(&job->slabs[part], &job->slabs[0], job->options.memory)
                : ndr_slabs_choose(&job->slabs[part], job->options.memory);
}

/* Whole chunks are handed on unless they are much more than what is asked for of them: copies to a GPU are several
 * times as fast as inflating, but not any number of times. */
static ndr_status choose_form(const ndr_job *job, int part) {
  ndr_slabs *slabs = &job->slabs[part];
  slabs->whole = job->readers[part].hands_on;
  if (slabs->whole && choose(job, part) == NDR_OK) {
    int64_t held = ndr_slabs_held(slabs);
    if (held <= MOST_HELD && held / 2 <= ndr_slabs_elements(slabs)) return NDR_OK;
  }
  slabs->whole = false;
  return choose(job, part);
}

static ndr_status cut(ndr_job *job, int threads, int slots) {
  int64_t scratch = 0, largest = 0;
  job->slab_bytes = job->stored_bytes = 0;
  for (int i = 0; i < job->part_count; i++) scratch = larger(scratch, ndr_reader_scratch(&job->readers[i], threads));
  for (int i = 0; i < job->part_count; i++) {
    ndr_slabs *slabs = &job->slabs[i];
    slabs->slots = slots;
    slabs->scratch_bytes = scratch;
    NDR_TRY(choose_form(job, i));
    job->readers[i].whole = slabs->whole;
    int64_t held = ndr_slabs_held(slabs) * slabs->element_bytes;
    largest = larger(largest, held);
    job->slab_bytes = larger(job->slab_bytes, ndr_slabs_elements(slabs) * (int64_t)ndr_dtype_bytes(job->dtype));
    if (ndr_reader_leaves(&job->readers[i])) job->stored_bytes = larger(job->stored_bytes, held);
  }
  ndr_course course = {.part_count = job->part_count, .dim = job->dataset->series_dim, .parts = job->slabs};
  /* A GPU copies from pinned memory while the host goes on. */
  DLDevice place = {is_far(job) ? kDLCUDAHost : kDLCPU, job->device.device_id};
  job->feed = (ndr_feed_plan){job->readers, course, slots, threads, largest, place};
  job->reduce.threads = threads < 2 * READERS_PER_REDUCER ? 1 : threads / READERS_PER_REDUCER;
  return NDR_OK;
}

/* Lanes of further GPUs get slots of their own as far as the budget goes; slabs stay as they are for one, so that
 * results do. */
static void add_slots(ndr_job *job) {
  int64_t most = 0;
  for (int i = 0; i < job->part_count; i++) {
    int64_t bytes = ndr_slabs_bytes(&job->slabs[i]);
    if (bytes > most) most = bytes;
  }
  for (int more = (job->gpu_count - 1) * NDR_LANES; more > 0; more--) {
    if (job->feed.slot_bytes > job->options.memory - most) return;
    most += job->feed.slot_bytes;
    job->feed.slots++;
    for (int i = 0; i < job->part_count; i++) job->slabs[i].slots++;
  }
}

/* As many threads as there are, each with a chunk of its own; fewer, and less ahead, where that takes too much. */
ndr_status ndr_job_plan_feed(ndr_job *job) {
  NDR_TRY(open_readers(job));
  for (int i = 0; i < job->part_count; i++) NDR_TRY(describe_slabs(job, i, &job->slabs[i]));
  ndr_status status = NDR_ERR_MEMORY;
  for (int threads = thread_count(job); status == NDR_ERR_MEMORY && threads > 0; threads /= 2)
    for (int slots = slots_for(job, threads); status == NDR_ERR_MEMORY && slots > 0; slots--)
      status = cut(job, threads, slots);
  if (status == NDR_OK) add_slots(job);
  return status;
}
