#ifndef NDR_CUDA_LAUNCH_H
#define NDR_CUDA_LAUNCH_H

#include "core/plan.h"

ndr_status ndr_cuda_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                            void *stream);

#endif
