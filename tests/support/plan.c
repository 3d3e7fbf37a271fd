#include "plan.h"

#include <string.h>

#include "cpu/backend.h"
#include "support/gpus.h"

ndr_status plan_text(ndr_plan *plan, const char *text, const ndr_backend *backend, const ndr_device *device,
                     const char *force) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_request request;
  memset(plan, 0, sizeof *plan);
  NDR_TRY(ndr_problem_parse(text, &problem));
  NDR_TRY(ndr_request_make(&request, &problem));
  ndr_status status = ndr_canonical_make(&plan->problem, &request);
  ndr_request_free(&request);
  if (status != NDR_OK) return status;
  plan->backend = backend;
  plan->device = *device;
  plan->text = (char *)(uintptr_t)text; /* not freed */
  return ndr_plan_choose(plan, force);
}

ndr_status cpu_plan(ndr_plan *plan, const char *text, const char *force) {
  ndr_device device;
  NDR_TRY(ndr_backend_cpu.device(0, &device));
  return plan_text(plan, text, &ndr_backend_cpu, &device, force);
}

/* ---- By all of them -----------------------------------------------------------------------------------------------
 */

enum { TEXT = 1 << 17 }; /* room for 20 operators of one's own */

static ndr_status plan_on_cpu(const ndr_problem *problem, const char *family) {
  ndr_plan *plan = NULL;
  static char text[TEXT];
  ndr_options options = NDR_OPTIONS_INIT;
  options.force_family = family;
  ndr_status status = ndr_plan_create(&plan, problem, (DLDevice){kDLCPU, 0}, NULL, &options);
  if (status == NDR_OK) ndr_plan_describe(plan, text, sizeof text);
  ndr_plan_destroy(plan);
  return family && status == NDR_ERR_UNSUPPORTED ? NDR_OK : status;
}

static ndr_status plan_on_gpu(const char *problem, const ndr_device *gpu, const char *family) {
  static ndr_plan plan;
  static char text[TEXT];
  ndr_status status = gpu_plan(&plan, problem, gpu, family);
  if (status == NDR_OK) ndr_plan_describe(&plan, text, sizeof text);
  ndr_canonical_free(&plan.problem);
  /* Programs need a device that compiles. */
  return (family || !gpu->compiles) && status == NDR_ERR_UNSUPPORTED ? NDR_OK : status;
}

ndr_status plan_by_all(const ndr_problem *problem) {
  static const char *const gpu_families[] = {NULL, "tree", "thread", "tile"};
  static char text[TEXT];
  ndr_problem_print(problem, text, sizeof text);
  NDR_TRY(plan_on_cpu(problem, NULL));
  for (const ndr_family *const *family = ndr_backend_cpu.families; *family; family++)
    NDR_TRY(plan_on_cpu(problem, (*family)->name));
  for (size_t f = 0; f < sizeof gpu_families / sizeof *gpu_families; f++)
    for (int g = 0; g < 2 * GPU_COUNT; g++) {
      ndr_device gpu = gpus[g / 2];
      gpu.compiles = g % 2;
      NDR_TRY(plan_on_gpu(text, &gpu, gpu_families[f]));
    }
  return NDR_OK;
}
