/* One element of any dtype as two long doubles, which hold every 64-bit integer exactly on the machines tested on.
 * Written from the definitions of the formats, not from the library's conversions: these are what it is tested by. */
#ifndef TEST_SUPPORT_ELEMENT_H
#define TEST_SUPPORT_ELEMENT_H

#include <stdbool.h>

#include "ndreduce/ndreduce.h"

typedef struct element {
  long double re, im;
} element;

bool is_complex(ndr_dtype dtype);
bool is_integer(ndr_dtype dtype); /* bool counts */
bool is_signed(ndr_dtype dtype);

/* A float format: digits of its significand, the exponents of its smallest normal and of its first overflow. For a
 * complex dtype, that of its parts. */
typedef struct format {
  int digits, lowest, top;
} format;
format format_of(ndr_dtype dtype);

/* Half a unit in the last place of 1: the relative error of one rounding. */
long double rounding_of(ndr_dtype dtype);

/* Rounds to nearest, ties to even, with gradual underflow and overflow to infinity. */
long double round_to(format target, long double value);

element element_load(ndr_dtype dtype, const void *from);

/* Floats are rounded; integers must fit. bool stores whether it is nonzero. */
void element_store(ndr_dtype dtype, void *to, element value);

#endif
