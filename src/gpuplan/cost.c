/* Predicts how long a launch takes: the sum of its terms (terms.c), each times a weight of the kernel's, plus a second
 * weight times what the operator costs. tools/bench/fit_costs.py fits both to the times of random problems. */
#include "gpuplan/launch.h"
#include "gpuplan/operands/operators.h"

/* Each kernel has a model of its name; model_of() says which ones have a second. */
typedef enum model {
#define WEIGHTS(name, ...) MODEL_##name,
#define OP_COST(op, dtype, value)
#include "gpuplan/weights.def"
#undef WEIGHTS
} model;

static const struct {
  const char *name;
  struct {
    double plain, per_cost; /* microseconds for each unit of the term: of any operator, and times its op_cost */
  } weights[NDR_TERMS];
} models[] = {
#define TERM(term, plain, per_cost) [NDR_TERM_##term] = {plain, per_cost}
#define WEIGHTS(name, ...) [MODEL_##name] = {#name, {__VA_ARGS__}},
#include "gpuplan/weights.def"
#undef WEIGHTS
#undef OP_COST
};

static const model model_of_kernel[NDR_PLAN_KERNELS] = {
#define ROW(NAME, name, ...) [NDR_KERNEL_##NAME] = MODEL_##name,
    NDR_KERNEL_ROWS(ROW, )
#undef ROW
};

/* What operators cost for each element. Some dtypes were measured; measured_dtype() says which stand for others. */
static const struct {
  ndr_op op;
  ndr_dtype dtype;
  double value;
} op_costs[] = {
#define WEIGHTS(name, ...)
#define OP_COST(op, dtype, value) {NDR_##op, NDR_##dtype, value},
#include "gpuplan/weights.def"
};

/* The operator that was measured in place of this one. */
static const ndr_op measured_op[NDR_OP_COUNT] = {
#define OP(NAME, value, name, result, empty, domain, combine, words, kernel, finalize, cost, ...) [value] = NDR_##cost,
#include "spec/ops.def"
#undef OP
};

static ndr_dtype measured_dtype(ndr_dtype dtype) {
  ndr_class class = ndr_dtype_class(dtype);
  size_t bytes = ndr_dtype_bytes(dtype);
  if (class == NDR_CLASS_COMPLEX) return NDR_C64;
  if (class == NDR_CLASS_FLOAT) return bytes == 2 ? NDR_F16 : dtype;
  return bytes <= 2 ? NDR_I8 : bytes == 4 ? NDR_I32 : NDR_I64;
}

double ndr_launch_op_cost(const ndr_canonical *problem, ndr_op *op, ndr_dtype *dtype) {
  *op = measured_op[ndr_launch_operator(problem)];
  *dtype = measured_dtype(problem->dtype);
  for (size_t i = 0; i < sizeof op_costs / sizeof *op_costs; i++)
    if (op_costs[i].op == *op && op_costs[i].dtype == *dtype) return op_costs[i].value;
  return 1;
}

/* The model of the launch's kernel, or its second model: thread_elements has one for columns that lie side by side,
 * tree_lanes one for lanes that all have the same number of vectors, tree_strided one for outputs that less than a
 * block reads. */
static model model_of(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  if (launch->kernel == NDR_KERNEL_THREAD_ELEMENTS && p->axes[0].stride == 1) return MODEL_thread_dense;
  if (launch->kernel == NDR_KERNEL_TREE_LANES && p->tree_lanes.lane_vectors_log >= 0) return MODEL_tree_regular;
  if (launch->kernel == NDR_KERNEL_TREE_STRIDED && p->tree_strided.team.count < NDR_THREADS) return MODEL_tree_parted;
  return model_of_kernel[launch->kernel];
}

const char *ndr_launch_model(const ndr_launch *launch) {
  return models[model_of(launch)].name;
}

double ndr_launch_cost(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch) {
  model which = model_of(launch);
  double terms[NDR_TERMS], start = models[which].weights[NDR_TERM_START].plain, time = -start;
  ndr_op op;
  ndr_dtype dtype;
  double op_cost = ndr_launch_op_cost(problem, &op, &dtype);
  if (problem->outputs == 0 || problem->length == 0) return 1e-6;
  ndr_launch_terms(problem, device, launch, terms);
  for (int t = 0; t < NDR_TERMS; t++)
    time += terms[t] * (models[which].weights[t].plain + op_cost * models[which].weights[t].per_cost);
  return 1e-6 * (start + time * problem->op_count);
}
