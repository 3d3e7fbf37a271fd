/* Strided arrays that own exactly the memory their elements span, so that a sanitizer sees a step outside it. */
#ifndef TEST_SUPPORT_ARRAY_H
#define TEST_SUPPORT_ARRAY_H

#include "element.h"
#include "ndreduce/plan.h"
#include "random.h"

typedef struct test_array {
  DLTensor tensor; /* points into this struct: do not copy it */
  ndr_dtype dtype;
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  void *memory;
  size_t bytes;
} test_array;

typedef enum filling {
  FILL_SMALL,   /* integers in -8..8: their sums are exact in f32 whatever the order */
  FILL_WIDE,    /* any bits for integers, magnitudes from 2^-4 to 2^4 for floats */
  FILL_SPECIAL, /* FILL_WIDE with NaN, infinities, zeros and ties in between */
  FILL_SPARSE,  /* zeros but for one in 64 */
  FILL_UNIT     /* +1, -1 and their like, so that long products stay in range */
} filling;
#define FILL_COUNT 5

#define ARRAY_POISON 0xa5

/* Memory is poisoned until filled. Strides NULL: compact. */
void array_make(test_array *made, ndr_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides);
void array_of_case(test_array *made, const ndr_problem *problem);

/* The result that ndr_result_describe asks for; with random, in a random layout with gaps. */
ndr_status array_result(test_array *made, const DLTensor *of, int dim_count, const int *dims, ndr_op op,
                        const ndr_options *options, rng *random);
void array_free(test_array *made);

/* Fills the elements, and the gaps between them with other values, so that a read from a gap shows. */
void array_fill(test_array *filled, rng *random, filling how);

/* A compact array holding the given values, one number an element (the imaginary parts are 0). */
void array_from(test_array *made, ndr_dtype dtype, int ndim, const int64_t *shape, const double *values);

int64_t array_count(const DLTensor *tensor);
void *element_at(const DLTensor *tensor, const int64_t *index);
element array_get(const DLTensor *tensor, const int64_t *index);

/* The index after this one in row-major order; false when that was the last. */
bool next_index(int ndim, const int64_t *shape, int64_t *index);

/* All elements in row-major order; the caller frees them. */
element *array_elements(const DLTensor *tensor);

/* Whether two tensors of one shape and dtype hold the same values; NaN equals NaN. */
bool same_elements(const DLTensor *a, const DLTensor *b);

/* Whether every byte outside the elements is still ARRAY_POISON, so that only elements were written. */
bool array_gaps_untouched(const test_array *made);

/* The options that a case stands for. */
ndr_options case_options(const ndr_problem *problem);

#endif
