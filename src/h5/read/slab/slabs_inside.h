/* What slabs.c (sizes and places) and slabs_cut.c (extents) share. */
#ifndef NDR_H5_READ_SLABS_INSIDE_H
#define NDR_H5_READ_SLABS_INSIDE_H

#include "h5/read/slab/slabs.h"

/* Sizes are not negative, so what overflows is larger than any limit. */
static inline int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

/* From where the first unit begins to the end of the array. */
static inline int64_t reach(const ndr_slabs *slabs, int d) {
  return plus(slabs->shape[d], slabs->lead[d]);
}

/* Outputs of a box, of one group. */
static inline int64_t ndr_group_outputs(const ndr_slabs *slabs, const int64_t *extent) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (!slabs->reduced[d]) count = times(count, extent[d]);
  return count;
}

/* Bytes of the boxes of all arrays beside the dataset: see ndr_slabs_operand_bytes. */
int64_t ndr_slabs_operands_bytes(const ndr_slabs *slabs);

#endif
