/* The text of an operator, NAME(ARRAYS; PARAMETERS): UPDATES -> RESULT. */
#ifndef NDR_LANG_PARSE_H
#define NDR_LANG_PARSE_H

#include "lang/syntax.h"

/* Parses the bytes from `begin` to before `end` of text; columns count from the text's beginning. Neither the text nor
 * its canonical form, which must parse again, may be longer than NDR_MAX_OPERATOR_TEXT. The tree is freed with free().
 */
ndr_status ndr_syntax_parse(const char *text, size_t begin, size_t end, ndr_syntax **out);

#endif
