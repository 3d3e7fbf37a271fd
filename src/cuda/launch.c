#include "cuda/launch.h"

#include "cuda/compile.h"
#include "cuda/device.h"
#include "cuda/library.h"
#include "family/launch.h"

/* Operators fused into one kernel: more would not leave its accumulators in registers. */
enum { MOST_FUSED = 4 };

static bool real_valued(ndr_dtype dtype) {
  return ndr_dtype_class(dtype) == NDR_CLASS_FLOAT || ndr_dtype_class(dtype) == NDR_CLASS_COMPLEX;
}

/* Options that the kernels built ahead of time do not know. Integers have no NaN and accumulate exactly. */
static bool special(const ndr_problem *problem) {
  bool narrow = problem->dtype != NDR_F64 && problem->dtype != NDR_C128;
  return real_valued(problem->dtype) && (problem->skip_nan || (problem->accumulate_f64 && narrow));
}

/* Whether operators i and j put their results in the same places. */
static bool same_strides(const ndr_problem *problem, int i, int j) {
  for (int a = 0; a < problem->kept_count; a++)
    if (problem->kept[a].result[i] != problem->kept[a].result[j]) return false;
  return true;
}

static int fusable(const ndr_problem *problem, int first) {
  int count = 1;
  if (!ndr_cuda_can_compile()) return 1;
  while (first + count < problem->op_count && count < MOST_FUSED && same_strides(problem, first, first + count))
    count++;
  return count;
}

/* The launch for `count` operators from the first-th: results, strides, and the workspace cut in counters and states.
 */
static ndr_status run_ops(const ndr_plan *plan, const ndr_launch *launch, int first, int count, const void *data,
                          void *const *results, char *workspace, void *stream) {
  ndr_params params = launch->params;
  const ndr_problem *problem = &plan->problem;
  cudaKernel_t kernel;
  if (count == 1 && !special(problem))
    NDR_TRY(ndr_cuda_kernel(launch->kernel, problem->ops[first], problem->dtype, &kernel));
  else
    NDR_TRY(ndr_cuda_compile(problem, first, count, launch->kernel, plan->device.capability, &kernel));
  for (int a = 0; first > 0 && a < problem->kept_count; a++) params.axes[a].aux = problem->kept[a].result[first];
  for (int i = 0; i < count; i++) {
    ndr_dtype dtype = problem->partial ? NDR_U64 : ndr_op_result(problem->ops[first + i], problem->dtype);
    params.result[i] = (char *)results[first + i] + problem->result_origin[first + i] * (int64_t)ndr_dtype_bytes(dtype);
  }
  params.data = data;
  params.counters = (unsigned *)(void *)workspace;
  params.partials = (unsigned long long *)(void *)(workspace + ndr_plan_counter_bytes(plan));
  void *arguments[] = {&params};
  NDR_CUDA(cudaLaunchKernel((const void *)kernel, (dim3){launch->grid, 1, 1}, (dim3){launch->threads, 1, 1}, arguments,
                            launch->shared_bytes, (cudaStream_t)stream));
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
  for (int i = 0, count; status == NDR_OK && i < problem->op_count; i += count) {
    count = problem->op_count > 1 ? fusable(problem, i) : 1;
    status = run_ops(plan, launch, i, count, first, results, workspace, stream);
  }
  ndr_cuda_leave(plan->device.id, before);
  return status;
}
