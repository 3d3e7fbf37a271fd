/* Times all families that can run one problem, or, for the gauge, the planner's choice alone; results are compared
 * first. */
#include "ndbench/trial.h"

#include <stdlib.h>
#include <string.h>

/* What takes so many times as long as the best is not timed with care. */
#define HOPELESS 2

/* A sample is at least this long, by many calls where the device allows that. */
#define LONG_ENOUGH 100e-6

static double sample_seconds[MOST_FAMILIES][MOST_SAMPLES];

static bool fail(bench_trial *trial, const char *text) {
  snprintf(trial->complaint, sizeof trial->complaint, "%s", text);
  return false;
}

/* ---- plans ---- */

static bool add_runner(bench_trial *trial, const bench_pool *pool, const char *family) {
  const ndr_problem *reduction = &trial->problem->reduction;
  bench_runner *runner = &trial->runners[trial->count];
  ndr_options how = bench_plan_options(pool->options, family);
  size_t offsets[NDR_MAX_OPS + 1];
  int64_t low, high;
  double written = bench_result_offsets(reduction, offsets);
  if (written < 0 || ndr_problem_extent(reduction, &low, &high) != NDR_OK) return false;
  runner->data = (const char *)pool->placed + (size_t)-low * ndr_dtype_bytes(reduction->dtype);
  if (ndr_plan_create(&runner->plan, reduction, pool->options->device->place, NULL, &how) != NDR_OK) return false;
  trial->count++;
  trial->bytes = bench_bytes_read(reduction) + written;
  for (int i = 0; i < reduction->op_count; i++) runner->results[i] = (char *)pool->result + offsets[i];
  if (family) snprintf(runner->family, sizeof runner->family, "%s", family);
  return true;
}

/* The plan's description has a line for each family, which starts with its name: the choice first. */
static bool add_runners(bench_trial *trial, const bench_pool *pool) {
  char text[4096];
  if (!add_runner(trial, pool, NULL)) return false;
  ndr_plan_describe(trial->runners[0].plan, text, sizeof text);
  const char *line = strchr(text, '\n');
  for (bool first = true; line && line[1] && trial->count < MOST_FAMILIES; line = strchr(line + 1, '\n')) {
    char family[16];
    if (line[1] == ' ') continue;
    snprintf(family, sizeof family, "%.*s", (int)strcspn(line + 1, " :\n"), line + 1);
    if (first)
      memcpy(trial->runners[0].family, family, sizeof family);
    else if (!pool->options->gauge) /* which asks nothing of the other families */
      (void)add_runner(trial, pool, family);
    first = false;
  }
  return true;
}

/* ---- results ---- */

static bool same_results(const bench_pool *pool, bench_trial *trial, const bench_runner *runner,
                         DLTensor *const *expected) {
  const ndr_problem *reduction = &trial->problem->reduction;
  bool same = true;
  for (int i = 0; same && i < reduction->op_count; i++) {
    int64_t outputs = 1;
    ndr_dtype dtype = NDR_BOOL;
    (void)ndr_dtype_from_dlpack(expected[i]->dtype, &dtype);
    for (int d = 0; d < expected[i]->ndim; d++) outputs *= expected[i]->shape[d];
    pool->options->device->fetch(pool->result_host, runner->results[i], (size_t)outputs * ndr_dtype_bytes(dtype));
    same = bench_same(reduction, reduction->ops[i], dtype, outputs, pool->result_host, expected[i]->data,
                      trial->complaint, sizeof trial->complaint);
  }
  return same;
}

static bool run_and_compare(const bench_pool *pool, bench_trial *trial, DLTensor *const *expected) {
  for (int i = 0; i < trial->count; i++) {
    const bench_runner *runner = &trial->runners[i];
    if (ndr_plan_execute(runner->plan, runner->data, runner->results, NULL, 0, NULL) != NDR_OK)
      return fail(trial, ndr_last_error());
    if (!same_results(pool, trial, runner, expected)) return false;
  }
  return true;
}

static bool verify_all(const bench_pool *pool, bench_trial *trial) {
  const ndr_problem *reduction = &trial->problem->reduction;
  ndr_options call = bench_call_options(pool->options, reduction, pool->options->device->reference);
  DLTensor array = bench_tensor(reduction, (DLDevice){kDLCPU, 0});
  DLTensor tensors[NDR_MAX_OPS], *expected[NDR_MAX_OPS];
  int64_t shapes[NDR_MAX_OPS][NDR_MAX_DIMS];
  size_t offsets[NDR_MAX_OPS + 1];
  char *memory = bench_result_offsets(reduction, offsets) >= 0 ? bench_allocate(offsets[reduction->op_count]) : NULL;
  if (!memory) return fail(trial, "out of memory to verify");
  array.data = pool->host;
  array.byte_offset = (uint64_t)((const char *)trial->runners[0].data - (const char *)pool->placed);
  for (int i = 0; i < reduction->op_count; i++) {
    tensors[i] = (DLTensor){.shape = shapes[i]};
    (void)ndr_result_describe(&array, reduction->dim_count, reduction->dims, reduction->ops[i], &call, &tensors[i]);
    tensors[i].data = memory + offsets[i];
    expected[i] = &tensors[i];
  }
  bool fine = ndreduce_many(&array, reduction->dim_count, reduction->dims, reduction->op_count, reduction->ops,
                            expected, &call) == NDR_OK
                  ? run_and_compare(pool, trial, expected)
                  : fail(trial, ndr_last_error());
  free(memory);
  return fine;
}

/* ---- times ---- */

static bool call(void *context) {
  const bench_runner *runner = context;
  return ndr_plan_execute(runner->plan, runner->data, runner->results, NULL, 0, NULL) == NDR_OK;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One sample of each after a call that is not timed, which is where kernels are loaded and workspaces grow. */
static bool time_once(const bench_device *device, bench_trial *trial, double *least) {
  *least = 0;
  for (int i = 0; i < trial->count; i++) {
    bench_runner *runner = &trial->runners[i];
    runner->seconds = call(runner) ? device->sample(call, runner, 1) : -1;
    if (runner->seconds < 0) return fail(trial, ndr_last_error());
    if (i == 0 || runner->seconds < *least) *least = runner->seconds;
  }
  return true;
}

/* `samples` of each runner that `take` holds, in turns, and what is typical of them. */
static bool time_in_turns(const bench_device *device, bench_trial *trial, const bool *take, int samples,
                          int64_t batch) {
  for (int s = 0; s < samples; s++) {
    for (int i = 0; i < trial->count; i++) {
      if (!take[i]) continue;
      sample_seconds[i][s] = device->sample(call, &trial->runners[i], batch);
      if (sample_seconds[i][s] < 0) return fail(trial, ndr_last_error());
    }
  }
  for (int i = 0; i < trial->count; i++) {
    if (!take[i]) continue;
    qsort(sample_seconds[i], (size_t)samples, sizeof **sample_seconds, compare);
    trial->runners[i].seconds = sample_seconds[i][device->by_median ? samples / 2 : 0];
  }
  return true;
}

static int fastest(const bench_trial *trial) {
  int best = 0;
  for (int i = 1; i < trial->count; i++)
    if (trial->runners[i].seconds < trial->runners[best].seconds) best = i;
  return best;
}

static bool time_all(const bench_options *options, bench_trial *trial) {
  const bench_device *device = options->device;
  bool take[MOST_FAMILIES] = {false};
  double least;
  int64_t batch = 1;
  if (!time_once(device, trial, &least)) return false;
  while (batch < device->most_batch && (double)batch * least < LONG_ENOUGH) batch *= 2;
  for (int i = 0; i < trial->count; i++) take[i] = trial->runners[i].seconds <= HOPELESS * least;
  if (!time_in_turns(device, trial, take, options->repeat, batch)) return false;
  trial->best = fastest(trial);
  if (trial->best != 0) {
    for (int i = 0; i < trial->count; i++) take[i] = i == 0 || i == trial->best;
    if (!time_in_turns(device, trial, take, options->repeat, batch)) return false;
    if (trial->runners[0].seconds <= trial->runners[trial->best].seconds) trial->best = 0;
  }
  trial->regret = trial->runners[0].seconds / trial->runners[trial->best].seconds;
  return true;
}

bool bench_trial_run(const bench_pool *pool, const bench_problem *problem, bool verify, bench_trial *trial) {
  *trial = (bench_trial){.problem = problem};
  bool fine = add_runners(trial, pool);
  if (!fine) fail(trial, ndr_last_error());
  fine = fine && (!verify || verify_all(pool, trial)) && time_all(pool->options, trial);
  for (int i = 0; i < trial->count; i++) {
    ndr_plan_destroy(trial->runners[i].plan);
    trial->runners[i].plan = NULL;
  }
  return fine;
}
