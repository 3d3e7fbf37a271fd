/* `ndbench gauge`: the planner's choice on random problems, against the time in which the machine could move what the
 * problem needs at the least. */
#include "ndbench/gauge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Results of the first problems are checked: the others run the same kernels. */
enum { VERIFIED = 8, STEPS_AN_OCTAVE = 4, MOST_STEPS = 64 * STEPS_AN_OCTAVE };

/* Loops are sampled READS times beside each problem of a size, and at the end of the run until they have as many
 * samples as a problem's calls: the least of few samples is longer than the least of many, and a slow spell of the
 * machine does not last. */
enum { READS = 5, MOST_READS = 25, MOST_LOOPS = 16 };

#define LARGE_PART 0.25

typedef struct loop_samples {
  int count; /* of each loop */
  double seconds[MOST_LOOPS][MOST_READS];
} loop_samples;

typedef struct gauge {
  gauge_record record;
  bench_pool pool;
  loop_samples reads[MOST_STEPS], copies[MOST_STEPS]; /* of 2^(i / STEPS_AN_OCTAVE) bytes moved */
} gauge;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* ---- ceilings ---- */

static int step_of(double bytes) {
  return (int)lround(STEPS_AN_OCTAVE * log2(fmax(bytes, 64)));
}

/* The problem's bytes, rounded. */
static int own_step(const gauge *g, const gauge_row *row) {
  return step_of(fmin(row->read + row->written, (double)g->pool.bytes));
}

/* In a device whose caches are cold the size does not matter, and large reads have the launch as a small part. */
static int ceiling_step(const gauge *g, const gauge_row *row) {
  return g->record.options->device->cold ? step_of((double)g->pool.bytes) : own_step(g, row);
}

/* Bytes that a loop reads, or reads and writes. */
static size_t loop_bytes(const gauge *g, int step, bool copies) {
  size_t size = (size_t)exp2((double)step / STEPS_AN_OCTAVE);
  if (size > g->pool.bytes) size = g->pool.bytes;
  return copies ? size / 128 * 128 : size;
}

static double sample_loop(const gauge *g, size_t bytes, bool copies, int loop) {
  const bench_options *options = g->record.options;
  if (copies) return options->device->copy(options, g->pool.result, g->pool.placed, bytes / 2, loop);
  return options->device->read(options, g->pool.placed, bytes, loop);
}

static void sample_loops(const gauge *g, loop_samples *samples, int until, size_t bytes, bool copies) {
  if (until > MOST_READS) until = MOST_READS;
  if (until <= samples->count) return;
  for (int loop = 0; loop < MOST_LOOPS; loop++)
    for (int i = samples->count; i < until; i++) {
      samples->seconds[loop][i] = sample_loop(g, bytes, copies, loop);
      if (samples->seconds[loop][i] < 0) {
        samples->seconds[loop][0] = -1;
        break;
      }
    }
  samples->count = until;
}

/* The typical time of the best loop. */
static double best_seconds(const gauge *g, loop_samples *samples) {
  double best = INFINITY;
  for (int loop = 0; loop < MOST_LOOPS && samples->count; loop++) {
    double *seconds = samples->seconds[loop];
    if (seconds[0] < 0) break;
    qsort(seconds, (size_t)samples->count, sizeof *seconds, compare);
    best = fmin(best, seconds[g->record.options->device->by_median ? samples->count / 2 : 0]);
  }
  return best;
}

/* A launch is what the shortest read takes. */
static double launch_seconds(const gauge *g) {
  static loop_samples samples;
  samples.count = 0;
  if (!g->record.options->device->cold) return 0;
  sample_loops(g, &samples, MOST_READS, 64, false);
  return best_seconds(g, &samples);
}

/* If memory hands over two lines at once, reading every other line takes as long as reading all; if not, half as long,
 * so that anything beyond the middle tells. */
static void measure_bursts(gauge *g) {
  const bench_device *device = g->record.options->device;
  loop_samples all = {0}, alternate = {.count = READS, .seconds[1][0] = -1};
  size_t bytes = g->pool.bytes / 128 * 128;
  g->record.burst = device->line;
  if (!device->read_alternate || bytes == 0) return;
  sample_loops(g, &all, READS, bytes, false);
  for (int i = 0; i < READS; i++) {
    alternate.seconds[0][i] = device->read_alternate(g->pool.placed, bytes);
    if (alternate.seconds[0][i] < 0) return;
  }
  double whole = best_seconds(g, &all) - g->record.launch, half = best_seconds(g, &alternate) - g->record.launch;
  if (!(whole > 0) || !(half > 0)) return;
  g->record.alternate = half / whole;
  if (g->record.alternate > 0.75) g->record.burst = 2 * device->line;
}

/* ---- problems ---- */

static void run_one(gauge *g, const bench_problem *problem, bool verify) {
  const ndr_problem *reduction = &problem->reduction;
  const bench_device *device = g->record.options->device;
  size_t offsets[NDR_MAX_OPS + 1];
  bench_trial trial;
  if (!bench_trial_run(&g->pool, problem, verify, &trial)) {
    fprintf(stderr, "ndbench: %s: %s\n", problem->text, trial.complaint);
    g->record.failed++;
    return;
  }
  double line = device->line;
  gauge_row *row = &g->record.rows[g->record.count++];
  *row = (gauge_row){.problem = problem, .kind = gauge_kind_of(reduction), .seconds = trial.runners[0].seconds};
  memcpy(row->family, trial.runners[0].family, sizeof row->family);
  row->read = line * gauge_lines(reduction, device->line);
  row->written = line * ceil(bench_result_offsets(reduction, offsets) / line);
  row->copies = row->written > LARGE_PART * (row->read + row->written);
  int step = ceiling_step(g, row);
  loop_samples *samples = &(row->copies ? g->copies : g->reads)[step];
  sample_loops(g, samples, samples->count + READS, loop_bytes(g, step, row->copies), row->copies);
}

/* Seconds in which the best plain loop moves 2^(step / STEPS_AN_OCTAVE) bytes, of which *bytes becomes the number. */
static double loop_seconds(gauge *g, int step, bool copies, double *bytes) {
  loop_samples *samples = &(copies ? g->copies : g->reads)[step];
  size_t size = loop_bytes(g, step, copies);
  sample_loops(g, samples, g->record.options->repeat, size, copies);
  *bytes = (double)size;
  return best_seconds(g, samples) - g->record.launch;
}

/* Loops that move nothing, or take no longer than a launch, tell nothing: then the ceiling stays 0. */
static void set_share(gauge *g, gauge_row *row) {
  const gauge_record *record = &g->record;
  double bytes, own_bytes, moved = row->read + row->written;
  double seconds = loop_seconds(g, ceiling_step(g, row), row->copies, &bytes);
  double own_seconds = loop_seconds(g, own_step(g, row), row->copies, &own_bytes);
  row->share = row->plain_share = row->burst_share = NAN;
  if (!(bytes > 0 && own_bytes > 0 && seconds > 0)) return;
  row->ceiling = bytes / seconds;
  row->share = (record->launch + moved / row->ceiling) / row->seconds;
  row->plain_share = (record->launch + moved / row->ceiling) / (record->launch + own_seconds * moved / own_bytes);
  double burst_bytes = record->burst * gauge_lines(&row->problem->reduction, record->burst);
  row->burst_share = (record->launch + (burst_bytes + row->written) / row->ceiling) / row->seconds;
}

/* After all problems, when each size has all its samples. */
static void set_shares(gauge *g) {
  gauge_record *record = &g->record;
  record->launch = launch_seconds(g);
  measure_bursts(g);
  for (int i = 0; i < record->count; i++) set_share(g, &record->rows[i]);
}

bool bench_gauge(const bench_options *options) {
  static gauge g; /* too large for a stack */
  FILE *to = options->json && strcmp(options->json, "-") == 0 ? stderr : stdout;
  gauge_record *record = &g.record;
  record->options = options;
  const char *reason = bench_pool_open(&g.pool, options, &options->list);
  record->rows = reason ? NULL : calloc((size_t)options->list.count + 1, sizeof *record->rows);
  if (!record->rows) {
    fprintf(stderr, "ndbench: %s\n", reason ? reason : "out of memory");
    return false;
  }
  bench_banner(options, to);
  for (int i = 0; i < options->list.count; i++) {
    run_one(&g, &options->list.problems[i], options->verify && i < VERIFIED);
    bench_progress(i + 1, options->list.count);
  }
  set_shares(&g);
  bool fine = record->count > 0 && record->failed == 0;
  if (record->count > 0) gauge_print(record, to);
  if (record->count > 0 && options->json) fine = gauge_write_json(record) && fine;
  free(record->rows);
  bench_pool_close(&g.pool);
  return fine;
}
