/* Structs that start with their size, as programs hand them over that know fewer members than the library, or more. */
#ifndef TEST_SUPPORT_SIZED_H
#define TEST_SUPPORT_SIZED_H

#include <stddef.h>

#include "ndreduce/ndreduce.h"

/* A copy in memory of `size` bytes, to be freed: a sanitizer sees what is read or written beyond. */
void *sized_copy(const void *made, size_t known, size_t size);

/* A struct that a call reads: `made` is one that it takes. */
typedef struct sized_struct {
  const char *name;
  ndr_status (*call)(const void *given);
  const void *made;
  size_t known, enough; /* its size, and how much of it the call needs, as members that lack are 0 */
} sized_struct;

/* One that is shorter is read as far as it goes. */
void sized_check_shorter(const sized_struct *read);

/* One that is longer must be 0 where the library does not know it. */
void sized_check_longer(const sized_struct *read);

/* One without a size that can be is refused. */
void sized_check_size(const sized_struct *read);

#endif
