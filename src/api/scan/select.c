/* ndr_select, ndr_partition and ndr_nonzero: arguments are checked, and the backend of the array's device runs them. */
#include "api/backends.h"
#include "api/scan/plan.h"

static ndr_status check_devices(const ndr_backend *backend, const DLTensor *array, const DLTensor *mask,
                                const DLTensor *result) {
  if (mask) NDR_TRY(ndr_scan_check_device(backend, array->device, mask->device, "the mask", NDR_ERR_ARGUMENT));
  return ndr_scan_check_device(backend, array->device, result->device, "the result", NDR_ERR_RESULT);
}

static ndr_status take_addresses(ndr_selection_addresses *addresses, const DLTensor *array, const DLTensor *mask,
                                 const DLTensor *result, int64_t *count) {
  void *address;
  NDR_TRY(ndr_tensor_address(array, "array", &address));
  addresses->array = addresses->mask = address;
  if (mask) {
    NDR_TRY(ndr_tensor_address(mask, "mask", &address));
    addresses->mask = address;
  }
  NDR_TRY(ndr_tensor_address(result, "result", &addresses->result));
  addresses->count = count;
  if ((uintptr_t)count % sizeof *count)
    return ndr_fail(NDR_ERR_ARGUMENT, "count's address is not a multiple of %zu", sizeof *count);
  return NDR_OK;
}

static ndr_status run(ndr_selection_kind kind, const DLTensor *array, const DLTensor *mask, int dim, DLTensor *result,
                      int64_t *count, const ndr_select_options *options) {
  ndr_select_options read;
  ndr_selection selection;
  ndr_selection_addresses addresses;
  const ndr_backend *backend;
  if (!count) return ndr_fail(NDR_ERR_ARGUMENT, "count is a null pointer");
  NDR_TRY(ndr_select_options_read(options, &read));
  NDR_TRY(ndr_selection_make(&selection, kind, array, mask, dim, result));
  NDR_TRY(ndr_backend_find(array->device.device_type, &backend));
  NDR_TRY(check_devices(backend, array, mask, result));
  if (!backend->scans) return ndr_fail(NDR_ERR_UNSUPPORTED, "backend %s has no scans", backend->name);
  NDR_TRY(take_addresses(&addresses, array, mask, result, count));
  NDR_TRY(ndr_selection_check_overlap(&selection, &addresses));
  return backend->scans->select(&selection, &addresses, array->device.device_id,
                                read.threads > 0 ? read.threads : ndr_thread_count(), read.stream);
}

ndr_status ndr_select(const DLTensor *array, const DLTensor *mask, int dim, DLTensor *result, int64_t *count,
                      const ndr_select_options *options) {
  if (!mask) return ndr_fail(NDR_ERR_ARGUMENT, "mask is a null pointer");
  return run(NDR_SELECTION_SELECT, array, mask, dim, result, count, options);
}

ndr_status ndr_partition(const DLTensor *array, const DLTensor *mask, int dim, DLTensor *result, int64_t *count,
                         const ndr_select_options *options) {
  if (!mask) return ndr_fail(NDR_ERR_ARGUMENT, "mask is a null pointer");
  return run(NDR_SELECTION_PARTITION, array, mask, dim, result, count, options);
}

ndr_status ndr_nonzero(const DLTensor *array, DLTensor *result, int64_t *count, const ndr_select_options *options) {
  return run(NDR_SELECTION_NONZERO, array, NULL, NDR_SCAN_ALL, result, count, options);
}
