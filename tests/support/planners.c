#include "planners.h"

#include <string.h>

#include "cpu/backend.h"
#include "support/gpus.h"

enum { TEXT = 4096 };

static ndr_status plan_on_cpu(const ndr_case *problem, const char *family) {
  ndr_plan *plan = NULL;
  char text[TEXT];
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  memcpy(shape, problem->shape, sizeof shape);
  memcpy(strides, problem->strides, sizeof strides);
  DLTensor array = {NULL, {kDLCPU, 0}, problem->ndim, ndr_dtype_to_dlpack(problem->dtype), shape, strides, 0};
  ndr_options options = NDR_OPTIONS_INIT;
  options.keepdims = problem->keepdims;
  options.skip_nan = problem->skip_nan;
  options.ddof = problem->ddof;
  options.accumulate = problem->accumulate;
  options.force_family = family;
  ndr_status status = ndr_plan_create(&plan, &array, problem->dim_count, problem->dims, problem->op_count, problem->ops,
                                      NULL, &options);
  if (status == NDR_OK) ndr_plan_describe(plan, text, sizeof text);
  ndr_plan_destroy(plan);
  return family && status == NDR_ERR_UNSUPPORTED ? NDR_OK : status;
}

static ndr_status plan_on_gpu(const char *problem, const ndr_device *gpu, const char *family) {
  static ndr_plan plan;
  char text[TEXT];
  ndr_status status = gpu_plan(&plan, problem, gpu, family);
  if (status == NDR_OK) ndr_plan_describe(&plan, text, sizeof text);
  return family && status == NDR_ERR_UNSUPPORTED ? NDR_OK : status;
}

ndr_status plan_by_all(const ndr_case *problem) {
  static const char *const gpu_families[] = {NULL, "tree", "thread", "tile"};
  char text[TEXT];
  ndr_case_print(problem, text, sizeof text);
  NDR_TRY(plan_on_cpu(problem, NULL));
  for (const ndr_family *const *family = ndr_backend_cpu.families; *family; family++)
    NDR_TRY(plan_on_cpu(problem, (*family)->name));
  for (size_t f = 0; f < sizeof gpu_families / sizeof *gpu_families; f++)
    for (int g = 0; g < GPU_COUNT; g++) NDR_TRY(plan_on_gpu(text, &gpus[g], gpu_families[f]));
  return NDR_OK;
}
