/* The text of a syntax tree. */
#ifndef NDR_LANG_PRINT_H
#define NDR_LANG_PRINT_H

#include "lang/syntax.h"

/* Appends the canonical form, as ndr_text_append does. */
void ndr_syntax_print(const ndr_syntax *syntax, char *text, size_t capacity, size_t *length);

#endif
