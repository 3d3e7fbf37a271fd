/* Operators in braces, with the values of their parameters, as the mini-language writes them. */
#ifndef NDR_LANG_BRACED_H
#define NDR_LANG_BRACED_H

#include "core/types.h"

/* Parses the operator that begins at *text with '{', with its values in parentheses if it has parameters, and moves
 * *text behind it. The same text and values give the same number in every call, for as long as the process lives or
 * until it is destroyed. Errors as ndr_operator_create, columns counted from *text. */
ndr_status ndr_braced_parse(const char **text, ndr_op *op);
/* As ndr_operator_print, with braces and values. */
size_t ndr_braced_print(ndr_op op, char *text, size_t capacity);

#endif
