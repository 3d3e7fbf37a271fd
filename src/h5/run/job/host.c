/* See host.h. What tensors are to a reduction is checked in core/request/request.c. */
#include "h5/run/job/host.h"

#include "core/address.h"

/* Complex elements are aligned as their parts are. */
static size_t alignment_of(ndr_dtype dtype) {
  bool complex = dtype == NDR_C64 || dtype == NDR_C128;
  return ndr_dtype_bytes(dtype) / (complex ? 2 : 1);
}

ndr_status ndr_host_check(const DLTensor *tensor, const char *what, ndr_dtype *dtype) {
  bool empty = false;
  if (!tensor) return ndr_fail(NDR_ERR_ARGUMENT, "%s: null pointer", what);
  NDR_TRY(ndr_dtype_from_dlpack(tensor->dtype, dtype));
  if (tensor->ndim < 0 || tensor->ndim > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: %d dims, at most %d are supported", what, tensor->ndim, NDR_MAX_DIMS);
  if (tensor->ndim > 0 && !tensor->shape) return ndr_fail(NDR_ERR_ARGUMENT, "%s: no shape", what);
  for (int d = 0; d < tensor->ndim; d++) {
    if (tensor->shape[d] < 0)
      return ndr_fail(NDR_ERR_ARGUMENT, "%s: dim %d has size %lld", what, d, (long long)tensor->shape[d]);
    empty = empty || tensor->shape[d] == 0;
  }
  if (tensor->device.device_type != kDLCPU) return ndr_fail(NDR_ERR_ARGUMENT, "%s: not in host memory", what);
  if (empty) return NDR_OK;
  if (!tensor->data) return ndr_fail(NDR_ERR_ARGUMENT, "%s: no data", what);
  if (!ndr_has_address(tensor))
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: byte_offset %lld leads out of the memory that there can be", what,
                    (long long)tensor->byte_offset);
  if (((uintptr_t)tensor->data + tensor->byte_offset) % alignment_of(*dtype) == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: the address is not a multiple of %zu, the alignment of %s", what,
                  alignment_of(*dtype), ndr_dtype_name(*dtype));
}

ndr_status ndr_host_check_result(const DLTensor *result, const DLTensor *expected, const char *what) {
  ndr_dtype dtype, wanted;
  NDR_TRY(ndr_host_check(result, what, &dtype));
  if (result->strides) return ndr_fail(NDR_ERR_ARGUMENT, "%s: not compact, there are strides", what);
  bool fits = result->ndim == expected->ndim;
  for (int d = 0; d < expected->ndim && fits; d++) fits = result->shape[d] == expected->shape[d];
  if (!fits) return ndr_fail(NDR_ERR_RESULT, "%s: the shape is not that of a result of the problem", what);
  NDR_TRY(ndr_dtype_from_dlpack(expected->dtype, &wanted));
  if (dtype == wanted) return NDR_OK;
  return ndr_fail(NDR_ERR_RESULT, "%s: holds %s, which are to be %s", what, ndr_dtype_name(dtype),
                  ndr_dtype_name(wanted));
}
