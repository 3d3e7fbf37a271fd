/* Checks the arguments of a reduction and makes its job. The problem is held against the dataset in job_problem.c;
 * device, slabs and threads are chosen in job_device.c and job_feed.c; reduce.c runs the job. */
#include "h5/ranks/job_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sized.h"
#include "h5/group/groups.h"
#include "h5/run/job/host.h"
#include "ndreduce/operator.h"

ndr_status ndr_job_options(ndr_h5_options *options, const ndr_h5_options *given) {
  *options = (ndr_h5_options)NDR_H5_OPTIONS_INIT;
  if (!given) return NDR_OK;
  NDR_TRY(ndr_sized_read(given, options, sizeof *options, "options", "NDR_H5_OPTIONS_INIT"));
  if (options->memory >= 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "options.memory is %lld", (long long)options->memory);
}

/* Ranks that share a machine divide its cores. A rank that its launcher has bound to fewer cores takes only those. */
static int default_threads(const ndr_h5_options *options) {
  int mine = ndr_thread_count(), ranks = options->comm ? options->comm->node_ranks : 1;
  int share = ranks > 1 ? (int)sysconf(_SC_NPROCESSORS_ONLN) / ranks : mine;
  return share < 1 ? 1 : share < mine ? share : mine;
}

static ndr_status read_options(ndr_job *job, const ndr_h5_options *options) {
  ndr_h5_options *o = &job->options;
  NDR_TRY(ndr_job_options(o, options));
  job->memory_is_default = o->memory == 0;
  if (job->memory_is_default) o->memory = ndr_default_memory(o->comm ? o->comm->node_ranks : 1);
  if (o->comm && o->threads == 0) o->threads = default_threads(o);
  job->fold_threads = job->options.threads;
  return ndr_job_check_parts(job);
}

static ndr_status check_dtype(const ndr_job *job) {
  ndr_dtype dtype = job->dataset->info.dtype;
  bool complex = dtype == NDR_C64 || dtype == NDR_C128;
  bool widens = job->operands && (job->operands->weights >= 0 || ndr_besides_leave_out(job->operands));
  if (job->problem.dtype == dtype || (widens && !complex && job->problem.dtype == NDR_F64)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "the problem's elements are %s, the dataset's %s",
                  ndr_dtype_name(job->problem.dtype), ndr_dtype_name(dtype));
}

static bool has_own_op(const ndr_problem *problem) {
  for (int i = 0; i < problem->op_count; i++)
    if ((int)problem->ops[i] >= NDR_OWN_OPS) return true;
  return false;
}

static ndr_status add_operands(ndr_besides **operands, ndr_problem *problem, const ndr_h5_dataset *dataset,
                               const ndr_h5_options *options) {
  if (options->needs_groups) *options->needs_groups = -1;
  if (options->weights || options->operand_count || options->where || has_own_op(problem))
    NDR_TRY(ndr_besides_make(operands, dataset, problem, options));
  ndr_besides_lay(*operands, problem);
  if (*operands && (*operands)->masked) problem->skip_nan = true;
  return ndr_h5_groups_lay(options->groups, dataset, problem);
}

ndr_status ndr_h5_problem_operands(ndr_problem *problem, const ndr_h5_dataset *dataset, const ndr_h5_options *given) {
  ndr_h5_options options;
  ndr_problem read;
  ndr_besides *operands = NULL;
  if (!problem || !dataset) return ndr_fail(NDR_ERR_ARGUMENT, "problem or dataset is a null pointer");
  NDR_TRY(ndr_job_options(&options, given));
  NDR_TRY(ndr_sized_read(problem, &read, sizeof read, "problem", "NDR_PROBLEM_INIT"));
  ndr_status status = add_operands(&operands, &read, dataset, &options);
  ndr_besides_free(operands);
  NDR_TRY(ndr_job_blame(dataset, status));
  return ndr_sized_write(problem, &read, sizeof read, "problem", "NDR_PROBLEM_INIT");
}

/* Lets the core check everything that is not about files, as it would for an array in memory. */
static ndr_status check_plan(const ndr_job *job, DLTensor *const *results) {
  ndr_plan *plan;
  ndr_options options = NDR_OPTIONS_INIT;
  options.threads = job->options.threads;
  ndr_status status =
      ndr_plan_create(&plan, &job->problem, (DLDevice){kDLCPU, 0}, (const DLTensor *const *)results, &options);
  ndr_plan_destroy(plan);
  for (int i = 0; status == NDR_OK && results && i < job->problem.op_count; i++) {
    ndr_dtype dtype;
    status = ndr_host_check(results[i], "result", &dtype);
  }
  return status;
}

static ndr_status make(ndr_job *job, const ndr_problem *problem, DLTensor *const *results,
                       const ndr_h5_options *options) {
  NDR_TRY(read_options(job, options));
  NDR_TRY(ndr_job_problem(&job->problem, job->dataset, problem));
  NDR_TRY(add_operands(&job->operands, &job->problem, job->dataset, &job->options));
  NDR_TRY(check_dtype(job));
  NDR_TRY(check_plan(job, results));
  for (int i = 0; i < job->problem.dim_count; i++) job->reduced[job->problem.dims[i]] = true;
  /* Groups differ in how many elements they have. */
  job->never_written = !job->dataset->part_count && !job->operands && !job->problem.groups && !job->sink &&
                       !job->running && !ndr_job_is_shared(job) && job->dataset->info.layout != NDR_H5_COMPACT &&
                       job->dataset->info.stored_bytes == 0;
  NDR_TRY(ndr_job_choose_device(job));
  NDR_TRY(ndr_job_add_valid(job));
  NDR_TRY(ndr_job_cut_stages(job));
  return job->never_written ? NDR_OK : ndr_job_plan_feed(job, 0);
}

void ndr_job_plan_on_host(ndr_job *job) {
  job->uploaders[0] = (ndr_uploader){.device = {kDLCPU, 0}, .buffer_count = 1};
}

ndr_status ndr_job_make(ndr_job *job, ndr_h5_dataset *dataset, const ndr_problem *problem, const ndr_job_output *output,
                        const ndr_h5_options *options) {
  memset(job, 0, sizeof *job);
  job->sink = output->sink;
  job->running = output->running;
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  job->dataset = dataset;
  ndr_job_plan_on_host(job);
  return make(job, problem, output->results, options);
}

void ndr_job_clear(ndr_job *job) {
  ndr_job_drop_stage(job);
  free(job->stages);
  job->stages = NULL;
  ndr_besides_free(job->operands);
  job->operands = NULL;
}
