/* Plans how the arrays beside a job's dataset are read: once or with each slab, and where in a slot. */
#include "h5/run/job/job.h"

/* Arrays that are read once take at most this share of the buffers each, and half of them together. */
#define ONCE_SHARE 8

static int64_t bytes_of(const ndr_beside *array) {
  int64_t bytes;
  return __builtin_mul_overflow(ndr_beside_count(array), (int64_t)ndr_dtype_bytes(array->dtype), &bytes) ? INT64_MAX
                                                                                                         : bytes;
}

/* Whether several slabs read the same of the array: it lacks a dim of the dataset, or groups share its steps. */
static bool is_repeated(const ndr_job *job, const ndr_beside *array) {
  if (array->steps) return true;
  bool along[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < array->ndim; i++)
    if (array->dims[i] >= 0) along[array->dims[i]] = true;
  for (int d = 0; d < job->problem.ndim; d++)
    if (!along[d] && job->problem.shape[d] != 1) return true;
  return false;
}

ndr_status ndr_job_open_operands(ndr_job *job, bool on_gpu) {
  ndr_besides *operands = job->operands;
  job->slab_memory = job->options.memory;
  if (job->sink && job->sink->share) job->slab_memory -= job->options.memory / job->sink->share;
  for (int i = 0; operands && i < operands->array_count; i++) {
    ndr_beside *array = &operands->arrays[i];
    if (!array->dataset) continue;
    int64_t bytes = bytes_of(array);
    array->once = is_repeated(job, array) && bytes <= job->options.memory / ONCE_SHARE &&
                  bytes <= job->slab_memory - job->options.memory / 2;
    if (array->once) job->slab_memory -= bytes;
    NDR_TRY(ndr_beside_open(array, i == operands->weights, !on_gpu && !array->once, job->options.memory));
  }
  return NDR_OK;
}

int64_t ndr_job_operands_scratch(const ndr_job *job, int threads) {
  int64_t all = 0;
  for (int i = 0; job->operands && i < job->operands->array_count; i++) {
    int64_t bytes = ndr_beside_scratch_bytes(&job->operands->arrays[i], threads);
    if (__builtin_add_overflow(all, bytes, &all)) return INT64_MAX;
  }
  return all;
}

/* Before it is copied to a GPU, the host gathers a series from its files, turns what lies in reverse, and repeats steps
 * that groups share. */
static bool is_gathered(const ndr_slabs *slabs, const ndr_beside *array) {
  if (!slabs->on_gpu) return false;
  return array->steps || (!array->once && (array->part_count > 1 || ndr_beside_is_turned(array)));
}

static void describe(ndr_slabs *slabs, int i, const ndr_beside *array) {
  for (int k = 0; k < array->ndim; k++)
    if (array->dims[k] >= 0) slabs->besides[i].along[array->dims[k]] = true;
  const int64_t bytes = array->dataset ? ndr_beside_slot_bytes(array) : 0;
  if (!ndr_beside_is_brought_whole(array) || !slabs->on_gpu)
    slabs->besides[i].leaf_bytes = (int64_t)ndr_dtype_bytes(array->dtype);
  if (!array->once) slabs->besides[i].slot_bytes += bytes;
  if (is_gathered(slabs, array)) slabs->besides[i].slot_bytes += bytes;
}

/* The mask, which no slot holds, comes last. */
void ndr_job_describe_operands(const ndr_job *job, ndr_slabs *slabs) {
  const ndr_besides *operands = job->operands;
  if (!operands) return;
  for (int i = 0; i < operands->array_count; i++) describe(slabs, slabs->beside_count++, &operands->arrays[i]);
  if (!operands->condition.op) return;
  int mask = slabs->beside_count++;
  for (int d = 0; d < slabs->ndim; d++)
    slabs->besides[mask].along[d] =
        operands->condition.of_elements || slabs->besides[operands->condition.arrays[0]].along[d];
  slabs->besides[mask].leaf_bytes = 1;
}

/* The most that array i takes in a slot of any part, or of a leaf. */
static int64_t most_bytes(const ndr_job *job, int i, int64_t (*measure)(const ndr_slabs *, int)) {
  int64_t most = 0;
  for (int part = 0; part < job->part_count; part++) {
    int64_t bytes = measure(&job->slabs[part], i);
    if (bytes > most) most = bytes;
  }
  return most;
}

int64_t ndr_job_place_operands(ndr_job *job, int64_t slab_bytes) {
  ndr_besides *operands = job->operands;
  int64_t place = slab_bytes;
  if (!operands) return place;
  place = (place + NDR_SLABS_ALIGNMENT - 1) / NDR_SLABS_ALIGNMENT * NDR_SLABS_ALIGNMENT;
  for (int i = 0; i < operands->array_count; i++) {
    ndr_beside *array = &operands->arrays[i];
    int64_t bytes = most_bytes(job, i, ndr_slabs_beside_bytes);
    array->place = place;
    place += bytes;
    array->gathered = is_gathered(&job->slabs[0], array) ? array->place + (array->once ? 0 : bytes / 2) : 0;
    job->operand_bytes[i] = most_bytes(job, i, ndr_slabs_operand_bytes);
  }
  if (operands->condition.op) job->mask_bytes = most_bytes(job, operands->array_count, ndr_slabs_operand_bytes);
  return place;
}
