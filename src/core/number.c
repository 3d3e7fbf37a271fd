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

int ndr_number_print(double value, char text[NDR_NUMBER_TEXT]) {
  char point[MOST_POINT];
  if (isnan(value)) return snprintf(text, NDR_NUMBER_TEXT, "nan");
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, NDR_NUMBER_TEXT, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  replace_point(text, point, point_of_locale(point));
  return (int)strlen(text);
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

bool ndr_number_parse(const char *text, size_t length, double *value) {
  char copy[MOST_BYTES + MOST_POINT + 1], point[MOST_POINT];
  const char *dot = memchr(text, '.', length);
  if (length > MOST_BYTES) return false;
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
  return isfinite(*value);
}
