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

/* Cuts the array along one dim into the parts of at most `most` ranks, some of them perhaps empty; returns how many
 * ranks there are, 1 where the array has no dims. */
int random_parts(rng *random, const ndr_problem *problem, int most, box *boxes);

/* The elements of a tensor with strides that lie in a box, as a view. The box must outlive it. */
DLTensor tensor_part(const DLTensor *tensor, box *part);

#endif
