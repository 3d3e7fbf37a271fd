/* The planner's regret: the time of the family it chooses over that of the family that would have been fastest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench/trial.h"

/* Results of the first problems are checked: the others run the same kernels. */
enum { VERIFIED = 8, WORST = 10, STEPS_AN_OCTAVE = 4, MOST_STEPS = 64 * STEPS_AN_OCTAVE, READS = 5, MOST_LOOPS = 16 };

typedef struct survey {
  const bench_options *options;
  bench_pool pool;
  int count, failed;
  bench_trial *trials;        /* those that worked */
  double ceiling[MOST_STEPS]; /* bytes a second, of arrays of 2^(i / STEPS_AN_OCTAVE) bytes; 0: not measured yet */
} survey;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The best of the plain read loops over about so many bytes: the sizes between are rounded. */
static double ceiling_at(survey *s, double bytes) {
  const bench_device *device = s->options->device;
  int step = (int)lround(STEPS_AN_OCTAVE * log2(fmax(bytes, 16)));
  size_t size = (size_t)exp2((double)step / STEPS_AN_OCTAVE);
  bool known = s->ceiling[step] > 0;
  if (size > s->pool.bytes) size = s->pool.bytes;
  for (int loop = 0; !known && loop < MOST_LOOPS; loop++) {
    double seconds[READS];
    for (int i = 0; i < READS; i++) seconds[i] = device->read(s->options, s->pool.placed, size, loop);
    qsort(seconds, READS, sizeof *seconds, compare);
    if (seconds[0] < 0) break;
    double rate = (double)size / seconds[device->by_median ? READS / 2 : 0];
    if (rate > s->ceiling[step]) s->ceiling[step] = rate;
  }
  return s->ceiling[step];
}

static void run_all(survey *s) {
  const bench_options *options = s->options;
  for (int i = 0; i < options->list.count; i++) {
    bench_progress(i, options->list.count);
    bench_trial *trial = &s->trials[s->count];
    const bench_problem *problem = &options->list.problems[i];
    if (bench_trial_run(&s->pool, problem, options->verify && i < VERIFIED, trial)) {
      trial->ceiling = ceiling_at(s, trial->bytes);
      s->count++;
      continue;
    }
    fprintf(stderr, "ndbench: %s: %s\n", problem->text, trial->complaint);
    s->failed++;
  }
  bench_progress(options->list.count, options->list.count);
}

/* ---- what came of it ---- */

typedef struct digest {
  double median, mean, p95, p99, worst;
  int lost;                /* problems for which another family was faster */
  bench_trial **by_regret; /* the worst first */
} digest;

static int compare_regrets(const void *a, const void *b) {
  const bench_trial *x = *(bench_trial *const *)a, *y = *(bench_trial *const *)b;
  return (x->regret < y->regret) - (x->regret > y->regret);
}

/* The regret that a share of the problems does not exceed. */
static double percentile(const survey *s, const digest *d, double share) {
  int at = (int)ceil(share * s->count) - 1;
  return d->by_regret[s->count - 1 - (at < 0 ? 0 : at)]->regret;
}

static bool digest_all(const survey *s, digest *d) {
  *d = (digest){0};
  d->by_regret = calloc((size_t)s->count + 1, sizeof *d->by_regret);
  if (!d->by_regret || s->count == 0) return false;
  for (int i = 0; i < s->count; i++) {
    d->by_regret[i] = &s->trials[i];
    d->mean += s->trials[i].regret / s->count;
    d->lost += s->trials[i].best != 0;
  }
  qsort(d->by_regret, (size_t)s->count, sizeof *d->by_regret, compare_regrets);
  d->median = percentile(s, d, 0.5);
  d->p95 = percentile(s, d, 0.95);
  d->p99 = percentile(s, d, 0.99);
  d->worst = d->by_regret[0]->regret;
  return true;
}

/* How often each family was chosen, and how often that lost, in the order of their first choice. */
static void print_choices(const survey *s, FILE *to) {
  const char *names[MOST_FAMILIES] = {NULL};
  int chosen[MOST_FAMILIES] = {0}, lost[MOST_FAMILIES] = {0};
  for (int i = 0; i < s->count; i++) {
    int f = 0;
    while (f < MOST_FAMILIES - 1 && names[f] && strcmp(names[f], s->trials[i].runners[0].family) != 0) f++;
    names[f] = s->trials[i].runners[0].family;
    chosen[f]++;
    lost[f] += s->trials[i].best != 0;
  }
  for (int f = 0; f < MOST_FAMILIES && names[f]; f++)
    fprintf(to, "%s%s %d time%s, %d lost", f ? "; " : "chosen: ", names[f], chosen[f], chosen[f] == 1 ? "" : "s",
            lost[f]);
  fputc('\n', to);
}

static void print_digest(const survey *s, const digest *d, FILE *to) {
  fprintf(to, "%d problem%s, %d of which another family runs faster than the planner's choice\n", s->count,
          s->count == 1 ? "" : "s", d->lost);
  print_choices(s, to);
  fprintf(to, "regret: median %.3f, mean %.3f, 95 %% %.3f, 99 %% %.3f, worst %.3f\n\n", d->median, d->mean, d->p95,
          d->p99, d->worst);
  fprintf(to, "%6s  %-87s %s\n", "regret", "problem", "us, the choice first");
  for (int i = 0; i < WORST && i < s->count; i++) {
    const bench_trial *trial = d->by_regret[i];
    fprintf(to, "%6.3f  %-87s", trial->regret, trial->problem->text);
    for (int r = 0; r < trial->count; r++)
      fprintf(to, "%s%s %.2f", r ? ", " : "", trial->runners[r].family, trial->runners[r].seconds * 1e6);
    fputc('\n', to);
  }
}

static void json_trial(const bench_trial *trial, json *j) {
  json_line(j, 4);
  json_open(j, NULL, '{');
  json_text(j, "set", trial->problem->set);
  json_text(j, "name", trial->problem->name);
  json_text(j, "problem", trial->problem->text);
  json_text(j, "choice", trial->runners[0].family);
  json_integer(j, "bytes", (long long)trial->bytes);
  json_number(j, "ceiling_gbps", trial->ceiling / 1e9);
  json_number(j, "regret", trial->regret);
  json_open(j, "seconds", '{');
  for (int r = 0; r < trial->count; r++) json_number(j, trial->runners[r].family, trial->runners[r].seconds);
  json_close(j, '}');
  json_close(j, '}');
}

static void json_digest(const survey *s, const digest *d, json *j) {
  json_line(j, 2);
  json_open(j, "regret", '{');
  json_integer(j, "problems", s->count);
  json_integer(j, "lost", d->lost);
  json_number(j, "median", d->median);
  json_number(j, "mean", d->mean);
  json_number(j, "p95", d->p95);
  json_number(j, "p99", d->p99);
  json_number(j, "worst", d->worst);
  json_close(j, '}');
}

static bool write_json(const survey *s, const digest *d) {
  json j;
  if (!bench_json_open(s->options, &j)) return false;
  char seed[24];
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->options->seed);
  json_literal(&j, "seed", seed);
  json_integer(&j, "largest", (long long)s->options->largest);
  json_text(&j, "planning", s->options->measure ? "measure" : "estimate");
  json_integer(&j, "failed", s->failed);
  json_digest(s, d, &j);
  json_line(&j, 2);
  json_open(&j, "rows", '[');
  for (int i = 0; i < s->count; i++) json_trial(&s->trials[i], &j);
  json_line(&j, 2);
  json_close(&j, ']');
  return bench_json_close(s->options, &j);
}

bool bench_regret(const bench_options *options) {
  survey s = {.options = options};
  digest d = {0};
  FILE *to = options->json && strcmp(options->json, "-") == 0 ? stderr : stdout;
  const char *reason = bench_pool_open(&s.pool, options, &options->list);
  s.trials = reason ? NULL : calloc((size_t)options->list.count + 1, sizeof *s.trials);
  if (!s.trials) {
    fprintf(stderr, "ndbench: %s\n", reason ? reason : "out of memory");
    return false;
  }
  bench_banner(options, to);
  run_all(&s);
  bool fine = digest_all(&s, &d);
  if (fine) print_digest(&s, &d, to);
  if (fine && options->json) fine = write_json(&s, &d);
  free(d.by_regret);
  free(s.trials);
  bench_pool_close(&s.pool);
  return fine && s.failed == 0;
}
