/* Executes a plan's launches, which src/gpuplan has chosen. One kernel computes several operators if it can. */
#include "cuda/launch.h"

#include <math.h>

#include "cuda/compile/compile.h"
#include "cuda/compile/nodes.h"
#include "cuda/device.h"
#include "cuda/library.h"
#include "cuda/start.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/operators.h"
#include "gpuplan/operands/table.h"
#include "gpuplan/operands/zones.h"

/* The most operators and parts of programs that are fused into one kernel: accumulators of more would not stay in
 * registers. */
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

/* Drivers before R530 pass no more to a kernel. */
_Static_assert(sizeof(ndr_program_params) <= 4096, "a kernel takes its arguments in 4 KiB");

/* A launch with all that its kernel takes. */
typedef struct call {
  const ndr_launch *launch;
  ndr_cuda_template kernel;
  ndr_program_params params;
} call;

/* Whether the operator's kernels were built ahead of time; *op is then the one. */
static bool is_built(const ndr_canonical *problem, int i, ndr_op *op) {
  return ndr_launch_builtin(problem, i, op) && !ndr_operands_needed(problem) && !ndr_canonical_special(problem);
}

/* Finds the kernel for a launch, and completes params for it. */
static ndr_status find_kernel(const ndr_plan *plan, const ndr_cuda_operators *operators, call *made,
                              cudaKernel_t *kernel) {
  const ndr_canonical *problem = &plan->problem;
  ndr_params *params = &made->params.base;
  ndr_op op;
  if (operators->count == 1 && is_built(problem, operators->first, &op))
    return ndr_cuda_kernel(made->kernel.kind, kernel_op(op, problem->dtype, params), problem->dtype, kernel);
  if (!plan->device.compiles && ndr_launch_builtin(problem, operators->first, &op) && !ndr_operands_needed(problem))
    return find_special(problem, op, params, kernel);
  return ndr_cuda_compile(operators, &made->kernel, plan->device.capability, kernel);
}

/* Whether the results of operators i and j have the same strides. */
static bool same_strides(const ndr_canonical *problem, int i, int j) {
  for (int a = 0; a < problem->kept_count; a++)
    if (problem->kept[a].result[i] != problem->kept[a].result[j]) return false;
  return problem->group.result[i] == problem->group.result[j];
}

static int parameters_of(const ndr_canonical *problem, int i) {
  return problem->programs[i] ? problem->programs[i]->parameter_count : 0;
}

static int parts_of(const ndr_canonical *problem, int i) {
  return problem->programs[i] ? problem->programs[i]->part_count : 1;
}

static int fusable(const ndr_plan *plan, int first) {
  const ndr_canonical *problem = &plan->problem;
  int count = 1, parameters = parameters_of(problem, first), parts = parts_of(problem, first);
  for (; plan->device.compiles && first + count < problem->op_count; count++) {
    parameters += parameters_of(problem, first + count);
    parts += parts_of(problem, first + count);
    if (parameters > NDR_PARAM_NUMBERS || parts > MOST_FUSED || !same_strides(problem, first, first + count)) break;
  }
  return count;
}

/* Parameters of the operators' programs, one after the other, as the generated text counts them. */
static void fill_parameters(const ndr_cuda_operators *operators, ndr_program_params *params) {
  int count = 0, all = 0;
  for (int i = 0; i < operators->count; i++) all += parameters_of(operators->problem, operators->first + i);
  for (int i = 0; i < operators->count; i++) {
    const ndr_program *program = operators->problem->programs[operators->first + i];
    for (int k = 0; program && k < program->parameter_count; k++, count++) {
      params->parameters[count] = program->parameters[k];
      if (ndr_cuda_is_narrow(count, all)) params->numbers.narrow[count] = (float)program->parameters[k];
    }
  }
}

static ndr_status start(const call *made, cudaKernel_t kernel, unsigned blocks, void *stream) {
  const ndr_cuda_grid grid = {blocks, made->launch->threads, made->launch->shared_bytes};
  return ndr_cuda_start(kernel, &grid, &made->params, stream);
}

/* Allows a kernel all the shared memory there is: the same for every plan, as others may launch it at the same time. */
static ndr_status allow_shared(const ndr_plan *plan, const ndr_cuda_operators *operators, cudaKernel_t kernel) {
  int words = ndr_canonical_words(&plan->problem, operators->first, operators->count);
  NDR_CUDA(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)(plan->device.shared_bytes_per_block - ndr_zones_static_bytes(words))));
  return NDR_OK;
}

/* Launches a kernel that reads a table. */
static ndr_status run_table(const ndr_plan *plan, const ndr_cuda_operators *operators, call *made, cudaKernel_t kernel,
                            void *stream) {
  ndr_param_table *own = &made->params.base.table;
  unsigned joins = ndr_table_join_grid(made->launch);
  if (made->launch->shared_bytes) NDR_TRY(allow_shared(plan, operators, kernel));
  own->table = plan->problem.table->memory;
  own->group_step = plan->problem.group.result[operators->first];
  own->joining = 0;
  NDR_TRY(start(made, kernel, made->launch->grid, stream));
  own->joining = 1;
  return joins ? start(made, kernel, joins, stream) : NDR_OK;
}

/* Launches the kernel for `count` operators from number `first` on. */
static ndr_status run_ops(const ndr_plan *plan, const ndr_cuda_operators *operators, call *made, void *const *results,
                          void *stream) {
  const ndr_canonical *problem = &plan->problem;
  ndr_params *params = &made->params.base;
  int first = operators->first;
  cudaKernel_t kernel;
  params->finalize = NDR_FINALIZE_PLAIN;
  params->limit = 0;
  NDR_TRY(find_kernel(plan, operators, made, &kernel));
  for (int a = 0; first > 0 && a < problem->kept_count; a++)
    params->axes[a].result_stride = problem->kept[a].result[first];
  for (int i = 0; i < operators->count; i++) {
    ndr_state state = ndr_canonical_state(problem, first + i);
    ndr_dtype dtype = problem->partial ? NDR_U64 : ndr_state_result(&state);
    params->result[i] =
        (char *)results[first + i] + problem->result_origin[first + i] * (int64_t)ndr_dtype_bytes(dtype);
  }
  fill_parameters(operators, &made->params);
  if (problem->table) return run_table(plan, operators, made, kernel, stream);
  if (params->work > made->launch->grid)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "this takes %lld blocks of threads, and a GPU starts %d at most",
                    (long long)params->work, INT32_MAX);
  return start(made, kernel, made->launch->grid, stream);
}

/* Chooses the launch, and fills in its arguments for the arrays. */
static void begin_call(const ndr_plan *plan, const void *const *data, void *workspace, call *made) {
  const ndr_canonical *problem = &plan->problem;
  if (ndr_operands_needed(problem)) {
    made->launch = ndr_operands_launch(plan, data, &made->params, &made->kernel.ways);
    made->kernel.kind = made->launch->kernel;
    made->kernel.facts = ndr_launch_facts(made->launch);
    made->kernel.elements = made->launch->operands.elements;
    made->kernel.steps = made->launch->operands.steps;
    made->kernel.blocks = made->launch->blocks;
    made->params.base.partials = workspace;
    return;
  }
  const char *first = data[0]; /* NULL where there are no elements */
  if (problem->origin) first += problem->origin * (int64_t)ndr_dtype_bytes(problem->dtype);
  made->launch = ndr_plan_launch(plan, first);
  made->kernel = (ndr_cuda_template){.kind = made->launch->kernel, .facts = ndr_launch_facts(made->launch)};
  made->params.base = made->launch->params;
  made->params.base.data = first;
  made->params.base.partials = workspace;
}

ndr_status ndr_cuda_execute(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                            void *stream) {
  call made;
  int before;
  begin_call(plan, data, workspace, &made);
  NDR_TRY(ndr_cuda_enter(plan->device.id, &before));
  ndr_status status = NDR_OK;
  for (int i = 0, count; status == NDR_OK && i < plan->problem.op_count; i += count) {
    count = fusable(plan, i);
    status = run_ops(plan, &(ndr_cuda_operators){&plan->problem, i, count}, &made, results, stream);
  }
  ndr_cuda_leave(plan->device.id, before);
  return status;
}
