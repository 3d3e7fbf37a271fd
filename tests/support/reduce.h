/* Running cases through the public call. */
#ifndef TEST_SUPPORT_REDUCE_H
#define TEST_SUPPORT_REDUCE_H

#include "cases.h"

/* ndreduce for op i of the case into a new result; with random, in a random layout. Free result whatever comes back. */
ndr_status case_reduce(const ndr_problem *problem, int i, const DLTensor *array, const ndr_options *options,
                       test_array *result, rng *random);

/* Reduces compact data through the default family and the scalar one, and compares exactly: every rule of the public
 * header can be put in one line. NaN equals NaN; imaginary parts are 0. */
void assert_reduces(const char *text, const double *values, const double *expected);

#endif
