/* Memory, streams and copies for whoever brings data to a GPU: the public functions' half in CUDA. */
#ifndef NDR_CUDA_MEMORY_H
#define NDR_CUDA_MEMORY_H

#include "core/plan.h"

extern const ndr_device_calls ndr_cuda_calls;

#endif
