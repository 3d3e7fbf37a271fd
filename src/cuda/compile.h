/* Run-time compilation of kernels that are not built ahead of time, from the same text as the others. */
#ifndef NDR_CUDA_COMPILE_H
#define NDR_CUDA_COMPILE_H

#include "core/plan.h"
#include "cuda/error.h"
#include "spec/kernels.h"

/* Whether NVRTC can be opened on this machine. */
bool ndr_cuda_can_compile(void);

/* The kernel `kind` of the problem's dtype and options for op_count operators, starting with
 * problem->ops[first], fused into one read. Compiled once in a process for each compute capability; thread-safe. */
ndr_status ndr_cuda_compile(const ndr_canonical *problem, int first, int op_count, ndr_kernel kind, int capability,
                            cudaKernel_t *kernel);

#endif
