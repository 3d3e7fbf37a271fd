/* See number.h. */
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 400, MOST_POINT = 16 };

/* The decimal point of the locale, which strtod and printf use. */
static size_t point_of_locale(char *point) {
  char sample[MOST_POINT + 3];
  int length = snprintf(sample, sizeof sample, "%.1f", 1.5);
  size_t bytes = length > 2 && length < (int)sizeof sample ? (size_t)length - 2 : 1;
  memcpy(point, sample + 1, bytes);
  return bytes;
}

static void replace_point(char *text, const char *point, size_t bytes) {
  for (char *at = text; *at; at++) {
    if (strncmp(at, point, bytes) != 0) continue;
    *at = '.';
    memmove(at + 1, at + bytes, strlen(at + bytes) + 1);
    return;
  }
}

int ndr_number_print_digits(double value, int digits, char text[NDR_NUMBER_TEXT]) {
  char point[MOST_POINT];
  if (isnan(value)) return snprintf(text, NDR_NUMBER_TEXT, "nan");
  snprintf(text, NDR_NUMBER_TEXT, "%.*g", digits, value);
  replace_point(text, point, point_of_locale(point));
  return (int)strlen(text);
}

int ndr_number_print(double value, char text[NDR_NUMBER_TEXT]) {
  int digits = 15;
  for (; digits < 17; digits++) {
    snprintf(text, NDR_NUMBER_TEXT, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  return ndr_number_print_digits(value, digits, text);
}

static size_t digits_of(const char *text) {
  size_t length = 0;
  while (isdigit((unsigned char)text[length])) length++;
  return length;
}

size_t ndr_number_length(const char *text, bool *integer) {
  size_t whole = digits_of(text), length = whole;
  *integer = true;
  if (text[length] == '.') {
    size_t fraction = digits_of(text + length + 1);
    if (whole + fraction == 0) return 0;
    length += 1 + fraction;
    *integer = false;
  }
  if (length > 0 && (text[length] == 'e' || text[length] == 'E')) {
    size_t sign = text[length + 1] == '-' || text[length + 1] == '+', exponent = digits_of(text + length + 1 + sign);
    if (exponent > 0) {
      length += 1 + sign + exponent;
      *integer = false;
    }
  }
  return length;
}

const char *ndr_number_parse(const char *text, size_t length, double *value) {
  char copy[MOST_BYTES + MOST_POINT + 1], point[MOST_POINT];
  const char *dot = memchr(text, '.', length);
  if (length > MOST_BYTES) return "longer than 400 characters";
  if (dot) {
    size_t before = (size_t)(dot - text), bytes = point_of_locale(point);
    memcpy(copy, text, before);
    memcpy(copy + before, point, bytes);
    memcpy(copy + before + bytes, dot + 1, length - before - 1);
    length += bytes - 1;
  } else {
    memcpy(copy, text, length);
  }
  copy[length] = 0;
  *value = strtod(copy, NULL);
  return isfinite(*value) ? NULL : "too large for f64; infinity is written inf";
}

size_t ndr_number_take(const char *text, double *value, const char **why) {
  bool integer, negative = text[0] == '-';
  const char *digits = text + (negative || text[0] == '+');
  size_t length = ndr_number_length(digits, &integer);
  *why = NULL;
  if (strncmp(digits, "inf", 3) == 0 || strncmp(digits, "nan", 3) == 0) {
    *value = digits[0] == 'i' ? (double)INFINITY : (double)NAN;
    length = 3;
  } else if (length > 0) {
    *why = ndr_number_parse(digits, length, value);
  } else {
    return 0;
  }
  if (negative && !isnan(*value)) *value = -*value;
  return (size_t)(digits - text) + length;
}
