/* Puts NaN into outputs that had no valid element, of masked data and under a mask or condition. Means are NaN there
 * already; a sum of nothing would be 0, so valid elements are counted beside it. Results of integers have no NaN. How
 * missing elements become NaN is in unpack.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/attributes.h"
#include "h5/run/job/host.h"
#include "h5/run/job/job.h"

bool ndr_job_is_empty(const ndr_job *job) {
  for (int i = 0; i < job->problem.dim_count; i++)
    if (job->problem.shape[job->problem.dims[i]] == 0) return true;
  return false;
}

/* Extremes of missing elements alone are NaN, but those of elements that a mask leaves out are not. */
static bool is_marked(const ndr_job *job, ndr_op op) {
  bool extreme = op == NDR_MIN || op == NDR_MAX || op == NDR_PTP;
  return ndr_cf_attributes_hides_missing(op) || (extreme && ndr_besides_leave_out(job->operands));
}

static bool may_lack_elements(const ndr_job *job) {
  const ndr_besides *operands = job->operands;
  return job->dataset->info.masked || (operands && operands->masked) || ndr_besides_leave_out(operands);
}

ndr_status ndr_job_add_valid(ndr_job *job) {
  bool needed = false;
  job->fold = job->problem;
  job->valid_index = -1;
  for (int i = 0; i < job->problem.op_count; i++) {
    needed |= is_marked(job, job->problem.ops[i]);
    if (job->problem.ops[i] == NDR_VALID) job->valid_index = i;
  }
  if (!needed || !may_lack_elements(job) || ndr_job_is_empty(job)) {
    job->valid_index = -1;
    return NDR_OK;
  }
  if (job->valid_index >= 0) return NDR_OK;
  if (job->fold.op_count == NDR_MAX_OPS)
    return ndr_fail(NDR_ERR_ARGUMENT, "where elements may be missing or left out at most %d operators without valid",
                    NDR_MAX_OPS - 1);
  job->valid_index = job->fold.op_count++;
  job->fold.ops[job->valid_index] = NDR_VALID;
  return NDR_OK;
}

ndr_status ndr_job_accumulate(const ndr_job *job, const ndr_uploader *uploader, const ndr_problem *part,
                              ndr_accumulator **accumulator) {
  ndr_options options = NDR_OPTIONS_INIT;
  options.threads = job->fold_threads;
  options.stream = uploader->stream;
  return ndr_accumulator_create(accumulator, part, uploader->device, &options);
}

ndr_status ndr_job_accumulate_row(const ndr_job *job, int64_t size, bool reduced, ndr_accumulator **accumulator) {
  ndr_problem row = job->fold;
  row.groups = NULL;
  row.group_dim = 0;
  row.ndim = 1;
  row.shape[0] = size;
  row.dim_count = reduced;
  row.dims[0] = 0;
  return ndr_job_accumulate(job, &job->uploaders[0], &row, accumulator);
}

/* ---- Marking ---------------------------------------------------------------------------------------------------- */

/* A result to walk through along its last dim, with its strides in bytes. */
typedef struct {
  char *data;
  ndr_dtype dtype;
  int64_t strides[NDR_MAX_DIMS];
} walk;

static walk walk_over(const DLTensor *tensor) {
  walk w = {.data = ndr_host_address(tensor)};
  int64_t step = tensor->dtype.bits / 8;
  ndr_dtype_from_dlpack(tensor->dtype, &w.dtype);
  for (int d = tensor->ndim - 1; d >= 0; d--) {
    w.strides[d] = tensor->strides ? tensor->strides[d] * (tensor->dtype.bits / 8) : step;
    step *= tensor->shape[d];
  }
  return w;
}

static void put_nan(ndr_dtype dtype, void *element) {
  switch (dtype) {
  case NDR_F16: *(uint16_t *)element = 0x7e00; break;
  case NDR_BF16: *(uint16_t *)element = 0x7fc0; break;
  case NDR_F32: *(float *)element = NAN; break;
  case NDR_F64: *(double *)element = NAN; break;
  case NDR_C64: ((float *)element)[0] = ((float *)element)[1] = NAN; break;
  case NDR_C128: ((double *)element)[0] = ((double *)element)[1] = NAN; break;
  default: break;
  }
}

/* Puts NaN where the number of valid elements is 0. */
static void mark(const DLTensor *result, const DLTensor *valid) {
  walk to = walk_over(result), from = walk_over(valid);
  int64_t at[NDR_MAX_DIMS] = {0}, count = 1;
  for (int d = 0; d < result->ndim; d++) count *= result->shape[d];
  for (int64_t i = 0; i < count; i++) {
    if (*(const int64_t *)(const void *)from.data == 0) put_nan(to.dtype, to.data);
    for (int d = result->ndim - 1; d >= 0; d--) {
      to.data += to.strides[d];
      from.data += from.strides[d];
      if (++at[d] < result->shape[d]) break;
      to.data -= to.strides[d] * at[d];
      from.data -= from.strides[d] * at[d];
      at[d] = 0;
    }
  }
}

ndr_status ndr_job_finish(const ndr_job *job, const ndr_accumulator *accumulator, DLTensor *const *results) {
  DLTensor *folded[NDR_MAX_OPS], scratch = *results[0];
  int64_t bytes = (int64_t)sizeof(int64_t);
  memcpy(folded, results, (size_t)job->problem.op_count * sizeof *folded);
  scratch.data = NULL;
  if (job->fold.op_count > job->problem.op_count) {
    for (int d = 0; d < scratch.ndim; d++) bytes *= scratch.shape[d];
    scratch = (DLTensor){.device = scratch.device, .ndim = scratch.ndim, .shape = scratch.shape};
    scratch.dtype = ndr_dtype_to_dlpack(NDR_I64);
    scratch.data = malloc((size_t)bytes + 1);
    if (!scratch.data) return ndr_fail(NDR_ERR_MEMORY, "out of memory to find outputs of missing elements alone");
    folded[job->valid_index] = &scratch;
  }
  ndr_status status = ndr_uploader_finish(&job->uploaders[0], accumulator, job->fold.op_count, folded);
  for (int i = 0; status == NDR_OK && job->valid_index >= 0 && i < job->problem.op_count; i++)
    if (is_marked(job, job->problem.ops[i])) mark(results[i], folded[job->valid_index]);
  free(scratch.data);
  return status;
}
