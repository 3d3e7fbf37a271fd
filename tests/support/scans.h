/* Random scans, and what they must give: each from its definition, in long double. */
#ifndef TEST_SUPPORT_SCANS_H
#define TEST_SUPPORT_SCANS_H

#include "cases.h"
#include "ndreduce/scan.h"

typedef struct scan_case {
  test_array array;
  int dim; /* not negative, or NDR_SCAN_ALL */
  ndr_op op;
  ndr_scan_options options;
  double initial;
  char text[512];
} scan_case;

/* A scan of an array with at most `most` elements or so: sizes around the lengths of runs and blocks, any strides, any
 * options. Free with scan_free. */
void scan_random(scan_case *made, rng *random, int64_t most);

/* The same of a compact array along `dim`, by a family: exclusive or not, of any dtype that the family runs. */
void scan_compact(scan_case *made, rng *random, const int64_t shape[3], int dim, const char *family);

/* One that family bands can run: [1 to 3,rows,columns] along 1, of random elements, by that family. */
void scan_in_bands(scan_case *made, rng *random, int64_t rows, int64_t columns);

/* The same of up to 24 columns and 24 lines in all, by family streams. */
void scan_in_streams(scan_case *made, rng *random, int64_t rows, int64_t columns);

void scan_free(scan_case *made);

/* A result for the case, in a random layout with gaps, and of a scan of all elements now and then of the array's shape;
 * without random compact. */
ndr_status scan_result(const scan_case *given, test_array *result, rng *random);

/* Whether the result is right; if not, says what is wrong. */
bool scan_accepts(const scan_case *given, const DLTensor *result, char *text, size_t capacity);

/* Whether two results have the same bits, and no NaN counts for its own. */
bool scan_same(const DLTensor *a, const DLTensor *b);

#endif
