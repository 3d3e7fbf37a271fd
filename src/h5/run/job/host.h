/* Checks of the tensors that callers hand over: data in host memory. */
#ifndef NDR_H5_RUN_HOST_H
#define NDR_H5_RUN_HOST_H

#include "h5/file/dataset.h"

/* Where the elements begin. Without elements there may be no memory, and NULL takes no offset. */
static inline char *ndr_host_address(const DLTensor *tensor) {
  return tensor->data ? (char *)tensor->data + (int64_t)tensor->byte_offset : NULL;
}

/* The tensor has a shape, a known dtype, which *dtype receives, and where it has elements, aligned host memory for
 * them. `what` names it in the sentence. */
ndr_status ndr_host_check(const DLTensor *tensor, const char *what, ndr_dtype *dtype);

/* It is moreover compact, and has the shape and dtype of `expected`. */
ndr_status ndr_host_check_result(const DLTensor *result, const DLTensor *expected, const char *what);

#endif
