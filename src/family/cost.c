/* How long a launch takes: a sum of what it does (terms.c), each term with a weight of its kernel's and another one
 * that is multiplied by what the operator costs. tools/fit_costs.py fits them all to the times of random problems. */
#include <string.h>

#include "family/launch.h"

static const struct model {
  const char *name;              /* the kernel's */
  int resident;                  /* blocks that a multiprocessor runs at a time */
  double weights[NDR_TERMS * 2]; /* microseconds a term, for whatever operator; and for each unit of its effort */
} models[] = {
#define WEIGHTS(name, resident, ...) {#name, resident, {__VA_ARGS__}},
#define EFFORT(op, dtype, value)
#include "family/weights.def"
#undef WEIGHTS
#undef EFFORT
};

/* What operators cost an element, of dtypes that stand for others. */
static const struct {
  ndr_op op;
  ndr_dtype dtype;
  double value;
} efforts[] = {
#define WEIGHTS(name, resident, ...)
#define EFFORT(op, dtype, value) {NDR_##op, NDR_##dtype, value},
#include "family/weights.def"
};

/* The operator that was measured in place of this one. */
static ndr_op measured_op(ndr_op op) {
  switch (op) {
  case NDR_PROD: return NDR_SUM;
  case NDR_NORM1: return NDR_NORM2;
  case NDR_ARGMIN: return NDR_ARGMAX;
  case NDR_STD:
  case NDR_LOGSUMEXP: return NDR_VAR;
  case NDR_SUM:
  case NDR_MEAN:
  case NDR_NORM2:
  case NDR_ARGMAX:
  case NDR_VAR: return op;
  default: return NDR_MAX;
  }
}

static ndr_dtype measured_dtype(ndr_dtype dtype) {
  ndr_class class = ndr_dtype_class(dtype);
  size_t bytes = ndr_dtype_bytes(dtype);
  if (class == NDR_CLASS_COMPLEX) return NDR_C64;
  if (class == NDR_CLASS_FLOAT) return bytes == 2 ? NDR_F16 : dtype;
  return bytes <= 2 ? NDR_I8 : bytes == 4 ? NDR_I32 : NDR_I64;
}

double ndr_launch_effort(const ndr_problem *problem, ndr_op *op, ndr_dtype *dtype) {
  *op = measured_op(problem->ops[0]);
  *dtype = measured_dtype(problem->dtype);
  for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
    if (efforts[i].op == *op && efforts[i].dtype == *dtype) return efforts[i].value;
  return 1;
}

/* The weights are a kernel's but where it has two ways: single elements of dense rows, or of rows with a step; rows of
 * so many packets that lanes need not ask, or any; outputs read by a block each, or by a part of one. */
static const char *model_name(const ndr_launch *launch) {
  const ndr_params *p = &launch->params;
  if (strcmp(launch->kernel, "thread_elements") == 0 && p->axes[0].stride == 1) return "thread_dense";
  if (strcmp(launch->kernel, "tree_lanes") == 0 && p->lane_shift >= 0) return "tree_regular";
  if (strcmp(launch->kernel, "tree_strided") == 0 && p->team < NDR_THREADS) return "tree_parted";
  return launch->kernel;
}

static const struct model *model_of(const ndr_launch *launch) {
  const char *name = model_name(launch);
  const struct model *model = models;
  while (strcmp(model->name, name) != 0) model++;
  return model;
}

const char *ndr_launch_model(const ndr_launch *launch, int *resident) {
  *resident = model_of(launch)->resident;
  return model_of(launch)->name;
}

double ndr_launch_cost(const ndr_problem *problem, const ndr_device *device, const ndr_launch *launch) {
  const struct model *model = model_of(launch);
  const double *weights = model->weights;
  double terms[NDR_TERMS], start = weights[NDR_TERM_START], time = -start;
  ndr_op op;
  ndr_dtype dtype;
  double effort = ndr_launch_effort(problem, &op, &dtype);
  if (problem->outputs == 0 || problem->length == 0) return 1e-6;
  ndr_launch_terms(problem, device, launch, model->resident, terms);
  for (int t = 0; t < NDR_TERMS; t++) time += terms[t] * (weights[t] + effort * weights[NDR_TERMS + t]);
  return 1e-6 * (start + time * problem->op_count);
}
