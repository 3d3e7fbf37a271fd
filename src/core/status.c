/* See status.h. Prints nothing: callers read the sentence with ndr_last_error. */
#include "core/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[512];

static bool is_inside_letter(char byte) {
  return ((unsigned char)byte & 0xc0) == 0x80;
}

/* A sentence begins with its subject and ends with the reason. If it is too long, its middle is left out. */
static void keep_both_ends(const char *sentence, size_t length) {
  size_t begin = sizeof last_error / 4, end = sizeof last_error - 1 - strlen("...") - begin;
  while (begin > 0 && is_inside_letter(sentence[begin])) begin--;
  while (end > 0 && is_inside_letter(sentence[length - end])) end--;
  snprintf(last_error, sizeof last_error, "%.*s...%s", (int)begin, sentence, sentence + length - end);
}

void ndr_explain_failure(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  char *whole = length >= (int)sizeof last_error ? malloc((size_t)length + 1) : NULL;
  if (!whole) return;
  va_start(arguments, format);
  vsnprintf(whole, (size_t)length + 1, format, arguments);
  va_end(arguments);
  keep_both_ends(whole, (size_t)length);
  free(whole);
}

const char *ndr_last_error(void) {
  return last_error;
}

const char *ndr_status_name(ndr_status status) {
  switch (status) {
  case NDR_OK: return "ok";
  case NDR_ERR_ARGUMENT: return "bad argument";
  case NDR_ERR_DIMS: return "bad dims";
  case NDR_ERR_DTYPE: return "bad dtype";
  case NDR_ERR_OP: return "operator not defined";
  case NDR_ERR_RESULT: return "result does not match";
  case NDR_ERR_EMPTY: return "reduction over no elements";
  case NDR_ERR_PARSE: return "malformed text or bytes";
  case NDR_ERR_OVERFLOW: return "size overflow";
  case NDR_ERR_UNSUPPORTED: return "not supported";
  case NDR_ERR_MEMORY: return "out of memory";
  case NDR_ERR_NO_DEVICE: return "no device";
  case NDR_ERR_DEVICE: return "device failure";
  case NDR_ERR_FILE: return "file failure";
  case NDR_ERR_CANCELLED: return "cancelled";
  }
  return "unknown status";
}
