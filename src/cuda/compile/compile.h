/* Kernels that are not built ahead of time: compiled at run time from the same text as the others, and kept. */
#ifndef NDR_CUDA_COMPILE_H
#define NDR_CUDA_COMPILE_H

#include "core/plan.h"
#include "cuda/compile/generate.h"
#include "cuda/error.h"
#include "gpuplan/scan/select.h"
#include "scan/plan.h"

/* A kernel of operators fused into one read; see ndr_cuda_takes_program for what it takes. It is compiled once for each
 * compute capability: values of parameters do not count. Thread-safe. */
ndr_status ndr_cuda_compile(const ndr_cuda_operators *operators, const ndr_cuda_template *kernel, int capability,
                            cudaKernel_t *compiled);

/* The kernel that finishes states of a program. */
ndr_status ndr_cuda_compile_finish(const ndr_program *program, int capability, cudaKernel_t *compiled);

/* The kernel of a plan of a scan. */
ndr_status ndr_cuda_compile_scan(const ndr_scan_plan *plan, cudaKernel_t *compiled);

/* The kernel of a launch of a selection. */
ndr_status ndr_cuda_compile_select(const ndr_select_launch *launch, cudaKernel_t *compiled);

#endif
