/* Scratch and a clock for timing plans under NDR_MEASURE. Which plans are timed, and how often, is in measure.c. */
#include "core/measure/trial.h"

#include <stdlib.h>
#include <time.h>

/* The sweep reads SWEEP times as much as the cache holds: a cache does not always evict its oldest lines first. */
enum { SWEEP = 2 };
static const double shortest = 1e-9;

/* ---- clocks ---- */

double ndr_trial_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static ndr_status start_clock(const ndr_trial *t, void **clock, double *started) {
  const ndr_backend *backend = t->estimate->backend;
  *started = ndr_trial_now();
  return backend->clock_start ? backend->clock_start(t->estimate->device.id, t->stream, clock) : NDR_OK;
}

static ndr_status stop_clock(const ndr_trial *t, void *clock, double started, double *seconds) {
  const ndr_backend *backend = t->estimate->backend;
  if (backend->clock_stop) return backend->clock_stop(t->estimate->device.id, t->stream, clock, seconds);
  *seconds = ndr_trial_now() - started;
  return NDR_OK;
}

/* Finds out whether the stream can be timed now: starts and stops a clock. */
static ndr_status try_clock(const ndr_trial *t) {
  void *clock = NULL;
  double started, seconds;
  NDR_TRY(start_clock(t, &clock, &started));
  return stop_clock(t, clock, started, &seconds);
}

/* ---- scratch ---- */

static ndr_status scratch(const ndr_trial *t, int64_t elements, int64_t element_bytes, void **memory) {
  int64_t bytes;
  if (__builtin_mul_overflow(elements, element_bytes, &bytes) || bytes > NDR_MOST_SCRATCH)
    return ndr_fail(NDR_ERR_MEMORY, "%lld elements of scratch are more than is taken for it", (long long)elements);
  return t->estimate->backend->allocate(t->estimate->device.id, (size_t)bytes, t->stream, memory);
}

/* Scratch that holds zeros: fresh memory may hold denormal numbers or NaN, which slow some processors down. */
static ndr_status zeros(const ndr_trial *t, int64_t words, void **memory) {
  static const ndr_state zero = {.op = NDR_SUM, .dtype = NDR_U64};
  NDR_TRY(scratch(t, words, 8, memory));
  return t->estimate->backend->states_identity(&zero, t->estimate->device.id, *memory, words, t->stream);
}

/* Scratch for array k, the problem's own or operand k - 1. */
static ndr_status scratch_array(ndr_trial *t, int k) {
  const ndr_canonical *problem = &t->estimate->problem;
  int64_t bytes = (int64_t)ndr_dtype_bytes(k ? problem->operand_dtypes[k - 1] : problem->dtype);
  int64_t low = k ? problem->operand_origin[k - 1] : problem->origin, high = low;
  for (int a = 0; a < problem->kept_count + problem->reduced_count; a++) {
    bool kept = a < problem->kept_count;
    const ndr_axis *axis = kept ? &problem->kept[a] : &problem->reduced[a - problem->kept_count];
    int64_t reach = (axis->size - 1) * (k ? axis->operand[k - 1] : axis->stride);
    *(reach < 0 ? &low : &high) += reach;
  }
  NDR_TRY(zeros(t, (high - low + 1) * bytes / 8 + 1, &t->array_scratch[k]));
  t->arrays[k] = (const void *)((uintptr_t)t->array_scratch[k] - (uintptr_t)(low * bytes));
  return NDR_OK;
}

static ndr_status scratch_arrays(ndr_trial *t) {
  for (int k = 0; k <= t->estimate->problem.operand_count; k++) NDR_TRY(scratch_array(t, k));
  t->data = t->arrays;
  return NDR_OK;
}

/* Scratch for result i in its layout, gaps included. */
static ndr_status scratch_result(ndr_trial *t, int i) {
  const ndr_canonical *problem = &t->estimate->problem;
  ndr_state state = ndr_canonical_state(problem, i);
  if (problem->merges) return zeros(t, problem->outputs * ndr_state_size(&state), &t->result_scratch[i]);
  if (problem->partial) return scratch(t, problem->outputs, 8 * ndr_state_size(&state), &t->result_scratch[i]);
  int64_t low = problem->result_origin[i], high = low, bytes;
  for (int a = 0; a < problem->kept_count; a++) {
    int64_t reach = (problem->kept[a].size - 1) * problem->kept[a].result[i];
    *(reach < 0 ? &low : &high) += reach;
  }
  bytes = (int64_t)ndr_dtype_bytes(ndr_state_result(&state));
  NDR_TRY(scratch(t, high - low + 1, bytes, &t->result_scratch[i]));
  t->results[i] = (void *)((uintptr_t)t->result_scratch[i] - (uintptr_t)(low * bytes));
  return NDR_OK;
}

static ndr_status take_scratch(ndr_trial *t) {
  if (!t->data) NDR_TRY(scratch_arrays(t));
  for (int i = 0; i < t->estimate->problem.op_count; i++) {
    NDR_TRY(scratch_result(t, i));
    if (t->estimate->problem.partial) t->results[i] = t->result_scratch[i];
  }
  return NDR_OK;
}

/* ---- the sweep ---- */

/* Makes the sweep: a reduction of the same dtype, as a build may lack kernels of others. Its operator is another one,
 * so that the instructions of the kernels that are timed come from memory, too. A sweep reads, because what it wrote
 * would go back to memory while the clock runs. */
static ndr_status make_sweep(ndr_trial *t) {
  const ndr_plan *estimate = t->estimate;
  ndr_dtype dtype = estimate->problem.dtype;
  int64_t words = SWEEP * estimate->device.l2_bytes / 8 + 2, elements = words * 8 / (int64_t)ndr_dtype_bytes(dtype);
  ndr_op op = estimate->problem.ops[0] == NDR_NORMINF ? NDR_COUNT : NDR_NORMINF;
  DLTensor array = {.ndim = 1, .dtype = ndr_dtype_to_dlpack(dtype), .shape = &elements};
  ndr_problem problem;
  ndr_request request;
  ndr_plan *sweep = t->sweep = calloc(1, sizeof *sweep);
  if (!sweep) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  sweep->backend = estimate->backend;
  sweep->device = estimate->device;
  NDR_TRY(ndr_problem_fill(&problem, &array, NDR_ALL_DIMS, 1, &op));
  NDR_TRY(ndr_request_make(&request, &problem));
  NDR_TRY(ndr_canonical_make(&sweep->problem, &request));
  NDR_TRY(ndr_plan_choose(sweep, NULL));
  return zeros(t, words + 1, &t->sweep_scratch);
}

/* Runs the sweep. Its result goes to the end of its scratch. */
static ndr_status run_sweep(const ndr_trial *t) {
  const ndr_plan *sweep = t->sweep;
  int64_t bytes = sweep->problem.length * (int64_t)ndr_dtype_bytes(sweep->problem.dtype);
  const void *data = t->sweep_scratch;
  void *workspace, *result = (char *)t->sweep_scratch + bytes;
  NDR_TRY(ndr_plan_borrow_workspace(sweep, t->stream, &workspace));
  ndr_status status = sweep->backend->execute(sweep, &data, &result, workspace, t->stream);
  ndr_plan_return_workspace(sweep, workspace, status == NDR_OK, t->stream);
  return status;
}

/* ---- a trial ---- */

ndr_status ndr_trial_begin(ndr_trial *t) {
  NDR_TRY(try_clock(t));
  NDR_TRY(take_scratch(t));
  return t->estimate->backend->clock_start && t->estimate->device.l2_bytes > 0 ? make_sweep(t) : NDR_OK;
}

static ndr_status time_runs(const ndr_trial *t, const ndr_plan *plan, int runs, void *workspace, double *seconds) {
  void *clock = NULL;
  double started, taken = 0;
  ndr_status status = NDR_OK;
  if (t->sweep) NDR_TRY(run_sweep(t));
  NDR_TRY(start_clock(t, &clock, &started));
  for (int i = 0; status == NDR_OK && i < runs; i++)
    status = plan->backend->execute(plan, t->data, t->results, workspace, t->stream);
  ndr_status stopped = stop_clock(t, clock, started, &taken);
  *seconds = taken > shortest ? taken / runs : shortest;
  return status == NDR_OK ? stopped : status;
}

ndr_status ndr_trial_time(const ndr_trial *t, const ndr_plan *plan, int runs, double *seconds) {
  void *workspace;
  NDR_TRY(ndr_plan_borrow_workspace(plan, t->stream, &workspace));
  ndr_status status = time_runs(t, plan, runs, workspace, seconds);
  ndr_plan_return_workspace(plan, workspace, status == NDR_OK, t->stream);
  return status;
}

void ndr_trial_end(ndr_trial *t) {
  const ndr_backend *backend = t->estimate->backend;
  int id = t->estimate->device.id;
  for (int i = 0; i < NDR_MAX_OPS; i++) backend->release(id, t->result_scratch[i], t->stream);
  for (int k = 0; k < NDR_MOST_ARRAYS; k++) backend->release(id, t->array_scratch[k], t->stream);
  backend->release(id, t->sweep_scratch, t->stream);
  free(t->sweep);
}
