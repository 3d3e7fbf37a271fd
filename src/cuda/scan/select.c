/* Runs selections, as src/gpuplan/scan/select.c plans them. The host does not wait: the stream writes the count. */
#include "cuda/scan/select.h"

#include "cuda/compile/compile.h"
#include "cuda/device.h"
#include "cuda/start.h"
#include "cuda/workspace.h"
#include "gpuplan/scan/select.h"

static ndr_status launch(const ndr_select_plan *plan, const cudaKernel_t *kernels, cudaStream_t stream) {
  ndr_select_params params = plan->params;
  for (int i = 0; i < plan->count; i++) {
    const ndr_cuda_grid grid = {plan->launches[i].grid, NDR_SCAN_BLOCK, 0};
    NDR_TRY(ndr_cuda_start(kernels[i], &grid, &params, stream));
  }
  return NDR_OK;
}

/* Kernels whose tiles post totals begin with words that are 0: their workspace is lent, and is cleared for whoever it
 * is lent to next. Others take any memory. */
static ndr_status launch_in_workspace(ndr_select_plan *plan, const cudaKernel_t *kernels, int id, cudaStream_t stream) {
  const bool lent = plan->posted_bytes > 0;
  void *workspace;
  NDR_TRY((lent ? ndr_cuda_lend : ndr_cuda_allocate)(id, plan->workspace, stream, &workspace));
  ndr_select_plan_place(plan, workspace);
  ndr_status status = launch(plan, kernels, stream);
  if (lent && status == NDR_OK && cudaMemsetAsync(workspace, 0, plan->workspace, stream) != cudaSuccess)
    status = ndr_cuda_fail(cudaGetLastError(), "cudaMemsetAsync");
  if (lent)
    ndr_cuda_take_back(id, workspace, status == NDR_OK, stream);
  else
    ndr_cuda_release(id, workspace, stream);
  return status;
}

/* On the current device. */
static ndr_status run(ndr_select_plan *plan, int id, int64_t *count, cudaStream_t stream) {
  cudaKernel_t kernels[sizeof plan->launches / sizeof *plan->launches] = {NULL};
  if (plan->count == 0) {
    NDR_CUDA(cudaMemsetAsync(count, 0, sizeof *count, stream));
    return NDR_OK;
  }
  for (int i = 0; i < plan->count; i++) NDR_TRY(ndr_cuda_compile_select(&plan->launches[i], &kernels[i]));
  return launch_in_workspace(plan, kernels, id, stream);
}

ndr_status ndr_cuda_select(const ndr_selection *selection, const ndr_selection_addresses *addresses, int id,
                           int threads, void *stream) {
  ndr_device device;
  ndr_select_plan plan;
  int before;
  (void)threads;
  NDR_TRY(ndr_cuda_device(id, &device));
  NDR_TRY(ndr_select_plan_make(selection, addresses, &device, &plan));
  NDR_TRY(ndr_cuda_enter(id, &before));
  ndr_status status = run(&plan, id, addresses->count, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return status;
}
