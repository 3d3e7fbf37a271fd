/* Operands of calls: collected from options, and checked. */
#include "api/operands.h"

static ndr_status add(ndr_operands *operands, ndr_role role, const DLTensor *tensor) {
  if (operands->count == NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "where, weights and with are more than %d arrays", NDR_MAX_OPERANDS);
  if (!tensor) return ndr_fail(NDR_ERR_ARGUMENT, "an array of 'with' is a null pointer");
  operands->roles[operands->count] = role;
  operands->tensors[operands->count++] = tensor;
  return NDR_OK;
}

ndr_status ndr_operands_of(const ndr_options *options, ndr_operands *operands) {
  operands->count = 0;
  if (options->where) NDR_TRY(add(operands, NDR_WHERE, options->where));
  if (options->weights) NDR_TRY(add(operands, NDR_WEIGHTS, options->weights));
  for (int k = 0; k < options->with_count; k++) NDR_TRY(add(operands, NDR_WITH, options->with[k]));
  return NDR_OK;
}

ndr_status ndr_operands_check_devices(const ndr_operands *operands, DLDevice array_device) {
  const ndr_backend *backend;
  NDR_TRY(ndr_backend_find(array_device.device_type, &backend));
  for (int k = 0; k < operands->count; k++) {
    DLDevice device = operands->tensors[k]->device;
    bool same = device.device_id == array_device.device_id || device.device_type != array_device.device_type;
    if (!backend->owns(device.device_type) || !same)
      return ndr_fail(NDR_ERR_ARGUMENT, "'%s' is on %s:%d, the array on %s:%d", ndr_role_name(operands->roles[k]),
                      ndr_device_type_name(device.device_type), device.device_id,
                      ndr_device_type_name(array_device.device_type), array_device.device_id);
  }
  return NDR_OK;
}

ndr_status ndr_operands_addresses(const ndr_operands *operands, const void **data) {
  for (int k = 0; k < operands->count; k++) {
    void *address;
    NDR_TRY(ndr_tensor_address(operands->tensors[k], ndr_role_name(operands->roles[k]), &address));
    data[k + 1] = address;
  }
  return NDR_OK;
}
