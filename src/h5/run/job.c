/* Checks the arguments of a reduction and makes its job. Device, slabs and threads are chosen in job_device.c and
 * job_feed.c; reduce.c runs the job. */
#include "h5/run/job.h"

#include <stdlib.h>
#include <string.h>

#include "h5/run/host.h"
#include "h5/run/weigh.h"

ndr_status ndr_job_blame(const ndr_h5_dataset *dataset, ndr_status status) {
  char reason[512];
  size_t prefix = strlen(dataset->where);
  if (status == NDR_OK || strncmp(ndr_last_error(), dataset->where, prefix) == 0) return status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "%s: %s", dataset->where, reason);
}

static ndr_status read_options(ndr_job *job, const ndr_h5_options *options) {
  job->options = (ndr_h5_options)NDR_H5_OPTIONS_INIT;
  job->reduce = (ndr_options)NDR_OPTIONS_INIT;
  if (options) {
    if (options->size != sizeof *options)
      return ndr_fail(NDR_ERR_ARGUMENT, "options.size is %zu: start from NDR_H5_OPTIONS_INIT", options->size);
    if (options->memory < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.memory is %lld", (long long)options->memory);
    job->options = *options;
    if (options->reduce && options->reduce->size != sizeof *options->reduce)
      return ndr_fail(NDR_ERR_ARGUMENT, "options.reduce.size is %zu: start from NDR_OPTIONS_INIT",
                      options->reduce->size);
    if (options->reduce) job->reduce = *options->reduce;
  }
  job->memory_is_default = job->options.memory == 0;
  if (job->memory_is_default) job->options.memory = ndr_default_memory();
  if (job->dataset->info.masked) job->reduce.skip_nan = 1;
  job->reduce.stream = NULL; /* a device's work is queued on a stream of its own */
  job->options.reduce = &job->reduce;
  return NDR_OK;
}

/* Lets the core check everything that is not about files, as it would for an array in memory. */
static ndr_status check_problem(const ndr_job *job, int dim_count, const int *dims, DLTensor *const *results) {
  ndr_plan *plan;
  DLTensor tensor = ndr_h5_tensor(job->dataset);
  tensor.dtype = ndr_dtype_to_dlpack(job->dtype);
  ndr_status status = ndr_plan_create(&plan, &tensor, dim_count, dims, job->op_count, job->ops,
                                      (const DLTensor *const *)results, &job->reduce);
  ndr_plan_destroy(plan);
  for (int i = 0; status == NDR_OK && results && i < job->op_count; i++) {
    ndr_dtype dtype;
    status = ndr_host_check(results[i], "result", &dtype);
  }
  return status;
}

static void keep_dims(ndr_job *job, int dim_count, const int *dims) {
  int ndim = job->dataset->info.ndim;
  for (int d = 0; d < ndim; d++) job->reduced[d] = dim_count == -1;
  for (int i = 0; i < dim_count; i++) job->reduced[dims[i] < 0 ? dims[i] + ndim : dims[i]] = true;
  for (int d = 0; d < ndim; d++)
    if (job->reduced[d]) job->dims[job->dim_count++] = d;
}

static ndr_status make(ndr_job *job, int dim_count, const int *dims, DLTensor *const *results,
                       const ndr_h5_options *options) {
  NDR_TRY(read_options(job, options));
  job->dtype = job->options.weights ? NDR_F64 : job->dataset->info.dtype;
  NDR_TRY(check_problem(job, dim_count, dims, results));
  if (job->options.weights) NDR_TRY(ndr_weigh_check(job));
  keep_dims(job, dim_count, dims);
  job->never_written = !job->dataset->part_count && !job->options.weights &&
                       job->dataset->info.layout != NDR_H5_COMPACT && job->dataset->info.stored_bytes == 0;
  NDR_TRY(ndr_job_choose_device(job));
  NDR_TRY(ndr_job_add_valid(job));
  return job->never_written ? NDR_OK : ndr_job_plan_feed(job);
}

ndr_status ndr_job_make(ndr_job *job, ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count,
                        const ndr_op *ops, DLTensor *const *results, const ndr_h5_options *options) {
  memset(job, 0, sizeof *job);
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  job->dataset = dataset;
  job->op_count = op_count;
  job->ops = ops;
  job->uploaders[0] = (ndr_uploader){.device = {kDLCPU, 0}, .buffer_count = 1};
  return make(job, dim_count, dims, results, options);
}

void ndr_job_clear(ndr_job *job) {
  for (int i = 0; i < job->part_count; i++) ndr_reader_close(&job->readers[i]);
  free(job->readers);
  free(job->slabs);
  job->part_count = 0;
}
