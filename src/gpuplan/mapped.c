/* Columns of two axes that merge in the array, but not in the result. Where the first axis is short, kernels of the
 * thread family would read little of it at a time; so they read both as one axis, and find the place of each column in
 * the result. */
#include "gpuplan/mapped.h"

#include <string.h>

enum {
  LEAST_ROWS = 64,  /* with fewer, results that lie scattered take most of the time */
  SHORT_BYTES = 512 /* of the fastest axis, up to which it pays to read it together with the next one */
};

bool ndr_mapped_columns(const ndr_canonical *problem, ndr_canonical *columns) {
  const ndr_axis *axis = &problem->kept[0];
  if (problem->op_count != 1 || problem->kept_count < 2 || problem->length < LEAST_ROWS) return false;
  if (axis->stride != 1 || problem->kept[1].stride != axis->size) return false;
  int64_t size = axis->size * problem->kept[1].size;
  if (axis->size * (int64_t)ndr_dtype_bytes(problem->dtype) >= SHORT_BYTES || size >= INT32_MAX) return false;
  *columns = *problem;
  columns->kept_count--;
  memmove(columns->kept + 1, columns->kept + 2, (size_t)(columns->kept_count - 1) * sizeof *columns->kept);
  columns->kept[0].size = size;
  return true;
}

void ndr_mapped_launch(const ndr_canonical *problem, ndr_launch *launch) {
  launch->params.thread.inner = (int)problem->kept[0].size;
  launch->params.thread.outer_stride = problem->kept[1].result[0];
}
