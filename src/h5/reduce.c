#include <stdlib.h>
#include <string.h>

#include "h5/fold.h"
#include "h5/route.h"
#include "h5/weigh.h"

/* A job while it runs. */
typedef struct {
  const ndr_job *job;
  ndr_carrier *carriers; /* one for each GPU, which slabs go to in turn; the first one's has the block */
  int carrier_count;
  int64_t sent, settled; /* slabs */
  DLTensor *const *results;
  ndr_feed *feed;
  ndr_fold *fold;  /* on the CPU */
  ndr_block block; /* on GPUs */
  ndr_h5_progress progress;
} run;

static bool cancelled(const ndr_job *job) {
  return job->options.cancel && *job->options.cancel;
}

/* ---- Slabs ------------------------------------------------------------------------------------------------------ */

/* Brings what is in `data` to the carrier's device and adds it there. */
static ndr_status add(const run *r, ndr_carrier *carrier, ndr_accumulator *to, ndr_leg *leg, const void *data) {
  const ndr_job *job = r->job;
  const ndr_reader *reader = &job->readers[leg->part];
  const ndr_box box = {leg->begin, leg->size};
  const ndr_stored rest = ndr_reader_rest(reader, box);
  int64_t offset[NDR_MAX_DIMS];
  int ndim = job->dataset->info.ndim;
  const void *there;
  for (int d = 0; d < ndim; d++) offset[d] = job->reduced[d] ? leg->whole[d] : 0;
  NDR_TRY(ndr_carrier_bring(carrier, data, ndr_reader_bytes(reader, box), ndr_reader_leaves(reader) ? &rest : NULL,
                            &there));
  DLTensor slab = {.data = (void *)(uintptr_t)there, .device = carrier->device, .ndim = ndim, .shape = leg->size};
  slab.dtype = ndr_dtype_to_dlpack(job->dtype);
  return ndr_accumulator_add(to, &slab, offset);
}

static ndr_status add_weighted(const run *r, ndr_carrier *carrier, ndr_leg *leg, void *data) {
  ndr_weights weights = ndr_weigh_box(r->job, leg);
  int ndim = r->job->dataset->info.ndim;
  ndr_weigh_elements(&weights, ndim, leg->size, data);
  NDR_TRY(add(r, carrier, r->block.sums, leg, data));
  NDR_TRY(ndr_carrier_wait(carrier));
  ndr_weigh_weights(&weights, ndim, leg->size, data);
  return add(r, carrier, r->block.weight_sums, leg, data);
}

/* On another GPU than the block's: what the slab comes to is merged into the block. The first addition to an
 * accumulator leaves what was added, so that the block's states are those that they would be if the slab had been added
 * where the block is. */
static ndr_status add_elsewhere(run *r, ndr_carrier *carrier, ndr_leg *leg, const void *data) {
  ndr_block piece;
  ndr_status status = ndr_block_open(&piece, r->job, carrier, leg);
  if (status == NDR_OK) status = add(r, carrier, piece.sums, leg, data);
  if (status == NDR_OK) status = ndr_block_merge(&r->block, &piece);
  ndr_block_close(&piece);
  return status;
}

static ndr_status add_slab(run *r, ndr_leg *leg, void *data) {
  ndr_carrier *carrier = &r->carriers[r->sent++ % r->carrier_count];
  NDR_TRY(r->block.weight_sums     ? add_weighted(r, carrier, leg, data)
          : carrier == r->carriers ? add(r, carrier, r->block.sums, leg, data)
                                   : add_elsewhere(r, carrier, leg, data));
  return ndr_carrier_send(carrier);
}

/* Waits until fewer slabs are under way than there are lanes. */
static ndr_status settle(run *r) {
  while (r->sent - r->settled >= (int64_t)r->carrier_count * r->carriers[0].lane_count) {
    NDR_TRY(ndr_carrier_settle(&r->carriers[r->settled++ % r->carrier_count]));
    ndr_feed_give(r->feed);
  }
  return NDR_OK;
}

static ndr_status reduce_far(run *r, ndr_leg *leg, void *data) {
  if (leg->first) NDR_TRY(ndr_block_open(&r->block, r->job, &r->carriers[0], leg));
  NDR_TRY(add_slab(r, leg, data));
  NDR_TRY(settle(r));
  if (!leg->last) return NDR_OK;
  NDR_TRY(ndr_block_finish(&r->block, r->job, r->results));
  ndr_block_close(&r->block);
  return NDR_OK;
}

static ndr_status reduce_here(run *r, const ndr_leg *leg, void *data) {
  if (leg->first) NDR_TRY(ndr_fold_start(r->fold, leg));
  NDR_TRY(ndr_fold_add(r->fold, leg, data));
  ndr_feed_give(r->feed);
  return leg->last ? ndr_fold_finish(r->fold, r->results) : NDR_OK;
}

static void report(run *r, const ndr_leg *leg) {
  ndr_h5_progress *p = &r->progress;
  ndr_feed_times times = ndr_feed_spent(r->feed);
  int64_t bytes = (int64_t)ndr_dtype_bytes(r->job->dtype);
  for (int d = 0; d < r->job->dataset->info.ndim; d++) bytes *= leg->size[d];
  p->bytes += bytes;
  p->slabs++;
  p->stored_bytes = times.stored_bytes;
  p->read_seconds = times.read_seconds;
  p->decode_seconds = times.decode_seconds;
  p->unpack_seconds = times.unpack_seconds;
  if (r->job->options.on_progress) r->job->options.on_progress(r->job->options.user, p);
}

static ndr_status reduce_next(run *r, bool *done) {
  ndr_leg leg;
  void *data;
  if (cancelled(r->job)) return ndr_fail(NDR_ERR_CANCELLED, "stopped");
  double begin = ndr_seconds();
  NDR_TRY(ndr_feed_take(r->feed, &leg, &data, done));
  if (*done) return NDR_OK;
  double taken = ndr_seconds();
  NDR_TRY(r->fold ? reduce_here(r, &leg, data) : reduce_far(r, &leg, data));
  r->progress.wait_seconds += taken - begin;
  r->progress.reduce_seconds += ndr_seconds() - taken;
  report(r, &leg);
  return NDR_OK;
}

/* While slabs are under way, others are read: with several GPUs two slots at least are left for those. */
static ndr_status open_carriers(ndr_job *job, run *r) {
  int slots = job->feed.slots, spare = slots > 3 ? slots - 2 : 1, count = job->gpu_count < 1 ? 1 : job->gpu_count;
  if (count > spare) count = spare;
  int lanes = count == 1 ? slots : spare / count;
  if (lanes > NDR_LANES) lanes = NDR_LANES;
  while (r->carrier_count < count) {
    DLDevice device = {job->device.device_type, job->device.device_id + r->carrier_count};
    NDR_TRY(ndr_carrier_open(&job->carriers[r->carrier_count++], device, job->slab_bytes, job->stored_bytes, lanes));
  }
  return NDR_OK;
}

static ndr_status run_job(ndr_job *job, run *r) {
  bool done = false;
  NDR_TRY(open_carriers(job, r));
  NDR_TRY(ndr_feed_create(&r->feed, &job->feed));
  if (job->device.device_type == kDLCPU) NDR_TRY(ndr_fold_create(&r->fold, job, r->feed));
  while (!done) NDR_TRY(reduce_next(r, &done));
  return NDR_OK;
}

static ndr_status reduce_slabs(ndr_job *job, DLTensor *const *results, const char *warning) {
  run r = {.job = job, .carriers = job->carriers, .results = results};
  r.progress.threads = job->feed.threads;
  r.progress.device = job->device;
  r.progress.warning = warning;
  for (int i = 0; i < job->part_count; i++) r.progress.total_slabs += ndr_slabs_count(&job->slabs[i]);
  r.progress.total_bytes = (int64_t)ndr_dtype_bytes(job->dtype);
  for (int d = 0; d < job->dataset->info.ndim; d++) r.progress.total_bytes *= job->dataset->info.shape[d];
  ndr_status status = run_job(job, &r);
  ndr_fold_destroy(r.fold);
  ndr_block_close(&r.block);
  for (int i = 0; i < r.carrier_count; i++) ndr_carrier_close(&job->carriers[i]);
  ndr_feed_destroy(r.feed);
  return status;
}

/* ---- Another way where a GPU fails ------------------------------------------------------------------------------- */

/* The smallest budget that is tried on a GPU whose memory runs out. */
#define LEAST_MEMORY ((int64_t)8 << 20)

typedef struct {
  ndr_h5_dataset *dataset;
  int dim_count;
  const int *dims;
  int op_count;
  const ndr_op *ops;
  DLTensor *const *results;
} request;

/* *far says whether it was a GPU that did or failed to do it. */
static ndr_status attempt(const request *asked, const ndr_h5_options *options, const char *warning, bool *far) {
  ndr_job job;
  ndr_status status = ndr_job_make(&job, asked->dataset, asked->dim_count, asked->dims, asked->op_count, asked->ops,
                                   asked->results, options);
  *far = job.device.device_type == kDLCUDA;
  if (status == NDR_OK)
    status = job.never_written ? ndr_job_fill(&job, asked->results) : reduce_slabs(&job, asked->results, warning);
  if (asked->dataset) status = ndr_job_blame(asked->dataset, status);
  ndr_job_clear(&job);
  return status;
}

/* A GPU that fails otherwise than for lack of memory may have failed for good: what it has come to is thrown away. */
static bool is_lost(ndr_status status) {
  return status == NDR_ERR_DEVICE || status == NDR_ERR_NO_DEVICE;
}

ndr_status ndr_h5_reduce(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                         DLTensor *const *results, const ndr_h5_options *options) {
  const request asked = {dataset, dim_count, dims, op_count, ops, results};
  ndr_h5_options smaller;
  char reason[512];
  bool far;
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  ndr_status status = attempt(&asked, options, NULL, &far);
  if (status == NDR_OK || !far || (status != NDR_ERR_MEMORY && !is_lost(status))) return status;
  ndr_status first = status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  smaller = options ? *options : (ndr_h5_options)NDR_H5_OPTIONS_INIT;
  if (smaller.memory == 0) smaller.memory = ndr_default_memory();
  for (int64_t memory = smaller.memory / 4; status == NDR_ERR_MEMORY && memory >= LEAST_MEMORY; memory /= 4) {
    smaller.memory = memory;
    status = attempt(&asked, &smaller, NULL, &far);
  }
  if (status != NDR_ERR_MEMORY && !is_lost(status)) return status;
  if (smaller.device != NDR_H5_AUTO) return ndr_fail(first, "%s", reason);
  smaller.device = NDR_H5_CPU;
  smaller.memory = options ? options->memory : 0;
  return attempt(&asked, &smaller, reason, &far);
}
