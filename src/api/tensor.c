/* ndr_tensor and ndr_version. */
#include "core/types.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *ndr_version(void) {
  return TEXT(NDR_VERSION_MAJOR) "." TEXT(NDR_VERSION_MINOR) "." TEXT(NDR_VERSION_PATCH);
}

DLTensor ndr_tensor(void *data, ndr_dtype dtype, int ndim, int64_t *shape) {
  return (DLTensor){
      .data = data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = ndr_dtype_to_dlpack(dtype), .shape = shape};
}
