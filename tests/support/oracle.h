/* The slow answer: every reduction from its definition, in long double, with the error that a float result may have. */
#ifndef TEST_SUPPORT_ORACLE_H
#define TEST_SUPPORT_ORACLE_H

#include "array.h"

/* The bounds of a correct result, before it is rounded to the result's dtype. Both are NaN if the result must be. */
typedef struct answer {
  element low, high;
  bool open; /* the definition does not decide it (0 / 0 by rounding, products of complex infinities) */
} answer;

/* op over `count` elements whose flattened indices are 0..count-1. */
answer oracle_fold(const ndr_problem *problem, ndr_op op, const element *x, int64_t count);

/* One answer for each output, in row-major order of the kept dims; the caller frees them. */
answer *oracle_reduce(const ndr_problem *problem, ndr_op op, const DLTensor *array, int64_t *outputs);

bool answer_accepts(const answer *expected, ndr_dtype dtype, element got);

/* Compares a whole result; on a mismatch says which element, and what it should have been. */
bool oracle_accepts(const ndr_problem *problem, ndr_op op, const DLTensor *array, const DLTensor *result, char *text,
                    size_t capacity);

#endif
