/* The one table of all backends, and checks of a tensor's device and address. */
#ifndef NDR_API_BACKENDS_H
#define NDR_API_BACKENDS_H

#include "core/plan.h"

/* Finds the backend for memory of a device type. Fails with NDR_ERR_NO_DEVICE if this build has none. */
ndr_status ndr_backend_find(DLDeviceType type, const ndr_backend **backend);

/* The backend of that name, or NULL. */
const ndr_backend *ndr_backend_named(const char *name);

/* Whether the backend may write a result on device while the array is on array_device. */
ndr_status ndr_check_result_device(const ndr_backend *backend, DLDevice array_device, DLDevice device);

/* The address of element 0. Refuses NULL and misaligned addresses, for tensors that have elements to touch. */
ndr_status ndr_tensor_address(const DLTensor *tensor, const char *what, void **address);

#endif
