/* Converts stored elements to those that are reduced, in device memory. */
#ifndef NDR_CUDA_CONVERT_H
#define NDR_CUDA_CONVERT_H

#include "core/plan.h"

/* As ndr_device_calls.convert. */
ndr_status ndr_cuda_convert(int id, const ndr_stored *stored, const void *from, void *to, void *stream);

#endif
