/* The problem of a job: the caller's, compared with the dataset. core/request/check.c checks problems by themselves. */
#include <string.h>

#include "core/sized.h"
#include "h5/run/job/job.h"

/* Room for a dtype and NDR_MAX_DIMS sizes. */
#define ARRAY_TEXT 768

ndr_status ndr_job_blame(const ndr_h5_dataset *dataset, ndr_status status) {
  char reason[512];
  size_t prefix = strlen(dataset->where);
  if (status == NDR_OK || strncmp(ndr_last_error(), dataset->where, prefix) == 0) return status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "%s: %s", dataset->where, reason);
}

/* Without data, as problems are made of it. */
static DLTensor tensor_of(const ndr_h5_info *info, ndr_dtype dtype) {
  DLTensor tensor = {.device = {kDLCPU, 0}, .ndim = info->ndim, .dtype = ndr_dtype_to_dlpack(dtype)};
  tensor.shape = (int64_t *)(uintptr_t)info->shape; /* DLTensor has no const; nothing writes through it */
  return tensor;
}

ndr_status ndr_h5_problem(ndr_problem *problem, const ndr_h5_dataset *dataset, int dim_count, const int *dims,
                          int op_count, const ndr_op *ops) {
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  NDR_TRY(ndr_hdf_check_numbers(dataset));
  const DLTensor tensor = tensor_of(&dataset->info, dataset->info.dtype);
  return ndr_job_blame(dataset, ndr_problem_make(problem, &tensor, dim_count, dims, op_count, ops));
}

/* "f32 [2,3]" */
static const char *array_text(ndr_dtype dtype, int ndim, const int64_t *shape, char *text) {
  const char *name = ndr_dtype_name(dtype);
  int length = snprintf(text, ARRAY_TEXT, "%s [", name ? name : "an unknown dtype");
  for (int d = 0; d < ndim && d < NDR_MAX_DIMS; d++)
    length += snprintf(text + length, ARRAY_TEXT - (size_t)length, "%s%lld", d ? "," : "", (long long)shape[d]);
  snprintf(text + length, ARRAY_TEXT - (size_t)length, "]");
  return text;
}

static ndr_status check_fit(const ndr_problem *problem, const ndr_h5_info *info) {
  char given[ARRAY_TEXT], there[ARRAY_TEXT];
  bool fits = problem->ndim == info->ndim && (problem->dtype == info->dtype || problem->dtype == NDR_F64);
  for (int d = 0; d < info->ndim && fits; d++) fits = problem->shape[d] == info->shape[d];
  if (fits) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "the problem is of %s, the dataset of %s",
                  array_text(problem->dtype, problem->ndim, problem->shape, given),
                  array_text(info->dtype, info->ndim, info->shape, there));
}

static ndr_status take(ndr_problem *problem, const ndr_h5_info *info, const ndr_problem *given) {
  ndr_problem read;
  if (!given) return ndr_fail(NDR_ERR_ARGUMENT, "problem is a null pointer");
  NDR_TRY(ndr_sized_read(given, &read, sizeof read, "problem", "NDR_PROBLEM_INIT"));
  NDR_TRY(check_fit(&read, info));
  const DLTensor tensor = tensor_of(info, read.dtype);
  ndr_problem made = NDR_PROBLEM_INIT;
  NDR_TRY(ndr_problem_make(&made, &tensor, read.dim_count, read.dim_count == -1 ? NULL : read.dims, read.op_count,
                           read.ops));
  /* Options are taken as they are, so that a new one needs no line here. */
  *problem = read;
  problem->dim_count = made.dim_count;
  memcpy(problem->dims, made.dims, sizeof made.dims);
  memcpy(problem->strides, made.strides, sizeof made.strides);
  problem->skip_nan = read.skip_nan || info->masked;
  return NDR_OK;
}

ndr_status ndr_job_problem(ndr_problem *problem, const ndr_h5_dataset *dataset, const ndr_problem *given) {
  NDR_TRY(ndr_hdf_check_numbers(dataset));
  return ndr_job_blame(dataset, take(problem, &dataset->info, given));
}
