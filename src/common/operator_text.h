/* The texts of operators and expressions, for code that cannot use src/lang: it finds words, but does not parse. */
#ifndef NDR_COMMON_OPERATOR_TEXT_H
#define NDR_COMMON_OPERATOR_TEXT_H

#include <stdbool.h>

#include "ndreduce/operator.h"

/* Removes the arrays that the operator does not read from the head of its text, which is spelled as ndr_operator_print
 * does. An operator names such an array if the call has it for another one: all operators of a call have the same list
 * of arrays. */
void ndr_operator_text_drop_unread(char *text, ndr_op op);

/* Finds the next word of an expression: letters, digits and "_", beginning with no digit. The letters of numbers, as in
 * 1e-3, are no words. Looks from *text on, points *word to the word and *text behind it, and returns its length; 0
 * after the last word. */
int ndr_expression_word(const char **text, const char **word);

/* Whether a word of an expression is the language's own: a function, which a bracket follows, or inf or nan. Other
 * words are names of arrays and of parameters. Reads what follows the word in its text. */
bool ndr_expression_is_builtin(const char *word, int length);

/* Whether a word of that length is `name`. */
bool ndr_expression_word_is(const char *word, int length, const char *name);

/* Whether an expression has an array or a parameter of that name. */
bool ndr_expression_has_name(const char *text, const char *name);

#endif
