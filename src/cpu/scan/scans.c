/* The table of the CPU's scans. */
#include "cpu/scan/scans.h"

static ndr_status execute(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                          void *stream) {
  const ndr_backend *cpu = plan->backend;
  void *own = NULL;
  if (!workspace && plan->workspace) NDR_TRY(cpu->allocate(plan->device.id, plan->workspace, stream, &own));
  ((const ndr_cpu_scan_family *)(const void *)plan->family)->run(plan, data, result, own ? own : workspace);
  if (own) cpu->release(plan->device.id, own, stream);
  return NDR_OK;
}

static const ndr_scan_family *const families[] = {&ndr_cpu_scan_lines.family, &ndr_cpu_scan_lanes.family,
                                                  &ndr_cpu_scan_programs.family, &ndr_cpu_scan_scalar.family, NULL};

const struct ndr_scan_calls ndr_cpu_scans = {families, execute, ndr_cpu_select};
