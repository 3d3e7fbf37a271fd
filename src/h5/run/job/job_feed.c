/* Plans how a job's data are cut into slabs, and how many threads and slots read them. Starts no thread. */
#include <stdlib.h>
#include <string.h>

#include "common/totals.h"
#include "h5/ranks/job_parts.h"
#include "h5/read/unpack/totals.h"

#define MOST_THREADS 128

/* A scan holds the results of a slab. Writing them may take as much again for compressed chunks, and again for the
 * chunk that each thread works on. */
#define RESULT_COPIES 3

/* Enough halvings to bring the targets of slabs_cut.c down to one element. */
#define MOST_SHIFTS 24

/* The most elements that ndr_convert_stored takes apart at once. */
#define MOST_HELD INT32_MAX

bool ndr_gpu_converts = true;
int ndr_first_shift;

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static bool on_gpu(const ndr_job *job) {
  return job->device.device_type != kDLCPU;
}

/* One slab is reduced while others are read: a slab has four pieces or more, and there must be enough slabs
 * that every thread finds pieces to read while one slab waits for its slowest piece. A GPU's slabs are larger, and as
 * many are under way as it has buffers. Leaf by leaf there are two pieces a thread: one that it reduces, and one
 * that is done and waits for an earlier one. */
static int slots_for(const ndr_job *job, int threads) {
  if (job->leafwise) return threads < 2 ? 1 : 2 * threads;
  if (on_gpu(job)) return threads < 6 ? 2 + NDR_UPLOAD_BUFFERS : 6 + NDR_UPLOAD_BUFFERS;
  return threads < 2 ? 1 : threads < 6 ? 3 : threads / 2;
}

/* The array has as many dims as the dataset, which operators may name, and `outputs` outputs along the first. */
static ndr_status probe_bytes(const ndr_job *job, int64_t outputs, int64_t *bytes) {
  ndr_accumulator *probe;
  ndr_problem row = job->fold;
  row.groups = NULL;
  row.group_dim = 0;
  if (row.ndim == 0) row.ndim = 1;
  row.dim_count = 0;
  for (int d = 0; d < row.ndim; d++) row.shape[d] = d == 0 ? outputs : 1;
  for (int d = 1; d < row.ndim; d++) row.dims[row.dim_count++] = d;
  for (int i = 0; i < row.operand_count; i++)
    for (int d = 0; d < row.ndim; d++) row.operands[i].strides[d] = 1;
  NDR_TRY(ndr_job_accumulate(job, &job->uploaders[0], &row, &probe));
  *bytes = (int64_t)ndr_accumulator_bytes(probe);
  ndr_accumulator_destroy(probe);
  return NDR_OK;
}

/* Bytes of an output's states and results: with the results a count of valid elements. A scan carries a word for each
 * line, and whether an element of it has counted. */
static ndr_status probe_output_bytes(const ndr_job *job, int64_t *bytes) {
  int64_t one, two;
  if (job->running) {
    *bytes = (int64_t)ndr_dtype_bytes(job->running->word) + 1;
    return NDR_OK;
  }
  NDR_TRY(probe_bytes(job, 1, &one));
  NDR_TRY(probe_bytes(job, 2, &two));
  *bytes = two - one + (job->fold.op_count > job->problem.op_count ? 8 : 0);
  return NDR_OK;
}

/* As many as the reduction uses; more than MOST_THREADS would not read faster. */
static int thread_count(const ndr_job *job) {
  int count = job->options.threads > 0 ? job->options.threads : ndr_thread_count();
  return count > MOST_THREADS ? MOST_THREADS : count;
}

static bool defers(const ndr_job *job) {
  return !on_gpu(job) || ndr_gpu_converts;
}

/* Weighted elements may be reduced as f64 whatever they are. */
static bool as_f64(const ndr_job *job) {
  return job->problem.dtype == NDR_F64;
}

static ndr_status open_readers(ndr_job *job) {
  for (int i = 0; i < job->part_count; i++)
    NDR_TRY(ndr_reader_open(&job->readers[i], &job->parts[i], as_f64(job), defers(job), job->options.memory));
  return NDR_OK;
}

/* How many elements of its unit lie before the first element of dim d. Units of a part with a seam begin where chunks
 * do on its longer side. */
static int64_t lead_of(const ndr_h5_dataset *dataset, int d, int64_t chunk, int64_t unit) {
  const ndr_seam *seam = &dataset->seam[d];
  const bool behind = seam->at > 0 && seam->at < dataset->info.shape[d] - seam->at;
  const int64_t from = behind ? seam->from : dataset->from[d], before = behind ? seam->at : 0;
  return (from % chunk / dataset->step[d] % unit + unit - before % unit) % unit;
}

/* A unit is a chunk as the selection sees it, or all of the dim where one chunk holds it. If the step does not divide
 * the chunk, a unit is only about one chunk, and some chunks are read for two slabs. */
static void describe_dim(const ndr_h5_dataset *dataset, int d, ndr_slabs *slabs) {
  int64_t chunk = dataset->info.layout == NDR_H5_CHUNKED ? dataset->info.chunk[d] : 1, step = dataset->step[d];
  slabs->shape[d] = dataset->info.shape[d];
  slabs->chunk[d] = chunk;
  slabs->from[d] = dataset->from[d];
  slabs->unit[d] = chunk > step ? chunk / step : 1;
  slabs->lead[d] = lead_of(dataset, d, chunk, slabs->unit[d]);
  if (slabs->unit[d] <= slabs->shape[d] && chunk < dataset->extent[d]) return;
  slabs->unit[d] = slabs->shape[d] > 0 ? slabs->shape[d] : 1;
  slabs->lead[d] = 0;
}

static bool all_contiguous(const ndr_reader *readers, int count) {
  for (int i = 0; i < count; i++)
    if (readers[i].route != NDR_ROUTE_FILE) return false;
  return true;
}

/* Whether arrays beside the dataset come with slabs from elsewhere than one place of a file: a chunk would be decoded
 * for each leaf. */
static bool has_chunks_beside(const ndr_besides *operands) {
  for (int i = 0; operands && i < operands->array_count; i++) {
    const ndr_beside *array = &operands->arrays[i];
    if (array->dataset && !array->once && !all_contiguous(array->readers, array->part_count)) return true;
  }
  return false;
}

/* Why contiguous data on the CPU come in slabs; NULL where they do not. */
static const char *why_slabs(const ndr_job *job) {
  if (job->running) return "a scan";
  if (job->fold.groups) return "groups";
  if (has_chunks_beside(job->operands)) return "an array beside it is not contiguous";
  return NULL;
}

static void choose_leafwise(ndr_job *job) {
  bool contiguous = all_contiguous(job->readers, job->part_count) && !on_gpu(job) && !job->cut_for_gpus;
  job->why_slabs = contiguous ? why_slabs(job) : NULL;
  job->leafwise = contiguous && !job->why_slabs;
}

static bool all_have_totals(const ndr_job *job) {
  for (int i = 0; i < job->part_count; i++)
    if (!ndr_unpack_has_totals(&job->readers[i].deferred)) return false;
  return true;
}

/* Sums, means and counts of packed integers are made of leaves as they are stored. Neither that nor how leaves are cut,
 * unless memory is short, depends on the other ops of the job: a mean has the same bits beside a maximum as alone. */
static void choose_totals(ndr_job *job) {
  const bool may = job->leafwise && (!job->operands || !job->operands->count) && all_have_totals(job);
  job->totals = job->beside_totals = false;
  for (int i = 0; may && i < job->fold.op_count; i++) {
    const bool is_total = ndr_op_is_made_of_totals(job->fold.ops[i]);
    job->totals |= is_total;
    job->beside_totals |= !is_total;
  }
}

/* Leaves are unpacked in place, or not at all. */
static bool unpacks_in_place(const ndr_job *job, const ndr_slabs *slabs) {
  const bool totals_alone = job->totals && !job->beside_totals;
  return job->leafwise && (totals_alone || slabs->element_bytes == slabs->reduced_bytes);
}

static ndr_status describe_slabs(const ndr_job *job, int part, ndr_slabs *slabs) {
  const ndr_h5_dataset *dataset = &job->parts[part];
  slabs->ndim = dataset->info.ndim;
  slabs->chunked = dataset->info.layout == NDR_H5_CHUNKED;
  slabs->on_gpu = on_gpu(job) || job->cut_for_gpus;
  slabs->groups = ndr_groups_count(job->fold.groups);
  slabs->wide = dataset->info.layout == NDR_H5_CONTIGUOUS && !slabs->on_gpu && !slabs->groups && !job->running;
  slabs->leafwise = job->leafwise;
  slabs->stored_bytes = (int64_t)ndr_dtype_bytes(dataset->unpack.from);
  slabs->element_bytes = (int64_t)ndr_dtype_bytes(job->readers[part].unpack.to);
  slabs->reduced_bytes = (int64_t)ndr_dtype_bytes(job->problem.dtype);
  slabs->in_place = unpacks_in_place(job, slabs);
  if (job->running) {
    slabs->reduced_bytes = larger(slabs->reduced_bytes, (int64_t)ndr_dtype_bytes(job->running->word));
    slabs->leaf_copies = 1;
    slabs->result_bytes = RESULT_COPIES * (int64_t)ndr_dtype_bytes(job->running->to);
  }
  memcpy(slabs->reduced, job->reduced, sizeof slabs->reduced);
  for (int d = 0; d < slabs->ndim; d++) describe_dim(dataset, d, slabs);
  ndr_job_describe_operands(job, slabs);
  return probe_output_bytes(job, &slabs->output_bytes);
}

/* If a series is reduced along its files, their slabs are cut as those of the first file: all have the same outputs. */
static const ndr_slabs *leader_of(const ndr_job *job, int part) {
  return part > 0 && job->reduced[job->dataset->series_dim] ? &job->slabs[0] : NULL;
}

/* Hands whole chunks on unless a slab needs less than half of their elements: copies to a GPU are several times as fast
 * as inflating, but no more than that. */
static bool fit_part(const ndr_job *job, int part, bool in_parts) {
  ndr_slabs *slabs = &job->slabs[part];
  const ndr_slabs *leader = leader_of(job, part);
  slabs->whole = slabs->on_gpu && job->readers[part].hands_on;
  if (slabs->whole && ndr_slabs_fit(slabs, leader, in_parts, job->slab_memory)) {
    int64_t held = ndr_slabs_held(slabs);
    if (held <= MOST_HELD && held / 2 <= ndr_slabs_elements(slabs)) return true;
  }
  slabs->whole = false;
  return ndr_slabs_fit(slabs, leader, in_parts, job->slab_memory);
}

/* The bytes that the sizes tried last take. */
static int64_t bytes_of(const ndr_job *job) {
  int64_t most = 0;
  for (int i = 0; i < job->part_count; i++) most = larger(most, ndr_slabs_bytes(&job->slabs[i]));
  return most;
}

/* Whether these threads and slots fit into the budget. */
static bool fit(ndr_job *job, int threads, int slots, bool in_parts) {
  int64_t scratch = 0;
  bool fits = true;
  for (int i = 0; i < job->part_count; i++)
    scratch = larger(scratch, ndr_reader_scratch_bytes(&job->readers[i], threads));
  if (__builtin_add_overflow(scratch, ndr_job_operands_scratch(job, threads), &scratch)) scratch = INT64_MAX;
  for (int i = 0; i < job->part_count; i++) {
    job->slabs[i].slots = slots;
    job->slabs[i].workers = threads;
    job->slabs[i].scratch_bytes = scratch;
    fits &= fit_part(job, i, in_parts);
  }
  job->feed.threads = threads;
  job->feed.slots = slots;
  return fits;
}

/* Tries all threads, each with a chunk, or leaf by leaf a piece, of its own. If that takes too much memory, tries fewer
 * threads and slots, and at last parts of cells. */
static bool fit_any(ndr_job *job, int64_t *least) {
  for (int threads = thread_count(job); threads > 0; threads /= 2)
    for (int slots = slots_for(job, threads); slots >= (job->leafwise ? threads : 1); slots--)
      if (fit(job, threads, slots, false)) return true;
  if (!on_gpu(job) && fit(job, 1, 1, true)) return true;
  int64_t bytes = bytes_of(job);
  if (bytes < *least) *least = bytes;
  return false;
}

/* Bytes with a little to spare, as "12KiB". */
static void print_size(int64_t bytes, char *text, size_t capacity) {
  static const char units[] = "KMGTPE";
  int unit = -1;
  double value = (double)bytes * 1.05;
  for (; value >= 1000 && unit < 5; unit++) value /= 1024;
  if (unit < 0)
    snprintf(text, capacity, "%.0f", value + 1);
  else
    snprintf(text, capacity, "%.0f%ciB", value + 1, units[unit]);
}

/* If memory is short, cells and leaves are smaller, which changes last bits. Not where processes share the job: they
 * must cut it alike. */
static ndr_status cut(ndr_job *job) {
  int64_t least = INT64_MAX;
  char enough[32];
  int shifts = ndr_job_is_shared(job) ? 0 : MOST_SHIFTS;
  for (int shift = ndr_first_shift; shift <= ndr_first_shift + shifts; shift++) {
    for (int i = 0; i < job->part_count; i++) ndr_slabs_grid(&job->slabs[i], leader_of(job, i), shift);
    job->cut_short = shift > ndr_first_shift;
    if (fit_any(job, &least)) return NDR_OK;
  }
  if (job->sink && job->sink->share) least += least / (job->sink->share - 1) + 1;
  print_size(least, enough, sizeof enough);
  return ndr_fail(NDR_ERR_MEMORY,
                  "one chunk at a time takes %lld bytes, more than the %lld that buffers may take: "
                  "ndr_h5_options.memory of %s would do",
                  (long long)least, (long long)job->options.memory, enough);
}

static void plan_feed(ndr_job *job) {
  int64_t largest = 0, size = (int64_t)ndr_dtype_bytes(job->problem.dtype);
  for (int i = 0; i < job->part_count; i++) {
    const ndr_slabs *slabs = &job->slabs[i];
    int64_t held = ndr_slabs_held(slabs) * slabs->element_bytes;
    job->readers[i].whole = slabs->whole;
    largest = larger(largest, held);
    job->leaf_bytes = larger(job->leaf_bytes, ndr_slabs_leaf_bytes(slabs));
    job->slab_bytes = larger(job->slab_bytes, ndr_slabs_elements(slabs) * size);
    if (ndr_reader_defers(&job->readers[i])) job->stored_bytes = larger(job->stored_bytes, held);
  }
  job->feed.slot.readers = job->readers;
  job->feed.iterator =
      (ndr_slab_iterator){.part_count = job->part_count, .dim = job->dataset->series_dim, .parts = job->slabs};
  if (job->options.groups)
    job->feed.iterator.origin[ndr_stage_dim(job->options.groups)] = job->stages[job->stage].begin;
  job->feed.iterator.backward = job->running && job->running->reverse;
  ndr_slab_iterator_prime(&job->feed.iterator);
  ndr_job_take_pieces(job, &job->feed.iterator);
  job->feed.slot_bytes = ndr_job_place_operands(job, largest);
  if (job->operands) {
    job->feed.slot.besides = job->operands->arrays;
    job->feed.slot.beside_count = job->operands->array_count;
  }
  /* A GPU copies from pinned memory while the host goes on. */
  job->feed.place = (DLDevice){on_gpu(job) ? kDLCUDAHost : kDLCPU, job->device.device_id};
  job->fold_threads = 1; /* the threads that read share leaves among them */
}

/* Adds slots for the buffers of further GPUs, as far as the budget goes. The slabs stay those of one GPU, and so do the
 * results. */
static void add_slots(ndr_job *job) {
  int64_t most = bytes_of(job);
  for (int more = (job->gpu_count - 1) * NDR_UPLOAD_BUFFERS; more > 0; more--) {
    if (job->feed.slot_bytes > job->slab_memory - most) return;
    most += job->feed.slot_bytes;
    job->feed.slots++;
    for (int i = 0; i < job->part_count; i++) job->slabs[i].slots++;
  }
}

ndr_status ndr_job_plan_feed(ndr_job *job, int stage) {
  NDR_TRY(ndr_job_take_stage(job, stage));
  NDR_TRY(open_readers(job));
  if (stage == 0) NDR_TRY(ndr_job_open_operands(job, on_gpu(job)));
  choose_leafwise(job);
  choose_totals(job);
  for (int i = 0; i < job->part_count; i++) NDR_TRY(describe_slabs(job, i, &job->slabs[i]));
  NDR_TRY(cut(job));
  plan_feed(job);
  add_slots(job);
  return NDR_OK;
}
