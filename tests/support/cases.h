/* Random problems, and how many of them: NDR_TEST_SEED and NDR_TEST_CASES in the environment widen a run,
 * NDR_TEST_SHARE=4 runs a fourth of the usual one. */
#ifndef TEST_SUPPORT_CASES_H
#define TEST_SUPPORT_CASES_H

#include "array.h"

#define CASE_TEXT 2048

/* The seed of this run: NDR_TEST_SEED or a fixed number, so that a plain run is the same everywhere. */
uint64_t test_seed(void);

/* NDR_TEST_SEED or a number that each day has another of: for cases of which a run has time for few. */
uint64_t test_seed_of_day(void);

/* NDR_TEST_SHARE, or 1: of that many cases one is run, under sanitizers. They may not be enough to meet each kernel. */
int test_share(void);

/* NDR_TEST_CASES, or the share of `usual`, rounded up. */
int test_case_count(int usual);

/* How many ranks a test of many has, and how many orders of messages it tries, the first as they come: fewer where a
 * share of the cases is run, as threads are slow under sanitizers. */
int test_many_ranks(void);
uint64_t test_orders(uint64_t usual);

/* NDR_TEST_SECONDS, or `usual`: how long a test that goes on while there is time may take. */
double test_seconds(double usual);

/* Whether NDR_TEST_DTYPES, "f32 f64", names the dtype, or is not set: of others there may be no kernels. */
bool test_has_dtype(ndr_dtype dtype);

/* Seconds on a clock that does not jump. */
double test_clock(void);

/* Any dtype, 0 to 6 dims (now and then more, of size 1), any strides, any dims, any op of the dtype, any options; the
 * array has at most `most` elements. min, max, argmin and argmax come with at least one element. */
void random_case(rng *random, int64_t most, ndr_problem *made);

/* The same with elements of this dtype. */
void random_case_of(rng *random, ndr_dtype dtype, int64_t most, ndr_problem *made);

/* A problem of op that the GPU family of this name can usually run, with sizes around the widths of vectors, warps,
 * tiles and blocks. No options but ddof. */
void directed_case(rng *random, ndr_dtype dtype, ndr_op op, const char *family, int64_t most, ndr_problem *made);

/* op and up to two more, defined for the dtype and for no elements. */
void random_ops(rng *random, ndr_problem *made);

/* A filling under which op can be checked: products stay in range. */
filling random_filling(rng *random, ndr_op op);
filling random_filling_of(rng *random, const ndr_problem *problem);

bool op_defined(ndr_op op, ndr_dtype dtype);
bool op_has_empty(ndr_op op);

/* Whether the result is the same to the bit whatever the order of the work: always, or when every element is a small
 * integer. */
bool op_exact(ndr_op op, ndr_dtype dtype, bool small);
int64_t case_elements(const ndr_problem *problem);

/* The case in the mini-language; static storage of the thread. */
const char *case_text(const ndr_problem *problem);

#endif
