/* The arrays that a reduction reads beside its dataset: which there are, along which of its dims they lie, and what the
 * accumulators are given of them. How they are read is in read/beside.h. */
#ifndef NDR_H5_RUN_BESIDES_H
#define NDR_H5_RUN_BESIDES_H

#include <stdatomic.h>

#include "h5/read/beside.h"

/* A mask that is computed: an operator of one's own over no dims, whose result is the mask. */
typedef struct ndr_condition {
  ndr_op op;        /* 0: there is no condition */
  const char *text; /* as errors name it */
  bool of_elements; /* it reads the dataset, too, or several arrays: the mask has the shape of the slab */
  int count;        /* of the arrays beside the dataset that it reads, in their order */
  int arrays[NDR_MAX_OPERANDS];
} ndr_condition;

typedef struct ndr_besides {
  int array_count;
  ndr_beside arrays[NDR_MOST_BESIDES];
  const char *names[NDR_MOST_BESIDES]; /* by which a condition calls them; the caller's, or NULL */
  /* The operands of the problem, in its order: the number of the array, or NDR_COMPUTED for the condition's mask. */
  int count;
  ndr_operand problem[NDR_MAX_OPERANDS];
  int sources[NDR_MAX_OPERANDS];
  int weights;            /* the number of the array, or -1 */
  atomic_bool has_weight; /* a weight other than 0 has been seen */
  bool masked;            /* one of the arrays of operators may have missing elements */
  bool needs_groups;      /* the array that was added last cannot be paired but by groups */
  ndr_condition condition;
} ndr_besides;

#define NDR_COMPUTED (-1)

/* Finds out what the options name, for a problem of the dataset. Reads no element. Free the operands even if that
 * fails; *made is then NULL or to be freed, too. */
ndr_status ndr_besides_make(ndr_besides **made, const ndr_h5_dataset *dataset, const ndr_problem *problem,
                            const ndr_h5_options *options);
void ndr_besides_free(ndr_besides *operands);

/* Whether there is a mask or condition. NULL operands have none. */
static inline bool ndr_besides_leave_out(const ndr_besides *operands) {
  for (int i = 0; operands && i < operands->count; i++)
    if (operands->problem[i].role == NDR_WHERE) return true;
  return false;
}

/* Puts the operands into the problem, with the strides of compact boxes of its shape. NULL operands are none. */
void ndr_besides_lay(const ndr_besides *operands, ndr_problem *problem);

/* The strides of an operand whose boxes are compact, in a problem of that shape: of the array `source`, or of a mask
 * that is computed. */
void ndr_besides_strides(const ndr_besides *operands, int source, const ndr_problem *problem, int64_t *strides);

/* Reads the arrays that are read once, and looks at weights among them. */
ndr_status ndr_besides_load(ndr_besides *operands);

/* Looks at a box of weights, as many as the slab or leaf has. Missing ones become 0. Fails if one is no weight. */
ndr_status ndr_besides_weigh(ndr_besides *operands, const ndr_slab *slab, double *weights);

/* Whether there are no weights, or one other than 0 has been looked at. */
bool ndr_besides_weighed(const ndr_besides *operands);

/* Fails if all the weights that have been looked at are 0. */
ndr_status ndr_besides_check_weights(const ndr_besides *operands);

/* What an accumulator is given of a slab or leaf. */
typedef struct ndr_beside_tensors {
  DLTensor tensors[NDR_MAX_OPERANDS];
  const DLTensor *pointers[NDR_MAX_OPERANDS];
  int64_t strides[NDR_MAX_OPERANDS][NDR_MAX_DIMS];
} ndr_beside_tensors;

/* A slab or leaf, and what belongs to it, on one device. */
typedef struct ndr_beside_place {
  ndr_slab *slab;
  const DLTensor *x;                /* its elements */
  void *elements[NDR_MOST_BESIDES]; /* the compact box of each array */
  bool whole;                       /* arrays that are read once are there as a whole instead */
  void *mask;                       /* room for one that is computed */
  int threads;                      /* that compute it, or the stream */
  void *stream;
} ndr_beside_place;

/* Computes the mask, and fills in what is given. */
ndr_status ndr_besides_give(const ndr_besides *operands, const ndr_beside_place *at, ndr_beside_tensors *given);

/* Array i as a tensor of the slab's shape. */
DLTensor ndr_besides_tensor(const ndr_besides *operands, const ndr_beside_place *at, int i, int64_t *strides);

#endif
