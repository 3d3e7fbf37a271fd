#include "cuts.h"

#include <string.h>

static void shuffle(rng *random, int count, box *boxes) {
  for (int i = count - 1; i > 0; i--) {
    int j = (int)rng_between(random, 0, i);
    box other = boxes[i];
    boxes[i] = boxes[j];
    boxes[j] = other;
  }
}

/* Cuts boxes in two at random places until there are about enough. */
int random_boxes(rng *random, const ndr_problem *problem, box *boxes) {
  int count = 1, wanted = (int)rng_between(random, 1, MOST_BOXES);
  boxes[0] = (box){{0}, {0}};
  memcpy(boxes[0].size, problem->shape, sizeof problem->shape);
  for (int tries = 0; count < wanted && tries < 4 * MOST_BOXES && problem->ndim; tries++) {
    box *cut = &boxes[rng_between(random, 0, count - 1)];
    int d = (int)rng_between(random, 0, problem->ndim - 1);
    if (cut->size[d] < 2) continue;
    int64_t at = rng_between(random, 1, cut->size[d] - 1);
    boxes[count] = *cut;
    boxes[count].offset[d] += at;
    boxes[count++].size[d] -= at;
    cut->size[d] = at;
  }
  shuffle(random, count, boxes);
  return count;
}

int random_parts(rng *random, const ndr_problem *problem, int most, box *boxes) {
  int ranks = problem->ndim ? (int)rng_between(random, 1, most) : 1;
  int dim = problem->ndim ? (int)rng_between(random, 0, problem->ndim - 1) : 0;
  int64_t at = 0;
  for (int r = 0; r < ranks; r++) {
    box *b = &boxes[r];
    *b = (box){{0}, {0}};
    memcpy(b->size, problem->shape, sizeof b->size);
    if (problem->ndim == 0) break;
    int64_t left = problem->shape[dim] - at;
    b->offset[dim] = at;
    b->size[dim] = r == ranks - 1 ? left : rng_between(random, 0, left);
    if (rng_once_in(random, 2) && r < ranks - 1 && left > 0) b->size[dim] = (left + ranks - r - 1) / (ranks - r);
    at += b->size[dim];
  }
  shuffle(random, ranks, boxes);
  return ranks;
}

DLTensor tensor_part(const DLTensor *tensor, box *part) {
  DLTensor view = *tensor;
  for (int d = 0; d < view.ndim; d++)
    view.byte_offset += (uint64_t)(part->offset[d] * view.strides[d]) * (view.dtype.bits / 8);
  view.shape = part->size;
  return view;
}
