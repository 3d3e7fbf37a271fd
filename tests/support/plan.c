#include "plan.h"

#include <string.h>

#include "cpu/backend.h"

ndr_status plan_text(ndr_plan *plan, const char *text, const ndr_backend *backend, const ndr_device *device,
                     const char *force) {
  ndr_request request;
  memset(plan, 0, sizeof *plan);
  plan->described = (ndr_problem)NDR_PROBLEM_INIT;
  NDR_TRY(ndr_problem_parse(text, &plan->described));
  NDR_TRY(ndr_request_make(&request, &plan->described));
  NDR_TRY(ndr_canonical_make(&plan->problem, &request));
  plan->backend = backend;
  plan->device = *device;
  return ndr_plan_choose(plan, force);
}

ndr_status cpu_plan(ndr_plan *plan, const char *text, const char *force) {
  ndr_device device;
  NDR_TRY(ndr_backend_cpu.device(0, &device));
  return plan_text(plan, text, &ndr_backend_cpu, &device, force);
}
