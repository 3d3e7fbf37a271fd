#include "sized.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

/* The size is hidden from compilers, which warn of members that the memory does not hold. */
void *sized_copy(const void *made, size_t known, size_t size) {
  volatile size_t hidden = size;
  char *copy = calloc(1, hidden);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, made, size < known ? size : known);
  memcpy(copy, &size, sizeof size);
  return copy;
}

static void assert_taken(const sized_struct *read, const void *given, size_t size) {
  ck_assert_msg(read->call(given) == NDR_OK, "%s of %zu bytes: %s", read->name, size, ndr_last_error());
}

void sized_check_shorter(const sized_struct *read) {
  size_t whole = sizeof(size_t), first = (read->enough + whole - 1) / whole * whole;
  for (size_t size = first; size <= read->known; size += whole) {
    void *given = sized_copy(read->made, read->known, size);
    assert_taken(read, given, size);
    free(given);
  }
}

void sized_check_longer(const sized_struct *read) {
  static const size_t beyond[] = {8, 16, 256};
  for (size_t b = 0; b < sizeof beyond / sizeof *beyond; b++) {
    size_t size = read->known + beyond[b];
    char *given = sized_copy(read->made, read->known, size);
    assert_taken(read, given, size);
    given[size - 1] = 1;
    assert_fails(read->call(given), NDR_ERR_ARGUMENT, "does not know");
    free(given);
  }
}

void sized_check_size(const sized_struct *read) {
  /* The last three end inside a member, as no struct does that begins with a size_t. */
  const size_t wrong[] = {
      0, 1, sizeof(size_t) - 1, (size_t)1 << 20, SIZE_MAX, read->known + 1, read->known - 1, read->known - 4};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    void *given = sized_copy(read->made, read->known, read->known);
    memcpy(given, &wrong[i], sizeof *wrong);
    assert_fails(read->call(given), NDR_ERR_ARGUMENT, "size");
    free(given);
  }
}
