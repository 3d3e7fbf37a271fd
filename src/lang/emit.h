/* Programs of operators of one's own. */
#ifndef NDR_LANG_EMIT_H
#define NDR_LANG_EMIT_H

#include "lang/program.h"

/* Makes the program of an operator of one's own. dtypes[k] is the dtype of its array k, and arrays[k] the number of
 * that array in the problem (0: the problem's own array, k: its operand k - 1); program->arrays is left to the caller.
 * With skip_nan, places where an array is NaN are masked, or parts that fold the only array skip them. The values of
 * the operator's parameters are copied. Fails with NDR_ERR_OP where the operator is not defined for the dtypes, with a
 * sentence that names the column and the cause. */
ndr_status ndr_emit_program(ndr_op op, const ndr_dtype *dtypes, const int *arrays, bool skip_nan, ndr_program *program);

#endif
