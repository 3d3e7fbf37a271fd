/* How arrays beside a dataset lie: their strides in problems, and as tensors of a slab's shape. */
#include <string.h>

#include "h5/run/job/besides.h"

/* The strides of an operand whose boxes are compact: of an array, or of the mask that is computed. */
void ndr_besides_strides(const ndr_besides *operands, int source, const ndr_problem *problem, int64_t *strides) {
  ndr_slab slab = {.part = 0};
  memcpy(slab.size, problem->shape, sizeof slab.size);
  if (source == NDR_COMPUTED && !operands->condition.of_elements) source = operands->condition.arrays[0];
  if (source != NDR_COMPUTED) {
    (void)ndr_beside_tensor(&operands->arrays[source], &slab, problem->ndim, NULL, false, strides);
    return;
  }
  for (int64_t d = problem->ndim - 1, step = 1; d >= 0; d--) {
    strides[d] = step;
    step *= problem->shape[d] > 0 ? problem->shape[d] : 1;
  }
}

void ndr_besides_lay(const ndr_besides *operands, ndr_problem *problem) {
  problem->operand_count = operands ? operands->count : 0;
  for (int i = 0; operands && i < operands->count; i++) {
    problem->operands[i] = operands->problem[i];
    ndr_besides_strides(operands, operands->sources[i], problem, problem->operands[i].strides);
  }
}

DLTensor ndr_besides_tensor(const ndr_besides *operands, const ndr_beside_place *at, int i, int64_t *strides) {
  const ndr_beside *array = &operands->arrays[i];
  bool whole = at->whole && ndr_beside_is_brought_whole(array);
  DLTensor tensor = ndr_beside_tensor(array, at->slab, at->x->ndim, at->elements[i], whole, strides);
  tensor.device = at->x->device;
  return tensor;
}
