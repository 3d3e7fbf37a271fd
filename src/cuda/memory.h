/* Memory, streams and copies of GPUs, for the public functions of ndreduce/device.h. */
#ifndef NDR_CUDA_MEMORY_H
#define NDR_CUDA_MEMORY_H

#include "core/plan.h"

extern const ndr_device_calls ndr_cuda_calls;

#endif
