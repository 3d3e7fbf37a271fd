/* Predicts how long a launch takes that reads several arrays. */
#include <math.h>
#include <stdlib.h>

#include "gpuplan/operands/operand_arrays.h"
#include "gpuplan/operands/operands.h"

/* Bytes of memory for an element of array k, where neighbouring threads read neighbours along an axis. */
static double element_bytes(const ndr_canonical *problem, const ndr_axis *along, int k) {
  double bytes = (double)ndr_array_bytes(problem, k), apart = bytes * (double)llabs(ndr_stride_of(along, k));
  return apart == 0 ? bytes / NDR_WARP_THREADS : apart < NDR_SECTOR_BYTES ? apart : NDR_SECTOR_BYTES;
}

double ndr_operands_cost(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch) {
  static const double START = 4e-6, JOIN = 2e-6, WAVE = 1.5e-6, LOADS_AWAITED = 0.7e-6;
  const ndr_params *p = &launch->params;
  bool columns = launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS;
  const ndr_axis *along = columns ? &problem->kept[0] : ndr_run_axis(problem);
  double bytes = 0, elements = (double)problem->outputs * (double)problem->length;
  if (elements == 0) return 1e-6;
  for (int k = 0; k < ndr_count_arrays(problem); k++) bytes += elements * element_bytes(problem, along, k);
  double blocks = (double)device->units * launch->blocks, grid = (double)p->work;
  double waves = ceil(grid / blocks), busy = fmin(1, grid / (blocks / 2)), lanes = 1;
  int each = launch->operands.elements * ndr_row_chunks(launch);
  if (columns) /* threads beyond the columns are idle */
    lanes = ceil((double)along->size / each) / ((double)p->thread.axis_teams * p->thread.lanes.count);
  double batch = ndr_rows_in_flight(problem, launch) * each;
  double awaited = elements / (fmin(grid, blocks) * NDR_THREADS * lanes * batch);
  double time = START + fmax(bytes / (device->bandwidth * busy), ceil(awaited) * LOADS_AWAITED) + waves * WAVE;
  return time + (p->splits > 1 ? JOIN : 0) + (p->split_groups > 1 ? JOIN : 0);
}
