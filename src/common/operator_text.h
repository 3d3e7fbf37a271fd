/* The text of an operator, as ndr_operator_print spells it. */
#ifndef NDR_COMMON_OPERATOR_TEXT_H
#define NDR_COMMON_OPERATOR_TEXT_H

#include "ndreduce/operator.h"

/* Leaves out the arrays that the operator names and does not read. It has to name those that stand before one that it
 * reads, as a call has the same arrays for all of its operators. */
void ndr_operator_text_keep_read(char *text, ndr_op op);

#endif
