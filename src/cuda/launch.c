/* Executes a plan's launches, which src/gpuplan has chosen. One kernel computes several operators if it can. */
#include "cuda/launch.h"

#include <math.h>

#include "cuda/compile.h"
#include "cuda/device.h"
#include "cuda/library.h"
#include "gpuplan/launch.h"

/* The most operators that are fused into one kernel: accumulators of more would not stay in registers. */
enum { MOST_FUSED = 4 };

/* For each operator, the one whose kernels compute its total, and how the total becomes the result. */
static const struct {
  ndr_op kernel;
  int finalize;
} built[NDR_OP_COUNT] = {
#define OP(NAME, value, name, result, empty, domain, combine, words, kernel, finalize, ...)                            \
  [value] = {NDR_##kernel, NDR_FINALIZE_##finalize},
#include "spec/ops.def"
#undef OP
};

static ndr_op kernel_op(ndr_op op, ndr_dtype dtype, ndr_params *params) {
  params->finalize = built[op].finalize;
  if (params->finalize == NDR_FINALIZE_VALID) {
    if (!ndr_dtype_is_float(dtype)) params->finalize = NDR_FINALIZE_LENGTH;
    params->limit = INFINITY;
  }
  return built[op].kernel;
}

/* Finds the kernel for a special problem (ndr_canonical_special) if none can be compiled. */
static ndr_status find_special(const ndr_canonical *problem, ndr_op op, ndr_params *params, cudaKernel_t *kernel) {
  bool skips = problem->skip_nan && op != NDR_VALID;
  ndr_kernel kind = skips ? NDR_KERNEL_TREE_SKIP : ndr_op_rounds(op) ? NDR_KERNEL_TREE_WIDE : NDR_KERNEL_TREE_STRIDED;
  ndr_op own = skips && op == NDR_ALL ? op : kernel_op(op, problem->dtype, params);
  return ndr_cuda_kernel(kind, own, problem->dtype, kernel);
}

/* Finds the kernel for a launch, and completes params for it. */
static ndr_status find_kernel(const ndr_plan *plan, const ndr_launch *launch, int first, int count, ndr_params *params,
                              cudaKernel_t *kernel) {
  const ndr_canonical *problem = &plan->problem;
  bool special = ndr_canonical_special(problem);
  if (special && !plan->device.compiles) return find_special(problem, problem->ops[first], params, kernel);
  if (special || count > 1)
    return ndr_cuda_compile(problem, first, count, launch->kernel, plan->device.capability, kernel);
  return ndr_cuda_kernel(launch->kernel, kernel_op(problem->ops[first], problem->dtype, params), problem->dtype,
                         kernel);
}

/* Whether the results of operators i and j have the same strides. */
static bool same_strides(const ndr_canonical *problem, int i, int j) {
  for (int a = 0; a < problem->kept_count; a++)
    if (problem->kept[a].result[i] != problem->kept[a].result[j]) return false;
  return true;
}

static int fusable(const ndr_plan *plan, int first) {
  const ndr_canonical *problem = &plan->problem;
  int count = 1;
  while (plan->device.compiles && first + count < problem->op_count && count < MOST_FUSED &&
         same_strides(problem, first, first + count))
    count++;
  return count;
}

/* Launches the kernel for `count` operators from number `first` on. */
static ndr_status run_ops(const ndr_plan *plan, const ndr_launch *launch, int first, int count, const void *data,
                          void *const *results, void *workspace, void *stream) {
  ndr_params params = launch->params;
  const ndr_canonical *problem = &plan->problem;
  cudaKernel_t kernel;
  NDR_TRY(find_kernel(plan, launch, first, count, &params, &kernel));
  for (int a = 0; first > 0 && a < problem->kept_count; a++)
    params.axes[a].result_stride = problem->kept[a].result[first];
  for (int i = 0; i < count; i++) {
    ndr_dtype dtype = problem->partial ? NDR_U64 : ndr_op_result(problem->ops[first + i], problem->dtype);
    params.result[i] = (char *)results[first + i] + problem->result_origin[first + i] * (int64_t)ndr_dtype_bytes(dtype);
  }
  params.data = data;
  params.partials = workspace;
  void *arguments[] = {&params};
  NDR_CUDA(cudaLaunchKernel((const void *)kernel, (dim3){launch->grid, 1, 1}, (dim3){launch->threads, 1, 1}, arguments,
                            launch->shared_bytes, (cudaStream_t)stream));
  return NDR_OK;
}

ndr_status ndr_cuda_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                            void *stream) {
  const ndr_canonical *problem = &plan->problem;
  int before;
  const char *first = (const char *)data[0] + problem->origin * (int64_t)ndr_dtype_bytes(problem->dtype);
  const ndr_launch *launch = ndr_plan_launch(plan, first);
  NDR_TRY(ndr_cuda_enter(plan->device.id, &before));
  ndr_status status = NDR_OK;
  for (int i = 0, count; status == NDR_OK && i < problem->op_count; i += count) {
    count = fusable(plan, i);
    status = run_ops(plan, launch, i, count, first, results, workspace, stream);
  }
  ndr_cuda_leave(plan->device.id, before);
  return status;
}
