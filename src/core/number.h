/* Floats as text, whatever the locale: the decimal point is a point. */
#ifndef NDR_CORE_NUMBER_H
#define NDR_CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that a printed number takes at most, with the final 0. */
#define NDR_NUMBER_TEXT 40

/* Writes the shortest decimal form that reads back as the same value; inf, -inf, nan. Returns its length. */
int ndr_number_print(double value, char text[NDR_NUMBER_TEXT]);
/* The same, rounded to a number of digits. */
int ndr_number_print_digits(double value, int digits, char text[NDR_NUMBER_TEXT]);

/* The length of the number without a sign that text begins with; 0 if there is none. *integer says whether it has
 * neither a point nor an exponent. */
size_t ndr_number_length(const char *text, bool *integer);

/* Reads the number of that length. NULL, or why it is refused, in words: it is too large for f64, or longer than 400
 * bytes. */
const char *ndr_number_parse(const char *text, size_t length, double *value);

/* Reads the number, inf or nan that text begins with, behind a sign if there is one. Returns the length; 0 if there is
 * none. *why is as ndr_number_parse says. Infinity is written inf: no number is. */
size_t ndr_number_take(const char *text, double *value, const char **why);

/* Bytes of a number, or of what follows it, that a sentence shows. */
#define NDR_NUMBER_SHOWN(length) ((int)((length) < 40 ? (length) : 40))

#endif
