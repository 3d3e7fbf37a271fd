/* Tensors and versions: what callers of other languages need beside the reductions. */
#include "core/types.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *ndr_version(void) {
  return TEXT(NDR_VERSION_MAJOR) "." TEXT(NDR_VERSION_MINOR) "." TEXT(NDR_VERSION_PATCH);
}

DLTensor ndr_tensor_compact(void *pointer, int ndim, int64_t *dtype_and_shape) {
  if (!dtype_and_shape) return (DLTensor){.ndim = -1};
  return (DLTensor){.data = pointer,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = ndr_dtype_to_dlpack((ndr_dtype)dtype_and_shape[0]),
                    .shape = dtype_and_shape + 1,
                    .strides = NULL,
                    .byte_offset = 0};
}
