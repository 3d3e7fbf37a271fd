/* See reduce.h. How slabs are cut and read is planned in job_feed.c; what becomes of them on the CPU is fold.c's
 * matter, and scan.c's. */
#include "h5/run/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/ranks/job_parts.h"
#include "h5/read/route/route.h"
#include "h5/run/leaf/fold.h"
#include "h5/run/leaf/leafwise.h"
#include "h5/run/scan/scan.h"
#include "ndreduce/device.h"

/* A job while it runs. */
typedef struct {
  const ndr_job *job;
  ndr_gpus gpus;
  DLTensor *const *results;
  ndr_feed *feed;
  ndr_fold *fold;
  ndr_leafwise *leafwise;   /* reduces in the feed's threads; or NULL */
  ndr_state_writer *writer; /* takes partial states in place of results; or NULL */
  ndr_state_set *states;    /* has those of all parts, so that nothing is read; or NULL */
  ndr_scan_slabs *scan;     /* of a scan, in place of it */
  ndr_ranks *ranks;         /* that share the job; or NULL */
  ndr_h5_progress progress;
  ndr_h5_progress before;    /* as it was when the stage, or a rank's range of pieces, began */
  double reduced_by_threads; /* since then */
} run;

/* ---- Slabs ------------------------------------------------------------------------------------------------------ */

static ndr_status reduce_whole(run *r, ndr_slab *slab, void *data) {
  if (slab->first) NDR_TRY(ndr_fold_start(r->fold, slab));
  NDR_TRY(ndr_fold_add(r->fold, slab, data));
  if (slab->ends) NDR_TRY(ndr_fold_end_stretch(r->fold, slab));
  return slab->last ? ndr_fold_finish(r->fold, r->results, slab) : NDR_OK;
}

static ndr_status write_states(void *user, ndr_state_key key, const ndr_accumulator *sums) {
  return ndr_state_writer_put(user, key, sums);
}

/* Hands the states of a piece, whose outputs may have pieces in other processes, to a rank, or to a file. */
static ndr_status hand_over(run *r, const ndr_columns *columns, const ndr_slab *slab) {
  return r->ranks ? ndr_columns_save(columns, r->job, slab, ndr_ranks_send_states, r->ranks)
                  : ndr_columns_save(columns, r->job, slab, write_states, r->writer);
}

/* Reduces a slab of outputs that may have pieces in other processes. */
static ndr_status reduce_part(run *r, ndr_slab *slab, void *data) {
  if (slab->begins) NDR_TRY(ndr_fold_start(r->fold, slab));
  NDR_TRY(ndr_fold_add(r->fold, slab, data));
  if (!slab->ends) return NDR_OK;
  const ndr_columns columns = ndr_fold_columns(r->fold);
  return hand_over(r, &columns, slab);
}

/* Takes a piece that a thread of the feed has reduced. */
static ndr_status take_piece(run *r, ndr_slab *slab, bool elsewhere) {
  ndr_columns *columns = ndr_leafwise_columns(r->leafwise);
  NDR_TRY(elsewhere ? hand_over(r, columns, slab) : ndr_fold_add_stretch(r->fold, columns, r->results, slab));
  ndr_feed_give(r->feed);
  ndr_leafwise_next(r->leafwise);
  return NDR_OK;
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

/* Counts a slab that was reduced by this thread. */
static void count_slab(run *r, const ndr_slab *slab) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(r->job->problem.dtype);
  for (int d = 0; d < r->job->dataset->info.ndim; d++) bytes *= slab->size[d];
  r->progress.bytes += bytes;
  r->progress.slabs++;
}

static ndr_status report(run *r, const ndr_feed_times *times) {
  ndr_h5_progress *p = &r->progress;
  p->stored_bytes = r->before.stored_bytes + times->stored_bytes;
  p->read_seconds = r->before.read_seconds + times->read_seconds;
  p->decode_seconds = r->before.decode_seconds + times->decode_seconds;
  p->unpack_seconds = r->before.unpack_seconds + times->unpack_seconds;
  if (r->leafwise) {
    p->bytes = r->before.bytes + times->elements * (int64_t)ndr_dtype_bytes(r->job->problem.dtype);
    p->slabs = r->before.slabs + times->slabs;
  }
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

static ndr_status reduce_taken(run *r, ndr_slab *slab, void *data) {
  bool elsewhere = r->writer || (r->ranks && ndr_ranks_splits(r->ranks, slab));
  if (r->leafwise) return take_piece(r, slab, elsewhere);
  count_slab(r, slab);
  return r->scan ? scan_slab(r, slab, data) : elsewhere ? reduce_part(r, slab, data) : reduce_whole(r, slab, data);
}

/* Of the seconds in which this thread waits those count as reducing that other threads reduce in, on the mean of all:
 * what they reduce while it does other work is not waited for. */
static void count_seconds(run *r, const ndr_feed_times *times, double waited, double reduced, double written) {
  double shared = fmin((times->reduce_seconds - r->reduced_by_threads) / r->job->feed.threads, waited);
  r->reduced_by_threads = times->reduce_seconds;
  r->progress.wait_seconds += waited - shared;
  r->progress.reduce_seconds += reduced + shared;
  r->progress.write_seconds += written;
}

static ndr_status reduce_next(run *r, bool *done) {
  ndr_slab slab;
  void *data;
  ndr_feed_state state;
  double begin = ndr_seconds();
  NDR_TRY(ndr_feed_take(r->feed, &slab, &data, &state));
  *done = state == NDR_FEED_ENDED;
  if (*done) return NDR_OK;
  double taken = ndr_seconds(), before = written_seconds(r);
  if (state == NDR_FEED_TAKEN) NDR_TRY(reduce_taken(r, &slab, data));
  double writing = written_seconds(r) - before;
  ndr_feed_times times = ndr_feed_spent(r->feed);
  count_seconds(r, &times, taken - begin, ndr_seconds() - taken - writing, writing);
  return report(r, &times);
}

/* Reads and reduces the slabs of the job's iterator. */
static ndr_status run_slabs(const ndr_job *job, run *r) {
  bool done = false;
  r->reduced_by_threads = 0;
  if (job->leafwise) NDR_TRY(ndr_leafwise_begin(&r->leafwise, job));
  NDR_TRY(ndr_feed_create(&r->feed, &job->feed, r->leafwise ? ndr_leafwise_reduce : NULL, r->leafwise));
  NDR_TRY(job->running ? ndr_scan_slabs_create(&r->scan, job, r->feed)
                       : ndr_fold_create(&r->fold, job, r->feed, &r->gpus));
  if (r->states) return take_states(r);
  while (!done) NDR_TRY(reduce_next(r, &done));
  return NDR_OK;
}

/* Ends the threads that read slabs, and frees the partial states. */
static void end_slabs(run *r) {
  ndr_gpus_drain(&r->gpus);
  ndr_fold_destroy(r->fold);
  ndr_scan_slabs_destroy(r->scan);
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
  NDR_TRY(ndr_gpus_open(&r->gpus, job));
  return r->ranks ? run_ranges(job, r) : run_slabs(job, r);
}

/* Stops all work on the stage. */
static void end_stage(ndr_job *job, run *r) {
  end_slabs(r);
  ndr_leafwise_destroy(r->leafwise);
  r->leafwise = NULL;
  ndr_gpus_close(&r->gpus);
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
  run r = {.job = job, .results = results, .ranks = ranks};
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
