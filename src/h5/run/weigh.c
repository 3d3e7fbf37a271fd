/* See weigh.h. Where weights come from is up to callers. */
#include "h5/run/weigh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/attributes.h"
#include "h5/run/host.h"

/* A mean is a sum divided by the sum of the weights. It means nothing if the weights cancel out. */
static ndr_status check_values(const DLTensor *w) {
  const double *values = (const double *)(const void *)ndr_host_address(w);
  int64_t count = 1;
  double total = 0;
  for (int i = 0; i < w->ndim; i++) count *= w->shape[i];
  for (int64_t i = 0; i < count; i++) {
    if (!(values[i] >= 0 && isfinite(values[i])))
      return ndr_fail(NDR_ERR_ARGUMENT, "weight %lld is %.9g: weights are finite and not negative", (long long)i,
                      values[i]);
    total += values[i];
  }
  return count == 0 || total > 0 ? NDR_OK : ndr_fail(NDR_ERR_ARGUMENT, "all weights are 0");
}

ndr_status ndr_weigh_check(const ndr_job *job) {
  const DLTensor *w = job->options.weights;
  const ndr_h5_info *info = &job->dataset->info;
  ndr_dtype dtype;
  for (int i = 0; i < job->problem.op_count; i++)
    if (!ndr_cf_attributes_has_weights(job->problem.ops[i]))
      return ndr_fail(NDR_ERR_OP, "%s has no weighted form; sum, mean and valid do", ndr_op_name(job->problem.ops[i]));
  if (info->dtype == NDR_C64 || info->dtype == NDR_C128)
    return ndr_fail(NDR_ERR_DTYPE, "complex elements cannot be weighted");
  NDR_TRY(ndr_host_check(w, "weights", &dtype));
  if (dtype != NDR_F64 || w->strides) return ndr_fail(NDR_ERR_ARGUMENT, "weights are not compact f64 in host memory");
  for (int i = 0; i < w->ndim; i++) {
    int d = job->options.weight_dims ? job->options.weight_dims[i] : -1;
    if (d < 0 || d >= info->ndim || (i > 0 && d <= job->options.weight_dims[i - 1]))
      return ndr_fail(NDR_ERR_DIMS, "the dims of the weights are not dims of the dataset, in ascending order");
    if (w->shape[i] != info->shape[d])
      return ndr_fail(NDR_ERR_DIMS, "the weights have size %lld along dim %d of size %lld", (long long)w->shape[i], d,
                      (long long)info->shape[d]);
  }
  return check_values(w);
}

ndr_weights ndr_weigh_box(const ndr_job *job, const ndr_slab *slab) {
  const DLTensor *w = job->options.weights;
  ndr_weights weights = {(const double *)(const void *)ndr_host_address(w), {0}};
  int64_t stride = 1;
  for (int i = w->ndim - 1; i >= 0; i--) {
    int d = job->options.weight_dims[i];
    weights.strides[d] = stride;
    weights.first += slab->whole[d] * stride;
    stride *= w->shape[i];
  }
  return weights;
}

/* ---- Rows: the innermost dim ------------------------------------------------------------------------------------ */

typedef void row_worker(double *row, int64_t count, const double *weight, int64_t stride);

/* An infinite element of weight 0 adds nothing: NaN, which the product is, would count as missing. */
static double times(double element, double weight) {
  return ((weight == 0) & (fabs(element) == INFINITY)) ? 0 : element * weight;
}

static void multiply_row(double *row, int64_t count, const double *weight, int64_t stride) {
  const double w = *weight;
  if (stride == 0 && w != 0) {
    for (int64_t i = 0; i < count; i++) row[i] *= w;
  } else {
    for (int64_t i = 0; i < count; i++) row[i] = times(row[i], weight[i * stride]);
  }
}

static void weights_row(double *row, int64_t count, const double *weight, int64_t stride) {
  for (int64_t i = 0; i < count; i++) row[i] = isnan(row[i]) ? 0 : weight[i * stride];
}

static void for_rows(const ndr_weights *weights, int ndim, const int64_t *size, double *data, row_worker *work) {
  int64_t at[NDR_MAX_DIMS] = {0}, length = ndim ? size[ndim - 1] : 1;
  const double *weight = weights->first;
  int d;
  for (d = 0; d < ndim; d++)
    if (size[d] == 0) return; /* the walk below does a row before it looks at the outer sizes */
  do {
    work(data, length, weight, ndim ? weights->strides[ndim - 1] : 0);
    data += length;
    for (d = ndim - 2; d >= 0; d--) {
      weight += weights->strides[d];
      if (++at[d] < size[d]) break;
      weight -= weights->strides[d] * at[d];
      at[d] = 0;
    }
  } while (d >= 0);
}

void ndr_weigh_elements(const ndr_weights *weights, int ndim, const int64_t *size, double *data) {
  for_rows(weights, ndim, size, data, multiply_row);
}

void ndr_weigh_weights(const ndr_weights *weights, int ndim, const int64_t *size, double *data) {
  for_rows(weights, ndim, size, data, weights_row);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* What a block has come to, one entry an output. */
typedef struct {
  double *sum, *weight_sum;
  int64_t *valid;
} totals;

static double value_of(const ndr_job *job, ndr_op op, const totals *t, int64_t i) {
  if (op == NDR_MEAN) return t->sum[i] / t->weight_sum[i];
  return job->dataset->info.masked && !ndr_job_is_empty(job) && t->valid[i] == 0 ? NAN : t->sum[i];
}

static void write_result(const ndr_job *job, ndr_op op, const totals *t, const DLTensor *result) {
  int64_t at[NDR_MAX_DIMS] = {0}, count = 1, offset = 0;
  char *data = ndr_host_address(result);
  for (int d = 0; d < result->ndim; d++) count *= result->shape[d];
  for (int64_t i = 0; i < count; i++) {
    if (op == NDR_VALID)
      ((int64_t *)(void *)data)[offset] = t->valid[i];
    else
      ((double *)(void *)data)[offset] = value_of(job, op, t, i);
    for (int d = result->ndim - 1; d >= 0; d--) {
      offset += result->strides[d];
      if (++at[d] < result->shape[d]) break;
      offset -= result->strides[d] * at[d];
      at[d] = 0;
    }
  }
}

static DLTensor like(const DLTensor *result, ndr_dtype dtype, void *data) {
  DLTensor tensor = {.data = data, .device = result->device, .ndim = result->ndim, .shape = result->shape};
  tensor.dtype = ndr_dtype_to_dlpack(dtype);
  return tensor;
}

ndr_status ndr_weigh_finish(const ndr_job *job, const ndr_accumulator *sums, const ndr_accumulator *weight_sums,
                            DLTensor *const *results) {
  int64_t count = 1;
  for (int d = 0; d < results[0]->ndim; d++) count *= results[0]->shape[d];
  size_t bytes = (size_t)count * sizeof(double);
  char *memory = malloc(3 * bytes + 1);
  if (!memory) return ndr_fail(NDR_ERR_MEMORY, "out of memory for weighted results");
  totals t = {(double *)(void *)memory, (double *)(void *)(memory + bytes), (int64_t *)(void *)(memory + 2 * bytes)};
  DLTensor sum = like(results[0], NDR_F64, t.sum), weight_sum = like(results[0], NDR_F64, t.weight_sum);
  DLTensor valid = like(results[0], NDR_I64, t.valid);
  ndr_status status = ndr_uploader_finish(&job->uploaders[0], sums, 2, (DLTensor *[]){&sum, &valid});
  if (status == NDR_OK) status = ndr_uploader_finish(&job->uploaders[0], weight_sums, 1, (DLTensor *[]){&weight_sum});
  for (int i = 0; status == NDR_OK && i < job->problem.op_count; i++)
    write_result(job, job->problem.ops[i], &t, results[i]);
  free(memory);
  return status;
}
