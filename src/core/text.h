/* Appends to texts of bounded length. */
#ifndef NDR_CORE_TEXT_H
#define NDR_CORE_TEXT_H

#include <stddef.h>

/* Formats as snprintf does, onto a text of `capacity` bytes. *length grows by the full length, even past it. */
void ndr_text_append(char *text, size_t capacity, size_t *length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
