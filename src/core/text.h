/* Texts of bounded length that are put together. */
#ifndef NDR_CORE_TEXT_H
#define NDR_CORE_TEXT_H

#include <stddef.h>

/* Formats onto the end of a bounded text as snprintf would: *length grows by the full length, even past capacity. */
void ndr_text_append(char *text, size_t capacity, size_t *length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
