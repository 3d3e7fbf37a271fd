/* Executes plans of scans, which src/gpuplan/scan*.c has made. */
#include "cuda/scan.h"

#include "cuda/compile.h"
#include "cuda/device.h"
#include "cuda/select.h"
#include "gpuplan/scan.h"

static void fill_parameters(const ndr_program *program, ndr_scan_params *params) {
  for (int k = 0; k < program->parameter_count; k++) {
    params->parameters[k] = program->parameters[k];
    if (ndr_cuda_is_narrow(k, program->parameter_count)) params->numbers.narrow[k] = (float)program->parameters[k];
  }
}

static ndr_status start(const ndr_scan_plan *plan, ndr_scan_params *params, void *stream) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  void *arguments[] = {params};
  cudaKernel_t kernel;
  NDR_TRY(ndr_cuda_compile_scan(plan, &kernel));
  if (plan->workspace) NDR_CUDA(cudaMemsetAsync(params->posted, 0, plan->workspace, (cudaStream_t)stream));
  NDR_CUDA(cudaLaunchKernel((const void *)kernel, (dim3){launch->grid, 1, 1}, (dim3){NDR_SCAN_BLOCK, 1, 1}, arguments,
                            launch->shared_bytes, (cudaStream_t)stream));
  return NDR_OK;
}

static ndr_status execute(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                          void *stream) {
  ndr_scan_params params;
  int before;
  ndr_scan_fill_params(plan, data, result, workspace, &params);
  fill_parameters(plan->problem.program, &params);
  NDR_TRY(ndr_cuda_enter(plan->device.id, &before));
  ndr_status status = start(plan, &params, stream);
  ndr_cuda_leave(plan->device.id, before);
  return status;
}

static const ndr_scan_family *const families[] = {&ndr_scan_family_lines, &ndr_scan_family_columns, NULL};

const struct ndr_scan_calls ndr_cuda_scans = {families, execute, ndr_cuda_select};
