#include "plan.h"

#include <string.h>

#include "cpu/backend.h"

ndr_status plan_text(ndr_plan *plan, const char *text, const ndr_backend *backend, const ndr_device *device,
                     const char *force) {
  ndr_request request;
  memset(plan, 0, sizeof *plan);
  NDR_TRY(ndr_case_parse(text, &plan->described));
  ndr_case *c = &plan->described;
  ndr_options options = NDR_OPTIONS_INIT;
  options.skip_nan = c->skip_nan;
  options.accumulate = c->accumulate;
  options.ddof = c->ddof;
  DLTensor array = {.ndim = c->ndim, .dtype = ndr_dtype_to_dlpack(c->dtype), .shape = c->shape, .strides = c->strides};
  NDR_TRY(ndr_request_make(&request, &array, c->dim_count, c->dims, c->op_count, c->ops, &options));
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
