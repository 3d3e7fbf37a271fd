/* Where argmin and argmax have found elements, as coordinates. */
#include <math.h>
#include <stdlib.h>

#include "h5/run/job/host.h"
#include "h5/run/job/job.h"

/* How far apart indices are that differ by one along dim d: they count row-major over the reduced dims. */
static ndr_status find_step(const ndr_h5_dataset *dataset, const ndr_problem *problem, int d, int64_t *step) {
  bool found = false;
  *step = 1;
  for (int i = 0; i < problem->dim_count; i++) {
    if (problem->dims[i] == d) found = true;
    if (problem->dims[i] > d) *step *= problem->shape[problem->dims[i]];
  }
  return found ? NDR_OK : ndr_fail(NDR_ERR_DIMS, "%s: dim %d is not among the reduced ones", dataset->where, d);
}

static void look_up(const double *coordinates, int64_t size, int64_t step, const DLTensor *indices, double *values) {
  const int64_t *index = (const int64_t *)(const void *)ndr_host_address(indices);
  int64_t count = 1;
  for (int d = 0; d < indices->ndim; d++) count *= indices->shape[d];
  for (int64_t i = 0; i < count; i++) {
    bool found = index[i] >= 0 && step > 0 && size > 0;
    values[i] = found ? coordinates[index[i] / step % size] : NAN;
  }
}

ndr_status ndr_h5_locate(const ndr_h5_dataset *dataset, const ndr_problem *problem, int dim, const DLTensor *indices,
                         double *values) {
  ndr_dtype dtype;
  ndr_problem read;
  int64_t step;
  if (!dataset || !indices || !values) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_locate: null pointer");
  NDR_TRY(ndr_job_problem(&read, dataset, problem));
  NDR_TRY(ndr_job_blame(dataset, ndr_host_check(indices, "indices", &dtype)));
  if (dtype != NDR_I64 || indices->strides)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: indices must be i64 in compact host memory", dataset->where);
  NDR_TRY(ndr_h5_coordinate(dataset, dim, NULL));
  int d = dim < 0 ? dim + dataset->info.ndim : dim;
  NDR_TRY(find_step(dataset, &read, d, &step));
  int64_t size = dataset->info.shape[d];
  double *coordinates = (uint64_t)size < SIZE_MAX / sizeof(double) ? malloc((size_t)size * sizeof(double) + 1) : NULL;
  if (!coordinates) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", dataset->where);
  ndr_status status = ndr_h5_coordinate(dataset, d, coordinates);
  if (status == NDR_OK) look_up(coordinates, size, step, indices, values);
  free(coordinates);
  return status;
}
