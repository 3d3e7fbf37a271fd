/* The CUDA backend: pure C over the runtime API. Kernels are data (see library.h). */
#ifndef NDR_CUDA_BACKEND_H
#define NDR_CUDA_BACKEND_H

#include "core/plan.h"

extern const ndr_backend ndr_backend_cuda;

#endif
