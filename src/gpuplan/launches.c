/* The launches of a plan: one for data on a 16-byte boundary, one for other data, and one for complex elements that lie
 * on no multiple of their size. */
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/table.h"
#include "gpuplan/operands/zones.h"
#include "gpuplan/strided.h"

ndr_launches *ndr_plan_launches(const ndr_plan *plan) {
  return (ndr_launches *)(uintptr_t)plan->config;
}

static size_t round_up(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

static size_t partial_bytes(const ndr_launch *launch, int words) {
  const ndr_params *p = &launch->params;
  if (ndr_kernel_has_table(launch->kernel)) return ndr_table_workspace(launch, words);
  size_t slots = (size_t)words * (size_t)p->slots * (size_t)p->padded;
  return p->splits > 1 ? round_up(slots * sizeof(ndr_posted)) : 0;
}

static size_t largest(size_t a, size_t b, size_t c) {
  size_t most = a > b ? a : b;
  return most > c ? most : c;
}

double ndr_launches_cost(const ndr_canonical *problem, const ndr_device *device, ndr_launch_configure *configure) {
  ndr_launch launch;
  configure(problem, device, &launch, true);
  if (launch.kernel == NDR_KERNEL_TABLE_TILES) return ndr_zones_cost(problem, device);
  if (launch.kernel == NDR_KERNEL_TABLE_COLUMNS) return ndr_table_cost(problem, device);
  if (ndr_kernel_has_operands(launch.kernel)) return ndr_operands_cost(problem, device, &launch);
  return ndr_launch_cost(problem, device, &launch);
}

void ndr_launches_end(ndr_plan *plan) {
  ndr_launches *l = ndr_plan_launches(plan);
  int words = ndr_canonical_words(&plan->problem, 0, plan->problem.op_count);
  if (ndr_kernel_has_operands(l->unaligned.kernel))
    l->odd = l->unaligned; /* which reads elements by their parts */
  else if (ndr_dtype_class(plan->problem.dtype) == NDR_CLASS_COMPLEX)
    ndr_launch_strided(&plan->problem, &plan->device, &l->odd);
  plan->workspace =
      largest(partial_bytes(&l->aligned, words), partial_bytes(&l->unaligned, words), partial_bytes(&l->odd, words));
}

void ndr_launches_configure(ndr_plan *plan, ndr_launch_configure *configure) {
  ndr_launches *l = ndr_plan_launches(plan);
  configure(&plan->problem, &plan->device, &l->aligned, true);
  configure(&plan->problem, &plan->device, &l->unaligned, false);
  ndr_launches_end(plan);
}

const ndr_launch *ndr_plan_launch(const ndr_plan *plan, const void *first) {
  const ndr_launches *launches = ndr_plan_launches(plan);
  if ((uintptr_t)first % ndr_dtype_bytes(plan->problem.dtype)) return &launches->odd;
  return (uintptr_t)first % NDR_VECTOR_BYTES ? &launches->unaligned : &launches->aligned;
}
