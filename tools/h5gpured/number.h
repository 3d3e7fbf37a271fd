/* Elements of any dtype as text. */
#ifndef H5GPURED_NUMBER_H
#define H5GPURED_NUMBER_H

#include "h5gpured/h5gpured.h"

/* An element of any dtype, taken apart for printing. */
typedef struct number {
  enum { TRUTH, SIGNED, UNSIGNED, REAL, COMPLEX } kind;
  int64_t as_signed;
  uint64_t as_unsigned;
  double re, im;
  int digits; /* significant decimal digits that tell two floats of the dtype apart */
} number;

enum { NUMBER_CHARS = 64 };

number number_read(ndr_dtype dtype, const void *element);

/* The shortest decimal that reads back as the same float of `digits` digits; "nan", "inf" and "-inf" otherwise. */
void number_shortest(double value, int digits, char text[NUMBER_CHARS]);

/* For people: the fewest digits, at least 7, that are within `tolerance` of the value; NaN and infinities as above. */
void number_rounded(double value, double tolerance, char text[NUMBER_CHARS]);

/* For people: floats to at most `digits` significant digits, 0 for all that count. */
void number_text(number n, int digits, char text[NUMBER_CHARS]);

int64_t tensor_count(const DLTensor *tensor);
ndr_dtype tensor_dtype(const DLTensor *tensor);

#endif
