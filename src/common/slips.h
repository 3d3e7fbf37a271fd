/* How far a mistyped name is from one that exists. */
#ifndef NDR_COMMON_SLIPS_H
#define NDR_COMMON_SLIPS_H

/* How many letters have to be put in, left out, replaced or swapped with the next to make one of the other (Damerau),
 * whatever their case. Names of more than 64 letters are far from all but themselves. */
int ndr_count_slips(const char *a, const char *b);

/* The most slips of a name that `wanted` may have been meant to be. */
int ndr_most_slips(const char *wanted);

#endif
