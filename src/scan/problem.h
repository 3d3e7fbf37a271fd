/* The canonical form of a scan, from which every backend plans.
 *
 * A scan has lines, one for each place of the kept dims, and runs along each of them from its first element to its
 * last: reverse is gone, strides along the scanned axes are negative instead. Dims of size 1 are dropped. Kept axes are
 * walked with strides of the array >= 0, sorted by them, smallest first (0 last), and merged. The scanned axes are one,
 * or for a scan of all elements as many as do not merge; they keep their order, the innermost first. */
#ifndef NDR_SCAN_PROBLEM_H
#define NDR_SCAN_PROBLEM_H

#include "core/request/canonical.h"
#include "ndreduce/scan.h"

typedef struct ndr_scan_axis {
  int64_t size, stride, result; /* strides of the array and the result, in elements; any sign */
  int64_t operand[NDR_MAX_OPERANDS];
  int64_t place[NDR_MOST_PLACES]; /* steps of the program's place indices */
} ndr_scan_axis;

typedef struct ndr_scan_problem {
  ndr_op op;
  ndr_dtype dtype, result_dtype;
  bool skip_nan, has_initial;
  double initial;
  bool exclusive;        /* place i has the value before its element */
  bool longer;           /* include_initial: the value of no elements lies one `result_step` before a line's first */
  int64_t result_step;   /* elements from a place of the result to the next, where it has one scanned dim */
  int64_t length, lines; /* elements of a line, and how many lines there are; either may be 0 */
  int scan_count, kept_count;
  ndr_scan_axis scan[NDR_MAX_DIMS], kept[NDR_MAX_DIMS]; /* sizes >= 2 */
  int64_t origin, result_origin;                        /* elements from element 0 to where the walk starts */
  int operand_count;
  ndr_dtype operand_dtypes[NDR_MAX_OPERANDS];
  int64_t operand_origin[NDR_MAX_OPERANDS];
  int place_count;
  int64_t place_origin[NDR_MOST_PLACES];
  /* The operator as a program, of a built-in one, too. Its result has the initial value in it. */
  const ndr_program *program;
  struct ndr_program_owner *programs_owner;
  /* What the overlap of arrays is checked by: the layouts as the caller gave them. */
  int ndim, result_ndim;
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS], result_shape[NDR_MAX_DIMS], result_strides[NDR_MAX_DIMS];
  int64_t operand_strides[NDR_MAX_OPERANDS][NDR_MAX_DIMS];
} ndr_scan_problem;

/* The arguments of ndr_scan_plan_create. */
typedef struct ndr_scan_call {
  const DLTensor *array;
  int dim;
  ndr_op op;
  const DLTensor *result; /* NULL: compact */
  const ndr_scan_options *options;
} ndr_scan_call;

/* Copies a caller's struct, whatever its size, and checks its numbers. */
ndr_status ndr_scan_options_read(const ndr_scan_options *given, ndr_scan_options *out);

/* Checks a call, whose options have been read, and makes its problem. Free with ndr_scan_problem_free. */
ndr_status ndr_scan_problem_make(ndr_scan_problem *problem, const ndr_scan_call *call);
void ndr_scan_problem_free(ndr_scan_problem *problem);

/* Checks that the result may be written while the arrays are read: data[k] and result are addresses of elements 0. */
ndr_status ndr_scan_check_overlap(const ndr_scan_problem *problem, const void *const *data, const void *result);

/* Whether nothing is to be done: the result is empty. */
static inline bool ndr_scan_is_empty(const ndr_scan_problem *problem) {
  return problem->lines == 0 || (problem->length == 0 && !problem->longer);
}

/* Where line number `line` begins: elements from element 0 of the array, the result and each operand, and its place
 * indices. */
typedef struct ndr_scan_place {
  int64_t at, result;
  int64_t operand[NDR_MAX_OPERANDS];
  int64_t place[NDR_MOST_PLACES];
} ndr_scan_place;

void ndr_scan_line(const ndr_scan_problem *problem, int64_t line, ndr_scan_place *place);

/* Moves a place along an axis. */
void ndr_scan_step(const ndr_scan_problem *problem, const ndr_scan_axis *axis, int64_t steps, ndr_scan_place *place);

#endif
