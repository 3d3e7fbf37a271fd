/* Kernels by name, from embedded fatbins: one for each dtype, and one for the kernels that convert stored elements. A
 * fatbin is loaded when one of its kernels is first needed. */
#ifndef NDR_CUDA_LIBRARY_H
#define NDR_CUDA_LIBRARY_H

#include "core/types.h"
#include "cuda/error.h"
#include "spec/kernels.h"

/* The kernel ndr_<name>_<op>_<dtype>, where name is that of `kind`. Thread-safe; cheap after the first time. */
ndr_status ndr_cuda_kernel(ndr_kernel kind, ndr_op op, ndr_dtype dtype, cudaKernel_t *kernel);

/* The kernel ndr_convert_<dtype>, likewise. */
ndr_status ndr_cuda_convert_kernel(ndr_dtype dtype, cudaKernel_t *kernel);

/* Loads every kernel of the tables, so that a test finds a build that lacks one. Sets *count to how many there are. */
ndr_status ndr_cuda_resolve_all(int *count);

#endif
