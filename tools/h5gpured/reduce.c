/* Reduces or scans one dataset: options for the library, the progress bar, and what --explain says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "h5gpured/besides.h"
#include "h5gpured/output.h"
#include "h5gpured/ranks.h"
#include "h5gpured/results.h"

static void print_lines(char *text, FILE *stream) {
  for (char *end; (end = strchr(text, '\n')); text = end + 1) {
    *end = 0;
    cli_print_visible(text, stream);
    fputc('\n', stream);
  }
  cli_print_visible(text, stream);
}

ndr_h5_scan scan_of(const answer *a) {
  ndr_h5_scan scan = NDR_H5_SCAN_INIT;
  scan.dim = a->scan_dim;
  scan.op = a->options->ops[0];
  scan.exclusive = a->options->exclusive;
  scan.reverse = a->options->reverse;
  scan.skip_nan = a->options->skip_nan;
  return scan;
}

static bool explain(ndr_h5_dataset *dataset, const answer *a, const ndr_h5_options *how) {
  size_t length, capacity = 4096 + 4 * strlen(a->info->dataset) + 4 * strlen(a->info->file); /* 4: as \x1b */
  char *text = malloc(capacity);
  if (!text) {
    complain("%s: out of memory", a->info->file);
    return false;
  }
  const ndr_h5_scan scan = scan_of(a);
  ndr_status status = a->options->scans ? ndr_h5_scan_explain(dataset, &scan, how, text, capacity, &length)
                                        : ndr_h5_explain(dataset, &a->problem, how, text, capacity, &length);
  bool good = status == NDR_OK;
  if (good) print_lines(text, stderr);
  free(text);
  return good || fail();
}

/* What on_progress was last told, kept for --explain. */
typedef struct {
  progress_bar bar;
  bool shown, warned;
  ndr_h5_progress last, *of_ranks; /* of_ranks: what last.of_ranks points to */
} progress_watch;

/* Copies the ranks' reports, which are valid only during the call. Without memory they are not explained. */
static void keep_ranks(progress_watch *w) {
  size_t bytes = (size_t)w->last.ranks * sizeof *w->of_ranks;
  if (bytes && !w->of_ranks) w->of_ranks = malloc(bytes);
  if (bytes && w->of_ranks) memcpy(w->of_ranks, w->last.of_ranks, bytes);
  w->last.of_ranks = w->of_ranks;
}

static int watch(void *user, const ndr_h5_progress *now) {
  progress_watch *w = user;
  w->last = *now;
  keep_ranks(w);
  if (now->warning && !w->warned) {
    progress_clear(&w->bar);
    complain("%s; the CPU does it instead", now->warning);
    w->warned = true;
  }
  if (w->shown) progress_draw(&w->bar, now);
  return work_is_stopped();
}

/* Times that are shown as 0 say nothing of a speed. */
static bool shows(double seconds) {
  return seconds >= 0.0005;
}

static void explain_seconds(double seconds, int64_t bytes) {
  fprintf(stderr, " %.3f s", seconds);
  if (shows(seconds)) fprintf(stderr, " (%.3g GB/s)", (double)bytes / 1e9 / seconds);
}

/* One stage: how fast the elements went through it, and its share of what the threads could do; none where it was only
 * looked into. */
static void explain_stage(const char *name, double seconds, int64_t bytes) {
  if (!shows(seconds)) return;
  fprintf(stderr, ", %s", name);
  explain_seconds(seconds, bytes);
}

enum { STAGES = 5 };

static const char *const stage_names[STAGES] = {"reading", "decoding", "unpacking", "reducing", "waiting"};

static double stage_seconds(const ndr_h5_progress *p, int stage) {
  return (const double[STAGES]){p->read_seconds, p->decode_seconds, p->unpack_seconds, p->reduce_seconds,
                                p->wait_seconds}[stage];
}

/* Which ranks have used a GPU, as "0, 4, 8", for each; GPUs of several machines that have one number count as one. */
static void explain_gpus(const ndr_h5_progress *p) {
  const char *before = "gpus     ";
  for (int id = 0, found = 0; found < p->ranks; id++) {
    bool named = false;
    for (int i = 0; i < p->ranks; i++) {
      if (p->of_ranks[i].device.device_type == kDLCPU) return;
      if (p->of_ranks[i].device.device_id != id) continue;
      if (named)
        fprintf(stderr, ", %d", i);
      else
        fprintf(stderr, "%scuda:%d of rank %d", before, id, i);
      named = true;
      before = "; ";
      found++;
    }
  }
  fputc('\n', stderr);
}

/* How evenly the ranks have worked: the least, mean and most seconds of a rank, for each stage. */
static void explain_ranks(const ndr_h5_progress *p) {
  int64_t sent = 0;
  if (!p->of_ranks) return;
  for (int i = 0; i < p->ranks; i++) sent += p->of_ranks[i].sent_bytes;
  fprintf(stderr, "ranks    %d, which sent each other %.4g MB", p->ranks, (double)sent / 1e6);
  for (int stage = 0; stage < STAGES; stage++) {
    double least = INFINITY, most = 0, sum = 0;
    for (int i = 0; i < p->ranks; i++) {
      double seconds = stage_seconds(&p->of_ranks[i], stage);
      least = fmin(least, seconds);
      most = fmax(most, seconds);
      sum += seconds;
    }
    fprintf(stderr, "%s %s %.3f, %.3f, %.3f s", stage ? ";" : ": least, mean and most", stage_names[stage], least,
            sum / p->ranks, most);
  }
  fputc('\n', stderr);
  explain_gpus(p);
}

/* Reading threads share the first three stages, of which the mean over threads is told. Reducing and writing are the
 * limit where those had to wait for them: where they took more of their thread's time than waiting did, and more than
 * the others were busy. Else it is the stage that took most of the reading threads' time. */
static void explain_time(const answer *a, const ndr_h5_progress *p) {
  if (p->slabs == 0) return;
  double use = p->reduce_seconds + p->write_seconds, all = p->wait_seconds + use;
  int64_t written = 0;
  results_bytes(a, &written);
  double supply = p->read_seconds + p->decode_seconds + p->unpack_seconds;
  const char *reducing = a->options->scans                 ? "scanning"
                         : p->device.device_type == kDLCPU ? "reducing"
                                                           : "copying and reducing";
  bool waited = use > p->wait_seconds && use > supply / p->threads;
  const char *limit = waited && p->write_seconds > use / 2    ? "writing"
                      : waited                                ? reducing
                      : 2 * p->read_seconds > supply          ? "reading"
                      : p->decode_seconds > p->unpack_seconds ? "decoding"
                                                              : "unpacking";
  fputs("time    ", stderr);
  explain_seconds(all, p->bytes);
  if (p->ranks) {
    fputc('\n', stderr);
    explain_ranks(p);
    return;
  }
  explain_stage("reading", p->read_seconds / p->threads, p->stored_bytes);
  explain_stage("decoding", p->decode_seconds / p->threads, p->bytes);
  explain_stage("unpacking", p->unpack_seconds / p->threads, p->bytes);
  explain_stage(reducing, p->reduce_seconds, p->bytes);
  explain_stage("writing", p->write_seconds, written);
  fprintf(stderr, "; the limit was %s\n", limit);
}

static ndr_h5_options work_options(const answer *a, const besides *b, progress_watch *w, ndr_h5_refused *refused) {
  const h5gpured_options *options = a->options;
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.device = options->device;
  how.device_id = options->device_id;
  how.threads = options->threads;
  how.memory = options->memory;
  how.on_progress = watch;
  how.user = w;
  besides_put(options, b, &how);
  how.groups = a->groups;
  how.part = options->part;
  how.part_count = options->part_count;
  how.state = options->state;
  how.note = options->note;
  how.state_count = options->state_count;
  how.states = (const char *const *)options->states;
  how.comm = ranks_comm();
  how.refused = refused;
  return how;
}

/* Into the writer, or where that is NULL into the results. */
static ndr_status work(ndr_h5_writer *writer, ndr_h5_dataset *dataset, answer *a, const char *const *names,
                       const ndr_h5_options *how) {
  const ndr_h5_scan scan = scan_of(a);
  DLTensor *results[NDR_MAX_OPS] = {NULL};
  for (int i = 0; i < a->options->op_count; i++) results[i] = &a->results[i];
  if (a->options->scans)
    return writer ? ndr_h5_writer_add_scan(writer, dataset, &scan, names[0], how)
                  : ndr_h5_scan_to(dataset, &scan, results[0], how);
  return writer ? ndr_h5_writer_add_reduced(writer, dataset, &a->problem, names, how)
                : ndr_h5_reduce(dataset, &a->problem, how->part_count || !ranks_leads() ? NULL : results, how);
}

bool reduce_to_writer(ndr_h5_writer *writer, ndr_h5_dataset *dataset, answer *a, const besides *b,
                      const char *const *names) {
  const h5gpured_options *options = a->options;
  progress_watch w = {.shown = options->progress || (!options->quiet && isatty(STDERR_FILENO))};
  ndr_h5_refused refused = {NDR_H5_REFUSED_NONE, -1};
  const ndr_h5_options how = work_options(a, b, &w, &refused);
  if (options->explain && !explain(dataset, a, &how)) return false;
  if (!ranks_send_structure()) return false;
  progress_start(&w.bar, a->info->dataset);
  ndr_status status = work(writer, dataset, a, names, &how);
  progress_clear(&w.bar);
  if (status != NDR_OK) free(w.of_ranks);
  if (status != NDR_OK) return states_fail(options, &refused);
  if (!options->part_count && ranks_leads()) groups_unfold(a);
  if (options->explain) explain_time(a, &w.last);
  free(w.of_ranks);
  return true;
}

bool reduce_dataset(ndr_h5_dataset *dataset, answer *a, const besides *b) {
  return reduce_to_writer(NULL, dataset, a, b, NULL);
}
