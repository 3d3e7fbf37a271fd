/* Executes plans of scans, which src/gpuplan/scan/scan*.c has made. */
#include "cuda/scan/scan.h"

#include "cuda/compile/compile.h"
#include "cuda/device.h"
#include "cuda/scan/select.h"
#include "cuda/start.h"
#include "cuda/workspace.h"
#include "gpuplan/scan/scan.h"

static void fill_parameters(const ndr_program *program, ndr_scan_params *params) {
  for (int k = 0; k < program->parameter_count; k++) {
    params->parameters[k] = program->parameters[k];
    if (ndr_cuda_is_narrow(k, program->parameter_count)) params->numbers.narrow[k] = (float)program->parameters[k];
  }
}

static ndr_status start(const ndr_scan_plan *plan, ndr_scan_params *params, void *stream) {
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  cudaKernel_t kernel;
  NDR_TRY(ndr_cuda_compile_scan(plan, &kernel));
  NDR_CUDA(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)launch->shared_bytes));
  NDR_CUDA(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                cudaSharedmemCarveoutMaxShared));
  ndr_cuda_grid grid = {launch->grid, (unsigned)launch->threads, launch->shared_bytes};
  if (!ndr_scan_reads_twice(launch)) return ndr_cuda_start(kernel, &grid, params, stream);
  for (params->pass = launch->tiles > 1 ? 0 : 2; params->pass < 3; params->pass++) {
    grid.blocks = params->pass == 1 ? ndr_scan_band_blocks(launch) : launch->grid;
    NDR_TRY(ndr_cuda_start(kernel, &grid, params, stream));
  }
  return NDR_OK;
}

static ndr_status clear(const ndr_scan_plan *plan, void *workspace, void *stream) {
  if (plan->workspace) NDR_CUDA(cudaMemsetAsync(workspace, 0, plan->workspace, (cudaStream_t)stream));
  return NDR_OK;
}

/* A workspace that was lent is 0 and is left so; the caller's may hold anything, so that it is cleared first where
 * tiles look at it. */
static ndr_status run(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace, bool lent,
                      void *stream) {
  ndr_scan_params params;
  ndr_scan_fill_params(plan, data, result, workspace, &params);
  fill_parameters(plan->problem.program, &params);
  if (!lent && ndr_scan_posts(ndr_scan_plan_launch(plan))) NDR_TRY(clear(plan, workspace, stream));
  NDR_TRY(start(plan, &params, stream));
  return lent ? clear(plan, workspace, stream) : NDR_OK;
}

static ndr_status execute(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                          void *stream) {
  const bool lent = plan->workspace && !workspace;
  int before;
  if (lent) NDR_TRY(ndr_cuda_lend(plan->device.id, plan->workspace, stream, &workspace));
  ndr_status status = ndr_cuda_enter(plan->device.id, &before);
  if (status == NDR_OK) {
    status = run(plan, data, result, workspace, lent, stream);
    ndr_cuda_leave(plan->device.id, before);
  }
  if (lent) ndr_cuda_take_back(plan->device.id, workspace, status == NDR_OK, stream);
  return status;
}

static const ndr_scan_family *const families[] = {&ndr_scan_family_lines, &ndr_scan_family_columns,
                                                  &ndr_scan_family_bands, &ndr_scan_family_streams, NULL};

const struct ndr_scan_calls ndr_cuda_scans = {families, execute, ndr_cuda_select};
