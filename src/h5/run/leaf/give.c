/* What an accumulator is given of a slab or leaf: the operands of its problem. */
#include <string.h>

#include "h5/run/job/condition.h"

static DLTensor mask_tensor(const ndr_besides *operands, const ndr_beside_place *at, int64_t *strides) {
  ndr_problem shape = NDR_PROBLEM_INIT;
  DLTensor mask = *at->x;
  shape.ndim = at->x->ndim;
  memcpy(shape.shape, at->slab->size, sizeof shape.shape);
  ndr_besides_strides(operands, NDR_COMPUTED, &shape, strides);
  mask.data = at->mask;
  mask.strides = strides;
  mask.dtype = ndr_dtype_to_dlpack(NDR_BOOL);
  return mask;
}

ndr_status ndr_besides_give(const ndr_besides *operands, const ndr_beside_place *at, ndr_beside_tensors *given) {
  if (operands->condition.op) NDR_TRY(ndr_condition_compute(operands, at));
  for (int i = 0; i < operands->count; i++) {
    int source = operands->sources[i];
    given->tensors[i] = source == NDR_COMPUTED ? mask_tensor(operands, at, given->strides[i])
                                               : ndr_besides_tensor(operands, at, source, given->strides[i]);
    given->pointers[i] = &given->tensors[i];
  }
  return NDR_OK;
}
