/* Checks the arguments of a reduction and fills in what they leave out. Plans nothing. */
#include <stdio.h>
#include <string.h>

#include "core/canonical.h"

/* Planners divide by some of these numbers and allocate for others. */
static ndr_status check_device(const ndr_device *device) {
  if (device->size != sizeof *device)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.device.size is %zu, must be %zu", device->size, sizeof *device);
  if (device->units < 1) return ndr_fail(NDR_ERR_ARGUMENT, "options.device.units is %d", device->units);
  if (!(device->bandwidth > 0))
    return ndr_fail(NDR_ERR_ARGUMENT, "options.device.bandwidth is %g, must be more than 0", device->bandwidth);
  if (device->threads_per_unit < 0 || device->shared_bytes_per_unit < 0 || device->shared_bytes_per_block < 0 ||
      device->l2_bytes < 0 || device->capability < 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "a number of options.device is negative");
  return NDR_OK;
}

ndr_status ndr_options_read(const ndr_options *given, ndr_options *out) {
  *out = (ndr_options)NDR_OPTIONS_INIT;
  if (!given) return NDR_OK;
  if (given->size < sizeof given->size || given->size > 4096)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.size is %zu: start from NDR_OPTIONS_INIT", given->size);
  for (size_t i = sizeof *out; i < given->size; i++)
    if (((const unsigned char *)given)[i])
      return ndr_fail(NDR_ERR_ARGUMENT, "options of %zu bytes set a field that this library does not know",
                      given->size);
  memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
  out->size = sizeof *out;
  if ((unsigned)out->accumulate > NDR_ACCUMULATE_F64)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.accumulate is %d", (int)out->accumulate);
  if ((unsigned)out->planning > NDR_MEASURE)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.planning is %d", (int)out->planning);
  if (out->threads < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.threads is %d", out->threads);
  if (!(out->ddof >= 0)) return ndr_fail(NDR_ERR_ARGUMENT, "options.ddof is %g, must be 0 or more", out->ddof);
  return out->device ? check_device(out->device) : NDR_OK;
}

ndr_status ndr_check_shape(int ndim, const int64_t *shape, size_t element_bytes) {
  if (ndim < 0 || ndim > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_ARGUMENT, "array has %d dims, at most %d are supported", ndim, NDR_MAX_DIMS);
  if (ndim > 0 && !shape) return ndr_fail(NDR_ERR_ARGUMENT, "array has no shape");
  int64_t bytes = (int64_t)element_bytes;
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0) return ndr_fail(NDR_ERR_ARGUMENT, "dim %d has size %lld", d, (long long)shape[d]);
    /* Sizes of 0 do not hide a product of the others that no index could reach. */
    if (__builtin_mul_overflow(bytes, shape[d] ? shape[d] : 1, &bytes) || bytes > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_OVERFLOW, "the array's size in bytes does not fit in 62 bits");
  }
  return NDR_OK;
}

void ndr_compact_strides(int ndim, const int64_t *shape, int64_t *strides) {
  int64_t step = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    strides[d] = step;
    step *= shape[d] > 0 ? shape[d] : 1;
  }
}

/* The bytes from the first to behind the last element must fit in 62 bits, with one more step along every axis:
 * planners may compute where a whole axis ends, size * stride, without looking. */
static ndr_status check_span(const char *what, int ndim, const int64_t *shape, const int64_t *strides, size_t bytes) {
  int64_t span = (int64_t)bytes;
  for (int d = 0; d < ndim; d++) {
    int64_t reach;
    if (shape[d] < 2) continue;
    if (__builtin_mul_overflow(shape[d], strides[d], &reach) || reach == INT64_MIN ||
        __builtin_mul_overflow(reach < 0 ? -reach : reach, (int64_t)bytes, &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_OVERFLOW, "stride %lld of dim %d of the %s reaches past 62 bits", (long long)strides[d],
                      d, what);
  }
  return NDR_OK;
}

static ndr_status read_array(ndr_request *request, const DLTensor *array) {
  if (!array) return ndr_fail(NDR_ERR_ARGUMENT, "array is a null pointer");
  NDR_TRY(ndr_dtype_from_dlpack(array->dtype, &request->dtype));
  NDR_TRY(ndr_check_shape(array->ndim, array->shape, ndr_dtype_bytes(request->dtype)));
  request->ndim = array->ndim;
  for (int d = 0; d < array->ndim; d++) request->shape[d] = array->shape[d];
  if (array->strides)
    for (int d = 0; d < array->ndim; d++) request->strides[d] = array->strides[d];
  else
    ndr_compact_strides(request->ndim, request->shape, request->strides);
  return check_span("array", request->ndim, request->shape, request->strides, ndr_dtype_bytes(request->dtype));
}

ndr_status ndr_check_dims(int ndim, int dim_count, const int *dims, bool *reduced) {
  for (int d = 0; d < NDR_MAX_DIMS; d++) reduced[d] = dim_count == -1 && d < ndim;
  if (dim_count == -1) {
    return dims ? ndr_fail(NDR_ERR_DIMS, "dim_count is -1 (all) but dims is not NULL") : NDR_OK;
  }
  if (dim_count < 0 || dim_count > NDR_MAX_DIMS) return ndr_fail(NDR_ERR_DIMS, "dim_count is %d", dim_count);
  if (dim_count > 0 && !dims) return ndr_fail(NDR_ERR_DIMS, "dims is a null pointer");
  for (int i = 0; i < dim_count; i++) {
    int d = dims[i] < 0 ? dims[i] + ndim : dims[i];
    if (dims[i] < -ndim || dims[i] >= ndim)
      return ndr_fail(NDR_ERR_DIMS, "dim %d is out of range for an array of %d dims", dims[i], ndim);
    if (reduced[d]) return ndr_fail(NDR_ERR_DIMS, "dim %d is named twice", d);
    reduced[d] = true;
  }
  return NDR_OK;
}

static ndr_status read_ops(ndr_request *request, int op_count, const ndr_op *ops) {
  if (op_count < 1 || op_count > NDR_MAX_OPS)
    return ndr_fail(NDR_ERR_ARGUMENT, "op_count is %d, must be 1 to %d", op_count, NDR_MAX_OPS);
  if (!ops) return ndr_fail(NDR_ERR_ARGUMENT, "ops is a null pointer");
  request->op_count = op_count;
  for (int i = 0; i < op_count; i++) {
    NDR_TRY(ndr_op_check(ops[i], request->dtype));
    request->ops[i] = ops[i];
  }
  return NDR_OK;
}

/* Compact strides of the kept dims, by array dim. */
static void compact_results(ndr_request *request) {
  int64_t step = 1;
  for (int d = request->ndim - 1; d >= 0; d--) {
    for (int i = 0; i < request->op_count; i++) request->result_strides[i][d] = request->reduced[d] ? 0 : step;
    if (!request->reduced[d] && request->shape[d] > 0) step *= request->shape[d];
  }
}

/* A stride of 0 gives an array that needs no memory results that no memory holds. */
static ndr_status check_result_bytes(const ndr_request *request) {
  int64_t outputs = 1, bytes;
  for (int d = 0; d < request->ndim; d++)
    if (!request->reduced[d]) outputs *= request->shape[d];
  for (int i = 0; i < request->op_count; i++) {
    ndr_dtype dtype = ndr_op_result(request->ops[i], request->dtype);
    if (__builtin_mul_overflow(outputs, (int64_t)ndr_dtype_bytes(dtype), &bytes) || bytes > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_OVERFLOW, "the size in bytes of the result of %s does not fit in 62 bits",
                      ndr_op_name(request->ops[i]));
  }
  return NDR_OK;
}

ndr_status ndr_request_make(ndr_request *request, const DLTensor *array, int dim_count, const int *dims, int op_count,
                            const ndr_op *ops, const ndr_options *options) {
  ndr_options read;
  memset(request, 0, sizeof *request);
  NDR_TRY(ndr_options_read(options, &read));
  NDR_TRY(read_array(request, array));
  NDR_TRY(ndr_check_dims(request->ndim, dim_count, dims, request->reduced));
  NDR_TRY(read_ops(request, op_count, ops));
  NDR_TRY(check_result_bytes(request));
  request->keepdims = read.keepdims != 0;
  request->skip_nan = read.skip_nan != 0;
  request->accumulate_f64 = read.accumulate == NDR_ACCUMULATE_F64;
  request->ddof = read.ddof;
  memcpy(request->whole_shape, request->shape, sizeof request->shape);
  compact_results(request);
  return NDR_OK;
}

int ndr_request_result_shape(const ndr_request *request, int64_t *shape) {
  int ndim = 0;
  for (int d = 0; d < request->ndim; d++) {
    if (!request->reduced[d])
      shape[ndim++] = request->shape[d];
    else if (request->keepdims)
      shape[ndim++] = 1;
  }
  return ndim;
}

static void shape_text(int ndim, const int64_t *shape, char *text, size_t capacity) {
  size_t length = 0;
  text[0] = 0;
  for (int d = 0; d < ndim && length + 24 < capacity; d++)
    length += (size_t)snprintf(text + length, capacity - length, "%s%lld", d ? "," : "", (long long)shape[d]);
}

static ndr_status check_result(const ndr_request *request, int i, const DLTensor *result) {
  const char *op = ndr_op_name(request->ops[i]);
  ndr_dtype expected = ndr_op_result(request->ops[i], request->dtype), given;
  int64_t shape[NDR_MAX_DIMS];
  int ndim = ndr_request_result_shape(request, shape);
  if (!result) return ndr_fail(NDR_ERR_ARGUMENT, "the result of %s is a null pointer", op);
  if (ndr_dtype_from_dlpack(result->dtype, &given) != NDR_OK || given != expected)
    return ndr_fail(NDR_ERR_RESULT, "the result of %s over %s has dtype %s, must be %s", op,
                    ndr_dtype_name(request->dtype),
                    ndr_dtype_from_dlpack(result->dtype, &given) == NDR_OK ? ndr_dtype_name(given) : "unknown",
                    ndr_dtype_name(expected));
  bool same = result->ndim == ndim && (ndim == 0 || result->shape), empty = false;
  for (int d = 0; same && d < ndim; d++) {
    same = result->shape[d] == shape[d];
    empty = empty || shape[d] == 0;
  }
  if (!same) {
    char has[128] = "?", must[128];
    if (result->ndim >= 0 && result->ndim <= NDR_MAX_DIMS && (result->ndim == 0 || result->shape))
      shape_text(result->ndim, result->shape, has, sizeof has);
    shape_text(ndim, shape, must, sizeof must);
    return ndr_fail(NDR_ERR_RESULT, "the result of %s has shape [%s], must be [%s]", op, has, must);
  }
  for (int d = 0; result->strides && d < ndim && !empty; d++)
    if (result->strides[d] == 0 && shape[d] > 1)
      return ndr_fail(NDR_ERR_RESULT, "dim %d of the result of %s has stride 0: its elements overlap", d, op);
  return result->strides ? check_span("result", ndim, shape, result->strides, ndr_dtype_bytes(given)) : NDR_OK;
}

ndr_status ndr_request_results(ndr_request *request, const DLTensor *const *results) {
  if (!results) return ndr_fail(NDR_ERR_ARGUMENT, "results is a null pointer");
  for (int i = 0; i < request->op_count; i++) {
    NDR_TRY(check_result(request, i, results[i]));
    if (!results[i]->strides) continue;
    for (int d = 0, r = 0; d < request->ndim; d++) {
      if (!request->reduced[d]) request->result_strides[i][d] = results[i]->strides[r];
      r += !request->reduced[d] || request->keepdims;
    }
  }
  return NDR_OK;
}
