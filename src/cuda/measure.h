/* A clock on a stream, for NDR_MEASURE (see ndr_backend in core/plan.h). */
#ifndef NDR_CUDA_MEASURE_H
#define NDR_CUDA_MEASURE_H

#include "core/plan.h"

ndr_status ndr_cuda_clock_start(int id, void *stream, void **clock);
ndr_status ndr_cuda_clock_stop(int id, void *stream, void *clock, double *seconds);

#endif
