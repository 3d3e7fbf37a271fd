/* Weighted sums and means: elements times weights, and the weights of those that count. */
#ifndef NDR_H5_RUN_WEIGH_H
#define NDR_H5_RUN_WEIGH_H

#include "h5/run/job.h"

/* Whether the weights fit the dataset, and the ops are among those that weights mean something to. */
ndr_status ndr_weigh_check(const ndr_job *job);

/* The weights of a box: a stride for each of its dims, in elements; 0 along dims that they do not depend on. */
typedef struct ndr_weights {
  const double *first; /* of the box's first element */
  int64_t strides[NDR_MAX_DIMS];
} ndr_weights;

ndr_weights ndr_weigh_box(const ndr_job *job, const ndr_slab *slab);

/* data, a compact box of f64, times weights. */
void ndr_weigh_elements(const ndr_weights *weights, int ndim, const int64_t *size, double *data);

/* Replaces each weighted element by its weight, or by 0 if the element is NaN. */
void ndr_weigh_weights(const ndr_weights *weights, int ndim, const int64_t *size, double *data);

/* Writes the results of a block: `sums` has folded sum and valid over weighted elements, `weight_sums` sum over their
 * weights. */
ndr_status ndr_weigh_finish(const ndr_job *job, const ndr_accumulator *sums, const ndr_accumulator *weight_sums,
                            DLTensor *const *results);

#endif
