/* The definition of what programs mean. */
#ifndef NDR_LANG_EVALUATE_H
#define NDR_LANG_EVALUATE_H

#include "lang/program.h"
#include "lang/scalar.h"

/* Evaluates all nodes that do not depend on totals: values[] has node_count entries, elements[k] is the element of
 * array k, places[] the indices of NDR_NODE_INDEX nodes by their `a`. */
void ndr_program_evaluate(const ndr_program *program, const ndr_scalar *elements, const int64_t *places,
                          ndr_scalar *values);
/* The result, from the parts' totals in the types of totals (f64, i64, u64, pairs of f64). `result` must not be -1. */
ndr_scalar ndr_program_finish(const ndr_program *program, const ndr_scalar *totals);

#endif
