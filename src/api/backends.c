/* Finds backends by device type and by name, and checks tensors against their device. */
#include "api/backends.h"

#include <string.h>

#include "core/address.h"
#include "cpu/backend.h"
#ifdef NDR_WITH_CUDA
#include "cuda/backend.h"
#endif

static const ndr_backend *const backends[] = {
    &ndr_backend_cpu,
#ifdef NDR_WITH_CUDA
    &ndr_backend_cuda,
#endif
};

ndr_status ndr_backend_find(DLDeviceType type, const ndr_backend **backend) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
    if (backends[i]->owns(type)) {
      *backend = backends[i];
      return NDR_OK;
    }
  }
  if (type == kDLCUDA || type == kDLCUDAManaged || type == kDLCUDAHost)
    return ndr_fail(NDR_ERR_NO_DEVICE, "this build has no CUDA backend");
  return ndr_fail(NDR_ERR_NO_DEVICE, "no backend for the %s devices of DLPack (type %d)", ndr_device_type_name(type),
                  (int)type);
}

const ndr_backend *ndr_backend_named(const char *name) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
    if (strcmp(backends[i]->name, name) == 0) return backends[i];
  return NULL;
}

ndr_status ndr_check_result_device(const ndr_backend *backend, DLDevice array_device, DLDevice device) {
  bool same_device = device.device_id == array_device.device_id || device.device_type != array_device.device_type;
  if (!backend->owns(device.device_type) || !same_device)
    return ndr_fail(NDR_ERR_RESULT, "the result is on %s:%d, the array on %s:%d",
                    ndr_device_type_name(device.device_type), device.device_id,
                    ndr_device_type_name(array_device.device_type), array_device.device_id);
  return NDR_OK;
}

ndr_status ndr_tensor_address(const DLTensor *tensor, const char *what, void **address) {
  ndr_dtype dtype;
  *address = NULL;
  NDR_TRY(ndr_dtype_from_dlpack(tensor->dtype, &dtype));
  for (int d = 0; d < tensor->ndim; d++)
    if (tensor->shape[d] == 0) return NDR_OK;
  if (!tensor->data) return ndr_fail(NDR_ERR_ARGUMENT, "the %s has no data", what);
  if (!ndr_has_address(tensor))
    return ndr_fail(NDR_ERR_ARGUMENT, "the %s's byte_offset %lld leads out of the memory that there can be", what,
                    (long long)tensor->byte_offset);
  uintptr_t first = (uintptr_t)tensor->data + tensor->byte_offset;
  if (first % ndr_dtype_alignment(dtype))
    return ndr_fail(NDR_ERR_ARGUMENT, "the %s's address is not a multiple of %zu, the alignment of %s", what,
                    ndr_dtype_alignment(dtype), ndr_dtype_name(dtype));
  *address = (char *)tensor->data + (int64_t)tensor->byte_offset;
  return NDR_OK;
}
