/* Which arrays of an operator of one's own should have the same units. Knows no units: these are the files'. */
#ifndef NDR_LANG_UNITS_H
#define NDR_LANG_UNITS_H

#include "lang/syntax.h"

/* Whether array number `array` and array 0, or powers of them, are added, subtracted or compared somewhere, so that
 * both should have the same units: as in x - y and x*x < x*y, but neither in x*y nor in x - x*y. */
bool ndr_syntax_mixes(const ndr_syntax *syntax, int array);

#endif
