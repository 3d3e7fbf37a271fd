/* Operators of one's own for tests of backends, and results that two backends give. */
#ifndef TEST_SUPPORT_OPERATORS_H
#define TEST_SUPPORT_OPERATORS_H

#include "array.h"
#include "ndreduce/operator.h"

/* One after the other, texts of one array; all are defined for some dtypes only. */
int test_operator_count(void);
ndr_status test_operator(int number, ndr_op *op);

/* The same of two arrays. */
ndr_op random_operator_of_two(rng *random, ndr_dtype dtype, ndr_dtype other);

/* An operator of its own, one in `own`, or a built-in one that is defined for dtype and for no elements. */
ndr_op random_operator(rng *random, ndr_dtype dtype, int own);

/* The options for a call of one of several operators: without second arrays, if it reads none. */
ndr_options options_of_operator(const ndr_options *options, ndr_op op);

/* Whether both hold the same values: integers exactly, floats but for roundings of sums in different orders, of `loose`
 * times the usual size. Says which differ. */
bool results_agree(const DLTensor *a, const DLTensor *b, double loose, char *text, size_t capacity);

#endif
