/* Checks of the tensors that callers hand over: data in host memory. */
#ifndef NDR_H5_RUN_HOST_H
#define NDR_H5_RUN_HOST_H

#include "h5/file/dataset.h"

/* The tensor has a shape, a known dtype, which *dtype receives, and where it has elements, aligned host memory for
 * them. `what` names it in the sentence. */
ndr_status ndr_host_check(const DLTensor *tensor, const char *what, ndr_dtype *dtype);

/* It is moreover compact, and has the shape of a result over these dims of the dataset, which may keep them with
 * size 1.
 */
ndr_status ndr_host_check_result(const ndr_h5_dataset *dataset, int dim_count, const int *dims, const DLTensor *result,
                                 const char *what, ndr_dtype *dtype);

#endif
