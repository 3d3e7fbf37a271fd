/* See reader.h. */
#include "lang/reader.h"

#include <string.h>

int ndr_read_failed(ndr_reader *r, ndr_status status) {
  r->status = status;
  return -1;
}

void ndr_skip_space(ndr_reader *r) {
  while (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')) r->at++;
}

bool ndr_take(ndr_reader *r, const char *token) {
  ndr_skip_space(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0) return false;
  r->at += length;
  return true;
}

bool ndr_expect(ndr_reader *r, const char *token) {
  if (ndr_take(r, token)) return true;
  NDR_READ_FAIL(r, r->at, "expected '%s'", token);
  return false;
}

ndr_span ndr_take_name(ndr_reader *r) {
  ndr_skip_space(r);
  ndr_span name = {r->at, 0};
  if (ndr_is_letter(*r->at))
    while (ndr_is_letter(*r->at) || ndr_is_digit(*r->at)) r->at++;
  name.length = (int)(r->at - name.at);
  return name;
}

bool ndr_digits_value(ndr_span digits, int64_t *value) {
  *value = 0;
  for (int i = 0; i < digits.length; i++)
    if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, digits.at[i] - '0', value))
      return false;
  return true;
}

int ndr_read_count(ndr_reader *r, int most, const char *what) {
  ndr_skip_space(r);
  ndr_span digits = {r->at, 0};
  int64_t value;
  while (ndr_is_digit(*r->at)) r->at++;
  digits.length = (int)(r->at - digits.at);
  if (digits.length == 0 || !ndr_digits_value(digits, &value) || value > most)
    return NDR_READ_FAIL(r, digits.at, "expected %s, at most %d", what, most);
  return (int)value;
}
