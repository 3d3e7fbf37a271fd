#include "cuda/launch.h"

#include "cuda/device.h"
#include "cuda/library.h"
#include "family/launch.h"

/* Bytes of a thread's accumulator (Near in kernels/ops.cuh), or a little more. */
static unsigned accumulator_bytes(ndr_op op, ndr_dtype dtype) {
  unsigned bytes = (unsigned)ndr_dtype_bytes(dtype), number = bytes == 16 ? 16 : bytes == 4 || bytes == 2 ? 4 : 8;
  bool real = ndr_dtype_class(dtype) == NDR_CLASS_FLOAT || ndr_dtype_class(dtype) == NDR_CLASS_COMPLEX;
  if (!real) number = 8;
  switch (op) {
  case NDR_ARGMIN:
  case NDR_ARGMAX: return 16;
  case NDR_MEAN:
  case NDR_LOGSUMEXP: return 2 * number;
  case NDR_VAR:
  case NDR_STD: return bytes == 16 ? 32 : bytes == 8 && dtype == NDR_C64 ? 16 : 3 * number;
  default: return number;
  }
}

static unsigned shared_bytes(const ndr_launch *launch, ndr_op op, ndr_dtype dtype) {
  return launch->shared_bytes + launch->shared_per_state * accumulator_bytes(op, dtype);
}

/* The launch for operator i: its result, its strides, and the workspace cut in counters and partial states. */
static ndr_status run_op(const ndr_plan *plan, const ndr_launch *launch, int i, const void *data, void *result,
                         char *workspace, void *stream) {
  ndr_params params = launch->params;
  const ndr_problem *problem = &plan->problem;
  cudaKernel_t kernel;
  ndr_dtype result_dtype = problem->partial ? NDR_U64 : ndr_op_result(problem->ops[i], problem->dtype);
  NDR_TRY(ndr_cuda_kernel(launch->kernel, problem->ops[i], problem->dtype, &kernel));
  for (int a = 0; i > 0 && a < problem->kept_count; a++) params.axes[a].aux = problem->kept[a].result[i];
  params.data = data;
  params.result[0] = (char *)result + problem->result_origin[i] * (int64_t)ndr_dtype_bytes(result_dtype);
  params.counters = (unsigned *)(void *)workspace;
  params.partials = (unsigned long long *)(void *)(workspace + ndr_plan_counter_bytes(plan));
  unsigned shared = shared_bytes(launch, problem->ops[i], problem->dtype);
  if (shared > 48 << 10)
    NDR_CUDA(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  void *arguments[] = {&params};
  NDR_CUDA(cudaLaunchKernel((const void *)kernel, (dim3){launch->grid, 1, 1}, (dim3){launch->threads, 1, 1}, arguments,
                            shared, (cudaStream_t)stream));
  return NDR_OK;
}

ndr_status ndr_cuda_execute(const ndr_plan *plan, const void *data, void *const *results, void *workspace,
                            void *stream) {
  const ndr_launches *launches = ndr_plan_launches(plan);
  const ndr_problem *problem = &plan->problem;
  int before;
  const char *first = (const char *)data + problem->origin * (int64_t)ndr_dtype_bytes(problem->dtype);
  const ndr_launch *launch = (uintptr_t)first % NDR_PACKET_BYTES ? &launches->unaligned : &launches->aligned;
  NDR_TRY(ndr_cuda_enter(plan->device.id, &before));
  ndr_status status = NDR_OK;
  for (int i = 0; status == NDR_OK && i < problem->op_count; i++)
    status = run_op(plan, launch, i, first, results[i], workspace, stream);
  ndr_cuda_leave(plan->device.id, before);
  return status;
}
