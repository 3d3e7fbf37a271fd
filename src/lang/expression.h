/* The expressions of operators. */
#ifndef NDR_LANG_EXPRESSION_H
#define NDR_LANG_EXPRESSION_H

#include "lang/reader.h"

/* Reads an expression; returns its node, or -1. */
int ndr_read_expression(ndr_reader *r);

#endif
