/* Appends formatted text to a bounded text. */
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>

void ndr_text_append(char *text, size_t capacity, size_t *length, const char *format, ...) {
  va_list arguments;
  size_t room = *length < capacity ? capacity - *length : 0;
  va_start(arguments, format);
  int written = vsnprintf(room ? text + *length : NULL, room, format, arguments);
  va_end(arguments);
  if (written > 0) *length += (size_t)written;
}
