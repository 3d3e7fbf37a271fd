/* See reduce.h. How slabs are cut and read is planned in job_feed.c; what becomes of them on the CPU is fold.c's
 * matter, and scan.c's. */
#include "h5/run/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "h5/read/route.h"
#include "h5/run/fold.h"
#include "h5/run/job_parts.h"
#include "h5/run/scan.h"
#include "ndreduce/device.h"

/* A job while it runs. */
typedef struct {
  const ndr_job *job;
  ndr_uploader *uploaders; /* one for each GPU, which slabs go to in turn; the first one's has the block */
  int uploader_count;
  int64_t queued, completed; /* slabs */
  DLTensor *const *results;
  ndr_feed *feed;
  ndr_fold *fold;                              /* on the CPU */
  ndr_state_writer *writer;                    /* takes partial states in place of results; or NULL */
  ndr_state_set *states;                       /* has those of all parts, so that nothing is read; or NULL */
  ndr_scan_slabs *scan;                        /* of a scan, in place of it */
  ndr_ranks *ranks;                            /* that share the job; or NULL */
  ndr_block block;                             /* on GPUs */
  void *once[NDR_MOST_GPUS][NDR_MOST_BESIDES]; /* on GPUs: the arrays that are read once */
  ndr_h5_progress progress;
  ndr_h5_progress before; /* as it was when the stage began */
} run;

/* ---- Slabs ------------------------------------------------------------------------------------------------------ */

/* Copies the box of array i that belongs to the slab to the uploader's device. Those that are read once are there. */
static ndr_status bring(const run *r, ndr_uploader *uploader, int i, const ndr_slab *slab, void *data, int64_t place,
                        void **there) {
  ndr_besides *operands = r->job->operands;
  const ndr_beside *array = &operands->arrays[i];
  ndr_beside_box box = ndr_beside_find(array, slab);
  int64_t bytes = ndr_beside_elements(array, &box) * (int64_t)ndr_dtype_bytes(array->dtype);
  void *here;
  *there = r->once[uploader - r->uploaders][i];
  if (array->once) return NDR_OK;
  ndr_beside_gather(array, slab, slab, data, array->gathered ? (char *)data + array->gathered : NULL, &here);
  if (i == operands->weights) NDR_TRY(ndr_besides_weigh(operands, slab, here));
  return ndr_uploader_copy_beside(uploader, place, here, bytes, there);
}

/* Copies all that belongs to the slab beside it; the mask has its place behind that. */
static ndr_status bring_all(const run *r, ndr_uploader *uploader, void *data, ndr_beside_place *at) {
  const ndr_job *job = r->job;
  int64_t place = 0;
  for (int i = 0; i < job->operands->array_count; i++) {
    NDR_TRY(bring(r, uploader, i, at->slab, data, place, &at->elements[i]));
    place += job->operand_bytes[i];
  }
  return ndr_uploader_copy_beside(uploader, place, NULL, 0, &at->mask);
}

/* Copies the slab in `data` to the uploader's device and adds it to an accumulator there. */
static ndr_status add(const run *r, ndr_uploader *uploader, ndr_accumulator *to, ndr_slab *slab, void *data) {
  const ndr_job *job = r->job;
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
  if (has_operands) NDR_TRY(bring_all(r, uploader, data, &at));
  NDR_TRY(ndr_uploader_copy(uploader, data, ndr_reader_bytes(reader, box), ndr_reader_defers(reader) ? &deferred : NULL,
                            &there));
  DLTensor tensor = {.data = (void *)(uintptr_t)there, .device = uploader->device, .ndim = ndim, .shape = slab->size};
  tensor.dtype = ndr_dtype_to_dlpack(job->problem.dtype);
  if (!has_operands) return ndr_accumulator_add(to, &tensor, offset);
  at.x = &tensor;
  NDR_TRY(ndr_besides_give(job->operands, &at, &given));
  return ndr_accumulator_add_operands(to, &tensor, given.pointers, offset);
}

/* Reduces a slab on another GPU than the block's and merges the states into the block. They are bitwise those of adding
 * the slab on the block's own GPU: the first addition to an accumulator stores the slab's states as they are. */
static ndr_status add_elsewhere(run *r, ndr_uploader *uploader, ndr_slab *slab, void *data) {
  ndr_block piece;
  ndr_status status = ndr_block_open(&piece, r->job, uploader, slab);
  if (status == NDR_OK) status = add(r, uploader, piece.sums, slab, data);
  if (status == NDR_OK) status = ndr_block_merge(&r->block, &piece);
  ndr_block_close(&piece);
  return status;
}

static ndr_status add_slab(run *r, ndr_slab *slab, void *data) {
  ndr_uploader *uploader = &r->uploaders[r->queued++ % r->uploader_count];
  NDR_TRY(uploader == r->uploaders ? add(r, uploader, r->block.sums, slab, data)
                                   : add_elsewhere(r, uploader, slab, data));
  return ndr_uploader_release(uploader);
}

/* Waits until fewer slabs are under way than there are buffers, and gives their slots back. */
static ndr_status free_buffer(run *r) {
  while (r->queued - r->completed >= (int64_t)r->uploader_count * r->uploaders[0].buffer_count) {
    NDR_TRY(ndr_uploader_wait_oldest(&r->uploaders[r->completed++ % r->uploader_count]));
    ndr_feed_give(r->feed);
  }
  return NDR_OK;
}

static ndr_status reduce_on_gpu(run *r, ndr_slab *slab, void *data) {
  if (slab->first) NDR_TRY(ndr_block_open(&r->block, r->job, &r->uploaders[0], slab));
  NDR_TRY(add_slab(r, slab, data));
  NDR_TRY(free_buffer(r));
  if (!slab->last) return NDR_OK;
  return ndr_blocks_finish(&r->block, 1, r->job, slab, r->results);
}

static ndr_status reduce_on_cpu(run *r, const ndr_slab *slab, void *data) {
  if (slab->first) NDR_TRY(ndr_fold_start(r->fold, slab));
  NDR_TRY(ndr_fold_add(r->fold, slab, data));
  ndr_feed_give(r->feed);
  if (slab->ends) NDR_TRY(ndr_fold_end_stretch(r->fold, slab));
  return slab->last ? ndr_fold_finish(r->fold, r->results, slab) : NDR_OK;
}

static ndr_status write_states(void *user, ndr_state_key key, const ndr_accumulator *sums) {
  return ndr_state_writer_put(user, key, sums);
}

/* Reduces a slab of outputs that may have pieces in other processes. A piece's states go to a file, or to a rank. */
static ndr_status reduce_part(run *r, const ndr_slab *slab, void *data) {
  if (slab->begins) NDR_TRY(ndr_fold_start(r->fold, slab));
  NDR_TRY(ndr_fold_add(r->fold, slab, data));
  ndr_feed_give(r->feed);
  if (!slab->ends) return NDR_OK;
  return r->ranks ? ndr_fold_save(r->fold, slab, ndr_ranks_send_states, r->ranks)
                  : ndr_fold_save(r->fold, slab, write_states, r->writer);
}

/* Goes through the slabs of all parts without reading them. */
static ndr_status take_states(run *r) {
  ndr_slab_iterator iterator = r->job->feed.iterator;
  ndr_slab slab;
  iterator.from = iterator.to = 0;
  while (ndr_slab_iterator_next(&iterator, &slab)) {
    if (slab.first) NDR_TRY(ndr_fold_start(r->fold, &slab));
    if (!slab.ends) continue;
    NDR_TRY(ndr_fold_load(r->fold, &slab, r->states));
    NDR_TRY(ndr_fold_end_stretch(r->fold, &slab));
    if (slab.last) NDR_TRY(ndr_fold_finish(r->fold, r->results, &slab));
  }
  return NDR_OK;
}

static ndr_status scan_slab(run *r, const ndr_slab *slab, void *data) {
  if (slab->first) NDR_TRY(ndr_scan_slabs_start(r->scan, slab));
  NDR_TRY(ndr_scan_slabs_add(r->scan, slab, data));
  ndr_feed_give(r->feed);
  return ndr_scan_slabs_put(r->scan, slab);
}

static ndr_status cancelled(void) {
  return ndr_fail(NDR_ERR_CANCELLED, "stopped by on_progress");
}

static ndr_status report(run *r, const ndr_slab *slab) {
  ndr_h5_progress *p = &r->progress;
  ndr_feed_times times = ndr_feed_spent(r->feed);
  int64_t bytes = (int64_t)ndr_dtype_bytes(r->job->problem.dtype);
  for (int d = 0; d < r->job->dataset->info.ndim; d++) bytes *= slab->size[d];
  p->bytes += bytes;
  p->slabs++;
  p->stored_bytes = r->before.stored_bytes + times.stored_bytes;
  p->read_seconds = r->before.read_seconds + times.read_seconds;
  p->decode_seconds = r->before.decode_seconds + times.decode_seconds;
  p->unpack_seconds = r->before.unpack_seconds + times.unpack_seconds;
  const ndr_h5_options *options = &r->job->options;
  ndr_h5_progress all = *p;
  if (r->ranks) NDR_TRY(ndr_ranks_look(r->ranks, p, &all));
  if (!options->on_progress || options->on_progress(options->user, &all) == 0) return NDR_OK;
  return cancelled();
}

static double written_seconds(const run *r) {
  const ndr_sink *sink = r->job->sink;
  return sink && sink->seconds ? *sink->seconds : 0;
}

static ndr_status reduce_next(run *r, bool *done) {
  ndr_slab slab;
  void *data;
  double begin = ndr_seconds();
  NDR_TRY(ndr_feed_take(r->feed, &slab, &data, done));
  if (*done) return NDR_OK;
  double taken = ndr_seconds(), before = written_seconds(r);
  bool elsewhere = r->writer || (r->ranks && ndr_ranks_splits(r->ranks, &slab));
  NDR_TRY(r->scan     ? scan_slab(r, &slab, data)
          : elsewhere ? reduce_part(r, &slab, data)
          : r->fold   ? reduce_on_cpu(r, &slab, data)
                      : reduce_on_gpu(r, &slab, data));
  r->progress.wait_seconds += taken - begin;
  double writing = written_seconds(r) - before;
  r->progress.write_seconds += writing;
  r->progress.reduce_seconds += ndr_seconds() - taken - writing;
  return report(r, &slab);
}

static int64_t beside_bytes(const ndr_job *job) {
  int64_t bytes = job->mask_bytes;
  for (int i = 0; job->operands && i < job->operands->array_count; i++) bytes += job->operand_bytes[i];
  return bytes;
}

/* While slabs are under way, others are read: with several GPUs two slots at least are left for those. */
static ndr_status open_uploaders(ndr_job *job, run *r) {
  int slots = job->feed.slots, spare = slots > 3 ? slots - 2 : 1, count = job->gpu_count < 1 ? 1 : job->gpu_count;
  if (count > spare) count = spare;
  int buffers = count == 1 ? slots : spare / count;
  if (buffers > NDR_UPLOAD_BUFFERS) buffers = NDR_UPLOAD_BUFFERS;
  while (r->uploader_count < count) {
    DLDevice device = {job->device.device_type, job->device.device_id + r->uploader_count};
    NDR_TRY(ndr_uploader_open(&job->uploaders[r->uploader_count++], device, job->slab_bytes, job->stored_bytes,
                              beside_bytes(job), buffers));
  }
  return NDR_OK;
}

/* Copies the arrays that are read once to the uploader's device. */
static ndr_status bring_once(const ndr_job *job, const ndr_uploader *uploader, void **once) {
  for (int i = 0; job->operands && i < job->operands->array_count; i++) {
    const ndr_beside *array = &job->operands->arrays[i];
    size_t bytes = (size_t)ndr_beside_count(array) * ndr_dtype_bytes(array->dtype);
    if (!array->once || bytes == 0) continue;
    NDR_TRY(ndr_memory_allocate(uploader->device, bytes, &once[i]));
    NDR_TRY(ndr_copy(uploader->device, once[i], array->memory, bytes, uploader->stream));
    NDR_TRY(ndr_stream_wait(uploader->device, uploader->stream));
  }
  return NDR_OK;
}

static void free_once(run *r) {
  for (int i = 0; i < r->uploader_count; i++)
    for (int k = 0; k < NDR_MOST_BESIDES; k++) ndr_memory_free(r->uploaders[i].device, r->once[i][k]);
}

/* Reads and reduces the slabs of the job's iterator. */
static ndr_status run_slabs(const ndr_job *job, run *r) {
  bool done = false;
  NDR_TRY(ndr_feed_create(&r->feed, &job->feed));
  if (job->running)
    NDR_TRY(ndr_scan_slabs_create(&r->scan, job, r->feed));
  else if (job->device.device_type == kDLCPU)
    NDR_TRY(ndr_fold_create(&r->fold, job, r->feed));
  if (r->states) return take_states(r);
  while (!done) NDR_TRY(reduce_next(r, &done));
  return NDR_OK;
}

/* Ends the threads that read slabs, and frees the partial states. */
static void end_slabs(run *r) {
  ndr_fold_destroy(r->fold);
  ndr_scan_slabs_destroy(r->scan);
  ndr_block_close(&r->block);
  ndr_feed_destroy(r->feed);
  r->fold = NULL;
  r->scan = NULL;
  r->feed = NULL;
}

/* Reduces this rank's ranges of pieces, and then joins the outputs that it owns. */
static ndr_status run_ranges(ndr_job *job, run *r) {
  ndr_slab_iterator *iterator = &job->feed.iterator;
  bool done = false;
  NDR_TRY(ndr_ranks_deal(r->ranks));
  while (!done) {
    NDR_TRY(ndr_ranks_next(r->ranks, &iterator->from, &iterator->to, &done));
    if (!done) NDR_TRY(run_slabs(job, r));
    end_slabs(r);
    r->before = r->progress;
  }
  return ndr_ranks_join(r->ranks);
}

static ndr_status run_job(ndr_job *job, run *r) {
  NDR_TRY(ndr_besides_load(job->operands));
  NDR_TRY(open_uploaders(job, r));
  for (int i = 0; job->device.device_type != kDLCPU && i < r->uploader_count; i++)
    NDR_TRY(bring_once(job, &r->uploaders[i], r->once[i]));
  return r->ranks ? run_ranges(job, r) : run_slabs(job, r);
}

/* Stops all work on the stage. */
static void end_stage(ndr_job *job, run *r) {
  for (int i = 0; i < r->uploader_count; i++) ndr_uploader_close(&job->uploaders[i]);
  free_once(r);
  end_slabs(r);
  r->uploader_count = 0;
  r->queued = r->completed = 0;
  ndr_job_plan_on_host(job);
}

static int64_t count_slabs(const ndr_job *job) {
  int64_t count = 0;
  for (int i = 0; i < job->part_count; i++) count += ndr_slabs_count(&job->slabs[i]);
  return count;
}

/* Later stages are about as large as the one at hand. */
static ndr_status run_stage(ndr_job *job, run *r, int stage) {
  if (stage > 0) NDR_TRY(ndr_job_plan_feed(job, stage));
  r->before = r->progress;
  int64_t slabs = count_slabs(job) / (job->options.part_count ? job->options.part_count : 1);
  r->progress.total_slabs = r->progress.slabs + slabs * (job->stage_count - stage);
  ndr_status status = run_job(job, r);
  end_stage(job, r);
  return status;
}

/* Rank 0 waits for the last reports of the others, gives them to on_progress, and fails if no rank has seen a weight
 * other than 0. */
static ndr_status finish_ranks(const ndr_job *job, run *r) {
  ndr_h5_progress all = r->progress;
  bool weighed = ndr_besides_weighed(job->operands);
  NDR_TRY(ndr_ranks_finish(r->ranks, &r->progress, &all, &weighed));
  if (job->options.on_progress && job->options.on_progress(job->options.user, &all) != 0) return cancelled();
  return all.ranks == 0 || weighed ? NDR_OK : ndr_besides_check_weights(job->operands);
}

static ndr_status run_stages(ndr_job *job, run *r) {
  if (r->ranks) NDR_TRY(ndr_ranks_start(r->ranks, job, r->results));
  NDR_TRY(ndr_job_parts_open(job, &r->writer, &r->states));
  for (int stage = 0; stage < job->stage_count; stage++) NDR_TRY(run_stage(job, r, stage));
  if (r->writer) return ndr_state_writer_commit(r->writer);
  if (r->ranks) return finish_ranks(job, r);
  return r->states ? NDR_OK : ndr_besides_check_weights(job->operands);
}

ndr_status ndr_job_reduce(ndr_job *job, DLTensor *const *results, const char *warning, ndr_ranks *ranks) {
  run r = {.job = job, .uploaders = job->uploaders, .results = results, .ranks = ranks};
  r.progress.threads = job->feed.threads;
  r.progress.device = job->device;
  r.progress.warning = warning;
  r.progress.total_bytes = (int64_t)ndr_dtype_bytes(job->problem.dtype);
  for (int d = 0; d < job->dataset->info.ndim; d++) r.progress.total_bytes *= job->dataset->info.shape[d];
  if (job->options.part_count) r.progress.total_bytes /= job->options.part_count;
  ndr_status status = run_stages(job, &r);
  ndr_state_writer_close(r.writer);
  ndr_state_set_close(r.states);
  return status;
}
