/* An array cut into boxes at random, as slabs of a file or parts of a cluster would be. */
#ifndef TEST_SUPPORT_CUTS_H
#define TEST_SUPPORT_CUTS_H

#include "array.h"

typedef struct box {
  int64_t offset[NDR_MAX_DIMS], size[NDR_MAX_DIMS];
} box;

enum { MOST_BOXES = 24 };

/* Boxes that hold each element of the case once, in a random order; returns how many. */
int random_boxes(rng *random, const ndr_problem *problem, box *boxes);

/* The elements of a tensor with strides that lie in a box, as a view. The box must outlive it. */
DLTensor tensor_part(const DLTensor *tensor, box *part);

#endif
