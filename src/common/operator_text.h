/* Texts of operators and of expressions in them, as far as those must know them that have only operator.h. */
#ifndef NDR_COMMON_OPERATOR_TEXT_H
#define NDR_COMMON_OPERATOR_TEXT_H

#include <stdbool.h>

#include "ndreduce/operator.h"

/* Leaves out of the text of an operator, as ndr_operator_print spells it, the arrays that the operator names and does
 * not read. It has to name those that stand before one that it reads, as a call has the same arrays for all of its
 * operators. */
void ndr_operator_text_keep_read(char *text, ndr_op op);

/* Finds the next word of an expression, from *text on, and moves *text behind it: letters, digits and "_", of which the
 * first is no digit. The letters of numbers, as in 1e-3, are none. Returns its length, 0 after the last word. */
int ndr_expression_word(const char **text, const char **word);

/* Whether the language has a word of an expression: a function, behind which is a bracket, or inf or nan. Other words
 * are names of arrays and of numbers. */
bool ndr_expression_is_known(const char *word, int length);

/* Whether a word of that length is this name. */
bool ndr_expression_is_called(const char *word, int length, const char *name);

/* Whether an expression has an array or a number of that name. */
bool ndr_expression_has_name(const char *text, const char *name);

#endif
