/* Tests of structs that begin with their size, from callers that know fewer or more members than the library. */
#ifndef TEST_SUPPORT_SIZED_H
#define TEST_SUPPORT_SIZED_H

#include <stddef.h>

#include "ndreduce/ndreduce.h"

/* A copy in memory of `size` bytes, to be freed: a sanitizer sees what is read or written beyond. */
void *sized_copy(const void *made, size_t known, size_t size);

/* A struct that a call reads. */
typedef struct sized_struct {
  const char *name;
  ndr_status (*call)(const void *given);
  const void *made; /* a struct that the call accepts */
  size_t known;     /* the struct's size */
  size_t enough;    /* the least size that the call accepts when the other members are 0 */
} sized_struct;

/* Checks that of a shorter struct the call reads only what is there. */
void sized_check_shorter(const sized_struct *read);

/* Checks that a longer struct is refused unless its unknown members are 0. */
void sized_check_longer(const sized_struct *read);

/* Checks that a struct with an impossible size is refused. */
void sized_check_size(const sized_struct *read);

#endif
