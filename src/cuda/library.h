/* Kernels by name, from the fatbins that the build embedded: one a dtype, and one of those that convert stored
 * elements; loaded when first asked for. */
#ifndef NDR_CUDA_LIBRARY_H
#define NDR_CUDA_LIBRARY_H

#include "core/types.h"
#include "cuda/error.h"
#include "spec/kernels.h"

/* The kernel ndr_<name>_<op>_<dtype>, where name is that of `kind`. Thread-safe; cheap after the first time. */
ndr_status ndr_cuda_kernel(ndr_kernel kind, ndr_op op, ndr_dtype dtype, cudaKernel_t *kernel);

/* The kernel ndr_convert_<dtype>, likewise. */
ndr_status ndr_cuda_convert_kernel(ndr_dtype dtype, cudaKernel_t *kernel);

/* Asks for every kernel of the tables once, so that a build that lost one is found out; returns how many there are. */
ndr_status ndr_cuda_resolve_all(int *count);

#endif
